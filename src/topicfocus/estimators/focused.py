"""The models of the constrained objective: focused topics, and pc-sLDA, which keeps every word."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from topicfocus.corpus import Corpus, check_target, make_corpus
from topicfocus.estimators.base import TopicModel, generator
from topicfocus.estimators.parameters import (
    check_count,
    check_flag,
    check_positive,
    check_prior,
    check_share,
)
from topicfocus.estimators.progress import progress_bar
from topicfocus.estimators.targets import ClassifierPart, RegressorPart
from topicfocus.inference.mixes import topic_mixes
from topicfocus.inference.state import ModelState, make_problem
from topicfocus.kernels.threads import n_threads
from topicfocus.solvers.focus import FocusResult, damp, fit_focused
from topicfocus.solvers.rungs import FocusSettings


class ConstrainedModel(TopicModel):
    """What models of the constrained objective share. θ̂ is found from √counts."""

    _selects = True

    def fit(self, X: Any, y: Any, X_val: Any = None, y_val: Any = None):
        """Fit to counts (documents x words) and a target.

        Parameters
        ----------
        X, y : counts and target
        X_val, y_val : optional
            Documents to make choices on. By default a part of X is set aside
            (`validation_fraction`), stratified for classes.
        """
        if (X_val is None) != (y_val is None):
            raise ValueError("Give both X_val and y_val, or neither.")
        return self._fit_supervised(X, y, held_out=None if X_val is None else (X_val, y_val))

    def _fit_target(
        self, corpus: Corpus, target: np.ndarray, family: Any, held_out: Any
    ) -> ModelState:
        settings = self._settings(corpus)
        n_threads(self.n_jobs)
        if corpus.n_words < 2:
            raise ValueError("X has n_features=1: one word makes no topics. Give more words.")
        if held_out is None:
            train, held = self._split(target)
            problems = (corpus.rows(train), target[train]), (corpus.rows(held), target[held])
        else:
            problems = (corpus, target), self._read_held_out(held_out, corpus.n_words)
        train_problem, held_problem = (make_problem(c, t, n_jobs=self.n_jobs) for c, t in problems)
        title = type(self).__name__
        with progress_bar(title, corpus.n_words, self.verbose, "objective/doc") as report:
            result = fit_focused(train_problem, held_problem, family, settings, report)
        self._keep(result)
        return result.state

    def _settings(self, corpus: Corpus) -> FocusSettings:
        """Every parameter, checked; None where it is automatic."""
        n_topics = check_count("n_topics", self.n_topics)
        prior = None
        if not _is_auto("doc_topic_prior", self.doc_topic_prior):
            prior, learn = check_prior(self.doc_topic_prior, n_topics)
            if learn:
                raise ValueError('doc_topic_prior="learn" is for joint models; use "auto" here.')
        weight = None
        if not _is_auto("supervision_weight", self.supervision_weight):
            weight = check_positive("supervision_weight", self.supervision_weight)
        check_share("validation_fraction", self.validation_fraction)
        steps = None if self.max_epochs is None else check_count("max_epochs", self.max_epochs)
        return FocusSettings(
            n_topics,
            select=self._selects,
            supervision_weight=weight,
            doc_topic_prior=prior,
            max_steps=steps,
            early_stopping=check_flag("early_stopping", self.early_stopping),
        )

    def _split(self, target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Documents to train on and to make choices on; classes in their proportions.

        Too few documents to set any aside: all serve as both, and δ is then too small.
        """
        rng = generator(self.random_state)
        fraction = self.validation_fraction
        groups = [np.arange(len(target))]
        if hasattr(self, "classes_"):
            groups = [np.flatnonzero(target == c) for c in (0.0, 1.0)]
        held = []
        for group in groups:
            n_held = max(1, round(fraction * len(group)))
            if len(group) - n_held < 2:
                return np.arange(len(target)), np.arange(len(target))
            held.append(rng.permutation(group)[:n_held])
        chosen = np.sort(np.concatenate(held))
        rest = np.setdiff1d(np.arange(len(target)), chosen)
        if np.ptp(target[rest]) == 0 or np.ptp(target[chosen]) == 0:
            return np.arange(len(target)), np.arange(len(target))
        return rest, chosen

    def _read_held_out(self, held_out: Any, n_words: int) -> tuple[Corpus, np.ndarray]:
        corpus = make_corpus(held_out[0], name="X_val", allow_empty=True)
        if corpus.n_words != n_words:
            raise ValueError(f"X_val has {corpus.n_words} features, but X has {n_words}.")
        if hasattr(self, "classes_"):
            target = self._encode_target(held_out[1], corpus.n_docs)
            if np.ptp(target) == 0:
                raise ValueError("y_val has one class only: no choice can be made on it.")
            return corpus, target
        return corpus, check_target(held_out[1], corpus.n_docs, name="y_val")

    def _keep(self, result: FocusResult) -> None:
        state = result.state
        volume = result.volume
        self.components_ = np.ascontiguousarray((state.topic_word / volume).T)
        self.topic_volume_ = volume
        self.doc_topic_prior_ = state.doc_topic_prior
        self.supervision_weight_ = result.supervision_weight
        self.evidence_ = result.evidence
        self.n_iter_ = len(result.history)
        self.history_ = {
            "epoch": [info.epoch for info in result.history],
            "objective": [float(info.objective) for info in result.history],
            "kept_words": [info.kept for info in result.history],
            "validation": [float(info.validation) for info in result.history],
        }
        self.explained_ = result.explained
        if self._selects:
            self.rung_ = ("readable", "predictive")[result.rung]
            self.inclusion_prior_ = result.inclusion_prior
            self.inclusion_ = state.inclusion
            self.background_ = state.background
            self.selected_words_ = state.inclusion > 0.5
        if result.interrupted:
            warnings.warn(
                f"The fit was interrupted after {self.n_iter_} steps; the model is their result.",
                ConvergenceWarning,
                stacklevel=5,
            )

    def _state(self) -> ModelState:
        state = super()._state()
        return ModelState(
            state.topic_word * self.topic_volume_,
            state.inclusion,
            state.background,
            state.coef,
            state.family,
            state.doc_topic_prior,
            state.intercept,
        )

    def _mixes(self, corpus: Corpus) -> np.ndarray:
        return topic_mixes(damp(corpus), self._state(), n_jobs=self.n_jobs)


