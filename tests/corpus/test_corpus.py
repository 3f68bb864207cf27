"""Corpus and make_corpus: what is kept, what is computed, what is left alone."""

import hypothesis.extra.numpy as hnp
import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from scipy import sparse

from topicfocus.corpus import Corpus, make_corpus

FORMATS = ["bsr", "coo", "csc", "csr", "dia", "dok", "lil"]

# Small counts with many zeros, so that documents without words are common.
tables = hnp.arrays(
    np.int64,
    hnp.array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=8),
    elements=st.one_of(st.just(0), st.integers(0, 5)),
)


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    table = rng.poisson(0.6, size=(7, 5))
    table[2] = 0  # a document with no words
    table[:, 3] = 0  # a word that never occurs
    return table


def assert_canonical(counts):
    assert type(counts) is sparse.csr_array
    assert counts.data.dtype == np.float64
    assert counts.indices.dtype == counts.indptr.dtype == np.int32
    fresh = sparse.csr_array((counts.data, counts.indices, counts.indptr), shape=counts.shape)
    assert fresh.has_canonical_format  # recomputed, not a flag that came along
    assert (counts.data > 0).all()


@given(tables)
def test_any_table_of_counts_survives_with_its_totals(table):
    corpus = make_corpus(table, allow_empty=True)
    assert_canonical(corpus.counts)
    np.testing.assert_array_equal(corpus.counts.toarray(), table)
    assert (corpus.n_docs, corpus.n_words) == table.shape
    assert corpus.n_tokens == table.sum()
    np.testing.assert_array_equal(corpus.word_counts, table.sum(axis=0))
    np.testing.assert_array_equal(corpus.doc_lengths, table.sum(axis=1))
    assert corpus.word_counts.dtype == corpus.doc_lengths.dtype == np.float64


@given(st.data())
def test_unsorted_duplicate_and_zero_entries_become_canonical(data):
    shape = data.draw(st.tuples(st.integers(1, 6), st.integers(1, 6)))
    n = data.draw(st.integers(0, 30))
    rows = data.draw(hnp.arrays(np.int64, n, elements=st.integers(0, shape[0] - 1)))
    columns = data.draw(hnp.arrays(np.int64, n, elements=st.integers(0, shape[1] - 1)))
    values = data.draw(hnp.arrays(np.int64, n, elements=st.integers(0, 3)))
    expected = np.zeros(shape)
    np.add.at(expected, (rows, columns), values)

    order = np.argsort(rows, kind="stable")  # CSR by hand: duplicates and disorder within a row
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=shape[0]))])
    messy = sparse.csr_array((values[order], columns[order], indptr), shape=shape)
    before = [part.copy() for part in (messy.data, messy.indices, messy.indptr)]

    for given_matrix in (messy, sparse.coo_array((values, (rows, columns)), shape=shape)):
        corpus = make_corpus(given_matrix, allow_empty=True)
        assert_canonical(corpus.counts)
        np.testing.assert_array_equal(corpus.counts.toarray(), expected)
    for part, old in zip((messy.data, messy.indices, messy.indptr), before, strict=True):
        np.testing.assert_array_equal(part, old)


@pytest.mark.parametrize("kind", ["array", "matrix"])
@pytest.mark.parametrize("form", FORMATS)
def test_every_sparse_format(table, form, kind):
    matrix = getattr(sparse, f"{form}_{kind}")(table)
    for indices in {"indices", "indptr"} & set(dir(matrix)):
        setattr(matrix, indices, getattr(matrix, indices).astype(np.int64))
    counts = make_corpus(matrix).counts
    assert_canonical(counts)
    np.testing.assert_array_equal(counts.toarray(), table)
    assert matrix.format == form
    np.testing.assert_array_equal(matrix.toarray(), table)


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int32, np.int64, np.float32, object])
def test_every_number_type(dtype):
    table = np.array([[1, 0], [0, 1]], dtype=dtype)
    np.testing.assert_array_equal(make_corpus(table).counts.toarray(), np.eye(2))
    if dtype is not object:
        np.testing.assert_array_equal(
            make_corpus(sparse.csc_array(table)).counts.toarray(), np.eye(2)
        )


