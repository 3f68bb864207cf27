"""The gradient by implicit differentiation against central differences, block by block."""

from dataclasses import fields, replace

import models
import numpy as np
import pytest
import scipy.sparse as sp

from topicfocus.corpus import make_corpus
from topicfocus.focused.objective import constrained_pass
from topicfocus.model import ModelState, Problem


def case(family_name, seed=0, n_docs=12, n_words=9, n_topics=3, beside=True):
    """With offsets, covariates and document weights, unless asked otherwise."""
    rng = np.random.default_rng(seed)
    counts = rng.poisson(0.8, (n_docs, n_words)).astype(float)
    counts[3] = 0  # a document without words
    corpus = make_corpus(sp.csr_array(counts))
    target = models.draw_target(rng, n_docs, family_name)
    weight = rng.uniform(0.5, 3.0, target.shape)
    weight[5] = 0.0  # and one without a target
    if target.ndim > 1:
        weight[rng.random(target.shape) < 0.2] = 0.0
    topics = rng.dirichlet(np.ones(n_words), n_topics).T
    family = models.draw_family(rng, family_name)
    width = family.n_predictors
    # Rates of e^9 would leave no digits for differences.
    scale = 3.0 if family_name in ("gaussian", "bernoulli", "ordinal", "categorical") else 1.0
    state = ModelState(
        topics,
        rng.uniform(0.2, 1.0, n_words),
        np.zeros(n_words),
        scale * rng.standard_normal(n_topics if width == 1 else (n_topics, width)),
        family,
        rng.uniform(0.3, 1.5, n_topics),
        intercept=0.4 if width == 1 else np.linspace(-0.4, 0.4, width),
        covariate_coef=0.5 * rng.standard_normal((2, width)) if beside else None,
    )
    extras = models.draw_extras(rng, n_docs, 2, width) if beside else {}
    return Problem(corpus, target, weight, 1, **extras), state


def evaluate(problem, state):
    theta = np.full((problem.n_docs, state.n_topics), 1 / state.n_topics)
    return constrained_pass(problem, state, theta, max_steps=100, tolerance=1e-12)


def central(problem, change, step=1e-5):
    high, low = (evaluate(problem, change(sign * step)).value for sign in (1, -1))
    return (high - low) / (2 * step)


@pytest.mark.parametrize("family", models.FAMILIES)
def test_every_block_of_the_gradient(family):
    problem, state = case(family)
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
    blocks = {
        "coef": found.coef_gradient,
        "intercept": found.intercept_gradient,
        "covariate_coef": found.covariate_gradient,
    }
    for name, gradient in blocks.items():
        value = np.asarray(getattr(state, name), dtype=float)
        if name == "intercept":
            value = np.broadcast_to(value, gradient.shape)
        assert gradient.shape == value.shape
        for i in np.ndindex(value.shape):

            def pushed(h, i=i, name=name, value=value):
                moved = np.array(value)
                moved[i] += h
                return replace(state, **{name: moved})

            assert gradient[i] == pytest.approx(central(problem, pushed), abs=1e-6, rel=1e-6)
    alone = evaluate(replace(problem, target_weight=0 * problem.target_weight), state)
    change = found.log_topic_gradient - alone.log_topic_gradient
    assert np.abs(change).max() > 1e-3  # topics also change the prediction


def test_more_topics_than_words():
    """Where the curvature is factorised over the words of a document."""
    problem, state = case("gaussian", 3, n_topics=14)
    found = evaluate(problem, state)
    for v, k in [(0, 0), (3, 13), (8, 7)]:

        def scaled(h, v=v, k=k):
            topics = state.topic_word.copy()
            topics[v, k] *= np.exp(h)
            return replace(state, topic_word=topics)

        expected = central(problem, scaled)
        assert found.log_topic_gradient[v, k] == pytest.approx(expected, abs=1e-6, rel=1e-6)


@pytest.mark.parametrize("family", models.FAMILIES)
def test_weights_are_copies_of_documents(family):
    problem, state = case(family, 2)
    times = np.array([1, 0, 2, 1, 3, 1, 0, 1, 2, 1, 1, 1])
    weighted = replace(problem, doc_weight=times.astype(float))
    copies = replace(problem, doc_weight=None).rows(np.repeat(np.arange(12), times))
    one, other = evaluate(weighted, state), evaluate(copies, state)
    for field in fields(one):
        np.testing.assert_allclose(
            getattr(one, field.name),
            getattr(other, field.name),
            rtol=1e-9,
            atol=1e-9,
            err_msg=field.name,
        )


def test_the_value_is_its_definition():
    problem, state = case("gaussian", 4, beside=False)
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


@pytest.mark.parametrize("n_topics", [3, 40])
def test_same_result_for_every_number_of_threads(n_topics):
    size = {"n_docs": 4000, "n_words": 40, "n_topics": n_topics}
    problem, state = case("gaussian", 1, beside=False, **size)
    results = []
    for n_jobs in (1, 2, 3):
        theta = np.full((problem.n_docs, state.n_topics), 1 / state.n_topics)
        again = Problem(problem.corpus, problem.target, problem.target_weight, n_jobs)
        results.append(constrained_pass(again, state, theta))
    for other in results[1:]:
        np.testing.assert_array_equal(other.log_topic_gradient, results[0].log_topic_gradient)
        assert other.value == results[0].value
