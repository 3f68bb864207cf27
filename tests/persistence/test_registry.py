"""Classes from elsewhere in model files."""

import io
from typing import NamedTuple

import numpy as np
import pytest
from model_files import REVIEWS
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline

import topicfocus
from topicfocus import LDA, persistence
from topicfocus.persistence import ModelFileError, register, register_record


@pytest.fixture(autouse=True)
def own_registry(monkeypatch):
    """What a test registers is forgotten after it."""
    for table in ("_BY_NAME", "_BY_CLASS"):
        monkeypatch.setattr(persistence, table, dict(getattr(persistence, table)))


class Counter(TransformerMixin, BaseEstimator):
    """A vectoriser as another module might bring it."""

    def __init__(self, lower=True):
        self.lower = lower

    def fit(self, X, y=None):
        words = sorted({w for text in X for w in text.split()})
        self.vocabulary_ = {w: i for i, w in enumerate(words)}
        self._process = id(self)
        return self

    def transform(self, X):
        return CountVectorizer(vocabulary=self.vocabulary_, lowercase=self.lower).transform(X)


class Scale(NamedTuple):
    factor: float = 1.0


def check(counter):
    if not isinstance(counter.vocabulary_, dict):
        raise ValueError("vocabulary_ must be a dict.")


def test_a_vectoriser_registers_itself():
    pipeline = make_pipeline(Counter(), LDA(2, max_epochs=1)).fit(REVIEWS.texts)
    stream = io.BytesIO()
    with pytest.raises(TypeError, match="Counter is not supported"):
        topicfocus.save(pipeline, stream)
    register(Counter, name="elsewhere.Counter", check=check)
    topicfocus.save(pipeline, stream)
    loaded = topicfocus.load(io.BytesIO(stream.getvalue()))
    np.testing.assert_array_equal(
        loaded.transform(REVIEWS.texts), pipeline.transform(REVIEWS.texts)
    )
    assert not hasattr(loaded[0], "_process")
    persistence._BY_NAME.pop("elsewhere.Counter")
    with pytest.raises(ModelFileError, match=r"'elsewhere\.Counter'.* registers this class first"):
        topicfocus.load(io.BytesIO(stream.getvalue()))


def test_a_family_registers_itself():
    model = LDA(2, max_epochs=1).fit(REVIEWS.counts)
    model.families_ = [Scale(2.0)]
    with pytest.raises(TypeError, match=r"LDA\.families_"):
        model.save(io.BytesIO())
    register_record(Scale, name="elsewhere.Scale")
    stream = io.BytesIO()
    model.save(stream)
    stream.seek(0)
    (family,) = topicfocus.load(stream).families_
    assert type(family) is Scale and family.factor == 2.0
    model.families_ = [Scale("two")]
    with pytest.raises(TypeError, match="factor: it cannot be 'two'"):
        model.save(io.BytesIO())


def test_registering_needs_a_class_and_a_name_that_are_free():
    with pytest.raises(ValueError, match="registered already"):
        register(LDA, name="another.LDA")
    with pytest.raises(ValueError, match="registered already"):
        register(Counter, name="topicfocus.LDA")
    with pytest.raises(TypeError, match="get_params"):
        register(dict)
    with pytest.raises(TypeError, match="neither a NamedTuple nor a dataclass"):
        register_record(dict)
    register_record(Scale)
    register_record(Scale)  # again, the same: nothing changes
    with pytest.raises(ValueError, match="registered already"):
        register_record(Scale, name="another.Scale")
