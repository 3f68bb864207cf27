"""Standard deviations of predictions: the formula by simulation, and coverage."""

from functools import cache

import numpy as np
import pytest
from scipy.stats import nbinom, norm

from topicfocus import FocusedTopicRegressor, SLDARegressor
from topicfocus.datasets import make_reviews
from topicfocus.estimators.targets import Coding, TargetPart
from topicfocus.families import Bernoulli, Gaussian, Ordinal, Poisson
from topicfocus.metrics import coverage

LEVELS = np.array([1.0, 2.0, 4.0, 5.0])
CASES = {
    "gaussian": (None, Gaussian(0.7)),
    "poisson": (None, Poisson()),
    "bernoulli": (None, Bernoulli()),
    "ordinal": (LEVELS, Ordinal(np.array([-1.0, 0.3, 1.5]))),
}


@cache
def large(seed):
    """Data that several tests look at, and none changes."""
    return make_reviews(3000, random_state=seed)


def draw(kind, family, f, rng):
    if kind == "gaussian":
        return rng.normal(f, np.sqrt(family.noise_variance))
    if kind == "poisson":
        return rng.poisson(np.exp(f)).astype(float)
    if kind == "bernoulli":
        return (rng.random(len(f)) < 1 / (1 + np.exp(-f))).astype(float)
    below = np.cumsum(family.level_probabilities(f), axis=1)
    return LEVELS[np.sum(rng.random((len(f), 1)) > below[:, :-1], axis=1)]


@pytest.mark.parametrize("kind", CASES)
@pytest.mark.parametrize("spread", [0.0, 0.02])
def test_variance_is_that_of_simulated_targets(kind, spread):
    """The slope of the mean is exact for a small spread, which is what the delta method says."""
    labels, family = CASES[kind]
    rng = np.random.default_rng(0)
    f = 0.4 + np.sqrt(spread) * rng.standard_normal(400_000)
    seen = draw(kind, family, f, rng).var()
    part = TargetPart(Coding(family, labels), family, slice(0, 1))
    found = part.variance(np.array([[0.4]]), np.array([[spread]]))[0]
    assert found == pytest.approx(seen, rel=0.02)


@pytest.mark.parametrize("scale", [None, (1.0, 10.0)])
def test_intervals_cover_what_they_say(scale):
    """Of a number without limits, and on a scale, where a quarter of the targets is at its ends.

    Three data sets: δ comes from two hundred documents of each, and is off by some percent in one.
    """
    levels, covered = (0.5, 0.8, 0.95), []
    for seed in range(3):
        reviews = large(seed)
        y = reviews.target + np.random.default_rng(seed).normal(0, 1.5, 3000)
        y = y if scale is None else np.clip(np.round(y), *scale)
        fit, new = slice(0, 2000), slice(2000, None)
        model = FocusedTopicRegressor(5, inclusion_prior=0.2, random_state=0)
        model.fit(reviews.counts[fit], y[fit])
        coding = model.fitted_.parts[0].coding
        assert coding.bounds(model.family_) == (scale or (-np.inf, np.inf))
        assert coding.observed == (y[fit].min(), y[fit].max())
        mean, std = model.predict(reviews.counts[new], return_std=True)
        covered.append([])
        for level in levels:
            low, high = model.predict_interval(reviews.counts[new], level)
            covered[-1].append(coverage(y[new], low, high))
            if scale is None:
                continue
            assert low.min() >= scale[0] and high.max() <= scale[1]
            # Cutting has left no target out.
            reach = norm.ppf(0.5 + level / 2) * std
            assert covered[-1][-1] == coverage(y[new], mean - reach, mean + reach)
    # Of six data sets on the scale: 43, 78, 94%. Errors are no bell there.
    assert np.all(np.abs(np.mean(covered, axis=0) - levels) < [0.07, 0.04, 0.02])


@pytest.mark.parametrize(("excess", "exposed"), [(0.0, False), (0.5, True)])
def test_intervals_of_counts_are_whole_and_cover(excess, exposed):
    """Counts as a Poisson has them, and such as vary more; three data sets of each.

    With ends at whole numbers at least as many are inside. Where u, drawn between P(y < seen) and
    P(y <= seen), is between the levels of the ends, exactly as many would be.
    """
    levels, covered, drawn = (0.5, 0.8, 0.95), [], []
    for seed in range(3):
        reviews, rng = large(seed), np.random.default_rng(seed)
        exposure = rng.uniform(0.2, 5.0, 3000)
        rate = np.exp(0.3 + (reviews.target - reviews.target.mean()) / 3)
        rate = rate * exposure if exposed else rate
        y = rng.poisson(rate * rng.gamma(1 / excess, excess, 3000) if excess else rate)
        fit, new = slice(0, 2000), slice(2000, None)
        more = [{"exposure": exposure[part]} if exposed else {} for part in (fit, new)]
        model = FocusedTopicRegressor(5, family="poisson", inclusion_prior=0.2, random_state=0)
        model.fit(reviews.counts[fit], y[fit], **more[0])
        (tau,) = model.fitted_.extra_variance
        assert tau > 0.05 if excess else tau < 0.15
        mean, std = model.predict(reviews.counts[new], return_std=True, **more[1])
        size = 1 / np.maximum((std**2 - mean) / mean**2, 1e-9)
        below = [nbinom.cdf(k, size, size / (size + mean)) for k in (y[new] - 1, y[new])]
        u = rng.uniform(*below)
        drawn.append([np.mean(np.abs(u - 0.5) <= level / 2) for level in levels])
        covered.append([])
        for level in levels:
            low, high = model.predict_interval(reviews.counts[new], level, **more[1])
            assert np.all(low == np.round(low)) and np.all(high == np.round(high))
            assert low.min() >= 0
            covered[-1].append(coverage(y[new], low, high))
    np.testing.assert_allclose(np.mean(drawn, axis=0), levels, atol=0.06)
    assert np.all(np.mean(covered, axis=0) >= np.subtract(levels, 0.01))


