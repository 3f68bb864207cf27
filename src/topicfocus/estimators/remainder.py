"""Fit the remainder of a focused model, and measure how complete its topics are."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from topicfocus.corpus import Corpus
from topicfocus.counts import ChunkedCounts
from topicfocus.estimators.documents import Documents, make_folds
from topicfocus.estimators.fitted import Fitted
from topicfocus.estimators.targets import TargetModel
from topicfocus.focused.refit import variance_parts
from topicfocus.glm import Column, deviance, level, level_beside, target_columns
from topicfocus.kernels.threads import one_blas_thread
from topicfocus.remainder import (
    Completeness,
    Path,
    Remainder,
    choose_penalty,
    completeness,
    explained_gains,
    features,
    fit_terms,
    rarity,
    rounded,
    rows_of,
)

#: Number of parts of the documents: one for validation, the others in two halves.
N_PARTS = 5


@one_blas_thread()
def add_remainder(
    fitted: Fitted,
    documents: Documents,
    targets: TargetModel,
    fit_part: Callable[[Documents], Fitted],
    n_jobs: int | None,
    dropped: np.ndarray | None = None,
    banned: frozenset[str] = frozenset(),
) -> Fitted:
    """The fitted model with a remainder, if this predicts better than the topics alone.

    The remainder is fitted to what topics leave of documents that they were not fitted to.
    `fit_part` fits topics to each of two halves of the documents, which predict the other half, and
    to both halves, to predict the validation documents. These choose the penalty. (The mean of the
    topics of both halves would not do: the remainder has learned to correct these.) The topics of
    `fitted` stay as they are. Its variances become those of the sum. `dropped` and `banned` are
    columns of X and names of words that the user has dropped: the remainder has no term with them.
    """
    if isinstance(documents.corpus.counts, ChunkedCounts):
        _warn("the counts are not in memory")
        return fitted
    held, halves = _split(documents, targets)
    if not len(held):
        _warn(f"{documents.corpus.n_docs} documents are too few to choose it")
        return fitted
    counts, names = terms_of(documents.corpus)
    rare = rarity(counts, documents.weights)
    if names is None and dropped is not None:
        rare[dropped] = 0.0
    elif names is not None and banned:
        rare[contain(names, banned)] = 0.0
    x = features(counts, rare)
    family = fitted.state.family
    outside = _cross_fitted(documents, held, halves, fit_part, family)
    train, held_out = np.sort(np.concatenate(halves)), documents.rows(held)
    paths = [
        choose_penalty(mine, mine.of(x[train]), other, other.of(x[held]), n_jobs)
        for mine, other in zip(
            _columns(documents.rows(train), family, outside[train]),
            _columns(held_out, family, outside[held]),
            strict=True,
        )
    ]
    null = target_columns(held_out.problem(1.0, n_jobs), family)
    gains = [
        explained_gains(column, _null(column), path.topics, path.both)
        for column, path in zip(null, paths, strict=True)
    ]
    found = replace(fitted, completeness=completeness(np.mean(gains, axis=0)))
    if all(path.penalty is None for path in paths):
        return found
    coef = np.zeros((x.shape[1], fitted.state.n_predictors))
    levels = np.zeros(fitted.state.n_predictors)
    inside = fitted.predictors(documents, n_jobs=n_jobs)
    for beside, own, path in zip(
        _columns(documents, family, outside),
        _columns(documents, family, inside),
        paths,
        strict=True,
    ):
        if path.penalty is not None:
            mine = own.of(x)
            terms = fit_terms(beside, mine, path.penalty, path.parameters, n_jobs)
            coef[:, own.where] = rounded(terms[:-1])
            levels[own.where] = _level(own, mine, coef[:, own.where])
    found = replace(found, remainder=Remainder(rare, coef, levels, names))
    return _with_variances(found, held_out, null, paths, n_jobs)


def _split(
    documents: Documents, targets: TargetModel
) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray]]:
    """Validation documents, and two halves of the others; none if there are too few."""
    folds = make_folds(documents, targets, N_PARTS, documents.corpus.n_docs)
    if not folds:
        none = np.empty(0, dtype=int)
        return none, (none, none)
    held, a, b, c, d = (part for _, part in folds)
    return held, (np.concatenate([a, b]), np.concatenate([c, d]))


def terms_of(corpus: Corpus) -> tuple[sparse.csr_array, np.ndarray | None]:
    """Counts that a remainder is fitted to, and names of their columns if these are its own."""
    if corpus.remainder is None:
        return corpus.counts, None  # type: ignore[return-value]
    names = getattr(corpus.remainder, "feature_names", None)
    if names is None:
        names = np.array([str(v) for v in range(corpus.remainder.shape[1])], dtype=object)
    return corpus.remainder, names


def contain(terms: np.ndarray, banned: frozenset[str]) -> np.ndarray:
    """Which terms contain a banned word, or are or contain a banned phrase."""
    return np.array([not banned.isdisjoint(_parts(str(term).split())) for term in terms], bool)


def _parts(words: list[str]) -> Iterator[str]:
    """Every run of words of a term."""
    for first in range(len(words)):
        for last in range(first, len(words)):
            yield " ".join(words[first : last + 1])


def _warn(reason: str) -> None:
    warnings.warn(f"no remainder was fitted: {reason}.", UserWarning, stacklevel=2)


def _cross_fitted(
    documents: Documents,
    held: np.ndarray,
    halves: tuple[np.ndarray, np.ndarray],
    fit_part: Callable[[Documents], Fitted],
    family: Any,
) -> np.ndarray:
    """Linear predictors of documents by topics that were not fitted to them.

    Each group is at the level of the family, because the thresholds of an ordinal target differ
    between the models of the halves.
    """
    outside = np.zeros((documents.corpus.n_docs, family.n_predictors))
    first, second = halves
    for mine, other in ((first, second), (second, first), (np.concatenate(halves), held)):
        part, theirs = fit_part(documents.rows(np.sort(mine))), documents.rows(other)
        found = part.predictors(theirs)
        for column in _columns(theirs, family, found):
            found[:, column.where] += level(column)
        outside[other] = found
    return outside


def _columns(documents: Documents, family: Any, predictors: np.ndarray) -> list[Column]:
    """The targets of documents, with linear predictors as offsets."""
    columns = target_columns(documents.problem(1.0, None), family)
    return [replace(c, offset=c.of(predictors)[:, c.where].copy()) for c in columns]


def _null(column: Column) -> np.ndarray:
    """Deviances of the best constant."""
    return deviance(column, column.offset + level(column))


def _level(column: Column, x: sparse.csr_array, coef: np.ndarray) -> np.ndarray:
    """c: with it, the mean of the predictions is the mean of the target."""
    some = np.flatnonzero(np.diff(x.indptr) > 0)
    return -level_beside(rows_of(column, some), (x @ coef)[some])


def _with_variances(
    fitted: Fitted,
    held: Documents,
    columns: list[Column],
    paths: list[Path],
    n_jobs: int | None,
) -> Fitted:
    """δ, ρ and τ of the sum, from its errors in the validation documents.

    Where log p is quadratic, the variances of the topics are reduced as much as the squared error
    of the validation documents is; other families estimate them from these documents.
    """
    mixes = fitted.mixes(held.corpus, n_jobs)
    bare = replace(fitted, variance_factor=None, extra_variance=None)
    spread = bare.predictor_variance(held.corpus, mixes, n_jobs)
    factors, extra = list(fitted.variance_factor or ()), list(fitted.extra_variance or ())
    families = [family for family, _ in fitted.state.family.split()]
    for t, (column, path) in enumerate(zip(columns, paths, strict=True)):
        if path.penalty is None or column.width > 1:
            continue
        noise = families[t].noise_variance
        if noise is not None and families[t].is_quadratic:
            left = float(column.weight @ path.both) / float(column.weight @ path.topics)
            factors[t] *= left
            families[t] = families[t].with_noise_variance(left * noise)
            continue
        own = column.of(spread)[:, column.where.start]
        noise, factors[t], extra[t] = variance_parts(column, path.predictor, own)
        families[t] = families[t].with_noise_variance(noise)
    state = replace(fitted.state, family=fitted.state.family.join(families))
    return replace(fitted, state=state, variance_factor=tuple(factors), extra_variance=tuple(extra))


def held_out_completeness(
    fitted: Fitted, documents: Documents, n_jobs: int | None = None
) -> Completeness | None:
    """Completeness in documents that had no part in the fit; None without a remainder."""
    if fitted.completeness is None:
        return None
    both = fitted.predictors(documents, n_jobs=n_jobs)
    topics = both - fitted.remainder_amounts(documents.corpus)
    columns = target_columns(documents.problem(1.0, n_jobs), fitted.state.family)
    gains: Any = 0.0
    for column in columns:
        losses = [deviance(column, column.of(f)[:, column.where]) for f in (topics, both)]
        gains = gains + explained_gains(column, _null(column), *losses) / len(columns)
    return completeness(gains)
