"""`stability`: which words, topics and effects replicate in other samples of documents.

Documents are split into two halves repeatedly, and the model is fitted to both (complementary
pairs, Shah and Samworth, 2013). The halves of a pair have no document in common, so what both find
was found twice, independently.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from topicfocus.estimators.arguments import (
    check_count,
    check_flag,
    check_share,
    read_weight,
)
from topicfocus.estimators.effects import HeldOutEffects, held_out_effects, proportion_differences
from topicfocus.estimators.training import FitOptions, fit_with
from topicfocus.estimators.words import reciprocal_ranks, topic_scores
from topicfocus.metrics.topics import match_topics, top_words
from topicfocus.selection.resamples import (
    Data,
    column_names,
    halves,
    read_data,
    ready_to_fit,
    split_estimator,
)
from topicfocus.selection.runner import Record, n_processes, run_fits
from topicfocus.selection.stability_measures import (
    Intervals,
    StabilityIndex,
    Substitutes,
    crossed_intervals,
    false_words_bound,
    find_substitutes,
    jaccard,
    nogueira_index,
)

#: Number of top words of a topic that metrics use.
TOP = 10
#: A word is stable if at least this fraction of the halves keep it.
OFTEN = 0.9
#: A topic whose mean cosine is smaller is a different topic in other samples.
SAME_TOPIC = 0.7


@dataclass(frozen=True, kw_only=True, eq=False)
class Stability:
    """Which words, topics and effects of a model replicate in halves of its documents.

    Attributes
    ----------
    n_resamples : int
        Number of pairs of halves that were fitted.
    frequency : array (words,)
        Fraction of the halves that keep each word; 1 for all words of a model that drops none.
    kept : array of bool (words,)
        Words that the model itself keeps.
    mean_kept : float
        q, the mean number of words that a half keeps.
    index : StabilityIndex
        Nogueira's index over all halves, with a 95% interval. Halves of different pairs overlap by
        half, so it is higher than for independent samples, and the interval is too narrow.
    disjoint_index, disjoint_jaccard : float
        Nogueira's and Jaccard's index of the two halves of a pair, which have no document in
        common; means over pairs. They estimate the overlap of two samples of half the size.
    topic_cosine : array (topics,)
        Mean cosine of each topic with the topic matched to it in a half.
    topic_between : array (topics,)
        Mean cosine of the two topics that are matched to it in the two halves of a pair.
    returning : array (topics, 10)
        How often each of the ten top words of a topic (`top`) is a top word of the matched topic.
    top : tuple of arrays
        Columns of the ten top words of each topic.
    effects, covariates : Intervals
        Differences of the mean target (probability of a class), topics x predictors, if the
        proportion of a topic increases from its 10th to its 90th percentile and the others decrease
        in proportion; and those of one unit of each covariate. The intervals come from documents
        that had no part in selecting words and optimising topics.
    correlation : float
        Mean correlation of the predictions (linear predictors) of two halves over all documents.
    stand_ins : Substitutes
        Columns of the words that are interchangeable with each kept one; see `substitutes`.
    vocabulary : array of str or None
    failed : tuple of str
        Errors of the pairs that could not be fitted.

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
    stand_ins: Substitutes = field(repr=False)
    vocabulary: np.ndarray | None = field(default=None, repr=False)
    failed: tuple[str, ...] = ()

    def stable_words(self, threshold: float = OFTEN) -> np.ndarray:
        """Columns of the words that at least this fraction of the halves keep.

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
        """Upper bound on the expected number of `stable_words` of low selection probability.

        Parameters
        ----------
        threshold : float in (0.5, 1], default=0.9
        unimodal : bool, default=False
            As for `false_words_bound`.

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

    def substitutes(
        self, n: int = 3, vocabulary: Sequence[str] | None = None
    ) -> list[dict[str, Any]]:
        """Kept words that do not always replicate, with interchangeable words that are dropped.

        A substitute is dropped by the model, kept by some half, and used in the same documents: the
        correlation of √counts is at least 0.15. Largest correlations come first. If nearly all
        halves keep the word or its substitute, only the choice between the two is unstable.

        Parameters
        ----------
        n : int, default=3
            Number of substitutes per word, at most 5.
        vocabulary : list of str, optional
            As for `to_dict`.

        Returns
        -------
        list of dict
            "word", its "frequency", and "others", each with "word", "frequency", "correlation" and
            "either", the fraction of the halves that keep one of the two.

        Examples
        --------
        >>> from topicfocus import FocusedTopicRegressor, stability
        >>> from topicfocus.datasets import make_reviews
        >>> reviews = make_reviews(300, random_state=0)
        >>> model = FocusedTopicRegressor(2, max_epochs=5, random_state=0)
        >>> found = stability(model, reviews.counts, reviews.target, n_resamples=3, n_jobs=1)
        >>> rows = found.substitutes(vocabulary=reviews.vocabulary)
        >>> all(other['either'] >= row['frequency'] for row in rows for other in row['others'])
        True
        """
        names, found = self._names(vocabulary), self.stand_ins
        rows = []
        for i in np.argsort(-found.correlation[:, 0], kind="stable"):
            v = found.words[i]
            if found.others[i, 0] < 0 or self.frequency[v] >= OFTEN:
                continue
            others = [
                {
                    "word": names[u],
                    "frequency": float(self.frequency[u]),
                    "correlation": float(found.correlation[i, j]),
                    "either": float(found.either[i, j]),
                }
                for j, u in enumerate(found.others[i, :n])
                if u >= 0
            ]
            frequency = float(self.frequency[v])
            rows.append({"word": names[v], "frequency": frequency, "others": others})
        return rows

    def to_dict(self, vocabulary: Sequence[str] | None = None) -> dict[str, Any]:
        """All results as plain data, for JSON and for the explorer.

        Parameters
        ----------
        vocabulary : list of str, optional
            Names of the columns; by default those of the pipeline or DataFrame, else their numbers.

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
            "substitutes": self.substitutes(vocabulary=vocabulary),
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
        index, many, false = self.index, len(self.stable_words()), self.false_words()
        bound = ""  # a bound above the number of words bounds nothing
        if false < many:
            bound = (
                f"; of these, at most {false:.1f} are expected to have a low selection probability"
            )
        lines = [
            f"Stability over {self.n_resamples} pairs of halves",
            f"  words: Nogueira's index {index.value:.2f}; disjoint halves have "
            f"{self.disjoint_jaccard:.0%} of their words in common (Jaccard)",
            f"  {many} words are kept in {OFTEN:.0%} of the halves{bound}",
            f"  correlation of the predictions of two halves: {self.correlation:.2f}",
        ]
        names = self._names(None)
        for k, cosine in enumerate(self.topic_cosine):
            stable = [v for v, r in zip(self.top[k], self.returning[k], strict=False) if r >= OFTEN]
            lines.append(
                f"  topic {k}: cosine {cosine:.2f}; stable top words: "
                f"{' '.join(names[v] for v in stable) or 'none'}"
            )
        return "\n".join(lines)


def _plain(intervals: Intervals) -> dict[str, list[Any]]:
    """One number per row if there is one predictor, else a list."""
    parts = {"effect": intervals.estimate, "low": intervals.low, "high": intervals.high}
    return {
        name: [_number(row[0]) if len(row) == 1 else [_number(v) for v in row] for row in values]
        for name, values in parts.items()
    }


def _number(value: Any) -> float | None:
    return float(value) if math.isfinite(value) else None


# ---- the function --------------------------------------------------------------------------------


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
    fix_inclusion: bool = True,
    **arrays: Any,
) -> Stability:
    """Selection stability of a model: which words, topics and effects replicate in other samples.

    Fits the model to `n_resamples` pairs of complementary halves of the documents, 2·`n_resamples`
    fits. The same seed gives the same result for any number of processes.

    Parameters
    ----------
    model : a topic model, or a pipeline that ends in one
        If it is not fitted, it is fitted to these documents first. The words of a pipeline are
        counted once, with the vocabulary of all documents.
    X, y : documents and targets, as for the model's fit
    n_resamples : int, default=50
        Number of pairs of halves, at least 2. Intervals need about 20.
    level : float, default=0.9
        Confidence level of the intervals of effects.
    groups : array (documents,), optional
        Documents of one group are in the same half.
    n_jobs : int, optional
        Number of processes; all cores by default. Little work runs in one process.
    checkpoint : path, optional
        A folder for the records of finished pairs (`joblib.Memory`): the same call continues from
        them.
    random_state : int, default=0
        Seed of the halves.
    verbose : bool, default=False
        Whether to show progress: a bar on a terminal, a line from time to time elsewhere.
    fix_inclusion : bool, default=True
        Whether halves use the inclusion that an automatic `inclusion_prior` gave in the model, so
        that words, topics and effects of one setting are compared. Otherwise every half chooses its
        own, which is often smaller for fewer documents.
    **arrays
        sample_weight, covariates, exposure, as for fit.

    Returns
    -------
    Stability

    Raises
    ------
    ValueError
        If there is only one group, or fewer than two pairs could be fitted.

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
    check_flag("fix_inclusion", fix_inclusion)
    parts = split_estimator(model)
    data = read_data(X, y, groups, arrays, parts.name)
    if groups is not None and len(np.unique(np.asarray(groups))) < 2:
        raise ValueError("groups has only one group, which cannot be halved.")
    whole, data, words = _fitted(parts.front, parts.model, data)
    jobs = n_processes(data, n_resamples, n_jobs)
    inclusion = chosen_inclusion(whole) if fix_inclusion else None
    found = run_fits(
        partial(
            fit_pair,
            model=ready_to_fit(whole, random_state, jobs),
            data=data,
            topics=whole.components_,
            seed=random_state,
            inclusion=inclusion,
        ),
        [[(f"pair-{i}", i)] for i in range(n_resamples)],
        identity=(whole, data, whole.components_, random_state, repr(inclusion)),
        checkpoint=checkpoint,
        n_jobs=jobs,
        title="stability",
        verbose=verbose,
    )
    records = [found[f"pair-{i}"] for i in range(n_resamples)]
    return _summary(whole, data, records, level, words)


