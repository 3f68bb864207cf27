"""Each of the eight terms: a dense twin, a Monte Carlo estimate, and their sum."""

from dataclasses import replace

import models
import numpy as np
import pytest
from hypothesis import given, settings
from scipy.special import gammaln

from topicfocus.joint.bounds import TERMS, bound_terms, total
from topicfocus.joint.statistics import bound_value, collect

every_bound = pytest.mark.parametrize("bound", models.BOUNDS)
every_family = pytest.mark.parametrize("family", models.FAMILIES)


def dense_terms(case):
    r = models.optimal_responsibilities(case.state, case.hyper, case.gamma)
    return models.uncollapsed_terms(*case, r)


def assert_terms(case):
    """Every term equals the dense computation, and their sum the collapsed bound."""
    got, expected = bound_terms(*case), dense_terms(case)
    assert tuple(got) == TERMS and set(expected) == set(TERMS)
    for name in TERMS:
        np.testing.assert_allclose(got[name], expected[name], rtol=1e-10, atol=1e-10, err_msg=name)
    plain = replace(case.hyper, coef_penalty=0.0)
    stats = collect(case.problem, case.state, plain, case.gamma.copy(), max_steps=0)
    value = bound_value(stats, case.state, plain)
    weighted = case.problem.doc_weights @ total(got)
    np.testing.assert_allclose(weighted, value, rtol=1e-11, atol=1e-10)


# ---- deterministic -----------------------------------------------------------------------------


@settings(deadline=None, max_examples=40, derandomize=True)
@given(models.cases())
def test_terms_equal_the_dense_computation_and_sum_to_the_collapsed_bound(case):
    assert_terms(case)


def disjoint_case(seed=6, family="gaussian"):
    """φ exactly 0 or 1, β and π on the words that are theirs: what sort and cut ends with."""
    case = models.draw_case(seed, family, "tight")
    keep = np.array([1.0, 0, 1, 1, 0, 0])
    topics = case.state.topic_word * keep[:, None]
    background = case.state.background * (1 - keep)
    state = replace(
        case.state,
        topic_word=topics / topics.sum(axis=0),
        background=background / background.sum(),
        inclusion=keep,
    )
    return case._replace(state=state)


@every_family
def test_disjoint_channels_keep_the_words_of_the_background_in_the_bound(family):
    case = disjoint_case(family=family)
    counts = case.problem.corpus.counts.toarray()
    outside = case.state.inclusion == 0
    assert counts[:, outside].sum() > 0
    plain = replace(case.hyper, coef_penalty=0.0)
    stats = collect(case.problem, case.state, plain, case.gamma.copy(), max_steps=0)
    terms = bound_terms(*case)
    # By hand: dropped words cost log π + log(1-p) each, kept ones c log Σ β e + log p.
    e = np.exp(models.expected_log_theta(case.gamma))
    kept = ~outside
    p = case.hyper.inclusion_prior
    value = np.sum(counts[:, outside] @ np.log(case.state.background[outside] * (1 - p)))
    value += np.sum(counts[:, kept] * np.log(p * e @ case.state.topic_word[kept].T))
    value += np.sum(terms["log_p_theta"] - terms["log_q_theta"] + terms["log_p_y"])
    np.testing.assert_allclose(bound_value(stats, case.state, plain), value, rtol=1e-12)
    np.testing.assert_allclose(total(terms).sum(), value, rtol=1e-12)


@every_bound
def test_a_word_unknown_to_both_channels_is_left_out(bound):
    """As a held-out document may hold one: the bound is that of the document without it."""
    case = models.draw_case(7, bound=bound)
    state = replace(
        case.state,
        topic_word=np.vstack([case.state.topic_word, np.zeros(3)]),
        inclusion=np.append(case.state.inclusion, 0.4),
        background=np.append(case.state.background, 0.0),
    )
    counts = case.problem.corpus.counts.toarray()
    with_word = np.column_stack([counts, np.arange(len(counts))])
    wide = case._replace(
        problem=replace(case.problem, corpus=models.make_corpus(with_word)), state=state
    )
    narrow = bound_terms(*case)
    for name, value in bound_terms(*wide).items():
        np.testing.assert_allclose(value, narrow[name], rtol=1e-13, err_msg=name)
    plain = replace(case.hyper, coef_penalty=0.0)
    stats = collect(wide.problem, state, plain, case.gamma.copy(), max_steps=0)
    np.testing.assert_allclose(
        bound_value(stats, state, plain), total(narrow).sum(), rtol=1e-12, atol=1e-12
    )


# ---- Monte Carlo -------------------------------------------------------------------------------


