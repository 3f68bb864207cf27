"""What a model is (ModelState), what was asked for (Hyperparameters), and of what (Problem)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from topicfocus.corpus import Corpus

Bound = Literal["paper", "tight"]

#: Inclusion probabilities stay inside [ε, 1-ε] while they are learned, so that no word is lost for
#: good to a rounding error. The optimum over that interval is the clipped one (concave in φ).
INCLUSION_MARGIN = 1e-10


@dataclass(frozen=True)
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
    coef : array (topics,)
        η.
    family : NamedTuple
        The family of the target with its dispersion.
    doc_topic_prior : array (topics,)
        α.
    intercept : float
        Added to η·θ. Zero in the joint models: θ sums to one, so η carries it.
    """

    topic_word: np.ndarray
    inclusion: np.ndarray
    background: np.ndarray
    coef: np.ndarray
    family: Any
    doc_topic_prior: np.ndarray
    intercept: float = 0.0

    @property
    def n_words(self) -> int:
        return self.topic_word.shape[0]

    @property
    def n_topics(self) -> int:
        return self.topic_word.shape[1]


@dataclass(frozen=True)
class Problem:
    """A corpus with its target: what a solver is given besides hyperparameters.

    `target_weight` is λ times the document's weight, and 0 where there is no target.
    """

    corpus: Corpus
    target: np.ndarray
    target_weight: np.ndarray
    n_jobs: int | None = None
    supervised: bool = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "supervised", bool(np.any(self.target_weight > 0)))

    @property
    def n_docs(self) -> int:
        return self.corpus.n_docs

    def rows(self, index: np.ndarray) -> Problem:
        """The problem on a subset of the documents."""
        return Problem(
            self.corpus.rows(index), self.target[index], self.target_weight[index], self.n_jobs
        )


def make_problem(
    corpus: Corpus,
    target: np.ndarray | None,
    supervision_weight: float = 1.0,
    n_jobs: int | None = None,
) -> Problem:
    """A Problem; no target, or NaN for a document, gives that document weight 0."""
    if target is None:
        zeros = np.zeros(corpus.n_docs)
        return Problem(corpus, zeros, zeros, n_jobs)
    known = np.isfinite(target)
    return Problem(
        corpus,
        np.where(known, target, 0.0),
        np.where(known, float(supervision_weight), 0.0),
        n_jobs,
    )
