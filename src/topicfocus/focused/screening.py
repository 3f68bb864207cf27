"""Screening statistics: how strongly each word is associated with each target, before topics exist.

The signals of a target are the residuals of its null model (a constant and the covariates): one for
a number or two classes, one per class for more. A word has a marginal statistic, z², the squared
score of its covariance with a signal, and a joint one, Pratt's measure w_v·cov_v, its part of the
variance explained by a ridge regression on all words, which is small for a word that only repeats
others. The screening statistic E_v = (z²_v)^s (Pratt_v)^{1-s} is large if both are large.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from topicfocus.counts import Counts, take_rows
from topicfocus.focused.data import FocusData, halves_by_content
from topicfocus.focused.ridge import PENALTIES, RidgeFit, Signals, ridge_path
from topicfocus.focused.stable_screening import StableStatistics, stable_statistics
from topicfocus.focused.word_statistics import Past, SignalSums, WordStatistics
from topicfocus.glm import Column, Linear, fit_linear, residuals, target_columns
from topicfocus.model import Problem

#: Pairs of halves of a stable selection.
PAIRS = 5


@dataclass(frozen=True, kw_only=True)
class Residuals:
    """The signals of a target where it is known, with weights unless all are 1."""

    known: np.ndarray
    values: np.ndarray
    weight: np.ndarray | None

    def signals(self, words: Counts, n_jobs: int | None = None) -> Signals:
        rows = words if self.known.all() else take_rows(words, self.known)
        return Signals(rows, self.values, self.weight, n_jobs)


def _covariates(problem: Problem) -> np.ndarray:
    """Covariates, documents x 0 if there are none."""
    return np.zeros((problem.n_docs, 0)) if problem.covariates is None else problem.covariates


def null_fit(column: Column, problem: Problem) -> Linear:
    """The regression of a target on a constant and the covariates."""
    return fit_linear(column, column.of(_covariates(problem)))


def _residuals(
    columns: Sequence[Column], nulls: Sequence[Linear], problem: Problem
) -> list[Residuals]:
    out, covariates = [], _covariates(problem)
    for column, null in zip(columns, nulls, strict=True):
        column = replace(column, family=null.family)
        predictor = null.predictor(column.of(covariates), column.offset)
        out.append(
            Residuals(
                known=column.known,
                values=residuals(column, predictor),
                weight=None if np.all(column.weight == 1) else column.weight,
            )
        )
    return out


def ridge_fits(
    signals: Sequence[Signals],
    held_out: Sequence[Signals],
    penalties: Sequence[float] | None,
) -> list[RidgeFit]:
    """A ridge regression for each signal, with the given penalties or the best of the path."""
    fits: list[RidgeFit] = []
    for mine, theirs in zip(signals, held_out, strict=True):
        path: Sequence[float] | Sequence[np.ndarray] = PENALTIES
        if penalties is not None:
            path = (np.array(penalties[len(fits) : len(fits) + mine.values.shape[1]]),)
        fits += ridge_path(mine, theirs, path)
    return fits


@dataclass(frozen=True, kw_only=True)
class Screening:
    """The screening statistics of all words.

    `slopes` are signed associations, words x signals. `nulls` are the models without words.
    `stable`: the statistics of a stable selection.
    """

    statistics: WordStatistics
    slopes: np.ndarray
    penalties: tuple[float, ...]
    nulls: tuple[Linear, ...]
    residuals: tuple[Residuals, ...]
    held_residuals: tuple[Residuals, ...]
    stable: StableStatistics | None = None
    _regressions: dict[tuple, list[RidgeFit]] = field(default_factory=dict)

    @property
    def n_signals(self) -> int:
        return self.slopes.shape[1]

    @property
    def n_stable(self) -> int:
        """Expected number of words that are associated with a signal in other samples, too."""
        return 0 if self.stable is None else self.stable.n_words()

    def amount(self) -> np.ndarray:
        """E_v, for the signal for which it is largest."""
        if self.stable is not None:
            return self.stable.amount.max(axis=1)
        return self.statistics.combined()

    def regressed(
        self,
        kept: np.ndarray,
        words: Counts,
        held_words: Counts,
        penalties: tuple[float, ...] | None,
        n_jobs: int | None,
    ) -> list[RidgeFit]:
        """Ridge regressions of the signals on the words `kept`, with these penalties or the best.

        They do not depend on topics, so that the fits of a search share them.
        """
        key = kept.tobytes(), penalties
        if key not in self._regressions:
            signals = [r.signals(words, n_jobs) for r in self.residuals]
            held_signals = [r.signals(held_words, n_jobs) for r in self.held_residuals]
            self._regressions[key] = ridge_fits(signals, held_signals, penalties)
        return self._regressions[key]


def screen_words(
    data: FocusData,
    penalties: tuple[float, ...] | None = None,
    stable: bool = False,
) -> Screening:
    """The screening statistics of all words, with the penalties of earlier regressions if given.

    Past documents enter marginal scores and signed associations, but not regressions and statistics
    of a stable selection, which are computed if `stable`.
    """
    nulls = tuple(null_fit(column, data.train) for column in data.columns)
    mine = _residuals(data.columns, nulls, data.train)
    theirs = _residuals(data.held_columns, nulls, data.held_out)
    signals = [r.signals(data.words, data.n_jobs) for r in mine]
    held_signals = [r.signals(data.held_words, data.n_jobs) for r in theirs]
    ridges = ridge_fits(signals, held_signals, penalties)
    weights = np.column_stack([r.weights for r in ridges])
    sums = [SignalSums.of(s) for s in signals]
    if data.past is not None:
        sums = [now + gone for now, gone in zip(sums, data.past.sums, strict=True)]
    statistics = [
        s.statistics(weights[:, c.where]) for s, c in zip(sums, data.columns, strict=True)
    ]
    of_halves = None
    if stable:
        halves, n_tokens = halves_by_content(data.train, PAIRS), data.train.word_counts
        chosen = np.array([r.penalty for r in ridges])
        of_halves = StableStatistics.beside(
            [
                stable_statistics(s, chosen[c.where], n_tokens, halves[c.known])
                for s, c in zip(signals, data.columns, strict=True)
            ]
        )
    return Screening(
        statistics=WordStatistics.beside(statistics),
        slopes=np.hstack([s.slopes() for s in sums]),
        penalties=tuple(r.penalty for r in ridges),
        nulls=nulls,
        residuals=tuple(mine),
        held_residuals=tuple(theirs),
        stable=of_halves,
    )


def past_of(problem: Problem, at_hand: Problem, family: Any) -> Past:
    """Sums over the documents of `problem`, which leave a stream.

    Their residuals are those of the null models of the documents `at_hand`.
    """
    columns = target_columns(problem, family)
    nulls = [null_fit(column, at_hand) for column in target_columns(at_hand, family)]
    words = problem.corpus.counts.sqrt()
    sums = []
    for column, null in zip(columns, nulls, strict=True):
        if column.known.any():
            rest = _residuals([column], [null], problem)
            sums += [SignalSums.of(r.signals(words, problem.n_jobs)) for r in rest]
        else:  # no document has this target
            sums.append(SignalSums.zero(problem.corpus.n_words, column.width))
    return Past(tuple(sums), problem.word_counts, problem.size)
