"""What a model is (ModelState), what was asked for (Hyperparameters), and of what (Problem)."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np

from topicfocus.corpus import Corpus
from topicfocus.counts import stacked
from topicfocus.inference.passes import transposed_dot

Bound = Literal["paper", "tight"]

#: Inclusion probabilities stay inside [ε, 1-ε] while they are learned, so that no word is lost for
#: good to a rounding error. The optimum over that interval is the clipped one (concave in φ).
INCLUSION_MARGIN = 1e-10


@dataclass(frozen=True, kw_only=True)
class Hyperparameters:
    """The choices of a joint model.

    Attributes
    ----------
    n_topics : int
    selects : bool
        Whether words have switches ξ (pf-sLDA); without them φ ≡ 1 (sLDA, LDA).
    inclusion_prior : float
        p, the prior probability of a token being relevant.
    bound : {"paper", "tight"}
        q(z) also where ξ = 0 (paper), or z integrated out there (tight, never lower).
    supervision_weight : float
        λ, the weight of log p(y).
    learn_prior : bool
        Whether α is learned by Newton-Raphson.
    coef_penalty : float
        Precision of a Normal(0, ·) prior on η, so that separable classes have an optimum.
    """

    n_topics: int
    selects: bool = True
    inclusion_prior: float = 0.1
    bound: Bound = "paper"
    supervision_weight: float = 1.0
    learn_prior: bool = False
    coef_penalty: float = 1e-3


@dataclass(frozen=True)
class ModelState:
    """The global parameters.

    Attributes
    ----------
    topic_word : array (words, topics)
        β, words-major; columns sum to one.
    inclusion : array (words,)
        φ_v = q(ξ = 1 | w = v).
    background : array (words,)
        π, sums to one (all zero in a model without switches).
    coef : array (topics,) or (topics, predictors)
        η; one column a linear predictor where there are several (classes, targets).
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
        """η as kernels take it: predictors x topics."""
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
    """A corpus with its targets: what a solver is given besides hyperparameters.

    Attributes
    ----------
    corpus : Corpus
    target : array (documents,) or (documents, targets)
    target_weight : the same shape
        λ, and 0 where a target is not known.
    n_jobs : int, optional
    offset : array (documents, predictors), optional
        o, added to the linear predictors (the log of an exposure).
    covariates : array (documents, covariates), optional
        z, numbers that enter the linear predictors beside the topics.
    doc_weight : array (documents,), optional
        How many copies each document stands for.
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
        # A target of a document that stands for none is known to nobody.
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
        """n_v, with every document counted as often as it stands for."""
        if self.doc_weight is None:
            return self.corpus.word_counts
        return transposed_dot(self.corpus.counts, self.doc_weight, self.n_jobs)

    @cached_property
    def size(self) -> float:
        """Number of documents, by their weights."""
        return float(self.n_docs) if self.doc_weight is None else float(self.doc_weight.sum())

    @property
    def n_tokens(self) -> float:
        return float(self.word_counts.sum())

    def mean_length(self, inclusion: np.ndarray | None = None) -> float:
        """(Relevant) tokens of an average document."""
        counts = self.word_counts if inclusion is None else self.word_counts * inclusion
        return float(counts.sum()) / max(self.size, 1e-300)

    def offsets(self, state: ModelState) -> np.ndarray:
        """What the linear predictors have besides η·θ: b + o + ζᵀz, documents x predictors."""
        total = np.zeros((self.n_docs, state.n_predictors)) + state.intercept
        if self.offset is not None:
            total += self.offset
        if self.covariates is not None and state.covariate_coef is not None:
            total += self.covariates @ state.covariate_coef
        return total

    def beside(self, mixes: np.ndarray) -> np.ndarray:
        """Topic mixes and covariates side by side."""
        return mixes if self.covariates is None else np.column_stack([mixes, self.covariates])

    def with_corpus(self, corpus: Corpus, target_weight: np.ndarray | None = None) -> Problem:
        """The same documents with other words (and other weights of the targets)."""
        return Problem(
            corpus,
            self.target,
            self.target_weight if target_weight is None else target_weight,
            self.n_jobs,
            self.offset,
            self.covariates,
            self.doc_weight,
        )

    def rows(self, index: np.ndarray) -> Problem:
        """The problem on a subset of the documents."""
        return Problem(
            self.corpus.rows(index),
            self.target[index],
            self.target_weight[index],
            self.n_jobs,
            *(
                None if part is None else part[index]
                for part in (self.offset, self.covariates, self.doc_weight)
            ),
        )


def joined(first: Problem, second: Problem) -> Problem:
    """The documents of both."""

    def both(a: np.ndarray | None, b: np.ndarray | None) -> np.ndarray | None:
        if a is None:
            return None
        if b is None:
            raise ValueError("Both problems need what the first one has: offsets, covariates.")
        return np.concatenate([a, b])

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
    """Documents x targets, also of no documents."""
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
    """A Problem; no target, or NaN for a document, gives that target weight 0."""
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
