"""A fit that is taken up from its finished stages ends where it would have ended."""

import numpy as np
import pytest

from topicfocus import FocusedTopicRegressor, SLDARegressor
from topicfocus.datasets import make_reviews
from topicfocus.solvers.checkpoints import checkpointing, current_store, stage


class Memory:
    """A store that ends the process, so to speak, once it has `limit` stages."""

    def __init__(self, stages=(), limit=None):
        self.stages, self.limit = dict(stages), limit

    def get(self, name):
        return self.stages.get(name)

    def put(self, name, value):
        self.stages[name] = value
        if self.limit is not None and len(self.stages) >= self.limit:
            raise RuntimeError("power cut")

    def due(self):
        return True


@pytest.fixture(scope="module")
def reviews():
    return make_reviews(400, random_state=0)


def same(a, b):
    for name in ("components_", "coef_", "intercept_", "noise_variance_"):
        assert np.array_equal(getattr(a, name), getattr(b, name)), name
    assert a.history_["objective"] == b.history_["objective"]


@pytest.mark.parametrize("limit", [1, 2, 3, 4])
def test_focused(reviews, limit):
    whole = FocusedTopicRegressor(3, random_state=0).fit(reviews.counts, reviews.target)
    cut = Memory(limit=limit)
    with checkpointing(cut), pytest.raises(RuntimeError, match="power cut"):
        FocusedTopicRegressor(3, random_state=0).fit(reviews.counts, reviews.target)
    with checkpointing(Memory(cut.stages)):
        parts = FocusedTopicRegressor(3, random_state=0).fit(reviews.counts, reviews.target)
    same(whole, parts)


def test_epochs(reviews):
    model = SLDARegressor(3, random_state=0, max_epochs=12, tol=0)
    whole = model.fit(reviews.counts, reviews.target)
    cut = Memory(limit=1)
    with checkpointing(cut), pytest.raises(RuntimeError, match="power cut"):
        SLDARegressor(3, random_state=0, max_epochs=12, tol=0).fit(reviews.counts, reviews.target)
    store = Memory(cut.stages)
    with checkpointing(store):
        parts = SLDARegressor(3, random_state=0, max_epochs=12, tol=0)
        parts.fit(reviews.counts, reviews.target)
    same(whole, parts)
    assert parts.n_iter_ == 12


def test_what_is_not_finished_is_not_kept():
    store = Memory()
    with checkpointing(store):
        assert stage("a", lambda: 1, lambda found: False) == 1
        assert stage("b", lambda: 2) == 2
        assert stage("b", lambda: 3) == 2
    assert store.stages == {"b": 2}
    assert current_store() is None
