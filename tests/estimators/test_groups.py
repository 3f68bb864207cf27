"""Groups of documents are set aside as a whole, for about the share that was asked for."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from topicfocus import FocusedTopicClassifier, FocusedTopicRegressor
from topicfocus.datasets import make_reviews
from topicfocus.estimators import focused_training
from topicfocus.estimators.documents import choose_groups


@settings(deadline=None, max_examples=150)
@given(
    st.lists(st.tuples(st.integers(0, 12), st.integers(0, 2)), min_size=2, max_size=80),
    st.sampled_from([0.1, 0.2, 0.5]),
    st.integers(0, 5),
)
def test_something_of_every_class_is_left(documents, share, seed):
    group = np.unique([g for g, _ in documents], return_inverse=True)[1]
    classes = np.array([c for _, c in documents])
    strata = [np.flatnonzero(classes == c) for c in np.unique(classes)]
    rng = np.random.default_rng(seed)
    held = choose_groups(group, strata, np.ones(len(group)), share, rng)
    assert held.shape == (group.max() + 1,)
    for documents_of_class in strata:
        assert not held[group[documents_of_class]].all()


@pytest.mark.parametrize("estimator", [FocusedTopicRegressor, FocusedTopicClassifier])
def test_the_fit_sets_whole_groups_aside(estimator, monkeypatch):
    reviews = make_reviews(200, random_state=0)
    group = np.random.default_rng(0).permutation(np.arange(200) // 4)
    weight = np.ones(200)
    weight[:20] = 0  # left out before, with their groups
    seen = []

    def spy(documents, *more):
        found = original(documents, *more)
        seen.append((documents.group, *found))
        return found

    original = focused_training.split_validation
    monkeypatch.setattr(focused_training, "split_validation", spy)
    y = reviews.target if estimator is FocusedTopicRegressor else reviews.target > 5
    names = np.array([f"patient {g}" for g in group])
    estimator(2, random_state=0).fit(reviews.counts, y, sample_weight=weight, groups=names)
    ((numbers, train, held),) = seen
    assert len(numbers) == 180 and 5 <= len(held) <= 40 and len(train) + len(held) == 180
    assert not set(numbers[train]) & set(numbers[held])
    assert len(np.unique(numbers)) == len(np.unique(group[20:]))


def test_groups_of_another_length():
    reviews = make_reviews(50, random_state=0)
    with pytest.raises(ValueError, match=r"groups has shape .3,., but there are 50 documents"):
        FocusedTopicRegressor(2).fit(reviews.counts, reviews.target, groups=[1, 2, 3])
