"""digamma, trigamma, exp(digamma), log and log B against scipy and numpy."""

import numpy as np
import pytest
import scipy.special
from hypothesis import given
from hypothesis import strategies as st
from kernel_cases import entry

from topicfocus.kernels.special import (
    apply_elementwise,
    dirichlet_log_normaliser,
    exp_digamma,
    exp_in_place,
    log_in_place,
)

dirichlet_log_normaliser, exp_digamma = entry(dirichlet_log_normaliser), entry(exp_digamma)
exp_in_place, log_in_place = entry(exp_in_place), entry(log_in_place)

#: The positive root of ψ.
ROOT = 1.4616321449683623


def dense_grid() -> np.ndarray:
    """1e-8..1e8: logarithmic, linear where the recurrence works, and around the root of ψ."""
    return np.concatenate(
        [
            np.logspace(-8, 8, 40_001),
            np.linspace(0.01, 12.0, 20_001),
            ROOT + np.linspace(-1e-3, 1e-3, 2_001),
            ROOT + np.linspace(-1e-9, 1e-9, 201),
            # Both sides of every point where the number of recurrence steps changes.
            np.nextafter(np.arange(1.0, 12.0), 0.0),
            np.arange(1.0, 12.0),
            np.nextafter(np.arange(1.0, 12.0), np.inf),
        ]
    )


def error(actual: np.ndarray, expected: np.ndarray) -> float:
    """The largest error, absolute or relative, whichever is smaller."""
    return float(np.max(np.abs(actual - expected) / np.maximum(1.0, np.abs(expected))))


@pytest.mark.parametrize(
    ("which", "twin"),
    [(0, scipy.special.digamma), (1, lambda x: scipy.special.polygamma(1, x))],
    ids=["digamma", "trigamma"],
)
def test_polygamma_on_a_dense_grid(which, twin):
    x = dense_grid()
    assert error(apply_elementwise(x, which), twin(x)) < 1e-12


@pytest.mark.parametrize("which", [0, 1], ids=["digamma", "trigamma"])
@given(x=st.floats(1e-8, 1e8))
def test_polygamma_recurrence(which, x):
    """ψ(x+1) = ψ(x) + 1/x and ψ'(x+1) = ψ'(x) - 1/x², an oracle that is not scipy."""
    here, there = apply_elementwise(np.array([x, x + 1.0]), which)
    step = 1.0 / x if which == 0 else -1.0 / x**2
    # x + 1 is rounded: allow for one half ulp of it.
    assert abs(there - (here + step)) <= 1e-12 * max(1.0, abs(here), abs(step))


@pytest.mark.parametrize("size", [1, 3, 4, 5, 8, 50])
def test_exp_digamma_fast_path(size):
    """All entries at least 0.2: the vectorised series."""
    x = np.concatenate([np.logspace(np.log10(0.2), 8, 3_000), np.linspace(0.2, 12.0, 3_000)])
    x = x[: len(x) - len(x) % size].reshape(-1, size)
    x = np.maximum(x, 0.2)
    out = np.empty(size)
    for row in x:
        exp_digamma(row, out)
        np.testing.assert_allclose(out, np.exp(scipy.special.digamma(row)), rtol=1e-10)


def test_exp_digamma_small_arguments():
    x = np.logspace(-2.5, np.log10(0.2), 2_000)
    out = np.empty_like(x)
    exp_digamma(x, out)
    psi = scipy.special.digamma(x)
    # exp turns the absolute error of ψ, a few ulp of |ψ|, into a relative one.
    np.testing.assert_allclose(out, np.exp(psi), rtol=1e-12)


def test_exp_digamma_underflows_to_zero():
    out = np.full(2, np.nan)
    exp_digamma(np.array([1e-8, 2.0]), out)
    assert out[0] == 0.0
    assert out[1] == pytest.approx(np.exp(scipy.special.digamma(2.0)), rel=1e-12)


@given(st.lists(st.floats(2e-3, 1e8), min_size=1, max_size=40))
def test_exp_digamma_mixed_vectors(values):
    """Entries on both sides of the switch, in one vector."""
    x = np.array(values)
    out = np.empty_like(x)
    exp_digamma(x, out)
    np.testing.assert_allclose(out, np.exp(scipy.special.digamma(x)), rtol=1e-10)


