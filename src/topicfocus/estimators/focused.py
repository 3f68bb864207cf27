"""Focused topics, and pc-sLDA, which is the same with every word kept."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from topicfocus.corpus import Corpus
from topicfocus.estimators.constrained import (
    is_auto,
)
from topicfocus.estimators.parameters import check_share
from topicfocus.estimators.streaming import ConstrainedStreaming
from topicfocus.estimators.streaming_targets import StreamingClassifier, StreamingRegressor
from topicfocus.estimators.targets import ClassifierPart, RegressorPart
from topicfocus.solvers.focus import FocusSettings


def read_columns(name: str, words: Any, names: Any, n_words: int) -> np.ndarray | None:
    """Columns of words given by name (where the columns have names) or by number."""
    if words is None:
        return None
    if isinstance(words, str):
        raise TypeError(f"{name} must be a list of words or column numbers, got one string.")
    lookup = {} if names is None else {str(w): i for i, w in enumerate(names)}
    columns = []
    for word in words:
        if isinstance(word, str):
            if names is None:
                raise ValueError(
                    f"{name} has the word {word!r}, but X has no column names. Pass a dataframe, "
                    "or column numbers: vectorizer.vocabulary_[word]."
                )
            if word not in lookup:
                raise ValueError(f"{name} has {word!r}, which is not a column of X.")
            columns.append(lookup[word])
        elif isinstance(word, (int, np.integer)) and not isinstance(word, bool):
            if not 0 <= word < n_words:
                raise ValueError(f"{name} has column {word}, but X has columns 0 to {n_words - 1}.")
            columns.append(int(word))
        else:
            raise TypeError(f"{name} must hold words or column numbers, got {word!r}.")
    return np.unique(np.array(columns, dtype=np.int64))


class _Focused(ConstrainedStreaming):
    """Parameters of the focused model."""

    def __init__(
        self,
        n_topics: int = 5,
        *,
        inclusion_prior: Any = "auto",
        doc_topic_prior: Any = "auto",
        supervision_weight: Any = "auto",
        keep_words: Any = None,
        drop_words: Any = None,
        max_epochs: int | None = None,
        early_stopping: bool = True,
        validation_fraction: float = 0.1,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.n_topics = n_topics
        self.inclusion_prior = inclusion_prior
        self.doc_topic_prior = doc_topic_prior
        self.supervision_weight = supervision_weight
        self.keep_words = keep_words
        self.drop_words = drop_words
        self.max_epochs = max_epochs
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _settings(self, corpus: Corpus) -> FocusSettings:
        settings = super()._settings(corpus)
        share = None
        if not is_auto("inclusion_prior", self.inclusion_prior):
            share = check_share("inclusion_prior", self.inclusion_prior)
        names = getattr(self, "feature_names_in_", None)
        keep = read_columns("keep_words", self.keep_words, names, corpus.n_words)
        drop = read_columns("drop_words", self.drop_words, names, corpus.n_words)
        if keep is not None and drop is not None and np.intersect1d(keep, drop).size:
            both = int(np.intersect1d(keep, drop)[0])
            word = both if names is None else repr(str(names[both]))
            raise ValueError(f"{word} is both in keep_words and in drop_words.")
        return replace(settings, inclusion_prior=share, keep=keep, drop=drop)


class FocusedTopicRegressor(StreamingRegressor, RegressorPart, _Focused):
    """Focused topics for a real target, or another family: few, readable, and predictive.

    Words are kept by the evidence they give about the target, up to a share of the tokens; topics
    are shaped on the kept words by the constrained objective, in which the topic mix of a document
    comes from its words alone, in training as in prediction. β and the background have exactly
    disjoint supports.

    Parameters
    ----------
    n_topics : int, default=5
    inclusion_prior : float in (0, 1) or "auto", default="auto"
        Expected share of tokens that are relevant. Words are kept up to it by what they say about
        the target; where that runs out earlier, words that vary with the kept ones, as words of
        the same topics do, fill it up. "auto": about ten tokens of an average document, but between
        5% and 80%, as a limit that is not filled up.
    family : {"gaussian", "poisson", "ordinal", "bernoulli"} or a list of them, default="gaussian"
        As for :class:`SLDARegressor`.
    doc_topic_prior : float, array (n_topics,) or "auto", default="auto"
        a, the weight of the prior of a topic mix. "auto": together as much as the relevant
        words of an average document.
    supervision_weight : float or "auto", default="auto"
        λ. "auto": 0.3 (readable) or 1.5 (predictive) a relevant token of an average document.
    keep_words, drop_words : list of words or column numbers, optional
        Words that are kept or dropped whatever the evidence. Names need named columns.
    max_epochs : int, optional
        L-BFGS steps of each of the two rungs, at most; 21 and 40 by default.
    early_stopping : bool, default=True
        Whether shaping ends when the documents set aside are explained worse, significantly (two
        paired standard errors) and, on the readable rung, by over a twentieth of the best.
    validation_fraction : float, default=0.1
        Share of documents that choices are made on (unless `fit` is given X_val and y_val).
    n_jobs, random_state, verbose
        As for :class:`LDA`. The seed decides which documents are set aside, nothing else.

    Attributes
    ----------
    components_ : array (topics, words), rows sum to one, zero on dropped words
    coef_, intercept_ : η and b; the expected target of a document of one topic is their sum
    inclusion_ : array (words,), exactly 0 or 1
    selected_words_ : array of bool (words,)
    background_ : array (words,), zero on kept words
    evidence_ : array (words,)
        What each word says about the target, on the scale of a squared z score.
    noise_variance_ : float
        δ, from documents not trained on.
    rung_ : {"readable", "predictive"}
        Which way of shaping was taken: the readable one unless the other explains a tenth more.
    explained_ : tuple of float
        Share of the held-out target's deviance that each rung explains.
    topic_volume_ : array (topics,)
        How many relevant words a topic produces, relative to the busiest; ones unless "predictive".
    inclusion_prior_, doc_topic_prior_, supervision_weight_ : the values used
    n_iter_ : int
    history_ : dict of lists
        "epoch", "objective" (a document), "kept_words", and "validation", the share of the held-out
        target's deviance that is explained: every third step of the first pass, NaN elsewhere.
    covariate_coef_, thresholds_, levels_, family_ : as for :class:`SLDARegressor`
    """

    def __init__(
        self,
        n_topics: int = 5,
        *,
        inclusion_prior: Any = "auto",
        family: Any = "gaussian",
        doc_topic_prior: Any = "auto",
        supervision_weight: Any = "auto",
        keep_words: Any = None,
        drop_words: Any = None,
        max_epochs: int | None = None,
        early_stopping: bool = True,
        validation_fraction: float = 0.1,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        super().__init__(
            n_topics,
            inclusion_prior=inclusion_prior,
            doc_topic_prior=doc_topic_prior,
            supervision_weight=supervision_weight,
            keep_words=keep_words,
            drop_words=drop_words,
            max_epochs=max_epochs,
            early_stopping=early_stopping,
            validation_fraction=validation_fraction,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
        )
        self.family = family


class FocusedTopicClassifier(StreamingClassifier, ClassifierPart, _Focused):
    """Focused topics for classes. As :class:`FocusedTopicRegressor`, with `classes_`."""


class _PCSLDA(ConstrainedStreaming):
    """Parameters of pc-sLDA."""

    _selects = False

    def __init__(
        self,
        n_topics: int = 5,
        *,
        doc_topic_prior: Any = "auto",
        supervision_weight: Any = "auto",
        max_epochs: int | None = None,
        early_stopping: bool = True,
        validation_fraction: float = 0.1,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.n_topics = n_topics
        self.doc_topic_prior = doc_topic_prior
        self.supervision_weight = supervision_weight
        self.max_epochs = max_epochs
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose


class PCSLDARegressor(StreamingRegressor, RegressorPart, _PCSLDA):
    """Prediction-constrained sLDA: the focused model with every word kept.

    Parameters and attributes as for :class:`FocusedTopicRegressor`, without those that concern
    selection; `max_epochs` is 60 by default, and `early_stopping` matters more, since all
    words can overfit.
    """

    def __init__(
        self,
        n_topics: int = 5,
        *,
        family: Any = "gaussian",
        doc_topic_prior: Any = "auto",
        supervision_weight: Any = "auto",
        max_epochs: int | None = None,
        early_stopping: bool = True,
        validation_fraction: float = 0.1,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        super().__init__(
            n_topics,
            doc_topic_prior=doc_topic_prior,
            supervision_weight=supervision_weight,
            max_epochs=max_epochs,
            early_stopping=early_stopping,
            validation_fraction=validation_fraction,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
        )
        self.family = family


class PCSLDAClassifier(StreamingClassifier, ClassifierPart, _PCSLDA):
    """Prediction-constrained sLDA for classes: the focused model with every word kept."""
