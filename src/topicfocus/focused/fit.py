"""The focused model: evidence, themes, share, cut, start, shape, refit, judge.

Each stage is a file of its own. The stages run twice: first with validation documents, for all that
has to be chosen, and then with all documents. pc-sLDA is the same with all words kept.

A low-fidelity fit (`FocusSettings.low_fidelity`) costs a part of a full fit. A search uses such
fits to compare settings:

- the first pass makes its choices (inclusion, penalties, shrinkage, δ) from the initial topics,
  without optimising them;
- topics are optimised once, on all documents, in a few steps: the first ones move them most;
- topic proportions are found to four digits instead of ten, and coefficients are not shrunk toward
  the signs of the topics.

A low-fidelity model is not meant for use: its topics have taken fewer steps, and δ is that of the
initial topics. Only graded plans have low-fidelity fits; other models are fitted in full.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from topicfocus.focused.data import FocusData
from topicfocus.focused.early_stopping import StoppingRule, Watch
from topicfocus.focused.evaluate import judge, shrinkage_factors
from topicfocus.focused.inclusion import (
    LEAST_DIVERSITY,
    ChosenShare,
    Folds,
    choose_share,
    diversity,
)
from topicfocus.focused.initialize import Start, start_topics
from topicfocus.focused.optimize import Shaped, ShapeSettings, shape_topics
from topicfocus.focused.refit import FINE, Care, Regressions, held_out_mixes
from topicfocus.focused.result import (
    Candidate,
    Choices,
    FocusResult,
    ShareTrial,
    expand,
    final_state,
)
from topicfocus.focused.screening import WordEvidence, gather_evidence
from topicfocus.focused.selection import Cut, cut_again
from topicfocus.focused.settings import FocusSettings
from topicfocus.focused.shared_stages import SharedStages
from topicfocus.focused.themes import Themes, themes_of
from topicfocus.focused.word_statistics import Past
from topicfocus.inference.state import ModelState, Problem
from topicfocus.joint.solver import Progress, StepInfo
from topicfocus.kernels.blas import one_blas_thread

#: Optimisation steps of a low-fidelity fit.
LOW_FIDELITY_STEPS = 4
#: Of the regressions that choices are made by in a low-fidelity fit: shrinkage and δ are two
#: numbers.
LOW_FIDELITY_CHOICES = Care(1e-2, 2_000)
#: Of the regressions that a low-fidelity fit predicts with.
LOW_FIDELITY = Care(1e-2, math.inf)

#: A model, and the shares that were tried for it.
Pass = tuple[Candidate, tuple[ShareTrial, ...]]


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
    """Fit on `train`, choose on `held_out`, then fit what was chosen on both.

    The first pass shapes nothing by the held-out documents: the share of words, penalties, the
    shrinkage of η and δ come from it; where few are held out, the share comes from `folds` of the
    documents instead (`share`). The second pass, words and topics of that share from all
    documents, takes them as they are, so δ stays honest and the words kept do not depend on who was
    held out. The first pass of a low-fidelity fit optimises no topics. `shared` has the stages that
    other fits to the same documents have computed already.

    If topics share too many of their top words in the end (`share.diversity`), both passes are made
    again with the next larger share of the path.
    """
    steps = Steps(progress, settings.total_steps)
    data, shared = FocusData.of(train, held_out, family, past), shared or SharedStages()
    passes = BothPasses(data, settings, steps, folds, shared)
    found: list[tuple[float, Candidate]] = []
    distinct = more = True
    larger = 0
    while more and not (found and distinct):
        first, trials = passes.first(larger)
        chosen = first
        if settings.refit:
            chosen = passes.again(first)
        alike = diversity(chosen.state.topic_word)
        found.append((alike, chosen))
        distinct = alike >= LEAST_DIVERSITY or settings.is_low_fidelity
        more = bool(trials) and first.cut.share != trials[-1].share
        larger += 1
    _, chosen = found[-1] if distinct else max(found, key=lambda pair: pair[0])
    data, evidence = passes.data, passes.evidence
    return _result(data, evidence, passes.themes, settings, chosen, trials, steps)


class BothPasses:
    """The first pass and the second, for one share of the path after the other.

    Evidence and themes are found once; `data` and `evidence` are those of the last pass.
    """

    def __init__(
        self,
        data: FocusData,
        settings: FocusSettings,
        steps: Steps,
        folds: Folds | None,
        shared: SharedStages,
    ) -> None:
        self.data, self.settings, self.steps, self._folds = data, settings, steps, folds
        self._shared = shared
        steps.begin("screening words")
        self.evidence = shared.screening(lambda: gather_evidence(data, None, settings.stable_share))
        steps.begin("subjects")
        self.themes = themes_of(data, settings, shared)
        self._before = data, self.evidence
        self._all: tuple[FocusData, WordEvidence] | None = None
        self._share: ChosenShare | None = None

    def first(self, larger: int) -> Pass:
        """A model of the share taken, or of the `larger`-th after it, and what was tried."""
        self.data, self.evidence = self._before
        self.steps.begin("validation pass")
        if self._share is None:
            model = self.data, self.evidence, self.themes, self.settings
            self._share = choose_share(*model, self._folds)
        cut, start = self._share.candidate(larger)
        most = 0 if self.settings.is_low_fidelity else self.settings.steps
        found = _fit_words(self.data, cut, start, self.settings, self.steps, most)
        return found, self._share.trials

    def again(self, first: Candidate) -> Candidate:
        """The same from all documents."""
        if self._all is None:
            data, penalties = self._before[0].joined(), self._before[1].penalties
            lasting = self.settings.stable_share
            self.steps.begin("screening words of all documents")
            found = self._shared.screening_of_all(lambda: gather_evidence(data, penalties, lasting))
            self._all = data, found
        self.data, self.evidence = self._all
        self.steps.begin("all documents")
        model = self.data, self.evidence, self.themes
        return _fit_again(*model, self.settings, self.steps, first)


@one_blas_thread()
def refit_focused(
    documents: Problem,
    held_out: Problem,
    family: Any,
    settings: FocusSettings,
    previous: FocusResult,
    past: Past | None = None,
) -> FocusResult:
    """The second pass alone: more `documents`, the choices and themes of a `previous` fit.

    Words are cut by the evidence there is now. Topics of a graded plan go on from the previous
    ones. `held_out` is part of the documents, and decides nothing here.
    """
    data = FocusData.of(documents, held_out, family, past)
    steps, themes = Steps(None, settings.total_steps), previous.themes
    evidence = gather_evidence(data, previous.penalties, settings.stable_share)
    chosen = _fit_again(data, evidence, themes, settings, steps, previous.chosen)
    return _result(data, evidence, themes, settings, chosen, previous.shares, steps)


def _fit_again(
    data: FocusData,
    evidence: WordEvidence,
    themes: Themes | None,
    settings: FocusSettings,
    steps: Steps,
    earlier: Candidate,
) -> Candidate:
    """Words and topics of more documents, with the choices of an `earlier` fit.

    Where η is graded topics start from those of the earlier one, and half of the steps is enough.
    Where η is free, stopping early is part of the fit: it starts anew.
    """
    cut = cut_again(data, evidence, settings, earlier.cut)
    start = start_topics(data, evidence, cut, themes, settings, earlier)
    taken = earlier.choices.steps
    most = max(1, math.ceil(taken / 2) if settings.plan.graded else taken)
    if settings.is_low_fidelity:
        most = min(LOW_FIDELITY_STEPS, settings.steps)
    return _fit_words(data, cut, start, settings, steps, most, earlier)


def _fit_words(
    data: FocusData,
    cut: Cut,
    start: Start,
    settings: FocusSettings,
    steps: Steps,
    most: int,
    earlier: Candidate | None = None,
) -> Candidate:
    """Topics and coefficients on the words kept: the stages from shape to judge.

    At most so many steps of shaping. A first pass is stopped early and judged by the held-out
    documents; a second one has them among those it is fitted to, and takes the choices of the
    `earlier` one as they are.
    """
    care = FINE
    if settings.is_low_fidelity:
        care = LOW_FIDELITY_CHOICES if earlier is None else LOW_FIDELITY
    watch = _watch(data, start, settings) if earlier is None else None
    shaped = _shape(start, settings, steps, most, watch, len(cut.kept))
    state = replace(shaped.state, doc_topic_prior=start.state.doc_topic_prior)
    regressions = Regressions.of(data, start, state, shaped.mixes, care)
    if earlier is None:
        choices, explained = _judged(data, start, state, settings, regressions, shaped.steps)
    else:
        choices, explained = earlier.choices, earlier.explained
    fits = regressions.shrunk(regressions.fits(choices.drawn), choices.shrinkage)
    return Candidate(
        explained=explained,
        cut=cut,
        word_weight=start.word_weight,
        state=final_state(state, data.family, fits, choices.noise),
        supervision_weight=start.supervision_weight,
        choices=choices,
    )


def _judged(
    data: FocusData,
    start: Start,
    state: ModelState,
    settings: FocusSettings,
    regressions: Regressions,
    taken: int,
) -> tuple[Choices, float]:
    """What the validation documents decide, and how much of their deviance is explained."""
    low_fidelity = settings.is_low_fidelity
    held_mixes = held_out_mixes(start, state, LOW_FIDELITY_CHOICES if low_fidelity else FINE)
    drawn: tuple[float, ...] = (0.0,) * len(data.columns)
    if settings.plan.graded and not low_fidelity:
        # Else η was free while topics were optimised, or choices are made before that (low
        # fidelity): how far coefficients should be shrunk is another question for the final topics.
        drawn = regressions.best_drawn(data, start.held_out.beside(held_mixes))
    fits = regressions.fits(drawn)
    factors = shrinkage_factors(data, fits, start.held_out.beside(held_mixes))
    verdict = judge(data, start, state, regressions.shrunk(fits, factors), held_mixes)
    choices = Choices(
        penalties=start.penalties,
        mean_squares=start.mean_squares,
        shrinkage=factors,
        noise=verdict.noise,
        openness=verdict.openness,
        excess=verdict.excess,
        steps=taken,
        drawn=drawn,
    )
    return choices, verdict.explained


def _shape(
    start: Start, settings: FocusSettings, steps: Steps, most: int, watch: Watch | None, kept: int
) -> Shaped:
    """Topics after at most so many steps; without any, those they start from."""
    if most == 0:
        return Shaped(state=start.first_state, steps=0)
    plan = settings.plan
    prior = plan.shaping_prior * start.state.doc_topic_prior
    return shape_topics(
        start.weighted,
        replace(start.state, doc_topic_prior=prior),
        start.logits,
        ShapeSettings(
            prior_precision=plan.prior_precision,
            coef_bound=start.coef_bound,
            max_steps=most,
            scaled=plan.scaled,
        ),
        lambda value, validation: steps.add(value, kept, validation),
        start.begin,
        watch,
    )


class Steps:
    """The optimisation steps taken so far in both passes, reported to `progress`."""

    def __init__(self, progress: Progress | None, total: int) -> None:
        self.history: list[StepInfo] = []
        self._progress, self._total, self._stage = progress, total, ""

    def begin(self, stage: str) -> None:
        """A stage begins."""
        self._stage = stage
        if self._progress is not None:
            self._progress(stage, len(self.history), self._total)

    def add(self, value: float, kept: int, validation: float) -> None:
        """One step of L-BFGS."""
        info = StepInfo(len(self.history) + 1, value, kept, validation=validation)
        self.history.append(info)
        if self._progress is not None:
            self._progress(self._stage, info.epoch, self._total, info)


def _watch(data: FocusData, start: Start, settings: FocusSettings) -> Watch | None:
    if not settings.early_stopping:
        return None
    rule = StoppingRule(slack=settings.plan.stopping_slack)
    return Watch(start.held_out, start.train, data.family, rule)


def _result(
    data: FocusData,
    evidence: WordEvidence,
    themes: Themes | None,
    settings: FocusSettings,
    chosen: Candidate,
    trials: tuple[ShareTrial, ...],
    steps: Steps,
) -> FocusResult:
    return FocusResult(
        state=expand(chosen, data.word_counts),
        inclusion_prior=chosen.cut.share,
        word_cost=chosen.cut.word_cost,
        discoveries=chosen.cut.discoveries,
        supervision_weight=chosen.supervision_weight,
        evidence=evidence.amount(settings.plan.marginal_share),
        slopes=evidence.slopes,
        explained=chosen.explained,
        shares=trials,
        themes=themes,
        history=tuple(steps.history),
        chosen=chosen,
        penalties=evidence.penalties,
    )
