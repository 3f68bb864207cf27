"""The parameters of a model (`ModelState`), and the documents that it is fitted to (`Problem`)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from topicfocus.corpus import Corpus
from topicfocus.counts import stacked
from topicfocus.passes import transposed_dot


@dataclass(frozen=True)
class ModelState:
    """The global parameters of a model.

    Attributes
    ----------
    topic_word : array (words, topics)
        β; columns sum to one.
    inclusion : array (words,)
        φ_v = q(ξ = 1 | w = v).
    background : array (words,)
        π, which sums to one, or zeros in a model without switches.
    coef : array (topics,) or (topics, predictors)
        η; one column per linear predictor if there are several (classes, targets).
    family : NamedTuple
        The family of the target with its dispersion.
    doc_topic_prior : array (topics,)
        α.
    intercept : float or array (predictors,)
        Added to η·θ. Zero in the joint models: θ sums to one, so η carries it.
    covariate_coef : array (covariates, predictors), optional
        ζ: f = b + o + ζᵀz + ηᵀθ.
    """

    topic_word: np.ndarray
    inclusion: np.ndarray
    background: np.ndarray
    coef: np.ndarray
    family: Any
    doc_topic_prior: np.ndarray
    intercept: float | np.ndarray = 0.0
    covariate_coef: np.ndarray | None = None

    @property
    def coef_rows(self) -> np.ndarray:
        """η as predictors x topics, the layout of the kernels."""
        return np.ascontiguousarray(np.atleast_2d(self.coef.T))

    @property
    def n_predictors(self) -> int:
        return 1 if self.coef.ndim == 1 else self.coef.shape[1]

    @property
    def n_words(self) -> int:
        return self.topic_word.shape[0]

    @property
    def n_topics(self) -> int:
        return self.topic_word.shape[1]


@dataclass(frozen=True)
class Problem:
    """The documents of a fit with their targets and covariates.

    Attributes
    ----------
    corpus : Corpus
    target : array (documents,) or (documents, targets)
    target_weight : the same shape
        λ, or 0 where a target is missing.
    n_jobs : int, optional
    offset : array (documents, predictors), optional
        o, added to the linear predictors (such as the log of an exposure).
    covariates : array (documents, covariates), optional
        z, columns that enter the linear predictors beside the topics.
    doc_weight : array (documents,), optional
        Weights: a document of weight 2 is the same as two copies of it.
    """

    corpus: Corpus
    target: np.ndarray
    target_weight: np.ndarray
    n_jobs: int | None = None
    offset: np.ndarray | None = None
    covariates: np.ndarray | None = None
    doc_weight: np.ndarray | None = None
    supervised: bool = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "supervised", bool(np.any(self.full_weights > 0)))

    @property
    def n_docs(self) -> int:
        return self.corpus.n_docs

    @property
    def targets(self) -> np.ndarray:
        """Documents x targets."""
        return _columns(self.target)

    @property
    def target_weights(self) -> np.ndarray:
        """Documents x targets, without the documents' own weights."""
        return _columns(self.target_weight)

    @property
    def doc_weights(self) -> np.ndarray:
        return np.ones(self.n_docs) if self.doc_weight is None else self.doc_weight

    @property
    def full_weights(self) -> np.ndarray:
        """Documents x targets: weights of the targets times those of the documents."""
        return self.target_weights * self.doc_weights[:, None]

    @cached_property
    def word_counts(self) -> np.ndarray:
        """n_v, tokens of each word, with documents counted by their weights."""
        if self.doc_weight is None:
            return self.corpus.word_counts
        return transposed_dot(self.corpus.counts, self.doc_weight, self.n_jobs)

    @cached_property
    def size(self) -> float:
        """Sum of the weights of the documents."""
        return float(self.n_docs) if self.doc_weight is None else float(self.doc_weight.sum())

    @property
    def n_tokens(self) -> float:
        return float(self.word_counts.sum())

    def mean_length(self, inclusion: np.ndarray | None = None) -> float:
        """(Relevant) tokens of an average document."""
        counts = self.word_counts if inclusion is None else self.word_counts * inclusion
        return float(counts.sum()) / max(self.size, 1e-300)

    def offsets(self, state: ModelState) -> np.ndarray:
        """b + o + ζᵀz, the linear predictors without η·θ, documents x predictors."""
        total = np.zeros((self.n_docs, state.n_predictors)) + state.intercept
        if self.offset is not None:
            total += self.offset
        if self.covariates is not None and state.covariate_coef is not None:
            total += self.covariates @ state.covariate_coef
        return total

    def given(self, state: ModelState) -> tuple[np.ndarray, ...]:
        """Targets, their weights, offsets and document weights: the `given` arrays of a pass."""
        return (
            np.ascontiguousarray(self.targets),
            np.ascontiguousarray(self.target_weights),
            self.offsets(state),
            self.doc_weights,
        )

    def design(self, proportions: np.ndarray) -> np.ndarray:
        """Columns of the regressions: topic proportions, then covariates."""
        z = self.covariates
        return proportions if z is None else np.column_stack([proportions, z])

    def with_corpus(self, corpus: Corpus, target_weight: np.ndarray | None = None) -> Problem:
        """The same documents with other counts, and other weights of the targets if given."""
        weight = self.target_weight if target_weight is None else target_weight
        return replace(self, corpus=corpus, target_weight=weight)

    def rows(self, index: np.ndarray) -> Problem:
        """The problem of some of the documents."""
        extras = (self.offset, self.covariates, self.doc_weight)
        return Problem(
            self.corpus.rows(index),
            self.target[index],
            self.target_weight[index],
            self.n_jobs,
            *(None if part is None else part[index] for part in extras),
        )


def joined(first: Problem, second: Problem) -> Problem:
    """The documents of two problems, one after the other."""

    def both(a: np.ndarray | None, b: Any) -> np.ndarray | None:
        return None if a is None else np.concatenate([a, b])

    weight = None
    if first.doc_weight is not None or second.doc_weight is not None:
        weight = np.concatenate([first.doc_weights, second.doc_weights])
    return Problem(
        Corpus(stacked(first.corpus.counts, second.corpus.counts), first.corpus.vocabulary),
        np.concatenate([first.target, second.target]),
        np.concatenate([first.target_weight, second.target_weight]),
        first.n_jobs,
        both(first.offset, second.offset),
        both(first.covariates, second.covariates),
        weight,
    )


def _columns(values: np.ndarray) -> np.ndarray:
    """Documents x targets, also without documents."""
    return values[:, None] if values.ndim == 1 else values


def make_problem(
    corpus: Corpus,
    target: np.ndarray | None,
    supervision_weight: float = 1.0,
    n_jobs: int | None = None,
    *,
    offset: np.ndarray | None = None,
    covariates: np.ndarray | None = None,
    doc_weight: np.ndarray | None = None,
) -> Problem:
    """A `Problem`; a missing target (None, or NaN for a document) has weight 0."""
    extras = {"offset": offset, "covariates": covariates, "doc_weight": doc_weight}
    if target is None:
        zeros = np.zeros(corpus.n_docs)
        return Problem(corpus, zeros, zeros, n_jobs, **extras)
    known = np.isfinite(target)
    return Problem(
        corpus,
        np.where(known, target, 0.0),
        np.where(known, float(supervision_weight), 0.0),
        n_jobs,
        **extras,
    )
