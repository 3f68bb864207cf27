"""The focused model: gather evidence, cut the vocabulary, shape topics on what is left, refit.

1. Evidence of every word (`inference.evidence`), on the training part.
2. Cut: the words with most evidence per token, up to the inclusion prior's share of the tokens. φ
   is exactly 0 or 1 from here on, β lives on the kept words and π on the others.
3. Shape (`solvers.shaping`): topics on the kept words by the constrained objective.
4. Refit η on the topic mixes, shrink it to the documents not trained on, take δ from them too.

Steps 2 to 4 are done on two rungs, from readable to predictive, and the first that explains nearly
as much of the held-out target as the best is taken. pc-sLDA is the same with all words kept.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from topicfocus.corpus import Corpus
from topicfocus.families import Gaussian
from topicfocus.inference.evidence import cut, ridge_path, target_slopes, word_evidence
from topicfocus.inference.mixes import topic_mixes
from topicfocus.inference.state import ModelState, Problem
from topicfocus.inference.updates import update_background
from topicfocus.solvers.protocol import StepInfo
from topicfocus.solvers.shaping import (
    ShapeSettings,
    explained_share,
    refit_coef,
    shape_topics,
    shrink_to_held_out,
)


@dataclass(frozen=True)
class Rung:
    """One way of shaping topics; "auto" settings of the estimators come from here.

    Attributes
    ----------
    inclusion : float
        Factor on the automatic inclusion prior (an explicit one is taken as it is).
    supervision : float
        λ for each relevant token of an average document.
    hold : float
        τ of `shaping`.
    spread : float
        How far starting topics differ: W⁰_vk = log n_v + spread·u_v·e_k, e from -1 to 1.
    joint : float
        u_v mixes the word's ridge weight (joint) and its slope (1 - joint).
    coef_bound : float
        |η| in standard deviations of the target while shaping.
    graded : bool
        η stays evenly graded between ∓coef_bound while shaping, so that topics keep an order.
    silent : bool
        Whether topics may differ in how many relevant words they produce at all.
    steps : int
        L-BFGS iterations.
    marginal : float
        Weight of the marginal view in the evidence.
    vocabulary : float
        Share of the words that may be chosen from, at least.
    """

    inclusion: float
    supervision: float
    hold: float
    spread: float
    joint: float
    coef_bound: float
    graded: bool
    silent: bool
    steps: int
    marginal: float = 2 / 3
    vocabulary: float = 0.25


READABLE = Rung(1.0, 0.3, 6.0, 3.0, 0.5, 1.0, True, False, 60)
PREDICTIVE = Rung(2.0, 1.5, 300.0, 0.3, 1.0, 3.0, False, True, 40, 1 / 3, 0.5)
#: pc-sLDA: all words, topics free to follow words and target.
UNFOCUSED = Rung(1.0, 1.0, 1.0, 1.0, 1.0, 3.0, False, False, 60)

#: The readable rung is taken when it explains at least this share of what the best rung does.
RETAINED = 0.9
#: λ is at least this, however few relevant tokens a document has.
SMALLEST_SUPERVISION = 3.0
#: Relevant tokens of an average document that the automatic inclusion prior aims at.
RELEVANT_TOKENS = 10.0


@dataclass(frozen=True)
class FocusSettings:
    """What the user may decide; None is automatic.

    `select` False keeps every word (pc-sLDA). `keep` and `drop` are columns. `pool`: the evidence
    that words are chosen by comes from the held-out documents too; steadier when these were only
    set aside for a while, and δ is then a little low.
    """

    n_topics: int
    select: bool = True
    inclusion_prior: float | None = None
    supervision_weight: float | None = None
    doc_topic_prior: np.ndarray | None = None
    max_steps: int | None = None
    keep: np.ndarray | None = None
    drop: np.ndarray | None = None
    pool: bool = False
    rungs: tuple[Rung, ...] = (READABLE, PREDICTIVE)


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


def _columns(corpus: Corpus, columns: np.ndarray, silent: bool) -> Corpus:
    """The corpus on some words; `silent` adds a last column in which nothing ever occurs."""
    counts = corpus.counts[:, columns]
    if silent:
        empty = sparse.csr_array((corpus.n_docs, 1))
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


def _unit(values: np.ndarray, word_count: np.ndarray) -> np.ndarray:
    """Scaled to a root mean square of one over tokens."""
    size = math.sqrt(float(np.sum(word_count * values**2) / word_count.sum()))
    return values / max(size, 1e-300)


def fit_focused(
    train: Problem,
    held_out: Problem,
    family: object,
    settings: FocusSettings,
    report: Callable[[StepInfo, int], None] | None = None,
) -> FocusResult:
    """Fit on `train`; choices between candidates are made on `held_out`, which shapes nothing."""
    corpus, held = damp(train.corpus), damp(held_out.corpus)
    y, y_held = train.target, held_out.target
    known, known_held = train.target_weight > 0, held_out.target_weight > 0
    n_words = corpus.n_words
    word_count = train.corpus.word_counts
    ranking = not isinstance(family, Gaussian)
    words, words_held = corpus.counts[known], held.counts[known_held]
    ridge = ridge_path(words, y[known], words_held, y_held[known_held], ranking=ranking)
    evidence = word_evidence(words, y[known], ridge)
    if settings.pool:
        words_all = sparse.csr_array(sparse.vstack([words, words_held], format="csr"))
        y_all = np.concatenate([y[known], y_held[known_held]])
        again = ridge_path(
            words_all,
            y_all,
            words_held,
            y_held[known_held],
            ranking=ranking,
            penalties=(ridge.penalty,),
        )
        evidence = word_evidence(words_all, y_all, again)
    slopes = target_slopes(words, y[known])
    automatic = settings.inclusion_prior is None
    inclusion_prior = automatic_inclusion(train.corpus) if automatic else settings.inclusion_prior
    if not settings.select:
        inclusion_prior, automatic = 1.0, False

    rungs = settings.rungs if settings.select else (UNFOCUSED,)
    total_steps = sum(settings.max_steps or rung.steps for rung in rungs)
    history: list[StepInfo] = []
    candidates = []
    interrupted = False
    for rung in rungs:
        share = min(inclusion_prior * rung.inclusion, 0.95) if automatic else inclusion_prior
        if settings.select:
            kept = cut(
                evidence.combined(rung.marginal),
                word_count,
                share,
                vocabulary=rung.vocabulary,
                keep=settings.keep,
                drop=settings.drop,
            )
        else:
            kept = np.flatnonzero(word_count > 0)
        if len(kept) == 0:
            raise ValueError(
                "No word says anything about the target beyond noise, so none is kept. Force some "
                "with keep_words, or check that documents and targets belong together."
            )

        def progress(value: float, kept: np.ndarray = kept) -> None:
            info = StepInfo(len(history) + 1, value, len(kept))
            history.append(info)
            if report is not None:
                report(info, total_steps)

        candidate, stopped = _climb(
            (train, held_out), (corpus, held), family, kept, slopes, settings, rung, progress
        )
        candidates.append(candidate)
        interrupted |= stopped
        if stopped:
            break
    explained = [c[0] for c in candidates]
    best = max(explained)
    index = next(i for i, e in enumerate(explained) if e >= best - (1 - RETAINED) * abs(best))
    _, kept, small, weight = candidates[index]
    return FocusResult(
        _expand(small, kept, n_words, word_count),
        float(inclusion_prior),
        weight,
        evidence.combined(rungs[index].marginal),
        index,
        tuple(explained),
        tuple(history),
        interrupted,
    )


def _climb(problems, damped, family, kept, slopes, settings, rung, progress):
    """One rung: (explained share, kept columns, state on them, λ), and whether interrupted."""
    train, held_out = problems
    corpus, held = damped
    known, known_held = train.target_weight > 0, held_out.target_weight > 0
    y, y_held = train.target[known], held_out.target[known_held]
    n_topics = settings.n_topics
    count = train.corpus.word_counts[kept]
    ranking = not isinstance(family, Gaussian)
    mine, theirs = _columns(corpus, kept, rung.silent), _columns(held, kept, rung.silent)
    here, there = corpus.counts[:, kept], held.counts[:, kept]
    ridge = ridge_path(here[known], y, there[known_held], y_held, ranking=ranking)
    lean = rung.joint * _unit(ridge.weights, count)
    lean = _unit(lean + (1 - rung.joint) * _unit(slopes[kept], count), count)
    relevant = float(count.sum() / train.n_docs)
    prior = settings.doc_topic_prior
    if prior is None:
        # The prior weighs as much as the relevant words of an average document.
        prior = np.full(n_topics, max(relevant / n_topics, 0.1))
    weight = settings.supervision_weight
    if weight is None:
        weight = max(rung.supervision * relevant, SMALLEST_SUPERVISION)
    unit = y.std() if isinstance(family, Gaussian) else 2.0
    if isinstance(family, Gaussian):
        family = Gaussian(ridge.mean_square)  # δ from documents not trained on
    grade = np.linspace(-1.0, 1.0, n_topics) if n_topics > 1 else np.zeros(1)
    _, level = refit_coef(np.zeros((len(y), 1)), y, np.ones(len(y)), family)
    start = ModelState(
        np.zeros((mine.n_words, n_topics)),
        np.ones(mine.n_words),
        np.zeros(mine.n_words),
        grade * unit * rung.coef_bound,
        family,
        prior,
        level,
    )
    shaping = ShapeSettings(
        rung.hold,
        None if rung.graded else unit * rung.coef_bound,
        settings.max_steps or rung.steps,
    )
    problem = Problem(mine, train.target, weight * train.target_weight, train.n_jobs)
    logits = _starting_logits(count, lean, rung, n_topics)
    state, interrupted = shape_topics(problem, start, logits, shaping, progress)
    mixes = topic_mixes(mine, state, n_jobs=train.n_jobs)[known]
    coef, intercept = refit_coef(mixes, y, train.target_weight[known], family)
    predicted = topic_mixes(theirs, state, n_jobs=train.n_jobs)[known_held] @ coef + intercept
    shift, factor = shrink_to_held_out(predicted, y_held, family)
    predicted = shift + factor * predicted
    if isinstance(family, Gaussian):
        family = Gaussian(float(np.mean((y_held - predicted) ** 2)))
    state = ModelState(
        state.topic_word[: len(kept)],
        np.ones(len(kept)),
        np.zeros(len(kept)),
        factor * coef,
        family,
        prior,
        shift + factor * intercept,
    )
    return (explained_share(y_held, predicted, family), kept, state, float(weight)), interrupted


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
