"""Start: the model that shaping begins with, each topic at a place among the linear predictors.

    W⁰_vk = log n_v + clip(spread·u_v)·e_k,

u_v being what word v says about each predictor (its ridge weight and its slope), e_k the place of
topic k. One predictor: topics are graded from -1 to 1. Several: a topic leans towards one of the
directions that matter (up or down for a number, each class for classes), in turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from topicfocus.corpus import Corpus
from topicfocus.families import coef_shape, predictor_spread
from topicfocus.inference.focused.evidence import RidgeFit
from topicfocus.inference.state import ModelState, Problem
from topicfocus.solvers.checkpoints import stage
from topicfocus.solvers.focus.cut import Cut
from topicfocus.solvers.focus.data import FocusData
from topicfocus.solvers.focus.evidence import WordEvidence, ridge_fits
from topicfocus.solvers.focus.result import Candidate, Choices, with_families
from topicfocus.solvers.focus.settings import FocusSettings, ShapingPlan
from topicfocus.solvers.focus.themes import (
    LARGEST_LEAN,
    Themes,
    cell_words,
    choose_cells,
    find_themes,
    n_themes_of,
)
from topicfocus.solvers.linear import Column

#: λ is at least this, however few relevant tokens a document has.
SMALLEST_SUPERVISION = 3.0


@dataclass(frozen=True, kw_only=True)
class Start:
    """The documents on the kept words, and what shaping begins with.

    Attributes
    ----------
    train, held_out : Problem
        √counts of the kept words; with a last word that never occurs if volumes are free.
    state : ModelState
        Coefficients, intercepts, family and prior, without topics: these come from `begin`.
    logits : array (words, topics)
        W⁰, which the topics are drawn to.
    begin : array (words, topics)
        Where they begin: W⁰, or the topics of an earlier pass.
    coef_bound : array (topics, predictors) or None
        |η| at most; None leaves η as it is.
    supervision_weight : float
        λ.
    penalties, mean_squares : tuples of float
        Of the ridge regressions on the kept words, one a signal.
    themes : Themes or None
        What documents are about, where the plan has themes.
    """

    train: Problem
    held_out: Problem
    state: ModelState
    logits: np.ndarray
    begin: np.ndarray
    coef_bound: np.ndarray | None
    supervision_weight: float
    penalties: tuple[float, ...]
    mean_squares: tuple[float, ...]
    themes: Themes | None = None

    @property
    def weighted(self) -> Problem:
        """The training documents with targets weighted by λ."""
        train = self.train
        return train.with_corpus(train.corpus, self.supervision_weight * train.target_weight)


def start_topics(
    data: FocusData,
    evidence: WordEvidence,
    cut: Cut,
    settings: FocusSettings,
    plan: ShapingPlan,
    earlier: Candidate | None,
) -> Start:
    """What shaping begins with; from the topics of an `earlier` pass where η is graded."""
    kept, count = cut.kept, data.word_counts[cut.kept]
    choices = None if earlier is None else earlier.choices
    ridges = ridge_fits(
        evidence.signals_of(data.words, kept),
        evidence.held_signals_of(data.held_words, kept),
        None if choices is None else choices.penalties,
    )
    mean_squares = tuple(r.mean_square for r in ridges)
    if choices is not None:
        mean_squares = choices.mean_squares
    lean = word_leanings(evidence.slopes[kept], ridges, count, plan)
    themes = _themes(data, settings, plan, choices)
    place = topic_places(data.columns, lean, count, settings.n_topics)
    spread = [predictor_spread(c.family, c.target, c.weight) for c in data.columns]
    size = np.repeat(spread, [c.width for c in data.columns]) * plan.coef_bound
    logits = starting_logits(count, lean, place, plan.start_spread, plan.free_volume)
    if themes is not None:
        place, logits = themed_start(
            count,
            themes.lift[kept],
            lean,
            topic_directions(data.columns, lean, count, settings.n_topics),
            settings.n_topics,
            plan,
        )
    relevant = float(count.sum() / data.size)
    return Start(
        train=data.train.with_corpus(_on_words(data.words, kept, plan.free_volume)),
        held_out=data.held_out.with_corpus(_on_words(data.held_words, kept, plan.free_volume)),
        state=_starting_state(
            data, evidence, settings, place * size, len(logits), relevant, mean_squares
        ),
        logits=logits,
        begin=logits if earlier is None or not plan.graded else carry_over(earlier, kept, logits),
        coef_bound=None if plan.graded else np.broadcast_to(size, place.shape),
        supervision_weight=supervision(settings, plan, relevant),
        penalties=tuple(r.penalty for r in ridges),
        mean_squares=mean_squares,
        themes=themes,
    )


def _themes(
    data: FocusData, settings: FocusSettings, plan: ShapingPlan, choices: Choices | None
) -> Themes | None:
    """Those found before, or those of the documents; one topic needs none."""
    if plan.theme_sharpness is None or settings.n_topics == 1:
        return None
    if choices is not None and choices.themes is not None:
        return choices.themes
    n_directions = len(_directions(data.columns, data.columns[-1].where.stop))
    n_themes = n_themes_of(settings.n_topics, n_directions)
    return stage("themes", lambda: find_themes(data.train, n_themes))


def supervision(settings: FocusSettings, plan: ShapingPlan, relevant: float) -> float:
    """λ: the user's, or so much for each relevant token of an average document."""
    if settings.supervision_weight is not None:
        return float(settings.supervision_weight)
    return float(max(plan.supervision_per_token * relevant, SMALLEST_SUPERVISION))


