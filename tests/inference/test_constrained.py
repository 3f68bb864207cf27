"""The gradient by implicit differentiation against central differences, block by block."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from topicfocus.corpus import make_corpus
from topicfocus.families import FAMILIES
from topicfocus.inference.constrained import constrained_pass
from topicfocus.inference.state import ModelState, Problem


def case(family_name, seed=0, n_docs=12, n_words=9, n_topics=3):
    rng = np.random.default_rng(seed)
    counts = rng.poisson(0.8, (n_docs, n_words)).astype(float)
    counts[3] = 0  # a document without words
    corpus = make_corpus(sp.csr_array(counts))
    target = rng.standard_normal(n_docs)
    if family_name == "bernoulli":
        target = (target > 0).astype(float)
    weight = rng.uniform(0.5, 3.0, n_docs)
    weight[5] = 0.0  # and one without a target
    topics = rng.dirichlet(np.ones(n_words), n_topics).T
    state = ModelState(
        topics,
        rng.uniform(0.2, 1.0, n_words),
        np.zeros(n_words),
        3 * rng.standard_normal(n_topics),
        FAMILIES[family_name],
        rng.uniform(0.3, 1.5, n_topics),
        intercept=0.4,
    )
    return Problem(corpus, target, weight, 1), state


def evaluate(problem, state):
    theta = np.full((problem.n_docs, state.n_topics), 1 / state.n_topics)
    return constrained_pass(problem, state, theta, max_steps=100, tolerance=1e-12)


def central(problem, change, step=1e-5):
    high, low = (evaluate(problem, change(sign * step)).value for sign in (1, -1))
    return (high - low) / (2 * step)


@pytest.mark.parametrize("family", sorted(FAMILIES))
@pytest.mark.parametrize("seed", range(3))
def test_every_block_of_the_gradient(family, seed):
    problem, state = case(family, seed)
    found = evaluate(problem, state)
    for v in range(state.n_words):
        for k in range(state.n_topics):

            def scaled(h, v=v, k=k):
                topics = state.topic_word.copy()
                topics[v, k] *= np.exp(h)
                return replace(state, topic_word=topics)

            assert found.log_topic_gradient[v, k] == pytest.approx(
                central(problem, scaled), abs=1e-6, rel=1e-6
            )

        def included(h, v=v):
            inclusion = state.inclusion.copy()
            inclusion[v] += h
            return replace(state, inclusion=inclusion)

        assert found.evidence[v] + found.push[v] == pytest.approx(
            central(problem, included), abs=1e-6, rel=1e-6
        )
    for k in range(state.n_topics):

        def pushed(h, k=k):
            coef = state.coef.copy()
            coef[k] += h
            return replace(state, coef=coef)

        assert found.coef_gradient[k] == pytest.approx(central(problem, pushed), abs=1e-6, rel=1e-6)
    assert found.intercept_gradient == pytest.approx(
        central(problem, lambda h: replace(state, intercept=state.intercept + h)), abs=1e-6
    )


def test_the_value_is_its_definition():
    problem, state = case("gaussian", 4)
    theta = np.full((problem.n_docs, state.n_topics), 1 / state.n_topics)
    found = constrained_pass(problem, state, theta, max_steps=100, tolerance=1e-12)
    counts = problem.corpus.counts.toarray()
    words = np.sum(counts * state.inclusion * np.log(theta @ state.topic_word.T))
    mix = np.sum(np.log(theta) @ state.doc_topic_prior)
    residual = problem.target - state.intercept - theta @ state.coef
    variance = state.family.noise_variance
    target = problem.target_weight @ (
        -0.5 * np.log(2 * np.pi * variance) - residual**2 / (2 * variance)
    )
    assert found.words == pytest.approx(words)
    assert found.mix == pytest.approx(mix)
    assert found.target == pytest.approx(target)


def test_same_result_for_every_number_of_threads():
    problem, state = case("gaussian", 1, n_docs=4000, n_words=40)
    results = []
    for n_jobs in (1, 2, 3):
        theta = np.full((problem.n_docs, state.n_topics), 1 / state.n_topics)
        again = Problem(problem.corpus, problem.target, problem.target_weight, n_jobs)
        results.append(constrained_pass(again, state, theta))
    for other in results[1:]:
        np.testing.assert_array_equal(other.log_topic_gradient, results[0].log_topic_gradient)
        assert other.value == results[0].value