def test_intervals_of_levels_are_levels():
    reviews = make_reviews(1500, random_state=0)
    y = np.array([1.0, 2.0, 4.0, 5.0])[np.digitize(reviews.target, [3.5, 5.0, 7.0])]
    model = FocusedTopicRegressor(5, family="ordinal", random_state=0)
    model.fit(reviews.counts[:1000], y[:1000])
    for level in (0.5, 0.8, 0.95):
        low, high = model.predict_interval(reviews.counts[1000:], level)
        assert set(low) | set(high) <= {1.0, 2.0, 4.0, 5.0}
        assert coverage(y[1000:], low, high) >= level
    assert np.mean(low < high) > 0.5


def test_ends_of_a_scale():
    model = FocusedTopicRegressor(2, max_epochs=2, random_state=0)
    reviews = make_reviews(300, random_state=0)
    y = np.clip(np.round(reviews.target), 2, 9)
    y[0] = 9.5  # one document alone makes no end
    weight = np.ones(300)
    assert limits_of(model.fit(reviews.counts, y)) == (2.0, np.inf)
    weight[0] = 2.0  # two copies of it do
    assert limits_of(model.fit(reviews.counts, y, sample_weight=weight)) == (2.0, 9.5)
    weight[0] = 0.0
    assert limits_of(model.fit(reviews.counts, y, sample_weight=weight)) == (2.0, 9.0)


@pytest.mark.parametrize("estimator", [FocusedTopicRegressor, SLDARegressor])
def test_predictions_are_within_the_scale_and_explained_exactly(estimator):
    reviews = make_reviews(300, random_state=0)
    y = np.clip(np.round(reviews.target), 4, 7)  # a short scale: many documents are beyond it
    model = estimator(3, max_epochs=8, random_state=0).fit(reviews.counts, y)
    found, predicted = model.explain(reviews.counts), model.predict(reviews.counts)
    assert predicted.min() == 4 and predicted.max() == 7
    assert np.any(found.predictor > 7) and np.any(found.predictor < 4)
    np.testing.assert_allclose((found.predictor + found.limit)[:, 0], predicted, atol=1e-9)
    np.testing.assert_allclose(found.after[:, 0], predicted, atol=1e-9)
    inside = (found.predictor > 4) & (found.predictor < 7)
    assert np.all(found.limit[inside] == 0) and inside.any()
    beyond = int(np.argmax(found.predictor[:, 0]))
    assert "end of the scale" in repr(found[beyond])
    assert repr(found[beyond]).startswith("y: 7\n")


def limits_of(model):
    return model.fitted_.parts[0].coding.limits


def test_later_batches_move_the_ends():
    reviews = make_reviews(400, random_state=0)
    y = np.clip(np.round(reviews.target), 3, 8)
    model = FocusedTopicRegressor(2, max_epochs=2, random_state=0)
    model.partial_fit(reviews.counts[:200], y[:200])
    assert limits_of(model) == (3.0, 8.0)
    y[200:] = np.clip(np.round(reviews.target[200:]), 4, 9)
    y[200] = 1.5
    model.partial_fit(reviews.counts[200:], y[200:])
    assert limits_of(model) == (-np.inf, 9.0)
    assert model.fitted_.parts[0].coding.observed == (1.5, 9.0)


@pytest.mark.parametrize("wrong", [0, 1, 80, "most"])
def test_coverage_is_a_share(wrong):
    reviews = make_reviews(100, random_state=0)
    model = FocusedTopicRegressor(2, max_epochs=1, random_state=0)
    model.fit(reviews.counts, reviews.target)
    with pytest.raises(ValueError, match="coverage must be between 0 and 1"):
        model.predict_interval(reviews.counts, wrong)


def test_several_targets():
    reviews = make_reviews(200, random_state=0)
    y = np.column_stack([reviews.target, reviews.target > 5])
    model = FocusedTopicRegressor(3, family=["gaussian", "bernoulli"], random_state=0)
    mean, std = model.fit(reviews.counts, y).predict(reviews.counts, return_std=True)
    assert mean.shape == std.shape == (200, 2)
    low, high = model.predict_interval(reviews.counts)
    assert low.shape == (200, 2) and np.all(low <= high)
    assert low[:, 1].min() >= 0 and high[:, 1].max() <= 1
    assert np.all(std[:, 1] <= 0.5)  # no variable between 0 and 1 has more