def _is_auto(name: str, value: Any) -> bool:
    """Whether a parameter is left to the data; a word other than "auto" is an error."""
    if (
        isinstance(value, str)
        and value != "auto"
        and not (name == "doc_topic_prior" and value == "learn")
    ):
        raise ValueError(f"{name} must be 'auto' or a number, got {value!r}.")
    return isinstance(value, str) and value == "auto"


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


class _Focused(ConstrainedModel):
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
        if not _is_auto("inclusion_prior", self.inclusion_prior):
            share = check_share("inclusion_prior", self.inclusion_prior)
        names = getattr(self, "feature_names_in_", None)
        keep = read_columns("keep_words", self.keep_words, names, corpus.n_words)
        drop = read_columns("drop_words", self.drop_words, names, corpus.n_words)
        if keep is not None and drop is not None and np.intersect1d(keep, drop).size:
            both = int(np.intersect1d(keep, drop)[0])
            word = both if names is None else repr(str(names[both]))
            raise ValueError(f"{word} is both in keep_words and in drop_words.")
        return replace(settings, inclusion_prior=share, keep=keep, drop=drop)


class FocusedTopicRegressor(_Focused, RegressorPart):
    """Focused topics for a real target: few, readable, and predictive.

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
    """


class FocusedTopicClassifier(_Focused, ClassifierPart):
    """Focused topics for two classes. As :class:`FocusedTopicRegressor`, with `classes_`."""


class _PCSLDA(ConstrainedModel):
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


class PCSLDARegressor(_PCSLDA, RegressorPart):
    """Prediction-constrained sLDA for a real target: the focused model with every word kept.

    Parameters and attributes as for :class:`FocusedTopicRegressor`, without those that concern
    selection; `max_epochs` is 60 by default, and `early_stopping` matters more, since all
    words can overfit.
    """


class PCSLDAClassifier(_PCSLDA, ClassifierPart):
    """Prediction-constrained sLDA for two classes: the focused model with every word kept."""