@pytest.mark.parametrize("form", ["coo", "csr", "csc"])
def test_duplicates_of_small_integers_do_not_overflow(form):
    two_hundred_twice = {
        "coo": sparse.coo_array((np.array([200, 200], np.uint8), ([0, 0], [0, 0])), shape=(1, 1)),
        "csr": sparse.csr_array((np.array([200, 200], np.uint8), [0, 0], [0, 2]), shape=(1, 1)),
        "csc": sparse.csc_array((np.array([200, 200], np.uint8), [0, 0], [0, 2]), shape=(1, 1)),
    }[form]
    assert make_corpus(two_hundred_twice).counts[0, 0] == 400


def test_counts_within_the_tolerance_are_rounded_and_the_input_is_not():
    given_counts = sparse.csr_array(np.array([[2.0000004, 1e-9], [-1e-9, 0.9999999]]))
    before = given_counts.data.copy()
    corpus = make_corpus(given_counts)
    assert_canonical(corpus.counts)
    np.testing.assert_array_equal(corpus.counts.toarray(), [[2, 0], [0, 1]])
    assert corpus.counts.nnz == 2
    np.testing.assert_array_equal(given_counts.data, before)


def test_pandas_dataframe(table):
    pandas = pytest.importorskip("pandas")
    corpus = make_corpus(pandas.DataFrame(table, columns=list("abcde")))
    assert corpus.vocabulary == tuple("abcde")
    np.testing.assert_array_equal(corpus.counts.toarray(), table)
    assert make_corpus(pandas.DataFrame(table)).vocabulary is None
    with pytest.raises(TypeError, match="row 0, column 1 is 'nice film'"):
        make_corpus(pandas.DataFrame({"n": [1, 2], "text": ["nice film", "awful"]}))
    with pytest.raises(ValueError, match=r"NaN at row 1, column 0 \(word 'good'\)"):
        make_corpus(pandas.DataFrame({"good": [1, None]}))


@pytest.mark.parametrize(
    "index",
    [
        [4, 0, 2],
        [1, 1],
        slice(1, 6, 2),
        slice(None, None, -1),
        np.array([True, False, True, True, False, False, False]),
        3,
        [],
    ],
    ids=str,
)
def test_rows_takes_documents_in_order(table, index):
    corpus = make_corpus(table, list("abcde"))
    part = corpus.rows(index)
    assert isinstance(part, Corpus)
    assert part.vocabulary == corpus.vocabulary
    assert_canonical(part.counts)
    is_empty = isinstance(index, list) and not index
    expected = table[:0] if is_empty else np.atleast_2d(table[index])
    np.testing.assert_array_equal(part.counts.toarray(), expected)
    np.testing.assert_array_equal(part.word_counts, expected.sum(axis=0))


@given(n_docs=st.integers(1, 30), batch_size=st.integers(1, 40), seed=st.integers(0, 9))
def test_batches_hold_each_document_once(n_docs, batch_size, seed):
    corpus = make_corpus(np.ones((n_docs, 1)))
    plain = list(corpus.batches(batch_size))
    shuffled = list(corpus.batches(batch_size, np.random.default_rng(seed)))
    np.testing.assert_array_equal(np.concatenate(plain), np.arange(n_docs))
    np.testing.assert_array_equal(np.sort(np.concatenate(shuffled)), np.arange(n_docs))
    for batches in (plain, shuffled):
        assert all(len(batch) == batch_size for batch in batches[:-1])
        assert 1 <= len(batches[-1]) <= batch_size
        assert all(corpus.rows(batch).n_docs == len(batch) for batch in batches)
