"""A class against the others: weights that make log odds an exact sum."""

import numpy as np
import pytest

from topicfocus.contributions import against_rest, contrast, log_odds, shared_out


@pytest.mark.parametrize("scale", [1e-12, 0.1, 3.0, 300.0])
def test_the_sum_is_exact(scale):
    rng = np.random.default_rng(0)
    before = rng.normal(0, 2, (50, 6))
    change = rng.normal(0, scale, (50, 6))
    change[:, 2] = 0.0
    moved = log_odds(before + change) - log_odds(before)
    for c in range(6):
        signs = contrast(before, before + change, c)
        near = {"rtol": 1e-9, "atol": 1e-11}
        np.testing.assert_allclose((signs * change).sum(axis=1), moved[:, c], **near)
        np.testing.assert_allclose(signs.sum(axis=1), 0.0, rtol=0, atol=1e-12)
        assert np.all(signs[:, c] == 1) and np.all(np.delete(signs, c, axis=1) <= 0)


def test_the_slope_of_log_odds():
    scores = np.random.default_rng(2).normal(0, 2, (10, 5))
    step = 1e-6
    for c in range(5):
        slope = against_rest(scores, c)
        for l in range(5):
            push = step * (np.arange(5) == l)
            moved = (log_odds(scores + push) - log_odds(scores - push))[:, c] / (2 * step)
            np.testing.assert_allclose(slope[:, l], moved, atol=1e-7)


@pytest.mark.parametrize("total", [-40.0, -0.3, 1e-9, 0.7, 25.0])
def test_what_is_shared_out_adds_up_with_the_signs_of_removal(total):
    rng = np.random.default_rng(3)
    owner = np.repeat(np.arange(4), 6)
    removal = rng.normal(0, 1, 24)
    removal[[0, 7]] = 0.0
    amounts = np.full(24, total / 6)
    found = shared_out(amounts, removal, owner, 4)
    np.testing.assert_allclose(np.bincount(owner, found), total, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(np.sign(found), np.sign(removal))


def test_one_sided_removals():
    owner = np.array([0, 0, 1, 1, 2])
    removal = np.array([1.0, 3.0, 1.0, 3.0, 0.0])
    amounts = np.array([1.0, 1.0, -1.0, -1.0, 0.0])
    found = shared_out(amounts, removal, owner, 3)
    # Scaled where the sum has their sign; where it has the other, the amounts have to do.
    np.testing.assert_allclose(found, [0.5, 1.5, -1.0, -1.0, 0.0])
    np.testing.assert_array_equal(shared_out(np.zeros(0), np.zeros(0), np.zeros(0, int), 2), [])
