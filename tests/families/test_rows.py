"""Operations on rows: one target and predictor, classes, several targets at once.

Kernels get `for_kernels(family)`, so that they are compiled once for all families;
the same operations in Python are given the family itself.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_cases import numerical_gradient, random_target
from outside_family import NegativeBinomial

from topicfocus.families import (
    FAMILIES,
    Bernoulli,
    Categorical,
    Gaussian,
    Multiple,
    Ordinal,
    Poisson,
    for_kernels,
)
from topicfocus.kernels.likelihood import expectation_rows, likelihood_rows

CLASSES = {"three classes": Categorical(3), "two classes": Categorical(2)}
ALL_FIVE = Multiple.of([*FAMILIES.values(), Categorical(3)])
ROWS = {**FAMILIES, **CLASSES, "several": ALL_FIVE}
every_row = pytest.mark.parametrize("family", ROWS.values(), ids=ROWS.keys())


def seeds(test):
    drawn = given(seed=st.integers(0, 2**32 - 1), scale=st.sampled_from([0.1, 1.0, 4.0]))
    return settings(max_examples=25)(drawn(test))  # of each of seven families


def draw(family, seed, scale=1.0):
    """Targets, weights (of several, one in three zero), means and variances of predictors."""
    rng = np.random.default_rng(seed)
    target = random_target(rng, family, 2.0)
    weight = rng.uniform(0.3, 3.0, size=len(target))
    if len(weight) > 1:
        weight *= rng.random(len(weight)) < 0.7
    width = family.n_predictors
    return target, weight, scale * rng.normal(size=width), scale * rng.exponential(size=width)


def value_of(family, target, weight, predictor):
    return family.row_log_likelihood(target, weight, predictor, np.empty(len(predictor)))


def gradient_of(family, target, weight, predictor):
    out = np.full(len(predictor), np.nan)
    family.row_log_likelihood(target, weight, predictor, out)
    return out


def expectation_of(family, target, weight, mean, variance):
    by_mean, by_variance = np.full((2, len(mean)), np.nan)
    value = family.row_expectation(target, weight, mean, variance, by_mean, by_variance)
    return value, by_mean, by_variance


# ---- one row ------------------------------------------------------------------------------------


@every_row
@seeds
def test_gradient_is_the_numerical_one(family, seed, scale):
    target, weight, f, _ = draw(family, seed, scale)
    numerical = numerical_gradient(lambda x: value_of(family, target, weight, x), f, 1e-3)
    # Differences of large values have their rounding errors.
    rounding = 4 * np.finfo(float).eps * np.abs(value_of(family, target, weight, f)).max() / 1e-3
    np.testing.assert_allclose(
        gradient_of(family, target, weight, f), numerical, rtol=1e-8, atol=1e-8 + rounding
    )


@every_row
@seeds
def test_expectation_has_its_numerical_derivatives(family, seed, scale):
    target, weight, mean, variance = draw(family, seed, min(scale, 2.0))
    variance = variance + 0.1  # room for a step down
    _, by_mean, by_variance = expectation_of(family, target, weight, mean, variance)
    numerical = numerical_gradient(
        lambda x: expectation_of(family, target, weight, x, variance)[0], mean, 1e-3
    )
    np.testing.assert_allclose(by_mean, numerical, rtol=1e-7, atol=1e-8)
    numerical = numerical_gradient(
        lambda x: expectation_of(family, target, weight, mean, x)[0], variance, 1e-3
    )
    np.testing.assert_allclose(by_variance, numerical, rtol=1e-7, atol=1e-8)
    assert np.all(by_variance <= 0.0)  # uncertainty never helps


@every_row
@seeds
def test_expectation_without_variance_is_the_log_likelihood(family, seed, scale):
    target, weight, f, _ = draw(family, seed, scale)
    value, by_mean, _ = expectation_of(family, target, weight, f, np.zeros(len(f)))
    exact = value_of(family, target, weight, f)
    assert value == pytest.approx(exact, rel=1e-12, abs=1e-12)
    np.testing.assert_allclose(
        by_mean, gradient_of(family, target, weight, f), rtol=1e-9, atol=1e-10
    )


@every_row
def test_weight_zero_is_nothing(family):
    target, _, mean, variance = draw(family, 3)
    none = np.zeros(len(target))
    assert value_of(family, target, none, mean) == 0.0
    assert not np.any(gradient_of(family, target, none, mean))
    value, by_mean, by_variance = expectation_of(family, target, none, mean, variance)
    assert value == 0.0 and not np.any(by_mean) and not np.any(by_variance)
    value, gradient = likelihood_rows(for_kernels(family), target[None], none[None], mean[None])
    assert value[0] == 0.0 and not np.any(gradient)


@every_row
@pytest.mark.parametrize("size", [30.0, 300.0, 700.0])
def test_extreme_predictors_do_not_overflow(family, size):
    target, weight, f, _ = draw(family, 5)
    for predictor in (np.sign(f) * size, np.full(len(f), size), np.full(len(f), -size)):
        assert np.isfinite(value_of(family, target, weight, predictor))
        assert np.all(np.isfinite(gradient_of(family, target, weight, predictor)))
        for variance in (0.0, 1.0, 1e4):
            parts = expectation_of(family, target, weight, predictor, np.full(len(f), variance))
            assert all(np.all(np.isfinite(part)) for part in parts)


@pytest.mark.parametrize("family", [*ROWS.values(), NegativeBinomial(1.7)], ids=[*ROWS, "outside"])
def test_compiled_equals_python(family):
    cases = [
        draw(Poisson() if isinstance(family, NegativeBinomial) else family, s) for s in range(9)
    ]
    y, w, m, v = (np.array(part) for part in zip(*cases, strict=True))
    w[0] = 0.0
    m[1:3] *= 40.0
    compiled = for_kernels(family)
    value, gradient = likelihood_rows(compiled, y, w, m)
    expected, by_mean, by_variance = expectation_rows(compiled, y, w, m, v)
    for d in range(len(y)):
        tolerance = {"rtol": 1e-13, "atol": 1e-14}
        exact = value_of(family, y[d], w[d], m[d])
        np.testing.assert_allclose(value[d], exact, **tolerance)
        np.testing.assert_allclose(gradient[d], gradient_of(family, y[d], w[d], m[d]), **tolerance)
        parts = expectation_of(family, y[d], w[d], m[d], v[d])
        for mine, theirs in zip((expected, by_mean, by_variance), parts, strict=True):
            np.testing.assert_allclose(mine[d], theirs, **tolerance)
    width = m.shape[1]
    nothing = likelihood_rows(compiled, y[:0], w[:0], m[:0])
    assert nothing[0].shape == (0,) and nothing[1].shape == (0, width)


# ---- classes ------------------------------------------------------------------------------------


def test_two_classes_are_a_bernoulli_target():
    one = np.array([1.3])
    for y in (np.array([0.0]), np.array([1.0])):
        for g in (-40.0, -2.0, 0.0, 0.7, 40.0):
            f = np.array([-0.5 * g, 0.5 * g])
            value = value_of(Bernoulli(), y, one, np.array([g]))
            assert value_of(Categorical(2), y, one, f) == pytest.approx(value, rel=1e-12)
            low, high = gradient_of(Categorical(2), y, one, f)
            slope = gradient_of(Bernoulli(), y, one, np.array([g]))[0]
            # ∂/∂g = ½(∂/∂f_1 - ∂/∂f_0), and nothing changes with both.
            assert 0.5 * (high - low) == pytest.approx(slope, rel=1e-12, abs=1e-15)
            assert high + low == pytest.approx(0.0, abs=1e-15)
            assert Categorical(2).mean(f[None])[0, 1] == pytest.approx(
                Bernoulli().mean(np.array([g]))[0], rel=1e-12
            )


@given(seed=st.integers(0, 2**32 - 1), n_classes=st.integers(2, 6))
def test_classes_are_normalised_and_only_differences_count(seed, n_classes):
    rng = np.random.default_rng(seed)
    family, f, one = Categorical(n_classes), 3 * rng.normal(size=n_classes), np.ones(1)
    log_p = [value_of(family, np.array([float(c)]), one, f) for c in range(n_classes)]
    np.testing.assert_allclose(np.exp(log_p).sum(), 1.0, rtol=1e-13)
    np.testing.assert_allclose(family.mean(f[None])[0], np.exp(log_p), rtol=1e-12)
    shifted = value_of(family, np.array([1.0]), one, f + 5.0)
    assert shifted == pytest.approx(log_p[1], rel=1e-12)
    score = sum(
        np.exp(log_p[c]) * gradient_of(family, np.array([float(c)]), one, f)
        for c in range(n_classes)
    )
    np.testing.assert_allclose(score, 0.0, atol=1e-14)


@given(seed=st.integers(0, 2**32 - 1), n_topics=st.integers(1, 7))
def test_initial_coef_of_classes(seed, n_topics):
    rng = np.random.default_rng(seed)
    y, weight = rng.integers(3, size=20).astype(float), rng.uniform(0.5, 2.0, 20)
    coef = Categorical(3).initial_coef(y, weight, n_topics)
    assert coef.shape == (n_topics, 3)
    assert np.all(np.isfinite(coef))
    np.testing.assert_allclose(coef.sum(axis=1), 0.0, atol=1e-12)
    unknown = Categorical(3).initial_coef(np.append(y, 2.0), np.append(weight, 0.0), n_topics)
    np.testing.assert_allclose(unknown, coef, rtol=1e-12)
    if n_topics > 1:
        assert np.abs(np.diff(coef, axis=0)).max() > 1.0


# ---- several targets ----------------------------------------------------------------------------


@seeds
def test_several_is_the_sum_of_its_parts(seed, scale):
    target, weight, mean, variance = draw(ALL_FIVE, seed, scale)
    value, total = 0.0, 0.0
    slope, by_mean, by_variance = np.full((3, len(mean)), np.nan)
    for t, (own, where) in enumerate(ALL_FIVE.split()):
        here = (target[t : t + 1], weight[t : t + 1])
        value += value_of(own, *here, mean[where])
        slope[where] = gradient_of(own, *here, mean[where])
        more, by_mean[where], by_variance[where] = expectation_of(
            own, *here, mean[where], variance[where]
        )
        total += more
    exact = value_of(ALL_FIVE, target, weight, mean)
    assert exact == pytest.approx(value, rel=1e-13, abs=1e-13)
    np.testing.assert_array_equal(gradient_of(ALL_FIVE, target, weight, mean), slope)
    parts = expectation_of(ALL_FIVE, target, weight, mean, variance)
    assert parts[0] == pytest.approx(total, rel=1e-13, abs=1e-13)
    np.testing.assert_array_equal(parts[1], by_mean)
    np.testing.assert_array_equal(parts[2], by_variance)


def test_several_and_split_are_inverse():
    families = [Categorical(4), Ordinal(np.array([-1.0, 2.0])), Gaussian(0.3), Bernoulli()]
    families += [Poisson(), Gaussian(7.0), Categorical(2)]
    both = Multiple.of(families)
    assert isinstance(both, Multiple)
    assert both.n_predictors == 4 + 5 + 2
    at = 0
    for family, (own, where) in zip(families, both.split(), strict=True):
        assert where == slice(at, at + family.n_predictors)
        at = where.stop
        assert type(own) is type(family)
        for mine, theirs in zip(own, family, strict=True):
            np.testing.assert_array_equal(mine, theirs)


def test_an_outside_family_cannot_be_one_of_several():
    with pytest.raises(TypeError, match="NegativeBinomial cannot be one of several"):
        Multiple.of([Gaussian(1.0), NegativeBinomial(1.0)])


def several_case(family, seed, size=30):
    """Documents x targets, documents x predictors, and weights of which some are zero."""
    cases = [draw(family, 1000 * seed + i) for i in range(size)]
    y, w, m, v = (np.array(part) for part in zip(*cases, strict=True))
    return y, m, v, w


def expected_sum(family, y, mean, variance, weight):
    return expectation_rows(family, y, weight, mean, variance)[0].sum()


@settings(max_examples=20)
@given(seed=st.integers(0, 1000))
def test_free_gradient_of_several_is_the_numerical_one(seed):
    case = several_case(ALL_FIVE, seed, 8)
    at = ALL_FIVE.free_parameters()
    assert len(at) == 1 + 4  # δ and four thresholds
    numerical = numerical_gradient(
        lambda x: expected_sum(ALL_FIVE.with_free_parameters(x), *case), at, 1e-3
    )
    np.testing.assert_allclose(ALL_FIVE.free_gradient(*case), numerical, rtol=1e-7, atol=1e-6)
    back = ALL_FIVE.with_free_parameters(at)
    for mine, theirs in zip(back, ALL_FIVE, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_update_dispersion_of_several_is_that_of_each(seed):
    y, m, v, w = case = several_case(ALL_FIVE, seed)
    best = ALL_FIVE.update_dispersion(*case)
    assert expected_sum(best, *case) > expected_sum(ALL_FIVE, *case)
    for t, ((own, where), (old, _)) in enumerate(zip(best.split(), ALL_FIVE.split(), strict=True)):
        if own.n_predictors == 1:
            l, known = where.start, w[:, t] > 0
            assert not known.all()
            alone = old.update_dispersion(y[known, t], m[known, l], v[known, l], w[known, t])
            for mine, theirs in zip(own, alone, strict=True):
                np.testing.assert_allclose(mine, theirs, rtol=1e-10)


def test_a_target_that_nobody_has_keeps_its_family():
    y, m, v, w = several_case(ALL_FIVE, 1)
    w[:, [0, 3]] = 0.0
    best = ALL_FIVE.update_dispersion(y, m, v, w)
    np.testing.assert_array_equal(best.parameters, ALL_FIVE.parameters)
    np.testing.assert_array_equal(ALL_FIVE.free_gradient(y, m, v, w), np.zeros(5))
