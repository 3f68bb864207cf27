"""A fitted model and documents as plain data: all that the page and the figures are drawn from."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from topicfocus import __version__
from topicfocus.estimators.words import (
    RELEVANCE,
    first_words,
    has_telling,
    topic_scores,
    usual_order,
)
from topicfocus.report.covariates import describe_covariates
from topicfocus.report.documents import (
    document_summary,
    evaluate,
    pack_within,
    predict_all,
    read_baselines,
    sample_rows,
)
from topicfocus.report.effects import reachable_effects
from topicfocus.report.examples import document_examples
from topicfocus.report.facts import fit_facts
from topicfocus.report.groups import group_summary, outcomes
from topicfocus.report.inputs import Inputs, TextReading
from topicfocus.report.intervals import topic_errors
from topicfocus.report.labels import (
    Labels,
    describe_predictors,
    describe_targets,
    is_half,
    listed,
    topic_names,
)
from topicfocus.report.layout import topic_map
from topicfocus.report.render import frame_size
from topicfocus.report.stability import read_stability
from topicfocus.report.table import word_table
from topicfocus.report.vocabulary import word_summary

#: Of the summary's layout, for programs that read it.
VERSION = 2
#: Bytes of a page, its own code and all data.
PAGE_BUDGET = 1_490_000
SMALLEST_TEXTS = 34_000
#: Dropped words that each topic is shown with, and words of its own (as in topics.js).
CONTEXT_WORDS = 12
SHOWN_WORDS = 20


@dataclass(frozen=True)
class Extras:
    """What else there is to show.

    Attributes
    ----------
    exposure, covariates : of the documents, for models that were fitted with them
    held_out : bool
        Whether the documents are ones the model was not trained on.
    baselines : dict of name to predictions for the same documents
    frontier : rows with `inclusion_prior` or `n_topics`, and figures: dicts, or a dataframe
    stability : what was found out about it, a dict or a Stability (`read_stability`)
    by, time : one value a document, or a dict of name to values (`group_summary`)
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
    """Everything the page shows, JSON-serialisable.

    Parameters
    ----------
    inputs : Inputs
        The model and documents, as `read_inputs` has checked them.
    labels : Labels, optional
        What things are called.
    extras : Extras, optional
        What else there is to show.
    max_documents : int, default=500
    exact : bool, default=False
        Keep every digit of the topics.
    random_state : int, default=0
        Of the sample of documents.

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
    effects, word_effects = reachable_effects(
        inputs, found.mixes, extras.exposure, extras.covariates
    )
    document_names = listed("document_names", labels.documents, inputs.n_docs)
    summary = {
        "version": VERSION,
        "package": __version__,
        "key": _key(model, inputs),
        "title": labels.page_title(model, targets),
        "model": type(model).__name__,
        "targets": targets,
        "predictors": describe_predictors(targets),
        "topics": _topics(inputs, found, labels),
        "intercept": np.broadcast_to(state.intercept, state.n_predictors).astype(float).tolist(),
        "covariates": describe_covariates(fitted, found.covariates, found.predictor, labels),
        "roots": fitted.sees_roots,
        "table": table,
        "reading": _reading(inputs.words),
        "words": word_summary(inputs, found.mixes) | {"effect": word_effects},
        "documents": document_summary(inputs, found, rows, document_names, relevant)
        | document_examples(inputs, found, rows, extras.exposure, extras.covariates),
        "evaluation": evaluate(inputs, found, read_baselines(inputs, extras.baselines)),
        "held_out": bool(extras.held_out),
        "fit": fit_facts(inputs, extras.frontier),
        "effects": effects,
        "groups": _groups(inputs, found, extras),
        "stability": read_stability(extras.stability, state.n_topics, inputs.vocabulary),
    }
    summary = plain(summary)
    if inputs.texts is not None:
        # Texts get the room that the rest leaves.
        room = max(PAGE_BUDGET - frame_size() - len(json.dumps(summary)), SMALLEST_TEXTS)
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


def _groups(inputs: Inputs, found: Any, extras: Extras) -> list[dict[str, Any]] | None:
    if extras.by is None and extras.time is None:
        return None
    return group_summary(extras.by, extras.time, found.composition, outcomes(inputs, found))


def _topics(inputs: Inputs, found: Any, labels: Labels) -> dict[str, Any]:
    fitted = inputs.fitted
    state = fitted.state
    errors = None
    if inputs.codes is not None and inputs.n_docs:
        errors = topic_errors(fitted, found.mixes, found.predictor, inputs.codes, found.covariates)
    prior = state.doc_topic_prior
    return {
        "names": topic_names(inputs, labels.topics),
        "coef": state.coef_rows.T,
        "error": errors,
        "prevalence": found.composition.mean(axis=0) if inputs.n_docs else prior / prior.sum(),
        "prior": prior,
        "order": usual_order(fitted),
        "relevance": RELEVANCE,
        "telling": _telling(inputs),
        "context": _context(inputs),
        "volume": fitted.volume if fitted.sees_roots else np.ones(state.n_topics),
        "map": topic_map(fitted.components, state.coef_rows[0]),
    }


def _telling(inputs: Inputs) -> list[list[int]] | None:
    """Columns of the telling words of each topic, which the page cannot compute by itself."""
    if not has_telling(inputs.fitted):
        return None
    scores, columns = topic_scores(inputs.fitted, "telling"), np.arange(len(inputs.vocabulary))
    found = first_words(scores, SHOWN_WORDS, columns, lambda s: s > -np.inf)
    return [[int(v) for v in words] for words in found]


def _context(inputs: Inputs) -> list[list[int]] | None:
    """Columns of the dropped words that each topic goes with; None where they are not known."""
    if inputs.fitted.context is None:
        return None
    columns = np.arange(len(inputs.vocabulary))
    found = inputs.model.context_words(2 * CONTEXT_WORDS, columns)
    kept = [[int(v) for v in words if not is_half(inputs.vocabulary[int(v)])] for words in found]
    return [words[:CONTEXT_WORDS] for words in kept]


def _reading(words: TextReading) -> dict[str, Any]:
    return {
        "text": words.reads_text,
        "lowercase": words.lowercase,
        "min_length": words.min_length,
        "orders": list(words.orders),
        "stop_words": list(words.stop_words),
        "binary": words.binary,
        "elisions": None if words.elisions is None else list(words.elisions),
        "note": words.note,
    }
