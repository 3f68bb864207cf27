"""Files of every format give the same rows; errors name the file, the row and the remedy."""

import bz2
import contextlib
import csv
import gzip
import io
import json
import lzma
import sys
import zipfile

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import io as scipy_io
from scipy import sparse

from topicfocus import TokenCounter
from topicfocus.text import ReadError, read_counts, read_table

ROWS = [
    ('A good, "very" good film', "5"),
    ("two\nlines", "4.5"),
    ("", "1"),
    ("Schöne Straße 你好 😀", ""),
]
LINES = "".join(json.dumps({"text": text, "stars": stars}) + "\n" for text, stars in ROWS)


def zipped(data, name="r.csv"):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, data)
        archive.writestr("__MACOSX/._r.csv", b"not the table")
    return out.getvalue()


PACKERS = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress, ".zip": zipped}


def write(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    return path


def csv_text(rows, delimiter=",", header=("text", "stars")):
    out = io.StringIO(newline="")
    csv.writer(out, delimiter=delimiter).writerows([header, *rows])
    return out.getvalue()


def read(path, text="text", target="stars", **options):
    block = read_table(path, text=text, target=target, **options).read()
    assert len(block) == len(block.texts) == len(block.rows)
    return list(zip(block.texts, block.target, strict=True)) if target else block.texts


def error(path, *args, **options):
    with pytest.raises(ReadError) as caught:
        read(path, *args, **options)
    message = str(caught.value)
    assert "\n" not in message
    return message


# ---- CSV --------------------------------------------------------------------------------------


def test_csv_and_tsv(tmp_path):
    assert read(write(tmp_path / "a.csv", csv_text(ROWS))) == ROWS
    assert read(write(tmp_path / "a.tsv", csv_text(ROWS, "\t"))) == ROWS
    assert read(write(tmp_path / "bom.csv", "\ufeff" + csv_text(ROWS))) == ROWS
    assert read(write(tmp_path / "semi.csv", csv_text(ROWS, ";"))) == ROWS
    assert read(write(tmp_path / "pipe.txt", csv_text(ROWS, "|")), format="csv") == ROWS
    assert read(write(tmp_path / "x.csv", csv_text(ROWS, "~")), delimiter="~") == ROWS
    assert read(tmp_path / "a.csv", target=None) == [text for text, _ in ROWS]
    utf16 = write(tmp_path / "utf16.csv", csv_text(ROWS).encode("utf-16"))
    assert read(utf16, encoding="utf-16") == ROWS
    latin = write(tmp_path / "latin.csv", "text,stars\nnaïve,1\n".encode("latin-1"))
    assert read(latin, encoding="latin-1") == [("naïve", "1")]
    mac = write(tmp_path / "mac.csv", 'text,stars\ra,1\r"b\rb",2\r')
    assert read(mac) == [("a", "1"), ("b\rb", "2")]
    same = read_table(tmp_path / "a.csv", "text", "text").read()
    assert same.target == same.texts


@pytest.mark.parametrize(
    ("content", "name"),
    [
        ('"text, quoted";stars\na, b;1\n', "text, quoted"),
        ("text, bare;stars\na, b;1\n", "text, bare"),
        ("sep=;\r\ntext;stars\r\na, b;1\r\n", "text"),
        ("\n\ntext;stars;length, words\na, b;1;2\n", "text"),
    ],
)  # fmt: skip
def test_the_delimiter_is_the_one_that_gives_the_columns(tmp_path, content, name):
    assert read(write(tmp_path / "a.csv", content), text=name) == [("a, b", "1")]


fields = st.text(st.sampled_from('ab" ,;\n\té'), max_size=6)
tables = st.lists(st.tuples(fields.map(lambda f: f"x{f}"), fields), min_size=1, max_size=8)
quietly = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25, deadline=None
)


@pytest.mark.parametrize("ending", ["", *PACKERS])
@quietly
@given(rows=tables, cut=st.integers(0, 60))
def test_rows_are_those_of_pythons_csv(tmp_path, ending, rows, cut):
    plain = csv_text(rows).encode()
    pack = PACKERS.get(ending, bytes)
    # Members one after the other are one file, as `cat` writes them.
    data = pack(plain) if ending == ".zip" else pack(plain[:cut]) + pack(plain[cut:])
    assert read(write(tmp_path / f"r.csv{ending}", data)) == rows


