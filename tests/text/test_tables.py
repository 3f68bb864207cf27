"""Files of every kind become the same rows; bad ones say what is wrong, where, and what to do."""

import csv
import gzip
import io
import json
import sys

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import io as scipy_io
from scipy import sparse

from topicfocus import TokenCounter
from topicfocus.text import ReadError, arrow, delimited, jsonlines, read_counts, read_table, records

ROWS = [
    ('A good, "very" good film', "5"),
    ("two\nlines", "4.5"),
    ("", "1"),
    ("Schöne Straße 你好 😀", ""),
]


def write(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    return path


def csv_text(rows, delimiter=",", header=("text", "stars")):
    out = io.StringIO(newline="")
    csv.writer(out, delimiter=delimiter).writerows([header, *rows] if header else rows)
    return out.getvalue()


def read(path, text="text", target="stars", **options):
    table = read_table(path, text=text, target=target, **options)
    block = table.read()
    assert len(block) == len(block.texts) == len(block.rows)
    return list(zip(block.texts, block.target, strict=True)) if target else block.texts


def error(path, *args, **options):
    with pytest.raises(ReadError) as caught:
        read(path, *args, **options)
    message = str(caught.value)
    assert "\n" not in message
    return message


# ---- what can be read -------------------------------------------------------------------------


def test_csv_tsv_and_compressed(tmp_path):
    assert read(write(tmp_path / "a.csv", csv_text(ROWS))) == ROWS
    assert read(write(tmp_path / "a.tsv", csv_text(ROWS, "\t"))) == ROWS
    assert read(write(tmp_path / "a.csv.gz", gzip.compress(csv_text(ROWS).encode()))) == ROWS
    assert read(write(tmp_path / "bom.csv", "\ufeff" + csv_text(ROWS))) == ROWS
    assert read(write(tmp_path / "semi.csv", csv_text(ROWS, ";"))) == ROWS
    assert read(write(tmp_path / "pipe.txt", csv_text(ROWS, "|")), format="csv") == ROWS
    assert read(write(tmp_path / "x.csv", csv_text(ROWS, "~")), delimiter="~") == ROWS
    assert read(tmp_path / "a.csv", target=None) == [text for text, _ in ROWS]
    utf16 = write(tmp_path / "utf16.csv", csv_text(ROWS).encode("utf-16"))
    assert read(utf16, encoding="utf-16") == ROWS
    latin = write(tmp_path / "latin.csv", "text,stars\nnaïve,1\n".encode("latin-1"))
    assert read(latin, encoding="latin-1") == [("naïve", "1")]


def test_a_header_line_may_hold_other_delimiters_in_quotes(tmp_path):
    path = write(tmp_path / "a.csv", '"text, or so";stars\na;1\nb;2\n')
    assert read(path, text="text, or so") == [("a", "1"), ("b", "2")]


def test_json_lines(tmp_path):
    lines = [
        {"text": "good", "stars": 5},
        {"text": "bäd", "stars": 1.5},
        {"stars": True, "text": "fine"},
        {"text": ""},
    ]
    content = "\n\n".join(json.dumps(line) for line in lines)
    expected = [("good", "5"), ("bäd", "1.5"), ("fine", "true"), ("", None)]
    assert read(write(tmp_path / "a.jsonl", content)) == expected
    assert read(write(tmp_path / "a.json", content)) == expected
    assert read(write(tmp_path / "a.ndjson.gz", gzip.compress(content.encode()))) == expected


def test_parquet(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    texts, stars = [text for text, _ in ROWS], [5, 4, None, 1]
    for i, kind in enumerate((pa.string(), pa.large_string())):
        table = pa.table({"n": [1, 2, 3, 4], "text": pa.array(texts, kind), "stars": stars})
        path = tmp_path / f"{i}.parquet"
        parquet.write_table(table, path, row_group_size=3)
        expected = list(zip(texts, ["5", "4", None, "1"], strict=True))
        assert read(path) == expected
        assert read(path, block_rows=1) == expected


def test_folder_of_classes(tmp_path):
    for name, content in (("pos/b", "good"), ("pos/a", "fine"), ("neg/c", "bad\n")):
        path = tmp_path / f"{name}.txt"
        path.parent.mkdir(exist_ok=True)
        write(path, content)
    write(tmp_path / "pos" / "notes.md", "not a document")
    (tmp_path / ".git").mkdir()
    table = read_table(tmp_path)
    block = table.read()
    assert block.texts == ["bad\n", "fine", "good"]
    assert block.target == ["neg", "pos", "pos"]
    assert [name.replace("\\", "/") for name in table.names] == [
        "neg/c.txt",
        "pos/a.txt",
        "pos/b.txt",
    ]
    flat = read_table(tmp_path / "pos")
    assert flat.read().texts == ["fine", "good"] and flat.target is None


def test_matrices_of_counts(tmp_path):
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


class Pipe(io.BytesIO):
    """A pipe that hands out a few bytes at a time."""

    def read1(self, size=-1):
        return super().read1(min(size, 3))


@pytest.mark.parametrize(
    "content",
    [csv_text(ROWS), csv_text(ROWS, "\t"), "".join(
        json.dumps({"text": t, "stars": s}) + "\n" for t, s in ROWS
    )],
)  # fmt: skip
def test_standard_input(monkeypatch, content):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(Pipe(content.encode())))
    table = read_table("-", text="text", target="stars")
    block = table.read()
    assert list(zip(block.texts, block.target, strict=True)) == ROWS
    with pytest.raises(ReadError, match="only once"):
        list(table)
    assert not sys.stdin.closed


# ---- blocks -----------------------------------------------------------------------------------


def test_blocks_are_small_and_a_table_can_be_read_again(tmp_path, monkeypatch):
    path = write(tmp_path / "a.csv", csv_text([(f"word{i}", str(i)) for i in range(25)]))
    table = read_table(path, text="text", target="stars", block_rows=10)
    for _ in range(2):
        assert [len(block) for block in table] == [10, 10, 5]
        assert table.rows.tolist() == list(range(1, 26))
        assert table.target == [str(i) for i in range(25)]
    monkeypatch.setattr(records, "BLOCK_CHARACTERS", 12)
    assert max(len(block) for block in table) <= 3


def test_counting_a_table(tmp_path):
    path = write(tmp_path / "a.csv", csv_text(ROWS))
    table = read_table(path, text="text", target="stars", block_rows=2)
    counts = TokenCounter().fit_transform(table)
    assert (counts != TokenCounter().fit_transform([text for text, _ in ROWS])).nnz == 0
    assert table.target == [star for _, star in ROWS]


# ---- Arrow and the standard library -----------------------------------------------------------

fields = st.text(st.sampled_from('ab" ,;\n\r\té'), max_size=6)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(st.tuples(fields, fields), min_size=1, max_size=8))
def test_arrow_reads_what_the_standard_library_reads(tmp_path, monkeypatch, rows):
    pytest.importorskip("pyarrow")
    path = write(tmp_path / "a.csv", csv_text(rows))
    plain = read(path)
    monkeypatch.setattr(delimited, "LARGE", 0)
    table = read_table(path, text="text", target="stars")
    assert any(not isinstance(block.texts, list) for block in table)
    assert read(path) == plain
    assert plain == [row for row in rows if row != ("", "")] or ("", "") in rows


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=200)
@given(content=st.text(st.sampled_from('ab",\n\r\té;'), min_size=1, max_size=30))
def test_arrow_and_the_standard_library_agree_on_anything(tmp_path, monkeypatch, content):
    pytest.importorskip("pyarrow")
    path = write(tmp_path / "a.csv", "text,stars\n" + content)

    def outcome():
        try:
            return read(path)
        except ReadError as error:
            return str(error)

    monkeypatch.setattr(delimited, "LARGE", 1 << 60)
    plain = outcome()
    monkeypatch.setattr(delimited, "LARGE", 0)
    assert outcome() == plain


