"""`stability`: would another sample of documents give the same words, topics and effects?

Documents are split into two halves again and again, and the model is fitted to both (complementary
pairs, Shah and Samworth, 2013). Halves of one pair share no document, so what both find was found
twice, independently.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

import topicfocus
from topicfocus.estimators.parameters import check_count, check_share
from topicfocus.kernels.threads import n_threads
from topicfocus.metrics.topics import top_words
from topicfocus.selection.documents import Data, read_data, take_apart, words_of
from topicfocus.selection.figures import TOP, kept_words
from topicfocus.selection.finished import Finished, fingerprint
from topicfocus.selection.indices import (
    StabilityIndex,
    false_words_bound,
    jaccard,
    nogueira_index,
)
from topicfocus.selection.intervals import Intervals, half_sample_intervals
from topicfocus.selection.parallel import progress_of, run_all
from topicfocus.selection.resampling import covariate_effects, fit_pair, topic_effects

#: A word that is kept in so many of the halves counts as one that comes back.
OFTEN = 0.9
#: A topic whose mean cosine is below this is another topic in another sample.
SAME_TOPIC = 0.7


@dataclass(frozen=True, kw_only=True, eq=False)
class Stability:
    """What comes back when a model is fitted to halves of its documents.

    Attributes
    ----------
    n_resamples : int
        Pairs of halves that both were fitted.
    frequency : array (words,)
        Share of the halves that keep each word; 1 for all words of a model that drops none.
    kept : array of bool (words,)
        Words that the model itself keeps.
    mean_kept : float
        q, how many words a half keeps.
    index : StabilityIndex
        Nogueira's over all halves, with a 95% interval. Halves of different pairs overlap by half,
        so that it is higher than for independent samples, and the interval is too narrow.
    disjoint_index, disjoint_jaccard : float
        Nogueira's and Jaccard's index of the two halves of a pair, which share no document; means
        over pairs. What two samples of half the size would have in common.
    topic_cosine : array (topics,)
        Mean cosine of each topic with the one matched to it in a half.
    topic_between : array (topics,)
        Mean cosine of the topics that are matched to it in the two halves of a pair.
    returning : array (topics, 10)
        How often each of a topic's ten top words (`top`) is among those of its match.
    top : tuple of arrays
        Columns of the ten top words of each topic.
    effects, covariates : Intervals
        Of what each topic moves: the change of the linear predictor (the target itself for real
        ones, log odds for two classes) when its part goes from the 10th to the 90th percentile of
        the documents and the others make room in proportion, topics x predictors; and of the
        covariates' coefficients. They contain selecting words and shaping topics anew, not only
        the last regression.
    correlation : float
        Mean correlation of the two halves' predictions (linear predictors) over all documents.
    vocabulary : array of str or None
    failed : tuple of str
        Why pairs could not be fitted, if any.

    Examples
    --------
    >>> from topicfocus import FocusedTopicRegressor, stability
    >>> from topicfocus.datasets import make_reviews
    >>> reviews = make_reviews(300, random_state=0)
    >>> model = FocusedTopicRegressor(2, max_epochs=5, random_state=0)
    >>> found = stability(model, reviews.counts, reviews.target, n_resamples=3, n_jobs=1)
    >>> found.frequency.shape == (reviews.counts.shape[1],)
    True
    """

    n_resamples: int
    frequency: np.ndarray
    kept: np.ndarray
    mean_kept: float
    index: StabilityIndex
    disjoint_index: float
    disjoint_jaccard: float
    topic_cosine: np.ndarray
    topic_between: np.ndarray
    returning: np.ndarray
    top: tuple[np.ndarray, ...] = field(repr=False)
    effects: Intervals
    covariates: Intervals
    correlation: float
    vocabulary: np.ndarray | None = field(default=None, repr=False)
    failed: tuple[str, ...] = ()

    def stable_words(self, threshold: float = OFTEN) -> np.ndarray:
        """Columns of the words that are kept in at least this share of the halves.

        Parameters
        ----------
        threshold : float in (0.5, 1], default=0.9

        Returns
        -------
        array of int

        Examples
        --------
        >>> from topicfocus import FocusedTopicRegressor, stability
        >>> from topicfocus.datasets import make_reviews
        >>> reviews = make_reviews(300, random_state=0)
        >>> model = FocusedTopicRegressor(2, max_epochs=5, random_state=0)
        >>> found = stability(model, reviews.counts, reviews.target, n_resamples=3, n_jobs=1)
        >>> len(found.stable_words(0.6)) >= len(found.stable_words(1.0))
        True
        """
        return np.flatnonzero(self.frequency >= threshold - 1e-9)

    def false_words(self, threshold: float = OFTEN, unimodal: bool = False) -> float:
        """Bound on how many of `stable_words` are words of low selection probability.

        Parameters
        ----------
        threshold : float in (0.5, 1], default=0.9
        unimodal : bool, default=False
            As for `false_words_bound`, which has the assumptions.

        Returns
        -------
        float

        Examples
        --------
        >>> from topicfocus import FocusedTopicRegressor, stability
        >>> from topicfocus.datasets import make_reviews
        >>> reviews = make_reviews(300, random_state=0)
        >>> model = FocusedTopicRegressor(2, max_epochs=5, random_state=0)
        >>> found = stability(model, reviews.counts, reviews.target, n_resamples=3, n_jobs=1)
        >>> found.false_words(1.0) <= found.false_words(0.75)
        True
        """
        n_words, pairs = len(self.frequency), self.n_resamples
        return false_words_bound(self.mean_kept, n_words, threshold, pairs, unimodal)

    def to_dict(self, vocabulary: Sequence[str] | None = None) -> dict[str, Any]:
        """Everything as plain data, for JSON and for the explorer.

        Parameters
        ----------
        vocabulary : list of str, optional
            Names of the columns; by default those of the pipeline or dataframe, else their numbers.

        Returns
        -------
        dict
            "words" has the name and frequency of every word that the model or any half keeps.

        Examples
        --------
        >>> from topicfocus import FocusedTopicRegressor, stability
        >>> from topicfocus.datasets import make_reviews
        >>> reviews = make_reviews(300, random_state=0)
        >>> model = FocusedTopicRegressor(2, max_epochs=5, random_state=0)
        >>> found = stability(model, reviews.counts, reviews.target, n_resamples=3, n_jobs=1)
        >>> sorted(found.to_dict(reviews.vocabulary)["topics"][0])
        ['between', 'cosine', 'effect', 'high', 'low', 'same', 'topic', 'words']
        """
        names = self._names(vocabulary)
        shown = np.flatnonzero(self.kept | (self.frequency > 0))
        order = shown[np.argsort(-self.frequency[shown], kind="stable")]
        return {
            "resamples": self.n_resamples,
            "failed": list(self.failed),
            "level": self.effects.level,
            "often": OFTEN,
            "same_topic": SAME_TOPIC,
            "mean_kept": self.mean_kept,
            "nogueira": _number(self.index.value),
            "nogueira_low": _number(self.index.low),
            "nogueira_high": _number(self.index.high),
            "disjoint_nogueira": _number(self.disjoint_index),
            "disjoint_jaccard": self.disjoint_jaccard,
            "prediction_correlation": _number(self.correlation),
            "stable_words": len(self.stable_words()),
            "false_words": self.false_words(),
            "words": [
                {
                    "word": names[v],
                    "column": int(v),
                    "frequency": float(self.frequency[v]),
                    "kept": bool(self.kept[v]),
                }
                for v in order
            ],
            "topics": [self._topic(k, names) for k in range(len(self.topic_cosine))],
            "covariates": [
                {key: values[j] for key, values in _plain(self.covariates).items()}
                for j in range(len(self.covariates.estimate))
            ],
        }

    def _topic(self, k: int, names: Sequence[str]) -> dict[str, Any]:
        effects = {key: values[k] for key, values in _plain(self.effects).items()}
        return {
            "topic": k,
            "cosine": float(self.topic_cosine[k]),
            "between": float(self.topic_between[k]),
            "same": bool(self.topic_cosine[k] >= SAME_TOPIC),
            **effects,
            "words": [
                {"word": names[v], "returns": float(often)}
                for v, often in zip(self.top[k], self.returning[k], strict=False)
            ],
        }

    def _names(self, vocabulary: Sequence[str] | None) -> list[str]:
        given = self.vocabulary if vocabulary is None else vocabulary
        if given is None:
            given = [str(v) for v in range(len(self.frequency))]
        if len(given) != len(self.frequency):
            raise ValueError(
                f"vocabulary has {len(given)} words, but the model has {len(self.frequency)}."
            )
        return [str(word) for word in given]

    def __str__(self) -> str:
        index, many = self.index, len(self.stable_words())
        lines = [
            f"Stability over {self.n_resamples} pairs of halves",
            f"  words: Nogueira's index {index.value:.2f}; halves without a common document share "
            f"{self.disjoint_jaccard:.0%} of their words (Jaccard)",
            f"  {many} words are kept in {OFTEN:.0%} of the halves; at most "
            f"{self.false_words():.1f} of them are expected to be words of low probability",
            f"  predictions of two halves correlate by {self.correlation:.2f}",
        ]
        for k, cosine in enumerate(self.topic_cosine):
            back = [v for v, r in zip(self.top[k], self.returning[k], strict=False) if r >= OFTEN]
            names = self._names(None)
            lines.append(
                f"  topic {k}: cosine {cosine:.2f}; always back: "
                f"{' '.join(names[v] for v in back) or 'no top word'}"
            )
        return "\n".join(lines)


def stability(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    n_resamples: int = 50,
    level: float = 0.9,
    groups: Any = None,
    n_jobs: int | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    random_state: int = 0,
    verbose: bool = False,
    **beside: Any,
) -> Stability:
    """What of a model comes back in other samples: words, topics, effects.

    Fits the model to `n_resamples` pairs of complementary halves of the documents, 2·`n_resamples`
    fits. The same seed gives the same result, on any number of cores.

    Parameters
    ----------
    model : a topic model, or a pipeline that ends in one
        Fitted to these documents, or not: then it is fitted to them first. A pipeline's words are
        counted once, with the vocabulary of all documents.
    X, y : documents and targets, as for the model's fit
    n_resamples : int, default=50
        Pairs of halves, at least 2. Intervals need some 20.
    level : float, default=0.9
        Of the intervals of effects.
    groups : array (documents,), optional
        Documents of one group come to the same half.
    n_jobs : int, optional
        Processes; all cores by default.
    checkpoint : path, optional
        A folder in which finished pairs are kept; the same call goes on from there.
    random_state : int, default=0
        Decides the halves.
    verbose : bool, default=False
        A bar on a terminal.
    **beside
        sample_weight, covariates, exposure, as for fit.

    Returns
    -------
    Stability

    Raises
    ------
    ValueError
        If there is one group only, which cannot be halved.

    Examples
    --------
    >>> from topicfocus import FocusedTopicRegressor, stability
    >>> from topicfocus.datasets import make_reviews
    >>> reviews = make_reviews(300, random_state=0)
    >>> model = FocusedTopicRegressor(2, max_epochs=5, random_state=0)
    >>> found = stability(model, reviews.counts, reviews.target, n_resamples=3, n_jobs=1)
    >>> found.topic_cosine.shape, found.effects.low.shape
    ((2,), (2, 1))
    """
    check_count("n_resamples", n_resamples, minimum=2)
    check_share("level", level)
    parts = take_apart(model)
    data = read_data(X, y, groups, beside, parts.name)
    if groups is not None and len(np.unique(np.asarray(groups))) < 2:
        raise ValueError("groups has one group only, which cannot be halved.")
    whole, counts, words = _whole_model(parts.front, parts.model, data)
    counted = Data(X=counts, y=data.y, groups=data.groups, beside=data.beside)
    records = _pairs(whole, counted, n_resamples, n_jobs, checkpoint, random_state, verbose)
    return _summary(whole, counts, records, level, words)


def _whole_model(front: Any, model: Any, data: Data) -> tuple[Any, Any, np.ndarray | None]:
    """The model of all documents, their counts, and the words' names."""
    if not hasattr(type(model), "components_"):
        raise TypeError(f"stability is of topic models, not of {type(model).__name__}.")
    counts = data.X
    if front is not None:
        try:
            check_is_fitted(front)
            counts = front.transform(data.X)
        except NotFittedError:
            front = clone(front)
            counts = front.fit_transform(data.X, data.y)
    names = words_of(front, data.X)
    if not hasattr(model, "fitted_"):
        fit = clone(model).fit
        model = fit(counts, **data.beside) if data.y is None else fit(counts, data.y, **data.beside)
    elif model.fitted_.state.n_words != counts.shape[1]:
        raise ValueError(
            f"X has {counts.shape[1]} features, but the model was fitted to "
            f"{model.fitted_.state.n_words}."
        )
    return model, counts, names


