"""Scaling of targets: transformation of models, outliers, files."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from topicfocus.estimators.scaling import TargetScaling, weighted_median, weighted_std
from topicfocus.families import Gaussian

RNG = np.random.default_rng(0)
Y = RNG.normal(4, 2, size=50)
ONES = np.ones(50)


def test_weighted_median_and_standard_deviation():
    assert weighted_median(np.array([3.0, 1.0, 2.0, 9.0]), np.ones(4)) == 2.0
    assert weighted_median(np.array([3.0, 1.0]), np.array([5.0, 1.0])) == 3.0
    weight = RNG.integers(1, 5, size=50).astype(float)
    copies = np.repeat(Y, weight.astype(int))
    assert weighted_median(Y, weight) == weighted_median(copies, np.ones(len(copies)))
    assert_allclose(weighted_std(Y, weight), copies.std(), rtol=1e-12)


def test_digits_that_are_noise_are_no_outliers():
    noisy = np.repeat([0.0, 1.0], 25) + 1e-15 * RNG.normal(size=50)
    TargetScaling.estimate([Gaussian()], noisy[:, None], ONES)
    rare = np.zeros(50)
    rare[7] = 1e9  # all others are really the same
    TargetScaling.estimate([Gaussian()], rare[:, None], ONES)
    some = Y.copy()
    some[7] = 1e12
    with pytest.raises(ValueError, match="row 7 of y"):
        TargetScaling.estimate([Gaussian()], some[:, None], ONES)