def _starting_state(
    data: FocusData,
    evidence: WordEvidence,
    settings: FocusSettings,
    coef: np.ndarray,
    n_words: int,
    relevant: float,
    mean_squares: tuple[float, ...],
) -> ModelState:
    """The null models with topics' coefficients; δ is an error on documents not trained on."""
    nulls, n_topics = evidence.nulls, settings.n_topics
    prior = settings.doc_topic_prior
    if prior is None:
        # The prior weighs as much as the relevant words of an average document.
        prior = np.full(n_topics, max(relevant / n_topics, 0.1))
    noise = tuple(mean_squares[column.where.start] for column in data.columns)
    return ModelState(
        topic_word=np.zeros((n_words, n_topics)),
        inclusion=np.ones(n_words),
        background=np.zeros(n_words),
        coef=coef.reshape(coef_shape(data.family, n_topics)),
        family=with_families(data.family, [fit.family for fit in nulls], noise),
        doc_topic_prior=prior,
        intercept=np.concatenate([fit.intercept for fit in nulls]),
        covariate_coef=None
        if data.train.covariates is None
        else np.column_stack([fit.coef for fit in nulls]),
    )


def _on_words(words: sparse.csr_array, kept: np.ndarray, free_volume: bool) -> Corpus:
    """A corpus of some words; for free volumes with a last one that never occurs.

    A topic that gives it probability produces fewer of the others.
    """
    counts = words[:, kept]
    if free_volume:
        empty = sparse.csr_array((words.shape[0], 1))
        counts = sparse.csr_array(sparse.hstack([counts, empty], format="csr"))
    return Corpus(sparse.csr_array(counts))


# ---- words --------------------------------------------------------------------------------------


def unit_columns(values: np.ndarray, word_count: np.ndarray) -> np.ndarray:
    """Columns scaled to a root mean square of one over tokens."""
    size = np.sqrt(word_count @ values**2 / word_count.sum())
    return values / np.maximum(size, 1e-300)


def word_leanings(
    slopes: np.ndarray, ridges: Sequence[RidgeFit], word_count: np.ndarray, plan: ShapingPlan
) -> np.ndarray:
    """u, words x predictors: ridge weights and slopes mixed, each and in the end of unit size."""
    weights = np.column_stack([r.weights for r in ridges])
    lean = plan.ridge_share * unit_columns(weights, word_count)
    lean = lean + (1 - plan.ridge_share) * unit_columns(slopes, word_count)
    return unit_columns(lean, word_count)


