"""digamma, trigamma, exp(digamma), log and log B against scipy and numpy."""

import numpy as np
import pytest
import scipy.special
from hypothesis import given
from hypothesis import strategies as st
from kernel_cases import entry

from topicfocus.kernels.compile import kernel
from topicfocus.kernels.special import (
    digamma,
    dirichlet_log_normaliser,
    exp_digamma,
    exp_in_place,
    log_in_place,
    trigamma,
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


@kernel
def polygammas(x):
    values = np.empty((2, x.shape[0]))
    for i in range(x.shape[0]):
        values[0, i] = digamma(x[i])
        values[1, i] = trigamma(x[i])
    return values


def test_polygamma_on_a_dense_grid():
    x = dense_grid()
    psi, slope = polygammas(x)
    assert error(psi, scipy.special.digamma(x)) < 1e-12
    assert error(slope, scipy.special.polygamma(1, x)) < 1e-12


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


@given(st.lists(st.floats(2e-3, 1e8), min_size=1, max_size=40))
def test_exp_digamma_mixed_vectors(values):
    """Entries on both sides of the switch, in one vector."""
    x = np.array(values)
    out = np.empty_like(x)
    exp_digamma(x, out)
    np.testing.assert_allclose(out, np.exp(scipy.special.digamma(x)), rtol=1e-10)


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


@given(st.lists(st.floats(1e-6, 1e7), min_size=1, max_size=12))
def test_dirichlet_log_normaliser(values):
    gamma = np.array(values)
    parts = scipy.special.gammaln(gamma)
    whole = scipy.special.gammaln(gamma.sum())
    scale = 1.0 + np.abs(parts).sum() + abs(whole)
    assert abs(dirichlet_log_normaliser(gamma) - (parts.sum() - whole)) < 1e-13 * scale


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
