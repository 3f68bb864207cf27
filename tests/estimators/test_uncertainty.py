"""Standard deviations of predictions: the formula by simulation, and coverage."""

import numpy as np
import pytest

from topicfocus import FocusedTopicRegressor, SLDARegressor
from topicfocus.datasets import make_pfslda, make_reviews
from topicfocus.estimators.coding import Coding
from topicfocus.families import Bernoulli, Gaussian, Ordinal, Poisson, level_probabilities

LEVELS = np.array([1.0, 2.0, 4.0, 5.0])
CASES = {
    "gaussian": (None, Gaussian(0.7)),
    "poisson": (None, Poisson()),
    "bernoulli": (None, Bernoulli()),
    "ordinal": (LEVELS, Ordinal(np.array([-1.0, 0.3, 1.5]))),
}


def draw(kind, family, f, rng):
    if kind == "gaussian":
        return rng.normal(f, np.sqrt(family.noise_variance))
    if kind == "poisson":
        return rng.poisson(np.exp(f)).astype(float)
    if kind == "bernoulli":
        return (rng.random(len(f)) < 1 / (1 + np.exp(-f))).astype(float)
    below = np.cumsum(level_probabilities(family, f), axis=1)
    return LEVELS[np.sum(rng.random((len(f), 1)) > below[:, :-1], axis=1)]


@pytest.mark.parametrize("kind", CASES)
@pytest.mark.parametrize("spread", [0.0, 0.02])
def test_variance_is_that_of_simulated_targets(kind, spread):
    """The slope of the mean is exact for a small spread, which is what the delta method says."""
    labels, family = CASES[kind]
    rng = np.random.default_rng(0)
    f = 0.4 + np.sqrt(spread) * rng.standard_normal(400_000)
    seen = draw(kind, family, f, rng).var()
    found = Coding(family, labels).variance(family, np.array([[0.4]]), np.array([[spread]]))[0]
    assert found == pytest.approx(seen, rel=0.02)


def test_short_documents_are_less_sure():
    reviews = make_reviews(500, random_state=0)
    model = FocusedTopicRegressor(3, random_state=0).fit(reviews.counts, reviews.target)
    _, empty = model.predict(np.zeros((1, reviews.counts.shape[1])), return_std=True)
    _, full = model.predict(reviews.counts, return_std=True)
    _, long = model.predict(20 * reviews.counts, return_std=True)
    assert long.mean() < 0.8 * full.mean() < 0.8 * empty[0]


def test_intervals_cover_where_the_model_is_true():
    sizes = {"n_relevant": 40, "n_irrelevant": 2, "inclusion_prior": 0.98}
    data = make_pfslda(2500, 80, random_state=1, **sizes)
    fit, new = slice(0, 2000), slice(2000, None)
    model = SLDARegressor(5, random_state=0).fit(data.counts[fit], data.target[fit])
    mean, std = model.predict(data.counts[new], return_std=True)
    inside = np.abs(data.target[new] - mean) <= 1.2816 * std
    assert 0.72 < inside.mean() < 0.9


def test_several_targets():
    reviews = make_reviews(200, random_state=0)
    y = np.column_stack([reviews.target, reviews.target > 5])
    model = FocusedTopicRegressor(3, family=["gaussian", "bernoulli"], random_state=0)
    mean, std = model.fit(reviews.counts, y).predict(reviews.counts, return_std=True)
    assert mean.shape == std.shape == (200, 2)
    assert np.all(std[:, 1] <= 0.5)  # no variable between 0 and 1 has more
