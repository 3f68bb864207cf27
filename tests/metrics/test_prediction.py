import numpy as np
import pytest

from topicfocus.metrics import (
    accuracy,
    auc,
    calibration,
    calibration_error,
    log_loss,
    poisson_deviance,
    r2,
    rmse,
)


def test_calibration_error_of_a_calibrated_model_is_small():
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.ones(3), 20_000)
    y = np.array([rng.choice(3, p=row) for row in p])
    right = calibration_error(y, p, [0, 1, 2])
    sure = p**2 / (p**2).sum(axis=1, keepdims=True)
    wrong = calibration_error(y, sure, [0, 1, 2])
    confidence = sure.max(axis=1).mean() - np.mean(sure.argmax(axis=1) == y)
    assert right < 0.015 and wrong == pytest.approx(confidence, abs=0.01) and wrong > 0.1


def test_calibration_error_counts_weights_like_copies():
    rng = np.random.default_rng(1)
    p = rng.random(40)
    y, weight = (rng.random(40) < p).astype(int), rng.integers(0, 3, 40)
    both = np.column_stack([1 - p, p])
    twice = np.repeat(np.arange(40), weight)
    one = calibration_error(y, both, [0, 1], weight, n_groups=4)
    assert one == pytest.approx(calibration_error(y[twice], both[twice], [0, 1], n_groups=4))


def test_a_weight_counts_copies():
    rng = np.random.default_rng(0)
    y, x = rng.normal(size=20), rng.normal(size=20)
    times = rng.integers(0, 4, 20)
    for measure in (rmse, r2):
        copies = measure(np.repeat(y, times), np.repeat(x, times))
        assert measure(y, x, times) == pytest.approx(copies)
    positive, p = y > 0, np.column_stack([1 - (x > 0.3) * 0.9, (x > 0.3) * 0.9])
    many = (np.repeat(positive, times), np.repeat(p, times, axis=0))
    assert auc(positive, p[:, 1], weight=times) == pytest.approx(auc(many[0], many[1][:, 1]))
    assert log_loss(positive, p, [False, True], times) == pytest.approx(
        log_loss(*many, [False, True])
    )
    assert accuracy(positive, x > 0, times) == pytest.approx(
        accuracy(np.repeat(positive, times), np.repeat(x > 0, times))
    )
    counts, mean = rng.poisson(3, 20), rng.gamma(3, 1, 20)
    assert poisson_deviance(counts, mean, times) == pytest.approx(
        poisson_deviance(np.repeat(counts, times), np.repeat(mean, times))
    )


def test_r2_is_zero_for_the_mean_and_unknown_for_a_constant():
    y = np.array([1.0, 2.0, 6.0])
    assert r2(y, np.full(3, 3.0)) == pytest.approx(0.0)
    assert r2(y, y) == 1.0
    assert np.isnan(r2([2.0, 2.0], [1.0, 3.0]))


def test_auc_of_several_classes_is_the_mean_of_those_that_are_there():
    truth = np.array(["a", "b", "b", "a"])
    p = np.array([[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.5, 0.4, 0.1], [0.6, 0.3, 0.1]])
    each = [auc(truth == label, p[:, c]) for c, label in enumerate("ab")]
    assert auc(truth, p, labels=["a", "b", "c"]) == np.mean(each)
    assert auc(truth, p[:, :2], labels=["a", "b"]) == each[1]
    assert np.isnan(auc(np.zeros(3), np.arange(3.0)))
    assert auc(np.zeros(3), np.arange(3.0), undefined=0.5) == 0.5
    assert auc(["c"] * 4, p, labels=["a", "b", "d"], undefined=0.5) == 0.5
    with pytest.raises(ValueError, match="labels="):
        auc(truth, p)


def test_a_count_that_is_predicted_as_zero_has_a_finite_deviance():
    assert np.isfinite(poisson_deviance([3], [0]))
    assert poisson_deviance([2, 5], [2, 5]) == 0


def test_calibration_of_shares_has_wilsons_intervals():
    truth = np.repeat([0.0, 0.0, 1.0, 1.0], 20)
    truth[20:25] = 1.0
    found = calibration(truth, np.arange(80.0), shares=True)
    for end in (found.low, found.high):  # where the score test is just at 5%
        spread = np.sqrt(end * (1 - end) / found.n)
        np.testing.assert_allclose(abs(found.observed - end), 1.959964 * spread, atol=1e-5)
    assert np.all(found.low <= found.observed + 1e-9) and np.all(found.high - found.low > 0.1)
    plain = calibration(truth, np.arange(80.0), shares=False)
    assert plain.low[0] == plain.high[0] == 0.0