def test_rows_that_cannot_be_read(tmp_path):
    path = write(tmp_path / "a.csv", 'text,stars\n"two\nlines",1\nb,2,3\n\nc\nd,4\ne,5,6,7\n')
    message = error(path)
    assert f"{path}, row 2: 3 fields where the header has 2. Quote texts" in message
    assert "--skip-bad" in message
    table = read_table(path, "text", "stars", skip_bad=True)
    assert table.read().texts == ["two\nlines", "d"]
    assert table.rows.tolist() == [1, 5] and table.n_skipped == 3
    assert all("where the header has 2" in message for message in table.skipped)
    rows = sorted(message.split(": ")[0].split(", ")[1] for message in table.skipped)
    assert rows == ["row 2", "row 4", "row 6"]
    none = write(tmp_path / "none.csv", "text,stars\na,\xe9\n".encode("latin-1"))
    assert "none of the 1 rows is readable" in error(none, skip_bad=True)


@pytest.mark.parametrize("skip_bad", [False, True])
def test_a_quote_that_is_never_closed_is_an_error(tmp_path, skip_bad):
    path = write(tmp_path / "q.csv", "text,stars\n" + "a,1\n" * 2000 + '"b,2\n' + "c,3\n" * 2000)
    assert "row 2001: a quote is opened and never closed" in error(path, skip_bad=skip_bad)
    header = write(tmp_path / "h.csv", '"text,stars\na,1\n')
    assert "a quote in its header is never closed" in error(header)


def test_encodings(tmp_path):
    path = write(tmp_path / "a.csv", "text,stars\ngood,1\nnaïve,2\nfine,3\n".encode("latin-1"))
    message = error(path)
    assert "row 2: not utf-8: byte 0xef after 'na'" in message and "--encoding latin-1" in message
    table = read_table(path, text="text", skip_bad=True)
    assert table.read().texts == ["good", "fine"] and table.n_skipped == 1
    assert "unknown" in error(path, encoding="utf-9")
    header = write(tmp_path / "h.csv", "größe,text\n1,a\n".encode("latin-1"))
    assert "header: not utf-8" in error(header, target=None)
    wide = write(tmp_path / "b.csv", "text,stars\na,1\n".encode("utf-16"))
    assert "--encoding utf-16" in error(wide)
    assert "c.csv: " in error(write(tmp_path / "c.csv", b"text,stars\na,1\n1"), encoding="utf-16")
    lines = write(tmp_path / "a.jsonl", b'{"text": "a"}\n{"text": "\xe9"}\n')
    assert "row 2: not utf-8" in error(lines, target=None)


# ---- compressed -------------------------------------------------------------------------------


def test_zstd(tmp_path):
    pa = pytest.importorskip("pyarrow")
    with pa.output_stream(str(tmp_path / "a.csv.zst"), compression="zstd") as stream:
        stream.write(csv_text(ROWS).encode())
    assert read(tmp_path / "a.csv.zst") == ROWS


@pytest.mark.parametrize("ending", PACKERS)
def test_a_compressed_file_that_is_cut_or_damaged_or_misnamed(tmp_path, ending):
    path = tmp_path / f"r.csv{ending}"
    whole = PACKERS[ending](csv_text([(f"words {i * i}", i) for i in range(3000)]).encode())
    middle = len(whole) // 2
    for content in (whole[:middle], whole[:middle] + bytes(40) + whole[middle + 40 :]):
        assert str(path) in error(write(path, content))
    assert "cannot be read" in error(write(path, "text,stars\na,1\n"))
    error(write(path, b""))


def test_zip_archives_contain_one_file(tmp_path):
    path = write(tmp_path / "reviews.zip", zipped(b'{"text": "a", "stars": 3}\n', "r.jsonl"))
    assert read(path) == [("a", "3")]  # by the name inside
    with zipfile.ZipFile(path, "w") as archive:
        for i in range(7):
            archive.writestr(f"{i}.csv", csv_text([("a", 1)]))
    assert "contains 7 files (0.csv, 1.csv" in error(path)
    zipfile.ZipFile(path, "w").close()
    assert "contains no files" in error(path)
    assert "what kind of file it is" in error(write(path, zipped(b"x", "notes.docx")))
    data = bytearray(zipped(csv_text([("a", 1)]).encode()))
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = -1
        while (at := data.find(mark, at + 1)) >= 0:
            data[at + offset] |= 1
    assert "is encrypted" in error(write(path, bytes(data)))


