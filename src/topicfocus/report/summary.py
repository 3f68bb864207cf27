"""A fitted model and documents as plain data: everything that pages and plots show."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from topicfocus import __version__
from topicfocus.estimators.effects import topic_effects, word_effects
from topicfocus.estimators.training import useless_fit_messages
from topicfocus.report.documents import (
    document_examples,
    document_summary,
    group_summary,
    outcomes,
    pack_within,
    sample_rows,
)
from topicfocus.report.evaluation import evaluate, predict_all, read_baselines
from topicfocus.report.facts import fit_summary, read_stability
from topicfocus.report.inputs import Inputs
from topicfocus.report.labels import Labels, describe_predictors, describe_targets, listed
from topicfocus.report.remainder import (
    completeness_summary,
    remainder_of_documents,
    remainder_summary,
)
from topicfocus.report.render import frame_size
from topicfocus.report.topics import covariate_summary, effect_summary, topic_summary
from topicfocus.report.words import word_summary, word_table

#: Version of the summary's layout, for programs that read it.
VERSION = 2
#: Bytes of a page with its code and all data.
PAGE_BUDGET = 1_490_000
SMALLEST_TEXTS = 34_000


@dataclass(frozen=True)
class Extras:
    """Optional parts of the page.

    Attributes
    ----------
    exposure, covariates : of the documents, for models that were fitted with them
    held_out : bool
        Whether the documents are not those the model was fitted to.
    baselines : dict of name to predictions for the same documents
    frontier : rows with `inclusion_prior` or `n_topics`, and metrics: dicts, or a DataFrame
    stability : a Stability or a dict (`read_stability`)
    by, time : one value per document, or a dict of name to values (`group_summary`)
    """

    exposure: Any = None
    covariates: Any = None
    held_out: bool = False
    baselines: Any = None
    frontier: Any = None
    stability: Any = None
    by: Any = None
    time: Any = None


def summarise(
    inputs: Inputs,
    labels: Labels | None = None,
    extras: Extras | None = None,
    *,
    max_documents: int = 500,
    exact: bool = False,
    random_state: int | None = 0,
) -> dict[str, Any]:
    """Summarise a model and documents, JSON-serialisable.

    Parameters
    ----------
    inputs : Inputs
        The model and documents, checked by `read_inputs`.
    labels : Labels, optional
    extras : Extras, optional
    max_documents : int, default=500
    exact : bool, default=False
        Keep every digit of the topics.
    random_state : int, default=0
        Seed of the sample of documents.

    Returns
    -------
    dict

    Examples
    --------
    >>> from topicfocus import FocusedTopicRegressor
    >>> from topicfocus.datasets import make_reviews
    >>> from topicfocus.report import summarise
    >>> from topicfocus.report.inputs import read_inputs
    >>> reviews = make_reviews(300, random_state=0)
    >>> model = FocusedTopicRegressor(3, random_state=0).fit(reviews.counts, reviews.target)
    >>> summarise(read_inputs(model, counts=reviews.counts))["model"]
    'FocusedTopicRegressor'
    """
    labels, extras = labels or Labels(), extras or Extras()
    model, fitted = inputs.model, inputs.fitted
    found = predict_all(inputs, extras.exposure, extras.covariates)
    rows = sample_rows(inputs.n_docs, max_documents, random_state)
    targets = describe_targets(fitted, labels, found.predictor)
    state = fitted.state
    table = word_table(fitted, inputs.counts[rows], exact, model.n_jobs)
    relevant = (state.inclusion > 0) & (state.topic_word.max(axis=1) > 0)
    documents = unseen = effects = words = summarised = None
    if inputs.n_docs:
        documents = fitted.documents(inputs.counts, None, extras.exposure, extras.covariates)
        if extras.held_out and inputs.codes is not None:
            documents = unseen = replace(documents, target=inputs.codes)
        some = {"mixes": found.mixes, "n_jobs": model.n_jobs}
        effects = topic_effects(fitted, documents, unseen, **some)
        summarised, words = effect_summary(effects, word_effects(fitted, documents, **some))
    document_names = listed("document_names", labels.documents, inputs.n_docs)
    summary = {
        "version": VERSION,
        "package": __version__,
        "key": _key(model, inputs),
        "title": labels.page_title(model, targets),
        "model": type(model).__name__,
        "targets": targets,
        "predictors": describe_predictors(targets),
        "topics": topic_summary(inputs, found, labels, effects),
        "intercept": np.broadcast_to(state.intercept, state.n_predictors).astype(float).tolist(),
        "covariates": covariate_summary(fitted, found, labels, unseen),
        "roots": fitted.sees_roots,
        "table": table,
        "remainder": remainder_summary(inputs, inputs.counts[rows]),
        "completeness": completeness_summary(inputs, extras),
        "reading": asdict(inputs.words),
        "words": word_summary(inputs) | {"effect": words},
        "documents": document_summary(inputs, found, rows, document_names, relevant)
        | document_examples(inputs, found, rows, extras.exposure, extras.covariates)
        | {"remainder": remainder_of_documents(inputs, inputs.counts[rows])},
        "evaluation": evaluate(inputs, found, read_baselines(inputs, extras.baselines)),
        "held_out": bool(extras.held_out),
        "warnings": useless_fit_messages(model),
        "fit": fit_summary(inputs, extras.frontier),
        "effects": summarised,
        "groups": group_summary(extras.by, extras.time, found.composition, outcomes(inputs, found)),
        "stability": read_stability(extras.stability, inputs.vocabulary),
    }
    summary = plain(summary)
    if inputs.texts is not None:
        # Texts get the space that the rest leaves.
        room = max(PAGE_BUDGET - frame_size() - len(json.dumps(summary)), SMALLEST_TEXTS)
        summary["documents"]["texts"] = pack_within([inputs.texts[i] for i in rows], room)
    return summary


def plain(value: Any) -> Any:
    """The same value with Python's own numbers, None for NaN and infinity."""
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
    """Key of the model, under which the browser keeps a reader's topic names."""
    digest = hashlib.sha256(np.ascontiguousarray(model.components_).tobytes())
    digest.update("\n".join(inputs.vocabulary).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()[:16]
