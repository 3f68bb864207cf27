"""The topics of the page: names, words, coefficients and predicted differences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from topicfocus.corpus import Corpus
from topicfocus.estimators.documents import Documents
from topicfocus.estimators.effects import (
    QUANTILES,
    TopicEffects,
    WordEffects,
    held_out_effects,
    proportion_differences,
)
from topicfocus.estimators.fitted import Fitted
from topicfocus.estimators.words import (
    RELEVANCE,
    first_words,
    has_distinctive,
    naming_order,
    topic_scores,
    usual_order,
)
from topicfocus.report.evaluation import Predictions
from topicfocus.report.inputs import Inputs
from topicfocus.report.labels import Labels, listed
from topicfocus.report.render import pack_rounded
from topicfocus.text.codes import short_names

_NAME_WORDS = 3
#: λ of the words that name a topic: readers knew topics best by it (Sievert and Shirley, 2014).
_NAME_RELEVANCE = 0.6
#: Dropped words shown for each topic, and words of its own (as in topics.js).
_CONTEXT_WORDS = 12
_SHOWN_WORDS = 20
#: Significant digits of the effects of topics.
_DIGITS = 8


def topic_summary(
    inputs: Inputs, found: Predictions, labels: Labels, effects: TopicEffects | None
) -> dict[str, Any]:
    """Numbers, names, coefficients, proportions and words of the topics, by component."""
    fitted, state = inputs.fitted, inputs.fitted.state
    prior = state.doc_topic_prior
    given = _given_names(inputs.model, labels.topics, state.n_topics)
    return {
        "number": topic_numbers(
            inputs.model, state.coef_rows.T if effects is None else effects.change
        ),
        "names": [given.get(k, name) for k, name in enumerate(_default_names(inputs))],
        "named": [k in given for k in range(state.n_topics)],
        "coef": state.coef_rows.T,
        "prevalence": found.composition.mean(axis=0) if inputs.n_docs else prior / prior.sum(),
        "leads": _leads(inputs, found.composition),
        "prior": prior,
        "order": usual_order(fitted),
        "relevance": RELEVANCE,
        "distinctive": _distinctive_words(inputs),
        "context": _context_words(inputs),
        "volume": fitted.volume if fitted.sees_roots else np.ones(state.n_topics),
    }


def topic_numbers(model: Any, change: np.ndarray) -> list[int]:
    """The number of each topic, from 1, in the order of `workflow.summary.topic_rows`.

    A model that the workflow has fitted keeps its numbers. Otherwise the topic with the largest
    increase of the first target has the number 1. For more than two classes, topics are ordered by
    the class that they increase most, then by this increase.
    """
    kept = getattr(model, "shown_components_", None)
    if kept is not None and sorted(kept) == list(range(len(change))):
        return (np.argsort(kept) + 1).tolist()
    own = change[:, model.fitted_.parts[0].where]
    best = own.argmax(axis=1)
    order = np.lexsort((-own[np.arange(len(own)), best], best))
    return (np.argsort(order) + 1).tolist()


def _given_names(model: Any, given: Any, n_topics: int) -> dict[int, str]:
    """Names by component that were given to the page, or to the model by `rename_topics`."""
    if given is None:
        given = getattr(model, "topic_names_", None)
        if given is None:
            return {}
    if not isinstance(given, Mapping):
        if len(given) != n_topics:
            raise ValueError(f"names has {len(given)} entries, but there are {n_topics} topics.")
        given = {k: name for k, name in enumerate(given) if name}
    unknown = [k for k in given if not (isinstance(k, (int, np.integer)) and 0 <= k < n_topics)]
    if unknown:
        raise ValueError(
            f"names has the key {unknown[0]!r}, but keys are rows of components_, 0 to "
            f"{n_topics - 1}."
        )
    return {int(k): str(name) for k, name in given.items()}


def _default_names(inputs: Inputs) -> list[str]:
    """The words that distinguish each topic from the others."""
    scores = topic_scores(inputs.fitted, naming_order(inputs.fitted), _NAME_RELEVANCE)
    # Codes of two kinds may have the same name.
    found = first_words(scores, 2 * _NAME_WORDS, inputs.vocabulary, lambda s: s > -np.inf)
    label = dict(zip(inputs.vocabulary, inputs.labels, strict=True))
    return [short_names(words, [label[word] for word in words], _NAME_WORDS) for words in found]


def _leads(inputs: Inputs, composition: np.ndarray) -> np.ndarray | None:
    """The fraction of documents in which each topic has the largest token proportion."""
    known = np.zeros(0, dtype=bool)
    if inputs.n_docs:
        known = inputs.fitted.relevant_words(Corpus(inputs.counts)) > 0
    if not known.any():
        return None
    first = composition[known].argmax(axis=1)
    return np.bincount(first, minlength=composition.shape[1]) / len(first)


def _distinctive_words(inputs: Inputs) -> list[list[int]] | None:
    """Columns of the distinctive words of each topic, which the page cannot compute by itself."""
    if not has_distinctive(inputs.fitted):
        return None
    scores, columns = topic_scores(inputs.fitted, "distinctive"), np.arange(len(inputs.vocabulary))
    found = first_words(scores, _SHOWN_WORDS, columns, lambda s: s > -np.inf)
    return [[int(v) for v in words] for words in found]


def _context_words(inputs: Inputs) -> list[list[int]] | None:
    """Columns of the dropped words of each topic's documents; None if they are not known."""
    if inputs.fitted.context is None:
        return None
    found = inputs.model.context_words(_CONTEXT_WORDS, np.arange(len(inputs.vocabulary)))
    return [[int(v) for v in words] for words in found]


