"""Predicted differences, in units of the target, that belong to topics and to words.

**Topics.** Consider a typical document: averages of the topic proportions θ̂, covariates and log
exposures of the given documents, so that its linear predictor is their average, too. Let topic k
have the proportion q of it, and the others the rest, in proportion,

    θ_k = q,   θ_j = θ̄_j (1 - q) / (1 - θ̄_k).

The effect of the topic is the difference of the predictions E[y | f] (the probability of a class)
at the 90th and at the 10th percentile of θ̂_k over the documents. With C > 5 classes the upper
percentile is 100 (1 - 1/2C): a class of average size has 1/C of the documents, and this percentile
is the middle of them.

**Intervals.** The documents that a model was fitted to selected its words and shaped its topics, so
an interval computed from them is too optimistic: with a target of pure noise it excludes zero far
too often. Documents that had no part in the fit take the topics as given. There, the target y is
regressed on the topic proportions θ̂ and the covariates z by weighted least squares,

    y_d = b + β·θ̂_d + ζ·z_d + e_d,

and the effect of topic k is β·(θ_high - θ_low), the two proportions that `topic_effects` compares.
For a class, y is 1 for the documents of the class and 0 for the others; for counts with exposures
E, it is the rate y/E with the weight E. The effect is thus a difference in the mean target for
every kind of target: the best linear approximation of it, whatever the link of the family.

The standard error is heteroscedasticity-consistent (HC2), and the interval is that of Student's t
with the degrees of freedom of Bell and McCaffrey (2002): few where an effect depends on the few
documents that have a topic at all.

**Words.** The effect of a word is the mean change of the prediction due to one occurrence of it, in
a fixed sample of the documents, each without the word. Words that no topic contains have no effect.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.linalg import block_diag
from scipy.stats import t as student

from topicfocus.counts import pieces
from topicfocus.estimators.documents import Documents
from topicfocus.estimators.fitted import Fitted
from topicfocus.estimators.targets import TargetPart
from topicfocus.proportions import first_occurrence, proportion_weights

#: Quantiles of the topic proportions; see `default_quantiles`.
QUANTILES = (0.1, 0.9)
#: Largest and smallest number of documents that words are added to.
SAMPLE, _FEWEST = 100, 5
#: Number of multiplications for words, a second or two.
_AFFORDED = 1e10
#: Numbers held at a time while words are added to documents.
_BLOCK = 4_000_000
#: Relative to the largest one; smaller ones are directions in which documents do not differ.
_SMALLEST_SINGULAR_VALUE = 1e-8
#: 1 - leverage at least: a document that determines a coefficient by itself has no residual.
_SMALLEST_RESIDUAL_SHARE = 1e-3


@dataclass(frozen=True)
class TopicEffects:
    """Effects of the topics in a typical document, one column per predictor.

    A predictor belongs to a number, to the second of two classes, or to each of more classes; for
    several targets in turn.

    Attributes
    ----------
    names : tuple of str
        Names of the predictors: "y", or "y is good" for a class.
    quantiles : tuple of two floats
        Lower and upper quantile.
    proportion_low, proportion_high : arrays (topics,)
        These quantiles of θ̂_k.
    low, high : arrays (topics, predictors)
        Expected target, or probability of the class, with these shares; within the limits.
    change : array (topics, predictors)
        high - low.
    estimate, lower, upper : arrays (topics, predictors)
        The same difference estimated from documents that had no part in the fit, and its interval
        (`held_out_effects`); NaN without such documents.
    typical : array (predictors,)
        Prediction of the typical document.
    limits, observed : arrays (predictors, 2)
        Smallest and largest possible target, infinite if unknown; and smallest and largest training
        target, NaN if unknown.
    coef : array (topics, predictors)
        η, on the scale of the linear predictors.
    """

    names: tuple[str, ...]
    quantiles: tuple[float, float]
    proportion_low: np.ndarray
    proportion_high: np.ndarray
    low: np.ndarray
    high: np.ndarray
    change: np.ndarray
    estimate: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    typical: np.ndarray
    limits: np.ndarray
    observed: np.ndarray
    coef: np.ndarray


@dataclass(frozen=True)
class WordEffects:
    """Effects of the first occurrence of each word.

    Attributes
    ----------
    names : tuple of str
        Names of the predictors.
    words : array of int (words,)
        Columns of the words that topics contain.
    documents : array of int (words,)
        Number of the given documents that contain the word.
    change : array (words, predictors)
        Mean change of the expected target, or of the probability of the class.
    sample : int
        Number of documents that the mean is over.
    """

    names: tuple[str, ...]
    words: np.ndarray
    documents: np.ndarray
    change: np.ndarray
    sample: int


# ---- topics --------------------------------------------------------------------------------------


def topic_effects(
    fitted: Fitted,
    documents: Documents,
    held_out: Documents | None = None,
    *,
    quantiles: tuple[float, float] | None = None,
    confidence: float = 0.95,
    mixes: np.ndarray | None = None,
    n_jobs: int | None = None,
) -> TopicEffects:
    """The effect of every topic, in documents such as these; `mixes` are their θ̂ if known.

    `held_out` are documents with targets that had no part in the fit: intervals come from them.
    """
    if documents.corpus.n_docs == 0:
        raise ValueError("effects need documents: X has no rows.")
    state, weight = fitted.state, documents.weights
    quantiles = default_quantiles(fitted) if quantiles is None else quantiles
    if mixes is None:
        mixes = fitted.mixes(documents.corpus, n_jobs)
    predictor = fitted.predictors(documents, mixes, n_jobs)
    centre = np.average(predictor, axis=0, weights=weight)
    typical, *ends = found_shares(mixes, weight, quantiles)
    limits, observed = _limits(fitted)
    moved, response = _at_both_ends(fitted, typical, np.column_stack(ends), centre, limits)
    low, high = response[:, 0], response[:, 1]
    estimate = lower = upper = np.full(low.shape, np.nan)
    if held_out is not None:
        same = held_out is documents
        theirs = mixes if same else fitted.mixes(held_out.corpus, n_jobs)
        found = held_out_effects(fitted, held_out, theirs, moved[:, 1] - moved[:, 0])
        topics = slice(state.n_topics)
        estimate = found.estimate[topics]
        most = np.diff(limits)[:, 0]  # the largest possible difference, 1 for a probability
        lower, upper = (np.clip(end[topics], -most, most) for end in found.interval(confidence))
    return TopicEffects(
        names=fitted.target_model.predictor_names(),
        quantiles=(float(quantiles[0]), float(quantiles[1])),
        proportion_low=ends[0],
        proportion_high=ends[1],
        low=low,
        high=high,
        change=high - low,
        estimate=estimate,
        lower=lower,
        upper=upper,
        typical=fitted.responses(centre[None])[0],
        limits=limits,
        observed=observed,
        coef=state.coef_rows.T.copy(),
    )


def proportion_differences(fitted: Fitted, mixes: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """θ_high - θ_low of every topic in documents of these proportions, topics x topics."""
    typical, *ends = found_shares(mixes, weight, default_quantiles(fitted))
    low, high = (_with_share(typical, end) for end in ends)
    return high - low


def found_shares(mixes: np.ndarray, weight: np.ndarray, quantiles: Any) -> np.ndarray:
    """The mean of θ̂_k over documents and its two quantiles, 3 x topics."""
    mean = np.average(mixes, axis=0, weights=weight)
    ends = np.array([weighted_quantiles(column, weight, quantiles) for column in mixes.T])
    return np.vstack([mean, ends.T])


def training_effects(fitted: Fitted) -> np.ndarray | None:
    """`low` and `high` of every topic in the training documents: topics x 2 x predictors.

    Covariates are average, and the exposure is one. None for models without targets.
    """
    if fitted.typical_shares is None or fitted.targets is None:
        return None
    state = fitted.state
    typical, *ends = fitted.typical_shares
    centre = state.intercept + state.coef_rows @ typical
    if state.covariate_coef is not None:
        centre = centre + fitted.targets.covariates.centre @ state.covariate_coef
    return _at_both_ends(fitted, typical, np.column_stack(ends), centre, _limits(fitted)[0])[1]


def _at_both_ends(
    fitted: Fitted, typical: np.ndarray, shares: np.ndarray, centre: np.ndarray, limits: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Proportions with both values of every topic, topics x 2 x topics, and the predictions of
    these within the limits, topics x 2 x predictors."""
    state = fitted.state
    moved = np.stack([_with_share(typical, shares[:, i]) for i in (0, 1)], axis=1)
    f = (centre + (moved - typical) @ state.coef_rows.T).reshape(-1, state.n_predictors)
    response = fitted.responses(f)
    response = np.clip(response, limits[:, 0], limits[:, 1]).reshape(len(shares), 2, -1)
    return moved, response