def _fitted(front: Any, model: Any, data: Data) -> tuple[Any, Data, np.ndarray | None]:
    """The model fitted to all documents, their counts, and the names of the words."""
    if not hasattr(type(model), "components_"):
        raise TypeError(f"stability needs a topic model, not {type(model).__name__}.")
    counts = data.X
    if front is not None:
        try:
            check_is_fitted(front)
            counts = front.transform(data.X)
        except NotFittedError:
            front = clone(front)
            counts = front.fit_transform(data.X, data.y)
    names = column_names(front, data.X)
    data = replace(data, X=counts)
    if not hasattr(model, "fitted_"):
        model = fit_with(clone(model), FitOptions(remainder=False), data.X, data.y, **data.arrays)
    elif model.fitted_.state.n_words != counts.shape[1]:
        raise ValueError(
            f"X has {counts.shape[1]} features, but the model was fitted to "
            f"{model.fitted_.state.n_words}."
        )
    return model, data, names


def chosen_inclusion(model: Any) -> float | None:
    """The result of an automatic inclusion; None for models that choose none."""
    if getattr(model, "inclusion_prior", None) != "auto":
        return None
    return float(model.inclusion_prior_)


# ---- pairs of halves -----------------------------------------------------------------------------


def fit_pair(
    number: int,
    shared: dict[Any, Any],
    *,
    model: Any,
    data: Data,
    topics: np.ndarray,
    seed: int,
    inclusion: float | None,
) -> Record:
    """Fit both halves of a pair; words kept, and topics matched to those of the whole model."""
    rng = np.random.default_rng([seed, number])
    parts = [data.rows(part) for part in halves(data, is_classifier(model), rng)]
    options = FitOptions(fixed_inclusion=inclusion, remainder=False)
    models = [fit_with(clone(model), options, part.X, part.y, **part.arrays) for part in parts]
    crossed = [effects_in(model, other) for model, other in zip(models, parts[::-1], strict=True)]
    orders, cosines = zip(*(match_topics(m.components_, topics) for m in models), strict=True)
    matched = list(zip(models, orders, strict=True))
    first, second = (model.components_[order] for model, order in matched)
    # Covariates come after the topics, in their own order.
    n_rows = len(crossed[0].estimate)
    rows = [np.concatenate([order, np.arange(len(order), n_rows)]) for order in orders]
    return {
        "kept": np.array([kept_words(model) for model in models]),
        "cosine": np.array(cosines),
        "between": _cosines(first, second),
        "top": [top_words(shown_topics(model)[order], TOP) for model, order in matched],
        # Halves x topics and covariates x predictors.
        "effects": np.array([c.estimate[row] for c, row in zip(crossed, rows, strict=True)]),
        "variances": np.array([c.variance[row] for c, row in zip(crossed, rows, strict=True)]),
        "correlation": _correlation(models, data),
    }


