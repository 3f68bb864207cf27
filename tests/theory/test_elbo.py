"""Both bounds are bounds, and the tight one is the tighter."""

from dataclasses import replace

import models
import numpy as np
import pytest
from hypothesis import given, settings

from topicfocus.families import Bernoulli
from topicfocus.joint.bounds import bound_terms, total
from topicfocus.joint.likelihood import exact_log_likelihood
from topicfocus.joint.statistics import collect

TINY = 1e-9  # rounding, of numbers of size ten


def at_optimum(case, gamma=None, **changes):
    """The bound of every document at its own optimal locals, and γ."""
    hyper = replace(case.hyper, **changes)
    gamma = (case.gamma if gamma is None else gamma).copy()
    collect(case.problem, case.state, hyper, gamma, max_steps=2000, tolerance=1e-12)
    return total(bound_terms(case.problem, case.state, hyper, gamma)), gamma


@settings(deadline=None, max_examples=40, derandomize=True)
@given(models.cases(supervised=False, max_docs=3, max_words=4, max_count=2))
def test_elbo_is_below_the_likelihood_of_the_words(case):
    """At any γ whatever, and at the optimal one; one to three topics, with and without switches."""
    exact = exact_log_likelihood(case.problem, case.state, case.hyper)
    anywhere = total(bound_terms(*case))
    optimal, _ = at_optimum(case)
    assert np.all(anywhere <= exact + TINY)
    assert np.all(optimal <= exact + TINY)
    assert np.all(anywhere <= optimal + TINY)


@settings(deadline=None, max_examples=80, derandomize=True)
@given(
    models.cases(families=models.BOUNDED, supervised=True, n_topics=(2, 2), max_docs=3, max_count=3)
)
def test_elbo_is_below_the_likelihood_of_words_and_target(case):
    """E_q[log p(y)] is exact for a Gaussian target and a lower bound for labels.

    (Jaakkola and Jordan; Böhning.) It is neither for Poisson targets.
    """
    exact = exact_log_likelihood(case.problem, case.state, case.hyper)
    optimal, _ = at_optimum(case)
    assert np.all(total(bound_terms(*case)) <= exact + TINY)
    assert np.all(optimal <= exact + TINY)


def test_the_bernoulli_term_is_a_bound_where_an_expansion_is_not():
    """Large η, small γ: ½ℓ''ν vanishes where the curve is flat, but the mass is elsewhere."""
    case = models.draw_case(0, "bernoulli", n_topics=2, n_docs=1)
    case = case._replace(
        problem=replace(case.problem, target=np.array([1.0])),
        state=replace(case.state, coef=np.array([60.0, -40.0])),
        gamma=np.array([[2.0, 1.0]]),
    )
    term = bound_terms(*case)["log_p_y"][0]
    theta, weight = models.dirichlet_nodes(case.gamma[0])
    predictor = theta @ case.state.coef
    exact = weight @ models.target_log_density(case.state, 1.0, predictor)
    mean = weight @ predictor
    variance = weight @ (predictor - mean) ** 2
    _, second, _ = Bernoulli().derivatives(1.0, mean)
    expansion = Bernoulli().log_likelihood(1.0, mean) + 0.5 * second * variance
    assert expansion > exact + 2.0
    assert term <= exact


@settings(deadline=None, max_examples=40, derandomize=True)
@given(models.cases(selects=True, bounds=["paper"]))
def test_the_tight_bound_is_never_below_the_papers(case):
    """At the same γ (Hölder), hence at each one's own optimum: tight starts from the other's."""
    tight = replace(case.hyper, bound="tight")
    here = total(bound_terms(case.problem, case.state, tight, case.gamma))
    assert np.all(here >= total(bound_terms(*case)) - TINY)
    paper, gamma = at_optimum(case)
    best, _ = at_optimum(case, gamma, bound="tight")
    assert np.all(best >= paper - TINY * np.maximum(np.abs(paper), 1))


@pytest.mark.parametrize("family", models.FAMILIES)
def test_the_tight_bound_is_strictly_better_where_switches_are_open(family):
    case = models.draw_case(1, family, "paper", n_docs=8)
    paper, _ = at_optimum(case)
    tight, _ = at_optimum(case, bound="tight")  # from the same start, not from the optimum
    words = case.problem.corpus.doc_lengths > 0
    assert np.all(tight[words] > paper[words] + 1e-3)
    np.testing.assert_allclose(tight[~words], paper[~words], rtol=1e-9)


@pytest.mark.parametrize("family", models.FAMILIES)
def test_the_bounds_agree_without_switches(family):
    """φ ≡ 1: nothing is left to integrate out."""
    case = models.draw_case(2, family, "paper", selects=False)
    tight = replace(case.hyper, bound="tight")
    np.testing.assert_allclose(
        total(bound_terms(*case)),
        total(bound_terms(case.problem, case.state, tight, case.gamma)),
        rtol=1e-12,
    )


def test_the_bound_is_the_likelihood_where_the_posterior_is_in_the_family():
    """One topic per word and φ = 1: θ | w is Dir(α + counts), z is known, so the gap is zero."""
    case = models.draw_case(3, selects=False, n_words=3, supervised=False)
    case = case._replace(state=replace(case.state, topic_word=np.eye(3)))
    exact = exact_log_likelihood(case.problem, case.state, case.hyper)
    optimal, gamma = at_optimum(case)
    np.testing.assert_allclose(optimal, exact, rtol=1e-10, atol=1e-10)
    counts = case.problem.corpus.counts.toarray()
    np.testing.assert_allclose(gamma, case.state.doc_topic_prior + counts, rtol=1e-9)