# ---- JSON -------------------------------------------------------------------------------------


def test_json(tmp_path):
    rows = [
        {"text": "good"},  # the first object lacks an optional key
        {"text": "bäd", "stars": 1.5},
        {"stars": True, "text": "fine", "other": [{"a": 1}]},
        {"text": "", "stars": 5},
        {"text": "x", "stars": 5.0},
        {"text": "big", "stars": 123456789012345678901234},
    ]
    stars = [None, "1.5", "true", "5", "5", "123456789012345678901234"]
    expected = [(row["text"], star) for row, star in zip(rows, stars, strict=True)]
    lines = "\n\n".join(map(json.dumps, rows))
    assert read(write(tmp_path / "a.jsonl", lines)) == expected
    assert read_table(tmp_path / "a.jsonl", "text").read().rows.tolist() == [1, 3, 5, 7, 9, 11]
    assert read(write(tmp_path / "a.ndjson.gz", gzip.compress(lines.encode()))) == expected
    for indent in (None, 2):
        assert read(write(tmp_path / "a.json", json.dumps(rows, indent=indent))) == expected
    late = '{"text": "a"}\n' * 6000 + '{"text": "b", "stars": 1}\n'
    assert read(write(tmp_path / "late.jsonl", late))[-1] == ("b", "1")
    never = write(tmp_path / "never.jsonl", '{"text": "a"}\n' * 6000)
    assert "has no column 'stars'" in error(never)


BAD_JSON = {
    '{"text": "a"}\n{"text": \n': "row 2: not JSON: Expecting value at column",
    '{"text": "a"}\n[1]\n': "row 2: a JSON list, not an object",
    '{"text": "a"}\n{"text": 3}\n': "row 2: 'text' is 3, not a text",
    '{"text": "a"}\n{"stars": 3}\n': "row 2: no 'text'",
    '{"text": "a"}\n{"text": "b", "stars": [1]}\n': "row 2: 'stars' is [1], not one value",
    '{"text": "a"}\n{"text": "b", "stars": %s}\n' % ("9" * 5000): "row 2: a whole number",
    '[{"text": "a"}, {"text": 3}]': "row 2: 'text' is 3, not a text",
}  # fmt: skip


@pytest.mark.parametrize("content", BAD_JSON, ids=lambda content: content[14:40])
def test_bad_json(tmp_path, content):
    path = write(tmp_path / "a.json", content.replace('"text": "a"', '"text": "a", "stars": 1'))
    assert BAD_JSON[content] in error(path)
    table = read_table(path, "text", "stars", skip_bad=True)
    assert table.read().texts == ["a"] and table.n_skipped == 1


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[]", "has a header but no rows"),
        ('[{"text": "a", "stars": 1}', "not JSON: Expecting ',' delimiter at line 1"),
        ('[{"text": "a", "stars": 1}] x', "not JSON: Extra data at line 1, column 29"),
        ('[{"txt": "a", "stars": 1}]', "has no column 'text'. Did you mean 'txt'?"),
        ('[{"text": ' + "[" * 200_000, "JSON nested too deeply"),
    ],
)
def test_broken_arrays(tmp_path, content, message):
    assert message in error(write(tmp_path / "r.json", content), skip_bad=True)


# ---- Parquet and Excel ------------------------------------------------------------------------


def test_parquet(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    texts, stars = [text for text, _ in ROWS], [5, 4, None, 1]
    expected = list(zip(texts, ["5", "4", None, "1"], strict=True))
    path = tmp_path / "a.parquet"
    kinds = [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())]
    columns = [pa.array(texts).cast(kind) for kind in kinds]
    with contextlib.suppress(pa.ArrowNotImplementedError):  # pyarrow 16 has views but makes none
        columns.append(pa.array(texts).cast(pa.string_view()))
    for column in columns:
        table = pa.table({"n": [1, 2, 3, 4], "text": column, "stars": stars})
        parquet.write_table(table, path, row_group_size=3)
        assert read(path) == expected
        assert read(path, block_rows=1) == expected
        counts = TokenCounter().fit_transform(read_table(path, "text", "stars"))
        assert (counts != TokenCounter().fit_transform(texts)).nnz == 0


