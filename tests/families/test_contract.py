"""What every family must fulfil: those of the package, and one that the package does not know."""

import math
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from outside_family import NegativeBinomial

from topicfocus.families import (
    FAMILIES,
    Bernoulli,
    Family,
    Gaussian,
    Ordinal,
    Poisson,
    for_kernels,
)
from topicfocus.kernels.likelihood import expectation_rows, likelihood_table

CASES = {
    **FAMILIES,
    "narrow gaussian": Gaussian(0.03),
    "two levels": Ordinal(np.array([0.4])),
    "outside": NegativeBinomial(1.7),
}

#: The values a family's targets take; "real" is the whole line. A new family needs a line here.
SUPPORT = {
    Gaussian: "real",
    Bernoulli: [0.0, 1.0],
    Poisson: [float(y) for y in range(400)],
    Ordinal: [0.0, 1.0, 2.0, 3.0, 4.0],
    NegativeBinomial: [float(y) for y in range(4000)],
}

every_family = pytest.mark.parametrize("family", CASES.values(), ids=CASES.keys())
few = settings(max_examples=40)  # of each of seven families


def support_of(family):
    support = SUPPORT[type(family)]
    return support[: len(family.thresholds) + 1] if isinstance(family, Ordinal) else support


def same(one, other, rel=1e-12) -> bool:
    """Of one type and with the same parameters, arrays among them."""
    return type(one) is type(other) and all(
        np.shape(a) == np.shape(b) and np.allclose(a, b, rtol=rel, atol=0.0)
        for a, b in zip(one, other, strict=True)
    )


def average(family, predictor, function) -> float:
    """E[function(y) | f], by quadrature or by a sum over the support."""
    support = support_of(family)

    def term(y):
        return function(y) * math.exp(family.log_likelihood(y, predictor))

    if support == "real":
        # The trapezoidal rule is exact to rounding for a smooth density that vanishes at both ends.
        step = 0.01
        return step * math.fsum(term(predictor + step * i) for i in range(-3000, 3001))
    return math.fsum(term(y) for y in support)


def some_targets(family) -> np.ndarray:
    support = support_of(family)
    return np.array([-3.0, 0.0, 0.4, 5.0] if support == "real" else support[:5])


def difference(function, x: float, step: float) -> float:
    """A derivative by central differences with one Richardson extrapolation."""
    coarse = (function(x + 2 * step) - function(x - 2 * step)) / (4 * step)
    fine = (function(x + step) - function(x - step)) / (2 * step)
    return (4 * fine - coarse) / 3


# ---- called from kernels ----------------------------------------------------------------------


@every_family
@pytest.mark.parametrize("predictor", [-4.0, -0.7, 0.0, 1.3, 4.0])
def test_likelihood_is_normalised(family, predictor):
    assert average(family, predictor, lambda y: 1.0) == pytest.approx(1.0, abs=1e-9)


@every_family
@pytest.mark.parametrize("predictor", [-4.0, -0.7, 0.0, 1.3, 4.0])
def test_mean_response_is_the_mean(family, predictor):
    mean = family.mean(np.array([predictor]))
    assert mean.shape == (1,)
    assert average(family, predictor, lambda y: y) == pytest.approx(mean[0], abs=1e-8)


@every_family
@pytest.mark.parametrize("predictor", [-4.0, 0.0, 1.3])
def test_score_has_mean_zero_and_variance_the_information(family, predictor):
    """E[ℓ'] = 0 and E[ℓ'²] = -E[ℓ''], true of every likelihood."""
    score = average(family, predictor, lambda y: family.derivatives(y, predictor)[0])
    square = average(family, predictor, lambda y: family.derivatives(y, predictor)[0] ** 2)
    curvature = average(family, predictor, lambda y: family.derivatives(y, predictor)[1])
    assert score == pytest.approx(0.0, abs=1e-7)
    assert square == pytest.approx(-curvature, rel=1e-6)


