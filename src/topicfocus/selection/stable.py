"""`Stability`: which words, topics and effects came back in halves of the documents."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from topicfocus.selection.examples import shown_by
from topicfocus.selection.indices import StabilityIndex, false_words_bound
from topicfocus.selection.intervals import Intervals
from topicfocus.selection.substitutes import Substitutes

#: A word that is kept in so many of the halves counts as one that comes back.
OFTEN = 0.9
#: A topic whose mean cosine is below this is another topic in another sample.
SAME_TOPIC = 0.7


@shown_by(">>> found.frequency.shape == (reviews.counts.shape[1],)", "True")
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
    stand_ins : Substitutes
        Columns of the words that may stand for each kept one; `substitutes` has them by name.
    vocabulary : array of str or None
    failed : tuple of str
        Why pairs could not be fitted, if any.
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

    @shown_by(">>> len(found.stable_words(0.6)) >= len(found.stable_words(1.0))", "True")
    def stable_words(self, threshold: float = OFTEN) -> np.ndarray:
        """Columns of the words that are kept in at least this share of the halves.

        Parameters
        ----------
        threshold : float in (0.5, 1], default=0.9

        Returns
        -------
        array of int
        """
        return np.flatnonzero(self.frequency >= threshold - 1e-9)

    @shown_by(">>> found.false_words(1.0) <= found.false_words(0.75)", "True")
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
        """
        n_words, pairs = len(self.frequency), self.n_resamples
        return false_words_bound(self.mean_kept, n_words, threshold, pairs, unimodal)

    @shown_by(
        ">>> rows = found.substitutes(vocabulary=reviews.vocabulary)",
        ">>> all(other['either'] >= row['frequency'] for row in rows for other in row['others'])",
        "True",
    )
    def substitutes(
        self, n: int = 3, vocabulary: Sequence[str] | None = None
    ) -> list[dict[str, Any]]:
        """Kept words that do not always come back, with dropped words that may stand for them.

        A substitute is dropped by the model, kept by some half, and used in the same documents:
        √counts of the two correlate by 0.15 at least. Of most correlation first. Where the word or
        a substitute is kept in nearly all halves, it is the choice between them that is not stable,
        and not what they say.

        Parameters
        ----------
        n : int, default=3
            Substitutes of a word, at most 5.
        vocabulary : list of str, optional
            As for `to_dict`.

        Returns
        -------
        list of dict
            "word", its "frequency", and "others", each with "word", "frequency", "correlation" and
            "either", the share of the halves that keep one of the two.
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
            row = {"word": names[v], "frequency": float(self.frequency[v]), "others": others}
            rows.append(row)
        return rows

    @shown_by(
        '>>> sorted(found.to_dict(reviews.vocabulary)["topics"][0])',
        "['between', 'cosine', 'effect', 'high', 'low', 'same', 'topic', 'words']",
    )
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


def _plain(intervals: Intervals) -> dict[str, list[Any]]:
    """Rows as numbers where there is one predictor, else as lists."""
    parts = {"effect": intervals.estimate, "low": intervals.low, "high": intervals.high}
    return {
        name: [_number(row[0]) if len(row) == 1 else [_number(v) for v in row] for row in values]
        for name, values in parts.items()
    }


def _number(value: Any) -> float | None:
    return float(value) if math.isfinite(value) else None
