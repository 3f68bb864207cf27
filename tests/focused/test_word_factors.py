"""Words that follow the topics of the kept words."""

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import kstest

from topicfocus.corpus import make_corpus
from topicfocus.datasets import make_pfslda
from topicfocus.focused.correlated_words import (
    add_correlated_words,
    factor_dependence,
    factor_scores,
)
from topicfocus.model import make_problem


@pytest.fixture(scope="module")
def data():
    return make_pfslda(3000, 100, random_state=11)


@pytest.fixture(scope="module")
def relevant(data):
    return np.flatnonzero(data.relevant)


def test_scores_are_those_of_a_dense_decomposition(data, relevant):
    words = sparse.csr_array(data.counts)[:, relevant]
    x = words.toarray()
    share = x.sum(axis=0) / x.sum()
    centred = (x - x.sum(axis=1, keepdims=True) * share) / np.sqrt(share)
    left, size, _ = np.linalg.svd(centred, full_matrices=False)
    expected = (left * size)[:, :4]
    found = factor_scores(words, np.ones(words.shape[0]), 4)
    # The same space, whatever its basis.
    projected = expected @ np.linalg.lstsq(expected, found, rcond=None)[0]
    np.testing.assert_allclose(projected, found, atol=2e-2 * np.abs(found).max())
    np.testing.assert_array_equal(found, factor_scores(words, np.ones(words.shape[0]), 4))


def test_dependence_is_its_formula(data, relevant):
    one = np.ones(data.counts.shape[0])
    scores = factor_scores(sparse.csr_array(data.counts)[:, relevant[:25]], one, 3)
    words = sparse.csr_array(data.counts)[:, relevant[25:30]]
    length = np.asarray(data.counts.sum(axis=1)).ravel()
    found = factor_dependence(words, length, one, scores)
    for v, counts in enumerate(words.toarray().T):
        rest = counts - counts.sum() / length.sum() * length
        t = rest @ scores
        c = (scores * rest[:, None] ** 2).T @ scores
        assert found[v] == pytest.approx(t @ np.linalg.solve(c, t), rel=1e-5)


def test_irrelevant_words_look_like_chance():
    """Chi-square for words that do not depend on topics, although documents have one length."""
    found = []
    for seed in range(4):
        data = make_pfslda(2000, 100, random_state=seed)
        counts = sparse.csr_array(data.counts)
        # Half of the relevant words: the others make the kept tokens depend on the topics too.
        one = np.ones(counts.shape[0])
        scores = factor_scores(counts[:, np.flatnonzero(data.relevant)[:25]], one, 4)
        length = np.asarray(counts.sum(axis=1)).ravel()
        others = counts[:, np.flatnonzero(~data.relevant)]
        found.append(factor_dependence(others, length, one, scores))
    assert kstest(np.concatenate(found), "chi2", args=(4,)).pvalue > 0.01


def test_it_finds_the_rest_and_stays_within_the_share(data, relevant):
    corpus = make_corpus(data.counts)
    problem = make_problem(corpus, None)
    count = corpus.word_counts
    some = relevant[::2]
    found = add_correlated_words(some, problem, 0.25, 5)
    assert set(some) <= set(found)
    assert np.mean(data.relevant[found]) > 0.97
    assert len(found) > 0.9 * len(relevant)
    for share in (0.15, 0.2, 0.25):
        kept = add_correlated_words(some, problem, share, 5)
        assert count[kept].sum() <= max(share * count.sum(), count[some].sum())


def test_a_weight_of_two_is_two_copies(data, relevant):
    corpus = make_corpus(data.counts[:500])
    twice = np.arange(500) % 3 == 0
    index = np.concatenate([np.arange(500), np.flatnonzero(twice)])
    copies = make_problem(corpus.rows(index), None)
    weighted = make_problem(corpus, None, doc_weight=1.0 + twice)
    some = relevant[::2]
    np.testing.assert_array_equal(
        add_correlated_words(some, copies, 0.25, 5), add_correlated_words(some, weighted, 0.25, 5)
    )
