"""The focused model: gather evidence, cut the vocabulary, shape topics on what is left, refit.

1. Evidence of every word (`inference.evidence`), on the training part.
2. Cut: the words with most evidence per token, up to the inclusion prior's share of the tokens. If
   the evidence runs out before a share the user gave, words that follow the same topics fill it
   (`inference.factors`). φ is exactly 0 or 1 from here on, β lives on the kept words and π on
   the others.
3. Shape (`solvers.shaping`): topics on the kept words by the constrained objective.
4. Refit η on the topic mixes, shrink it to the documents not trained on, take δ from them too.

Steps 2 to 4 are done on two rungs, from readable to predictive, and the first that explains nearly
as much of the held-out target as the best is taken. What was chosen is then fitted to all
documents. pc-sLDA is the same with all words kept.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from topicfocus.corpus import Corpus
from topicfocus.families import coef_shape, predictor_spread
from topicfocus.inference.focused.evidence import cut
from topicfocus.inference.focused.factors import complete_by_factors
from topicfocus.inference.focused.moments import Past
from topicfocus.inference.mixes import predictor_variance, topic_mixes
from topicfocus.inference.state import ModelState, Problem, joined
from topicfocus.solvers.checkpoints import stage
from topicfocus.solvers.focus.evidence import Words, ridge_fits
from topicfocus.solvers.focus.result import (
    Candidate,
    Choices,
    carry_over,
    expand,
    final_state,
    honest_noise,
    with_families,
)
from topicfocus.solvers.focus.settings import (
    RELEVANT_TOKENS,
    RETAINED,
    SMALLEST_SUPERVISION,
    UNFOCUSED,
    FocusSettings,
    Rung,
)
from topicfocus.solvers.focus.shape import ShapeSettings, shape_topics
from topicfocus.solvers.focus.start import anchors, starting_logits, unit
from topicfocus.solvers.focus.stopping import StoppingRule, Watch
from topicfocus.solvers.linear import (
    deviance,
    explained_share,
    fit_linear,
    shrink,
    target_columns,
)
from topicfocus.solvers.protocol import StepInfo


@dataclass(frozen=True)
class FocusResult:
    """The fitted state over the whole vocabulary, and how it came about.

    `state.topic_word` columns sum to `volume` (one, unless the rung is silent). `chosen` and
    `penalties` are what `refit_focused` goes on from.
    """

    state: ModelState
    inclusion_prior: float
    supervision_weight: float
    evidence: np.ndarray
    rung: int
    explained: tuple[float, ...]
    history: tuple[StepInfo, ...]
    interrupted: bool
    chosen: Candidate
    penalties: tuple[float, ...]

    @property
    def volume(self) -> np.ndarray:
        return self.state.topic_word.sum(axis=0)


def damp(corpus: Corpus) -> Corpus:
    """√counts: a word's second occurrence in a document says less than its first."""
    return Corpus(corpus.counts.sqrt(), corpus.vocabulary)


def automatic_inclusion(problem: Problem) -> float:
    """About ten relevant tokens a document, but at least 5% and at most 80% of the tokens."""
    return float(np.clip(RELEVANT_TOKENS / max(problem.mean_length(), 1e-300), 0.05, 0.8))


def _columns(words: sparse.csr_array, columns: np.ndarray, silent: bool) -> Corpus:
    """A corpus of some words; `silent` adds a last column in which nothing ever occurs."""
    counts = words[:, columns]
    if silent:
        empty = sparse.csr_array((words.shape[0], 1))
        counts = sparse.csr_array(sparse.hstack([counts, empty], format="csr"))
    return Corpus(sparse.csr_array(counts))


@dataclass(frozen=True)
class Parts:
    """Documents to train on and documents to make choices on, with √counts of both.

    `past`: what is known of training documents that are no longer at hand.
    """

    train: Problem
    held_out: Problem
    words: sparse.csr_array
    held_words: sparse.csr_array
    past: Past | None = None

    @staticmethod
    def of(train: Problem, held_out: Problem, past: Past | None = None) -> Parts:
        return Parts(train, held_out, damp(train.corpus).counts, damp(held_out.corpus).counts, past)

    def joined(self) -> Parts:
        """All documents to train on; the held-out ones keep their place."""
        return Parts.of(joined(self.train, self.held_out), self.held_out, self.past)

    @property
    def word_counts(self) -> np.ndarray:
        """n_v of all documents trained on, past ones too."""
        mine = self.train.word_counts
        return mine if self.past is None else mine + self.past.word_count

    @property
    def size(self) -> float:
        return self.train.size + (0.0 if self.past is None else self.past.size)


