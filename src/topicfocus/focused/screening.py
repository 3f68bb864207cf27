"""Evidence: what every word says about each target beyond the covariates, before any topic.

A target's signals are the residuals of its null model (a constant, and the covariates): one for a
number or two classes, one a class for more. Words are regressed on these.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from threading import Lock
from typing import Any

import numpy as np

from topicfocus.counts import Counts, take_rows
from topicfocus.focused.data import FocusData, halves_by_content
from topicfocus.focused.screening_statistics import (
    PENALTIES,
    Evidence,
    RidgeFit,
    Signals,
    ridge_path,
    target_slopes,
    word_evidence,
)
from topicfocus.focused.screening_sums import Past, SignalMoments
from topicfocus.focused.stable_screening import Lasting, lasting_evidence
from topicfocus.glm import Column, Linear, fit_linear, residuals, target_columns
from topicfocus.inference.state import Problem

#: Sets of words that regressions on are remembered: as many as a path of shares is long.
MOST_REGRESSED = 8
#: Pairs of halves that a stable selection looks for lasting evidence in.
PAIRS = 5
_REMEMBERING = Lock()


@dataclass(frozen=True, kw_only=True)
class Residuals:
    """The signals of a target where it is known, with weights if they are not all one."""

    known: np.ndarray
    values: np.ndarray
    weight: np.ndarray | None
    ranking: bool

    def beside(self, words: Counts, n_jobs: int | None = None) -> Signals:
        rows = words if self.known.all() else take_rows(words, self.known)
        return Signals(rows, self.values, self.weight, self.ranking, n_jobs)


def null_fit(column: Column, problem: Problem) -> Linear:
    """The target from a constant and the covariates."""
    return fit_linear(column, column.of(_covariates(problem)))


def _covariates(problem: Problem) -> np.ndarray:
    """Documents x covariates, also where there are none."""
    return np.zeros((problem.n_docs, 0)) if problem.covariates is None else problem.covariates


def _residuals(
    columns: Sequence[Column], nulls: Sequence[Linear], problem: Problem
) -> list[Residuals]:
    out = []
    covariates = _covariates(problem)
    for column, null in zip(columns, nulls, strict=True):
        column = replace(column, family=null.family)
        rest = residuals(column, null.predictor(column.of(covariates), column.offset))
        weight = None if np.all(column.weight == 1) else column.weight
        out.append(
            Residuals(
                known=column.known,
                values=rest,
                weight=weight,
                ranking=column.family.is_ranking,
            )
        )
    return out


def ridge_fits(
    signals: Sequence[Signals],
    held_out: Sequence[Signals],
    penalties: Sequence[float] | None,
) -> list[RidgeFit]:
    """A ridge regression for each signal; along a path, or with the penalties already chosen."""
    fits: list[RidgeFit] = []
    for mine, theirs in zip(signals, held_out, strict=True):
        path: Sequence[float] | Sequence[np.ndarray] = PENALTIES
        if penalties is not None:
            path = (np.array(penalties[len(fits) : len(fits) + mine.values.shape[1]]),)
        fits += ridge_path(mine, theirs, path)
    return fits


@dataclass(frozen=True, kw_only=True)
class WordEvidence:
    """What is known of every word before any topic.

    `nulls` are the models without words. `lasting`: for a selection that is to come back in other
    samples.
    """

    evidence: Evidence
    slopes: np.ndarray
    penalties: tuple[float, ...]
    nulls: tuple[Linear, ...]
    residuals: tuple[Residuals, ...]
    held_residuals: tuple[Residuals, ...]
    lasting: Lasting | None = None

    @property
    def n_signals(self) -> int:
        """How many a word may say something about: one, or a class or target each."""
        return self.slopes.shape[1]

    @property
    def n_lasting(self) -> int:
        """How many words are expected to say more than noise in other samples, too."""
        return 0 if self.lasting is None else self.lasting.n_words()

    def amount(self, marginal_share: float) -> np.ndarray:
        """E_v, what words are kept by: of the signal that the word says most about."""
        if self.lasting is not None:
            return self.lasting.amount.max(axis=1)
        return self.evidence.combined(marginal_share)

    @cached_property
    def _regressed(self) -> dict[tuple[bytes, tuple[float, ...] | None], list[RidgeFit]]:
        return {}

    def regressed(
        self,
        kept: np.ndarray,
        words: Counts,
        held_words: Counts,
        penalties: tuple[float, ...] | None,
        n_jobs: int | None,
    ) -> list[RidgeFit]:
        """Ridge regressions of the signals on the words `kept`, with these penalties or the best.

        They do not depend on topics: models of the same documents that differ in these alone
        (a search) have them in common, as they have this evidence.
        """
        key = kept.tobytes(), penalties
        found = self._regressed.get(key)
        if found is None:
            signals = [r.beside(words, n_jobs) for r in self.residuals]
            held_signals = [r.beside(held_words, n_jobs) for r in self.held_residuals]
            found = ridge_fits(signals, held_signals, penalties)
            with _REMEMBERING:  # shares are looked at in threads
                self._regressed[key] = found
                if len(self._regressed) > MOST_REGRESSED:
                    del self._regressed[next(iter(self._regressed))]
        return found


def gather_evidence(
    data: FocusData,
    penalties: tuple[float, ...] | None = None,
    lasting_share: float | None = None,
) -> WordEvidence:
    """The evidence of all words; `penalties` of the regressions as chosen before, or None.

    Documents of the past add to what each word says by itself; the regressions are on the
    documents at hand alone, and so is what lasts, which is looked for where the weight of the
    marginal view in it, `lasting_share`, is given.
    """
    columns, held_columns = data.columns, data.held_columns
    nulls = tuple(null_fit(column, data.train) for column in columns)
    mine = _residuals(columns, nulls, data.train)
    theirs = _residuals(held_columns, nulls, data.held_out)
    signals = [r.beside(data.words, data.n_jobs) for r in mine]
    held_signals = [r.beside(data.held_words, data.n_jobs) for r in theirs]
    ridges = ridge_fits(signals, held_signals, penalties)
    weights = np.column_stack([r.weights for r in ridges])
    by_target = [weights[:, column.where] for column in columns]
    evidence, slopes = _views(signals, by_target, data.past)
    chosen = [np.array([r.penalty for r in ridges[c.where]]) for c in columns]
    lasting = None
    if lasting_share is not None:
        halves, often = halves_by_content(data.train, PAIRS), data.train.word_counts
        lasting = Lasting.beside(
            [
                lasting_evidence(s, p, often, halves[column.known], lasting_share)
                for s, p, column in zip(signals, chosen, columns, strict=True)
            ]
        )
    return WordEvidence(
        evidence=evidence,
        slopes=slopes,
        penalties=tuple(r.penalty for r in ridges),
        nulls=nulls,
        residuals=tuple(mine),
        held_residuals=tuple(theirs),
        lasting=lasting,
    )


def _views(
    signals: Sequence[Signals], weights: Sequence[np.ndarray], past: Past | None
) -> tuple[Evidence, np.ndarray]:
    """Evidence and slopes of every word, words x signals."""
    if past is None:
        evidence = [word_evidence(s, w) for s, w in zip(signals, weights, strict=True)]
        return Evidence.beside(evidence), np.hstack([target_slopes(s) for s in signals])
    moments = [SignalMoments.of(s) + gone for s, gone in zip(signals, past.moments, strict=True)]
    evidence = [m.evidence(w) for m, w in zip(moments, weights, strict=True)]
    return Evidence.beside(evidence), np.hstack([m.slopes() for m in moments])


def past_of(problem: Problem, seen: Problem, family: Any) -> Past:
    """What is remembered of documents that are let go: `problem` has counts, not their roots.

    Their residuals are those of the null models of the documents at hand, `seen`.
    """
    columns = target_columns(problem, family)
    nulls = [null_fit(column, seen) for column in target_columns(seen, family)]
    words = problem.corpus.counts.sqrt()
    moments = []
    for column, null in zip(columns, nulls, strict=True):
        if column.known.any():
            rest = _residuals([column], [null], problem)
            moments += [SignalMoments.of(r.beside(words, problem.n_jobs)) for r in rest]
        else:  # nobody has this target
            moments.append(SignalMoments.zero(problem.corpus.n_words, column.width))
    return Past(tuple(moments), problem.word_counts, problem.size)
