"""Train the focused models and pc-sLDA on all documents or on batches."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from topicfocus.estimators.arguments import check_prior, is_auto
from topicfocus.estimators.documents import Documents, make_folds, split_validation
from topicfocus.estimators.fitted import Fitted, padded_names
from topicfocus.estimators.remainder import add_remainder
from topicfocus.estimators.targets import TargetModel
from topicfocus.estimators.training import (
    FitOptions,
    append_history,
    count_documents,
    generator,
    history_of,
    scaled_state,
    show_fit,
    with_context,
)
from topicfocus.focused import FocusResult, FocusSettings, fit_focused, refit_focused
from topicfocus.focused import online as focus_stream
from topicfocus.focused.data import sample_rows
from topicfocus.focused.fit import LOW_FIDELITY
from topicfocus.focused.inclusion import MOST_COMPARED, N_FOLDS, Folds
from topicfocus.focused.refit import FINE
from topicfocus.model import Problem
from topicfocus.reservoir import Reservoir

#: Largest number of documents in which a low-fidelity fit counts words beside topics.
LOW_FIDELITY_DOCUMENTS = 2_000
#: Parameters that neither screening statistics nor subjects of the documents depend on (the number
#: of subjects aside, which `SharedStages` distinguishes).
AFTER_SCREENING = frozenset(
    (
        "n_topics",
        "inclusion_prior",
        "doc_topic_prior",
        "supervision_weight",
        "keep_words",
        "drop_words",
        "max_epochs",
        "themes",
        "seed_words",
        "remainder",
        "n_jobs",
        "verbose",
    )
)


def screening_key(model: Any) -> str:
    """Models with equal keys can use the same `SharedStages` for fits to the same documents."""
    params = model.get_params(deep=False)
    rest = sorted((k, repr(v)) for k, v in params.items() if k not in AFTER_SCREENING)
    return f"{type(model).__name__} {rest}"


@dataclass(frozen=True, kw_only=True)
class FocusedTrainer:
    """Training by the constrained objective.

    Attributes
    ----------
    model : estimator
        Its parameters have been checked (`focused_trainer`).
    settings : FocusSettings
        None means automatic.
    topic_names : tuple of str
        Names of the topics with seed words, which come first.
    banned : frozenset of str
        Names of the dropped words, which the remainder does not contain either.
    """

    model: Any
    settings: FocusSettings
    topic_names: tuple[str, ...] = ()
    banned: frozenset[str] = frozenset()

    # ---- fit -------------------------------------------------------------------------------------

    def fit(
        self,
        documents: Documents,
        targets: TargetModel | None,
        held_out: Documents | None = None,
        options: FitOptions = FitOptions(),  # noqa: B008 - frozen
    ) -> tuple[Fitted, None]:
        """Fit, with choices made on validation documents or on a part of the training documents."""
        assert targets is not None and documents.target is not None
        self._check_words(documents)
        n_jobs, problem = self.model.n_jobs, documents.problem(1.0, self.model.n_jobs)
        settings = replace(
            self.settings,
            low_fidelity=options.low_fidelity,
            fixed_inclusion=options.fixed_inclusion,
        )
        if held_out is None:
            train, held = (problem.rows(part) for part in self._split(documents, targets))
        else:
            train, held = problem, held_out.problem(1.0, n_jobs)
        with show_fit(self.model, options) as progress:
            result = fit_focused(
                train,
                held,
                targets.start(documents.target, documents.weights),
                settings,
                progress,
                folds=self._folds(documents, problem, targets),
                shared=options.shared,
            )
        fitted = self._fitted(
            result, targets, **history_of(result.history), **count_documents(documents)
        )
        some, tolerance = documents, FINE.tolerance
        if settings.is_low_fidelity:
            some = documents.rows(sample_rows(problem, LOW_FIDELITY_DOCUMENTS))
            tolerance = LOW_FIDELITY.tolerance
        fitted = with_context(fitted, some, n_jobs, tolerance=tolerance)
        self._warn_of_fewer_topics(result)
        if self._has_remainder and options.remainder and not options.low_fidelity:
            fitted = self._add_remainder(fitted, documents, targets, result)
        return fitted, None

    def _add_remainder(
        self, fitted: Fitted, documents: Documents, targets: TargetModel, result: FocusResult
    ) -> Fitted:
        settings = replace(self.settings, low_fidelity=True)

        def fit_part(part: Documents) -> Fitted:
            """Topics of a part of the documents, with the choices of the whole fit."""
            assert part.target is not None
            problem, (_, held) = part.problem(1.0, self.model.n_jobs), self._split(part, targets)
            family = targets.start(part.target, part.weights)
            found = refit_focused(problem, problem.rows(held), family, settings, result)
            return replace(fitted, state=found.state)

        return add_remainder(
            fitted, documents, targets, fit_part, self.model.n_jobs, self.settings.drop, self.banned
        )

    @property
    def _has_remainder(self) -> bool:
        return getattr(self.model, "remainder", False)  # pc-sLDA has none

    def _warn_of_fewer_topics(self, result: FocusResult) -> None:
        """Warn if too few words were kept for the number of topics."""
        found, wanted = result.state.n_topics, self.settings.n_topics
        n_kept = len(result.final.selection.kept)
        if found < wanted:
            warnings.warn(
                f"{found} topics instead of {wanted}: only {n_kept} words "
                "are associated with the target. Ask for fewer topics, or keep more words "
                "(inclusion_prior, keep_words).",
                UserWarning,
                stacklevel=2,
            )

    def _check_words(self, documents: Documents) -> None:
        if documents.corpus.n_words < 2:
            raise ValueError("X has n_features=1: one word makes no topics. Give more words.")
        for name, columns in zip(self.topic_names, self.settings.seeds, strict=True):
            if not np.any(documents.corpus.word_counts[columns]):
                raise ValueError(f"no document of X has a word of seed_words[{name!r}].")

    def _split(self, documents: Documents, targets: TargetModel) -> tuple[np.ndarray, np.ndarray]:
        rng = generator(self.model.random_state)
        return split_validation(documents, targets, self.model.validation_fraction, rng)

    def _folds(self, documents: Documents, problem: Problem, targets: TargetModel) -> Folds:
        """Folds on which inclusion fractions are compared, made one at a time."""

        def parts() -> Iterator[tuple[Problem, Problem]]:
            for train, held in make_folds(documents, targets, N_FOLDS, MOST_COMPARED):
                yield problem.rows(train), problem.rows(held)

        return parts

    def _fitted(self, result: FocusResult, targets: TargetModel, **more: Any) -> Fitted:
        selects, final = self.settings.select, result.final
        return Fitted(
            state=result.state,
            targets=targets,
            selects=selects,
            evidence=result.statistic,
            association=result.slopes if selects else None,
            word_cost=final.selection.word_cost,
            inclusion_prior=final.selection.inclusion if selects else None,
            supervision_weight=final.supervision_weight,
            shaping=("themes" if self.settings.themes else "graded") if selects else None,
            explained=(final.choices.explained,),
            explained_error=final.choices.explained_error,
            variance_factor=final.choices.variance_factor,
            extra_variance=final.choices.extra_variance,
            shares=tuple((t.inclusion, t.explained, t.error) for t in result.trials) or None,
            topic_names=padded_names(self.topic_names, result.state.n_topics),
            **more,
        )

    # ---- batches ---------------------------------------------------------------------------------

    def stream(
        self, documents: Documents, targets: TargetModel | None, before: Fitted | None = None
    ) -> focus_stream.FocusStream:
        """A stream of batches like `documents`, which continues from the model `before`."""
        if self._has_remainder:
            raise ValueError(
                "remainder=True is for fit, which has all documents at once. Set remainder=False "
                "for partial_fit."
            )
        self._check_words(documents)
        seed = int(generator(self.model.random_state).integers(2**63 - 1))
        problem = documents.problem(1.0, self.model.n_jobs)
        reservoir = Reservoir.empty(problem, self.model.reservoir_size, seed)
        if before is None:
            return focus_stream.FocusStream(reservoir)
        inherited = focus_stream.Inherited(scaled_state(before), before.n_samples_seen)
        return focus_stream.FocusStream(reservoir, inherited=inherited)

    def advance(
        self,
        stream: focus_stream.FocusStream,
        documents: Documents,
        before: Fitted | None,
        targets: TargetModel | None,
    ) -> tuple[focus_stream.FocusStream, Fitted]:
        """Fit one batch: it keeps the model, updates its coefficients, or fits new topics."""
        assert targets is not None

        def family_of(problem: Problem) -> Any:
            return targets.start(_codes(problem), problem.doc_weights)

        def split_of(problem: Problem) -> tuple[np.ndarray, np.ndarray, Folds]:
            seen = Documents(problem.corpus, _codes(problem), problem.doc_weight)
            return *self._split(seen, targets), self._folds(seen, problem, targets)

        batch = documents.problem(1.0, self.model.n_jobs)
        stream, found = focus_stream.advance(stream, batch, family_of, self.settings, split_of)
        seen = count_documents(documents, before)
        if isinstance(found, FocusResult):
            history = append_history(
                before,
                objective=float(found.history[-1].objective) if found.history else np.nan,
                kept_words=int(np.sum(found.state.topic_word.max(axis=1) > 0)),
                validation=found.final.choices.explained,
            )
            fitted = self._fitted(found, targets, **history, **seen)
            kept = stream.reservoir.problem()
            documents = Documents(kept.corpus, None, kept.doc_weight)
            return stream, with_context(fitted, documents, self.model.n_jobs)
        assert before is not None  # the first batch always fits topics
        n_kept = int(np.sum(before.state.topic_word.max(axis=1) > 0))
        history = append_history(before, objective=np.nan, kept_words=n_kept, validation=np.nan)
        state = scaled_state(before) if found is None else found
        return stream, replace(before, state=state, **history, **seen)


def _codes(problem: Problem) -> np.ndarray:
    """Targets of a problem, NaN for missing ones."""
    return np.where(problem.target_weights > 0, problem.targets, np.nan)


def focused_trainer(
    model: Any,
    topic_names: tuple[str, ...] = (),
    banned: frozenset[str] = frozenset(),
    **settings: Any,
) -> FocusedTrainer:
    """The trainer of an estimator, whose own parameters have been checked.

    `settings` are the fields of FocusSettings that pc-sLDA does not have.
    """
    prior, weight = model.doc_topic_prior, model.supervision_weight
    if isinstance(prior, str) and prior != "auto":
        raise ValueError(
            'doc_topic_prior must be "auto", a number, or one number for each topic, got '
            f'{prior!r} (doc_topic_prior="learn" is for joint models).'
        )
    return FocusedTrainer(
        model=model,
        settings=FocusSettings(
            n_topics=int(model.n_topics),
            supervision_weight=None if is_auto(weight) else float(weight),
            doc_topic_prior=None if is_auto(prior) else check_prior(prior, model.n_topics)[0],
            max_steps=model.max_epochs,
            **settings,
        ),
        topic_names=topic_names,
        banned=banned,
    )
