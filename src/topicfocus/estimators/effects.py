"""Effects on the target's own scale that real documents reach: of topics, and of words.

**A topic.** Take a typical document: the averages of the topic mixes θ̂, covariates and log
exposures of the documents given, so that its linear predictor is their average, too. Let topic k
have the share q of it and the others what is left, in proportion,

    θ_k = q,   θ_j = θ̄_j (1 - q) / (1 - θ̄_k).

Its effect is the change of the prediction E[y | f] (the probability of a class) as q goes from the
10th to the 90th percentile of the documents' own θ̂_k. Where there are more than five classes, C,
the upper percentile is 100 (1 - 1/2C) instead: a class of average size has a share 1/C of the
documents, which the 90th percentile does not reach, and this is the middle of them.

**Its interval** contains the uncertainty of the coefficients of topics and covariates: the delta
method with the covariance φ (N/n Σ_d w_d x_d x_dᵀ)⁻¹, x_d = (θ̂_d, z_d), w_d = -E[ℓ''(f_d)], for the
N documents of the training, of which the n given stand for a sample. φ is what the words leave open
of the mixes, as noise: Var(y | θ̂)/Var(y | f), 1 for classes and levels. Of more than two classes it
is the interval of a logistic regression of this class against the rest. It does not contain that
the topics were found from the same data, nor thresholds of levels (too narrow), nor that
coefficients are shrunken (too wide).

**A word.** The mean, over a fixed sample of the documents, each taken without the word, of what one
occurrence of it changes the prediction by. Words that no topic contains change nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import norm

from topicfocus.counts import pieces
from topicfocus.estimators.documents import Documents
from topicfocus.estimators.fitted import Fitted
from topicfocus.estimators.targets import TargetPart
from topicfocus.inference.mixes import first_occurrence
from topicfocus.inference.words import mix_weights

#: Percentiles of a topic's share, as shares of the documents; see `default_quantiles`.
QUANTILES = (0.1, 0.9)
#: Documents that words are added to, at most, and at least where each of them costs much.
SAMPLE, _FEWEST = 100, 5
#: Multiplications that words may cost, a second or two.
_AFFORDED = 1e10
#: Numbers held at a time while words are added to documents.
_BLOCK = 4_000_000
#: A step of a linear predictor to find the slope of the response by.
_STEP = 1e-4
#: Relative to the largest information; keeps topics that no document has from an error.
_JITTER = 1e-10


@dataclass(frozen=True)
class TopicEffects:
    """What each topic changes in a typical document.

    One column a predictor: a number, the second of two classes, each of more classes, in turn for
    several targets.

    Attributes
    ----------
    names : tuple of str
        What each column is about: "y", or "y is good" for a class.
    quantiles : tuple of two floats
        Which, as shares of the documents.
    share_low, share_high : arrays (topics,)
        These quantiles of θ̂_k.
    low, high : arrays (topics, predictors)
        Expected target, or probability of the class, with these shares; within the limits.
    change, lower, upper : arrays (topics, predictors)
        high - low, and the ends of its interval.
    typical : array (predictors,)
        The prediction of the typical document itself.
    limits, observed : arrays (predictors, 2)
        Values that the target can have, infinite where none are known; and the smallest and
        largest that training saw, NaN where that is not known.
    coef : array (topics, predictors)
        η, on the scale of the linear predictors.
    """

    names: tuple[str, ...]
    quantiles: tuple[float, float]
    share_low: np.ndarray
    share_high: np.ndarray
    low: np.ndarray
    high: np.ndarray
    change: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    typical: np.ndarray
    limits: np.ndarray
    observed: np.ndarray
    coef: np.ndarray


@dataclass(frozen=True)
class WordEffects:
    """What the first occurrence of each word changes.

    Attributes
    ----------
    names : tuple of str
        What each predictor is about.
    words : array of int (words,)
        Columns of the words that topics contain; any other changes nothing.
    documents : array of int (words,)
        How many of the documents given have the word.
    change : array (words, predictors)
        Mean change of the expected target, or of the probability of the class.
    sample : int
        Documents that the mean is over.
    """

    names: tuple[str, ...]
    words: np.ndarray
    documents: np.ndarray
    change: np.ndarray
    sample: int


# ---- topics ------------------------------------------------------------------------------------


def topic_effects(
    fitted: Fitted,
    documents: Documents,
    *,
    quantiles: tuple[float, float] | None = None,
    confidence: float = 0.95,
    mixes: np.ndarray | None = None,
    n_jobs: int | None = None,
) -> TopicEffects:
    """The effect of every topic, in documents such as these; `mixes` are their θ̂ if known."""
    if documents.corpus.n_docs == 0:
        raise ValueError("effects need documents: X has no rows.")
    state, weight = fitted.state, documents.weights
    quantiles = default_quantiles(fitted) if quantiles is None else quantiles
    if mixes is None:
        mixes = fitted.mixes(documents.corpus, n_jobs)
    predictor = fitted.predictors(documents, mixes, n_jobs)
    centre = np.average(predictor, axis=0, weights=weight)
    typical, *ends = found_shares(mixes, weight, quantiles)
    shares = np.column_stack(ends)
    limits, observed = _limits(fitted)
    moved, f, response = _at_both_ends(fitted, typical, shares, centre, limits)
    low, high = response[:, 0], response[:, 1]
    error = _standard_errors(fitted, documents, mixes, predictor, moved, f, n_jobs)
    reach = norm.ppf(0.5 + confidence / 2) * error
    widest = limits[:, 1] - limits[:, 0]
    return TopicEffects(
        fitted.target_model.predictor_names(),
        (float(quantiles[0]), float(quantiles[1])),
        shares[:, 0],
        shares[:, 1],
        low,
        high,
        high - low,
        np.maximum(high - low - reach, -widest),
        np.minimum(high - low + reach, widest),
        fitted.target_model.responses(state.family, centre[None])[0],
        limits,
        observed,
        state.coef_rows.T.copy(),
    )


def found_shares(mixes: np.ndarray, weight: np.ndarray, quantiles: Any) -> np.ndarray:
    """The mean of θ̂_k over documents and its two quantiles, 3 x topics."""
    mean = np.average(mixes, axis=0, weights=weight)
    ends = np.array([weighted_quantiles(column, weight, quantiles) for column in mixes.T])
    return np.vstack([mean, ends.T])


def training_effects(fitted: Fitted) -> np.ndarray | None:
    """`low` and `high` of every topic in the documents of the training: topics x 2 x predictors.

    With average covariates and an exposure of one. None where their shares are not known (models
    without targets).
    """
    if fitted.typical_shares is None or fitted.targets is None:
        return None
    state = fitted.state
    typical, *ends = fitted.typical_shares
    centre = state.intercept + state.coef_rows @ typical
    if state.covariate_coef is not None:
        centre = centre + fitted.targets.covariate_scaling.centre @ state.covariate_coef
    return _at_both_ends(fitted, typical, np.column_stack(ends), centre, _limits(fitted)[0])[2]


def _at_both_ends(
    fitted: Fitted, typical: np.ndarray, shares: np.ndarray, centre: np.ndarray, limits: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mixes with both shares of every topic, topics x 2 x topics; their predictors, one row each;
    and what these come to within the limits, topics x 2 x predictors."""
    state = fitted.state
    moved = np.stack([_with_share(typical, shares[:, i]) for i in (0, 1)], axis=1)
    f = (centre + (moved - typical) @ state.coef_rows.T).reshape(-1, state.n_predictors)
    response = fitted.target_model.responses(state.family, f)
    response = np.clip(response, limits[:, 0], limits[:, 1]).reshape(len(shares), 2, -1)
    return moved, f, response


