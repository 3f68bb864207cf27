"""What of the paper's algorithm can be set: the start of δ, the penalty on η, the units."""

import numpy as np
import pytest

from topicfocus import PFSLDARegressor, SLDAClassifier, SLDARegressor
from topicfocus.corpus import make_corpus
from topicfocus.datasets import make_reviews
from topicfocus.families import Gaussian
from topicfocus.joint.initialize import SMALLEST_NOISE_START, near_symmetric_start
from topicfocus.joint.settings import Hyperparameters
from topicfocus.model import make_problem

REVIEWS = make_reviews(120, random_state=0)


def start(seed, **given):
    problem = make_problem(make_corpus(REVIEWS.counts), REVIEWS.target)
    hyper = Hyperparameters(n_topics=3)
    rng = np.random.default_rng(seed)
    return near_symmetric_start(problem, hyper, Gaussian(1.0), np.ones(3), rng, **given)


def test_where_the_noise_starts():
    drawn = np.array(
        [start(seed, noise_start="random").family.noise_variance for seed in range(60)]
    )
    floored = np.array([start(seed).family.noise_variance for seed in range(60)])
    np.testing.assert_array_equal(floored, np.maximum(drawn, SMALLEST_NOISE_START))
    assert 0.05 < np.mean(drawn < SMALLEST_NOISE_START) < 0.4  # 18% in the long run
    given = start(0, noise_start=0.7)
    assert given.family.noise_variance == 0.7
    np.testing.assert_array_equal(given.topic_word, start(0).topic_word)  # the same draws


def test_the_estimator_hands_it_on():
    def fit(**given):
        settings = {"solver": "gradient", "max_epochs": 1, "batch_size": 120, "random_state": 0}
        return PFSLDARegressor(3, **settings, **given).fit(REVIEWS.counts, REVIEWS.target)

    # One small step from where it starts.
    deviation = np.std(REVIEWS.target)
    assert np.sqrt(fit(noise_start=4.0).noise_variance_) / deviation == pytest.approx(2, abs=0.1)
    with pytest.raises(ValueError, match='must be None, "random" or a number'):
        fit(noise_start="small")
    with pytest.raises(ValueError, match="noise_start must be greater than 0"):
        fit(noise_start=0.0)
    with pytest.raises(ValueError, match='noise_start is for solver="gradient"'):
        SLDARegressor(3, noise_start=1.0).fit(REVIEWS.counts, REVIEWS.target)


@pytest.mark.parametrize("cls", [SLDARegressor, SLDAClassifier])
def test_a_penalty_shrinks_coefficients(cls):
    y = REVIEWS.target if cls is SLDARegressor else REVIEWS.target > 5
    loose, tight = (
        np.ptp(cls(3, max_epochs=15, coef_penalty=p, random_state=0).fit(REVIEWS.counts, y).coef_)
        for p in (0.0, 100.0)
    )
    assert tight < 0.7 * loose
    with pytest.raises(ValueError, match="coef_penalty must be at least 0"):
        cls(3, coef_penalty=-1.0).fit(REVIEWS.counts, y)