def effects_in(model: Any, data: Data) -> HeldOutEffects:
    """Effects of the model's topics and covariates, estimated from `data` (`held_out_effects`)."""
    fitted = model.fitted_
    n_topics = fitted.state.n_topics
    if fitted.targets is None:
        none = np.zeros((n_topics, 0))
        return HeldOutEffects(none, none, none)
    documents = fitted.documents(data.X, data.y, **data.for_prediction)
    weight = read_weight(data.arrays.get("sample_weight"), documents.corpus.n_docs)
    documents = replace(documents, weight=weight)
    proportions = fitted.mixes(documents.corpus, model.n_jobs)
    difference = proportion_differences(fitted, proportions, documents.weights)
    return held_out_effects(fitted, documents, proportions, difference)


def shown_topics(model: Any) -> np.ndarray:
    """Topics x words, larger for words that are shown first."""
    return reciprocal_ranks(topic_scores(model.fitted_))


def kept_words(model: Any) -> np.ndarray:
    """Mask of the words that topics contain: the selected ones, or all."""
    chosen = model.fitted_.selected_words
    return np.ones(model.fitted_.state.n_words, dtype=bool) if chosen is None else chosen


def _cosines(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """The cosine of each row of one with the same row of the other."""
    sizes = np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1)
    return np.sum(first * second, axis=1) / np.maximum(sizes, 1e-300)


