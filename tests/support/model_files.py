"""Small fitted models, and model files made by hand, for the tests of saving and loading."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import topicfocus
import topicfocus.estimators
from topicfocus.datasets import make_reviews
from topicfocus.persistence import HEADER

MODELS = tuple(topicfocus.estimators.__all__)
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


def saved(model: Any) -> bytes:
    stream = io.BytesIO()
    topicfocus.save(model, stream)
    return stream.getvalue()


def sealed(parts: dict[str, bytes], compression: int = zipfile.ZIP_STORED) -> bytes:
    """A zip of these members with the digest that its bytes have, as anyone can write it."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, data in parts.items():
            archive.writestr(name, data, compression)
        archive.comment = b"topicfocus model 3 sha256 " + b"0" * 64
    whole = stream.getvalue()[:-64]
    return whole + hashlib.sha256(whole).hexdigest().encode()


def members(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def altered(content: bytes, change: Callable[[Any, dict[str, np.ndarray]], None]) -> io.BytesIO:
    """The file after `change(node, arrays)` of the model's JSON and arrays, with a right digest."""
    parts = members(content)
    header = json.loads(parts.pop(HEADER))
    arrays = {name: np.load(io.BytesIO(data)) for name, data in parts.items()}
    change(header["model"], arrays)
    parts = {HEADER: json.dumps(header).encode()}
    for name, array in arrays.items():
        stream = io.BytesIO()
        np.save(stream, array)
        parts[name] = stream.getvalue()
    return io.BytesIO(sealed(parts))


def file_by_hand(model: Any, change: Callable[[Any, dict[str, np.ndarray]], None]) -> io.BytesIO:
    """As `altered`, of a model."""
    return altered(saved(model), change)


#: Values that a field of a header has not.
ODD_VALUES = (
    *(10**30, -1, 0, 1e308, None, "", "x", "a" * 100_000, [], {}, True, 2**62, 100_000_000),
    *({"$": "tuple", "value": []}, {"$": "float", "value": "nan"}),
)


def fields(node: Any) -> Iterator[tuple[Any, Any]]:
    """Every field of a header: what it is in, and its key; of lists the first three values."""
    keys = list(node) if isinstance(node, dict) else range(min(len(node), 3))
    for key in keys:
        yield node, key
        if isinstance(node[key], (dict, list)):
            yield from fields(node[key])


def with_field(content: bytes, i: int, value: Any) -> bytes:
    """The file with another value of field `i` of its header, and a right digest."""
    parts = members(content)
    header = json.loads(parts[HEADER])
    node, key = list(fields(header["model"]))[i]
    node[key] = value
    return sealed({**parts, HEADER: json.dumps(header).encode()})


def n_fields(content: bytes) -> int:
    return len(list(fields(json.loads(members(content)[HEADER])["model"])))


def mutated(content: bytes, rng: np.random.Generator) -> bytes:
    """The file with a flipped bit, cut, or with another value in its header and a right digest."""
    kind = rng.integers(4)
    if kind == 0:
        flipped = bytearray(content)
        flipped[rng.integers(len(content))] ^= 1 << int(rng.integers(8))
        return bytes(flipped)
    if kind == 1:
        return content[: rng.integers(len(content))]
    value = ODD_VALUES[rng.integers(len(ODD_VALUES))]
    return with_field(content, int(rng.integers(n_fields(content))), value)