@every_family
@pytest.mark.parametrize(
    "predictor", [-30.0, -12.0, -3.0, -0.5, -1e-3, 0.0, 1e-3, 0.2, 2.0, 9.0, 30.0]
)
def test_derivatives_are_the_numerical_ones(family, predictor):
    for target in some_targets(family):
        first, second, third = family.derivatives(target, predictor)
        step = 1e-3

        def value(f, target=target):
            return family.log_likelihood(target, f)

        def slope(f, order, target=target):
            return family.derivatives(target, f)[order]

        # Rounding of a difference is an ulp of the function over the step.
        for analytic, numerical, size in [
            (first, difference(value, predictor, step), abs(value(predictor))),
            (second, difference(lambda f: slope(f, 0), predictor, step), abs(first)),
            (third, difference(lambda f: slope(f, 1), predictor, step), abs(second)),
        ]:
            rounding = 1e-15 * (1.0 + size) / step
            assert abs(analytic - numerical) <= 1e-9 * abs(analytic) + 10 * rounding


@every_family
@pytest.mark.parametrize("predictor", [-700.0, -300.0, -30.0, 30.0, 300.0, 700.0])
def test_extreme_predictors_do_not_overflow(family, predictor):
    for target in some_targets(family):
        numbers = (
            family.log_likelihood(target, predictor),
            *family.derivatives(target, predictor),
        )
        assert np.all(np.isfinite(numbers))
        assert numbers[2] <= 0.0  # concave
    assert np.all(np.isfinite(family.mean(np.array([predictor]))))


def test_bernoulli_tails():
    """log(1 + e^f) and p(1-p) have the right relative size where 1 + e^f is 1 to the last bit."""
    tail = math.exp(-40.0)
    assert Bernoulli().log_likelihood(0.0, -40.0) == pytest.approx(-tail, rel=1e-12, abs=0.0)
    assert Bernoulli().log_likelihood(1.0, 40.0) == pytest.approx(0.0, abs=1e-14)
    assert Bernoulli().log_likelihood(1.0, -700.0) == -700.0
    for target, predictor in [(0.0, -40.0), (1.0, 40.0)]:
        _, second, third = Bernoulli().derivatives(target, predictor)
        assert second == pytest.approx(-tail, rel=1e-12, abs=0.0)
        assert abs(third) == pytest.approx(tail, rel=1e-12, abs=0.0)


@every_family
def test_likelihood_table(family):
    targets = np.repeat(some_targets(family), 9)
    predictors = np.resize([-700.0, -30.0, -2.5, 0.0, 0.3, 2.0, 8.0, 30.0, 600.0], len(targets))
    table = likelihood_table(family, targets, predictors)
    for d, (y, f) in enumerate(zip(targets, predictors, strict=True)):
        expected = [family.log_likelihood(y, f), *family.derivatives(y, f)]
        np.testing.assert_allclose([part[d] for part in table], expected, rtol=1e-13, atol=1e-14)


# ---- the expected log-likelihood --------------------------------------------------------------

moments = pytest.mark.parametrize(
    ("mean", "variance"),
    [(0.0, 0.3), (0.4, 0.01), (-1.5, 2.0), (3.0, 0.5), (-6.0, 4.0), (1e-5, 1e-9), (2e-4, 3e-8)],
)


@every_family
def test_expectation_is_smooth_where_mean_and_variance_vanish(family):
    """No jump where a series takes over from a formula that would divide by zero."""
    for target in some_targets(family):
        at_zero = family.expectation(target, 0.0, 0.0)
        for variance in np.logspace(-14, -6, 33):
            near = family.expectation(target, 0.0, float(variance))
            assert np.all(np.isfinite(near))
            np.testing.assert_allclose(near, at_zero, rtol=0.0, atol=1e-9 + 30.0 * variance)


