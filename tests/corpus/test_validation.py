"""Every refusal says what is wrong, where, and what to do."""

import numpy as np
import pytest
from scipy import sparse

from topicfocus.corpus import make_corpus

WORDS = ("bad", "good", "film", "plot")
KINDS = {
    "dense": np.asarray,
    "csr": sparse.csr_array,
    "csc": sparse.csc_array,
    "coo": sparse.coo_matrix,
    "list": lambda table: np.asarray(table).tolist(),
}


def table_with(row, column, value):
    table = np.ones((5, 4))
    table[1] = 0  # an empty document before the offender must not shift the row
    table[row, column] = value
    return table


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("value", "message"),
    [
        (-3, "Negative values in data passed to X: {where} is -3. .*cannot be negative"),
        (1.5, "X has counts that are not whole numbers: {where} is 1.5. Use TokenCounter"),
        (np.nan, "X contains NaN at {where}. Replace missing counts by 0"),
        (np.inf, "X contains infinity at {where}. Counts must be finite"),
        (-np.inf, "X contains infinity at {where}"),
    ],
)
def test_bad_value_is_named_with_row_column_and_word(kind, value, message):
    table = KINDS[kind](table_with(3, 2, value))
    with pytest.raises(ValueError, match=message.format(where="row 3, column 2")):
        make_corpus(table)
    with pytest.raises(ValueError, match=message.format(where=r"row 3, column 2 \(word 'film'\)")):
        make_corpus(table, WORDS)


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        (np.ones(4), r"X has 1 dimension\(s\), shape \(4,\).*Reshape your data"),
        (np.ones((2, 2, 2)), r"X has 3 dimension\(s\), shape \(2, 2, 2\)"),
        (5, r"X has 0 dimension\(s\)"),
        pytest.param(
            sparse.coo_array(np.ones(4)),
            r"X has 1 dimension\(s\), shape \(4,\)",
            marks=pytest.mark.skipif(
                sparse.coo_array(np.ones(4)).ndim == 2, reason="needs sparse vectors (SciPy 1.13)"
            ),
        ),
        (np.ones((0, 3)), r"X has no documents: 0 sample\(s\) \(shape=\(0, 3\)\)"),
        (sparse.csr_array((0, 3)), "X has no documents"),
        (np.ones((3, 0)), r"X has no words: 0 feature\(s\) \(shape=\(3, 0\)\)"),
        (sparse.csr_array((3, 0)), "X has no words"),
        (np.zeros((3, 2)), "every document of X is empty: its 3 rows hold no counts"),
        (sparse.csr_array((3, 2)), "every document of X is empty"),
        ([[1, 2], [3]], "the rows of X have different lengths"),
        (np.ones((2, 2)) + 1j, "Complex data not supported"),
        (sparse.csr_array(np.ones((2, 2)) + 1j), "Complex data not supported"),
    ],
)
def test_bad_shapes_and_kinds(counts, message):
    with pytest.raises(ValueError, match=message):
        make_corpus(counts)


@pytest.mark.parametrize(
    "text",
    [
        "a single text",
        ["a good film", "a bad film"],
        np.array(["a good film", "a bad film"]),
        np.array(["a good film", "a bad film"], dtype=object),
        [["good", "film"], ["bad", "film"]],
        [["a", "good", "film"], ["bad"]],
        [b"a good film"],
    ],
    ids=["str", "list", "array", "object", "tokens", "ragged-tokens", "bytes"],
)
def test_text_gets_the_advice_to_vectorize(text):
    with pytest.raises(TypeError, match=r"X holds text.*make_pipeline\(topicfocus\.TokenCounter"):
        make_corpus(text)


def test_none_is_missing():
    with pytest.raises(ValueError, match="NaN at row 0, column 1"):
        make_corpus(np.array([[1, None]], dtype=object))


def test_masked_array_is_not_silently_unmasked():
    with pytest.raises(TypeError, match="masked array; fill it first"):
        make_corpus(np.ma.masked_equal([[1, 2]], 2))


@pytest.mark.parametrize("form", ["csr", "csc"])
def test_index_out_of_range_is_refused_before_compiled_code_sees_it(form):
    matrix = getattr(sparse, f"{form}_array")(np.eye(3))
    matrix.indices[1] = 7
    with pytest.raises(ValueError, match=f"X is not a valid {form} matrix: .* must be < 3"):
        make_corpus(matrix)


@pytest.mark.parametrize(
    ("vocabulary", "error", "message"),
    [
        (["a", "b", "c"], ValueError, "vocabulary has 3 words but X has 2 columns"),
        (["a", "a"], ValueError, "duplicates: columns 0 and 1 are both 'a'"),
        (["a", 3], TypeError, "must hold strings, but word 1 is 3"),
        ("ab", TypeError, "sequence of words .* got str"),
        ({"a": 1, "b": 0}, TypeError, r"got dict. Pass vectorizer.get_feature_names_out\(\)"),
        ({"a", "b"}, TypeError, "got set"),
    ],
)
def test_bad_vocabulary(vocabulary, error, message):
    with pytest.raises(error, match=message):
        make_corpus([[1, 2]], vocabulary)
