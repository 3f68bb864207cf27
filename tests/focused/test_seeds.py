"""Topics that start from seed words."""

import numpy as np
import pytest
from scipy import sparse

from topicfocus import FocusedTopicClassifier, FocusedTopicRegressor
from topicfocus.counts import NamedCounts
from topicfocus.datasets import make_reviews
from topicfocus.focused.subjects import POWER, SHRINKAGE, THRESHOLD, seed_lift

REVIEWS = make_reviews(1000, n_themes=4, random_state=0)
COUNTS = NamedCounts.of(sparse.csr_array(REVIEWS.counts), REVIEWS.vocabulary)
SEEDS = {"waiting": ["slow", "late"], "money": ["overpriced", "pricey"]}


@pytest.fixture(scope="module")
def seeded():
    model = FocusedTopicRegressor(8, seed_words=SEEDS, random_state=0)
    return model.fit(COUNTS, REVIEWS.target)


def test_lift_is_that_of_the_formula():
    rng = np.random.default_rng(0)
    words = sparse.csr_array(np.sqrt(rng.poisson(0.7, (30, 6)).astype(float)))
    weight, seeds = rng.uniform(0.5, 2.0, 30), [np.array([0, 2]), np.array([5])]
    found = seed_lift(words, weight, seeds)
    dense = words.toarray()
    for s, columns in enumerate(seeds):
        number = dense[:, columns].sum(axis=1)
        belongs = number / (1 + number)
        share = np.average(belongs, weights=weight)
        for v in range(6):
            observed = np.sum(weight * dense[:, v] * belongs)
            expected = np.sum(weight * dense[:, v]) * share
            ratio = (observed + SHRINKAGE) / (expected + SHRINKAGE)
            assert found[v, s] == pytest.approx((ratio / THRESHOLD) ** POWER)


def test_a_seeded_topic_is_about_its_seeds(seeded):
    assert seeded.topic_names_ == ["waiting", "money", *[None] * 6]
    names = list(REVIEWS.vocabulary)
    beta = seeded.components_
    for topic, words in SEEDS.items():
        k = seeded.topic_names_.index(topic)
        columns = [names.index(word) for word in words]
        assert np.all(beta[k, columns] > 0.8 * beta[:, columns].sum(axis=0))
        assert set(words) < set(seeded.top_words(6, named=True)[topic])
    # Words of the planted subject join: its blame is mostly in this topic, and no other's.
    planted = {
        topic: set(REVIEWS.groups[f"{group}_blame"])
        for topic, group in (("waiting", "waiting"), ("money", "price"))
    }
    for topic, words in seeded.top_words(5, named=True).items():
        if topic in planted:
            assert len(set(words) & planted[topic]) >= 4


def test_seeded_topics_predict_and_are_deterministic(seeded):
    free = FocusedTopicRegressor(8, random_state=0).fit(COUNTS, REVIEWS.target)
    assert seeded.score(COUNTS, REVIEWS.target) > free.score(COUNTS, REVIEWS.target) - 0.02
    assert np.all(seeded.coef_[:2] < seeded.coef_.mean())
    again = FocusedTopicRegressor(8, seed_words=SEEDS, random_state=0, n_jobs=1)
    np.testing.assert_array_equal(again.fit(COUNTS, REVIEWS.target).components_, seeded.components_)


def test_words_without_an_association_are_kept_as_seeds():
    column = list(REVIEWS.vocabulary).index("bartender")
    model = FocusedTopicClassifier(3, seed_words={"mine": ["bartender"]}, random_state=0)
    model.fit(COUNTS, REVIEWS.target > 5)
    assert model.selected_words_[column]
    assert model.components_[0, column] > 0.8 * model.components_[:, column].sum()


def test_all_topics_may_have_seeds():
    seeds = {"blame": ["rude", "slow", "overpriced"], "praise": ["friendly", "quick", "tasty"]}
    model = FocusedTopicRegressor(2, seed_words=seeds, random_state=0).fit(COUNTS, REVIEWS.target)
    assert model.topic_names_ == list(seeds) and model.coef_[0] < model.coef_[1]


@pytest.mark.parametrize(
    ("seeds", "message"),
    [
        ({"waiting": ["slwo"]}, "'slwo', which is not a column of X. Did you mean 'slow'"),
        ({"a": ["slow"], "b": ["late", "slow"]}, "has 'slow' in both 'a' and 'b'"),
        ({"a": []}, "has no words"),
        ({"": ["slow"]}, "one line of 1 to 200 characters"),
        ({str(k): [k] for k in range(9)}, "has 9 topics, but n_topics is 8"),
    ],
)
def test_wrong_seeds(seeds, message):
    with pytest.raises(ValueError, match=message):
        FocusedTopicRegressor(8, seed_words=seeds).fit(COUNTS, REVIEWS.target)


def test_seeds_of_the_wrong_kind_or_place():
    y = REVIEWS.target
    with pytest.raises(TypeError, match="must be a dict of names and lists of words"):
        FocusedTopicRegressor(seed_words=["slow"]).fit(COUNTS, y)
    with pytest.raises(ValueError, match="both in seed_words and in drop_words"):
        FocusedTopicRegressor(seed_words=SEEDS, drop_words=["slow"]).fit(COUNTS, y)
    with pytest.raises(ValueError, match="set themes=True"):
        FocusedTopicRegressor(seed_words=SEEDS, themes=False).fit(COUNTS, y)
    unnamed = sparse.csr_array(REVIEWS.counts)
    with pytest.raises(ValueError, match=r"Count texts with topicfocus\.TokenCounter"):
        FocusedTopicRegressor(seed_words=SEEDS).fit(unnamed, y)
    without = unnamed.tolil()
    without[:, 3] = 0
    with pytest.raises(ValueError, match=r"no document of X has a word of seed_words\['x'\]"):
        FocusedTopicRegressor(seed_words={"x": [3]}).fit(without.tocsr(), y)
