"""`Fitted`: everything a fitted model knows, frozen. The rest of the package reads only this.

An estimator keeps one, as `fitted_`; its public attributes (`components_`, `coef_`, ...) are views
of it (`FittedAttribute`). Topic mixes, predictors and their variance come from it, so that report,
persistence and workflow need nothing else of an estimator.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from topicfocus.corpus import Corpus, make_corpus
from topicfocus.counts import pieces
from topicfocus.estimators.documents import Documents, read_covariates
from topicfocus.estimators.targets import TargetModel, TargetPart
from topicfocus.focused import damp
from topicfocus.inference.composition import composition, context_counts, topic_tokens
from topicfocus.inference.mixes import predictor_variance, topic_mixes
from topicfocus.inference.state import Hyperparameters, ModelState
from topicfocus.inference.words import mix_weights


@dataclass(frozen=True, kw_only=True, eq=False)
class Fitted:
    """What fitting has found.

    Attributes
    ----------
    state : ModelState
        β, φ, π, η, the family, α, b and ζ as kernels take them, in the units of the data; columns
        of β sum to the topics' volumes.
    targets : TargetModel or None
        What the targets are; None in a model without (LDA).
    sees_roots : bool
        Whether topic mixes are found from √counts.
    selects : bool
        Whether words have been chosen.
    n_iter : int
    history : dict of lists, one entry an epoch, step or batch
    n_samples_seen : float
        Documents it was fitted to, by their weights.
    word_count : array (words,)
        n_v of these documents.
    hyper : Hyperparameters or None
        Of a joint model.
    converged : bool or None
        Of a joint model.
    evidence : array (words,) or None
        What each word says about the target (focused models).
    word_cost : float or None
        c, what a word's evidence had to exceed to be kept (focused models).
    discoveries : bool
        Whether words that say more than noise were kept, and no others (focused models).
    inclusion_prior : float or None
        The share of tokens that words were kept up to (focused models).
    supervision_weight : float or None
    shaping : str or None
        How topics were shaped, "themes" or "graded".
    explained : tuple of float or None
        Share of the held-out deviance that the model explains, before its second pass.
    shares : tuple of (share, explained, error) or None
        Inclusion priors that were tried, the share of the held-out deviance that each explains, and
        the standard error of that (focused models).
    context : array (words, topics) or None
        How often each word occurs beside the tokens of each topic, its own left out (models that
        select words). After `partial_fit`, of the
        documents that were at hand.
    leaning : array (words, predictors) or None
        Slope of each word against the targets, by itself (focused models).
    openness : tuple of float or None
        ρ of each target: how much of what the words leave open of its predictor, by the Laplace
        approximation, held-out documents bear out (focused models); None stands for 1.
    excess : tuple of float or None
        τ of each target: what its predictor varies by besides, by the held-out documents, of counts
        that vary more than a Poisson's (focused models); None stands for 0.
    typical_shares : array (3, topics) or None
        The mean of θ̂ over the documents of the training, and what `topic_effects` calls share_low
        and share_high (models with targets). As for `context`.
    """

    state: ModelState
    targets: TargetModel | None
    sees_roots: bool
    selects: bool
    n_iter: int
    history: dict[str, list]
    n_samples_seen: float
    word_count: np.ndarray
    hyper: Hyperparameters | None = None
    converged: bool | None = None
    evidence: np.ndarray | None = None
    word_cost: float | None = None
    discoveries: bool = False
    inclusion_prior: float | None = None
    supervision_weight: float | None = None
    shaping: str | None = None
    explained: tuple[float, ...] | None = None
    shares: tuple[tuple[float, float, float], ...] | None = None
    context: np.ndarray | None = None
    openness: tuple[float, ...] | None = None
    typical_shares: np.ndarray | None = None
    excess: tuple[float, ...] | None = None
    leaning: np.ndarray | None = None

    # ---- as a user sees it -----------------------------------------------------------------------

    @cached_property
    def components(self) -> np.ndarray:
        """β, topics x words, rows sum to one."""
        return np.ascontiguousarray((self.state.topic_word / self.volume).T)

    @cached_property
    def volume(self) -> np.ndarray:
        """How many relevant words a topic produces, relative to the busiest."""
        return self.state.topic_word.sum(axis=0)

    @property
    def is_joint(self) -> bool:
        """Whether it is of the joint objective, where η carries the intercept."""
        return self.hyper is not None

    @property
    def _rows(self) -> bool:
        """Whether coefficients have one row a class or target, as scikit-learn has them."""
        return self.state.coef.ndim == 2

    @cached_property
    def coef(self) -> np.ndarray | None:
        if self.targets is None:
            return None
        return np.ascontiguousarray(self.state.coef.T)

    @cached_property
    def intercept(self) -> float | np.ndarray | None:
        if self.targets is None:
            return None
        shape = self.state.n_predictors
        each = np.broadcast_to(np.asarray(self.state.intercept, dtype=float), shape)
        return each.copy() if self._rows else float(each[0])

    @cached_property
    def covariate_coef(self) -> np.ndarray | None:
        zeta = self.state.covariate_coef
        if zeta is None or self.targets is None:
            return None
        return np.ascontiguousarray(zeta.T) if self._rows else zeta[:, 0].copy()

    @cached_property
    def selected_words(self) -> np.ndarray | None:
        """Words that are kept: of a joint model, those that are relevant rather than not."""
        least = 0.0 if self.hyper is None else 0.5
        return self.state.inclusion > least if self.selects else None

    @property
    def inclusion(self) -> np.ndarray | None:
        """φ of a joint model; of a focused one 1 for words that are kept, 0 for the others."""
        if self.hyper is None and self.selected_words is not None:
            return self.selected_words.astype(float)
        return self.state.inclusion if self.selects else None

    @property
    def lacks_words(self) -> bool:
        """Whether there are as many topics as the kept words can fill, or more."""
        kept = self.selected_words
        return self.hyper is None and kept is not None and kept.sum() <= self.state.n_topics

    @property
    def word_weight(self) -> np.ndarray | None:
        """How much a token of each word counts in topic mixes (models that select words).

        Of a focused model one on average over the relevant tokens.
        """
        return self.state.inclusion if self.selects else None

    @property
    def background(self) -> np.ndarray | None:
        return self.state.background if self.selects else None

    @property
    def known_words(self) -> np.ndarray:
        """Words that training saw."""
        return (self.state.topic_word.max(axis=1) > 0) | (self.state.background > 0)

    @cached_property
    def word_share(self) -> np.ndarray:
        """p_v, the share of each word among all tokens that topics may explain.

        By the words' frequencies in training.
        """
        contained = self.state.topic_word.max(axis=1) > 0
        # After a batch, topics may hold words that it did not have.
        often = np.where(contained, np.maximum(self.word_count, 0.5), 0.0)
        return often / max(often.sum(), 1e-300)

    # ---- the targets ---------------------------------------------------------------------------

    @property
    def target_model(self) -> TargetModel:
        """`targets`, of a model that has them."""
        if self.targets is None:
            raise TypeError("this model has no targets.")
        return self.targets

    @property
    def parts(self) -> list[TargetPart]:
        """Coding, family and predictors of each target."""
        return [] if self.targets is None else self.targets.parts(self.state.family)

    @property
    def classes(self) -> np.ndarray | list[np.ndarray] | None:
        if self.targets is None or not self.targets.has_classes:
            return None
        labels = [c.labels for c in self.targets.codings if c.labels is not None]
        return labels[0] if len(labels) == 1 else labels

    @property
    def levels(self) -> np.ndarray | None:
        if self.targets is None or self.targets.n_targets > 1 or not self.parts[0].coding.is_rating:
            return None
        return self.parts[0].coding.labels

    @property
    def thresholds(self) -> np.ndarray | None:
        return None if self.levels is None else np.asarray(self.parts[0].family.thresholds)

    @property
    def noise_variance(self) -> float | np.ndarray | None:
        noise = [getattr(part.family, "noise_variance", np.nan) for part in self.parts]
        if np.all(np.isnan(noise)):
            return None
        return float(noise[0]) if len(noise) == 1 else np.array(noise)

    # ---- new documents ---------------------------------------------------------------------------

    def seen(self, corpus: Corpus) -> Corpus:
        """Documents as the topics see them."""
        return damp(corpus) if self.sees_roots else corpus

    def mixes(
        self, corpus: Corpus, n_jobs: int | None = None, tolerance: float = 1e-8
    ) -> np.ndarray:
        """θ̂, documents x topics."""
        return topic_mixes(self.seen(corpus), self.state, tolerance=tolerance, n_jobs=n_jobs)

    def tokens(
        self, corpus: Corpus, mixes: np.ndarray | None = None, n_jobs: int | None = None
    ) -> np.ndarray:
        """Relevant tokens that each topic explains, documents x topics."""
        if mixes is None:
            mixes = self.mixes(corpus, n_jobs)
        return topic_tokens(corpus, self.state, mixes)

    def composition(
        self, corpus: Corpus, mixes: np.ndarray | None = None, n_jobs: int | None = None
    ) -> np.ndarray:
        """Shares of the topics in the relevant tokens, documents x topics."""
        return composition(self.tokens(corpus, mixes, n_jobs), self.state.doc_topic_prior)

    def context_of(
        self, corpus: Corpus, weight: np.ndarray, mixes: np.ndarray
    ) -> np.ndarray | None:
        """What `context` is for these documents, of a model that selects words.

        Occurrences are counted as the topics see them: by roots, where a word's second occurrence
        says less than its first.
        """
        if self.selected_words is None:
            return None
        tokens = self.tokens(corpus, mixes)
        beside = context_counts(corpus, self.state, mixes, tokens, weight, self.sees_roots)
        return beside.astype(np.float32)

    def predictor_variance(
        self, corpus: Corpus, mixes: np.ndarray, n_jobs: int | None = None
    ) -> np.ndarray:
        """Var f = ρ·(what the words leave open) + τ of the linear predictors, as many columns."""
        found = predictor_variance(self.seen(corpus), self.state, mixes, n_jobs)
        return found * self.open_parts + self.excess_parts

    @property
    def open_parts(self) -> np.ndarray:
        """ρ of every predictor (`openness`)."""
        return self._of_predictors(self.openness, 1.0)

    @property
    def excess_parts(self) -> np.ndarray:
        """τ of every predictor (`excess`)."""
        return self._of_predictors(self.excess, 0.0)

    def _of_predictors(self, each: tuple[float, ...] | None, default: float) -> np.ndarray:
        """What there is one of a target, for each of its predictors."""
        out = np.full(self.state.n_predictors, default)
        for part, value in zip(self.parts, each or (), strict=False):
            out[part.where] = value
        return out

    def outlook(
        self, documents: Documents, n_jobs: int | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """f and Var f, documents x predictors: all that predictions and intervals are made from."""
        mixes = self.mixes(documents.corpus, n_jobs)
        spread = self.predictor_variance(documents.corpus, mixes, n_jobs)
        return self.predictors(documents, mixes, n_jobs), spread

    def relevant_words(self, corpus: Corpus) -> np.ndarray:
        """How many different words of each document the topics contain, (documents,)."""
        contained = mix_weights(self.state).table.multiplicity > 0
        found = []
        for _, _, counts in pieces(corpus.counts):
            inside = contained[counts.indices]
            before = np.concatenate([[0], np.cumsum(inside & (counts.data > 0))])
            found.append(before[counts.indptr[1:]] - before[counts.indptr[:-1]])
        return np.concatenate(found)

    def corpus(self, X: Any) -> Corpus:
        """Counts of new documents, checked to have the words of the model."""
        corpus = X if isinstance(X, Corpus) else make_corpus(X, allow_empty=True, fractions=True)
        if corpus.n_words != self.state.n_words:
            raise ValueError(
                f"X has {corpus.n_words} features, but the model has {self.state.n_words}."
            )
        return corpus

    def documents(
        self, X: Any, y: Any = None, exposure: Any = None, covariates: Any = None
    ) -> Documents:
        """New documents (counts, or a Corpus) with what the model was fitted with besides words."""
        corpus = self.corpus(X)
        if self.targets is None:
            return Documents(corpus, None)
        n = corpus.n_docs
        return Documents(
            corpus,
            None if y is None else self.targets.encode(y, n_docs=n),
            None,
            self.targets.offset(exposure, n),
            self.targets.filled(read_covariates(covariates, n, self.targets.n_covariates)),
        )

    def predictors(
        self, documents: Documents, mixes: np.ndarray | None = None, n_jobs: int | None = None
    ) -> np.ndarray:
        """f = b + o + ζᵀz + ηᵀθ̂, documents x predictors."""
        if mixes is None:
            mixes = self.mixes(documents.corpus, n_jobs)
        problem = documents.problem(1.0, n_jobs)
        return mixes @ self.state.coef_rows.T + problem.offsets(self.state)


class FittedAttribute:
    """A public attribute of a fitted model: read from `fitted_`, there where it has a meaning."""

    def __init__(self, read: Callable[[Fitted], Any], doc: str) -> None:
        self._read, self.__doc__ = read, doc

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, model: Any, owner: type | None = None) -> Any:
        if model is None:
            return self
        fitted = vars(model).get("fitted_")
        value = None if fitted is None else self._read(fitted)
        if value is None:
            raise AttributeError(
                f"{type(model).__name__!r} object has no attribute {self._name!r}"
                + (": it is not fitted yet" if fitted is None else "")
            )
        return value

    def __set__(self, model: Any, value: Any) -> None:
        raise AttributeError(
            f"{self._name} is read from fitted_, which is what the model predicts with; it cannot "
            "be set."
        )
