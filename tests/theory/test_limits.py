"""Models at the edges of others: p → 1 is sLDA, no target is LDA."""

from dataclasses import replace

import models
import numpy as np
import pytest

from topicfocus.corpus import make_corpus
from topicfocus.datasets import make_pfslda
from topicfocus.families import Bernoulli, Gaussian
from topicfocus.joint import CoordinateSolver, run
from topicfocus.joint.initialize import perturbed_start
from topicfocus.joint.settings import Hyperparameters
from topicfocus.model import make_problem


def make(family, hyper, target=True, weight=1.0):
    data = make_pfslda(
        n_docs=150, doc_length=50, n_topics=3, n_relevant=20, family=family, random_state=0
    )
    y = data.target if target else None
    problem = make_problem(make_corpus(data.counts), y, weight, n_jobs=1)
    example = Gaussian(1.0) if family == "gaussian" else Bernoulli()
    start = perturbed_start(
        problem, hyper, example, np.ones(hyper.n_topics), np.random.default_rng(1)
    )
    return problem, start


def fit(problem, hyper, start, epochs=25):
    solver = CoordinateSolver(local_steps=20, local_tolerance=1e-9)
    rng = np.random.default_rng(0)
    return run(solver, problem, hyper, start, rng, max_epochs=epochs, tol=0.0)


@pytest.mark.parametrize("bound", models.BOUNDS)
@pytest.mark.parametrize("family", models.GENERATED)
def test_with_every_word_expected_relevant_pfslda_is_slda(bound, family):
    """p = 1 - 1e-12; φ stays within its margin of one (1e-10), the size of what is left."""
    focused = Hyperparameters(n_topics=3, inclusion_prior=1 - 1e-12, bound=bound, coef_penalty=0.1)
    plain = replace(focused, selects=False)
    problem, start = make(family, focused)
    slda_start = replace(start, inclusion=np.ones(70), background=np.zeros(70))
    a, b = fit(problem, focused, start), fit(problem, plain, slda_start)
    np.testing.assert_allclose(
        [info.objective for info in a.history], [info.objective for info in b.history], rtol=1e-7
    )
    np.testing.assert_allclose(a.model.topic_word, b.model.topic_word, rtol=1e-5, atol=1e-9)
    np.testing.assert_allclose(a.model.coef, b.model.coef, rtol=1e-5)
    if family == "gaussian":
        np.testing.assert_allclose(
            a.model.family.noise_variance, b.model.family.noise_variance, rtol=1e-5
        )
    assert np.all(a.model.inclusion > 1 - 1e-9)
    assert a.history[-1].objective > a.history[0].objective + 0.01


@pytest.mark.parametrize("selects", [True, False])
def test_supervision_of_weight_zero_is_no_supervision(selects):
    hyper = Hyperparameters(n_topics=3, selects=selects)
    unsupervised, start = make("gaussian", hyper, target=False)
    weightless, _ = make("gaussian", hyper, weight=0.0)
    a, b = fit(unsupervised, hyper, start), fit(weightless, hyper, start)
    np.testing.assert_array_equal(a.model.topic_word, b.model.topic_word)
    assert [i.objective for i in a.history] == [i.objective for i in b.history]
    np.testing.assert_array_equal(a.model.coef, start.coef)


def test_a_vanishing_weight_of_supervision_approaches_lda():
    hyper = Hyperparameters(n_topics=3, selects=False)
    words, start = make("gaussian", hyper, target=False)
    lda = fit(words, hyper, start).model.topic_word
    gaps = []
    for weight in (1e-1, 1e-3, 1e-5):
        problem, supervised = make("gaussian", hyper, weight=weight)
        np.testing.assert_array_equal(supervised.topic_word, start.topic_word)
        gaps.append(np.abs(fit(problem, hyper, supervised).model.topic_word - lda).max())
    assert gaps[0] > 10 * gaps[1] > 100 * gaps[2]
    assert gaps[2] < 1e-4
