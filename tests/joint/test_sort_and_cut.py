"""Coordinate ascent with sort and cut: exactly disjoint channels, and the right words."""

import models
import numpy as np
import pytest

from topicfocus.corpus import make_corpus
from topicfocus.datasets import make_pfslda
from topicfocus.families import Bernoulli, Gaussian
from topicfocus.joint import CoordinateSolver, run
from topicfocus.joint.initialize import perturbed_start
from topicfocus.joint.settings import Hyperparameters
from topicfocus.metrics import channel_overlap, selection_scores
from topicfocus.model import make_problem

GAUSSIAN = Gaussian(1.0)
SHORT = {"burn_in": 20, "anneal": 40, "settle": 3}


def fit(data, seed=0, p=0.25, family=GAUSSIAN, coef_penalty=1e-3, **settings):
    problem = make_problem(make_corpus(data.counts), data.target)
    hyper = Hyperparameters(n_topics=5, inclusion_prior=p, bound="tight", coef_penalty=coef_penalty)
    rng = np.random.default_rng(seed)
    start = perturbed_start(problem, hyper, family, np.ones(5), rng)
    solver = CoordinateSolver(selection="sort_and_cut", **settings)
    return run(solver, problem, hyper, start, rng, max_epochs=1, tol=1e-3), problem, hyper


@pytest.fixture(scope="module")
def recovered():
    data = make_pfslda(n_docs=1500, doc_length=150, random_state=3)
    return data, *fit(data)


def test_relevant_words_are_recovered(recovered):
    data, result, _, _ = recovered
    scores = selection_scores(result.model.inclusion, data.relevant)
    assert scores.precision >= 0.9
    assert scores.recall >= 0.6


def test_channels_are_exactly_disjoint(recovered):
    _, result, _, _ = recovered
    model = result.model
    assert set(np.unique(model.inclusion)) == {0.0, 1.0}
    assert channel_overlap(model.topic_word.T, model.background) == 0.0
    np.testing.assert_allclose(model.topic_word.sum(axis=0), 1, rtol=1e-12)
    np.testing.assert_allclose(model.background.sum(), 1, rtol=1e-12)
    assert np.all(model.topic_word[model.inclusion == 1].max(axis=1) > 0)
    assert np.all(model.background[model.inclusion == 0] > 0)


def test_a_larger_prior_keeps_more_words():
    data = make_pfslda(n_docs=1000, doc_length=120, random_state=3)
    kept = [fit(data, p=p, **SHORT)[0].model.inclusion.sum() for p in (0.15, 0.25, 0.4)]
    assert kept[0] < kept[1] < kept[2]


def test_it_works_for_bernoulli_targets():
    """With a firm prior on η, which keeps it where the expansion of the target term is good."""
    data = make_pfslda(n_docs=1500, doc_length=150, family="bernoulli", random_state=2)
    result, _, _ = fit(data, family=Bernoulli(), coef_penalty=1.0, **SHORT)
    assert set(np.unique(result.model.inclusion)) == {0.0, 1.0}
    assert channel_overlap(result.model.topic_word.T, result.model.background) == 0.0
    assert result.model.family == Bernoulli()
    assert selection_scores(result.model.inclusion, data.relevant).precision >= 0.9


@pytest.mark.parametrize("change", [{"bound": "paper"}, {"selects": False}])
def test_it_refuses_what_it_does_not_solve(change):
    case = models.draw_case(0, bound="tight")
    hyper = case.hyper.__class__(**{**vars(case.hyper), **change})
    with pytest.raises(ValueError, match='bound="tight"'):
        CoordinateSolver(selection="sort_and_cut").begin(case.problem, hyper, case.state)
