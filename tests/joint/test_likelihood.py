"""The true likelihood: against sums over every latent assignment, and against quadrature."""

import itertools
from dataclasses import replace

import models
import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import betaln, gammaln, logsumexp

from topicfocus.corpus import make_corpus
from topicfocus.joint.likelihood import (
    exact_log_likelihood,
    importance_log_likelihood,
    token_mixture,
)
from topicfocus.joint.settings import Hyperparameters
from topicfocus.joint.statistics import collect
from topicfocus.model import make_problem

DOCUMENTS = np.array([[2, 0, 1, 0], [0, 0, 0, 0], [1, 1, 1, 1], [0, 3, 0, 0]])


def make(
    seed, n_topics, family="gaussian", *, selects=True, supervised=False, prior=None, beside=False
):
    """`beside`: with offsets and covariates, and document weights, no part of a likelihood."""
    rng = np.random.default_rng(seed)
    state = models.draw_state(
        rng, 4, n_topics, family, selects=selects, prior=prior, n_covariates=2 if beside else 0
    )
    hyper = Hyperparameters(n_topics=n_topics, selects=selects, inclusion_prior=0.35)
    target = models.draw_target(rng, len(DOCUMENTS), family) if supervised else None
    extras = models.draw_extras(rng, len(DOCUMENTS), 2, state.n_predictors) if beside else {}
    return make_problem(make_corpus(DOCUMENTS), target, **extras), state, hyper


def tokens_of(row):
    return np.repeat(np.arange(len(row)), row)


def log_dirichlet_multinomial(z, prior):
    """log p(z_1..z_N) with θ ~ Dir(α) integrated out."""
    n = np.bincount(z, minlength=len(prior))
    return (
        gammaln(prior.sum())
        - gammaln(prior.sum() + len(z))
        + np.sum(gammaln(prior + n) - gammaln(prior))
    )


def by_enumeration(row, state, hyper):
    """Σ over ξ and z of p(ξ) p(z) Π p(w | z, ξ); z exists for every token, relevant or not."""
    tokens = tokens_of(row)
    channels = (0, 1) if hyper.selects else (1,)
    p = hyper.inclusion_prior if hyper.selects else 1.0
    values = []
    for xi in itertools.product(channels, repeat=len(tokens)):
        for z in itertools.product(range(state.n_topics), repeat=len(tokens)):
            value = log_dirichlet_multinomial(np.array(z, dtype=int), state.doc_topic_prior)
            for word, topic, relevant in zip(tokens, z, xi, strict=True):
                inside = p * state.topic_word[word, topic]
                value += np.log(inside if relevant else (1 - p) * state.background[word])
            values.append(value)
    return logsumexp(values)


@pytest.mark.parametrize("n_topics", [1, 2, 3])
@pytest.mark.parametrize("selects", [True, False])
def test_words_alone_equal_the_sum_over_every_assignment(n_topics, selects):
    problem, state, hyper = make(0, n_topics, selects=selects)
    expected = [by_enumeration(row, state, hyper) for row in DOCUMENTS]
    np.testing.assert_allclose(exact_log_likelihood(problem, state, hyper), expected, rtol=1e-12)
    assert expected[1] == 0.0  # an empty document is certain


PRIORS = [(0.1, 0.2), (0.4, 0.7), (1.0, 1.0), (2.5, 0.8)]


@pytest.mark.parametrize(
    ("family", "prior", "selects"),
    [
        *itertools.product(models.GENERATED, PRIORS, (True, False)),
        *((family, (0.4, 0.7), True) for family in models.FAMILIES[2:]),
    ],
)
def test_with_a_target_it_equals_adaptive_quadrature(family, prior, selects):
    alpha = np.array(prior)
    problem, state, hyper = make(
        2, 2, family, selects=selects, supervised=True, prior=alpha, beside=True
    )
    slope, offset = token_mixture(state, hyper)
    got = exact_log_likelihood(problem, state, hyper)
    rest = models.linear_part(problem, state)
    for d, row in enumerate(DOCUMENTS):

        def smooth(first, row=row, y=problem.target[d], rest=rest[d]):
            theta = np.array([first, 1 - first])
            words = np.prod((slope @ theta + offset) ** row)
            predictor = theta @ state.coef.reshape(2, -1) + rest
            return words * np.exp(models.target_log_density(state, y, predictor[None])[0])

        # The Dirichlet's own poles are the weight function, so nothing is singular.
        value, _ = quad(
            smooth, 0, 1, weight="alg", wvar=(alpha[0] - 1, alpha[1] - 1), epsabs=0, epsrel=1e-12
        )
        np.testing.assert_allclose(got[d], np.log(value) - betaln(*alpha), rtol=1e-10)


