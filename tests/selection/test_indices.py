"""Indices of sets of words, against their definitions."""

import numpy as np
import pytest

from topicfocus.selection import nogueira_index
from topicfocus.selection.stability_measures import mean_jaccard


def test_nogueira_is_one_for_equal_sets_and_none_where_it_has_no_meaning():
    chosen = np.zeros((4, 10), dtype=bool)
    chosen[:, :3] = True
    assert nogueira_index(chosen) == pytest.approx(1.0)
    assert np.isnan(nogueira_index(np.ones((3, 5))))
    assert np.isnan(nogueira_index(chosen[:1]))


def test_nogueira_is_zero_for_random_sets_and_estimates_the_truth():
    """Words chosen independently with probabilities p: Φ is 1 - mean p(1-p) / (k/V (1 - k/V))."""
    rng = np.random.default_rng(0)
    p = np.concatenate([np.full(10, 0.9), np.full(10, 0.5), np.full(80, 0.05)])
    share = p.mean()
    truth = 1 - np.mean(p * (1 - p)) / (share * (1 - share))
    values = [nogueira_index(rng.random((30, 100)) < p) for _ in range(300)]
    assert np.mean(values) == pytest.approx(truth, abs=0.01)
    flat = [nogueira_index(rng.random((30, 100)) < 0.2) for _ in range(50)]
    assert np.mean(flat) == pytest.approx(0, abs=0.01)


def test_jaccard():
    a, b = np.array([[1, 1, 0, 0], [0, 1, 1, 1]], dtype=bool)
    assert mean_jaccard(np.array([a, b])) == 1 / 4
    assert mean_jaccard(np.zeros((2, 3))) == 1.0
    assert np.isnan(mean_jaccard(np.array([a])))
    assert mean_jaccard(np.array([a, b, b])) == pytest.approx((1 / 4 + 1 / 4 + 1) / 3)
