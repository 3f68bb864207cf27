"""Indices of sets of words and the bound on false ones, against their definitions."""

import numpy as np
import pytest

from topicfocus.selection import false_words_bound, nogueira_index
from topicfocus.selection.stability_measures import jaccard, masks, mean_jaccard


def test_nogueira_is_one_for_equal_sets_and_none_where_it_has_no_meaning():
    chosen = np.zeros((4, 10), dtype=bool)
    chosen[:, :3] = True
    assert nogueira_index(chosen).value == pytest.approx(1.0)
    assert np.isnan(nogueira_index(np.ones((3, 5))).value)
    assert np.isnan(nogueira_index(chosen[:1]).value)


def test_nogueira_is_zero_for_random_sets_and_its_interval_covers_the_truth():
    """Words chosen independently with probabilities p: Φ is 1 - mean p(1-p) / (k/V (1 - k/V))."""
    rng = np.random.default_rng(0)
    p = np.concatenate([np.full(10, 0.9), np.full(10, 0.5), np.full(80, 0.05)])
    share = p.mean()
    truth = 1 - np.mean(p * (1 - p)) / (share * (1 - share))
    inside, values = 0, []
    for _ in range(300):
        found = nogueira_index(rng.random((30, 100)) < p, level=0.9)
        inside += found.low <= truth <= found.high
        values.append(found.value)
    assert np.mean(values) == pytest.approx(truth, abs=0.01)
    assert 0.85 <= inside / 300 <= 0.95
    flat = [nogueira_index(rng.random((30, 100)) < 0.2).value for _ in range(50)]
    assert np.mean(flat) == pytest.approx(0, abs=0.01)


def test_jaccard():
    a, b = masks([["good", "bad"], ["good", "fair", "fun"]])
    assert jaccard(a, b) == 1 / 4
    assert jaccard(a & b & ~a, ~a & a) == 1.0
    assert np.isnan(mean_jaccard(np.array([a])))
    assert mean_jaccard(np.array([a, b, b])) == pytest.approx((1 / 4 + 1 / 4 + 1) / 3)


@pytest.mark.parametrize("threshold", [0.5, 1.01])
def test_the_threshold_of_the_bound(threshold):
    with pytest.raises(ValueError, match="threshold must be above"):
        false_words_bound(10, 100, threshold, 50)


@pytest.mark.parametrize("unimodal", [False, True])
@pytest.mark.parametrize("threshold", [0.6, 0.75, 0.9])
def test_the_bound_holds(threshold, unimodal):
    """10 words that halves keep almost always, 190 that they keep by chance, all independent."""
    rng = np.random.default_rng(1)
    p = np.concatenate([np.full(10, 0.95), np.full(190, 0.1)])
    pairs, false, kept = 25, [], []
    for _ in range(200):
        halves = rng.random((2 * pairs, 200)) < p
        often = halves.mean(axis=0) >= threshold
        false.append(often[10:].sum())
        kept.append(halves.sum(axis=1).mean())
    bound = false_words_bound(np.mean(kept), 200, threshold, pairs, unimodal)
    assert np.mean(false) <= bound
    assert bound < false_words_bound(np.mean(kept), 200, threshold - 0.05, pairs, unimodal)
