"""What models of the constrained objective share: fitting, and choices on held-out documents."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from topicfocus.corpus import Corpus
from topicfocus.estimators.base import TopicModel, generator
from topicfocus.estimators.documents import Documents
from topicfocus.estimators.parameters import (
    check_count,
    check_flag,
    check_positive,
    check_prior,
    check_share,
)
from topicfocus.estimators.progress import progress_bar
from topicfocus.inference.state import ModelState
from topicfocus.kernels.threads import n_threads
from topicfocus.solvers.focus import FocusResult, FocusSettings, damp, fit_focused


class ConstrainedModel(TopicModel):
    """What models of the constrained objective share. θ̂ is found from √counts."""

    _selects = True

    def _fit_documents(
        self, documents: Documents, family: Any, held_out: Documents | None = None
    ) -> ModelState:
        settings = self._settings(documents.corpus)
        n_threads(self.n_jobs)
        if documents.corpus.n_words < 2:
            raise ValueError("X has n_features=1: one word makes no topics. Give more words.")
        if held_out is None:
            train, held = self._split(documents)
            documents, held_out = documents.rows(train), documents.rows(held)
        train_problem, held_problem = (d.problem(1.0, self.n_jobs) for d in (documents, held_out))
        title = type(self).__name__
        n_words = documents.corpus.n_words
        with progress_bar(title, n_words, self.verbose, "objective/doc") as report:
            result = fit_focused(train_problem, held_problem, family, settings, report)
        self._keep(result)
        return result.state

    def _settings(self, corpus: Corpus) -> FocusSettings:
        """Every parameter, checked; None where it is automatic."""
        n_topics = check_count("n_topics", self.n_topics)
        prior = None
        if not is_auto("doc_topic_prior", self.doc_topic_prior):
            prior, learn = check_prior(self.doc_topic_prior, n_topics)
            if learn:
                raise ValueError('doc_topic_prior="learn" is for joint models; use "auto" here.')
        weight = None
        if not is_auto("supervision_weight", self.supervision_weight):
            weight = check_positive("supervision_weight", self.supervision_weight)
        check_share("validation_fraction", self.validation_fraction)
        steps = None if self.max_epochs is None else check_count("max_epochs", self.max_epochs)
        return FocusSettings(
            n_topics=n_topics,
            select=self._selects,
            supervision_weight=weight,
            doc_topic_prior=prior,
            max_steps=steps,
            early_stopping=check_flag("early_stopping", self.early_stopping),
        )

    def _split(self, documents: Documents) -> tuple[np.ndarray, np.ndarray]:
        """Documents to train on and to make choices on; classes in their proportions.

        The content of a document decides (with `random_state`): copies of one never come to
        different sides, and a document of weight 2 is split like two copies of it. Too few
        documents to set any aside: all serve as both, and δ is then too small.
        """
        everyone = np.arange(documents.corpus.n_docs)
        rng = generator(self.random_state)
        # A random number for each document that depends on nothing but its content.
        place = documents.corpus.counts @ rng.standard_normal(documents.corpus.n_words)
        for t in range(documents.target.shape[1]):
            place = place + rng.standard_normal() * np.nan_to_num(documents.target[:, t], nan=7.7)
        weight = np.ones(len(everyone)) if documents.weight is None else documents.weight
        held = np.zeros(len(everyone), dtype=bool)
        for group in self._strata(documents.target):
            group = group[weight[group] > 0]
            # Far digits of the number: neighbouring contents are not neighbours in this order.
            order = group[np.argsort(np.modf(np.abs(place[group]) * 1e4)[0], kind="stable")]
            before = np.cumsum(weight[order]) - weight[order]
            wanted = max(1.0, round(self.validation_fraction * weight[order].sum()))
            values = place[order]
            chosen = before < wanted
            chosen |= np.isin(values, values[chosen])  # copies go together
            if weight[order][~chosen].sum() < 2:
                return everyone, everyone
            held[order[chosen]] = True
        train = ~held & (weight > 0)
        if not all(_tells(documents.target[part & (weight > 0)]) for part in (train, held)):
            return everyone, everyone
        return everyone[train], everyone[held]

    def _strata(self, target: np.ndarray) -> list[np.ndarray]:
        """Groups to be split in the same proportion: the classes of a single target."""
        known = np.all(np.isfinite(target), axis=1)
        if len(self._codings) == 1 and self._codings[0].kind in ("bernoulli", "categorical"):
            groups = [np.flatnonzero(target[:, 0] == c) for c in np.unique(target[known, 0])]
        else:
            groups = [np.flatnonzero(known)]
        rest = np.flatnonzero(~known)
        return [g for g in [*groups, rest] if len(g)] if len(rest) >= 10 else groups

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
            self.rung_ = ("readable", "predictive")[result.plan]
            self.inclusion_prior_ = result.inclusion_prior
            self.inclusion_ = state.inclusion
            self.background_ = state.background
            self.selected_words_ = state.inclusion > 0.5
        if result.interrupted:
            warnings.warn(
                f"The fit was interrupted after {self.n_iter_} steps; the model is their result.",
                ConvergenceWarning,
                stacklevel=6,
            )

    def _state(self) -> ModelState:
        state = super()._state()
        return replace(state, topic_word=state.topic_word * self.topic_volume_)

    def _seen(self, corpus: Corpus) -> Corpus:
        return damp(corpus)


def _tells(target: np.ndarray) -> bool:
    """Whether every target has two different known values or more."""
    for column in target.T:
        known = column[np.isfinite(column)]
        if len(known) == 0 or np.ptp(known) == 0:
            return False
    return True


def is_auto(name: str, value: Any) -> bool:
    """Whether a parameter is left to the data; a word other than "auto" is an error."""
    if (
        isinstance(value, str)
        and value != "auto"
        and not (name == "doc_topic_prior" and value == "learn")
    ):
        raise ValueError(f"{name} must be 'auto' or a number, got {value!r}.")
    return isinstance(value, str) and value == "auto"
