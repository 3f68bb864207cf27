"""Coordinate ascent: the bound never falls, whatever the corpus."""

from dataclasses import replace

import hypothesis.strategies as st
import models
import numpy as np
import pytest
from hypothesis import assume, given, settings

from topicfocus.families import Gaussian
from topicfocus.joint import CoordinateSolver
from topicfocus.joint.initialize import near_symmetric_start, perturbed_start

EPOCHS = 10


def objectives(solver, problem, hyper, start, epochs=EPOCHS):
    state = solver.begin(problem, hyper, start)
    values = []
    for _ in range(epochs):
        state, info = solver.step(state)
        values.append(info.objective)
    return np.array(values), solver.model(state)


def learnable(problem):
    """A constant target has no noise variance: estimators refuse it before any solver sees it."""
    weights = problem.full_weights
    columns = [problem.targets[weights[:, t] > 0, t] for t in range(weights.shape[1])]
    return all(len(known) == 0 or np.ptp(known) > 0 for known in columns)


def assert_never_falls(values, share=1e-9):
    assert np.all(np.isfinite(values))
    falls = values[:-1] - values[1:]
    # Of the bound itself; one that happens to pass zero is held to its size elsewhere, and one
    # that is zero (a certain document) to rounding.
    allowed = share * np.maximum(np.abs(values[1:]), np.abs(values).max() * 1e-2) + 1e-14
    assert np.all(falls <= allowed), (falls.max(), values)


@settings(deadline=None, max_examples=40, derandomize=True)
@given(models.cases(max_docs=8, max_words=7, max_count=9), st.booleans(), st.integers(0, 2**31))
def test_the_bound_never_falls(case, learn_prior, seed):
    """Empty documents, words that never occur, missing targets, one topic; every kind of model."""
    assume(learnable(case.problem))
    hyper = replace(case.hyper, learn_prior=learn_prior)
    start = perturbed_start(
        case.problem, hyper, case.state.family, np.ones(hyper.n_topics), np.random.default_rng(seed)
    )
    values, model = objectives(CoordinateSolver(), case.problem, hyper, start)
    assert_never_falls(values)
    np.testing.assert_allclose(model.topic_word.sum(axis=0), 1, rtol=1e-9)
    assert np.all(model.topic_word >= 0) and np.all(np.isfinite(model.coef))


@settings(deadline=None, max_examples=30, derandomize=True)
@given(models.cases(max_docs=6, max_words=6), st.integers(1, 3))
def test_the_bound_never_falls_from_any_model_with_few_local_steps(case, local_steps):
    """A start that has nothing to do with the data, and locals far from converged."""
    assume(learnable(case.problem))
    solver = CoordinateSolver(local_steps=local_steps)
    values, _ = objectives(solver, case.problem, case.hyper, case.state)
    assert_never_falls(values)


def test_strong_supervision_does_not_make_the_bound_fall():
    """λ = 100 on a nearly noiseless target: full natural-gradient steps overshoot here."""
    case = models.draw_case(3, n_docs=40, n_words=20, weight=100.0)
    start = perturbed_start(
        case.problem, case.hyper, Gaussian(1e-3), np.ones(3), np.random.default_rng(3)
    )
    values, _ = objectives(CoordinateSolver(), case.problem, case.hyper, start, 40)
    assert_never_falls(values)


def test_a_fixed_point_is_reached():
    case = models.draw_case(5, n_docs=15, n_words=8)
    start = near_symmetric_start(
        case.problem, case.hyper, Gaussian(1.0), np.ones(3), np.random.default_rng(5)
    )
    solver = CoordinateSolver(local_steps=200, local_tolerance=1e-12)
    values, model = objectives(solver, case.problem, case.hyper, start, 500)
    assert_never_falls(values)
    assert values[-1] - values[-2] < 1e-9
    again, _ = objectives(solver, case.problem, case.hyper, model, 5)
    np.testing.assert_allclose(again, values[-1], rtol=1e-6)


