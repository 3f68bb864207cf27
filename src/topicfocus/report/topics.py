"""The topics of the page: names, words, coefficients and predicted differences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from topicfocus.estimators.effects import QUANTILES, topic_effects, word_effects
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
from topicfocus.report.labels import Labels, listed, name_of_word
from topicfocus.report.render import pack

_NAME_WORDS = 3
#: λ of the words that name a topic: readers knew topics best by it (Sievert and Shirley, 2014).
_NAME_RELEVANCE = 0.6
#: Dropped words shown for each topic, and words of its own (as in topics.js).
_CONTEXT_WORDS = 12
_SHOWN_WORDS = 20
#: Words x predictors above which word effects are stored in steps, not as floats.
_MANY_EFFECTS = 4_000
#: Significant digits of the effects of topics.
_DIGITS = 8
#: Relative to the largest information; keeps the matrix regular for topics without documents.
_JITTER = 1e-10
#: What a tokeniser leaves of "wasn't", "I've" and "they'll".
_CONTRACTIONS = (
    "ain aren couldn didn doesn don hadn hasn haven isn ll mustn needn re shouldn ve wasn weren "
    "wouldn"
)
_FRAGMENTS = frozenset(_CONTRACTIONS.split())


def topic_summary(inputs: Inputs, found: Predictions, labels: Labels) -> dict[str, Any]:
    """Names, coefficients, prevalence and words of the topics."""
    fitted, state = inputs.fitted, inputs.fitted.state
    errors = None
    if inputs.codes is not None and inputs.n_docs:
        errors = topic_errors(fitted, found.mixes, found.predictor, inputs.codes, found.covariates)
    prior = state.doc_topic_prior
    return {
        "names": _names(inputs, labels.topics),
        "coef": state.coef_rows.T,
        "error": errors,
        "prevalence": found.composition.mean(axis=0) if inputs.n_docs else prior / prior.sum(),
        "prior": prior,
        "order": usual_order(fitted),
        "relevance": RELEVANCE,
        "distinctive": _distinctive_words(inputs),
        "context": _context_words(inputs),
        "volume": fitted.volume if fitted.sees_roots else np.ones(state.n_topics),
    }


def _names(inputs: Inputs, given: Any) -> list[str]:
    """The user's names; by default the words that distinguish a topic from the others."""
    n_topics = inputs.fitted.state.n_topics
    if given is not None and not isinstance(given, Mapping):
        names = listed("names", given, n_topics)
        assert names is not None
        return names
    own = dict(given or {})
    unknown = [k for k in own if not (isinstance(k, (int, np.integer)) and 0 <= k < n_topics)]
    if unknown:
        raise ValueError(f"names has {unknown[0]!r}, but topics are numbered 0 to {n_topics - 1}.")
    scores = topic_scores(inputs.fitted, naming_order(inputs.fitted), _NAME_RELEVANCE)
    found = first_words(scores, 4 * _NAME_WORDS, inputs.vocabulary, lambda s: s > -np.inf)
    names = []
    for k, words in enumerate(found):
        clear = [word for word in words if word not in _FRAGMENTS] or words
        names.append(str(own.get(k, ", ".join(name_of_word(w) for w in clear[:_NAME_WORDS]))))
    return names


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
    columns = np.arange(len(inputs.vocabulary))
    found = inputs.model.context_words(2 * _CONTEXT_WORDS, columns)
    clear = [
        [int(v) for v in words if inputs.vocabulary[int(v)] not in _FRAGMENTS] for words in found
    ]
    return [words[:_CONTEXT_WORDS] for words in clear]