# ---- predicted differences -----------------------------------------------------------------------


def effect_summary(topics: TopicEffects, words: WordEffects) -> tuple[dict[str, Any], Any]:
    """Predicted differences of topics, and those of words as a packed array."""
    names = ("proportion_low", "proportion_high", "low", "high", "change", "typical")
    out: dict[str, Any] = {name: _short(getattr(topics, name)) for name in names}
    for name in ("estimate", "lower", "upper"):
        values = getattr(topics, name)
        out[name] = _short(values) if np.isfinite(values).all() else None
    out |= {"limits": topics.limits, "observed": topics.observed}
    out |= {"sample": words.sample, "quantiles": topics.quantiles}
    return out, pack_rounded(words.change)


def _short(values: np.ndarray) -> Any:
    """Nested lists of floats with few digits."""
    shown = np.array([float(f"{v:.{_DIGITS}g}") for v in np.ravel(values)])
    return shown.reshape(np.shape(values)).tolist()


def covariate_summary(
    fitted: Fitted, found: Predictions, labels: Labels, held_out: Documents | None
) -> dict[str, Any] | None:
    """Names, coefficients and predicted differences of covariates, None for a model without.

    "average" is the mean of the training part, "typical" that of these documents. "effects" (None
    without documents) has the "values" at the 10th and the 90th percentile of each covariate, and
    the predictions "low" and "high" there, everything else as in the typical document; "lower" and
    "upper" are the 95% interval of their difference in the `held_out` documents. The percentiles of
    a "rare" indicator are the same: its smallest and largest value are compared.
    """
    state, targets, values = fitted.state, fitted.target_model, found.covariates
    if state.covariate_coef is None:
        return None
    n = state.covariate_coef.shape[0]
    names = listed("covariate_names", labels.covariates, targets.n_covariates)
    names = names or [f"covariate {j}" for j in range(targets.n_covariates)]
    if values is not None and not len(values):
        values = None
    return {
        "names": targets.column_names(names),
        "coef": state.covariate_coef,
        "average": targets.covariates.centre,
        "typical": np.zeros(n) if values is None else values.mean(axis=0),
        "effects": None if values is None else _covariate_effects(fitted, values, found, held_out),
    }


def _covariate_effects(
    fitted: Fitted, values: np.ndarray, found: Predictions, held_out: Documents | None
) -> dict[str, Any]:
    state = fitted.state
    assert state.covariate_coef is not None
    ends = np.quantile(values, QUANTILES, axis=0, method="hazen").T
    rare = ends[:, 0] == ends[:, 1]
    ends[rare] = np.column_stack([values.min(axis=0), values.max(axis=0)])[rare]
    moved = ends - values.mean(axis=0)[:, None]
    f = found.predictor.mean(axis=0) + moved[:, :, None] * state.covariate_coef[:, None, :]
    response = fitted.responses(f.reshape(-1, state.n_predictors))
    for part in fitted.parts:
        limits = part.coding.bounds(part.family)
        response[:, part.where] = np.clip(response[:, part.where], *limits)
    response = response.reshape(len(ends), 2, -1)
    lower = upper = None
    if held_out is not None:
        moves = proportion_differences(fitted, found.mixes, held_out.weights)
        interval = held_out_effects(fitted, held_out, found.mixes, moves).interval(0.95)
        lower, upper = (np.diff(ends) * limit[state.n_topics :] for limit in interval)
        if not np.isfinite(lower).all():
            lower = upper = None
    return {
        "values": ends,
        "rare": rare,
        "low": response[:, 0],
        "high": response[:, 1],
        "lower": lower,
        "upper": upper,
    }
