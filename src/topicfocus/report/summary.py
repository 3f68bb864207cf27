"""A fitted model and documents as plain data: all that the page and the figures are drawn from."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from topicfocus import __version__
from topicfocus.estimators.coding import Coding
from topicfocus.report.documents import (
    document_summary,
    evaluate,
    pack_within,
    predict_all,
    sample_rows,
)
from topicfocus.report.evaluation import is_class, rounded
from topicfocus.report.inputs import Inputs, Words
from topicfocus.report.intervals import topic_errors
from topicfocus.report.table import word_table
from topicfocus.report.vocabulary import word_summary

#: Of the summary's layout; the page checks it.
VERSION = 1
#: Characters of all data; the page's own code takes 0.1 MB more.
PAGE_BUDGET = 1_380_000
SMALLEST_TEXTS = 60_000
_NAME_WORDS = 3
_RELEVANCE = 0.6


@dataclass(frozen=True)
class Labels:
    """What a person calls things; None where the model's own words have to do.

    Attributes
    ----------
    title : str or None
    topics : list of str, or dict of topic number to str
    targets : list of str, one a target
    classes : list of str in the order of `classes_`; a list of lists for several targets
    documents : list of str, one a document
    covariates : list of str
    """

    title: str | None = None
    topics: Any = None
    targets: Any = None
    classes: Any = None
    documents: Any = None
    covariates: Any = None


@dataclass(frozen=True)
class Extras:
    """What else there is to show.

    Attributes
    ----------
    exposure, covariates : of the documents, for models that were fitted with them
    held_out : bool
        Whether the documents are ones the model was not trained on.
    baselines : dict of name to predictions for the same documents
    frontier : rows with `inclusion_prior` and figures: a list of dicts, or a dataframe
    """

    exposure: Any = None
    covariates: Any = None
    held_out: bool = False
    baselines: Any = None
    frontier: Any = None


def summarise(
    inputs: Inputs,
    labels: Labels | None = None,
    extras: Extras | None = None,
    *,
    max_documents: int = 500,
    exact: bool = False,
    random_state: int | None = 0,
) -> dict[str, Any]:
    """Everything the page shows, JSON-serialisable."""
    labels, extras = labels or Labels(), extras or Extras()
    model = inputs.model
    found = predict_all(inputs, extras.exposure, extras.covariates)
    rows = sample_rows(inputs.n_docs, max_documents, random_state)
    targets = _targets(model, labels)
    state = model._state()
    table = word_table(model, inputs.counts[rows], exact)
    relevant = (state.inclusion > 0) & (state.topic_word.max(axis=1) > 0)
    document_names = _listed("document_names", labels.documents, inputs.n_docs)
    summary = {
        "version": VERSION,
        "package": __version__,
        "key": _key(model, inputs),
        "title": labels.title or _title(model, targets),
        "model": type(model).__name__,
        "targets": targets,
        "predictors": _predictors(model, targets),
        "topics": _topics(inputs, found, labels),
        "intercept": np.broadcast_to(state.intercept, state.n_predictors).astype(float).tolist(),
        "covariates": _covariates(state, found.covariates, labels),
        "roots": _sees_roots(model),
        "table": table,
        "reading": _reading(inputs.words),
        "words": word_summary(inputs, found.mixes),
        "documents": document_summary(inputs, found, rows, document_names, relevant),
        "evaluation": evaluate(inputs, found, _baselines(inputs, extras.baselines)),
        "held_out": bool(extras.held_out),
        "fit": _fit(inputs, extras),
    }
    summary = plain(summary)
    if inputs.texts is not None:
        # Texts get the room that the rest leaves.
        room = max(PAGE_BUDGET - len(json.dumps(summary)), SMALLEST_TEXTS)
        texts, cut = pack_within([inputs.texts[i] for i in rows], room)
        summary["documents"] |= {"texts": texts, "shortened": cut}
    return summary


def plain(value: Any) -> Any:
    """The same with Python's own numbers, and None for what JSON has no word for."""
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _key(model: Any, inputs: Inputs) -> str:
    """Which model this is: a reader's topic names are kept by it."""
    digest = hashlib.sha256(np.ascontiguousarray(model.components_).tobytes())
    digest.update("\n".join(inputs.vocabulary).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()[:16]


def _title(model: Any, targets: list[dict[str, Any]]) -> str:
    names = " and ".join(t["name"] for t in targets[:3])
    return f"{type(model).__name__}: {names}"


def _listed(name: str, given: Any, size: int) -> list[str] | None:
    if given is None:
        return None
    values = [str(v) for v in given]
    if len(values) != size:
        raise ValueError(f"{name} has {len(values)} entries, but there are {size}.")
    return values


def _targets(model: Any, labels: Labels) -> list[dict[str, Any]]:
    codings: Sequence[Coding] = model._codings
    names = _listed("target_names", labels.targets, len(codings))
    if names is None:
        names = ["y"] if len(codings) == 1 else [f"y{t}" for t in range(len(codings))]
    classes = labels.classes
    if classes is not None and len(codings) == 1:
        classes = [classes]
    out = []
    for t, (coding, own, where) in enumerate(model._parts()):
        own_labels = None
        if is_class(coding):
            own_labels = ["0", "1"] if coding.labels is None else [str(v) for v in coding.labels]
            if classes is not None and classes[t] is not None:
                own_labels = _listed("class_names", classes[t], len(own_labels))
        elif coding.labels is not None:
            own_labels = [f"{v:g}" for v in coding.labels]
        out.append(
            {
                "name": names[t],
                "kind": coding.kind,
                "first": where.start,
                "width": where.stop - where.start,
                "labels": own_labels,
                "levels": coding.labels.astype(float) if coding.kind == "ordinal" else None,
                "noise": getattr(own, "noise_variance", None),
                "thresholds": getattr(own, "thresholds", None),
            }
        )
    return out


def _predictors(model: Any, targets: list[dict[str, Any]]) -> list[dict[str, Any]]:
    several = len(targets) > 1
    out = []
    for t, target in enumerate(targets):
        for l in range(target["width"]):
            name = target["name"]
            if target["kind"] == "categorical":
                name = f"{name}: {target['labels'][l]}" if several else target["labels"][l]
            elif target["kind"] == "bernoulli":
                name = f"{name}: {target['labels'][1]}" if several else target["labels"][1]
            out.append({"name": name, "target": t})
    return out


def _topics(inputs: Inputs, found: Any, labels: Labels) -> dict[str, Any]:
    model = inputs.model
    state = model._state()
    n_topics = len(model.components_)
    errors = None
    if inputs.codes is not None and inputs.n_docs:
        errors = topic_errors(model, found.mixes, found.predictor, inputs.codes, found.covariates)
    prior = state.doc_topic_prior
    return {
        "names": _topic_names(inputs, labels.topics),
        "coef": state.coef_rows.T,
        "error": errors,
        "prevalence": found.mixes.mean(axis=0) if inputs.n_docs else prior / prior.sum(),
        "prior": prior,
        "volume": getattr(model, "topic_volume_", np.ones(n_topics)),
    }


def _topic_names(inputs: Inputs, given: Any) -> list[str]:
    """The user's names, else the most relevant words."""
    components = inputs.model.components_
    n_topics = len(components)
    if given is not None and not isinstance(given, Mapping):
        names = _listed("names", given, n_topics)
        assert names is not None
        return names
    own = dict(given or {})
    unknown = [k for k in own if not (isinstance(k, (int, np.integer)) and 0 <= k < n_topics)]
    if unknown:
        raise ValueError(f"names has {unknown[0]!r}, but topics are numbered 0 to {n_topics - 1}.")
    overall = np.maximum(components.mean(axis=0), 1e-300)
    # Rare words make strange names: those of next to no probability are not considered.
    with np.errstate(divide="ignore"):
        log = np.log(components)
    relevance = log - (1 - _RELEVANCE) * np.log(overall)
    best = np.argsort(-relevance, axis=1, kind="stable")[:, :_NAME_WORDS]
    return [
        str(
            own.get(
                k, ", ".join(_brief(inputs.vocabulary[v]) for v in best[k] if components[k, v] > 0)
            )
        )
        for k in range(n_topics)
    ]


def _brief(word: str, longest: int = 28) -> str:
    """A long code with its middle left out."""
    return word if len(word) <= longest else f"{word[:9].rstrip()}…{word[-18:].lstrip()}"


def _covariates(state: Any, values: np.ndarray | None, labels: Labels) -> dict[str, Any] | None:
    if state.covariate_coef is None:
        return None
    n = state.covariate_coef.shape[0]
    names = _listed("covariate_names", labels.covariates, n)
    return {
        "names": names or [f"covariate {j}" for j in range(n)],
        "coef": state.covariate_coef,
        "typical": np.zeros(n) if values is None or not len(values) else values.mean(axis=0),
    }


def _sees_roots(model: Any) -> bool:
    """Whether topic mixes are found from √counts."""
    from topicfocus.estimators.constrained import ConstrainedModel

    return isinstance(model, ConstrainedModel)


def _reading(words: Words) -> dict[str, Any]:
    return {
        "text": words.reads_text,
        "lowercase": words.lowercase,
        "min_length": words.min_length,
        "orders": list(words.orders),
        "stop_words": list(words.stop_words),
        "binary": words.binary,
        "note": words.note,
    }


def _baselines(inputs: Inputs, given: Any) -> dict[str, list[np.ndarray]]:
    """Predictions of others, one array a target."""
    out: dict[str, list[np.ndarray]] = {}
    for name, predictions in dict(given or {}).items():
        codings = inputs.model._codings
        parts = [predictions] if len(codings) == 1 else predictions
        if len(codings) > 1 and isinstance(predictions, np.ndarray):
            parts = list(predictions.T)
        columns = []
        for coding, part in zip(codings, parts, strict=True):
            column = np.asarray(part, dtype=float)
            if is_class(coding):
                if column.ndim == 1:
                    column = np.column_stack([1 - column, column])
                n_classes = 2 if coding.labels is None else len(coding.labels)
                if column.shape[1] != n_classes:
                    raise ValueError(
                        f"the baseline {name!r} has {column.shape[1]} columns, but there are "
                        f"{n_classes} classes: give probabilities, one column a class."
                    )
            if len(column) != inputs.n_docs:
                raise ValueError(
                    f"the baseline {name!r} predicts {len(column)} documents, but there are "
                    f"{inputs.n_docs}."
                )
            columns.append(column)
        out[str(name)] = columns
    return out


def _fit(inputs: Inputs, extras: Extras) -> dict[str, Any]:
    model = inputs.model
    history = {
        name: rounded(values)
        for name, values in getattr(model, "history_", {}).items()
        if len(values) and np.issubdtype(np.asarray(values).dtype, np.number)
    }
    fitted = {
        name: _shown(getattr(model, name))
        for name in (
            "n_iter_",
            "converged_",
            "rung_",
            "inclusion_prior_",
            "supervision_weight_",
            "doc_topic_prior_",
            "noise_variance_",
            "thresholds_",
        )
        if hasattr(model, name)
    }
    lengths = np.asarray(inputs.counts.sum(axis=1)).ravel()
    data = {
        "documents given": inputs.n_docs,
        "words in the vocabulary": len(inputs.vocabulary),
        "words kept": int(
            np.sum(getattr(model, "inclusion_", np.ones(len(inputs.vocabulary))) > 0.5)
        ),
        "tokens": float(lengths.sum()),
        "tokens of an average document": float(lengths.mean()) if len(lengths) else 0.0,
    }
    return {
        "history": history,
        "settings": {k: _shown(v) for k, v in sorted(model.get_params(deep=False).items())},
        "fitted": fitted,
        "data": data,
        "frontier": read_frontier(extras.frontier),
    }


def _shown(value: Any) -> str:
    if isinstance(value, (float, np.floating)):
        return f"{value:.6g}"
    if isinstance(value, np.ndarray):
        return ", ".join(f"{v:.4g}" for v in value.ravel()[:20])
    text = repr(value)
    return text if len(text) <= 200 else text[:200] + " …"


def read_frontier(given: Any) -> list[dict[str, Any]] | None:
    """Rows of numbers by inclusion prior, from a list of dicts, a dataframe, or what has one."""
    if given is None:
        return None
    if hasattr(given, "to_dict"):
        given = given.to_dict("records")
    rows = []
    for row in given:
        numbers = {
            str(k): float(v)
            for k, v in dict(row).items()
            if isinstance(v, (int, float, np.number)) and not isinstance(v, bool)
        }
        if "inclusion_prior" not in numbers:
            raise ValueError("every row of frontier needs inclusion_prior and figures beside it.")
        rows.append(numbers)
    return sorted(rows, key=lambda r: r["inclusion_prior"])