def _pairs(
    model: Any,
    data: Data,
    n_resamples: int,
    n_jobs: int | None,
    checkpoint: Any,
    seed: int,
    verbose: bool,
) -> list[dict[str, Any]]:
    """The record of every pair, from the checkpoint where it is there."""
    reference, fresh = model.fitted_.components, clone(model)
    # More resamples later are the same work continued: their number is no part of the mark.
    mark = fingerprint(
        topicfocus.__version__,
        fresh,
        reference,
        data.X,
        data.y,
        data.groups,
        data.beside,
        seed,
    )
    if n_threads(n_jobs) > 1:
        fresh.set_params(n_jobs=1)
    finished = Finished(checkpoint, mark, "stability")
    names = [f"pair-{i}" for i in range(n_resamples)]
    found = {name: record for name in names if (record := finished.get(name)) is not None}
    classes = is_classifier(model)
    left = [(name, fresh, data, reference, classes, seed) for name in names if name not in found]
    with progress_of("halves", n_resamples, verbose) as advance:
        for _ in found:
            advance("")
        try:
            for record in run_all(fit_pair, left, n_jobs):
                found[record["name"]] = record
                finished.put(record["name"], record)
                advance("")
        except KeyboardInterrupt:
            where = "" if checkpoint is None else f"; the same call goes on from {checkpoint}"
            raise KeyboardInterrupt(f"Interrupted after {len(found)} pairs{where}.") from None
    return [found[name] for name in names]


