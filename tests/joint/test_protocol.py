"""The loop around every solver: progress, stopping, interrupts, seeds and threads."""

from copy import deepcopy
from dataclasses import fields, replace

import models
import numpy as np
import pytest

from topicfocus.corpus import make_corpus
from topicfocus.datasets import make_pfslda
from topicfocus.families import Bernoulli, Gaussian
from topicfocus.joint import (
    CoordinateSolver,
    FitResult,
    GradientSolver,
    StepInfo,
    StochasticSolver,
    run,
)
from topicfocus.joint.initialize import near_symmetric_start, perturbed_start
from topicfocus.joint.settings import Hyperparameters
from topicfocus.model import ModelState, make_problem

CUT = CoordinateSolver(selection="sort_and_cut", burn_in=2, anneal=3, settle=2)
SOLVERS = {
    "coordinate": (CoordinateSolver(), "paper"),
    "coordinate-tight": (CoordinateSolver(), "tight"),
    "sort-and-cut": (CUT, "tight"),
    "stochastic": (StochasticSolver(batch_size=16), "paper"),
    "stochastic-tight": (StochasticSolver(batch_size=16), "tight"),
    "gradient": (GradientSolver(batch_size=16), "paper"),
}
every_solver = pytest.mark.parametrize("name", SOLVERS)
every_family = pytest.mark.parametrize("family", models.FEW)


def small(name, family="gaussian", n_jobs=1, **data_settings):
    """(solver, problem, hyper, start) on a small synthetic corpus."""
    solver, bound = SOLVERS[name]
    settings = {"n_docs": 50, "doc_length": 30, "n_topics": 3, **data_settings}
    generated = family if family in models.GENERATED else "gaussian"
    data = make_pfslda(family=generated, random_state=0, **settings)
    target, extras = data.target, {}
    example = Gaussian(1.0) if family == "gaussian" else Bernoulli()
    if family not in models.GENERATED:
        # Targets that have nothing to do with the words: here nobody asks what is learned.
        rng = np.random.default_rng(0)
        example = models.draw_family(rng, family)
        target = models.draw_target(rng, len(target), family)
        extras = models.draw_extras(rng, len(target), 2, example.n_predictors)
    problem = make_problem(make_corpus(data.counts), target, n_jobs=n_jobs, **extras)
    hyper = Hyperparameters(n_topics=3, inclusion_prior=0.3, bound=bound)
    begin = near_symmetric_start if name == "gradient" else perturbed_start
    start = begin(problem, hyper, example, np.ones(3), np.random.default_rng(1))
    return solver, problem, hyper, start


def fit(name, family="gaussian", *, seed=2, epochs=4, tol=0.0, callback=None, **settings):
    rng = np.random.default_rng(seed)
    return run(*small(name, family, **settings), rng, max_epochs=epochs, tol=tol, callback=callback)


def assert_same_model(a, b):
    for f in fields(ModelState):
        mine, theirs = getattr(a, f.name), getattr(b, f.name)
        if f.name == "family":  # a tuple of arrays of any length
            assert type(mine) is type(theirs)
        else:
            mine, theirs = (mine,), (theirs,)
        for x, y in zip(mine, theirs, strict=True):
            np.testing.assert_array_equal(x, y, err_msg=f.name)


# ---- the protocol ------------------------------------------------------------------------------


@every_solver
@every_family
def test_every_solver_obeys_the_protocol(name, family):
    solver, problem, hyper, start = small(name, family)
    before = deepcopy(start)
    state = solver.begin(problem, hyper, start, np.random.default_rng(0))
    first = solver.model(state)
    assert isinstance(first, ModelState)
    if name != "sort-and-cut":  # which normalises profiles by φ
        np.testing.assert_allclose(first.topic_word, start.topic_word, rtol=1e-12)
        np.testing.assert_allclose(first.inclusion, start.inclusion, rtol=1e-12)
    assert solver.epochs(9) == (7 if name == "sort-and-cut" else 9)
    for epoch in (1, 2, 3):
        state, info = solver.step(state)
        assert isinstance(info, StepInfo) and info.epoch == epoch
        assert np.isfinite(info.objective) and 0 <= info.kept <= problem.corpus.n_words
        model = solver.model(state)
        np.testing.assert_allclose(model.topic_word.sum(axis=0), 1, rtol=1e-9)
        np.testing.assert_allclose(model.background.sum(), 1, rtol=1e-9)
        assert np.all((model.inclusion >= 0) & (model.inclusion <= 1))
        assert model.coef.shape == start.coef.shape and np.all(np.isfinite(model.coef))
        assert model.coef.shape == (3,) or model.coef.shape == (3, model.n_predictors)
        assert type(model.family) is type(start.family)
    assert solver.converged([info], 1e-3) is False
    assert_same_model(start, before)  # the start belongs to the caller