def test_parquet_that_is_not_as_it_should_be(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "a.parquet"
    parquet.write_table(pa.table({"text": ["a", None, "b"], "stars": [1, 2, 3]}), path)
    assert "row 2: no 'text'" in error(path)
    table = read_table(path, text="text", target="stars", skip_bad=True)
    assert table.read().texts == ["a", "b"]
    assert table.target == ["1", "3"] and table.rows.tolist() == [1, 3]
    assert "row 1: 'stars' is 1, not a text" in error(path, text="stars")
    assert "Did you mean 'stars'?" in error(path, target="star")
    malformed = pa.Array.from_buffers(
        pa.string(), 1, [None, pa.py_buffer(np.array([0, 1], "i4")), pa.py_buffer(b"\xff")]
    )
    parquet.write_table(pa.table({"text": malformed}), path)
    assert "not a complete Parquet file" in error(path, target=None)
    parquet.write_table(pa.table({"text": pa.array([], pa.string())}), path)
    assert "no rows" in error(path, target=None)
    assert "not a complete Parquet file" in error(write(path, b"PAR1" + bytes(50)))


def test_without_pyarrow(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    path = write(tmp_path / "a.parquet", b"PAR1" + bytes(50))
    assert "pip install 'topicfocus[tables]'" in error(path)
    path = write(tmp_path / "a.csv.zst", b"\x28\xb5\x2f\xfd")
    assert "pip install 'topicfocus[tables]'" in error(path)
    assert read(write(tmp_path / "a.csv", csv_text(ROWS))) == ROWS
    assert read(write(tmp_path / "a.jsonl", LINES)) == ROWS


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
        (),
        ("id", "text", "stars"),
        (1, "Schöne Straße\nzwei", 4.5),
        (),
        (2, 1999, 3),
        (3, None, None),
        (4, "=1+1", True),
    ]
    path = workbook(tmp_path / "r.xlsx", rows)
    block = read_table(path, "text", "stars", numbers=["id"], group="stars").read()
    assert block.texts == ["Schöne Straße\nzwei", "1999", "", ""]  # a formula without its value
    assert block.target == ["4.5", "3", "", "true"]
    assert block.group == ["4.5", "3", None, "true"]
    assert block.numbers.ravel().tolist() == [1, 2, 3, 4]
    assert block.rows.tolist() == [1, 3, 4, 5]


def test_excel_that_is_not_as_it_should_be(tmp_path, monkeypatch):
    head = ("text", "stars")
    two = workbook(tmp_path / "two.xlsx", [head, ("a", 1)], other=[head, ("b", 2)])
    assert "say which sheet, sheet= (--sheet). Sheets: first, other." in error(two)
    assert read(two, sheet="other") == [("b", "2")]
    assert "has no sheet 'third'. Sheets: first, other." in error(two, sheet="third")
    assert "its sheet has no cells" in error(workbook(tmp_path / "empty.xlsx", []))
    wide = workbook(tmp_path / "wide.xlsx", [head, ("a", 1), ("b", 2, "more")])
    assert "row 2: more cells than the first row" in error(wide)
    year = workbook(tmp_path / "year.xlsx", [(*head, "year"), ("a", 1, 1990), ("b", 2, "x")])
    assert "row 2: 'year' is 'x', not a number" in error(year, numbers=["year"])
    assert "not a complete Excel file" in error(write(tmp_path / "text.xlsx", "text,stars\n"))
    assert "not a complete Excel file" in error(write(tmp_path / "other.xlsx", zipped(b"x")))
    packed = write(tmp_path / "packed.xlsx.gz", gzip.compress(two.read_bytes()))
    assert "is read from a file, not compressed" in error(packed)
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    assert "pip install 'topicfocus[excel]'" in error(wide)


# ---- folders, count matrices, standard input --------------------------------------------------


def test_folder_of_classes(tmp_path):
    for kind in ("neg", "pos"):
        (tmp_path / kind).mkdir()
        write(tmp_path / kind / "b.txt", f"{kind} plain")
        for ending, pack in PACKERS.items():
            write(tmp_path / kind / f"a.txt{ending}", pack(f"{kind} {ending}".encode()))
    write(tmp_path / "pos" / "notes.md", "not a document")
    (tmp_path / ".git").mkdir()
    table = read_table(tmp_path)
    block = table.read()
    assert block.texts[:6] == [*(f"neg {e}" for e in sorted(PACKERS)), "neg plain", "pos .bz2"]
    assert block.target == ["neg"] * 5 + ["pos"] * 5
    assert table.names[4].replace("\\", "/") == "neg/b.txt"
    flat = read_table(tmp_path / "pos")
    assert flat.read().texts[-1] == "pos plain" and flat.target is None
    assert "no subfolders" in error(tmp_path / "pos")
    write(tmp_path / "pos" / "c.txt", b"caf\xe9")
    assert "c.txt: not utf-8" in error(tmp_path / "pos", text=None, target=None)
    write(tmp_path / "2.txt", "bad")
    assert "both text files and folders" in error(tmp_path)


def test_count_matrices(tmp_path):
    counts = sparse.csr_array(np.array([[1, 0, 2], [0, 3, 0]]))
    sparse.save_npz(tmp_path / "a.npz", counts)
    scipy_io.mmwrite(tmp_path / "a.mtx", counts)
    write(tmp_path / "a.vocab.txt", "gut\nschön\r\nneu\n")
    write(tmp_path / "a.target.txt", "1\n0\n")
    for name in ("a.npz", "a.mtx"):
        table = read_table(tmp_path / name)
        assert table.corpus.vocabulary == ("gut", "schön", "neu")
        assert table.corpus.counts.toarray().tolist() == [[1, 0, 2], [0, 3, 0]]
        assert table.target == ["1", "0"]
    other = write(tmp_path / "words.txt", "x\ny\nz")
    assert read_counts(str(tmp_path / "a.npz"), str(other)).corpus.vocabulary == ("x", "y", "z")


def test_count_matrices_that_do_not_fit(tmp_path):
    path = tmp_path / "a.npz"
    np.savez(path, format=np.array([{"a": 1}], dtype=object))
    assert "pickled objects, which are never loaded" in error(path)
    sparse.save_npz(path, sparse.csr_array(np.array([[1, 0, 2], [0, 3.5, 0]])))
    with pytest.raises(ReadError, match=r"no vocabulary beside it.*a\.vocab\.txt"):
        read_table(path)
    write(tmp_path / "a.vocab.txt", "x\ny\n")
    with pytest.raises(ReadError, match=r"3 columns but .* has 2 words.*words x documents"):
        read_table(path)
    write(tmp_path / "a.vocab.txt", "x\ny\nz\n")
    with pytest.raises(ReadError, match=r"not whole numbers"):
        read_table(path)
    write(tmp_path / "a.target.txt", "1\n")
    with pytest.raises(ReadError, match=r"2 documents but .* has 1 values"):
        read_table(path)


@pytest.mark.parametrize("content", [csv_text(ROWS), csv_text(ROWS, "\t"), LINES])
def test_standard_input(monkeypatch, content):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content.encode())))
    table = read_table("-", text="text", target="stars")
    for _ in range(2):
        block = table.read()
        assert list(zip(block.texts, block.target, strict=True)) == ROWS
    assert not sys.stdin.closed