def starting_logits(
    word_count: np.ndarray, lean: np.ndarray, place: np.ndarray, spread: float, free_volume: bool
) -> np.ndarray:
    """W⁰ = log n_v + clip(spread·u_v)·e_k, normalised over words; free volumes have a row more."""
    push = np.clip(spread * lean, -3 * spread, 3 * spread) @ place.T
    weights = word_count[:, None] * np.exp(push)
    if free_volume:
        weights = weights / (1.001 * weights.sum(axis=0).max())
        weights = np.vstack([weights, 1.0 - weights.sum(axis=0)])
    return np.log(weights / weights.sum(axis=0))


def carry_over(earlier: Candidate, kept: np.ndarray, logits: np.ndarray) -> np.ndarray:
    """The earlier topics where they kept the same words, `logits` elsewhere."""
    begin = logits.copy()
    _, there, here = np.intersect1d(earlier.cut.kept, kept, return_indices=True)
    begin[here] = np.log(np.maximum(earlier.state.topic_word[there], 1e-300))
    return begin


def themed_start(
    word_count: np.ndarray,
    lift: np.ndarray,
    lean: np.ndarray,
    directions: Sequence[np.ndarray],
    n_topics: int,
    plan: ShapingPlan,
) -> tuple[np.ndarray, np.ndarray]:
    """e and W⁰ of topics that are a theme with a direction each (`themes`).

    The place of a topic is the mean leaning of its words, the largest entry scaled to one. A little
    of the start without themes is mixed in.
    """
    assert plan.theme_sharpness is not None
    cells = cell_words(word_count, lift, lean, directions, plan.theme_sharpness, plan.polarity)
    topics = choose_cells(cells, n_topics)
    mean = topics.T @ np.clip(lean, -LARGEST_LEAN, LARGEST_LEAN)
    mean = mean / max(np.abs(mean).max(), 1e-300)
    plain = np.exp(starting_logits(word_count, lean, mean, plan.start_spread, False))
    mixed = (1 - plan.start_mix) * topics + plan.start_mix * plain
    return mean, np.log(mixed / mixed.sum(axis=0))


# ---- places of topics ---------------------------------------------------------------------------


def topic_places(
    columns: Sequence[Column], lean: np.ndarray, word_count: np.ndarray, n_topics: int
) -> np.ndarray:
    """e, topics x predictors, entries from -1 to 1."""
    n_predictors = lean.shape[1]
    if n_topics == 1:
        return np.zeros((1, n_predictors))
    if n_predictors == 1:
        return np.linspace(-1.0, 1.0, n_topics)[:, None]
    directions = topic_directions(columns, lean, word_count, n_topics)
    rounds = -(-n_topics // len(directions))
    out = np.empty((n_topics, n_predictors))
    for k in range(n_topics):
        # A second topic in the same direction starts less far out, or both would stay the same.
        size = 1.0 - (k // len(directions)) / rounds
        out[k] = size * directions[k % len(directions)]
    return out


def topic_directions(
    columns: Sequence[Column], lean: np.ndarray, word_count: np.ndarray, n_topics: int
) -> list[np.ndarray]:
    """All directions in which words may lean, or the leading ones if topics are fewer."""
    directions = _directions(columns, lean.shape[1])
    if n_topics < len(directions):
        directions = _main_directions(lean, word_count, n_topics)
    return directions


def _directions(columns: Sequence[Column], n_predictors: int) -> list[np.ndarray]:
    first, second = [], []
    for column in columns:
        place = range(column.where.start, column.where.stop)
        for l in place:
            direction = np.zeros(n_predictors)
            if column.width > 1:
                direction[column.where] = -1.0 / (column.width - 1)
            direction[l] = 1.0
            first.append(direction)
            if column.width == 1:
                second.append(-direction)
    return first + second


def _main_directions(lean: np.ndarray, word_count: np.ndarray, n: int) -> list[np.ndarray]:
    """Both ends of the leading directions in which words lean."""
    root = np.sqrt(word_count / word_count.sum())[:, None]
    axes = np.linalg.svd(root * lean, full_matrices=False)[2]
    out = []
    for axis in axes:
        axis = axis / np.abs(axis).max()
        # The sign of an SVD means nothing. The first of the largest entries is made positive: two
        # targets have equal ones, and rounding must not choose between them.
        axis = axis * np.sign(axis[np.argmax(np.abs(axis) > 1 - 1e-6)])
        out += [axis, -axis]
    return out[:n]