def test_what_arrow_cannot_read_is_read_on_from_there(tmp_path, monkeypatch):
    pytest.importorskip("pyarrow")
    monkeypatch.setattr(delimited, "LARGE", 0)
    monkeypatch.setattr(delimited, "READ_BYTES", 1 << 10)
    monkeypatch.setattr(arrow, "BLOCK_CHARACTERS", 1 << 11)
    rows = [(f"word{i} " * 10, "1") for i in range(200)]
    long = [("long " * 2000, "2")]  # longer than Arrow's blocks
    path = write(tmp_path / "a.csv", csv_text(rows + long + rows))
    table = read_table(path, text="text", target="stars")
    kinds = [isinstance(block.texts, list) for block in table]
    assert kinds[0] is False and kinds[-1] is True
    assert table.rows.tolist() == list(range(1, 402))
    assert read(path) == rows + long + rows
    bad = write(tmp_path / "bad.csv", csv_text(rows) + "only one field\n")
    assert "bad.csv, row 201 (line 202): 1 field where the header has 2" in error(bad)


# ---- what cannot be read ----------------------------------------------------------------------


def test_columns_that_are_not_there(tmp_path):
    path = write(tmp_path / "a.csv", csv_text(ROWS))
    message = error(path, target="star")
    assert "no column 'star'" in message and "Did you mean 'stars'?" in message
    assert "Columns: text, stars." in message
    assert "Did you mean 'text'?" in error(path, text="Text")
    assert "which column is the text" in error(path, text=None)
    twice = write(tmp_path / "b.csv", "text,text,stars\na,b,1\n")
    assert "2 columns named 'text'" in error(twice)
    lines = write(tmp_path / "a.jsonl", '{"text": "a", "stars": 1}\n')
    assert "Did you mean 'stars'?" in error(lines, target="starz")