def fit_focused(
    train: Problem,
    held_out: Problem,
    family: Any,
    settings: FocusSettings,
    report: Callable[[StepInfo, int], None] | None = None,
    past: Past | None = None,
) -> FocusResult:
    """Fit on `train`, choose on `held_out`, then fit what was chosen on both.

    The first pass shapes nothing by the held-out documents: the rung, penalties, the shrinkage of η
    and δ come from it. The second pass, words and topics of that rung from all documents, takes
    them as they are, so δ stays honest and the words kept do not depend on who was held out.
    """
    parts = Parts.of(train, held_out, past)
    rungs = _rungs(settings)
    steps = [settings.max_steps or rung.steps for rung in rungs]
    total_steps = sum(steps) + (max(steps) if settings.refit else 0)
    history: list[StepInfo] = []

    def progress(value: float, kept: int, validation: float) -> None:
        history.append(StepInfo(len(history) + 1, value, kept, validation=validation))
        if report is not None:
            report(history[-1], total_steps)

    def climb(
        name: str, parts: Parts, words: Words, rung: Rung, first: Candidate | None
    ) -> Candidate:
        """`_climb`, or what a checkpoint has of it, with the steps it took."""
        before = len(history)

        def work() -> tuple[Candidate, tuple[StepInfo, ...]]:
            candidate = _climb(parts, words, family, settings, rung, progress, first)
            return candidate, tuple(history[before:])

        candidate, taken = stage(name, work, lambda found: not found[0].interrupted)
        history[before:] = taken
        return candidate

    words = stage("evidence", lambda: _words(parts, family, None))
    candidates: list[Candidate] = []
    for i, rung in enumerate(rungs):
        candidates.append(climb(f"rung {i + 1}", parts, words, rung, None))
        # A rung that explains nearly what a regression on all words does leaves no more to gain.
        enough = candidates[-1].explained >= RETAINED * words.potential > 0
        if candidates[-1].interrupted or enough:
            break
    explained = tuple(c.explained for c in candidates)
    best = max(explained)
    index = next(i for i, e in enumerate(explained) if e >= best - (1 - RETAINED) * abs(best))
    chosen, rung = candidates[index], rungs[index]
    interrupted = candidates[-1].interrupted
    everything = parts
    if settings.refit and not interrupted:
        everything = parts.joined()
        penalties = words.penalties
        words = stage("all evidence", lambda: _words(everything, family, penalties))
        chosen = climb("all documents", everything, words, rung, chosen)
        interrupted = chosen.interrupted
    return FocusResult(
        expand(chosen.state, chosen.kept, everything.word_counts),
        _inclusion(parts, settings),
        chosen.supervision_weight,
        words.evidence.combined(rung.marginal),
        index,
        explained,
        tuple(history),
        interrupted,
        chosen,
        words.penalties,
    )


def refit_focused(
    documents: Problem,
    held_out: Problem,
    family: Any,
    settings: FocusSettings,
    previous: FocusResult,
    past: Past | None = None,
) -> FocusResult:
    """The second pass alone: more `documents`, the choices of a `previous` fit.

    Words are cut by the evidence there is now. Topics of a graded rung go on from the
    previous ones. `held_out` is part of the documents, and decides nothing here.
    """
    parts = Parts.of(documents, held_out, past)
    rung = _rungs(settings)[previous.rung]
    history: list[StepInfo] = []

    def progress(value: float, kept: int, validation: float) -> None:
        history.append(StepInfo(len(history) + 1, value, kept, validation=validation))

    words = _words(parts, family, previous.penalties)
    chosen = _climb(parts, words, family, settings, rung, progress, previous.chosen)
    return replace(
        previous,
        state=expand(chosen.state, chosen.kept, parts.word_counts),
        inclusion_prior=_inclusion(parts, settings),
        supervision_weight=chosen.supervision_weight,
        evidence=words.evidence.combined(rung.marginal),
        history=tuple(history),
        interrupted=chosen.interrupted,
        chosen=chosen,
    )


def _rungs(settings: FocusSettings) -> tuple[Rung, ...]:
    return settings.rungs if settings.select else (UNFOCUSED,)


def _words(parts: Parts, family: Any, penalties: tuple[float, ...] | None) -> Words:
    return Words.of(
        parts.train.with_corpus(Corpus(parts.words)),
        parts.held_out.with_corpus(Corpus(parts.held_words)),
        family,
        penalties,
        parts.past,
    )


def _inclusion(parts: Parts, settings: FocusSettings) -> float:
    if not settings.select:
        return 1.0
    if settings.inclusion_prior is None:
        return automatic_inclusion(parts.train)
    return float(settings.inclusion_prior)


def _choose_words(parts: Parts, words: Words, settings: FocusSettings, rung: Rung) -> np.ndarray:
    """Columns kept on a rung."""
    if not settings.select:
        return np.flatnonzero(parts.word_counts > 0)
    count = parts.word_counts
    share = _inclusion(parts, settings)
    if settings.inclusion_prior is None:
        share = min(share * rung.inclusion, 0.95)
    kept = cut(
        words.evidence.combined(rung.marginal),
        count,
        share,
        vocabulary=rung.vocabulary,
        keep=settings.keep,
        drop=settings.drop,
    )
    if len(kept) == 0:
        raise ValueError(
            "No word says anything about the target beyond noise, so none is kept. Force some with "
            "keep_words, or check that documents and targets belong together."
        )
    if settings.inclusion_prior is not None:
        # The user knows how much is relevant: words without evidence of their own fill the rest.
        # "auto" is a limit and no such knowledge.
        kept = complete_by_factors(kept, parts.train, share, settings.n_topics, drop=settings.drop)
    return kept


