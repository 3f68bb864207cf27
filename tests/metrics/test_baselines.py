"""Baseline regressions on words and covariates."""

import numpy as np
import pytest
from scipy import sparse

from topicfocus.metrics import baselines
from topicfocus.metrics.baselines import Inputs, constant, regression


@pytest.fixture(scope="module")
def words():
    rng = np.random.default_rng(0)
    counts = rng.poisson(1.0, (120, 8)).astype(float)
    return sparse.csr_array(counts), counts @ np.linspace(-1, 1, 8)


@pytest.mark.parametrize("kind", ["real", "ordinal", "count", "binary", "classes"])
def test_words_tell_more_than_a_constant(words, kind):
    counts, score = words
    y = {
        "real": score,
        "ordinal": np.round(score).clip(-2, 2),
        "count": np.round(10 * np.exp(score / 8)),
        "binary": (score > 0).astype(int),
        "classes": np.digitize(score, [-1, 1]),
    }[kind]
    train, test = Inputs(words=counts[:90]), Inputs(words=counts[90:])
    mine = regression(kind, train, y[:90], test)
    nothing = constant(kind, train, y[:90], test, 30)
    assert mine.name.endswith("on all words")
    if kind in ("binary", "classes"):
        assert np.mean(mine.values == y[90:]) > np.mean(nothing.values == y[90:])
        assert mine.probabilities.sum(axis=1) == pytest.approx(np.ones(30))
        assert nothing.probabilities[0] == pytest.approx(np.bincount(y[:90]) / 90)
    else:
        error = [np.mean((p.values - y[90:]) ** 2) for p in (mine, nothing)]
        assert error[0] < 0.7 * error[1]


def test_exposure_is_a_rate_and_a_weight(words):
    counts, score = words
    days = np.random.default_rng(1).integers(1, 30, 120).astype(float)
    y = np.round(days * np.exp(score / 4))
    train = Inputs(words=counts[:90], exposure=days[:90])
    test = Inputs(words=counts[90:], exposure=days[90:])
    twice = Inputs(words=counts[90:], exposure=2 * days[90:])
    once = regression("count", train, y[:90], test).values
    np.testing.assert_allclose(regression("count", train, y[:90], twice).values, 2 * once)
    rate = constant("count", train, y[:90], test, 30).values / days[90:]
    np.testing.assert_allclose(rate, y[:90].sum() / days[:90].sum())


def test_covariates_beside_words_and_alone(words):
    counts, score = words
    year = np.random.default_rng(2).normal(2000, 10, (120, 1))
    y = score + year[:, 0]
    both = [
        Inputs(words=counts[part], covariates=year[part]) for part in (slice(90), slice(90, 120))
    ]
    alone = [Inputs(covariates=inputs.covariates) for inputs in both]
    first, second = (regression("real", a, y[:90], b) for a, b in (both, alone))
    assert first.name == "ridge on all words and covariates"
    assert second.name == "ridge on covariates alone"
    assert np.std(first.values - y[90:]) < np.std(second.values - y[90:])


@pytest.mark.parametrize("kind", ["real", "binary", "classes"])
def test_many_documents_choose_their_penalty_on_a_sample(words, kind, monkeypatch):
    """The same penalty serves all; every class is in the sample."""
    monkeypatch.setattr(baselines, "CHOOSING_DOCUMENTS", 60)
    counts, score = words
    y = {"real": score, "binary": (score > 0).astype(int), "classes": np.digitize(score, [-2, 2])}
    y = y[kind]
    rows = baselines.choosing_rows(counts[:90], y[:90], kind, 0)
    assert 50 < len(rows) < 70
    if kind != "real":
        assert set(y[rows]) == set(y[:90])
    mine = regression(kind, Inputs(words=counts[:90]), y[:90], Inputs(words=counts[90:]))
    assert f"{len(rows)} of 90 documents" in mine.note
    if kind == "real":
        assert np.mean((mine.values - y[90:]) ** 2) < 0.5 * np.var(y[90:])
    else:
        assert np.mean(mine.values == y[90:]) > 0.6


def test_the_units_of_a_real_target_do_not_matter(words):
    counts, score = words
    train, test = Inputs(words=counts[:90]), Inputs(words=counts[90:])
    once = regression("real", train, score[:90], test).values
    for times, plus in ((1e-6, 0.0), (1e6, 0.0), (1.0, 1e6), (1e150, 0.0)):
        other = regression("real", train, times * score[:90] + plus, test).values
        np.testing.assert_allclose((other - plus) / times, once, rtol=1e-6, atol=1e-6)
