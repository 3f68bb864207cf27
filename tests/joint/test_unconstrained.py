"""The gradient of the collapsed bound against central differences, block by block."""

from itertools import product

import models
import numpy as np
import pytest
from scipy.special import expit

from topicfocus.joint.adam import from_unconstrained, to_unconstrained
from topicfocus.joint.coefficients import coef_gradient
from topicfocus.joint.settings import INCLUSION_MARGIN
from topicfocus.joint.statistics import bound_value, collect
from topicfocus.joint.stochastic import collapsed_gradient
from topicfocus.joint.updates import update_background

BLOCKS = ("topic_logits", "inclusion_logits", "coef", "family", "log_prior")


def collapsed(case, free, gamma):
    """(bound, statistics, state) at free parameters, the locals converged from `gamma`."""
    state = from_unconstrained(free, case.state, case.problem.word_counts).model
    gamma = gamma.copy()
    stats = collect(case.problem, state, case.hyper, gamma, max_steps=20_000, tolerance=1e-14)
    return bound_value(stats, state, case.hyper), stats, state, gamma


def gradient_at(case, free):
    """The gradient at free parameters, and the converged γ."""
    _, stats, state, gamma = collapsed(case, free, case.gamma)
    d_target = coef_gradient(case.problem, state, gamma, case.hyper.coef_penalty)
    return collapsed_gradient(stats, state, case.hyper) | d_target, gamma


@pytest.mark.parametrize(
    ("family", "bound", "selects", "supervised"),
    [
        *product(models.GENERATED, models.BOUNDS, (True, False), (True, False)),
        *((family, "paper", True, True) for family in models.FAMILIES[2:]),
        ("several", "tight", False, True),
        ("several", "paper", True, False),
    ],
)
def test_every_block_matches_central_differences(family, bound, selects, supervised):
    case = models.draw_case(
        20,
        family,
        bound,
        n_docs=6,
        selects=selects,
        supervised=supervised,
        learn_prior=True,
        coef_penalty=0.3,
        n_covariates=2 if supervised else 0,
    )
    free = to_unconstrained(case.state, case.hyper)
    expected_blocks = set(BLOCKS)
    if not selects:
        expected_blocks -= {"inclusion_logits"}
    if supervised:
        expected_blocks |= {"covariate_coef"}
    if family not in ("gaussian", "ordinal", "several"):
        expected_blocks -= {"family"}
    assert set(free) == expected_blocks
    gradient, gamma = gradient_at(case, free)
    assert set(gradient) == expected_blocks
    for name in expected_blocks:

        def along(x, name=name):
            return collapsed(case, {**free, name: x}, gamma)[0]

        numerical = models.numerical_gradient(along, free[name], 1e-5)
        # Differences of a bound of size ~100 known to 1e-13: 1e-6 absolute; h² the truncation.
        np.testing.assert_allclose(gradient[name], numerical, rtol=1e-6, atol=3e-6, err_msg=name)
        if name == "family" and not supervised:
            assert not np.any(gradient[name])
        else:
            assert np.abs(gradient[name]).max() > 1e-2, name  # not a comparison of zeros


@pytest.mark.parametrize("family", models.FAMILIES)
def test_free_parameters_and_back(family):
    case = models.draw_case(23, family, learn_prior=True, n_covariates=2)
    n = case.problem.corpus.word_counts
    back = from_unconstrained(to_unconstrained(case.state, case.hyper), case.state, n).model
    np.testing.assert_allclose(back.topic_word, case.state.topic_word, rtol=1e-12)
    np.testing.assert_allclose(back.inclusion, case.state.inclusion, rtol=1e-12)
    np.testing.assert_allclose(back.doc_topic_prior, case.state.doc_topic_prior, rtol=1e-12)
    np.testing.assert_array_equal(back.coef, case.state.coef)
    np.testing.assert_allclose(back.background, update_background(n, back.inclusion), rtol=1e-12)
    assert type(back.family) is type(case.state.family)
    for mine, theirs in zip(back.family, case.state.family, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-12)
    np.testing.assert_array_equal(back.covariate_coef, case.state.covariate_coef)


def test_inclusion_of_exactly_zero_or_one_has_finite_logits():
    case = models.draw_case(25)
    state = case.state.__class__(
        case.state.topic_word,
        np.array([0.0, 1.0, 0.5, 1.0, 0.0, 0.2]),
        *(case.state.background, case.state.coef, case.state.family, case.state.doc_topic_prior),
    )
    logits = to_unconstrained(state, case.hyper)["inclusion_logits"]
    assert np.all(np.isfinite(logits))
    np.testing.assert_allclose(
        expit(logits), np.clip(state.inclusion, INCLUSION_MARGIN, 1 - INCLUSION_MARGIN), atol=1e-15
    )


def test_words_that_never_occur_and_documents_without_targets():
    case = models.draw_case(21, n_docs=6, learn_prior=True)
    counts = case.problem.corpus.counts.toarray()
    counts[:, 1] = 0
    target = case.problem.target.copy()
    target[[1, 4]] = np.nan
    problem = models.make_problem(models.make_corpus(counts), target, n_jobs=1)
    case = case._replace(problem=problem)
    free = to_unconstrained(case.state, case.hyper)
    gradient, gamma = gradient_at(case, free)
    for name in BLOCKS:
        numerical = models.numerical_gradient(
            lambda x, name=name: collapsed(case, {**free, name: x}, gamma)[0], free[name]
        )
        np.testing.assert_allclose(gradient[name], numerical, rtol=1e-6, atol=3e-6, err_msg=name)
    assert gradient["inclusion_logits"][1] == 0.0