def topic_errors(
    fitted: Fitted,
    mixes: np.ndarray,
    predictor: np.ndarray,
    codes: np.ndarray,
    covariates: np.ndarray | None = None,
) -> np.ndarray:
    """Standard errors of b + η_k, topics x predictors, from documents with a known target.

    A document of topic k alone has the linear predictor μ_k = b + η_k. Since topic proportions sum
    to one, μ is the coefficient vector of θ̂ in a model without an intercept. Given the proportions
    its information is

        I = Σ_d w_d x_d x_dᵀ,   x_d = (θ̂_d, z_d),   w_d = -E[ℓ''(f_d)],

    with w = 1/δ for real targets, p(1-p) for two classes, e^f for counts, Σ_c P'_c²/P_c for levels,
    and p_c(1-p_c) for the predictor of class c. The standard error of μ_k is √(φ I⁻¹)_kk, where φ
    is the dispersion of these documents about f. The noise variance δ of the model would be too
    small: given θ̂, the uncertainty of the proportions is noise as well. Not included: that topics
    were estimated from data, and shrinkage, which reduces the variance of coefficients.
    """
    n_topics = mixes.shape[1]
    design = mixes if covariates is None else np.column_stack([mixes, covariates])
    out = np.full((n_topics, predictor.shape[1]), np.nan)
    for t, part in enumerate(fitted.parts):
        where = part.where
        known = np.isfinite(codes[:, t])
        if known.sum() <= design.shape[1]:
            continue
        x = design[known]
        weights = part.family.information(predictor[known, where])
        first = predictor[known, where.start]
        dispersion = part.family.overdispersion(first, codes[known, t])
        dispersion *= len(x) / (len(x) - x.shape[1])  # degrees of freedom
        for l in range(weights.shape[1]):
            total = (x * weights[:, [l]]).T @ x
            total.flat[:: len(total) + 1] += _JITTER * total.max()
            variance = np.diag(np.linalg.pinv(total, hermitian=True))[:n_topics]
            out[:, where.start + l] = np.sqrt(np.maximum(dispersion * variance, 0.0))
    return out


# ---- predicted differences -----------------------------------------------------------------------


def effect_summary(
    inputs: Inputs,
    found: Predictions,
    exposure: Any = None,
    covariates: Any = None,
    held_out: bool = False,
) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
    """Effects of topics, and packed effects of words; None without documents.

    Intervals come from the documents and their targets if they had no part in the fit (`held_out`).
    """
    if not inputs.n_docs:
        return None, None
    fitted, n_jobs = inputs.fitted, inputs.model.n_jobs
    documents = fitted.documents(inputs.counts, None, exposure, covariates)
    unseen = None
    if held_out and inputs.codes is not None:
        documents = unseen = replace(documents, target=inputs.codes)
    topics = topic_effects(fitted, documents, unseen, mixes=found.mixes, n_jobs=n_jobs)
    words = word_effects(fitted, documents, mixes=found.mixes, n_jobs=n_jobs)
    named = (
        "proportion_low",
        "proportion_high",
        "low",
        "high",
        "change",
        "typical",
    )
    out: dict[str, Any] = {name: _short(getattr(topics, name)) for name in named}
    for name in ("estimate", "lower", "upper"):
        values = getattr(topics, name)
        out[name] = _short(values) if np.isfinite(values).all() else None
    out |= {"limits": topics.limits, "observed": topics.observed}
    out |= {"sample": words.sample, "quantiles": topics.quantiles}
    kind, step = "f4", None
    if words.change.size > _MANY_EFFECTS:
        kind, step = "i2", max(float(np.abs(words.change).max()), 1e-12) / 32767
    return out, pack(words.change, kind, step)


def _short(values: np.ndarray) -> Any:
    """Nested lists of floats with few digits."""
    shown = np.array([float(f"{v:.{_DIGITS}g}") for v in np.ravel(values)])
    return shown.reshape(np.shape(values)).tolist()


def covariate_summary(fitted: Fitted, found: Predictions, labels: Labels) -> dict[str, Any] | None:
    """Names, coefficients and predicted differences of covariates, None for a model without.

    "average" is the mean of the training part, "typical" that of these documents. "effects" (None
    without documents) has the "values" at the 10th and the 90th percentile of each covariate, and
    the predictions "low" and "high" there, everything else as in the typical document.
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
        "average": targets.covariate_scaling.centre,
        "typical": np.zeros(n) if values is None else values.mean(axis=0),
        "effects": None if values is None else _covariate_effects(fitted, values, found.predictor),
    }


def _covariate_effects(fitted: Fitted, values: np.ndarray, predictor: np.ndarray) -> dict[str, Any]:
    state = fitted.state
    assert state.covariate_coef is not None
    ends = np.quantile(values, QUANTILES, axis=0, method="hazen").T
    # For a rare indicator both percentiles are 0: the smallest and the largest value then.
    same = ends[:, 0] == ends[:, 1]
    ends[same] = np.column_stack([values.min(axis=0), values.max(axis=0)])[same]
    moved = ends - values.mean(axis=0)[:, None]
    f = predictor.mean(axis=0) + moved[:, :, None] * state.covariate_coef[:, None, :]
    response = fitted.target_model.responses(state.family, f.reshape(-1, state.n_predictors))
    for part in fitted.parts:
        limits = part.coding.bounds(part.family)
        response[:, part.where] = np.clip(response[:, part.where], *limits)
    response = response.reshape(len(ends), 2, -1)
    return {"values": ends, "low": response[:, 0], "high": response[:, 1]}
