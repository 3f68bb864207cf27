"""The Laplace variance of a linear predictor, beside the inverse of a dense Hessian."""

import numpy as np
import pytest
from models import draw_case

from topicfocus.corpus import make_corpus
from topicfocus.model import ModelState
from topicfocus.proportions import predictor_variance, topic_proportions


def dense_variance(counts, state, theta):
    """η·C η, C the inverse of -∇²f on the simplex (Z (ZᵀHZ)⁻¹ Zᵀ, Z a basis of 1·x = 0)."""
    c = counts * state.inclusion
    mixed = state.topic_word @ theta
    rows = state.topic_word
    hessian = (rows * (c / mixed**2)[:, None]).T @ rows + np.diag(state.doc_topic_prior / theta**2)
    basis = np.linalg.svd(np.ones((1, len(theta))))[2][1:].T
    covariance = basis @ np.linalg.inv(basis.T @ hessian @ basis) @ basis.T
    coef = state.coef.reshape(len(theta), -1)
    return np.einsum("kl,km,ml->l", coef, covariance, coef)


@pytest.mark.parametrize("n_predictors", [1, 3])
@pytest.mark.parametrize("n_topics", [2, 3, 6, 20])
def test_agrees_with_the_dense_inverse(n_topics, n_predictors):
    case = draw_case(n_topics, n_topics=n_topics, n_docs=8, n_words=12, mean_count=2.0)
    old = case.state
    coef = np.random.default_rng(1).normal(size=(n_topics, n_predictors))
    state = ModelState(
        old.topic_word, old.inclusion, old.background, coef, old.family, old.doc_topic_prior
    )
    corpus = case.problem.corpus
    theta = topic_proportions(corpus, state)
    found = predictor_variance(corpus, state, theta)
    expected = [
        dense_variance(row, state, mix)
        for row, mix in zip(corpus.counts.toarray(), theta, strict=True)
    ]
    np.testing.assert_allclose(found, expected, rtol=1e-8)


def test_more_words_leave_less_open():
    case = draw_case(0, n_topics=3, n_words=10)
    row = np.full((1, 10), 3.0)
    variances = [
        predictor_variance(corpus, case.state, topic_proportions(corpus, case.state))[0, 0]
        for corpus in (make_corpus(times * row) for times in (1, 10, 100))
    ]
    assert variances[0] > 5 * variances[1] > 25 * variances[2]


def test_one_topic_leaves_nothing_open():
    case = draw_case(0, n_topics=1)
    corpus = case.problem.corpus
    found = predictor_variance(corpus, case.state, np.ones((corpus.n_docs, 1)))
    np.testing.assert_allclose(found, 0.0, atol=1e-12)
