"""Where solvers start: valid models, as their docstrings describe them."""

import models
import numpy as np
import pytest

from topicfocus.corpus import make_corpus
from topicfocus.joint.initialize import near_symmetric_start, perturbed_start
from topicfocus.joint.settings import Hyperparameters
from topicfocus.model import make_problem

STARTS = [perturbed_start, near_symmetric_start]
FAMILIES = {name: models.draw_family(np.random.default_rng(3), name) for name in models.FAMILIES}


def make(family="gaussian", selects=True, supervised=True):
    rng = np.random.default_rng(0)
    table = rng.poisson(1.0, (40, 12))
    table[:, 5] = 0
    target = models.draw_target(rng, 40, family) if supervised else None
    hyper = Hyperparameters(n_topics=3, selects=selects, inclusion_prior=0.3)
    return make_problem(make_corpus(table), target), hyper


@pytest.mark.parametrize("begin", STARTS)
@pytest.mark.parametrize("family", models.FAMILIES)
@pytest.mark.parametrize("selects", [True, False])
@pytest.mark.parametrize("supervised", [True, False])
def test_a_start_is_a_model(begin, family, selects, supervised):
    problem, hyper = make(family, selects, supervised)
    prior = np.array([0.5, 1.0, 2.0])
    start = begin(problem, hyper, FAMILIES[family], prior, np.random.default_rng(1))
    np.testing.assert_allclose(start.topic_word.sum(axis=0), 1, rtol=1e-12)
    assert start.doc_topic_prior is prior
    assert type(start.family) is type(FAMILIES[family])
    if selects:
        np.testing.assert_array_equal(start.inclusion, 0.3)
        np.testing.assert_allclose(start.background.sum(), 1, rtol=1e-12)
    else:
        assert np.all(start.inclusion == 1) and np.all(start.background == 0)
    assert np.any(start.coef != 0) == supervised
    assert start.n_predictors == FAMILIES[family].n_predictors
    assert start.coef.shape[0] == 3 and start.covariate_coef is None
    again = begin(problem, hyper, FAMILIES[family], prior, np.random.default_rng(1))
    np.testing.assert_array_equal(again.topic_word, start.topic_word)
    other = begin(problem, hyper, FAMILIES[family], prior, np.random.default_rng(2))
    assert np.any(other.topic_word != start.topic_word)


def test_of_several_targets_each_starts_as_if_it_were_alone():
    problem, hyper = make("several")
    target = problem.target.copy()
    target[3:9, 1] = np.nan
    target[:, 2] = np.nan  # nobody has it
    problem = make_problem(problem.corpus, target)
    whole = perturbed_start(
        problem, hyper, FAMILIES["several"], np.ones(3), np.random.default_rng(1)
    )
    for t, (own, where) in enumerate(FAMILIES["several"].split()):
        alone = make_problem(problem.corpus, target[:, t])
        start = perturbed_start(alone, hyper, own, np.ones(3), np.random.default_rng(1))
        np.testing.assert_allclose(whole.coef[:, where], start.coef.reshape(3, -1), rtol=1e-12)
        assert np.any(start.coef) == (t != 2)
    np.testing.assert_allclose(whole.family.parameters[0], np.var(target[:, 0]), rtol=1e-12)
