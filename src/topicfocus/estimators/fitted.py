"""`Fitted`: the frozen result of a fit, from which all public attributes are read.

An estimator keeps it as `fitted_`; `components_`, `coef_`, ... are views of it (`FittedAttribute`).
Report, persistence and workflow read predictions from it and need nothing else of an estimator.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from topicfocus.corpus import Corpus, make_corpus
from topicfocus.counts import pieces
from topicfocus.estimators.documents import Documents, read_covariates
from topicfocus.estimators.targets import TargetModel, TargetPart
from topicfocus.focused import root_counts
from topicfocus.joint.settings import Hyperparameters
from topicfocus.model import ModelState
from topicfocus.proportions import predictor_variance, proportion_weights, topic_proportions
from topicfocus.remainder import Completeness, Remainder
from topicfocus.token_proportions import token_proportions, topic_tokens


@dataclass(frozen=True, kw_only=True, eq=False)
class Fitted:
    """The result of a fit.

    Attributes
    ----------
    state : ModelState
        β, φ, π, η, the family, α, b and ζ in the units of the data; columns of β sum to the volumes
        of the topics.
    targets : TargetModel or None
        None in LDA.
    selects : bool
        Whether the model selects words.
    n_iter : int
    history : dict of lists, one entry per epoch, step or batch
    n_samples_seen : float
        Sum of the weights of the training documents.
    word_count : array (words,)
        Counts of the words in these documents.
    hyper : Hyperparameters or None
        Of a joint model.
    converged : bool or None
        Of a joint model.
    evidence : array (words,) or None
        Screening statistic of each word (focused models).
    word_cost : float or None
        Threshold of the screening statistic (focused models).
    inclusion_prior : float or None
        Fraction of tokens kept (focused models).
    supervision_weight : float or None
    shaping : str or None
        "themes" or "graded".
    explained : tuple of float or None
        Fraction of the validation deviance explained, by the first pass of focused models.
    explained_error : float or None
        Its standard error.
    shares : tuple of (inclusion, explained, standard error) or None
        Inclusion fractions that were compared (focused models).
    context : array (words, topics) or None
        Co-occurrences of each word with the tokens of each topic, excluding itself (models that
        select words). After `partial_fit`, of the documents in memory.
    association : array (words, predictors) or None
        Slope of each word against the targets (focused models).
    variance_factor : tuple of float or None
        ρ of each target: factor on the Laplace variance of its predictor, from validation
        documents (focused models); None means 1.
    extra_variance : tuple of float or None
        τ of each target: additional variance of its predictor for overdispersed counts (focused
        models); None means 0.
    typical_shares : array (3, topics) or None
        Mean of θ̂ over the training documents, and the quantiles that `topic_effects` calls
        proportion_low and proportion_high. After `partial_fit`, of the documents in memory.
    topic_names : tuple of (str or None), optional
        Names that the user has given to topics; None for topics without one.
    remainder : Remainder or None
        Of focused models that were asked for one, if it predicts better than the topics alone.
    completeness : Completeness or None
        Of cross-fitted predictions for the training documents (models asked for a remainder).
    """

    state: ModelState
    targets: TargetModel | None
    selects: bool
    n_iter: int
    history: dict[str, list]
    n_samples_seen: float
    word_count: np.ndarray
    hyper: Hyperparameters | None = None
    converged: bool | None = None
    evidence: np.ndarray | None = None
    word_cost: float | None = None
    inclusion_prior: float | None = None
    supervision_weight: float | None = None
    shaping: str | None = None
    explained: tuple[float, ...] | None = None
    explained_error: float | None = None
    shares: tuple[tuple[float, float, float], ...] | None = None
    context: np.ndarray | None = None
    variance_factor: tuple[float, ...] | None = None
    typical_shares: np.ndarray | None = None
    extra_variance: tuple[float, ...] | None = None
    association: np.ndarray | None = None
    topic_names: tuple[str | None, ...] | None = None
    remainder: Remainder | None = None
    completeness: Completeness | None = None

    # ---- attributes of the estimators ------------------------------------------------------------

    @cached_property
    def components(self) -> np.ndarray:
        """β, topics x words, rows sum to one."""
        return np.ascontiguousarray((self.state.topic_word / self.volume).T)

    @cached_property
    def volume(self) -> np.ndarray:
        """Relative number of relevant tokens per topic."""
        return self.state.topic_word.sum(axis=0)

    @property
    def names(self) -> tuple[str | None, ...]:
        """The name of each topic, None without one."""
        return self.topic_names or (None,) * self.state.n_topics

    @property
    def labels(self) -> list[str]:
        """The name of each topic, or topic0, topic1, ... by its place."""
        return [f"topic{k}" if name is None else name for k, name in enumerate(self.names)]

    @property
    def is_joint(self) -> bool:
        """Whether the model is a joint one, in which η includes the intercept."""
        return self.hyper is not None

    @property
    def sees_roots(self) -> bool:
        """Whether topic proportions are inferred from √counts, as in focused models."""
        return not self.is_joint

    @cached_property
    def coef(self) -> np.ndarray | None:
        """η, one row per class or target if there are several."""
        return None if self.targets is None else np.ascontiguousarray(self.state.coef.T)

    @cached_property
    def intercept(self) -> float | np.ndarray | None:
        """b, one per class or target if there are several."""
        if self.targets is None:
            return None
        b = np.full(self.state.n_predictors, self.state.intercept, dtype=float)
        return b if self.state.coef.ndim == 2 else float(b[0])

    @cached_property
    def covariate_coef(self) -> np.ndarray | None:
        """ζ, one row per class or target if there are several."""
        zeta = self.state.covariate_coef
        if zeta is None or self.targets is None:
            return None
        return np.ascontiguousarray(zeta.T) if self.state.coef.ndim == 2 else zeta[:, 0].copy()

    @cached_property
    def selected_words(self) -> np.ndarray | None:
        """Words that are kept; in a joint model those with φ > ½."""
        least = 0.0 if self.hyper is None else 0.5
        return self.state.inclusion > least if self.selects else None

    @property
    def inclusion(self) -> np.ndarray:
        """φ of a joint model; 1 for kept and 0 for dropped words of a focused model."""
        if self.is_joint or not self.selects:
            return self.state.inclusion
        return (self.state.inclusion > 0).astype(float)

    @property
    def lacks_words(self) -> bool:
        """Whether a focused model kept no more words than it has topics."""
        kept = self.selected_words
        return self.hyper is None and kept is not None and kept.sum() <= self.state.n_topics

    @property
    def known_words(self) -> np.ndarray:
        """Words that occur in the training documents."""
        return (self.state.topic_word.max(axis=1) > 0) | (self.state.background > 0)

    @cached_property
    def word_share(self) -> np.ndarray:
        """p_v, relative frequency in training among the words that topics contain."""
        contained = self.state.topic_word.max(axis=1) > 0
        # After a batch, topics may contain words of count zero.
        often = np.where(contained, np.maximum(self.word_count, 0.5), 0.0)
        return often / max(often.sum(), 1e-300)

    # ---- targets ---------------------------------------------------------------------------------

    @property
    def target_model(self) -> TargetModel:
        """The targets; an error in a model without."""
        if self.targets is None:
            raise TypeError("this model has no targets.")
        return self.targets

    @property
    def parts(self) -> list[TargetPart]:
        """Coding, family and predictors of each target."""
        if self.targets is None:
            return []
        families = self.state.family.split()
        return [
            TargetPart(coding, own, where)
            for coding, (own, where) in zip(self.targets.codings, families, strict=True)
        ]

    def mean(self, predictor: np.ndarray) -> np.ndarray:
        """E[y | f], documents x targets."""
        return np.column_stack([part.mean(predictor) for part in self.parts])

    def variance(self, predictor: np.ndarray, spread: np.ndarray) -> np.ndarray:
        """Var y, documents x targets, given f and its variance `spread`."""
        return np.column_stack([part.variance(predictor, spread) for part in self.parts])

    def intervals(
        self, predictor: np.ndarray, spread: np.ndarray, coverage: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """Ends of the prediction intervals, documents x targets."""
        ends = [part.interval(predictor, spread, coverage) for part in self.parts]
        low, high = zip(*ends, strict=True)
        return np.column_stack(low), np.column_stack(high)

    def responses(self, predictor: np.ndarray) -> np.ndarray:
        """E[y | f] or P(y = label), documents x predictors."""
        return np.hstack([part.response(predictor) for part in self.parts])

    @property
    def classes(self) -> np.ndarray | list[np.ndarray] | None:
        """Labels of a classifier, a list for several targets."""
        if self.targets is None or not self.targets.has_classes:
            return None
        labels = [c.labels for c in self.targets.codings if c.labels is not None]
        return labels[0] if len(labels) == 1 else labels

    @property
    def levels(self) -> np.ndarray | None:
        """Levels of a single ordinal target."""
        if self.targets is None or self.targets.n_targets > 1 or not self.parts[0].coding.is_rating:
            return None
        return self.parts[0].coding.labels

    @property
    def noise_variance(self) -> float | np.ndarray | None:
        """δ of Gaussian targets, NaN for others."""
        known = [part.family.noise_variance for part in self.parts]
        noise = [np.nan if value is None else value for value in known]
        if np.all(np.isnan(noise)):
            return None
        return float(noise[0]) if len(noise) == 1 else np.array(noise)

    # ---- new documents ---------------------------------------------------------------------------

    def seen(self, corpus: Corpus) -> Corpus:
        """Counts, or their roots, from which topic proportions are inferred."""
        return root_counts(corpus) if self.sees_roots else corpus

    def mixes(
        self, corpus: Corpus, n_jobs: int | None = None, tolerance: float = 1e-8
    ) -> np.ndarray:
        """θ̂, documents x topics."""
        return topic_proportions(self.seen(corpus), self.state, tolerance=tolerance, n_jobs=n_jobs)

    def tokens(
        self, corpus: Corpus, mixes: np.ndarray | None = None, n_jobs: int | None = None
    ) -> np.ndarray:
        """Expected number of relevant tokens of each topic, documents x topics."""
        if mixes is None:
            mixes = self.mixes(corpus, n_jobs)
        return topic_tokens(corpus, self.state, mixes)

    def token_proportions(
        self, corpus: Corpus, mixes: np.ndarray | None = None, n_jobs: int | None = None
    ) -> np.ndarray:
        """Token proportions of the topics, documents x topics."""
        return token_proportions(self.tokens(corpus, mixes, n_jobs), self.state.doc_topic_prior)

    def predictor_variance(
        self, corpus: Corpus, mixes: np.ndarray, n_jobs: int | None = None
    ) -> np.ndarray:
        """Var f = ρ·(Laplace variance given the words) + τ, documents x predictors."""
        found = predictor_variance(self.seen(corpus), self.state, mixes, n_jobs)
        return found * self.variance_factors + self.extra_variances

    @property
    def variance_factors(self) -> np.ndarray:
        """ρ of every predictor (`variance_factor`)."""
        return self._per_predictor(self.variance_factor, 1.0)

    @property
    def extra_variances(self) -> np.ndarray:
        """τ of every predictor (`extra_variance`)."""
        return self._per_predictor(self.extra_variance, 0.0)

    def _per_predictor(self, values: tuple[float, ...] | None, default: float) -> np.ndarray:
        """Repeat one value per target for each of its predictors."""
        out = np.full(self.state.n_predictors, default)
        for part, value in zip(self.parts, values or (), strict=False):
            out[part.where] = value
        return out

    def outlook(
        self, documents: Documents, n_jobs: int | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """f and Var f, documents x predictors."""
        mixes = self.mixes(documents.corpus, n_jobs)
        spread = self.predictor_variance(documents.corpus, mixes, n_jobs)
        return self.predictors(documents, mixes, n_jobs), spread

    def relevant_words(self, corpus: Corpus) -> np.ndarray:
        """Number of different words of each document that the topics contain."""
        contained = proportion_weights(self.state).table.multiplicity > 0
        found = []
        for _, _, counts in pieces(corpus.counts):
            inside = contained[counts.indices]
            before = np.concatenate([[0], np.cumsum(inside & (counts.data > 0))])
            found.append(before[counts.indptr[1:]] - before[counts.indptr[:-1]])
        return np.concatenate(found)

    def corpus(self, X: Any) -> Corpus:
        """Counts of new documents; their columns must be the words of the model."""
        corpus = X if isinstance(X, Corpus) else make_corpus(X, allow_empty=True, fractions=True)
        if corpus.n_words != self.state.n_words:
            raise ValueError(
                f"X has {corpus.n_words} features, but the model has {self.state.n_words}."
            )
        return corpus

    def documents(
        self, X: Any, y: Any = None, exposure: Any = None, covariates: Any = None
    ) -> Documents:
        """New documents, with exposures and covariates if the model was fitted with them."""
        corpus = self.corpus(X)
        if self.targets is None:
            return Documents(corpus, None)
        n = corpus.n_docs
        target = None if y is None else self.targets.encode(y, n_docs=n)
        values = read_covariates(covariates, n, self.targets.n_covariates)
        if values is not None:
            values = self.targets.covariates.impute(values)
        return Documents(corpus, target, None, self.targets.offset(exposure, n), values)

    def predictors(
        self, documents: Documents, mixes: np.ndarray | None = None, n_jobs: int | None = None
    ) -> np.ndarray:
        """f = b + o + ζᵀz + ηᵀθ̂ and the remainder, documents x predictors."""
        if mixes is None:
            mixes = self.mixes(documents.corpus, n_jobs)
        problem = documents.problem(1.0, n_jobs)
        topics = mixes @ self.state.coef_rows.T + problem.offsets(self.state)
        return topics + self.remainder_amounts(documents.corpus)

    def remainder_amounts(self, corpus: Corpus) -> np.ndarray:
        """What the remainder adds to the linear predictors, documents x predictors."""
        if self.remainder is None:
            return np.zeros((corpus.n_docs, self.state.n_predictors))
        parts = pieces(self.remainder_counts(corpus))
        return np.vstack([self.remainder.amounts(counts) for _, _, counts in parts])

    def remainder_counts(self, corpus: Corpus) -> Any:
        """Counts of the terms of the remainder."""
        assert self.remainder is not None
        names = self.remainder.names
        if names is None:
            return corpus.counts
        found = corpus.remainder
        if found is None:
            raise ValueError(
                "the model has a remainder of all words and pairs of words, which X does not have. "
                "Count texts with the fitted TokenCounter, or predict with the pipeline."
            )
        theirs = getattr(found, "feature_names", None)
        if found.shape[1] != len(names) or not (theirs is None or np.array_equal(theirs, names)):
            raise ValueError(
                "the words of X beside its columns are other words than at fit. Count texts with "
                "the fitted TokenCounter."
            )
        return found


def padded_names(names: Sequence[str | None], n_topics: int) -> tuple[str | None, ...] | None:
    """The names of the first topics, then None; None if there are no names."""
    return (*names, *[None] * (n_topics - len(names))) if any(names) else None


class FittedAttribute:
    """A read-only attribute of a fitted estimator; it does not exist where its value is None."""

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
            f"{self._name} cannot be set: it is read from fitted_, which predictions use."
        )