@every_solver
def test_the_memory_layout_of_the_start_does_not_matter(name):
    """Topics that are the transpose of something, as `components_.T` of a fitted model."""
    solver, problem, hyper, start = small(name)
    other = replace(start, topic_word=np.asfortranarray(start.topic_word))
    first, second = (
        run(solver, problem, hyper, s, np.random.default_rng(0), max_epochs=3, tol=0.0)
        for s in (start, other)
    )
    assert np.any(first.model.topic_word != start.topic_word)
    np.testing.assert_allclose(second.model.topic_word, first.model.topic_word, rtol=1e-9)
    np.testing.assert_allclose(second.model.coef, first.model.coef, rtol=1e-9)


@every_solver
@every_family
def test_words_only_documents_without_words_and_missing_targets(name, family):
    solver, problem, hyper, start = small(name, family)
    counts = problem.corpus.counts.toarray()
    counts[[3, 7]] = 0
    corpus = make_corpus(counts)
    target = problem.target.copy()
    target[::3] = np.nan
    for y in (None, target):
        result = run(
            solver,
            replace(make_problem(corpus, y), covariates=problem.covariates),
            hyper,
            start,
            np.random.default_rng(0),
            max_epochs=3,
            tol=0.0,
        )
        assert np.all(np.isfinite(result.model.topic_word))
        changed = np.any(result.model.coef != start.coef)
        if y is not None:
            assert changed
        elif "stochastic" not in name and name != "gradient":
            assert not changed  # Adam solvers shrink an η that nothing holds, by the penalty


@every_solver
def test_the_same_seed_gives_the_same_model(name):
    first, second, other = fit(name), fit(name), fit(name, seed=3)
    assert_same_model(first.model, second.model)
    assert [i.objective for i in first.history] == [i.objective for i in second.history]
    if name in ("stochastic", "stochastic-tight", "gradient"):  # which visit at random
        assert np.any(first.model.topic_word != other.model.topic_word)
    else:
        assert_same_model(first.model, other.model)


@every_solver
def test_threads_do_not_change_a_bit(name, monkeypatch):
    """Enough counts for several chunks, also in a minibatch."""
    solver, bound = SOLVERS[name]
    if hasattr(solver, "batch_size"):
        monkeypatch.setitem(SOLVERS, name, (replace(solver, batch_size=400), bound))
    settings = {"n_docs": 900, "doc_length": 120, "epochs": 3}
    one, two = (fit(name, n_jobs=n, **settings) for n in (1, 2))
    assert_same_model(one.model, two.model)
    assert [i.objective for i in one.history] == [i.objective for i in two.history]


# ---- progress and stopping ---------------------------------------------------------------------


@every_solver
def test_progress_is_reported_every_epoch(name):
    seen = []
    result = fit(name, callback=lambda info, epochs: seen.append((info, epochs)), epochs=5)
    expected = 7 if name == "sort-and-cut" else 5
    assert [info for info, _ in seen] == list(result.history)
    assert [info.epoch for info, _ in seen] == list(range(1, expected + 1))
    assert {epochs for _, epochs in seen} == {expected}
    seconds = [info.seconds for info, _ in seen]
    assert seconds[0] > 0 and np.all(np.diff(seconds) >= 0)
    assert isinstance(result, FitResult) and not result.converged


def test_a_fit_stops_when_the_bound_stops_rising():
    result = fit("coordinate", epochs=500, tol=1e-4)
    assert result.converged and len(result.history) < 200
    values = np.array([info.objective for info in result.history])
    small_steps = np.abs(np.diff(values)) <= 1e-4 * np.abs(values[1:])
    assert small_steps[-2:].all()
    # Not one epoch later than the rule says.
    assert not np.any(small_steps[:-2] & small_steps[1:-1])


def test_an_objective_that_is_no_number_is_an_error_that_says_so():
    class Broken(CoordinateSolver):
        def step(self, state):
            state, info = super().step(state)
            return state, replace(info, objective=float("nan"))

    _, *rest = small("coordinate")
    with pytest.raises(FloatingPointError, match="epoch 1"):
        run(Broken(), *rest, np.random.default_rng(0), max_epochs=3, tol=0.0)


def test_the_gradient_solver_refuses_what_it_does_not_do():
    solver, problem, hyper, start = small("gradient")
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match='bound="paper"'):
        solver.begin(problem, replace(hyper, bound="tight"), start, rng)
    with pytest.raises(ValueError, match="learn"):
        solver.begin(problem, replace(hyper, learn_prior=True), start, rng)
