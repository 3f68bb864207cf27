"""Small fitted models, and model files made by hand, for the tests of saving and loading."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np

import topicfocus
from topicfocus.datasets import make_reviews
from topicfocus.persistence.archive import write_archive
from topicfocus.persistence.encoding import Encoder

OTHERS = {
    "TokenCounter",
    "TopicSearchCV",
    "compare_models",
    "load",
    "open_counts",
    "save",
    "stability",
    "write_counts",
}
MODELS = tuple(name for name in topicfocus.__all__ if name not in OTHERS)
REVIEWS = make_reviews(60, doc_length=25, random_state=5)
RNG = np.random.default_rng(5)
LABELS = np.where(REVIEWS.target > np.median(REVIEWS.target), "good", "bad")
STARS = np.clip(np.round(REVIEWS.target / 2.5), 0, 4)
COUNTS = RNG.poisson(np.exp(REVIEWS.target / 5))
COVARIATES = RNG.normal(3.0, 2.0, (len(LABELS), 2))

#: Every kind of target: name, class, parameters, target, and what else fit is given.
KINDS = {
    "real with covariates": ("SLDARegressor", {}, REVIEWS.target, {"covariates": COVARIATES}),
    "count with exposure": (
        "FocusedTopicRegressor",
        {"family": "poisson"},
        COUNTS,
        {"exposure": np.linspace(0.5, 2.0, len(LABELS))},
    ),
    "rating with covariates": (
        "PCSLDARegressor",
        {"family": "ordinal"},
        STARS,
        {"covariates": COVARIATES},
    ),
    "rating": ("PFSLDARegressor", {"family": "ordinal"}, STARS, {}),
    "classes": ("FocusedTopicClassifier", {}, STARS.astype(int).astype(str), {}),
    "classes that are numbers": ("SLDAClassifier", {}, STARS.astype(int), {}),
    "truth values": ("SLDAClassifier", {}, LABELS == "good", {}),
    "several numbers": (
        "FocusedTopicRegressor",
        {"family": ["gaussian", "ordinal", "poisson"]},
        np.column_stack([REVIEWS.target, STARS, COUNTS]),
        {"covariates": COVARIATES},
    ),
    "several classes": (
        "PFSLDAClassifier",
        {},
        np.column_stack([LABELS.astype(object), STARS.astype(int).astype(object)]),
        {},
    ),
}


def fitted_kind(kind: str) -> Any:
    name, parameters, target, extras = KINDS[kind]
    parameters = {"n_topics": 2, "max_epochs": 3, "random_state": 1, **parameters}
    return getattr(topicfocus, name)(**parameters).fit(REVIEWS.counts, target, **extras)


def target_of(name: str) -> np.ndarray:
    """Ratings for regressors, strings for classifiers."""
    return LABELS if name.endswith("Classifier") else REVIEWS.target


def fitted(name: str, X: Any = REVIEWS.counts, **parameters: Any) -> Any:
    parameters = {"n_topics": 3, "max_epochs": 3, "random_state": 1, **parameters}
    return getattr(topicfocus, name)(**parameters).fit(X, target_of(name))


def file_by_hand(
    model: Any, change: Callable[[dict[str, Any], dict[str, np.ndarray]], None], **header: Any
) -> io.BytesIO:
    """A file with right checksums whose content is the model's after `change(node, arrays)`.

    `node` is the encoded object; an array is found by the end of its name: see `replace_array`.
    """
    encoder = Encoder()
    node = encoder.encode_object(model)
    change(node, encoder.arrays)
    stream = io.BytesIO()
    write_archive(stream, {"model": node, **header}, encoder.arrays)
    stream.seek(0)
    return stream


def replace_array(arrays: dict[str, np.ndarray], attribute: str, value: np.ndarray) -> None:
    (name,) = (name for name in arrays if name.endswith(f"-{attribute}.npy"))
    arrays[name] = value
