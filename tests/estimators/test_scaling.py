"""Scaling of targets: transformation of models, outliers, files."""

import numpy as np
import pytest

from topicfocus.estimators.scaling import TargetScaling
from topicfocus.families import Gaussian

RNG = np.random.default_rng(0)
Y = RNG.normal(4, 2, size=50)
ONES = np.ones(50)


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