def categorical(probabilities, rng):
    """One draw for each row of the last axis."""
    edges = np.cumsum(probabilities, axis=-1)
    return np.sum(rng.random((*edges.shape[:-1], 1)) * edges[..., -1:] > edges, axis=-1)


def log_dirichlet(theta, concentration):
    return (
        gammaln(concentration.sum())
        - gammaln(concentration).sum()
        + np.log(theta) @ (concentration - 1)
    )


def draws(case, d, n, rng):
    """Samples of (θ, ξ, z) ~ q for document d: each log density that the ELBO averages."""
    problem, state, hyper, gamma = case
    counts = problem.corpus.counts.toarray()[d].astype(int)
    tokens = np.repeat(np.arange(len(counts)), counts)
    n_tokens = len(tokens)
    theta = rng.dirichlet(gamma[d], n)
    relevant = rng.random((n, n_tokens)) < state.inclusion[tokens]
    r = models.optimal_responsibilities(state, hyper, gamma)[d, tokens]
    z = categorical(np.broadcast_to(r, (n, *r.shape)), rng)
    log_q_z = np.log(np.take_along_axis(r.T, z, axis=0))
    log_p_z = np.log(np.take_along_axis(theta, z, axis=1))
    if hyper.bound == "tight":
        free = categorical(np.broadcast_to(theta[:, None], (n, n_tokens, theta.shape[1])), rng)
        log_free = np.log(np.take_along_axis(theta, free, axis=1))
        z = np.where(relevant, z, free)
        log_p_z = np.where(relevant, log_p_z, log_free)
        log_q_z = np.where(relevant, log_q_z, log_free)
    log_w = np.log(state.topic_word[tokens, z])
    log_p_xi = log_q_xi = np.zeros((n, n_tokens))
    if hyper.selects:
        p, phi = hyper.inclusion_prior, state.inclusion[tokens]
        log_w = np.where(relevant, log_w, np.log(state.background[tokens]))
        log_p_xi = np.where(relevant, np.log(p), np.log(1 - p))
        log_q_xi = np.where(relevant, np.log(phi), np.log(1 - phi))
    weight = problem.target_weights[d]
    assert np.all(weight == weight[0])
    y = models.target_log_density(state, problem.target[d], theta @ state.coef)
    return {
        "log_p_theta": log_dirichlet(theta, state.doc_topic_prior),
        "log_q_theta": log_dirichlet(theta, gamma[d]),
        "log_p_z": log_p_z.sum(axis=1),
        "log_q_z": log_q_z.sum(axis=1),
        "log_p_y": weight[0] * y,
        "log_p_w": log_w.sum(axis=1),
        "log_p_xi": log_p_xi.sum(axis=1),
        "log_q_xi": log_q_xi.sum(axis=1),
    }


def assert_near_average(value, samples, name):
    """|z| < 5: below one in a million for a right value, whatever the number of samples."""
    error = samples.std() / np.sqrt(len(samples))
    assert abs(value - samples.mean()) <= 5 * error + 1e-9, (name, value, samples.mean(), error)


@every_bound
@pytest.mark.parametrize("family", models.GENERATED)
@pytest.mark.parametrize("selects", [True, False])
def test_terms_are_the_expectations_they_claim_to_be(bound, family, selects):
    case = models.draw_case(11, family, bound, n_docs=4, selects=selects, weight=1.7)
    terms = bound_terms(*case)
    rng = np.random.default_rng(12)
    for d in range(4):
        for name, samples in draws(case, d, 40_000, rng).items():
            if name == "log_p_y" and family != "gaussian":
                continue  # lower bounds: tests of their own below
            assert_near_average(terms[name][d], samples, (name, d))


@pytest.mark.parametrize("family", models.BOUNDED)
def test_target_terms_are_lower_bounds_that_close(family):
    """Above the exact expectation by nothing, below it by ν/4 a predictor at most (ℓ'' >= -½)."""
    case = models.draw_case(18, family, n_docs=4, n_topics=2, n_covariates=1)
    rest = models.linear_part(case.problem, case.state)
    gaps = []
    for scale in (0.3, 3.0, 300.0):
        gamma = scale * case.gamma
        terms = bound_terms(case.problem, case.state, case.hyper, gamma)["log_p_y"]
        for d, y in enumerate(case.problem.target):
            theta, weight = models.dirichlet_nodes(gamma[d])
            f = theta @ case.state.coef.reshape(2, -1) + rest[d]
            exact = weight @ models.target_log_density(case.state, y, f)
            variance = weight @ (f - weight @ f) ** 2
            assert -1e-9 <= exact - terms[d] <= variance.sum() / 4 + 1e-9
            gaps.append(exact - terms[d])
    assert max(gaps[-4:]) < 1e-3
    assert family == "gaussian" or max(gaps) > 1e-4