def default_quantiles(fitted: Fitted) -> tuple[float, float]:
    """The 10th and the 90th percentile; of many classes higher, where documents of one are."""
    most = max((part.coding.n_labels for part in fitted.parts if part.coding.is_class), default=2)
    return QUANTILES[0], max(QUANTILES[1], 1 - 0.5 / most)


def weighted_quantiles(values: np.ndarray, weight: np.ndarray, wanted: Any) -> np.ndarray:
    """Quantiles in which a value of weight 2 counts like two; between values by straight lines."""
    values, place = np.unique(values[weight > 0], return_inverse=True)
    total = np.bincount(place, weight[weight > 0])
    middle = (np.cumsum(total) - 0.5 * total) / total.sum()
    return np.interp(wanted, middle, values)


def _with_share(typical: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Row k: the typical mix with the share q_k of topic k, the others in proportion."""
    left = 1 - typical
    out = typical * np.where(left > 0, (1 - shares) / np.where(left > 0, left, 1.0), 0.0)[:, None]
    np.fill_diagonal(out, shares)
    return out


def _limits(fitted: Fitted) -> tuple[np.ndarray, np.ndarray]:
    """Of every predictor: what the target can be, and what it was."""
    limits, observed = [], []
    for part in fitted.parts:
        seen = (np.nan, np.nan) if part.coding.is_class else part.coding.range_seen
        limits += [part.coding.bounds(part.family)] * part.width
        observed += [seen] * part.width
    return np.array(limits, dtype=float), np.array(observed, dtype=float)


def _standard_errors(
    fitted: Fitted,
    documents: Documents,
    mixes: np.ndarray,
    predictor: np.ndarray,
    moved: np.ndarray,
    f: np.ndarray,
    n_jobs: int | None,
) -> np.ndarray:
    """Of high - low, topics x predictors, by the delta method."""
    weight, more = documents.weights, documents.covariates
    typical = np.zeros(0) if more is None else np.average(more, axis=0, weights=weight)
    design = mixes if more is None else np.column_stack([mixes, more])
    n_topics = len(moved)
    ends = np.concatenate([moved, np.tile(typical, (n_topics, 2, 1))], axis=2)
    spread = fitted.predictor_variance(documents.corpus, mixes, n_jobs)
    size = fitted.n_samples_seen
    out = np.empty((n_topics, predictor.shape[1]))
    for part in fitted.parts:
        own = predictor[:, part.where]
        scale = _dispersion(part, predictor, spread, weight)
        weights = part.family.information(own) * (weight * size / weight.sum())[:, None]
        slopes = _slopes(part, f).reshape(n_topics, 2, -1)
        for l in range(own.shape[1]):
            total = (design * weights[:, [l]]).T @ design
            total.flat[:: len(total) + 1] += _JITTER * total.max()
            covariance = scale * np.linalg.pinv(total, hermitian=True)
            push = slopes[:, 1, l, None] * ends[:, 1] - slopes[:, 0, l, None] * ends[:, 0]
            variance = np.einsum("ki,ij,kj->k", push, covariance, push)
            out[:, part.where.start + l] = np.sqrt(np.maximum(variance, 0.0))
    return out


def _dispersion(
    part: TargetPart, predictor: np.ndarray, spread: np.ndarray, weight: np.ndarray
) -> float:
    """φ: given θ̂ what the words leave open of the mix is noise, too."""
    if part.coding.n_labels:
        return 1.0
    own = np.maximum(part.family.variance(predictor[:, part.where.start]), 1e-300)
    return float(np.average(part.variance(predictor, spread) / own, 0, weight))


def _slopes(part: TargetPart, f: np.ndarray) -> np.ndarray:
    """dE[y | f]/df; of one of several classes P(1 - P), by its log odds against the rest."""
    if part.width > 1:
        p = part.probabilities(f)
        return p * (1 - p)
    above, below = (part.response(f + step) for step in (_STEP, -_STEP))
    return (above - below) / (2 * _STEP)


# ---- words -------------------------------------------------------------------------------------


def word_effects(
    fitted: Fitted,
    documents: Documents,
    *,
    n_documents: int | None = None,
    mixes: np.ndarray | None = None,
    n_jobs: int | None = None,
) -> WordEffects:
    """The effect of every word that topics contain, in documents such as these."""
    corpus = documents.corpus
    if corpus.n_docs == 0:
        raise ValueError("effects need documents: X has no rows.")
    words = np.flatnonzero(mix_weights(fitted.state).table.multiplicity > 0)
    present = np.zeros(corpus.n_words, dtype=np.int64)
    for _, _, part in pieces(corpus.counts):
        present += np.bincount(part.indices[part.data > 0], minlength=corpus.n_words)
    if n_documents is None:
        n_documents = affordable_documents(fitted, documents, len(words))
    rows = _sample(documents.weights, n_documents)
    some = documents.rows(rows)
    mixes = fitted.mixes(some.corpus, n_jobs) if mixes is None else mixes[rows]
    offsets = some.problem(1.0, n_jobs).offsets(fitted.state)
    seen, targets, family = fitted.seen(some.corpus), fitted.target_model, fitted.state.family
    n_predictors = fitted.state.n_predictors
    change = np.zeros((len(words), n_predictors))
    at_a_time = max(1, _BLOCK // (2 * n_predictors * len(rows)))
    for first in range(0, len(words), at_a_time):
        block = words[first : first + at_a_time]
        f = first_occurrence(seen, fitted.state, mixes, block, n_jobs) + offsets[:, None, None]
        response = targets.responses(family, f.reshape(-1, n_predictors)).reshape(f.shape)
        moved = response[:, :, 1] - response[:, :, 0]
        change[first : first + at_a_time] = np.average(moved, axis=0, weights=some.weights)
    return WordEffects(targets.predictor_names(), words, present[words], change, len(rows))


def affordable_documents(
    fitted: Fitted, documents: Documents, n_words: int, afforded: float = _AFFORDED
) -> int:
    """Documents to add so many words to: a hundred, fewer where topics and words are many.

    The topic proportions of a document with one more word take some 12 K (n + K) operations.
    """
    n_topics = fitted.state.n_topics
    length = max(float(fitted.relevant_words(documents.corpus).mean()), 1.0)
    each = n_words * (12 * n_topics * (length + n_topics) + 500)
    return int(np.clip(afforded / max(each, 1.0), _FEWEST, SAMPLE))


def _sample(weight: np.ndarray, most: int) -> np.ndarray:
    """Documents that count, a fixed random choice of them where they are many."""
    rows = np.flatnonzero(weight > 0)
    if len(rows) > most:
        rows = np.sort(np.random.default_rng(0).choice(rows, most, replace=False))
    return rows


# ---- tables --------------------------------------------------------------------------------------


def check_quantiles(quantiles: Any, confidence: Any) -> None:
    """Check two increasing quantiles and a confidence level."""
    try:
        low, high = (float(q) for q in quantiles)
    except (TypeError, ValueError):
        low, high = 1.0, 0.0
    if not 0 <= low < high <= 1:
        raise ValueError(
            f"quantiles must be two increasing numbers from 0 to 1, got {quantiles!r}."
        )
    if not (isinstance(confidence, (int, float)) and 0 < confidence < 1):
        raise ValueError(f"confidence must be between 0 and 1, such as 0.95, got {confidence!r}.")


def topic_table(fitted: Fitted, effects: TopicEffects, words: list[str]) -> pd.DataFrame:
    """One row per topic and predictor."""
    n_topics, n_predictors = effects.low.shape
    every = np.repeat(np.arange(n_topics), n_predictors)

    def each(column: np.ndarray) -> np.ndarray:
        return np.tile(column, n_topics)

    columns = {
        "topic": every,
        **_about(fitted, n_topics),
        "share_low": effects.share_low[every],
        "share_high": effects.share_high[every],
        "low": effects.low.ravel(),
        "high": effects.high.ravel(),
        "change": effects.change.ravel(),
        "lower": effects.lower.ravel(),
        "upper": effects.upper.ravel(),
        "limit_low": each(effects.limits[:, 0]),
        "limit_high": each(effects.limits[:, 1]),
        "coef": effects.coef.ravel(),
        "words": np.array(words, dtype=object)[every],
    }
    return pd.DataFrame(columns)


def word_table(fitted: Fitted, effects: WordEffects, names: Any) -> pd.DataFrame:
    """One row per word and predictor."""
    n_words, n_predictors = effects.change.shape
    every = np.repeat(np.arange(n_words), n_predictors)
    column = effects.words[every]
    columns = {
        "word": np.array([str(w) for w in names], dtype=object)[column],
        "column": column,
        **_about(fitted, n_words),
        "documents": effects.documents[every],
        "change": effects.change.ravel(),
    }
    return pd.DataFrame(columns)


def _about(fitted: Fitted, times: int) -> dict[str, np.ndarray]:
    """Columns "target" (if there are several) and "class" (if there are classes)."""
    targets: list[int] = []
    classes: list[Any] = []
    for t, part in enumerate(fitted.parts):
        coding, width = part.coding, part.width
        targets += [t] * width
        if not coding.is_class:
            classes.append(None)
        elif width > 1:
            classes += np.asarray(coding.labels).tolist()
        else:
            classes.append(1 if coding.labels is None else np.asarray(coding.labels).tolist()[1])
    out: dict[str, np.ndarray] = {}
    if len(fitted.parts) > 1:
        out["target"] = np.tile(np.array(targets), times)
    if any(c is not None for c in classes):
        column = np.empty(len(classes), dtype=object)
        column[:] = classes
        out["class"] = np.tile(column, times)
    return out
