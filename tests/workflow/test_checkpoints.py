"""Stages of a fit as files: what is read again is what was written."""

import numpy as np
import pytest
from topicfocus.solvers.checkpoints import checkpointing

from topicfocus import FocusedTopicClassifier
from topicfocus.datasets import make_reviews
from topicfocus.workflow.checkpoints import FolderStore
from topicfocus.workflow.remarks import as_remarks


class Asked(FolderStore):
    """Counts the stages that were read, and remembers those that were computed."""

    def __init__(self, folder):
        super().__init__(folder, 0.0, as_remarks(None))
        self.read, self.written = [], []

    def get(self, name):
        found = super().get(name)
        if found is not None:
            self.read.append(name)
        return found

    def put(self, name, value):
        self.written.append(name)
        super().put(name, value)


@pytest.mark.parametrize("selection", ["predictive", "stable"])
def test_a_fit_from_the_stages_of_another_is_the_same(tmp_path, selection):
    reviews = make_reviews(300, random_state=0)
    y = np.digitize(reviews.target, [4, 7])
    stores, models = [], []
    for again in (False, True):
        store = Asked(tmp_path / "parts")
        store.open("mark", {}, again)
        model = FocusedTopicClassifier(3, selection=selection, max_epochs=2, random_state=0)
        with checkpointing(store):
            models.append(model.fit(reviews.counts, y))
        stores.append(store)
    assert not stores[0].read and not stores[1].written
    assert "evidence" in stores[1].read and "all evidence" in stores[1].read
    first, second = (model.fitted_.state for model in models)
    assert np.array_equal(first.topic_word, second.topic_word)
    assert np.array_equal(first.inclusion, second.inclusion)
    assert np.array_equal(models[0].evidence_, models[1].evidence_)
