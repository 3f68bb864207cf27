"""Matrix Market: equal to SciPy's reader on what is valid, one line on what is not."""

import gzip
import io

import numpy as np
import pytest
from scipy import io as scipy_io
from scipy import sparse

from topicfocus.text import ReadError, read_counts

HEAD = b"%%MatrixMarket matrix coordinate real general\n"


def read(folder, content):
    """Counts of a file, with as many words as it has columns."""
    (folder / "m.mtx").write_bytes(content)
    (folder / "m.vocab.txt").write_text("".join(f"w{i}\n" for i in range(12)))
    return read_counts(str(folder / "m.mtx")).corpus.counts.toarray()


# SciPy 1.18 warns of the kind of matrix that it will return.
@pytest.mark.filterwarnings("ignore:The default value for `spmatrix`:DeprecationWarning")
@pytest.mark.parametrize("form", ["integer", "real", "pattern", "array"])
def test_equal_to_scipy(tmp_path, form):
    rng = np.random.default_rng(0)
    dense = rng.poisson(0.4, (30, 12)).astype(float)
    stream = io.BytesIO()
    matrix = dense if form == "array" else sparse.coo_matrix(dense)
    field = form if form in ("integer", "pattern") else "real"
    scipy_io.mmwrite(stream, matrix, comment="words\nby documents", field=field)
    expected = scipy_io.mmread(io.BytesIO(stream.getvalue()))
    expected = expected if form == "array" else expected.toarray()
    np.testing.assert_array_equal(read(tmp_path, stream.getvalue()), expected)


def test_packed_and_with_words(tmp_path):
    content = HEAD + b"% a comment\n\n2 2 2\n1 1 3\r\n2 2 1.0\n"
    (tmp_path / "m.mtx.gz").write_bytes(gzip.compress(content))
    (tmp_path / "m.vocab.txt").write_text("good\nbad\n")
    table = read_counts(str(tmp_path / "m.mtx.gz"))
    assert table.corpus.counts.toarray().tolist() == [[3, 0], [0, 1]]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "first line"),
        (b"%%MatrixMarket vector coordinate real general\n", "first line"),
        (HEAD.replace(b"real", b"complex"), "Matrix Market of complex coordinate numbers"),
        (HEAD.replace(b"general", b"symmetric"), "is symmetric"),
        (HEAD, "no line of 3 sizes"),
        (HEAD + b"2 2\n", "no line of 3 sizes"),
        (HEAD + b"-2 2 1\n1 1 1\n", "no line of 3 sizes"),
        (HEAD + b"2 2 2\n1 1 1\n", "3 numbers where its header says 6"),
        (HEAD + b"2 2 1\n1 1 1\n1 2 1\n", "6 numbers where its header says 3"),
        (HEAD + b"2 2 1\n3 1 1\n", "entry 1: 3 is not an index from 1 to 2"),
        (HEAD + b"2 2 1\n1 0 1\n", "0 is not an index"),
        (HEAD + b"2 2 1\n1 -7 1\n", "-7 is not an index"),
        (HEAD + b"2 2 1\n1 1.5 1\n", "1.5 is not an index"),
        (HEAD + b"2 2 1\nnan 1 1\n", "nan is not an index"),
        (HEAD + b"2 2 1\n1 1 x\n", "not all of it is numbers"),
        (HEAD + b"2 2 1\n1 1 \xff\n", "not all of it is numbers"),
        (HEAD + b"999999999999 2 1\n1 1 1\n", "which it does not contain"),
        (HEAD + b"2 999999999999 1\n1 1 1\n", "which it does not contain"),
    ],
)
def test_what_is_not_valid(tmp_path, content, message):
    with pytest.raises(ReadError, match=message):
        read(tmp_path, content)
