"""What words are kept by: the ridge path, the two views of a word, the cut."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import Ridge

from topicfocus.datasets import make_reviews
from topicfocus.focused.ridge import Signals, ridge_path
from topicfocus.focused.selection import least_discovery, select_stable_words, select_words
from topicfocus.focused.word_statistics import SignalSums, WordStatistics


@pytest.fixture(scope="module")
def reviews():
    data = make_reviews(1200, random_state=2)
    return data, sp.csr_array(data.counts.sqrt())


def signal_of(words, y, weight=None):
    return Signals(sp.csr_array(words), y.reshape(len(y), -1), weight)


def fit(words, y, penalties):
    return ridge_path(signal_of(words[:900], y[:900]), signal_of(words[900:], y[900:]), penalties)[
        0
    ]


def test_ridge_is_that_of_scikit_learn(reviews):
    data, words = reviews
    ours = fit(words, data.target, (30.0,))
    theirs = Ridge(30.0, solver="lsqr", tol=1e-10).fit(words[:900], data.target[:900])
    # Conjugate gradients stop at 1%: enough to rank words.
    assert np.corrcoef(ours.weights, theirs.coef_)[0, 1] > 0.98
    error = np.mean((theirs.predict(words[900:]) - data.target[900:]) ** 2)
    assert ours.mean_square == pytest.approx(error, rel=0.02)


def test_columns_are_solved_as_if_alone(reviews):
    """Also when one has converged before the others, and with penalties of their own."""
    data, words = reviews
    rng = np.random.default_rng(0)
    values = np.column_stack([data.target, rng.normal(size=1200), 1e-6 * data.target**2])
    together = ridge_path(signal_of(words, values), signal_of(words, values))
    for l in range(3):
        column = signal_of(words, values[:, l])
        (alone,) = ridge_path(column, column)
        assert alone.penalty == together[l].penalty
        np.testing.assert_allclose(alone.weights, together[l].weights, rtol=1e-8, atol=1e-14)
    chosen = (np.array([r.penalty for r in together]),)
    again = ridge_path(signal_of(words, values), signal_of(words, values), chosen)
    assert [r.penalty for r in again] == [r.penalty for r in together]


def test_the_statistic_is_high_for_relevant_words_and_noise_for_others(reviews):
    data, words = reviews
    ridge = fit(words, data.target, (30.0,))
    found = SignalSums.of(signal_of(words, data.target)).statistics(ridge.weights[:, None])
    # z² of words that have nothing to do with the target is about a chi-square of one degree.
    noise = found.marginal[~data.relevant]
    assert 0.5 < noise.mean() < 2.0
    assert np.median(found.marginal[data.relevant]) > 20
    assert found.joint.sum() == pytest.approx(found.marginal.sum())
    assert np.all(found.combined() >= 0)


def test_a_weight_of_two_is_two_copies(reviews):
    data, words = reviews
    twice = np.arange(300) % 3 == 0
    index = np.concatenate([np.arange(300), np.flatnonzero(twice)])
    for two_values in (False, True):
        y = np.where(data.target > 5, 0.6, -0.4) if two_values else data.target
        copies = signal_of(words[index], y[index], None)
        weighted = signal_of(words[:300], y[:300], 1.0 + twice)
        ridges = [ridge_path(s, s)[0] for s in (copies, weighted)]
        np.testing.assert_allclose(ridges[0].weights, ridges[1].weights, rtol=1e-8, atol=1e-10)
        assert ridges[0].mean_square == pytest.approx(ridges[1].mean_square)
        weights = ridges[0].weights[:, None]
        sums = [SignalSums.of(s) for s in (copies, weighted)]
        statistic = [s.statistics(weights) for s in sums]
        np.testing.assert_allclose(statistic[0].marginal, statistic[1].marginal, rtol=1e-8)
        np.testing.assert_allclose(statistic[0].joint, statistic[1].joint, rtol=1e-8)
        np.testing.assert_allclose(sums[0].slopes(), sums[1].slopes(), rtol=1e-8, atol=1e-12)


def test_a_word_needs_association_with_one_of_several_signals():
    one = WordStatistics(np.array([[8.0], [0.0]]), np.array([[27.0], [0.0]]))
    other = WordStatistics(np.array([[1.0], [64.0]]), np.array([[1.0], [1.0]]))
    both = WordStatistics.beside([one, other])
    np.testing.assert_allclose(both.combined(), [12.0, 16.0])


def test_cut_keeps_the_largest_statistic_per_token_up_to_the_share():
    rng = np.random.default_rng(1)
    statistic = rng.exponential(30.0, 400)
    count = rng.integers(1, 500, 400).astype(float)
    sizes, shares = [], []
    for share in (0.02, 0.05, 0.1, 0.2, 0.4, 0.8):
        kept = select_words(statistic, count, share)
        sizes.append(len(kept))
        shares.append(count[kept].sum() / count.sum())
        assert shares[-1] <= share or len(kept) == 10
    assert np.all(np.diff(sizes) > 0)
    assert np.all(np.diff(shares) > 0)
    kept = select_words(statistic, count, 0.1, vocabulary=0.25)
    cost = min(np.quantile(statistic, 0.75), 2 * np.log(400))
    score = (statistic - cost) / count
    dropped = np.setdiff1d(np.arange(400), kept)
    # Whoever is dropped with a better score than somebody kept would have crossed the share.
    assert score[kept].min() >= np.sort(score[dropped])[-1] - 1e-12


def test_a_lasting_cut_is_by_the_statistic_alone_and_larger_shares_keep_more():
    rng = np.random.default_rng(1)
    statistic = rng.exponential(30.0, 400)
    statistic[rng.random(400) < 0.1] = 0.0
    count = rng.integers(1, 500, 400).astype(float)
    order = np.argsort(-statistic)
    np.testing.assert_array_equal(select_stable_words(statistic, count, 100), np.sort(order[:100]))
    np.testing.assert_array_equal(select_stable_words(statistic, count, 3), np.sort(order[:10]))
    room = count[order[:100]].sum() / count.sum()
    before = np.array([], dtype=int)
    for share in (0.02, 0.1, 0.2, room + 1e-12, 0.5, 0.9, 1.0):
        kept = select_stable_words(statistic, count, 100, share)
        assert count[kept].sum() / count.sum() <= share
        assert set(before) < set(kept)
        before = kept
        if share == room + 1e-12:
            np.testing.assert_array_equal(kept, np.sort(order[:100]))
    np.testing.assert_array_equal(before, np.flatnonzero(statistic))  # none says nothing
    # Fewer tokens: of the hundred those that say most for each.
    kept = select_stable_words(statistic, count, 100, 0.1)
    score = (statistic - statistic[order[100]]) / count
    left = np.setdiff1d(order[:100], kept)
    assert set(kept) <= set(order[:100]) and score[kept].min() >= score[left].max()


@pytest.mark.parametrize(
    "way", [select_words, lambda e, n, s, **more: select_stable_words(e, n, 3, s, **more)]
)
def test_forced_words_and_unseen_words(way):
    statistic = np.array([50.0, 40.0, 30.0, 0.0, 0.0, 20.0])
    count = np.array([10.0, 10.0, 10.0, 10.0, 0.0, 10.0])
    kept = way(statistic, count, 0.9, keep=np.array([3]), drop=np.array([0]))
    assert 3 in kept
    assert 0 not in kept
    assert 4 not in kept  # never seen


def test_least_discovery_keeps_false_ones_few():
    """Benjamini and Hochberg's rule: of 2,000 words 200 say something, and the others are noise."""
    false = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        z = rng.standard_normal(2000)
        z[:200] += 4
        found = z**2 >= least_discovery(z**2)
        assert found[:200].sum() > 150
        false.append(found[200:].sum() / found.sum())
    assert 0.05 < np.mean(false) < 0.1
    assert least_discovery(np.full(50, 0.5)) == np.inf


def test_of_many_signals_the_largest_is_a_discovery_less_easily():
    """WordStatistics is that of the class a word says most about: of 20, noise has more to say."""
    false, careless = [], []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        z = rng.standard_normal((2000, 20))
        z[:200, 3] += 6
        most = (z**2).max(axis=1)
        for kept, rates in (
            (most >= least_discovery(most, 20), false),
            (most >= least_discovery(most), careless),
        ):
            assert kept[:200].sum() > 150
            rates.append(kept[200:].sum() / kept.sum())
    assert np.mean(false) < 0.1 < np.mean(careless)