def default_quantiles(fitted: Fitted) -> tuple[float, float]:
    """The 10th and the 90th percentile; for many classes the upper one is higher."""
    most = max((part.coding.n_labels for part in fitted.parts if part.coding.is_class), default=2)
    return QUANTILES[0], max(QUANTILES[1], 1 - 0.5 / most)


def weighted_quantiles(values: np.ndarray, weight: np.ndarray, wanted: Any) -> np.ndarray:
    """Weighted quantiles, interpolated linearly; a value of weight 2 counts like two values."""
    values, place = np.unique(values[weight > 0], return_inverse=True)
    total = np.bincount(place, weight[weight > 0])
    middle = (np.cumsum(total) - 0.5 * total) / total.sum()
    return np.interp(wanted, middle, values)


def _with_share(typical: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Row k: typical proportions with q_k for topic k, the others in proportion."""
    left = 1 - typical
    out = typical * np.where(left > 0, (1 - shares) / np.where(left > 0, left, 1.0), 0.0)[:, None]
    np.fill_diagonal(out, shares)
    return out


def _limits(fitted: Fitted) -> tuple[np.ndarray, np.ndarray]:
    """Possible and observed range of the target of every predictor."""
    limits, observed = [], []
    for part in fitted.parts:
        seen = (np.nan, np.nan) if part.coding.is_class else part.coding.range_seen
        limits += [part.coding.bounds(part.family)] * part.width
        observed += [seen] * part.width
    return np.array(limits, dtype=float), np.array(observed, dtype=float)


# ---- intervals of topics -------------------------------------------------------------------


@dataclass(frozen=True)
class HeldOutEffects:
    """Effects estimated from held-out documents, arrays of topics and covariates x predictors.

    Attributes
    ----------
    estimate, variance : array
        Effects and their sampling variances; NaN where there are too few documents.
    freedom : array
        Degrees of freedom of these variances.
    """

    estimate: np.ndarray
    variance: np.ndarray
    freedom: np.ndarray

    def interval(self, confidence: float) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper limits."""
        reach = student.ppf(0.5 + confidence / 2, np.maximum(self.freedom, 1.0))
        reach = reach * np.sqrt(self.variance)
        return self.estimate - reach, self.estimate + reach


def held_out_effects(
    fitted: Fitted, documents: Documents, proportions: np.ndarray, difference: np.ndarray
) -> HeldOutEffects:
    """Effects of topics, then of covariates, from documents that had no part in the fit.

    `proportions` are their θ̂; row k of `difference` is θ_high - θ_low of topic k. The effect of a
    covariate is its coefficient, of one unit.
    """
    assert documents.target is not None
    more = documents.covariates
    design = proportions if more is None else np.column_stack([proportions, more])
    n_covariates = design.shape[1] - proportions.shape[1]
    moves = block_diag(difference, np.eye(n_covariates)) if n_covariates else difference
    estimate, variance, freedom = [], [], []
    for t, part in enumerate(fitted.parts):
        response, weight = observed_response(part, documents, t)
        known = (weight > 0) & np.isfinite(documents.target[:, t])
        for column in response[known].T:
            found = linear_effects(column, weight[known], design[known], moves)
            estimate.append(found[0])
            variance.append(found[1])
            freedom.append(found[2])
    return HeldOutEffects(
        np.column_stack(estimate), np.column_stack(variance), np.column_stack(freedom)
    )


def observed_response(
    part: TargetPart, documents: Documents, t: int
) -> tuple[np.ndarray, np.ndarray]:
    """The target in the units of its predictions, one column per predictor, and the weights."""
    assert documents.target is not None
    codes, weight = documents.target[:, t], documents.weights
    labels = part.coding.labels
    if part.coding.is_class:
        classes = np.arange(part.width) if part.width > 1 else np.array([1])
        return (codes[:, None] == classes).astype(float), weight
    if labels is not None:
        known = np.isfinite(codes)
        codes = np.where(known, np.asarray(labels, float)[np.where(known, codes, 0).astype(int)], 0)
    if part.family.takes_exposure and documents.offset is not None:
        exposure = np.exp(documents.offset[:, part.where.start])
        return (codes / exposure)[:, None], weight * exposure
    return codes[:, None], weight


def linear_effects(
    target: np.ndarray, weight: np.ndarray, design: np.ndarray, moves: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Weighted least squares with an intercept: moves·β, its HC2 variances, degrees of freedom."""
    missing = np.full(len(moves), np.nan)
    root = np.sqrt(weight)
    basis, sizes, axes = np.linalg.svd(
        root[:, None]
        * np.column_stack([np.ones(len(design)), design - weight @ design / weight.sum()]),
        full_matrices=False,
    )
    used = sizes > _SMALLEST_SINGULAR_VALUE * sizes.max(initial=0.0)
    basis = basis[:, used]
    if len(target) <= used.sum():
        return missing, missing, missing
    # moves·β = C'(√w y): row i of C is what document i adds to each effect.
    with_level = np.column_stack([np.zeros(len(moves)), moves])
    influence = basis @ ((axes[used] @ with_level.T) / sizes[used, None])
    outcome = root * target
    estimate = influence.T @ outcome
    residual = outcome - basis @ (basis.T @ outcome)
    free = np.maximum(1 - np.sum(basis**2, axis=1), _SMALLEST_RESIDUAL_SHARE)
    square = influence**2 / free[:, None]
    variance = square.T @ residual**2
    # Satterthwaite: the mean and the variance of this sum of squares if errors are alike.
    mean = free @ square
    products = np.einsum("nk,np,nq->kpq", square, basis, basis)
    spread = np.sum(square**2 * (2 * free - 1)[:, None], axis=0) + np.sum(products**2, axis=(1, 2))
    return estimate, variance, mean**2 / np.maximum(spread, 1e-300)


# ---- words ---------------------------------------------------------------------------------------


def word_effects(
    fitted: Fitted,
    documents: Documents,
    *,
    n_documents: int | None = None,
    mixes: np.ndarray | None = None,
    n_jobs: int | None = None,
) -> WordEffects:
    """The effect of every word that topics contain."""
    corpus = documents.corpus
    if corpus.n_docs == 0:
        raise ValueError("effects need documents: X has no rows.")
    words = np.flatnonzero(proportion_weights(fitted.state).table.multiplicity > 0)
    present = np.zeros(corpus.n_words, dtype=np.int64)
    for _, _, part in pieces(corpus.counts):
        present += np.bincount(part.indices[part.data > 0], minlength=corpus.n_words)
    if n_documents is None:
        n_documents = affordable_documents(fitted, documents, len(words))
    rows = _sample(documents.weights, n_documents)
    some = documents.rows(rows)
    mixes = fitted.mixes(some.corpus, n_jobs) if mixes is None else mixes[rows]
    offsets = some.problem(1.0, n_jobs).offsets(fitted.state)
    offsets = offsets + fitted.remainder_amounts(some.corpus)
    seen = fitted.seen(some.corpus)
    n_predictors = fitted.state.n_predictors
    change = np.zeros((len(words), n_predictors))
    at_a_time = max(1, _BLOCK // (2 * n_predictors * len(rows)))
    for first in range(0, len(words), at_a_time):
        block = words[first : first + at_a_time]
        f = first_occurrence(seen, fitted.state, mixes, block, n_jobs) + offsets[:, None, None]
        response = fitted.responses(f.reshape(-1, n_predictors)).reshape(f.shape)
        moved = response[:, :, 1] - response[:, :, 0]
        change[first : first + at_a_time] = np.average(moved, axis=0, weights=some.weights)
    return WordEffects(
        fitted.target_model.predictor_names(), words, present[words], change, len(rows)
    )


def affordable_documents(
    fitted: Fitted, documents: Documents, n_words: int, afforded: float = _AFFORDED
) -> int:
    """Number of documents to add `n_words` words to: 100, fewer if there are many topics and words.

    The topic proportions of a document with one more word take some 12 K (n + K) operations.
    """
    n_topics = fitted.state.n_topics
    length = max(float(fitted.relevant_words(documents.corpus).mean()), 1.0)
    each = n_words * (12 * n_topics * (length + n_topics) + 500)
    return int(np.clip(afforded / max(each, 1.0), _FEWEST, SAMPLE))


def _sample(weight: np.ndarray, most: int) -> np.ndarray:
    """Documents of positive weight, a fixed random sample of at most `most`."""
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

    names = np.array([name or "" for name in fitted.names], dtype=object)
    columns = {
        "topic": every,
        **({"name": names[every]} if any(names) else {}),
        **_about(fitted, n_topics),
        "proportion_low": effects.proportion_low[every],
        "proportion_high": effects.proportion_high[every],
        "low": effects.low.ravel(),
        "high": effects.high.ravel(),
        "change": effects.change.ravel(),
        "estimate": effects.estimate.ravel(),
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
    targets = [t for t, part in enumerate(fitted.parts) for _ in range(part.width)]
    classes = [event for part in fitted.parts for event in part.coding.events]
    out: dict[str, np.ndarray] = {}
    if len(fitted.parts) > 1:
        out["target"] = np.tile(targets, times)
    if any(c is not None for c in classes):
        column = np.empty(len(classes), dtype=object)
        column[:] = classes
        out["class"] = np.tile(column, times)
    return out