def _climb(
    parts: Parts,
    words: Words,
    family: object,
    settings: FocusSettings,
    rung: Rung,
    progress: Callable[[float, int, float], None],
    first: Candidate | None,
) -> Candidate:
    """Words, topics and coefficients of one rung.

    The first pass is stopped early by the held-out documents. A second pass is given the `first`
    and makes the same choices, the number of steps among them. On a graded rung it also starts from
    the first one's topics, and half of the steps is enough. Where η is free, stopping early
    is part of the fit: it starts anew.
    """
    train, held_out = parts.train, parts.held_out
    choices = None if first is None else first.choices
    warm = first is not None and rung.graded
    kept = _choose_words(parts, words, settings, rung)
    n_topics = settings.n_topics
    count = parts.word_counts[kept]
    mine = train.with_corpus(_columns(parts.words, kept, rung.silent))
    theirs = held_out.with_corpus(_columns(parts.held_words, kept, rung.silent))
    ridges = ridge_fits(
        words.signals_of(parts.words, kept),
        words.held_signals_of(parts.held_words, kept),
        choices.penalties if choices else None,
    )
    mean_squares = choices.mean_squares if choices else tuple(r.mean_square for r in ridges)
    slopes = unit(words.slopes[kept], count)
    lean = rung.joint * unit(np.column_stack([r.weights for r in ridges]), count)
    lean = unit(lean + (1 - rung.joint) * slopes, count)
    relevant = float(count.sum() / parts.size)
    prior = settings.doc_topic_prior
    if prior is None:
        # The prior weighs as much as the relevant words of an average document.
        prior = np.full(n_topics, max(relevant / n_topics, 0.1))
    weight = settings.supervision_weight
    if weight is None:
        weight = max(rung.supervision * relevant, SMALLEST_SUPERVISION)
    columns, held_columns = target_columns(train, family), target_columns(held_out, family)
    # δ from documents not trained on
    delta = tuple(mean_squares[column.where.start] for column in columns)
    shaped_family = with_families(family, [fit.family for fit in words.nulls], delta)
    place = anchors(columns, lean, count, n_topics)
    spread = [predictor_spread(c.family, c.target, c.weight) for c in columns]
    size = np.repeat(spread, [c.width for c in columns]) * rung.coef_bound
    coef = place * size
    start = ModelState(
        np.zeros((mine.corpus.n_words, n_topics)),
        np.ones(mine.corpus.n_words),
        np.zeros(mine.corpus.n_words),
        coef.reshape(coef_shape(family, n_topics)),
        shaped_family,
        prior,
        np.concatenate([fit.intercept for fit in words.nulls]),
        None if train.covariates is None else np.column_stack([fit.coef for fit in words.nulls]),
    )
    steps = settings.max_steps or rung.steps
    if choices is not None:
        steps = max(1, math.ceil(choices.steps / 2) if warm else choices.steps)
    bound = None if rung.graded else np.broadcast_to(size, coef.shape)
    shaping = ShapeSettings(rung.hold, bound, steps, rung.scaled)
    logits = starting_logits(count, lean, place, rung.spread, rung.silent)
    begin = carry_over(first, kept, logits) if warm else logits
    watch = None
    if choices is None and settings.early_stopping:
        watch = Watch(theirs, mine, family, StoppingRule(slack=rung.slack))
    shaped = shape_topics(
        mine.with_corpus(mine.corpus, weight * mine.target_weight),
        start,
        logits,
        shaping,
        lambda value, validation: progress(value, len(kept), validation),
        begin,
        watch,
    )
    state = shaped.state
    design = mine.beside(topic_mixes(mine.corpus, state, n_jobs=train.n_jobs))
    held_mixes = topic_mixes(theirs.corpus, state, n_jobs=train.n_jobs)
    held_design = theirs.beside(held_mixes)
    fits = [fit_linear(column, column.of(design)) for column in columns]
    shrinkage, noise, explained = [], [], []
    for t, (fit, column) in enumerate(zip(fits, held_columns, strict=True)):
        column = replace(column, family=fit.family)
        predictor = fit.predictor(column.of(held_design), np.zeros_like(column.offset))
        shift, factor = choices.shrinkage[t] if choices else shrink(column, predictor)
        predictor = column.offset + shift + factor * predictor
        shrinkage.append((shift, factor))
        explained.append(explained_share(column, predictor))
        if choices is None:
            open_still = replace(state, coef=factor * fit.coef[:n_topics])
            spread = predictor_variance(theirs.corpus, open_still, held_mixes, train.n_jobs)
            noise.append(honest_noise(deviance(column, predictor), column.of(spread)[:, 0], column))
    if choices is None:
        penalties = tuple(r.penalty for r in ridges)
        choices = Choices(penalties, mean_squares, tuple(shrinkage), tuple(noise), shaped.steps)
    state = final_state(state, len(kept), family, fits, choices)
    return Candidate(
        float(np.mean(explained)), kept, state, float(weight), choices, shaped.interrupted
    )
