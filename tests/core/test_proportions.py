"""θ̂ of new documents: the optimum, whatever is put in front of it or in another order."""

from dataclasses import replace

import models
import numpy as np
import pytest
from hypothesis import given, settings
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax

from topicfocus.corpus import make_corpus
from topicfocus.families import Gaussian
from topicfocus.model import ModelState
from topicfocus.proportions import first_occurrence, topic_proportions


def theta_objective(counts, state, theta):
    """Σ_v c_v φ_v log(β_v·θ) + Σ_k α_k log θ_k of one document."""
    seen = counts > 0
    words = np.log(state.topic_word[seen] @ theta)
    return (counts * state.inclusion)[seen] @ words + state.doc_topic_prior @ np.log(theta)


@settings(deadline=None, max_examples=30, derandomize=True)  # optimisations of each document
@given(models.cases(supervised=False, n_topics=(1, 5), max_count=30))
def test_mixes_are_the_optimum_of_a_generic_optimiser(case):
    corpus, state = case.problem.corpus, case.state
    theta = topic_proportions(corpus, state)
    np.testing.assert_allclose(theta.sum(axis=1), 1, rtol=1e-12)
    for d, counts in enumerate(corpus.counts.toarray()):

        def loss(x, counts=counts):
            return -theta_objective(counts, state, np.exp(log_softmax(x)))

        found = minimize(loss, np.log(theta[d]) * 0.5, method="BFGS", options={"gtol": 1e-7})
        value = theta_objective(counts, state, theta[d])
        assert value >= -found.fun - 1e-9 * abs(value)
        np.testing.assert_allclose(theta[d], softmax(found.x), atol=2e-5)


def test_a_document_without_words_gets_the_prior_mean():
    state = models.draw_state(np.random.default_rng(0), 3, 4)
    theta = topic_proportions(make_corpus([[0, 0, 0], [1, 0, 2]]), state)
    expected = state.doc_topic_prior / state.doc_topic_prior.sum()
    np.testing.assert_allclose(theta[0], expected, rtol=1e-12)
    assert np.abs(theta[1] - expected).max() > 1e-3


def test_words_that_no_topic_contains_are_ignored():
    case = models.draw_case(1)
    wide = replace(
        case.state,
        topic_word=np.vstack([case.state.topic_word, np.zeros(3)]),
        inclusion=np.append(case.state.inclusion, 0.9),
        background=np.append(case.state.background, 0.0),
    )
    counts = case.problem.corpus.counts.toarray()
    unknown = make_corpus(np.column_stack([counts, np.full(len(counts), 7)]))
    np.testing.assert_allclose(
        topic_proportions(unknown, wide),
        topic_proportions(case.problem.corpus, case.state),
        rtol=1e-12,
    )


@settings(deadline=None, max_examples=60, derandomize=True)
@given(models.cases(supervised=False, n_topics=(1, 6), max_count=30))
def test_first_occurrences_are_the_mixes_of_changed_documents(case):
    """The chord method and Newton go to the same place, words that are in the document included."""
    corpus, state = case.problem.corpus, case.state
    words = np.arange(corpus.n_words)
    found = first_occurrence(corpus, state, topic_proportions(corpus, state), words)
    assert found.shape == (corpus.n_docs, corpus.n_words, 2, state.n_predictors)
    for v in words:
        for occurrence in (0, 1):
            changed = corpus.counts.toarray()
            changed[:, v] = occurrence
            mixes = topic_proportions(make_corpus(changed, allow_empty=True), state)
            wanted = mixes @ state.coef_rows.T
            size = np.abs(state.coef_rows).max()
            np.testing.assert_allclose(found[:, v, occurrence], wanted, rtol=0, atol=2e-6 * size)


@pytest.mark.parametrize("n_topics, weight", [(30, 1.0), (30, 40.0), (3, 300.0)])
def test_first_occurrences_of_words_that_count_much(n_topics, weight):
    rng = np.random.default_rng(0)
    topics = rng.dirichlet(np.full(40, 0.05), n_topics).T + 1e-9
    state = ModelState(
        topic_word=np.ascontiguousarray(topics / topics.sum(axis=0)),
        inclusion=np.full(40, weight),
        background=np.zeros(40),
        coef=rng.normal(0, 3, n_topics),
        family=Gaussian(1.0),
        doc_topic_prior=np.full(n_topics, 0.5),
    )
    corpus = make_corpus(rng.poisson(0.3, (12, 40)), allow_empty=True)
    found = first_occurrence(corpus, state, topic_proportions(corpus, state), np.arange(40), 1)
    for v in range(40):
        changed = corpus.counts.toarray()
        changed[:, v] = 1
        wanted = topic_proportions(make_corpus(changed), state) @ state.coef_rows.T
        np.testing.assert_allclose(found[:, v, 1], wanted, rtol=0, atol=1e-5)
    again = first_occurrence(corpus, state, topic_proportions(corpus, state), np.arange(40), 2)
    np.testing.assert_array_equal(again, found)