def unsupervised(n_docs=120, n_words=40):
    case = models.draw_case(7, n_docs=n_docs, n_words=n_words, selects=False)
    problem = models.make_problem(case.problem.corpus, None, n_jobs=1)
    hyper = replace(case.hyper, learn_prior=False)
    rng = np.random.default_rng(1)
    return problem, hyper, perturbed_start(problem, hyper, Gaussian(1.0), np.ones(3), rng)


def test_relaxed_steps_get_there_in_fewer_epochs():
    problem, hyper, start = unsupervised()
    plain, _ = objectives(CoordinateSolver(), problem, hyper, start, 40)
    solver = CoordinateSolver(relaxation=1.7, local_tolerance=1e-3)
    values, model = objectives(solver, problem, hyper, start, 40)
    # Both begin at the same bound, and go up by different ways; in half of the epochs as far.
    np.testing.assert_allclose(values[0], plain[0], rtol=1e-5)
    assert values[20] > plain[0] + 0.95 * (plain[-1] - plain[0])
    assert np.flatnonzero(values > plain[20])[0] < 20
    np.testing.assert_allclose(model.topic_word.sum(axis=0), 1, rtol=1e-9)


@pytest.mark.parametrize(
    ("family", "bound", "selects"),
    [
        *((family, bound, True) for family in models.GENERATED for bound in models.BOUNDS),
        *((family, "paper", True) for family in models.FAMILIES[2:]),
        ("gaussian", "tight", False),
    ],
)
def test_a_weight_is_a_number_of_copies(family, bound, selects):
    case = models.draw_case(
        7,
        family,
        bound,
        n_docs=14,
        n_words=10,
        selects=selects,
        learn_prior=True,
        coef_penalty=0.1,
        n_covariates=2,
    )
    times = np.array([2, 1, 0, 3, 1, 1, 2, 0, 1, 1, 2, 1, 1, 1])
    weighted = replace(case.problem, doc_weight=times.astype(float))
    copies = replace(case.problem, doc_weight=None).rows(np.repeat(np.arange(14), times))
    starts = [
        perturbed_start(p, case.hyper, case.state.family, np.ones(3), np.random.default_rng(1))
        for p in (weighted, copies)
    ]
    np.testing.assert_allclose(starts[0].topic_word, starts[1].topic_word, rtol=1e-12)
    (one, a), (other, b) = (
        objectives(CoordinateSolver(), problem, case.hyper, starts[1])
        for problem in (weighted, copies)
    )
    np.testing.assert_allclose(one, other, rtol=1e-8)
    # The argument of a maximum known to 1e-16 is known to 1e-8; ten epochs of that.
    for name in ("topic_word", "coef", "covariate_coef", "inclusion", "doc_topic_prior"):
        np.testing.assert_allclose(
            getattr(a, name), getattr(b, name), rtol=1e-6, atol=1e-8, err_msg=name
        )
    for mine, theirs in zip(a.family, b.family, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-6, atol=1e-8)
    if family == "gaussian":
        once = replace(case.problem, doc_weight=None)
        _, plain = objectives(CoordinateSolver(), once, case.hyper, starts[1])
        assert np.abs(plain.topic_word - a.topic_word).max() > 1e-3  # weights do matter


def test_documents_without_targets_teach_words_but_not_coefficients():
    case = models.draw_case(6, n_docs=30, n_words=12)
    target = case.problem.target.copy()
    target[10:] = np.nan
    problem = models.make_problem(case.problem.corpus, target, n_jobs=1)
    changed = models.make_problem(
        case.problem.corpus, np.where(np.isnan(target), target, target + 1.0), n_jobs=1
    )
    solver = CoordinateSolver()
    _, model = objectives(solver, problem, case.hyper, case.state)
    _, words_only = objectives(
        solver, models.make_problem(case.problem.corpus, None), case.hyper, case.state
    )
    _, other = objectives(solver, changed, case.hyper, case.state)
    assert np.all(model.coef != case.state.coef) and np.all(words_only.coef == case.state.coef)
    assert np.abs(model.coef - other.coef).max() > 0.1
    half = problem.rows(np.arange(10))
    _, only_known = objectives(solver, half, case.hyper, case.state)
    assert np.abs(only_known.topic_word - model.topic_word).max() > 1e-3