def test_rows_that_cannot_be_read(tmp_path):
    path = write(tmp_path / "a.csv", 'text,stars\n"two\nlines",1\nb\nc,2,3\n\nd,4\n')
    message = error(path)
    assert "row 2 (line 4): 1 field where the header has 2" in message
    assert "--skip-bad" in message
    table = read_table(path, text="text", target="stars", skip_bad=True)
    assert table.read().texts == ["two\nlines", "d"]
    assert table.rows.tolist() == [1, 4] and table.n_skipped == 2
    assert "row 3 (line 5): 3 fields where the header has 2" in table.skipped[1]
    quote = write(tmp_path / "q.csv", 'text,stars\na,1\n"b,2\nc,3\n')
    assert "row 2 (line 3): a quote is opened and never closed" in error(quote)
    lines = write(tmp_path / "a.jsonl", '{"text": "a"}\n{"text": \n[]\n{"text": 3}\n{}\n')
    assert "row 2 (line 2): not JSON" in error(lines, target=None)
    table = read_table(lines, text="text", skip_bad=True)
    assert table.read().texts == ["a"] and table.n_skipped == 4
    none = write(tmp_path / "none.csv", "text,stars\na\nb\n")
    assert "none of the 2 rows is readable" in error(none, skip_bad=True)


