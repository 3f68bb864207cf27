"""Compressed files, JSON arrays, Excel and several files: the same rows as Python's own readers."""

import bz2
import csv
import gzip
import io
import json
import lzma
import sys
import tracemalloc
import zipfile

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from topicfocus.text import ReadError, jsonarray, packed, read_table

COLUMNS = {"text": "text", "target": "stars"}
#: Fields as files have them; a NUL or a lone surrogate is no text, \r alone ends a line.
fields = st.text(st.characters(exclude_characters="\0\r", exclude_categories=["Cs"]), max_size=12)
tables = st.lists(st.tuples(fields, fields), min_size=1, max_size=8)
quietly = settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def zipped(data, name="r.csv"):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("folder/", b"")
        archive.writestr(f"folder/{name}", data)
        archive.writestr("__MACOSX/._r.csv", b"left by a system")
    return out.getvalue()


PACKERS = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress, ".zip": zipped}


def csv_bytes(rows, header=("text", "stars")):
    out = io.StringIO(newline="")
    csv.writer(out).writerows([header, *rows])
    return out.getvalue().encode("utf-8")


def read(path, **options):
    block = read_table(path, **{**COLUMNS, **options}).read()
    return list(zip(block.texts, block.target, strict=True))


def error(path, **options):
    with pytest.raises(ReadError) as caught:
        read(path, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


# ---- compressed -------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", PACKERS)
@quietly
@given(rows=tables, cut=st.integers(0, 60))
def test_compressed_files_are_what_pythons_csv_reads(tmp_path, ending, rows, cut):
    plain = csv_bytes(rows)
    expected = list(csv.reader(io.StringIO(plain.decode(), newline="")))[1:]
    data = PACKERS[ending](plain)
    if ending != ".zip":  # members one behind the other are one file, as cat makes them
        data = PACKERS[ending](plain[:cut]) + PACKERS[ending](plain[cut:])
    path = tmp_path / f"r.csv{ending}"
    path.write_bytes(data)
    assert read(path) == [tuple(row) for row in expected]


@pytest.mark.parametrize("ending", PACKERS)
def test_a_compressed_file_that_is_cut_or_damaged_or_misnamed(tmp_path, ending):
    path = tmp_path / f"r.csv{ending}"
    whole = PACKERS[ending](csv_bytes([(f"words {i * i}", i) for i in range(3000)]))
    path.write_bytes(whole[: len(whole) // 2])
    assert str(path) in error(path)
    middle = len(whole) // 2
    path.write_bytes(whole[:middle] + bytes(40) + whole[middle + 40 :])
    assert str(path) in error(path)
    path.write_bytes(b"text,stars\na,1\n")
    assert f"named {ending} but is not compressed by" in error(path)
    path.write_bytes(b"")
    assert "is empty" in error(path)


def test_zip_archives_hold_one_file(tmp_path):
    path = tmp_path / "reviews.zip"
    path.write_bytes(zipped(b'{"text": "a", "stars": 3}\n', "r.jsonl"))
    assert read(path) == [("a", "3")]  # by the name inside
    with zipfile.ZipFile(path, "w") as archive:
        for i in range(7):
            archive.writestr(f"{i}.csv", csv_bytes([("a", 1)]))
    found = error(path)
    assert "holds 7 files (0.csv, 1.csv, 2.csv, 3.csv, 4.csv, ...), and one is needed" in found
    with zipfile.ZipFile(path, "w"):
        pass
    assert "is an archive without files" in error(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("notes.docx", b"x")
    assert "its name does not say what kind of file it is" in error(path)


def test_an_encrypted_archive(tmp_path):
    data = bytearray(zipped(csv_bytes([("a", 1)])))
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = -1
        while (at := data.find(mark, at + 1)) >= 0:
            data[at + offset] |= 1
    (tmp_path / "r.zip").write_bytes(data)
    assert "is encrypted. Unpack it first" in error(tmp_path / "r.zip")


@pytest.mark.parametrize("kind", [packed._Xz, packed._Member])
def test_what_could_not_be_opened_is_closed_without_a_word(kind):
    """By Python, whose version 3.13 says what goes wrong then."""
    kind.__new__(kind).close()


def test_xz_that_asks_for_much_memory(tmp_path):
    filters = [{"id": lzma.FILTER_LZMA2, "dict_size": 1 << 29}]
    data = lzma.compress(csv_bytes([("a", 1)]), filters=filters)
    (tmp_path / "r.csv.xz").write_bytes(data)
    assert "needs more than 256 MiB to be unpacked" in error(tmp_path / "r.csv.xz")


@pytest.mark.parametrize("ending", PACKERS)
@pytest.mark.parametrize("kind", ["csv", "json"])
def test_a_bomb_does_not_fill_the_memory(tmp_path, monkeypatch, ending, kind):
    """200 MB in one line, or in one string of an array; a smaller limit stands for 128 MiB."""
    from topicfocus.text import files

    limit, times = 1 << 20, 200
    monkeypatch.setattr(files, "LONGEST", limit)
    monkeypatch.setattr(jsonarray, "LONGEST", limit)
    start = b"text,stars\n" if kind == "csv" else b'[{"text": "'
    path = tmp_path / f"r.{kind}{ending}"
    if ending == ".zip":
        path.write_bytes(zipped(start + b"a" * (times * limit), f"r.{kind}"))
    else:
        pack = PACKERS[ending]
        path.write_bytes(pack(start) + pack(b"a" * limit) * times)
    tracemalloc.start()
    try:
        assert "1 MiB" in error(path)
        assert tracemalloc.get_traced_memory()[1] < 20 << 20
    finally:
        tracemalloc.stop()


def test_texts_of_a_folder_may_be_compressed(tmp_path):
    for kind in ("neg", "pos"):
        (tmp_path / kind).mkdir()
        for ending, pack in PACKERS.items():
            (tmp_path / kind / f"1.txt{ending}").write_bytes(pack(f"{kind} {ending}".encode()))
    block = read_table(tmp_path).read()
    assert sorted(set(block.target)) == ["neg", "pos"]
    assert sorted(block.texts) == sorted(f"{k} {e}" for k in ("neg", "pos") for e in PACKERS)


# ---- JSON arrays ------------------------------------------------------------------------------

values = st.one_of(st.none(), st.booleans(), st.integers(-(10**20), 10**20), fields)
#: What else an object may hold, to any depth.
others = st.recursive(
    st.one_of(values, st.floats(allow_nan=False)),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(fields, inner, max_size=3),
    max_leaves=6,
)
objects = st.lists(
    st.fixed_dictionaries({"text": fields, "stars": values, "other": others}),
    min_size=1,
    max_size=6,
)


@pytest.mark.parametrize("piece", [1, 7, 1 << 16])
@quietly
@given(rows=objects, indent=st.sampled_from([None, 0, 2]), ascii=st.booleans())
def test_arrays_are_what_pythons_json_reads(tmp_path, monkeypatch, piece, rows, indent, ascii):
    monkeypatch.setattr(jsonarray, "_PIECE", piece)
    content = json.dumps(rows, indent=indent, ensure_ascii=ascii)
    path = tmp_path / "r.json"
    path.write_text(content, encoding="utf-8")
    expected = [(row["text"], shown(row["stars"])) for row in json.loads(content)]
    assert read(path) == expected
    lines = tmp_path / "r.jsonl"
    lines.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert read(lines) == expected


def shown(value):
    return value if value is None or isinstance(value, str) else json.dumps(value)


ARRAYS = {
    "[]": "has a header but no rows",
    '[{"text": "a", "stars": 1}': "row 1: the file ends where ',' is due",
    '[{"text": "a", "stars": 1},': "row 2: not JSON: Expecting value",
    '[{"text": "a", "stars": 1} {"text"': "row 1: '{' stands where ',' is due",
    '[{"text": "a", "stars": 1}] x': "row 1: something stands behind the end of the array",
    '[{"text": "a", "stars": oops}, {"text": "b", "stars": 2}]': "row 1: not JSON",
    '[{"text": "a", "stars": 1}, 7]': "row 2: a JSON int, not an object",
    '[{"text": "a", "stars": 1}, {"stars": 1}]': "row 2: no 'text'",
    '[{"text": "a", "stars": 1}, {"text": "b", "stars": [1]}]': "row 2: 'stars' is [1], not one",
    '[{"txt": "a", "stars": 1}]': "has no column 'text'. Did you mean 'txt'?",
    '[{"text": "a", "stars": %s}]' % ("9" * 5000): "row 1: a whole number of thousands of digits",
    '[{"text": ' + "[" * 200_000: "row 1: JSON nested too deeply",
}  # fmt: skip


@pytest.mark.parametrize("content", ARRAYS, ids=lambda content: content[:40])
def test_broken_arrays(tmp_path, content):
    path = tmp_path / "r.json"
    path.write_text(content, encoding="utf-8")
    assert ARRAYS[content] in error(path)


def test_bad_objects_of_an_array_can_be_left_out_and_other_encodings_read(tmp_path, monkeypatch):
    path = tmp_path / "r.json"
    rows = [{"text": "é", "stars": 1}, {"stars": 1}, {"text": "b", "stars": 2}]
    for encoding in ("utf-8-sig", "utf-16", "latin-1"):
        path.write_text(json.dumps(rows, ensure_ascii=False), encoding=encoding)
        assert read(path, encoding=encoding, skip_bad=True) == [("é", "1"), ("b", "2")]
    assert "not utf-8" in error(path)
    stdin = io.TextIOWrapper(io.BytesIO(json.dumps(rows[:1]).encode()), encoding="utf-8")
    monkeypatch.setattr(sys, "stdin", stdin)
    assert read("-") == [("é", "1")]


def test_a_long_integer_in_json_lines_has_its_row(tmp_path):
    path = tmp_path / "r.jsonl"
    path.write_text('{"text": "a", "stars": 1}\n{"text": "b", "stars": %s}\n' % ("9" * 5000))
    assert "row 2 (line 2): a whole number of thousands of digits" in error(path)
    assert read(path, skip_bad=True) == [("a", "1")]


# ---- Excel ------------------------------------------------------------------------------------


def workbook(path, rows, **sheets):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.title = "first"
    for name, content in {"first": rows, **sheets}.items():
        sheet = book[name] if name in book.sheetnames else book.create_sheet(name)
        for row in content:
            sheet.append(row)
    book.save(path)
    return path


def test_excel(tmp_path):
    rows = [
        ("id", "text", "stars"),
        (1, "Schöne Straße\nzwei", 4.5),
        (),
        (2, "good", 3),
        (3, None, None),
        (4, "=1+1", True),
    ]
    path = workbook(tmp_path / "r.xlsx", rows)
    table = read_table(path, "text", "stars", numbers=["id"], group="stars")
    block = table.read()
    assert block.texts == ["Schöne Straße\nzwei", "good", "", ""]  # a formula without its value
    assert block.target == ["4.5", "3", "", "true"]
    assert block.group == ["4.5", "3", None, "true"]
    assert block.numbers.ravel().tolist() == [1, 2, 3, 4]
    assert block.rows.tolist() == [1, 2, 3, 4]


def test_excel_that_is_not_as_it_should_be(tmp_path):
    head = ("text", "stars")
    two = workbook(tmp_path / "two.xlsx", [head, ("a", 1)], other=[head, ("b", 2)])
    assert "say which sheet, sheet= (--sheet). Sheets: first, other." in error(two)
    assert read(two, sheet="other") == [("b", "2")]
    assert "has no sheet 'third'. Sheets: first, other." in error(two, sheet="third")
    empty = workbook(tmp_path / "empty.xlsx", [])
    assert "its sheet has no cells" in error(empty)
    wide = workbook(tmp_path / "wide.xlsx", [head, ("a", 1), ("b", 2, "more")])
    assert "row 2 (row 3 of the sheet): more cells than the first row" in error(wide)
    gap = workbook(tmp_path / "gap.xlsx", [(*head, "year"), ("a", 1, 1990), ("b", 2, "x")])
    assert "row 2 (row 3 of the sheet): 'year' is 'x', not a number" in error(gap, numbers=["year"])
    (tmp_path / "text.xlsx").write_text("text,stars\n")
    assert ".xlsx is a zip archive" in error(tmp_path / "text.xlsx")
    (tmp_path / "other.xlsx").write_bytes(zipped(b"x"))
    assert "is not a whole file of Excel" in error(tmp_path / "other.xlsx")
    cut = two.read_bytes()
    (tmp_path / "packed.xlsx.gz").write_bytes(gzip.compress(cut))
    assert "cannot be read compressed" in error(tmp_path / "packed.xlsx.gz")


def test_excel_needs_an_extra(tmp_path, monkeypatch):
    path = workbook(tmp_path / "r.xlsx", [("text", "stars"), ("a", 1)])
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    assert "pip install 'topicfocus[excel]'" in error(path)


def test_an_excel_bomb(tmp_path, monkeypatch):
    from topicfocus.text import excel

    monkeypatch.setattr(excel, "_MOST_TEXT", 1 << 20)
    path = tmp_path / "r.xlsx"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/sharedStrings.xml", b" " * (3 << 20))
    assert "holds 3 MiB of text" in error(path)


# ---- several files ----------------------------------------------------------------------------


@quietly
@given(parts=st.lists(tables, min_size=2, max_size=4))
def test_several_files_are_their_rows_one_behind_the_other(tmp_path, parts):
    folder = tmp_path / "parts"
    folder.mkdir(exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    endings = [".csv", ".csv.gz", ".csv.xz", ".csv.bz2"]
    paths = []
    for i, rows in enumerate(parts):
        paths.append(folder / f"{i}{endings[i]}")
        pack = PACKERS.get(paths[-1].suffix, bytes)
        paths[-1].write_bytes(pack(csv_bytes(rows)))
    expected = []
    for rows in parts:
        plain = io.StringIO(csv_bytes(rows).decode(), newline="")
        expected += [tuple(row) for row in csv.reader(plain)][1:]
    assert read(paths) == expected
    assert read(folder) == expected
    assert read(str(folder / "*")) == expected
    table = read_table(str(folder / "*"), **COLUMNS)
    for _ in range(2):  # a table of files can be read again
        table.read()
        numbers = [i + 1 for rows in parts for i in range(len(rows))]
        assert table.rows.tolist() == numbers
        files = [str(path) for path, rows in zip(paths, parts, strict=True) for _ in rows]
        assert table.file_of_rows.tolist() == files
        assert table.where(len(numbers) - 1) == f"{paths[-1]}, row {len(parts[-1])}"


def test_several_files_of_several_kinds(tmp_path):
    (tmp_path / "a.csv").write_bytes(csv_bytes([("a", 1)]))
    assert read(tmp_path) == [("a", "1")]
    (tmp_path / "b.tsv").write_text("id\tstars\ttext\n1\t2\tb\n")
    (tmp_path / "c.json").write_text('[{"text": "c", "stars": 3}]')
    (tmp_path / "d.csv").write_text("text,stars\n")  # a part may be empty
    (tmp_path / "notes.md").write_text("no table")
    assert read(tmp_path) == [("a", "1"), ("b", "2"), ("c", "3")]
    (tmp_path / "e.txt").write_text("texts come first, as ever")
    assert read_table(tmp_path).read().texts == ["texts come first, as ever"]


def test_mistakes_with_several_files(tmp_path):
    good, other = tmp_path / "a.csv", tmp_path / "b.csv"
    good.write_bytes(csv_bytes([("a", 1)]))
    other.write_bytes(csv_bytes([("b", 2)], header=("text", "star")))
    assert f"{other} has no column 'stars'. Did you mean 'star'?" in error([good, other])
    assert f"{good} is named twice" in error([good, tmp_path / "*.csv"])
    assert "*.json: no file has such a name" in error(tmp_path / "*.json")
    assert "c.csv: no such file. Did you mean 'b.csv'?" in error([good, tmp_path / "c.csv"])
    assert "standard input (-) cannot be read together with files" in error([good, "-"])
    assert "is a folder, which cannot be one of several" in error([good, tmp_path])
    assert "no file was named" in error([])
    (tmp_path / "m.npz").write_bytes(b"PK")
    assert "is a count matrix, which cannot be one of several" in error([good, tmp_path / "m.npz"])
    other.write_bytes(csv_bytes([("b", 2), ("c", 3, 4)]))
    assert f"{other}, row 2 (line 3): 3 fields" in error([good, other])
    assert read([good, other], skip_bad=True) == [("a", "1"), ("b", "2")]


def test_a_name_with_signs_of_a_pattern_is_a_name(tmp_path):
    path = tmp_path / "a[1].csv"
    path.write_bytes(csv_bytes([("a", 1)]))
    assert read(path) == [("a", "1")]


def test_names_without_packing():
    assert packed.packing("r.csv") is None
    assert packed.unpacked_name("r.csv") == "r.csv"
