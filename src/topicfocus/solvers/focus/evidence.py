"""Every word seen before any topic: what it says about each target, beyond the covariates.

A target's signals are the residuals of its null model (a constant, and the covariates): one for a
number or two classes, one a class for more. Words are regressed on these.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from topicfocus.families import is_ranking
from topicfocus.inference.focused.evidence import (
    PENALTIES,
    Evidence,
    RidgeFit,
    Signals,
    ridge_path,
    target_slopes,
    word_evidence,
)
from topicfocus.inference.focused.moments import Past, SignalMoments
from topicfocus.inference.state import Problem
from topicfocus.solvers.linear import (
    Column,
    Linear,
    explained_share,
    fit_linear,
    residuals,
    target_columns,
)


@dataclass(frozen=True)
class Residuals:
    """The signals of a target where it is known, with weights if they are not all one."""

    known: np.ndarray
    values: np.ndarray
    weight: np.ndarray | None
    ranking: bool

    def beside(self, words: sparse.csr_array) -> Signals:
        rows = words if self.known.all() else sparse.csr_array(words[self.known])
        return Signals(rows, self.values, self.weight, self.ranking)


def null_fit(column: Column, problem: Problem) -> Linear:
    """The target from a constant and the covariates."""
    covariates = problem.covariates
    if covariates is None:
        covariates = np.zeros((problem.n_docs, 0))
    return fit_linear(column, column.of(covariates))


def _residuals(columns: Sequence[Column], nulls: Sequence[Linear], problem: Problem) -> list:
    out = []
    covariates = problem.covariates
    if covariates is None:
        covariates = np.zeros((problem.n_docs, 0))
    for column, null in zip(columns, nulls, strict=True):
        column = replace(column, family=null.family)
        rest = residuals(column, null.predictor(column.of(covariates), column.offset))
        weight = None if np.all(column.weight == 1) else column.weight
        out.append(Residuals(column.known, rest, weight, is_ranking(column.family)))
    return out


def ridge_fits(
    signals: Sequence[Signals],
    held_out: Sequence[Signals],
    penalties: Sequence[float] | None,
) -> list[RidgeFit]:
    """A ridge regression for each signal; along a path, or with the penalties already chosen."""
    fits: list[RidgeFit] = []
    for mine, theirs in zip(signals, held_out, strict=True):
        path = PENALTIES
        if penalties is not None:
            path = (np.array(penalties[len(fits) : len(fits) + mine.values.shape[1]]),)
        fits += ridge_path(mine, theirs, path)
    return fits


@dataclass(frozen=True)
class Words:
    """What is known of every word before any topic.

    `potential` is the share of the held-out deviance that the regressions explain; `nulls` are the
    models without words.
    """

    evidence: Evidence
    slopes: np.ndarray
    potential: float
    penalties: tuple[float, ...]
    nulls: tuple[Linear, ...]
    residuals: tuple[Residuals, ...]
    held_residuals: tuple[Residuals, ...]

    @staticmethod
    def of(train: Problem, held_out: Problem, family, penalties, past: Past | None = None) -> Words:
        """`penalties` of the regressions as chosen before, or None.

        Documents of the `past` add to what each word says by itself; the regressions are on
        `train` alone.
        """
        columns, held_columns = target_columns(train, family), target_columns(held_out, family)
        nulls = tuple(null_fit(column, train) for column in columns)
        mine = _residuals(columns, nulls, train)
        theirs = _residuals(held_columns, nulls, held_out)
        words, held_words = train.corpus.counts, held_out.corpus.counts
        signals = [r.beside(words) for r in mine]
        ridges = ridge_fits(signals, [r.beside(held_words) for r in theirs], penalties)
        weights = np.column_stack([r.weights for r in ridges])
        predicted = held_words @ weights
        if past is None:
            evidence = [
                word_evidence(s, weights[:, c.where]) for s, c in zip(signals, columns, strict=True)
            ]
            slopes = [target_slopes(s) for s in signals]
        else:
            moments = [
                SignalMoments.of(s) + gone for s, gone in zip(signals, past.moments, strict=True)
            ]
            evidence = [
                m.evidence(weights[:, c.where]) for m, c in zip(moments, columns, strict=True)
            ]
            slopes = [m.slopes() for m in moments]
        return Words(
            Evidence.beside(evidence),
            np.hstack(slopes),
            _potential(held_columns, nulls, held_out, predicted),
            tuple(r.penalty for r in ridges),
            nulls,
            tuple(mine),
            tuple(theirs),
        )

    def signals_of(self, words: sparse.csr_array, kept: np.ndarray) -> list[Signals]:
        chosen = words[:, kept]
        return [r.beside(chosen) for r in self.residuals]

    def held_signals_of(self, words: sparse.csr_array, kept: np.ndarray) -> list[Signals]:
        chosen = words[:, kept]
        return [r.beside(chosen) for r in self.held_residuals]


def past_of(problem: Problem, seen: Problem, family) -> Past:
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
            moments += [SignalMoments.of(r.beside(words)) for r in rest]
        else:  # nobody has this target
            moments.append(SignalMoments.zero(problem.corpus.n_words, column.width))
    return Past(tuple(moments), problem.word_counts, problem.size)


def _potential(columns, nulls, problem: Problem, predicted: np.ndarray) -> float:
    shares = []
    for column, null in zip(columns, nulls, strict=True):
        column = replace(column, family=null.family)
        design = column.of(problem.beside(predicted[:, column.where]))
        fit = fit_linear(column, design, 1e-6)
        column = replace(column, family=fit.family)
        shares.append(explained_share(column, fit.predictor(design, column.offset)))
    return float(np.mean(shares))
