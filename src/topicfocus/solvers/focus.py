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
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from topicfocus.corpus import Corpus
from topicfocus.families import Gaussian
from topicfocus.inference.evidence import (
    PENALTIES,
    Evidence,
    RidgeFit,
    cut,
    ridge_path,
    target_slopes,
    word_evidence,
)
from topicfocus.inference.factors import complete_by_factors
from topicfocus.inference.mixes import topic_mixes
from topicfocus.inference.state import ModelState, Problem
from topicfocus.inference.updates import update_background
from topicfocus.solvers.protocol import StepInfo
from topicfocus.solvers.refit import explained_share, refit_coef, shrink_to_held_out
from topicfocus.solvers.rungs import (
    RELEVANT_TOKENS,
    RETAINED,
    SMALLEST_SUPERVISION,
    UNFOCUSED,
    FocusSettings,
    Rung,
)
from topicfocus.solvers.shaping import ShapeSettings, shape_topics
from topicfocus.solvers.stopping import StoppingRule, Watch


@dataclass(frozen=True)
class FocusResult:
    """The fitted state over the whole vocabulary, and how it came about.

    `state.topic_word` columns sum to `volume` (one, unless the rung is silent).
    """

    state: ModelState
    inclusion_prior: float
    supervision_weight: float
    evidence: np.ndarray
    rung: int
    explained: tuple[float, ...]
    history: tuple[StepInfo, ...]
    interrupted: bool

    @property
    def volume(self) -> np.ndarray:
        return self.state.topic_word.sum(axis=0)


def damp(corpus: Corpus) -> Corpus:
    """√counts: a word's second occurrence in a document says less than its first."""
    return Corpus(corpus.counts.sqrt(), corpus.vocabulary)


def automatic_inclusion(corpus: Corpus) -> float:
    """About ten relevant tokens a document, but at least 5% and at most 80% of the tokens."""
    return float(np.clip(RELEVANT_TOKENS * corpus.n_docs / max(corpus.n_tokens, 1.0), 0.05, 0.8))


def _columns(words: sparse.csr_array, columns: np.ndarray, silent: bool) -> Corpus:
    """A corpus of some words; `silent` adds a last column in which nothing ever occurs."""
    counts = words[:, columns]
    if silent:
        empty = sparse.csr_array((words.shape[0], 1))
        counts = sparse.csr_array(sparse.hstack([counts, empty], format="csr"))
    return Corpus(sparse.csr_array(counts))


def _starting_logits(
    word_count: np.ndarray, lean: np.ndarray, rung: Rung, n_topics: int
) -> np.ndarray:
    """W⁰ = log n_v + clip(spread·u_v)·e_k, normalised over words; with a silent row last."""
    grade = np.linspace(-1.0, 1.0, n_topics) if n_topics > 1 else np.zeros(1)
    push = np.clip(rung.spread * lean, -3 * rung.spread, 3 * rung.spread)
    weights = word_count[:, None] * np.exp(push[:, None] * grade)
    if rung.silent:
        weights = weights / (1.001 * weights.sum(axis=0).max())
        weights = np.vstack([weights, 1.0 - weights.sum(axis=0)])
    return np.log(weights / weights.sum(axis=0))


def _rows(words: sparse.csr_array, chosen: np.ndarray) -> sparse.csr_array:
    """Some rows; not a copy where these are all."""
    return words if chosen.all() else sparse.csr_array(words[chosen])


def _unit(values: np.ndarray, word_count: np.ndarray) -> np.ndarray:
    """Scaled to a root mean square of one over tokens."""
    size = math.sqrt(float(np.sum(word_count * values**2) / word_count.sum()))
    return values / max(size, 1e-300)


@dataclass(frozen=True)
class Parts:
    """Documents to train on and documents to make choices on, with √counts of both."""

    train: Problem
    held_out: Problem
    words: sparse.csr_array
    held_words: sparse.csr_array

    @staticmethod
    def of(train: Problem, held_out: Problem) -> Parts:
        return Parts(train, held_out, damp(train.corpus).counts, damp(held_out.corpus).counts)

    def joined(self) -> Parts:
        """All documents to train on; the held-out ones keep their place."""
        counts = sparse.csr_array(
            sparse.vstack([self.train.corpus.counts, self.held_out.corpus.counts], format="csr")
        )
        both = Problem(
            Corpus(counts, self.train.corpus.vocabulary),
            np.concatenate([self.train.target, self.held_out.target]),
            np.concatenate([self.train.target_weight, self.held_out.target_weight]),
            self.train.n_jobs,
        )
        return Parts.of(both, self.held_out)

    def ridge(
        self, columns: np.ndarray | None, family: object, penalties: tuple[float, ...]
    ) -> RidgeFit:
        """Ridge regression on some columns, the penalty chosen on the held-out documents."""
        mine, theirs = self.words, self.held_words
        if columns is not None:
            mine, theirs = mine[:, columns], theirs[:, columns]
        known, known_held = self.train.target_weight > 0, self.held_out.target_weight > 0
        return ridge_path(
            _rows(mine, known),
            self.train.target[known],
            _rows(theirs, known_held),
            self.held_out.target[known_held],
            ranking=not isinstance(family, Gaussian),
            penalties=penalties,
        )


