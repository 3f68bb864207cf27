"""The focused model: evidence, cut, start, shape, refit, judge, choose.

Each stage is a file of its own. The stages from cut to judge are gone through for each plan, from
readable to predictive; what is chosen is then fitted to all documents. pc-sLDA is the same with all
words kept.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from topicfocus.inference.focused.moments import Past
from topicfocus.inference.state import Problem
from topicfocus.solvers.checkpoints import stage
from topicfocus.solvers.focus.choose import choose, is_enough
from topicfocus.solvers.focus.cut import cut_vocabulary, inclusion_share
from topicfocus.solvers.focus.data import FocusData
from topicfocus.solvers.focus.evidence import WordEvidence, gather_evidence
from topicfocus.solvers.focus.judge import judge
from topicfocus.solvers.focus.refit import refit_targets
from topicfocus.solvers.focus.result import Candidate, Choices, FocusResult, expand, final_state
from topicfocus.solvers.focus.settings import FocusSettings, ShapingPlan
from topicfocus.solvers.focus.shape import ShapeSettings, shape_topics
from topicfocus.solvers.focus.start import Start, start_topics
from topicfocus.solvers.focus.stopping import StoppingRule, Watch
from topicfocus.solvers.protocol import StepInfo

Report = Callable[[StepInfo, int], None]


def fit_focused(
    train: Problem,
    held_out: Problem,
    family: Any,
    settings: FocusSettings,
    report: Report | None = None,
    past: Past | None = None,
) -> FocusResult:
    """Fit on `train`, choose on `held_out`, then fit what was chosen on both.

    The first pass shapes nothing by the held-out documents: the plan, penalties, the shrinkage of η
    and δ come from it. The second pass, words and topics of that plan from all documents, takes
    them as they are, so δ stays honest and the words kept do not depend on who was held out.
    """
    data = FocusData.of(train, held_out, family, past)
    steps = Steps(report, settings.total_steps)
    evidence = stage("evidence", lambda: gather_evidence(data))
    candidates = _try_plans(data, evidence, settings, steps)
    explained = tuple(candidate.explained for candidate in candidates)
    index = choose(explained, settings.retained)
    chosen, interrupted = candidates[index], candidates[-1].interrupted
    if settings.refit and not interrupted:
        first, penalties = chosen, evidence.penalties
        data = data.joined()
        evidence = stage("all evidence", lambda: gather_evidence(data, penalties))
        chosen = steps.stage(
            "all documents",
            lambda: fit_plan(data, evidence, settings, index, steps, first),
        )
        interrupted = chosen.interrupted
    return _result(data, evidence, settings, chosen, index, explained, steps, interrupted)


def refit_focused(
    documents: Problem,
    held_out: Problem,
    family: Any,
    settings: FocusSettings,
    previous: FocusResult,
    past: Past | None = None,
) -> FocusResult:
    """The second pass alone: more `documents`, the choices of a `previous` fit.

    Words are cut by the evidence there is now. Topics of a graded plan go on from the previous
    ones. `held_out` is part of the documents, and decides nothing here.
    """
    data = FocusData.of(documents, held_out, family, past)
    steps, index = Steps(None, settings.total_steps), previous.plan
    evidence = gather_evidence(data, previous.penalties)
    chosen = fit_plan(data, evidence, settings, index, steps, previous.chosen)
    explained, interrupted = previous.explained, chosen.interrupted
    return _result(data, evidence, settings, chosen, index, explained, steps, interrupted)


def fit_plan(
    data: FocusData,
    evidence: WordEvidence,
    settings: FocusSettings,
    index: int,
    steps: Steps,
    earlier: Candidate | None = None,
) -> Candidate:
    """Words, topics and coefficients of one plan: the stages from cut to judge.

    The first pass is stopped early by the held-out documents. A second pass is given the `earlier`
    one and makes the same choices, the number of steps among them. Where η is graded it also starts
    from the earlier topics, and half of the steps is enough. Where η is free, stopping early is
    part of the fit: it starts anew.
    """
    plan = settings.plans_tried[index]
    choices = None if earlier is None else earlier.choices
    cut = cut_vocabulary(data, evidence, settings, plan)
    start = start_topics(data, evidence, cut, settings, plan, earlier)
    shaped = shape_topics(
        start.weighted,
        start.state,
        start.logits,
        ShapeSettings(
            prior_precision=plan.prior_precision,
            coef_bound=start.coef_bound,
            max_steps=_most_steps(settings, plan, choices),
            scaled=plan.scaled,
        ),
        lambda value, validation: steps.add(value, len(cut.kept), validation),
        start.begin,
        _watch(data, start, settings, plan) if choices is None else None,
    )
    refit = refit_targets(data, start, shaped.state)
    verdict = judge(data, start, shaped.state, refit, choices)
    if choices is None:
        choices = Choices(
            penalties=start.penalties,
            mean_squares=start.mean_squares,
            shrinkage=verdict.shrinkage,
            noise=verdict.noise,
            steps=shaped.steps,
            themes=start.themes,
        )
    return Candidate(
        explained=verdict.explained,
        cut=cut,
        state=final_state(shaped.state, len(cut.kept), data.family, refit.fits, choices),
        supervision_weight=start.supervision_weight,
        choices=choices,
        interrupted=shaped.interrupted,
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

    def stage(self, name: str, work: Callable[[], Candidate]) -> Candidate:
        """`work`, or what a checkpoint has of it, with the steps it took."""
        before = len(self.history)

        def with_steps() -> tuple[Candidate, tuple[StepInfo, ...]]:
            return work(), tuple(self.history[before:])

        candidate, taken = stage(name, with_steps, lambda found: not found[0].interrupted)
        self.history[before:] = taken
        return candidate


def _try_plans(
    data: FocusData, evidence: WordEvidence, settings: FocusSettings, steps: Steps
) -> list[Candidate]:
    """A model for each plan, until one leaves no more to gain."""
    candidates: list[Candidate] = []
    for index, plan in enumerate(settings.plans_tried):
        if index and settings.themes and _same_share(data, settings, plan, candidates[-1]):
            break

        def work(index: int = index) -> Candidate:
            return fit_plan(data, evidence, settings, index, steps)

        # Checkpoints on disk go by the public name of a plan, `rung_`.
        candidates.append(steps.stage(f"rung {index + 1}", work))
        latest = candidates[-1]
        if latest.interrupted or is_enough(latest.explained, evidence.potential):
            break
    return candidates


def _same_share(
    data: FocusData, settings: FocusSettings, plan: ShapingPlan, before: Candidate
) -> bool:
    """Whether a plan would keep no more words: plans with themes differ in nothing else."""
    return inclusion_share(data, settings, plan) <= before.cut.share


def _most_steps(settings: FocusSettings, plan: ShapingPlan, choices: Choices | None) -> int:
    if choices is None:
        return settings.steps(plan)
    return max(1, math.ceil(choices.steps / 2) if plan.graded else choices.steps)


def _watch(
    data: FocusData, start: Start, settings: FocusSettings, plan: ShapingPlan
) -> Watch | None:
    if not settings.early_stopping:
        return None
    rule = StoppingRule(slack=plan.stopping_slack)
    return Watch(start.held_out, start.train, data.family, rule)


def _result(
    data: FocusData,
    evidence: WordEvidence,
    settings: FocusSettings,
    chosen: Candidate,
    index: int,
    explained: tuple[float, ...],
    steps: Steps,
    interrupted: bool,
) -> FocusResult:
    plan = settings.plans_tried[index]
    return FocusResult(
        state=expand(chosen.state, chosen.cut.kept, data.word_counts),
        inclusion_prior=chosen.cut.share,
        word_cost=chosen.cut.word_cost,
        supervision_weight=chosen.supervision_weight,
        evidence=evidence.evidence.combined(plan.marginal_share),
        plan=index,
        explained=explained,
        history=tuple(steps.history),
        interrupted=interrupted,
        chosen=chosen,
        penalties=evidence.penalties,
    )