def _summary(
    model: Any,
    counts: Any,
    records: list[dict[str, Any]],
    level: float,
    words: np.ndarray | None,
) -> Stability:
    good = [r for r in records if r["error"] is None]
    errors = tuple(r["error"] for r in records if r["error"] is not None)
    if len(good) < 2:
        raise ValueError(f"{len(errors)} of {len(records)} pairs failed. The first: {errors[0]}")
    n_words = model.fitted_.state.n_words
    kept = np.zeros((len(good), 2, n_words), dtype=bool)
    for i, record in enumerate(good):
        for h, columns in enumerate(record["kept"]):
            kept[i, h, columns] = True
    halves = kept.reshape(-1, n_words)
    top = tuple(top_words(model.fitted_.components, TOP))
    correlations = [r["correlation"] for r in good if r["correlation"] is not None]
    return Stability(
        n_resamples=len(good),
        frequency=halves.mean(axis=0),
        kept=kept_words(model),
        mean_kept=float(halves.sum(axis=1).mean()),
        index=nogueira_index(halves),
        disjoint_index=float(np.mean([nogueira_index(pair).value for pair in kept])),
        disjoint_jaccard=float(np.mean([jaccard(*pair) for pair in kept])),
        topic_cosine=np.mean([r["cosine"] for r in good], axis=(0, 1)),
        topic_between=np.mean([r["between"] for r in good], axis=0),
        returning=_returning(top, good),
        top=top,
        effects=half_sample_intervals(
            topic_effects(model, counts), np.array([r["effects"] for r in good]), level
        ),
        covariates=half_sample_intervals(
            covariate_effects(model), np.array([r["covariates"] for r in good]), level
        ),
        correlation=float(np.mean(correlations)) if correlations else math.nan,
        vocabulary=words,
        failed=errors,
    )


def _returning(top: Sequence[np.ndarray], records: list[dict[str, Any]]) -> np.ndarray:
    """How often a topic's top words are among those of its match, topics x words."""
    out = np.zeros((len(top), TOP))
    for record in records:
        for half in record["top"]:
            for k, words in enumerate(top):
                out[k, : len(words)] += np.isin(words, half[k])
    return out / (2 * len(records))


def _plain(intervals: Intervals) -> dict[str, list[Any]]:
    """Rows as numbers where there is one predictor, else as lists."""
    parts = {"effect": intervals.estimate, "low": intervals.low, "high": intervals.high}
    return {
        name: [_number(row[0]) if len(row) == 1 else [_number(v) for v in row] for row in values]
        for name, values in parts.items()
    }


def _number(value: Any) -> float | None:
    return float(value) if math.isfinite(value) else None