@dataclass(frozen=True)
class Choices:
    """What the held-out documents decided, to be used again when all documents are fitted."""

    penalty: float
    mean_square: float
    shift: float
    factor: float
    noise: float
    steps: int


@dataclass(frozen=True)
class Candidate:
    """A rung's result on its kept words."""

    explained: float
    kept: np.ndarray
    state: ModelState
    supervision_weight: float
    choices: Choices
    interrupted: bool


def fit_focused(
    train: Problem,
    held_out: Problem,
    family: object,
    settings: FocusSettings,
    report: Callable[[StepInfo, int], None] | None = None,
) -> FocusResult:
    """Fit on `train`, choose on `held_out`, then fit what was chosen on both.

    The first pass shapes nothing by the held-out documents: the rung, penalties, the shrinkage of η
    and δ come from it. The second pass, words and topics of that rung from all documents, takes
    them as they are, so δ stays honest and the words kept do not depend on who was held out.
    """
    parts = Parts.of(train, held_out)
    rungs = settings.rungs if settings.select else (UNFOCUSED,)
    steps = [settings.max_steps or rung.steps for rung in rungs]
    total_steps = sum(steps) + (max(steps) if settings.refit else 0)
    history: list[StepInfo] = []

    def progress(value: float, kept: int, validation: float) -> None:
        history.append(StepInfo(len(history) + 1, value, kept, validation=validation))
        if report is not None:
            report(history[-1], total_steps)

    words = Words.of(parts, family, PENALTIES)
    candidates: list[Candidate] = []
    for rung in rungs:
        candidates.append(_climb(parts, words, family, settings, rung, progress, None))
        # A rung that explains nearly what a regression on all words does leaves no more to gain.
        enough = candidates[-1].explained >= RETAINED * words.potential > 0
        if candidates[-1].interrupted or enough:
            break
    explained = tuple(c.explained for c in candidates)
    best = max(explained)
    index = next(i for i, e in enumerate(explained) if e >= best - (1 - RETAINED) * abs(best))
    chosen, rung = candidates[index], rungs[index]
    interrupted = candidates[-1].interrupted
    if settings.refit and not interrupted:
        everything = parts.joined()
        words = Words.of(everything, family, (words.ridge.penalty,))
        chosen = _climb(everything, words, family, settings, rung, progress, chosen)
        interrupted = chosen.interrupted
    word_count = words.count
    return FocusResult(
        _expand(chosen.state, chosen.kept, len(word_count), word_count),
        _inclusion(parts, settings),
        chosen.supervision_weight,
        words.evidence.combined(rung.marginal),
        index,
        explained,
        tuple(history),
        interrupted,
    )


@dataclass(frozen=True)
class Words:
    """What is known of every word before any topic: tokens, evidence, slope."""

    count: np.ndarray
    ridge: RidgeFit
    evidence: Evidence
    slopes: np.ndarray
    potential: float  # share of the held-out target's deviance that the regression explains

    @staticmethod
    def of(parts: Parts, family: object, penalties: tuple[float, ...]) -> Words:
        known = parts.train.target_weight > 0
        seen, y = _rows(parts.words, known), parts.train.target[known]
        ridge = parts.ridge(None, family, penalties)
        known_held = parts.held_out.target_weight > 0
        y_held = parts.held_out.target[known_held]
        predicted = (parts.held_words @ ridge.weights)[known_held]
        slope, level = refit_coef(predicted[:, None], y_held, np.ones(len(y_held)), family, 1e-6)
        return Words(
            parts.train.corpus.word_counts,
            ridge,
            word_evidence(seen, y, ridge),
            target_slopes(seen, y),
            explained_share(y_held, level + slope[0] * predicted, family),
        )


def _inclusion(parts: Parts, settings: FocusSettings) -> float:
    if not settings.select:
        return 1.0
    if settings.inclusion_prior is None:
        return automatic_inclusion(parts.train.corpus)
    return float(settings.inclusion_prior)


