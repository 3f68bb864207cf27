"""The focused model: evidence, themes, share, cut, start, shape, refit, judge.

Each stage is a file of its own. They are gone through twice: with documents set aside, for all that
has to be chosen, and then with all documents. pc-sLDA is the same with all words kept.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from topicfocus.inference.focused.moments import Past
from topicfocus.inference.state import ModelState, Problem
from topicfocus.kernels.blas import one_blas_thread
from topicfocus.solvers.checkpoints import stage
from topicfocus.solvers.focus.cut import Cut, cut_again
from topicfocus.solvers.focus.data import FocusData
from topicfocus.solvers.focus.draft import CHOICES, DRAFT_STEPS, ROUGH, is_draft
from topicfocus.solvers.focus.evidence import WordEvidence, gather_evidence
from topicfocus.solvers.focus.judge import judge, shrinkage_factors
from topicfocus.solvers.focus.refit import FINE, Regressions, held_out_mixes
from topicfocus.solvers.focus.result import (
    Candidate,
    Choices,
    FocusResult,
    ShareTrial,
    expand,
    final_state,
)
from topicfocus.solvers.focus.settings import FocusSettings
from topicfocus.solvers.focus.shape import Shaped, ShapeSettings, shape_topics
from topicfocus.solvers.focus.share import (
    LEAST_DIVERSITY,
    ChosenShare,
    Folds,
    choose_share,
    diversity,
)
from topicfocus.solvers.focus.start import Start, start_topics
from topicfocus.solvers.focus.stopping import StoppingRule, Watch
from topicfocus.solvers.focus.themes import Themes, themes_of
from topicfocus.solvers.protocol import StepInfo

Report = Callable[[StepInfo, int], None]
#: A model, and the shares that were tried for it.
Pass = tuple[Candidate, tuple[ShareTrial, ...]]


@one_blas_thread()
def fit_focused(
    train: Problem,
    held_out: Problem,
    family: Any,
    settings: FocusSettings,
    report: Report | None = None,
    past: Past | None = None,
    folds: Folds | None = None,
) -> FocusResult:
    """Fit on `train`, choose on `held_out`, then fit what was chosen on both.

    The first pass shapes nothing by the held-out documents: the share of words, penalties, the
    shrinkage of η and δ come from it; where few are held out, the share comes from `folds` of the
    documents instead (`share`). The second pass, words and topics of that share from all
    documents, takes them as they are, so δ stays honest and the words kept do not depend on who was
    held out. In a block of `drafting` the first pass shapes nothing at all.

    If topics share too many of their top words in the end (`share.diversity`), both passes are made
    again with the next larger share of the path.
    """
    steps = Steps(report, settings.total_steps)
    passes = BothPasses(FocusData.of(train, held_out, family, past), settings, steps, folds)
    found: list[tuple[float, Candidate]] = []
    distinct = more = True
    larger = 0
    while more and not (found and distinct):
        first, trials = passes.first(larger)
        chosen = first
        if settings.refit:
            chosen = passes.again(first, larger)
        alike = diversity(chosen.state.topic_word)
        found.append((alike, chosen))
        distinct = alike >= LEAST_DIVERSITY or is_draft(settings)
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
        self, data: FocusData, settings: FocusSettings, steps: Steps, folds: Folds | None
    ) -> None:
        self.data, self.settings, self.steps, self._folds = data, settings, steps, folds
        self.evidence = stage("evidence", lambda: gather_evidence(data, None, settings.lasting))
        self.themes = themes_of(data, settings)
        self._before = data, self.evidence
        self._all: tuple[FocusData, WordEvidence] | None = None
        self._share: ChosenShare | None = None

    def first(self, larger: int) -> Pass:
        """A model of the share taken, or of the `larger`-th after it, and what was tried."""
        self.data, self.evidence = self._before

        def work() -> Pass:
            if self._share is None:
                model = self.data, self.evidence, self.themes, self.settings
                self._share = choose_share(*model, self._folds)
            cut, start = self._share.candidate(larger)
            most = 0 if is_draft(self.settings) else self.settings.steps
            found = _fit_words(self.data, cut, start, self.settings, self.steps, most)
            return found, self._share.trials

        return self.steps.stage(_numbered("first pass", larger), work)

    def again(self, first: Candidate, larger: int) -> Candidate:
        """The same from all documents."""
        if self._all is None:
            data, penalties = self._before[0].joined(), self._before[1].penalties
            lasting = self.settings.lasting
            found = stage("all evidence", lambda: gather_evidence(data, penalties, lasting))
            self._all = data, found
        self.data, self.evidence = self._all

        def work() -> Pass:
            model = self.data, self.evidence, self.themes
            return _fit_again(*model, self.settings, self.steps, first), ()

        return self.steps.stage(_numbered("all documents", larger), work)[0]


def _numbered(name: str, larger: int) -> str:
    return name if larger == 0 else f"{name}, {larger + 1}"


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
    evidence = gather_evidence(data, previous.penalties, settings.lasting)
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
    if is_draft(settings):
        most = min(DRAFT_STEPS, settings.steps)
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
    if is_draft(settings):
        care = CHOICES if earlier is None else ROUGH
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
    draft = is_draft(settings)
    held_mixes = held_out_mixes(start, state, CHOICES if draft else FINE)
    drawn: tuple[float, ...] = (0.0,) * len(data.columns)
    if settings.plan.graded and not draft:
        # Else η was free while topics were shaped, or choices are made before they are (a draft):
        # how far coefficients should be drawn is another question for the topics of the end.
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
    """The steps taken so far, over all plans, and who is told of them."""

    def __init__(self, report: Report | None, total: int) -> None:
        self.history: list[StepInfo] = []
        self._report, self._total = report, total

    def add(self, value: float, kept: int, validation: float) -> None:
        """One step of L-BFGS."""
        self.history.append(StepInfo(len(self.history) + 1, value, kept, validation=validation))
        if self._report is not None:
            self._report(self.history[-1], self._total)

    def stage(self, name: str, work: Callable[[], Pass]) -> Pass:
        """`work`, or what a checkpoint has of it, with the steps it took."""
        before = len(self.history)

        def with_steps() -> tuple[Candidate, tuple[ShareTrial, ...], tuple[StepInfo, ...]]:
            return *work(), tuple(self.history[before:])

        candidate, trials, taken = stage(name, with_steps)
        self.history[before:] = taken
        return candidate, trials


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