# ---- several files ----------------------------------------------------------------------------


def test_several_files(tmp_path):
    write(tmp_path / "a.csv", csv_text([("a", 1), ("b", 2)]))
    assert read(tmp_path) == [("a", "1"), ("b", "2")]
    write(tmp_path / "b.tsv", "id\tstars\ttext\n1\t3\tc\n")
    write(tmp_path / "c.json.gz", gzip.compress(b'[{"text": "d", "stars": 4}]'))
    write(tmp_path / "d.csv", "text,stars\n")  # a part may be empty
    write(tmp_path / "notes.md", "not a table")
    expected = [("a", "1"), ("b", "2"), ("c", "3"), ("d", "4")]
    assert read(tmp_path) == read([tmp_path / "a.csv", tmp_path / "[b-d].*"]) == expected
    table = read_table(str(tmp_path / "*[vnz]"), "text", "stars")
    for _ in range(2):  # a table can be read again
        table.read()
        assert table.rows.tolist() == [1, 2, 1, 1]
        names = ["a.csv", "a.csv", "b.tsv", "c.json.gz"]
        assert table.file_of_rows.tolist() == [str(tmp_path / name) for name in names]
        assert table.where(3) == f"{tmp_path / 'c.json.gz'}, row 1"
    write(tmp_path / "e.txt", "texts come first")
    assert read_table(tmp_path).read().texts == ["texts come first"]


