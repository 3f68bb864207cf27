"""`stability`: which words, topics and predicted differences replicate in other samples.

Documents are split into two halves repeatedly, and the model is fitted to both. The halves of a
pair have no document in common, so what both find was found twice, independently.
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

from topicfocus.estimators.arguments import check_count, check_flag
from topicfocus.estimators.effects import training_effects
from topicfocus.estimators.training import FitOptions, fit_with
from topicfocus.estimators.words import reciprocal_ranks, topic_scores
from topicfocus.metrics.topics import match_topics, top_words
from topicfocus.persistence import plain
from topicfocus.selection.resamples import (
    Data,
    check_topic_model,
    column_names,
    halves,
    read_data,
    ready_to_fit,
    split_estimator,
)
from topicfocus.selection.runner import Record, n_processes, run_fits
from topicfocus.selection.stability_measures import (
    Substitute,
    find_substitutes,
    mean_jaccard,
    nogueira_index,
)
from topicfocus.text.errors import printable

#: Number of top words of a topic that metrics use.
TOP = 10
#: A word is stable if at least this fraction of the halves keep it.
OFTEN = 0.9
#: A topic whose mean cosine is smaller is a different topic in other samples.
SAME_TOPIC = 0.7


@dataclass(frozen=True, kw_only=True, eq=False)
class Stability:
    """Which words, topics and predicted differences replicate in halves of the documents.

    Attributes
    ----------
    n_resamples : int
        Number of pairs of halves that were fitted.
    frequency : array (words,)
        Fraction of the halves that keep each word; 1 for all words of a model that drops none.
    kept : array of bool (words,)
        Words that the model itself keeps.
    index : float
        Nogueira's index over all halves. Halves of different pairs overlap by half, so it is higher
        than for independent samples.
    disjoint_jaccard : float
        Jaccard's index of the two halves of a pair, which have no document in common; mean over
        pairs. It estimates the overlap of two samples of half the size.
    topic_cosine : array (topics,)
        Mean cosine of each topic with the topic matched to it in a half.
    topic_between : array (topics,)
        Mean cosine of the two topics that are matched to it in the two halves of a pair.
    returning : array (topics, 10)
        How often each of the ten top words of a topic (`top`) is a top word of the matched topic.
    top : tuple of arrays
        Columns of the ten top words of each topic.
    difference, difference_spread : arrays (topics, predictors)
        Mean and standard deviation over halves of the predicted difference of the matched topic:
        of the mean target (probability of a class), if the proportion of the topic increases from
        its 10th to its 90th percentile and the others decrease in proportion. The documents of a
        half also selected its words, so the mean is too large; the spread is no standard error.
        `topic_effects(X_test, y_test)` has intervals.
    correlation : float
        Mean correlation of the predictions (linear predictors) of two halves over all documents.
    stand_ins : tuple of Substitute
        Pairs of interchangeable words; see `substitutes`.
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
    index: float
    disjoint_jaccard: float
    topic_cosine: np.ndarray
    topic_between: np.ndarray
    returning: np.ndarray
    top: tuple[np.ndarray, ...] = field(repr=False)
    difference: np.ndarray
    difference_spread: np.ndarray
    correlation: float
    stand_ins: tuple[Substitute, ...] = field(repr=False)
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
        names = self._names(vocabulary)
        rows: dict[int, dict[str, Any]] = {}
        for v, u, correlation, either in self.stand_ins:
            frequency = float(self.frequency[v])
            if frequency < OFTEN:
                row = {"word": names[v], "frequency": frequency, "others": []}
                others = rows.setdefault(v, row)["others"]
                other = {"word": names[u], "frequency": float(self.frequency[u])}
                others.append({**other, "correlation": correlation, "either": either})
        return [{**row, "others": row["others"][:n]} for row in rows.values()]

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
        ['between', 'cosine', 'difference', 'same', 'spread', 'topic', 'words']
        """
        names = self._names(vocabulary)
        shown = np.flatnonzero(self.kept | (self.frequency > 0))
        found: dict[str, Any] = {
            "resamples": self.n_resamples,
            "failed": self.failed,
            "often": OFTEN,
            "same_topic": SAME_TOPIC,
            "nogueira": self.index,
            "disjoint_jaccard": self.disjoint_jaccard,
            "prediction_correlation": self.correlation,
            "stable_words": len(self.stable_words()),
            "words": [
                {
                    "word": names[v],
                    "column": v,
                    "frequency": self.frequency[v],
                    "kept": self.kept[v],
                }
                for v in shown[np.argsort(-self.frequency[shown], kind="stable")]
            ],
            "substitutes": self.substitutes(vocabulary=vocabulary),
            "topics": [self._topic(k, names) for k in range(len(self.topic_cosine))],
        }
        found = plain(found)
        return found

    def _topic(self, k: int, names: Sequence[str]) -> dict[str, Any]:
        return {
            "topic": k,
            "cosine": self.topic_cosine[k],
            "between": self.topic_between[k],
            "same": self.topic_cosine[k] >= SAME_TOPIC,
            # One number if there is one predictor.
            "difference": np.squeeze(self.difference[k]),
            "spread": np.squeeze(self.difference_spread[k]),
            "words": [
                {"word": names[v], "returns": often}
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
        lines = [
            f"Stability over {self.n_resamples} pairs of halves",
            f"  words: Nogueira's index {self.index:.2f}; disjoint halves have "
            f"{self.disjoint_jaccard:.0%} of their words in common (Jaccard)",
            f"  {len(self.stable_words())} words are kept in {OFTEN:.0%} of the halves",
            f"  correlation of the predictions of two halves: {self.correlation:.2f}",
        ]
        names = self._names(None)
        for k, cosine in enumerate(self.topic_cosine):
            stable = [v for v, r in zip(self.top[k], self.returning[k], strict=False) if r >= OFTEN]
            lines.append(
                f"  topic {k}: cosine {cosine:.2f}; stable top words: "
                f"{', '.join(names[v] for v in stable) or 'none'}"
            )
        return printable("\n".join(lines))


# ---- the function --------------------------------------------------------------------------------


def stability(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    n_resamples: int = 50,
    groups: Any = None,
    n_jobs: int | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    random_state: int = 0,
    verbose: bool = False,
    fix_inclusion: bool = True,
    **arrays: Any,
) -> Stability:
    """Selection stability of a model: which words and topics replicate in other samples.

    Fits the model to `n_resamples` pairs of complementary halves of the documents, 2·`n_resamples`
    fits. The same seed gives the same result for any number of processes.

    Parameters
    ----------
    model : a topic model, or a pipeline that ends in one
        If it is not fitted, it is fitted to these documents first. The words of a pipeline are
        counted once, with the vocabulary of all documents.
    X, y : documents and targets, as for the model's fit
    n_resamples : int, default=50
        Number of pairs of halves, at least 2.
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
        that words and topics of one setting are compared. Otherwise every half chooses its
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
    >>> found.topic_cosine.shape, found.difference.shape
    ((2,), (2, 1))
    """
    check_count("n_resamples", n_resamples, minimum=2)
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
            whole=whole,
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
    return _summary(whole, data, records, words)


def _fitted(front: Any, model: Any, data: Data) -> tuple[Any, Data, np.ndarray | None]:
    """The model fitted to all documents, their counts, and the names of the words."""
    check_topic_model(model, "stability")
    fitted = hasattr(model, "fitted_")
    if front is not None:
        front = front if fitted else clone(front)
        counts = front.transform(data.X) if fitted else front.fit_transform(data.X, data.y)
        data = replace(data, X=counts)
    names = column_names(front, data.X)
    if not fitted:
        model = fit_with(clone(model), FitOptions(remainder=False), data.X, data.y, **data.for_fit)
    model.fitted_.corpus(data.X)  # raises an error for another number of words
    return model, data, names


def chosen_inclusion(model: Any) -> float | None:
    """The result of an automatic inclusion; None for models that choose none."""
    if getattr(model, "inclusion_prior", None) != "auto":
        return None
    return float(model.inclusion_prior_)


# ---- pairs of halves -----------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class HalfFit:
    """A model fitted to a half; its topics in the order of those that they are matched to."""

    model: Any
    order: np.ndarray
    cosine: np.ndarray


def fit_halves(
    model: Any, whole: Any, data: Data, options: FitOptions, seed: Any, most: int | None = None
) -> list[HalfFit]:
    """Fit a model to two random halves, or to `most` documents of each, and match the topics."""
    rng = np.random.RandomState(seed)
    found = []
    for half in halves(data, is_classifier(model), rng):
        part = data.rows(half if most is None else np.sort(rng.permutation(half)[:most]))
        new = fit_with(clone(model), options, part.X, part.y, **part.for_fit)
        found.append(HalfFit(new, *match_topics(new.components_, whole.components_)))
    return found


def fit_pair(
    number: int,
    shared: dict[Any, Any],
    *,
    model: Any,
    data: Data,
    whole: Any,
    seed: int,
    inclusion: float | None,
) -> Record:
    """Fit both halves of a pair: words kept, and topics matched to those of the whole model."""
    options = FitOptions(fixed_inclusion=inclusion, remainder=False)
    pair = fit_halves(model, whole, data, options, [seed, number])
    first, second = (_unit_rows(half.model.components_[half.order]) for half in pair)
    return {
        "kept": np.array([kept_words(half.model) for half in pair]),
        "cosine": np.array([half.cosine for half in pair]),
        "between": np.sum(first * second, axis=1),
        "returning": np.array([_returning(whole, half) for half in pair]),
        "difference": np.array([_differences(half.model)[half.order] for half in pair]),
        "correlation": _correlation([half.model for half in pair], data),
    }


def shown_topics(model: Any) -> np.ndarray:
    """Topics x words, larger for words that are shown first."""
    return reciprocal_ranks(topic_scores(model.fitted_))


def kept_words(model: Any) -> np.ndarray:
    """Mask of the words that topics contain: the selected ones, or all."""
    chosen = model.fitted_.selected_words
    return np.ones(model.fitted_.state.n_words, dtype=bool) if chosen is None else chosen


def _unit_rows(topics: np.ndarray) -> np.ndarray:
    return topics / np.maximum(np.linalg.norm(topics, axis=1, keepdims=True), 1e-300)


def _returning(whole: Any, half: HalfFit) -> np.ndarray:
    """Whether each top word of a topic is a top word of its match, topics x `TOP`."""
    out = np.zeros((len(half.order), TOP))
    again = top_words(shown_topics(half.model)[half.order], TOP)
    for k, words in enumerate(top_words(shown_topics(whole), TOP)):
        out[k, : len(words)] = np.isin(words, again[k])
    return out


def _differences(model: Any) -> np.ndarray:
    """Predicted differences in the documents of a fit, topics x predictors."""
    ends = training_effects(model.fitted_)
    return np.zeros((model.n_topics, 0)) if ends is None else ends[:, 1] - ends[:, 0]


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


def _summary(model: Any, data: Data, records: list[Record], words: np.ndarray | None) -> Stability:
    good = [r for r in records if r["error"] is None]
    errors = tuple(r["error"] for r in records if r["error"] is not None)
    if len(good) < 2:
        raise ValueError(f"{len(errors)} of {len(records)} pairs failed. The first: {errors[0]}")
    # Pairs x halves x ...
    kept, cosine, returning, difference = (
        np.array([r[name] for r in good]) for name in ("kept", "cosine", "returning", "difference")
    )
    by_half = kept.reshape(-1, kept.shape[-1])
    roots = model.fitted_.corpus(data.X).counts.sqrt()
    return Stability(
        n_resamples=len(good),
        frequency=by_half.mean(axis=0),
        kept=kept_words(model),
        index=nogueira_index(by_half),
        disjoint_jaccard=float(np.mean([mean_jaccard(pair) for pair in kept])),
        topic_cosine=cosine.mean(axis=(0, 1)),
        topic_between=np.mean([r["between"] for r in good], axis=0),
        returning=returning.mean(axis=(0, 1)),
        top=tuple(top_words(shown_topics(model), TOP)),
        difference=difference.mean(axis=(0, 1)),
        difference_spread=difference.std(axis=(0, 1), ddof=1),
        correlation=float(np.mean([r["correlation"] for r in good])),
        stand_ins=find_substitutes(kept_words(model), by_half, roots),
        vocabulary=words,
        failed=errors,
    )