def test_encodings(tmp_path):
    path = write(tmp_path / "a.csv", "text,stars\ngood,1\nnaïve,2\nfine,3\n".encode("latin-1"))
    message = error(path)
    assert "row 2 (line 3): not utf-8: byte 0xef at column 3" in message
    assert "--encoding latin-1" in message
    table = read_table(path, text="text", skip_bad=True)
    assert table.read().texts == ["good", "fine"] and table.n_skipped == 1
    assert "unknown" in error(path, encoding="utf-9")
    header = write(tmp_path / "h.csv", "größe,text\n1,a\n".encode("latin-1"))
    assert "header: not utf-8" in error(header, target=None)
    assert "--encoding utf-16" in error(
        write(tmp_path / "b.csv", "text,stars\na,1\n".encode("utf-16"))
    )
    assert "after line 0: not utf-16" in error(
        write(tmp_path / "c.csv", b"text,stars\na,1\n1"), encoding="utf-16"
    )
    lines = write(tmp_path / "a.jsonl", b'{"text": "a"}\n{"text": "\xe9"}\n')
    assert "row 2 (line 2): not utf-8" in error(lines, target=None)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", b"", "is empty"),
        ("a.jsonl", b"", "is empty"),
        ("a.parquet", b"", "is empty"),
        ("a.csv", b"\n\n\r\n", "nothing but blank lines"),
        ("a.csv", b"text,stars\n", "header but no rows"),
        ("a.csv", b"PAR1....", "a Parquet file"),
        ("a.tsv", b"PK\x03\x04....", "a zip archive"),
        ("a.jsonl", b"\x1f\x8b....", "compressed by gzip"),
        ("a.csv.gz", b"text,stars\n", "is not compressed by gzip"),
        ("a.csv", b"te\0xt,stars\n", "NUL bytes"),
        ("a.parquet", b"text,stars\na,1\n", "not Parquet but perhaps text"),
        ("a.npz", b"text", ".npz is a zip archive"),
        ("a.npz", b"PK\x05\x06" + bytes(18), "not a sparse matrix"),
        ("a.mtx", b"hello", "not Matrix Market"),
        ("a.mtx", b"", "not Matrix Market"),
        ("a.docx", b"text", "format= (--format)"),
        ("a", b"text", "format= (--format)"),
    ],
)
def test_files_that_are_not_what_they_seem(tmp_path, name, content, message):
    assert message in error(write(tmp_path / name, content))