def test_mistakes_with_several_files(tmp_path):
    good, other = tmp_path / "a.csv", tmp_path / "b.csv"
    write(good, csv_text([("a", 1)]))
    write(other, csv_text([("b", 2)], header=("text", "star")))
    assert f"{other} has no column 'stars'. Did you mean 'star'?" in error([good, other])
    assert f"{good} is named twice" in error([good, tmp_path / "*.csv"])
    assert "*.json: no file has such a name" in error(tmp_path / "*.json")
    assert "c.csv: no such file. Did you mean 'b.csv'?" in error([good, tmp_path / "c.csv"])
    assert "standard input (-) cannot be read together with files" in error([good, "-"])
    assert "is a folder. Read it alone" in error([good, tmp_path])
    assert "no file was named" in error([])
    write(tmp_path / "m.npz", b"PK")
    assert "a count matrix cannot be one of several" in error([good, tmp_path / "m.npz"])
    write(other, csv_text([("b", 2), ("c", 3, 4)]))
    assert f"{other}, row 2: 3 fields" in error([good, other])
    assert read([good, other], skip_bad=True) == [("a", "1"), ("b", "2")]
    pattern = write(tmp_path / "a[1].csv", csv_text([("a", 1)]))
    assert read(pattern) == [("a", "1")]  # a file of this name comes before the pattern


# ---- blocks, columns, other errors ------------------------------------------------------------


def test_blocks_are_small_and_a_table_can_be_read_again(tmp_path, monkeypatch):
    rows = [(f"word{i}", str(i)) for i in range(25)]
    lines = "".join(json.dumps({"text": text, "stars": stars}) + "\n" for text, stars in rows)
    for path in (write(tmp_path / "a.csv", csv_text(rows)), write(tmp_path / "a.jsonl", lines)):
        table = read_table(path, text="text", target="stars", block_rows=10)
        for _ in range(2):
            assert [len(block) for block in table] == [10, 10, 5]
            assert table.rows.tolist() == list(range(1, 26))
            assert table.target == [str(i) for i in range(25)]
    monkeypatch.setattr("topicfocus.text.formats.BATCH_CHARACTERS", 12)
    monkeypatch.setattr("topicfocus.text.formats._FEW_ROWS", 5)
    assert len(list(table)) > 3
    counts = TokenCounter().fit_transform(table)
    assert counts.shape == (25, 25)


def number_files(folder, rows):
    """The same rows as files of every format that has columns."""
    names = ("text", "year", "stars", "price")
    yield write(folder / "n.csv", csv_text(rows, header=names))
    yield write(folder / "n.tsv", csv_text(rows, "\t", header=names))
    lines = [json.dumps(dict(zip(names, row, strict=True))) for row in rows]
    yield write(folder / "n.jsonl", "\n".join(lines) + "\n")
    pa = pytest.importorskip("pyarrow")
    columns = [pa.array(list(column)) for column in zip(*rows, strict=True)]
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pa.table(dict(zip(names, columns, strict=True))), folder / "n.parquet")
    yield folder / "n.parquet"


def test_numeric_columns(tmp_path):
    rows = [("a good film", 1999, "5", 2.5), ("bad\nfilm", -3, "1", 1e-3), ("x", 0, "2", 7.0)]
    for path in number_files(tmp_path, rows):
        table = read_table(path, "text", "stars", numbers=["price", "year"], block_rows=2)
        blocks = list(table)
        expected = [[row[3], row[1]] for row in rows]
        assert table.numbers.tolist() == expected, path
        assert np.concatenate([block.numbers for block in blocks]).tolist() == expected
        assert table.target == ["5", "1", "2"]
        twice = read_table(path, "text", "year", numbers=["year"]).read()
        assert [float(v) for v in twice.target] == twice.numbers[:, 0].tolist()
        with pytest.raises(ReadError, match=r"no column 'yeer'\. Did you mean 'year'"):
            read_table(path, "text", numbers=["yeer"])