def test_of_several_targets_the_missing_ones_are_integrated_out():
    problem, state, hyper = make(4, 2, "several", supervised=True)
    target = problem.target.copy()
    target[0, 1:] = np.nan  # the Gaussian one is left
    target[1] = np.nan
    target[2, 0] = np.nan
    got = exact_log_likelihood(make_problem(problem.corpus, target), state, hyper)
    words = exact_log_likelihood(make_problem(problem.corpus, None), state, hyper)
    (gaussian, _), *_ = state.family.split()
    alone = replace(state, family=gaussian, coef=state.coef[:, 0])
    first = exact_log_likelihood(make_problem(problem.corpus, target[:, 0]), alone, hyper)
    whole = exact_log_likelihood(problem, state, hyper)
    np.testing.assert_allclose(got[:2], [first[0], words[1]], rtol=1e-12)
    np.testing.assert_allclose(got[3], whole[3], rtol=1e-12)
    assert got[2] != pytest.approx(whole[2])


def test_hundreds_of_tokens_do_not_underflow():
    """400 tokens of probability 1e-3 or less: the product is below the smallest double."""
    n = 400
    rng = np.random.default_rng(5)
    state = models.draw_state(rng, 1000, 1, selects=False)
    row = np.bincount(rng.integers(0, 1000, n), minlength=1000)
    hyper = Hyperparameters(n_topics=1, selects=False)
    got = exact_log_likelihood(make_problem(make_corpus(row[None]), None), state, hyper)
    np.testing.assert_allclose(got, row @ np.log(state.topic_word), rtol=1e-12)


def test_words_of_no_channel_are_left_out_by_both():
    problem, state, hyper = make(6, 2, supervised=True)
    wide = replace(
        state,
        topic_word=np.vstack([state.topic_word, [0.0, 0.0]]),
        background=np.append(state.background, 0.0),
        inclusion=np.append(state.inclusion, 0.5),
    )
    counts = make_corpus(np.column_stack([DOCUMENTS, [1, 2, 0, 3]]))
    for target in (None, problem.target):
        narrow, larger = make_problem(problem.corpus, target), make_problem(counts, target)
        np.testing.assert_allclose(
            exact_log_likelihood(larger, wide, hyper),
            exact_log_likelihood(narrow, state, hyper),
            rtol=1e-13,
        )
        gamma = np.full((4, 2), 1.5)
        np.testing.assert_allclose(
            importance_log_likelihood(larger, wide, hyper, gamma, 50, np.random.default_rng(0)),
            importance_log_likelihood(narrow, state, hyper, gamma, 50, np.random.default_rng(0)),
            rtol=1e-13,
        )


def test_documents_too_large_for_exact_sums_are_refused():
    _, state, hyper = make(7, 3)
    large = make_problem(make_corpus([[30, 30, 30, 30]]), None)
    with pytest.raises(
        ValueError, match=r"120 tokens and 3 topics has 302621 monomials.*max_terms=1"
    ):
        exact_log_likelihood(large, state, hyper, max_terms=100_000)
    problem, state, hyper = make(7, 3, supervised=True)
    with pytest.raises(ValueError, match=r"2-dimensional integral.*importance sampling"):
        exact_log_likelihood(problem, state, hyper)


# ---- importance sampling -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("family", "selects", "supervised"),
    [
        *itertools.product(models.GENERATED, (True, False), (True, False)),
        *((family, True, True) for family in models.FAMILIES[2:]),
    ],
)
def test_importance_sampling_is_unbiased(family, selects, supervised):
    """40 independent estimates of p(w, y), over the exact value: 1 within Monte Carlo error."""
    problem, state, hyper = make(
        8, 2, family, selects=selects, supervised=supervised, beside=supervised
    )
    exact = exact_log_likelihood(problem, state, hyper)
    gamma, n_samples = np.ones((len(DOCUMENTS), 2)), 500
    if family in ("gaussian", "bernoulli"):
        collect(problem, state, replace(hyper, bound="tight"), gamma, max_steps=200)
    else:
        # q is narrower than the posterior where the bound has more curvature than the likelihood:
        # weights without a variance. Those of the prior are bounded.
        gamma, n_samples = gamma * state.doc_topic_prior, 4000
    rng = np.random.default_rng(9)
    ratios = np.array(
        [
            np.exp(importance_log_likelihood(problem, state, hyper, gamma, n_samples, rng) - exact)
            for _ in range(40)
        ]
    )
    error = ratios.std(axis=0) / np.sqrt(len(ratios))
    assert np.all(np.abs(ratios.mean(axis=0) - 1) <= 5 * error + 1e-12)
    assert np.all(error < 0.01)  # the proposal is a good one: one percent
