"""Choices on validation documents: the path of inclusion priors; the schedule of the default."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from topicfocus import PFSLDAClassifier, PFSLDARegressor
from topicfocus.corpus import make_corpus
from topicfocus.datasets import make_pfslda
from topicfocus.families import Gaussian
from topicfocus.joint import GradientSolver, run
from topicfocus.joint.initialize import near_symmetric_start
from topicfocus.joint.settings import Hyperparameters
from topicfocus.joint.validation import INCLUSION_PRIORS, ValidationLoss, choose_inclusion
from topicfocus.model import make_problem

DATA = make_pfslda(400, 60, n_topics=3, n_relevant=40, n_irrelevant=60, random_state=0)
TRAIN, HELD = slice(0, 300), slice(300, 400)


def problem_of(part, y=DATA.target):
    return make_problem(make_corpus(DATA.counts[part]), y[part], n_jobs=1)


def start_of(problem, family, seed=0, **settings):
    hyper = Hyperparameters(n_topics=3, inclusion_prior=0.25)
    rng = np.random.default_rng(seed)
    return hyper, near_symmetric_start(problem, hyper, family, np.ones(3), rng, **settings)


def test_the_smallest_prior_within_one_standard_error_is_chosen():
    problem = problem_of(TRAIN)
    hyper, start = start_of(problem, Gaussian(1.0), spread=True)
    solver = GradientSolver(batch_size=10, learning_rate=0.05, concentration_start="length")
    seen = []
    chosen = choose_inclusion(
        solver,
        problem,
        hyper,
        start,
        ValidationLoss(problem_of(HELD), Gaussian(1.0)),
        np.random.default_rng(0),
        epochs=200,
        callback=lambda done, total: seen.append((done, total)),
    )
    assert seen == [(i, 240) for i in range(1, 241)]  # 1.2 times the epochs of a fit
    priors, explained, errors = map(np.array, zip(*chosen.path, strict=True))
    assert tuple(priors) == INCLUSION_PRIORS
    best = np.argmax(explained)
    assert errors[best] == 0 and np.all(np.delete(errors, best) > 0)
    within = explained >= explained[best] - errors
    assert chosen.inclusion_prior == priors[within].min()
    assert explained[best] > 0.15  # a fit to the end reaches 0.22


@pytest.mark.filterwarnings("ignore::topicfocus.estimators.training.UselessFitWarning")
@pytest.mark.parametrize("cls", [PFSLDARegressor, PFSLDAClassifier])
def test_the_model_is_that_of_the_prior_chosen(cls):
    y = DATA.target if cls is PFSLDARegressor else DATA.target > np.median(DATA.target)
    settings = {"n_topics": 3, "max_epochs": 30, "random_state": 1}
    model = cls(inclusion_prior="auto", **settings).fit(DATA.counts, y)
    assert model.inclusion_prior_ in INCLUSION_PRIORS
    assert [p for p, _, _ in model.inclusion_path_] == list(INCLUSION_PRIORS)
    given = cls(inclusion_prior=model.inclusion_prior_, **settings).fit(DATA.counts, y)
    assert_array_equal(given.components_, model.components_)
    assert given.inclusion_prior_ == model.inclusion_prior_
    assert not hasattr(given, "inclusion_path_")


def test_where_the_prior_cannot_be_chosen():
    for settings in (
        {"solver": "coordinate"},
        {"solver": "gradient"},
        {"bound": "tight"},
        {"doc_topic_prior": "learn"},
    ):
        with pytest.raises(ValueError, match='inclusion_prior="auto" needs solver="auto"'):
            PFSLDARegressor(3, inclusion_prior="auto", **settings).fit(DATA.counts, DATA.target)
    with pytest.raises(ValueError, match="for partial_fit give a number"):
        PFSLDARegressor(3, inclusion_prior="auto").partial_fit(DATA.counts, DATA.target)
    with pytest.raises(ValueError, match="inclusion_prior must be 'auto' or a number"):
        PFSLDARegressor(3, inclusion_prior="most").fit(DATA.counts, DATA.target)


def test_a_falling_step_ends_still():
    """After the last epochs parameters hardly move, and γ begins where it belongs."""
    problem = problem_of(TRAIN)
    hyper, start = start_of(problem, Gaussian(1.0), spread=True)
    solver = GradientSolver(batch_size=30, decay_epochs=10, concentration_start="length")
    state = solver.begin(problem, hyper, start, np.random.default_rng(0))
    batch = state.batches[0]
    expected = 1.0 + problem.corpus.doc_lengths[state.order[:30]] / 3
    assert_allclose(batch.local.concentration, np.tile(expected[:, None], 3))
    moved = []
    for _ in range(10):
        before = solver.model(state).coef
        state, _ = solver.step(state)
        moved.append(np.abs(solver.model(state).coef - before).max())
    assert max(moved[8:]) < 0.5 * max(moved[:5])


def test_words_never_seen_are_in_neither_channel():
    counts = DATA.counts[TRAIN].toarray()
    counts[:, 5] = 0
    problem = make_problem(make_corpus(counts), DATA.target[TRAIN], n_jobs=1)
    hyper, start = start_of(problem, Gaussian(1.0))
    rng = np.random.default_rng(0)
    model = run(GradientSolver(), problem, hyper, start, rng, max_epochs=3, tol=0.0).model
    assert np.all(model.topic_word[5] == 0) and model.background[5] == 0
    assert_allclose(model.topic_word.sum(axis=0), 1.0)
    assert_allclose(model.background.sum(), 1.0)