def test_files_that_end_too_early(tmp_path):
    whole = gzip.compress(csv_text(ROWS * 1000).encode())
    assert "cannot be read" in error(write(tmp_path / "a.csv.gz", whole[: len(whole) // 2]))
    pytest.importorskip("pyarrow")
    assert "not a whole Parquet file" in error(write(tmp_path / "a.parquet", b"PAR1" + bytes(50)))


def test_files_that_are_not_there(tmp_path):
    write(tmp_path / "reviews.csv", csv_text(ROWS))
    assert "Did you mean 'reviews.csv'?" in error(tmp_path / "review.csv")
    assert "no such file" in error(tmp_path / "nowhere" / "a.csv")
    (tmp_path / "notes").mkdir()
    write(tmp_path / "notes" / "notes.md", "neither a text nor a table")
    assert "holds no text files" in error(tmp_path / "notes")
    (tmp_path / "pos").mkdir()
    write(tmp_path / "pos" / "1.txt", "good")
    write(tmp_path / "2.txt", "bad")
    assert "both text files and folders" in error(tmp_path)
    assert "no subfolders" in error(tmp_path / "pos")
    write(tmp_path / "pos" / "2.txt", b"caf\xe9")
    assert "2.txt: not utf-8" in error(tmp_path / "pos", text=None, target=None)


def test_parquet_columns_and_missing_texts(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "a.parquet"
    parquet.write_table(pa.table({"text": ["a", None, "b"], "stars": [1, 2, 3]}), path)
    assert "row 2: no 'text'" in error(path)
    table = read_table(path, text="text", target="stars", skip_bad=True)
    assert table.read().texts == ["a", "b"]
    assert table.target == ["1", "3"] and table.rows.tolist() == [1, 3]
    assert "holds int64, not text" in error(path, text="stars")
    assert "Did you mean 'stars'?" in error(path, target="star")
    parquet.write_table(pa.table({"text": pa.array([], pa.string())}), path)
    assert "no rows" in error(path, target=None)


def test_without_pyarrow_the_message_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    path = write(tmp_path / "a.parquet", b"PAR1" + bytes(50))
    assert "pip install 'topicfocus[tables]'" in error(path)
    assert read(write(tmp_path / "a.csv", csv_text(ROWS))) == ROWS


def test_pickles_are_never_loaded(tmp_path):
    path = tmp_path / "a.npz"
    np.savez(path, format=np.array([{"a": 1}], dtype=object))
    with pytest.raises(ReadError, match="pickled objects, which are never loaded"):
        read_table(path)
    assert "a pickle" in error(write(tmp_path / "a.csv", b"\x80\x04\x95"))


def test_matrices_that_do_not_fit(tmp_path):
    path = tmp_path / "a.npz"
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


def test_options_that_cannot_be(tmp_path):
    path = write(tmp_path / "a.csv", csv_text(ROWS))
    assert "format must be one of" in error(path, format="excel")
    assert "delimiter must be one character" in error(path, delimiter="::")


def test_lines_of_an_old_mac(tmp_path):
    path = write(tmp_path / "a.csv", 'text,stars\ra,1\r"b\rb",2\r')
    assert read(path) == [
        ("a", "1"),
        ("b\rb", "2"),
    ]
    bad = write(tmp_path / "b.csv", "text,stars\ra,1\rb\r")
    assert "row 2 (line 3): 1 field" in error(bad)


# ---- further columns of numbers ---------------------------------------------------------------


def number_files(folder, rows):
    """The same rows as files of every kind that has columns."""
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


@pytest.mark.parametrize("large", [0, 1 << 60])  # Arrow's reader of CSV, and the other one
def test_columns_of_numbers(tmp_path, monkeypatch, large):
    monkeypatch.setattr(delimited, "LARGE", large)
    monkeypatch.setattr(jsonlines, "LARGE", large)
    rows = [("a good film", 1999, "5", 2.5), ("bad\nfilm", -3, "1", 1e-3), ("x", 0, "2", 7.0)]
    for path in number_files(tmp_path, rows):
        table = read_table(path, "text", "stars", numbers=["price", "year"], block_rows=2)
        blocks = list(table)
        expected = [[row[3], row[1]] for row in rows]
        assert table.numbers.tolist() == expected, path
        assert np.concatenate([block.numbers for block in blocks]).tolist() == expected
        assert table.target == ["5", "1", "2"]
        assert table.read().numbers.tolist() == expected
        # The same column as a target and as a number.
        twice = read_table(path, "text", "year", numbers=["year"]).read()
        assert [float(v) for v in twice.target] == twice.numbers[:, 0].tolist()
        with pytest.raises(ReadError, match=r"no column 'yeer'\. Did you mean 'year'"):
            read_table(path, "text", numbers=["yeer"])


@pytest.mark.parametrize("large", [0, 1 << 60])
@pytest.mark.parametrize("bad", ["many", "", "inf", "1_000"])
def test_a_row_without_its_number(tmp_path, monkeypatch, large, bad):
    monkeypatch.setattr(delimited, "LARGE", large)
    monkeypatch.setattr(jsonlines, "LARGE", large)
    rows = [("good", "1", "5", "2"), ("bad", "2", "1", bad), ("film", "3", "2", "4")]
    for path in number_files(tmp_path, rows):
        with pytest.raises(
            ReadError, match=r"row 2.*'price' is (missing|'.*', not (a number|finite))"
        ):
            read_table(path, "text", "stars", numbers=["year", "price"]).read()
        table = read_table(path, "text", "stars", numbers=["year", "price"], skip_bad=True)
        block = table.read()
        assert block.strings == ["good", "film"] and block.target == ["5", "2"]
        assert block.numbers.tolist() == [[1, 2], [3, 4]] and block.rows.tolist() == [1, 3]
        assert table.n_skipped == 1


def test_numbers_are_not_for_what_has_no_columns(tmp_path):
    write(tmp_path / "a.txt", "good")
    with pytest.raises(ReadError, match="is a folder, which has no column 'year'"):
        read_table(tmp_path, numbers=["year"])
    sparse.save_npz(tmp_path / "m.npz", sparse.csr_matrix([[1]]))
    with pytest.raises(ReadError, match="is a count matrix, which has no column 'year'"):
        read_table(tmp_path / "m.npz", numbers=["year"])


# ---- JSON lines by Arrow ----------------------------------------------------------------------

LINES = {
    "labels": b'{"text": "a \\"good\\" film", "stars": "pos"}\n{"stars": "neg", "text": "b"}\n',
    "whole": b'{"text": "a", "stars": 5}\n{"text": "b", "stars": null}\n{"text": "", "stars": -7}',
    "decimals": b'{"text": "a", "stars": 4.50}\n{"text": "b", "stars": 0.1}\n',
    "truth": b'{"text": "a", "stars": true}\n{"text": "b", "stars": false}\n',
    "blank lines": b'{"text": "a", "stars": 1}\n\n  \r\n{"text": "b", "stars": 2}\r\n',
    "mark": b'\xef\xbb\xbf{"text": "a", "stars": 1}\n',
    "letters": '{"text": "Straße \\u4f60\\ud83d\\ude00", "stars": 1, "x": [{"y": 1}]}\n'.encode(),
    "twice": b'{"text": "a", "stars": 1, "stars": 2}\n',
    "changing": b'{"text": "a", "stars": 1}\n{"text": "b", "stars": 2.5}\n'
    b'{"text": "c", "stars": "x"}\n',
    "huge": b'{"text": "a", "stars": 1}\n{"text": "b", "stars": 123456789012345678901234}\n',
    "NaN": b'{"text": "a", "stars": 1}\n{"text": "b", "stars": NaN}\n',
    "first missing": b'{"text": "a", "stars": null}\n{"text": "b", "stars": 2}\n',
    "old Mac": b'{"text": "a", "stars": 1}\r{"text": "b", "stars": 2}\r',
}
BAD_LINES = {
    "encoding": b'{"text": "a", "stars": 1}\n{"text": "caf\xe9", "stars": 1}\n',
    "surrogate": b'{"text": "a", "stars": 1}\n{"text": "\xed\xa0\x80", "stars": 1}\n',
    "no text": b'{"text": "a", "stars": 1}\n{"stars": 1}\n',
    "number as text": b'{"text": "a", "stars": 1}\n{"text": 5, "stars": 1}\n',
    "two in a line": b'{"text": "a", "stars": 1}\n'
    b'{"text": "b", "stars": 1} {"text": "c", "stars": 1}\n',
    "over two lines": b'{"text": "a", "stars": 1}\n{"text": "b",\n"stars": 1}\n',
    "cut off": b'{"text": "a", "stars": 1}\n{"text": "b", "st',
    "array": b'{"text": "a", "stars": 1}\n[1]\n',
}


def both_readers(monkeypatch, path, read):
    """What is read with the standard library alone, and with Arrow where it can."""
    out = []
    for large in (1 << 60, 0):
        monkeypatch.setattr(jsonlines, "LARGE", large)
        out.append(read(path))
    return out


@pytest.mark.parametrize("name", LINES)
def test_json_lines_by_arrow_are_the_same(tmp_path, monkeypatch, name):
    pytest.importorskip("pyarrow")
    path = write(tmp_path / "a.jsonl", LINES[name])

    def rows(path):
        block = read_table(path, "text", "stars").read()
        return block.strings, block.target, block.rows.tolist()

    plain, ours = both_readers(monkeypatch, path, rows)
    assert plain == ours and len(plain[0]) >= 1


@pytest.mark.parametrize("name", BAD_LINES)
def test_bad_json_lines_have_the_same_verdict(tmp_path, monkeypatch, name):
    pytest.importorskip("pyarrow")
    path = write(tmp_path / "a.jsonl", BAD_LINES[name])
    plain, ours = both_readers(monkeypatch, path, error)
    assert plain == ours
    assert "row 2 (line 2)" in plain


def test_arrow_reads_json_lines_at_all(tmp_path, monkeypatch):
    if not hasattr(pytest.importorskip("pyarrow.json"), "open_json"):
        pytest.skip("this pyarrow reads JSON only as a whole: the standard library reads lines")
    monkeypatch.setattr(jsonlines, "LARGE", 0)
    monkeypatch.setattr(jsonlines.JsonLines, "_records", lambda *a: pytest.fail("not by Arrow"))
    lines = [json.dumps({"text": f"word {i}" * 50, "stars": i}) for i in range(30_000)]
    path = write(tmp_path / "a.jsonl", "\n".join(lines) + "\n")
    table = read_table(path, "text", "stars")
    assert len(list(table)) > 1
    assert table.target == [str(i) for i in range(30_000)]
    assert table.rows.tolist() == list(range(1, 30_001))
