"""Intervals of targets that have whole values: counts, levels, 0 and 1."""

import numpy as np
import pytest
from scipy.special import gammaln
from scipy.stats import nbinom, poisson

from topicfocus.families import Bernoulli, Gaussian, Ordinal, Poisson, count_interval

LEVELS = (0.5, 0.8, 0.95)


def chances(mean, variance, most):
    """P(y = 0), P(y = 1), ... of a count, written out."""
    k = np.arange(most)
    s = (variance - mean) / mean**2
    if s <= 0:
        return np.exp(k * np.log(mean) - mean - gammaln(k + 1))
    ways = gammaln(k + 1 / s) - gammaln(1 / s) - gammaln(k + 1)
    return np.exp(ways + k * np.log(mean * s) - (k + 1 / s) * np.log1p(mean * s))


@pytest.mark.parametrize("mean", [0.01, 0.4, 3.0, 47.5])
@pytest.mark.parametrize("spread", [0.0, 0.02, 0.7, 3.0])
@pytest.mark.parametrize("coverage", LEVELS)
def test_ends_of_a_count_are_the_first_that_reach_their_share(mean, spread, coverage):
    variance = mean + spread * mean**2
    p = chances(mean, variance, 20_000)
    assert p.sum() == pytest.approx(1.0, abs=1e-9)
    low, high = (int(end[0]) for end in count_interval([mean], [variance], coverage))
    tail = (1 - coverage) / 2
    assert p[:low].sum() < tail <= p[: low + 1].sum() + 1e-12
    assert p[:high].sum() < 1 - tail <= p[: high + 1].sum() + 1e-12
    assert p[low : high + 1].sum() >= coverage - 1e-12


def test_counts_of_nothing_and_less_variance_than_a_poisson():
    low, high = count_interval([0.0, 4.0, 4.0], [0.0, 1.0, 4.0], 0.8)
    assert (low[0], high[0]) == (0, 0)
    assert (low[1], high[1]) == (low[2], high[2])


@pytest.mark.parametrize("spread", [0.0, 0.01, 0.3, 1.0])
def test_large_counts_are_near_the_exact_ends(spread):
    mean = 4e6
    variance = mean + spread * mean**2
    ends = count_interval([mean], [variance], 0.8)
    for end, level in zip(ends, (0.1, 0.9), strict=True):
        if spread:
            exact = nbinom.ppf(level, 1 / spread, 1 / (1 + mean * spread))
        else:
            exact = poisson.ppf(level, mean)
        assert end[0] == np.round(end[0])
        assert abs(end[0] - exact) < 0.03 * np.sqrt(variance)


def test_exposure_is_part_of_the_predictor():
    f = np.log([2.0, 20.0])
    low, high = Poisson().interval(f, np.array([0.1, 0.1]), 0.8, None)
    wanted = count_interval([2.0, 20.0], [2.0 + 0.4, 20.0 + 40.0], 0.8)
    np.testing.assert_array_equal([low, high], wanted)


@pytest.mark.parametrize("coverage", LEVELS)
@pytest.mark.parametrize("spread", [0.0, 1.5])
def test_levels_cover_what_they_say(coverage, spread):
    """Beside f drawn from a normal distribution; σ(·/√(1 + πs/8)) is good to a percent."""
    family, values = Ordinal(np.array([-2.0, -0.5, 1.0, 2.5])), np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    f = np.linspace(-4, 4, 9)
    drawn = f[:, None] + np.sqrt(spread) * np.random.default_rng(0).standard_normal((9, 20_000))
    p = family.level_probabilities(drawn).mean(axis=1)
    low, high = family.interval(f, np.full(9, spread), coverage, values)
    assert set(low) | set(high) <= set(values)
    inside = (values >= low[:, None]) & (values <= high[:, None])
    assert np.all((p * inside).sum(axis=1) > coverage - 0.02)
    # No wider than needed: what lies outside on either side would not fit.
    tail = (1 - coverage) / 2
    below = (p * (values < low[:, None])).sum(axis=1)
    assert np.all(below <= tail + 0.02)
    assert np.all(below + p[np.arange(9), low.astype(int) - 1] >= tail - 0.02)


def test_of_zero_and_one_those_that_are_needed():
    p = np.array([0.05, 0.3, 0.95])
    f = np.log(p / (1 - p))
    low, high = Bernoulli().interval(f, np.zeros(3), 0.8, None)
    assert (low.tolist(), high.tolist()) == ([0, 0, 1], [0, 1, 1])
    # Less sure of f, less sure of y.
    low, high = Bernoulli().interval(f, np.full(3, 9.0), 0.8, None)
    assert (low.tolist(), high.tolist()) == ([0, 0, 0], [1, 1, 1])


def test_numbers_have_the_mean_in_the_middle():
    low, high = Gaussian(3.0).interval(np.array([1.0]), np.array([1.0]), 0.8, None)
    assert (low[0] + high[0]) / 2 == pytest.approx(1.0)
    assert (high[0] - low[0]) / 2 == pytest.approx(2 * 1.2815515655446004)


# ---- what counts vary more than stated ----------------------------------------------------------


def drawn_counts(n, spread, excess, seed=0):
    rng = np.random.default_rng(seed)
    f = rng.normal(1.0, 0.7, n)
    rate = np.exp(f)
    total = spread + excess
    if total > 0:
        rate = rate * rng.gamma(1 / total, total, n)
    return rng.poisson(rate).astype(float), f


@pytest.mark.parametrize("excess", [0.1, 0.6])
def test_excess_of_counts_is_found(excess):
    y, f = drawn_counts(20_000, 0.2, excess)
    rho, tau = Poisson().extra_variance(y, f, np.full(len(y), 0.2), np.ones(len(y)))
    assert rho == 1.0 and tau == pytest.approx(excess, rel=0.1)


@pytest.mark.parametrize("share", [0.0, 0.5])
def test_too_much_uncertainty_is_taken_back(share):
    y, f = drawn_counts(20_000, 0.3 * share, 0.0)
    rho, tau = Poisson().extra_variance(y, f, np.full(len(y), 0.3), np.ones(len(y)))
    assert tau == 0.0 and rho == pytest.approx(share, abs=0.08)


def test_weights_count_as_copies_and_one_outlier_does_not_decide():
    y, f = drawn_counts(3_000, 0.2, 0.3)
    spread, weight = np.full(3_000, 0.2), np.random.default_rng(1).integers(1, 4, 3_000)
    found = Poisson().extra_variance(y, f, spread, weight.astype(float))
    copies = (np.repeat(part, weight) for part in (y, f, spread))
    np.testing.assert_allclose(
        found, Poisson().extra_variance(*copies, np.ones(weight.sum())), 1e-3
    )
    # A count where next to none was expected: moments of (y - μ)²/μ would explode.
    more = Poisson().extra_variance(
        np.append(y, 1.0), np.append(f, -12.0), np.append(spread, 0.2), np.ones(3_001)
    )
    before = Poisson().extra_variance(y, f, spread, np.ones(3_000))
    assert more[1] == pytest.approx(before[1], abs=0.01)


def test_other_families_have_no_excess():
    y = np.array([0.0, 1.0])
    assert Bernoulli().extra_variance(y, y, y, np.ones(2)) == (1.0, 0.0)
