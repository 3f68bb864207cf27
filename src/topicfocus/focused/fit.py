"""The focused fit: screening, subjects, inclusion, selection, initial topics, optimisation, refit.

The stages run twice: first with validation documents, to make all choices, and then with all
documents. pc-sLDA is the same with all words kept.

A low-fidelity fit (`FocusSettings.low_fidelity`) takes a fraction of the time of a full fit.
Searches compare settings by such fits:

- the first pass makes its choices with the initial topics, without optimising them;
- topics are optimised once, on all documents, in a few steps, because the first steps gain most;
- topic proportions are found to four digits instead of ten, and coefficients are not shrunk toward
  the signs of the topics.

A low-fidelity model is for comparisons only, because its topics have taken fewer steps, and δ is
that of the initial topics. pc-sLDA has no low-fidelity fits.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from topicfocus.focused.data import FocusData
from topicfocus.focused.inclusion import Folds, choose_inclusion
from topicfocus.focused.initialize import Start, prior_precision, start_topics
from topicfocus.focused.optimize import optimize_topics
from topicfocus.focused.refit import FINE, Precision, Regressions, choose
from topicfocus.focused.result import (
    FocusResult,
    InclusionTrial,
    PassModel,
    over_all_words,
    with_coefficients,
)
from topicfocus.focused.screening import Screening, screen_words
from topicfocus.focused.selection import Selection, select
from topicfocus.focused.settings import FocusSettings, SharedStages
from topicfocus.focused.subjects import Subjects, subjects_of
from topicfocus.focused.word_statistics import Past
from topicfocus.joint.solver import Progress, StepInfo
from topicfocus.kernels.threads import one_blas_thread
from topicfocus.model import ModelState, Problem

#: Optimisation steps of a low-fidelity fit.
LOW_FIDELITY_STEPS = 4
#: Regressions of a low-fidelity fit: those of choices (shrinkage and δ are two numbers, so that few
#: documents are enough), and those of the final coefficients.
LOW_FIDELITY_CHOICES, LOW_FIDELITY = Precision(1e-2, 2_000), Precision(1e-2, math.inf)


@one_blas_thread()
def fit_focused(
    train: Problem,
    held_out: Problem,
    family: Any,
    settings: FocusSettings,
    progress: Progress | None = None,
    past: Past | None = None,
    folds: Folds | None = None,
    shared: SharedStages | None = None,
) -> FocusResult:
    """Fit on `train` and choose on `held_out`, then fit with these choices on both.

    The inclusion, penalties, the shrinkage of coefficients and δ are chosen in the first pass, in
    which nothing is fitted to the validation documents. If these are few, the inclusion is chosen
    by cross-validation on `folds`. The second pass keeps the choices, so that δ remains valid.
    `shared` has the results of stages that other fits to the same documents have computed.
    """
    steps, shared = _Steps(progress, 2 * settings.steps), shared or SharedStages()
    data = FocusData.of(train, held_out, family, past)
    steps.begin("screening words")
    screening = shared.once("screening", lambda: screen_words(data, None, settings.is_stable))
    steps.begin("subjects")
    subjects = subjects_of(data, settings, shared)
    steps.begin("validation pass")
    chosen = choose_inclusion(data, screening, subjects, settings, folds)
    first = _fit_words(data, chosen.selection, chosen.start, settings, steps)
    everyone, penalties = data.joined(), screening.penalties
    steps.begin("screening words of all documents")
    screening = shared.once(
        "screening of all", lambda: screen_words(everyone, penalties, settings.is_stable)
    )
    steps.begin("all documents")
    final = _fit_again(everyone, screening, subjects, settings, steps, first)
    return _result(everyone, screening, subjects, settings, final, chosen.trials, steps)


@one_blas_thread()
def refit_focused(
    documents: Problem,
    held_out: Problem,
    family: Any,
    settings: FocusSettings,
    previous: FocusResult,
    past: Past | None = None,
) -> FocusResult:
    """The second pass alone, on more `documents`, with choices and subjects of a `previous` fit.

    `held_out` is a part of the documents and is not used for choices.
    """
    data = FocusData.of(documents, held_out, family, past)
    steps, subjects = _Steps(None, settings.steps), previous.subjects
    screening = screen_words(data, previous.penalties, settings.is_stable)
    final = _fit_again(data, screening, subjects, settings, steps, previous.final)
    return _result(data, screening, subjects, settings, final, previous.trials, steps)


def _fit_again(
    data: FocusData,
    screening: Screening,
    subjects: Subjects | None,
    settings: FocusSettings,
    steps: _Steps,
    earlier: PassModel,
) -> PassModel:
    """Words and topics of all documents, with the choices of an `earlier` pass."""
    selection = select(data, screening, settings, earlier.selection.limit)
    if not settings.stable:  # the inclusion that was compared
        selection = replace(selection, inclusion=earlier.selection.inclusion)
    start = start_topics(
        data,
        screening,
        selection,
        subjects,
        settings,
        earlier.choices.penalties,
        earlier.choices.mean_squares,
        earlier.state.n_topics,
    )
    return _fit_words(data, selection, start, settings, steps, earlier)


def _fit_words(
    data: FocusData,
    selection: Selection,
    start: Start,
    settings: FocusSettings,
    steps: _Steps,
    earlier: PassModel | None = None,
) -> PassModel:
    """Topics and coefficients on the words kept.

    The first pass makes choices on the validation documents; the second uses those of the `earlier`
    one.
    """
    low, first = settings.is_low_fidelity, earlier is None
    precision = (LOW_FIDELITY_CHOICES if first else LOW_FIDELITY) if low else FINE
    most = settings.steps
    if low:
        most = 0 if first else min(LOW_FIDELITY_STEPS, most)
    elif settings.plan.fixed_coef and not first:
        most = math.ceil(most / 2)
    state, near = _optimize(start, settings, steps, most, len(selection.kept))
    regressions = Regressions.of(data, start, state, near, precision)
    if earlier is None:
        # Without fixed coefficients η was optimised with the topics; in a low-fidelity fit topics
        # will still be optimised.
        choices = choose(data, start, state, regressions, settings.plan.fixed_coef and not low)
    else:
        choices = earlier.choices
    fits = regressions.shrunk(regressions.fits(choices.toward_signs), choices.shrinkage)
    return PassModel(
        selection=selection,
        word_weight=start.word_weight,
        state=with_coefficients(state, data.family, fits, choices.noise),
        supervision_weight=start.supervision_weight,
        choices=choices,
    )


def _optimize(
    start: Start, settings: FocusSettings, steps: _Steps, most: int, kept: int
) -> tuple[ModelState, np.ndarray | None]:
    """Topics after at most `most` steps, and topic proportions of the documents near the end."""
    if most == 0:
        return start.first_state, None
    return optimize_topics(
        start.supervised,
        start.state,
        start.logits,
        prior_precision(settings, start.state.n_topics),
        start.coef_bound,
        most,
        lambda value: steps.add(value, kept),
    )


class _Steps:
    """The history of optimisation steps in both passes, which are reported to `progress`."""

    def __init__(self, progress: Progress | None, total: int) -> None:
        self.history: list[StepInfo] = []
        self._progress, self._total, self._stage = progress, total, ""

    def begin(self, stage: str) -> None:
        """Report the begin of a stage."""
        self._stage = stage
        if self._progress is not None:
            self._progress(stage, len(self.history), self._total)

    def add(self, value: float, kept: int) -> None:
        """Report a step of L-BFGS."""
        info = StepInfo(len(self.history) + 1, value, kept)
        self.history.append(info)
        if self._progress is not None:
            self._progress(self._stage, info.epoch, self._total, info)


def _result(
    data: FocusData,
    screening: Screening,
    subjects: Subjects | None,
    settings: FocusSettings,
    final: PassModel,
    trials: tuple[InclusionTrial, ...],
    steps: _Steps,
) -> FocusResult:
    return FocusResult(
        state=over_all_words(final, data.word_counts),
        statistic=screening.amount(),
        slopes=screening.slopes,
        trials=trials,
        subjects=subjects,
        history=tuple(steps.history),
        final=final,
        penalties=screening.penalties,
    )
