"""WordStatistics that lasts: what another sample would find, luck taken off."""

import numpy as np
import pytest
from scipy import sparse

from topicfocus.focused import stable_screening
from topicfocus.focused.ridge import Signals, descend, normal_equations
from topicfocus.focused.stable_screening import expected_squares, stable_statistics
from topicfocus.focused.word_statistics import MARGINAL_SHARE, SignalSums

PENALTY, SHARE = np.array([10.0]), MARGINAL_SHARE


@pytest.fixture(scope="module")
def documents():
    """Words 0-3 say the same about y, words 4-5 the opposite; 30 more say nothing."""
    rng = np.random.default_rng(0)
    mood = rng.normal(size=1200)
    rate = np.full((1200, 36), 0.4)
    rate[:, :4] = 0.3 * np.exp(0.8 * mood)[:, None]
    rate[:, 4:6] = 0.3 * np.exp(-0.8 * mood)[:, None]
    counts = rng.poisson(rate)
    y = mood + rng.normal(size=1200)
    return sparse.csr_array(np.sqrt(counts.astype(float))), y[:, None] - y.mean()


def halves_of(words):
    """Five pairs, by the words of the documents alone."""
    key = np.random.default_rng(5).standard_normal((words.shape[1], 5))
    return np.modf(np.abs(1e3 * (words @ key)))[0] < 0.5


def stable_of(words, y, weight=None):
    w = np.ones(len(y)) if weight is None else weight
    often = (words * words).T @ w
    signals = Signals(words, y, weight)
    return stable_statistics(signals, PENALTY, often, halves_of(words))


def statistics(words, y, weight=None):
    return stable_of(words, y, weight).amount[:, 0]


def one_by_one(signals, penalties, often, halves, model):
    """The same slowly: each half by itself, its documents alone."""
    weight = np.ones(len(signals.values)) if signals.weight is None else signals.weight
    found = []
    for inside in np.hstack([halves, ~halves]).T:
        if not weight[inside].any():
            continue
        half = Signals(signals.words[inside], signals.values[inside], weight[inside])
        matrix, right = normal_equations(half)
        penalty = penalties * weight[inside].sum() / weight.sum()
        ridge = np.zeros_like(right)
        descend(matrix, right, penalty, ridge, right.copy())
        own = SignalSums.of(half).statistics(ridge)
        found.append(
            expected_squares(own.marginal, often)[model] ** SHARE * own.joint ** (1 - SHARE)
        )
    return np.mean(found, axis=0)


@pytest.mark.parametrize("columns", [1, 5, 32])
def test_halves_at_once_are_halves_one_by_one(documents, columns, monkeypatch):
    """Three signals and weights, some of them zero; a pair of everyone and nobody is among them."""
    monkeypatch.setattr(stable_screening, "COLUMNS", columns)
    words, y = documents
    rng = np.random.default_rng(2)
    values = np.column_stack([y, y**2, rng.normal(size=len(y))])
    weight = rng.integers(0, 3, len(y)).astype(float)
    halves = np.column_stack([halves_of(words), np.ones(len(y), dtype=bool)])
    often, penalties = (words * words).T @ weight, np.array([10.0, 3.0, 100.0])
    for w in (None, weight):
        signals = Signals(words, values, w)
        found = stable_statistics(signals, penalties, often, halves)
        for model, ours in enumerate((found.amount, found.sparse)):
            theirs = one_by_one(signals, penalties, often, halves, model)
            np.testing.assert_allclose(ours, theirs, rtol=1e-7, atol=1e-9)


def test_words_that_matter_stand_out(documents):
    found = stable_of(*documents)
    assert found.amount[:6].min() > 10 * found.amount[6:].max()
    assert 6 <= found.n_words() <= 9


def test_the_expected_square_is_right_on_average_where_z_is_not():
    """μ of rare words small, of frequent ones large: of the words that look strongest, μ²."""
    rng = np.random.default_rng(0)
    often = np.repeat([5.0, 20.0, 100.0], 20_000)
    spread = np.repeat([0.7, 1.0, 3.0], 20_000)
    truth = spread * rng.normal(size=60_000)
    z = truth + rng.normal(size=60_000)
    expected = expected_squares(z[:, None] ** 2, often)[0][:, 0]
    for n in np.unique(often):
        top = np.flatnonzero(often == n)[np.argsort(-np.abs(z[often == n]))[:2000]]
        found = np.mean(truth[top] ** 2)
        assert np.mean(expected[top]) == pytest.approx(found, rel=0.1)
        assert np.mean(z[top] ** 2) > 1.1 * found


def test_where_most_words_say_nothing_the_sparse_expected_square_is_right():
    """A tenth of the words: of the others, the expectation that doubts none makes too much."""
    rng = np.random.default_rng(0)
    often = np.repeat([5.0, 100.0], 20_000)
    says = rng.random(40_000) < 0.1
    truth = np.where(says, np.where(often > 50, 5.0, 3.0) * rng.normal(size=40_000), 0.0)
    z = truth + rng.normal(size=40_000)
    expected, doubted = (e[:, 0] for e in expected_squares(z[:, None] ** 2, often))
    for low, high in ((0.0, 1.0), (1.0, 2.0), (3.0, 4.0), (5.0, 20.0)):
        for n in (5.0, 100.0):
            here = (often == n) & (np.abs(z) >= low) & (np.abs(z) < high)
            found = np.mean(truth[here] ** 2)
            assert np.mean(doubted[here]) == pytest.approx(found, rel=0.15, abs=0.05)
            assert low > 1 or np.mean(expected[here]) > 2 * found
    # Where all say something it doubts hardly any.
    z = 3 * rng.normal(size=20_000) + rng.normal(size=20_000)
    both = [e[:, 0] for e in expected_squares(z[:, None] ** 2, np.ones(20_000))]
    top = np.abs(z) > 2
    np.testing.assert_allclose(both[0][top], both[1][top], rtol=0.15)


def test_order_does_not_matter_and_a_weight_of_two_is_two_copies(documents):
    words, y = documents
    order = np.random.default_rng(1).permutation(len(y))
    np.testing.assert_allclose(
        statistics(words[order], y[order]), statistics(words, y), rtol=1e-6, atol=1e-9
    )
    weight = np.where(np.arange(len(y)) < 300, 2.0, 1.0)
    twice = np.concatenate([np.arange(len(y)), np.arange(300)])
    np.testing.assert_allclose(
        statistics(words, y, weight), statistics(words[twice], y[twice]), rtol=1e-6, atol=1e-9
    )


def test_copies_of_one_document_have_no_stable_statistic():
    words = sparse.csr_array(np.ones((8, 3)))
    y = np.arange(8.0)[:, None] - 3.5
    assert np.all(np.isfinite(statistics(words, y)))