def _correlation(models: list[Any], data: Data) -> float:
    """The correlation of the linear predictors of two models, the mean over predictors."""
    if models[0].fitted_.targets is None:
        return math.nan
    documents = [model.fitted_.documents(data.X, **data.for_prediction) for model in models]
    first, second = (
        model.fitted_.predictors(d).T for model, d in zip(models, documents, strict=True)
    )
    each = [
        np.corrcoef(a, b)[0, 1] if np.ptp(a) > 0 and np.ptp(b) > 0 else 0.0
        for a, b in zip(first, second, strict=True)
    ]
    return float(np.mean(each))


def _summary(
    model: Any, data: Data, records: list[Record], level: float, words: np.ndarray | None
) -> Stability:
    good = [r for r in records if r["error"] is None]
    errors = tuple(r["error"] for r in records if r["error"] is not None)
    if len(good) < 2:
        raise ValueError(f"{len(errors)} of {len(records)} pairs failed. The first: {errors[0]}")
    kept = np.array([record["kept"] for record in good])
    by_half = kept.reshape(-1, kept.shape[-1])
    top = tuple(top_words(shown_topics(model), TOP))

    crossed, variances = (np.array([r[name] for r in good]) for name in ("effects", "variances"))
    own, n_topics = effects_in(model, data).estimate, model.fitted_.state.n_topics

    def intervals(rows: slice) -> Intervals:
        return crossed_intervals(own[rows], crossed[:, :, rows], variances[:, :, rows], level)

    return Stability(
        n_resamples=len(good),
        frequency=by_half.mean(axis=0),
        kept=kept_words(model),
        mean_kept=float(by_half.sum(axis=1).mean()),
        index=nogueira_index(by_half),
        disjoint_index=float(np.mean([nogueira_index(pair).value for pair in kept])),
        disjoint_jaccard=float(np.mean([jaccard(*pair) for pair in kept])),
        topic_cosine=np.mean([r["cosine"] for r in good], axis=(0, 1)),
        topic_between=np.mean([r["between"] for r in good], axis=0),
        returning=_returning(top, good),
        top=top,
        effects=intervals(slice(n_topics)),
        covariates=intervals(slice(n_topics, None)),
        correlation=float(np.mean([record["correlation"] for record in good])),
        stand_ins=find_substitutes(
            kept_words(model), by_half, model.fitted_.corpus(data.X).counts.sqrt()
        ),
        vocabulary=words,
        failed=errors,
    )


def _returning(top: Sequence[np.ndarray], records: list[Record]) -> np.ndarray:
    """How often the top words of a topic are top words of its match, topics x words."""
    out = np.zeros((len(top), TOP))
    for record in records:
        for half in record["top"]:
            for k, words in enumerate(top):
                out[k, : len(words)] += np.isin(words, half[k])
    return out / (2 * len(records))