def _choose_words(parts: Parts, words: Words, settings: FocusSettings, rung: Rung) -> np.ndarray:
    """Columns kept on a rung."""
    if not settings.select:
        return np.flatnonzero(words.count > 0)
    share = _inclusion(parts, settings)
    if settings.inclusion_prior is None:
        share = min(share * rung.inclusion, 0.95)
    kept = cut(
        words.evidence.combined(rung.marginal),
        words.count,
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
        kept = complete_by_factors(
            kept, parts.train.corpus, share, settings.n_topics, drop=settings.drop
        )
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
    gaussian = isinstance(family, Gaussian)
    kept = _choose_words(parts, words, settings, rung)
    known, known_held = train.target_weight > 0, held_out.target_weight > 0
    y, y_held = train.target[known], held_out.target[known_held]
    n_topics = settings.n_topics
    count = words.count[kept]
    ridge = parts.ridge(kept, family, (choices.penalty,) if choices else PENALTIES)
    lean = rung.joint * _unit(ridge.weights, count)
    lean = _unit(lean + (1 - rung.joint) * _unit(words.slopes[kept], count), count)
    relevant = float(count.sum() / train.n_docs)
    prior = settings.doc_topic_prior
    if prior is None:
        # The prior weighs as much as the relevant words of an average document.
        prior = np.full(n_topics, max(relevant / n_topics, 0.1))
    weight = settings.supervision_weight
    if weight is None:
        weight = max(rung.supervision * relevant, SMALLEST_SUPERVISION)
    unit = y.std() if gaussian else 2.0
    mean_square = choices.mean_square if choices else ridge.mean_square
    if gaussian:
        family = Gaussian(mean_square)  # δ from documents not trained on
    grade = np.linspace(-1.0, 1.0, n_topics) if n_topics > 1 else np.zeros(1)
    _, level = refit_coef(np.zeros((len(y), 1)), y, np.ones(len(y)), family)
    mine = _columns(parts.words, kept, rung.silent)
    start = ModelState(
        np.zeros((mine.n_words, n_topics)),
        np.ones(mine.n_words),
        np.zeros(mine.n_words),
        grade * unit * rung.coef_bound,
        family,
        prior,
        level,
    )
    steps = settings.max_steps or rung.steps
    if choices is not None:
        steps = max(1, math.ceil(choices.steps / 2) if warm else choices.steps)
    shaping = ShapeSettings(
        rung.hold, None if rung.graded else unit * rung.coef_bound, steps, rung.scaled
    )
    problem = Problem(mine, train.target, weight * train.target_weight, train.n_jobs)
    logits = _starting_logits(count, lean, rung, n_topics)
    begin = _carry_over(first, kept, logits) if warm else logits
    theirs = _columns(parts.held_words, kept, rung.silent)
    watch = None
    if choices is None and settings.early_stopping:
        rule = StoppingRule(slack=rung.slack)
        watch = Watch(theirs, held_out.target, known_held, train, rule)
    shaped = shape_topics(
        problem,
        start,
        logits,
        shaping,
        lambda value, validation: progress(value, len(kept), validation),
        begin,
        watch,
    )
    state = shaped.state
    mixes = topic_mixes(mine, state, n_jobs=train.n_jobs)[known]
    coef, intercept = refit_coef(mixes, y, train.target_weight[known], family)
    predicted = topic_mixes(theirs, state, n_jobs=train.n_jobs)[known_held] @ coef + intercept
    if choices is None:
        shift, factor = shrink_to_held_out(predicted, y_held, family)
        noise = float(np.mean((y_held - shift - factor * predicted) ** 2))
        choices = Choices(ridge.penalty, mean_square, shift, factor, noise, shaped.steps)
    predicted = choices.shift + choices.factor * predicted
    explained = explained_share(y_held, predicted, family)
    if gaussian:
        family = Gaussian(choices.noise)
    state = ModelState(
        state.topic_word[: len(kept)],
        np.ones(len(kept)),
        np.zeros(len(kept)),
        choices.factor * coef,
        family,
        prior,
        choices.shift + choices.factor * intercept,
    )
    return Candidate(explained, kept, state, float(weight), choices, shaped.interrupted)


def _carry_over(first: Candidate, kept: np.ndarray, logits: np.ndarray) -> np.ndarray:
    """The first pass's topics where it kept the same words, `logits` elsewhere."""
    begin = logits.copy()
    _, there, here = np.intersect1d(first.kept, kept, return_indices=True)
    begin[here] = np.log(np.maximum(first.state.topic_word[there], 1e-300))
    return begin


def _expand(
    small: ModelState, kept: np.ndarray, n_words: int, word_count: np.ndarray
) -> ModelState:
    """The state over all words: φ exactly 0 or 1, β and π on disjoint words."""
    topics = np.zeros((n_words, small.n_topics))
    topics[kept] = small.topic_word
    inclusion = np.zeros(n_words)
    inclusion[kept] = 1.0
    background = np.zeros(n_words)
    if np.any((inclusion == 0) & (word_count > 0)):
        background = update_background(word_count, inclusion)
    return ModelState(
        topics,
        inclusion,
        background,
        small.coef,
        small.family,
        small.doc_topic_prior,
        small.intercept,
    )