def test_exp_digamma_single_precision_output():
    x = np.logspace(-1, 6, 500)
    out = np.empty(500, dtype=np.float32)
    exp_digamma(x, out)
    np.testing.assert_allclose(out, np.exp(scipy.special.digamma(x)), rtol=3e-7)


def test_log_in_place_on_a_dense_grid():
    x = np.concatenate(
        [
            np.logspace(-300, 300, 60_001),
            1.0 + np.linspace(-1e-3, 1e-3, 2_001),
            1.0 + np.linspace(-1e-13, 1e-13, 201),
            np.linspace(0.5, 2.5, 20_001),
            # Both sides of √½ and √2, where the exponent changes, and of powers of two.
            *(
                np.array([np.nextafter(edge, 0.0), edge, np.nextafter(edge, np.inf)])
                for edge in (np.sqrt(0.5), np.sqrt(2.0), 0.25, 0.5, 1.0, 2.0, 4.0, 2.0**-1000)
            ),
        ]
    )
    expected = np.log(x)
    out = x.copy()
    log_in_place(out, len(out), np.empty(len(out), dtype=np.int64))
    np.testing.assert_allclose(out, expected, rtol=2e-15, atol=2e-15)
    near = np.abs(x - 1.0) < 1e-3
    np.testing.assert_allclose(out[near], expected[near], rtol=1e-14, atol=0.0)


@given(st.lists(st.floats(1e-300, 1e300), max_size=30), st.integers(0, 5))
def test_log_in_place_leaves_the_rest_alone(values, beyond):
    x = np.concatenate([values, np.full(beyond, 7.0)])
    n = len(values)
    expected = np.log(x[:n])
    log_in_place(x, n, np.empty(len(x), dtype=np.int64))
    np.testing.assert_allclose(x[:n], expected, rtol=1e-14, atol=1e-14)
    assert np.all(x[n:] == 7.0)


@given(st.lists(st.floats(1e-6, 1e7), min_size=1, max_size=12))
def test_dirichlet_log_normaliser(values):
    gamma = np.array(values)
    parts = scipy.special.gammaln(gamma)
    whole = scipy.special.gammaln(gamma.sum())
    scale = 1.0 + np.abs(parts).sum() + abs(whole)
    assert abs(dirichlet_log_normaliser(gamma) - (parts.sum() - whole)) < 1e-13 * scale


def test_dirichlet_log_normaliser_of_a_beta():
    """B(a, b) itself, through scipy's own beta function."""
    value = dirichlet_log_normaliser(np.array([2.5, 0.3]))
    assert value == pytest.approx(np.log(scipy.special.beta(2.5, 0.3)), rel=1e-13)
    assert dirichlet_log_normaliser(np.array([3.7])) == pytest.approx(0.0, abs=1e-15)


def test_exp_in_place_on_a_dense_grid():
    halves = -np.arange(0, 1010) * (np.log(2.0) / 2)  # where the power of two changes
    edges = np.concatenate([halves, np.nextafter(halves, -np.inf), np.nextafter(halves, 0.0)])
    x = np.concatenate([-np.logspace(-300, 2.8, 60_001), -np.linspace(0, 40, 40_001), [-0.0]])
    x = np.concatenate([x, edges[edges <= 0]])
    x = x[x > -700]
    out = x.copy()
    exp_in_place(out, len(out), np.empty(len(out), dtype=np.int64))
    np.testing.assert_allclose(out, np.exp(x), rtol=2e-13)
    near = x > -1.0
    np.testing.assert_allclose(out[near], np.exp(x[near]), rtol=1e-14)


def test_exp_in_place_of_what_is_as_good_as_nothing():
    x = np.array([-700.0, -745.0, -1e9, -np.inf, -1.0, 7.0])
    exp_in_place(x, 5, np.empty(6, dtype=np.int64))
    assert np.all((x[:4] > 0) & (x[:4] < 1e-300))
    assert x[4] == pytest.approx(np.exp(-1.0), rel=1e-14)
    assert x[5] == 7.0
