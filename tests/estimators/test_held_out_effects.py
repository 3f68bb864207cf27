"""Effects of topics from documents that had no part in the fit."""

import numpy as np
import pytest
from scipy.stats import t as student

from topicfocus import FocusedTopicClassifier, FocusedTopicRegressor
from topicfocus.datasets import make_reviews
from topicfocus.estimators.effects import linear_effects


@pytest.fixture
def regression():
    """Targets, weights, topic proportions of documents, and how proportions are moved."""
    rng = np.random.default_rng(0)
    proportions = rng.dirichlet([1.0, 2.0, 0.5], 40)
    moves = np.array([[0.5, -0.25, -0.25], [-0.3, 0.6, -0.3], [0.1, 0.2, -0.3]])
    return rng.normal(size=40), rng.uniform(0.5, 2, 40), proportions, moves


def dense_twin(target, weight, proportions, moves):
    """The same with square matrices of documents x documents."""
    root = np.sqrt(weight)
    design = root[:, None] * np.column_stack([np.ones(len(target)), proportions[:, :-1]])
    inverse = np.linalg.pinv(design)
    # The last proportion is one less the others, so that its coefficient is part of theirs.
    effect = np.column_stack([np.zeros(len(moves)), moves[:, :-1] - moves[:, -1:] * 0]) @ inverse
    residual_maker = np.eye(len(target)) - design @ inverse
    leftover = residual_maker @ (root * target)
    variances, freedom = [], []
    for row in effect:
        middle = np.diag(row**2 / np.diag(residual_maker))
        variances.append(leftover @ middle @ leftover)
        product = residual_maker @ middle
        freedom.append(np.trace(product) ** 2 / np.trace(product @ product))
    return effect @ (root * target), np.array(variances), np.array(freedom)


def test_twin(regression):
    for found, expected in zip(linear_effects(*regression), dense_twin(*regression), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_intervals_of_probabilities_end_at_100_points():
    rng = np.random.default_rng(0)
    counts = rng.poisson(0.4, (400, 30)).astype(float)
    y = (counts[:, 0] > counts[:, 1]).astype(int)
    model = FocusedTopicClassifier(2, random_state=0).fit(counts[:360], y[:360])
    effects = model.topic_effects(counts[360:], y[360:], confidence=0.999999)
    assert effects["lower"].min() >= -1 and effects["upper"].max() <= 1
    assert 1 in effects["upper"].tolist() or -1 in effects["lower"].tolist()


def test_few_documents_have_no_interval(regression):
    target, weight, proportions, moves = regression
    for value in linear_effects(target[:3], weight[:3], proportions[:3], moves):
        assert np.isnan(value).all()


def test_a_topic_of_few_documents_has_few_degrees_of_freedom(regression):
    target, weight, _, _ = regression
    rare = np.zeros(40)
    rare[:3] = [0.5, 0.4, 0.6]
    proportions = np.column_stack([rare, 1 - rare])
    moves = np.array([[0.5, -0.5]])
    assert linear_effects(target, weight, proportions, moves)[2][0] < 4


def test_coverage_where_errors_differ():
    """A share of 95% of the intervals contains the truth, also if variances differ."""
    rng = np.random.default_rng(1)
    moves = np.array([[0.4, -0.4], [-0.4, 0.4]])
    inside = []
    for _ in range(1000):
        share = rng.beta(0.5, 2.0, 200)
        proportions = np.column_stack([share, 1 - share])
        target = 2.0 * share + (0.2 + 2 * share) * rng.normal(size=200)
        estimate, variance, freedom = linear_effects(target, np.ones(200), proportions, moves)
        reach = student.ppf(0.975, freedom) * np.sqrt(variance)
        inside.append(abs(estimate[0] - 0.8) < reach[0])
    assert 0.93 <= np.mean(inside) <= 0.97


@pytest.mark.filterwarnings("ignore::topicfocus.estimators.training.UselessFitWarning")
@pytest.mark.parametrize("kind", ["numbers", "binary", "classes"])
def test_noise(kind):
    """Under noise about a twentieth of the 95% intervals exclude zero.

    experiments/intervals.py has 200 fits of each; here are 12, of which far more may be wrong.
    """
    corpus = make_reviews(3000, random_state=0)
    excluded = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        rows = rng.choice(3000, 360, replace=False)
        train, test = rows[:240], rows[240:]
        target = rng.normal(size=3000)
        if kind != "numbers":
            target = rng.integers(0, 2 if kind == "binary" else 3, 3000)
        model = FocusedTopicRegressor if kind == "numbers" else FocusedTopicClassifier
        model = model(4, inclusion_prior=0.2, max_epochs=5, random_state=0, n_jobs=1)
        model.fit(corpus.counts[train], target[train])
        effects = model.topic_effects(corpus.counts[test], target[test])
        excluded += list((effects["lower"] > 0) | (effects["upper"] < 0))
    assert np.mean(excluded) < 0.2
