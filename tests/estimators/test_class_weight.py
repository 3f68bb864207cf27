"""class_weight as scikit-learn means it: a factor on the weights of a class's documents."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.utils.class_weight import compute_sample_weight

import topicfocus
from topicfocus.datasets import make_reviews

REVIEWS = make_reviews(200, random_state=0)
X = REVIEWS.counts
RARE = np.where(REVIEWS.target > 7, "good", "other")


def make(name, **changed):
    return getattr(topicfocus, name)(
        **{"n_topics": 3, "max_epochs": 6, "random_state": 0, **changed}
    )


@pytest.mark.parametrize(
    ("name", "class_weight"),
    [
        ("FocusedTopicClassifier", "balanced"),
        ("PCSLDAClassifier", {"good": 3.0}),
        ("SLDAClassifier", {"good": 3.0}),
        ("PFSLDAClassifier", "balanced"),
    ],
)
def test_it_is_a_weight_of_documents(name, class_weight):
    one = make(name, class_weight=class_weight).fit(X, RARE)
    two = make(name).fit(X, RARE, sample_weight=compute_sample_weight(class_weight, RARE))
    assert_allclose(one.components_, two.components_, rtol=1e-6, atol=1e-9)
    assert_allclose(one.predict_proba(X), two.predict_proba(X), rtol=1e-6)
    plain = make(name).fit(X, RARE)
    assert one.predict_proba(X)[:, 0].mean() > plain.predict_proba(X)[:, 0].mean() + 0.02


def test_weights_are_multiplied_and_missing_classes_have_none():
    weight = np.linspace(0.5, 2, 200)
    some = RARE.astype(object)
    some[::7] = None
    one = make("SLDAClassifier", class_weight={"good": 2.0}).fit(X, some, sample_weight=weight)
    two = make("SLDAClassifier").fit(
        X, some, sample_weight=weight * np.where(some == "good", 2.0, 1.0)
    )
    assert_array_equal(one.components_, two.components_)


def test_several_targets_and_batches():
    both = np.column_stack([RARE, np.where(np.arange(200) % 3 == 0, "a", "b")])
    one = make("SLDAClassifier", class_weight=[{"good": 2.0}, "balanced"]).fit(X, both)
    weight = np.where(both[:, 0] == "good", 2.0, 1.0) * compute_sample_weight(
        "balanced", both[:, 1]
    )
    assert_allclose(
        one.components_,
        make("SLDAClassifier").fit(X, both, sample_weight=weight).components_,
        rtol=1e-6,
        atol=1e-9,
    )
    classes = ["good", "other"]
    streamed = make("SLDAClassifier", class_weight={"good": 2.0}).partial_fit(X, RARE, classes)
    assert streamed.n_samples_seen_ == 200 + np.sum(RARE == "good")
    with pytest.raises(ValueError, match="is not for partial_fit"):
        make("SLDAClassifier", class_weight="balanced").partial_fit(X, RARE, classes)


@pytest.mark.parametrize(
    ("class_weight", "message"),
    [
        ("even", 'must be None, "balanced" or a dict'),
        ({"goood": 2.0}, "has 'goood', which is not a class of y; these are 'good', 'other'"),
        ({"good": 0.0}, "of 'good' must be above 0, got 0.0"),
        ([{"good": 1.0}] * 2, "for 2 targets, but y has 1"),
    ],
)
def test_mistakes(class_weight, message):
    with pytest.raises(ValueError, match=message):
        make("SLDAClassifier", class_weight=class_weight).fit(X, RARE)