def normal_average(family, target, mean, variance) -> float:
    """E[log p(y | f)] for f ~ Normal(mean, variance), by Gauss-Hermite quadrature."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    values = [family.log_likelihood(target, mean + math.sqrt(variance) * x) for x in nodes]
    return float(weights @ values / weights.sum())


@moments
def test_expectation_is_exact_for_a_gaussian(mean, variance):
    for target in (-3.0, 0.0, 2.0):
        exact = normal_average(Gaussian(0.7), target, mean, variance)
        value = Gaussian(0.7).expectation(target, mean, variance)[0]
        assert value == pytest.approx(exact, rel=1e-12)


@pytest.mark.parametrize("name", ["bernoulli", "ordinal"])
@given(
    mean=st.floats(-40.0, 40.0),
    variance=st.floats(0.0, 400.0),
    share=st.floats(0.01, 0.99),
    place=st.integers(0, 4),
)
def test_expectation_is_a_lower_bound(name, mean, variance, share, place):
    """Whatever the distribution of f: a normal, and two points with that mean and variance."""
    family = FAMILIES[name]
    target = SUPPORT[type(family)][place % len(SUPPORT[type(family)])]
    value = family.expectation(target, mean, variance)[0]
    sd = math.sqrt(variance)
    high = family.log_likelihood(target, mean + sd * math.sqrt((1 - share) / share))
    low = family.log_likelihood(target, mean - sd * math.sqrt(share / (1 - share)))
    slack = 1e-12 * (1.0 + abs(value))
    assert value <= share * high + (1 - share) * low + slack
    assert value <= normal_average(family, target, mean, variance) + 1e-9 * (1.0 + abs(value))


@moments
def test_expectation_is_that_of_a_normal_predictor_for_a_poisson(mean, variance):
    """Not a bound: a predictor of another law with these moments may do better or worse."""
    for target in (0.0, 1.0, 7.0):
        exact = normal_average(Poisson(), target, mean, variance)
        value = Poisson().expectation(target, mean, variance)[0]
        assert value == pytest.approx(exact, rel=1e-10)


@moments
def test_expectation_defaults_to_the_second_order_expansion(mean, variance):
    family = NegativeBinomial(1.7)
    for target in (0.0, 3.0):
        first, second, third = family.derivatives(target, mean)
        expected = (
            family.log_likelihood(target, mean) + 0.5 * second * variance,
            first + 0.5 * third * variance,
            0.5 * second,
        )
        assert family.expectation(target, mean, variance) == pytest.approx(expected, rel=1e-14)


# ---- called between kernels -------------------------------------------------------------------


def drawn_targets(family, rng, size) -> np.ndarray:
    if support_of(family) == "real":
        return rng.normal(1.0, 2.0, size=size)
    return rng.choice(some_targets(family), size=size)


@every_family
def test_mean_response_is_elementwise(family):
    f = np.linspace(-3.0, 3.0, 6).reshape(2, 3)
    mean = family.mean(f)
    assert mean.shape == (2, 3)
    singles = [family.mean(np.array([x]))[0] for x in f.ravel()]
    np.testing.assert_allclose(mean.ravel(), singles, rtol=1e-14)
    assert np.all(np.diff(mean.ravel()) > 0)


@every_family
@few
@given(seed=st.integers(0, 2**32 - 1), n_topics=st.integers(1, 12), size=st.integers(1, 30))
def test_initial_coef(family, seed, n_topics, size):
    rng = np.random.default_rng(seed)
    y = drawn_targets(family, rng, size)
    weight = rng.choice([1.0, 0.5, 2.0], size=size)
    coef = family.initial_coef(y, weight, n_topics)
    assert coef.shape == (n_topics,)
    assert np.all(np.isfinite(coef))
    assert np.all(np.diff(coef) >= 0.0)
    # Documents without a target (weight 0) have no say.
    more = family.initial_coef(
        np.concatenate([y, np.full(5, y.max())]),
        np.concatenate([weight, np.zeros(5)]),
        n_topics,
    )
    np.testing.assert_allclose(more, coef, rtol=1e-12)


def expected_total(family, y, mean, variance, weight) -> float:
    """Σ w E[log p(y | f)]."""
    columns = (part[:, None] for part in (y, weight, mean, variance))
    return float(expectation_rows(for_kernels(family), *columns)[0].sum())


def dispersion_case(family, seed, size):
    """Targets, means and variances of predictors, weights; every target occurs, if it is a level.

    A level that nobody has would let its threshold go to infinity.
    """
    rng = np.random.default_rng(seed)
    y = drawn_targets(family, rng, size)
    y[0] = max(y[0], 1.0)  # a count somewhere
    if isinstance(family, Ordinal):
        y = np.concatenate([y, support_of(family)])
    size = len(y)
    return y, rng.normal(size=size), rng.exponential(size=size), rng.uniform(0.1, 3.0, size=size)


@every_family
@settings(max_examples=10)  # an optimisation each
@given(seed=st.integers(0, 2**32 - 1), size=st.integers(2, 20))
def test_update_dispersion_maximises(family, seed, size):
    case = dispersion_case(family, seed, size)
    best = family.update_dispersion(*case)
    assert type(best) is type(family)
    if len(family.free_parameters()) == 0:
        assert best == family
        return

    def total(free):
        return expected_total(best.with_free_parameters(free), *case)

    at = best.free_parameters()
    top = total(at)
    assert top >= expected_total(family, *case) - 1e-12 * abs(top)
    # At an end of its range (a size without limit, two thresholds that meet) it is no peak.
    inside = np.abs(at) < (5.0 if isinstance(family, (Ordinal, NegativeBinomial)) else 1e3)
    for i in np.flatnonzero(inside):
        for shift in (-2.0, -0.3, -0.01, 0.01, 0.3, 2.0):
            slack = 0.0 if isinstance(family, Gaussian) else 1e-9 * abs(top)
            assert total(at + shift * (np.arange(len(at)) == i)) < top + slack
        slope = difference(lambda x, i=i: total(at + x * (np.arange(len(at)) == i)), 0.0, 1e-3)
        # What a Newton step could still gain is the slope's square; L-BFGS stops on the gain.
        near = {Gaussian: 1e-8, Ordinal: 1e-3}.get(type(family), 1e-6)
        assert slope == pytest.approx(0.0, abs=near * (1.0 + abs(top)))
    # Where it started from does not matter.
    if np.all(inside):
        start = family.with_free_parameters(family.free_parameters() + 1.0)
        again = start.update_dispersion(*case)
        assert expected_total(again, *case) == pytest.approx(top, rel=1e-6)
        if isinstance(family, Gaussian):
            assert same(again, best)


@pytest.mark.parametrize("far", [0.0, 30.0, 200.0])
def test_update_dispersion_never_lowers_an_ordinal_likelihood(far):
    """Also where the levels are so far from the thresholds that σ(a) - σ(b) is nothing but zero."""
    family = FAMILIES["ordinal"]
    for seed in (0, 1, 2, 9):
        y, mean, variance, weight = dispersion_case(family, seed, 12)
        case = (y, mean + far, variance, weight)
        best = family.update_dispersion(*case)
        assert np.all(np.diff(best.thresholds) > 0)
        assert expected_total(best, *case) > expected_total(family, *case)


def test_noise_variance_has_a_floor():
    """A perfect fit would let the likelihood grow without bound."""
    y = np.array([1.0, 2.0, 3.0])
    best = Gaussian(1.0).update_dispersion(y, y, np.zeros(3), np.ones(3))
    assert 0.0 < best.noise_variance < 1e-5
    flat = Gaussian(1.0).update_dispersion(np.ones(3), np.ones(3), np.zeros(3), np.ones(3))
    assert flat.noise_variance > 0.0


@every_family
@few
@given(seed=st.integers(0, 2**32 - 1), size=st.integers(1, 12))
def test_free_gradient_is_the_numerical_one(family, seed, size):
    case = dispersion_case(family, seed, size)
    at = family.free_parameters()
    gradient = family.free_gradient(*case)
    assert gradient.shape == at.shape
    for i in range(len(at)):

        def total(x, i=i):
            moved = family.with_free_parameters(at + x * (np.arange(len(at)) == i))
            return expected_total(moved, *case)

        scale = 1.0 + np.abs(case[3] @ (1.0 + np.abs(case[0])))
        numerical = difference(total, 0.0, 1e-3)
        assert gradient[i] == pytest.approx(numerical, rel=1e-7, abs=1e-8 * scale)
    # A document of weight zero has no say.
    more = family.free_gradient(
        *(np.append(a, b) for a, b in zip(case, (1.0, 0.5, 2.0, 0.0), strict=True))
    )
    np.testing.assert_allclose(more, gradient, rtol=1e-12, atol=1e-12)


@every_family
def test_free_parameters_and_back(family):
    free = family.free_parameters()
    assert free.ndim == 1
    assert same(family.with_free_parameters(free), family)
    moved = family.with_free_parameters(free + 0.3)
    np.testing.assert_allclose(moved.free_parameters(), free + 0.3, rtol=1e-12, atol=1e-14)
    assert same(moved, family) == (len(free) == 0)


@given(
    st.integers(1, 6).flatmap(lambda n: st.lists(st.floats(-800.0, 300.0), min_size=n, max_size=n))
)
def test_thresholds_stay_increasing_whatever_the_free_parameters(free):
    family = Ordinal(np.arange(float(len(free))))
    found = family.with_free_parameters(np.array(free))
    gaps = np.diff(found.thresholds)
    assert np.all(gaps > 0.0)
    for level in range(len(free) + 1):
        assert np.isfinite(found.log_likelihood(float(level), 0.3))


def test_level_probabilities():
    family = FAMILIES["ordinal"]
    f = np.array([[-2.0, 0.0, 3.0], [-40.0, 1.0, 40.0]])
    p = family.level_probabilities(f)
    assert p.shape == (2, 3, 5)
    np.testing.assert_allclose(p.sum(axis=-1), 1.0, rtol=1e-14)
    for i, j in np.ndindex(f.shape):
        expected = [math.exp(family.log_likelihood(float(y), f[i, j])) for y in range(5)]
        np.testing.assert_allclose(p[i, j], expected, rtol=1e-9, atol=1e-14)


def test_two_levels_are_a_bernoulli_target():
    """P(y = 1) = σ(f - τ)."""
    family = Ordinal(np.array([0.4]))
    for y in (0.0, 1.0):
        for f in (-50.0, -1.0, 0.4, 3.0, 50.0):
            value = Bernoulli().log_likelihood(y, f - 0.4)
            assert family.log_likelihood(y, f) == pytest.approx(value, rel=1e-14)
            slopes = Bernoulli().derivatives(y, f - 0.4)
            assert family.derivatives(y, f) == pytest.approx(slopes, rel=1e-13)


# ---- a family that defines nothing -------------------------------------------------------------


class _Scale(NamedTuple):
    scale: float = 1.0


class Empty(_Scale, Family):
    __slots__ = ()


@pytest.mark.parametrize(
    ("method", "arguments"),
    [
        ("log_likelihood", (1.0, 0.0)),
        ("derivatives", (1.0, 0.0)),
        ("mean", (np.zeros(2),)),
        ("initial_coef", (np.zeros(2), np.ones(2), 3)),
    ],
)
def test_an_error_names_the_missing_method(method, arguments):
    with pytest.raises(NotImplementedError, match=rf"Empty does not define '{method}'"):
        getattr(Empty(), method)(*arguments)


def test_a_kernel_names_the_missing_method():
    with pytest.raises(TypeError, match="Empty does not define 'log_likelihood'"):
        likelihood_table(Empty(), np.zeros(2), np.zeros(2))


def test_optional_methods_have_defaults():
    y = np.zeros(2)
    assert Empty().name == "empty"
    assert Empty().missing_methods() == ["log_likelihood", "derivatives", "mean"]
    assert Empty().update_dispersion(y, y, y, y) == Empty()
    assert Empty().free_parameters().shape == (0,)
    assert Empty().free_gradient(y, y, y, y).shape == (0,)
    assert Empty(2.0).with_free_parameters(np.zeros(0)) == Empty(2.0)
    assert Empty().n_predictors == 1
    assert Empty().split() == [(Empty(), slice(0, 1))]