@pytest.mark.parametrize("bad", ["many", "", "inf", "1_000"])
def test_a_row_without_its_number(tmp_path, bad):
    rows = [("good", "1", "5", "2"), ("bad", "2", "1", bad), ("film", "3", "2", "4")]
    options = {"text": "text", "target": "stars", "numbers": ["year", "price"]}
    for path in number_files(tmp_path, rows):
        with pytest.raises(ReadError, match=r"row 2: 'price' is (missing|'.*', not)"):
            read_table(path, **options).read()
        table = read_table(path, **options, skip_bad=True)
        block = table.read()
        assert block.texts == ["good", "film"] and block.target == ["5", "2"]
        assert block.numbers.tolist() == [[1, 2], [3, 4]] and block.rows.tolist() == [1, 3]
        assert table.n_skipped == 1
        if not bad:
            found = read_table(path, **options, allow_missing=["price"]).read().numbers
            np.testing.assert_array_equal(found, [[1, 2], [2, np.nan], [3, 4]])


def test_numbers_are_not_for_what_has_no_columns(tmp_path):
    write(tmp_path / "a.txt", "good")
    with pytest.raises(ReadError, match="is a folder, which has no column 'year'"):
        read_table(tmp_path, numbers=["year"])
    sparse.save_npz(tmp_path / "m.npz", sparse.csr_matrix([[1]]))
    with pytest.raises(ReadError, match="is a count matrix, which has no column 'year'"):
        read_table(tmp_path / "m.npz", numbers=["year"])


def test_columns_that_are_not_there(tmp_path):
    path = write(tmp_path / "a.csv", csv_text(ROWS))
    message = error(path, target="star")
    assert "no column 'star'" in message and "Did you mean 'stars'?" in message
    assert "Columns: text, stars." in message
    assert "which column is the text" in error(path, text=None)
    twice = write(tmp_path / "b.csv", "text,text,stars\na,b,1\n")
    assert "2 columns named 'text'" in error(twice)
    rows = write(tmp_path / "rows.csv", "good film,5\nbad film,1\n")
    assert "if the file has no header" in error(rows)
    lines = write(tmp_path / "a.jsonl", '{"text": "a", "stars": 1}\n')
    assert "Did you mean 'stars'?" in error(lines, target="starz")
    assert "format must be one of" in error(path, format="excel")
    assert "delimiter must be one character" in error(path, delimiter="::")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", b"", "is empty"),
        ("a.jsonl", b"", "is empty"),
        ("a.parquet", b"", "not a complete Parquet file"),
        ("a.csv", b"\n\n\r\n", "only blank lines"),
        ("a.csv", b"text,stars\n", "header but no rows"),
        ("a.csv", b"PAR1....", "a Parquet file"),
        ("a.tsv", b"PK\x03\x04....", "a zip archive"),
        ("a.jsonl", b"\x1f\x8b....", "compressed by gzip"),
        ("a.csv", b"te\0xt,stars\n", "NUL bytes"),
        ("a.parquet", b"text,stars\na,1\n", "not a complete Parquet file"),
        ("a.npz", b"text", ".npz is a zip archive"),
        ("a.npz", b"PK\x05\x06" + bytes(18), "not a sparse matrix"),
        ("a.docx", b"text", "format= (--format)"),
        ("a", b"text", "format= (--format)"),
    ],
)
def test_files_that_are_not_what_they_seem(tmp_path, name, content, message):
    assert message in error(write(tmp_path / name, content))


def test_files_that_are_not_there(tmp_path):
    write(tmp_path / "reviews.csv", csv_text(ROWS))
    assert "Did you mean 'reviews.csv'?" in error(tmp_path / "review.csv")
    assert "no such file" in error(tmp_path / "nowhere" / "a.csv")
    (tmp_path / "notes").mkdir()
    write(tmp_path / "notes" / "notes.md", "neither a text nor a table")
    assert "contains no text files" in error(tmp_path / "notes")
