"""Start: the model that shaping begins with, each topic at a place among the linear predictors.

    W⁰_vk = log n_v + clip(spread·u_v)·e_k,

u_v being what word v says about each predictor (its ridge weight and its slope), e_k the place of
topic k. One predictor: topics are graded from -1 to 1. Several: a topic leans towards one of the
directions that matter (up or down for a number, each class for classes), in turn. With themes
(`themes`) a topic is a theme with such a direction instead.

A kept word counts by its strength (`word_weights`). Without that, a word that says little could
only say less by being in topics of both directions, and topics could not be distinct and predict
at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import softmax

from topicfocus.corpus import Corpus
from topicfocus.counts import take_columns, weigh_columns
from topicfocus.focused.data import FocusData
from topicfocus.focused.result import Candidate, with_families
from topicfocus.focused.screening import WordEvidence
from topicfocus.focused.screening_statistics import RidgeFit
from topicfocus.focused.selection import Cut
from topicfocus.focused.settings import FocusSettings, ShapingPlan
from topicfocus.focused.themes import LARGEST_LEAN, Themes, cell_words, choose_cells
from topicfocus.glm import Column
from topicfocus.inference.state import ModelState, Problem

#: λ is at least this, however few relevant tokens a document has.
SMALLEST_SUPERVISION = 3.0
#: And a, a topic.
SMALLEST_PRIOR = 0.1
#: A word counts no more from this strength on (its leaning, of root mean square one over tokens).
FULL_STRENGTH = 3.0
#: What a kept word counts at least, and one that the user wants to be kept, relative to an average
#: token.
SMALLEST_WEIGHT, FORCED_WEIGHT = 0.03, 1.0


@dataclass(frozen=True, kw_only=True)
class Start:
    """The documents on the kept words, and what shaping begins with.

    Attributes
    ----------
    train, held_out : Problem
        √counts of the kept words, times their weights.
    word_weight : array (words,)
        m, how much a token of each kept word counts.
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
    """

    train: Problem
    held_out: Problem
    word_weight: np.ndarray
    state: ModelState
    logits: np.ndarray
    begin: np.ndarray
    coef_bound: np.ndarray | None
    supervision_weight: float
    penalties: tuple[float, ...]
    mean_squares: tuple[float, ...]

    @property
    def first_state(self) -> ModelState:
        """The model before any shaping."""
        return replace(self.state, topic_word=softmax(self.begin, axis=0))

    @property
    def weighted(self) -> Problem:
        """The training documents with targets weighted by λ."""
        train = self.train
        return train.with_corpus(train.corpus, self.supervision_weight * train.target_weight)


def start_topics(
    data: FocusData,
    evidence: WordEvidence,
    cut: Cut,
    themes: Themes | None,
    settings: FocusSettings,
    earlier: Candidate | None,
    penalties: tuple[float, ...] | None = None,
) -> Start:
    """What shaping begins with; from the topics of an `earlier` pass where η is graded.

    `penalties` of the regressions on the kept words, where others have chosen them: an earlier pass
    has.
    """
    plan, kept = settings.plan, cut.kept
    choices = None if earlier is None else earlier.choices
    n_topics = possible_topics(settings, len(kept)) if earlier is None else earlier.state.n_topics
    words, held_words = take_columns(data.words, kept), take_columns(data.held_words, kept)
    given = penalties if choices is None else choices.penalties
    ridges = evidence.regressed(kept, words, held_words, given, data.n_jobs)
    mean_squares = tuple(r.mean_square for r in ridges)
    if choices is not None:
        mean_squares = choices.mean_squares
    lean = word_leanings(evidence.slopes[kept], ridges, data.word_counts[kept], plan)
    weight = word_weights(lean, data.word_counts[kept], forced(settings, kept), plan)
    count = weight * data.word_counts[kept]
    place, logits = _places_and_logits(data, lean, count, themes, cut, n_topics, plan)
    spread = [c.family.predictor_spread(c.target, c.weight) for c in data.columns]
    size = np.repeat(spread, [c.width for c in data.columns]) * plan.coef_bound
    relevant = float(count.sum() / data.size)
    return Start(
        train=data.train.with_corpus(Corpus(weigh_columns(words, weight))),
        held_out=data.held_out.with_corpus(Corpus(weigh_columns(held_words, weight))),
        word_weight=weight,
        state=_starting_state(data, evidence, settings, place * size, relevant, mean_squares, kept),
        logits=logits,
        begin=logits if earlier is None or not plan.graded else carry_over(earlier, kept, logits),
        coef_bound=None if plan.graded else np.broadcast_to(size, place.shape),
        supervision_weight=supervision(settings, relevant),
        penalties=tuple(r.penalty for r in ridges),
        mean_squares=mean_squares,
    )


def possible_topics(settings: FocusSettings, n_kept: int) -> int:
    """As many topics as were asked for, or two, or as there are words kept.

    A user who gives a prior for each topic gets them all.
    """
    if not settings.select or settings.doc_topic_prior is not None:
        return settings.n_topics
    return min(settings.n_topics, max(n_kept, 2))


def _places_and_logits(
    data: FocusData,
    lean: np.ndarray,
    count: np.ndarray,
    themes: Themes | None,
    cut: Cut,
    n_topics: int,
    plan: ShapingPlan,
) -> tuple[np.ndarray, np.ndarray]:
    """e and W⁰, of themes with directions or of places among the predictors."""
    if themes is None:
        place = topic_places(data.columns, lean, count, n_topics)
        return place, starting_logits(count, lean, place, plan.start_spread)
    directions = topic_directions(data.columns, lean, count, n_topics)
    return themed_start(count, themes.lift[cut.kept], lean, directions, n_topics, plan)


def supervision(settings: FocusSettings, relevant: float) -> float:
    """λ: the user's, or so much for each relevant token of an average document."""
    if settings.supervision_weight is not None:
        return float(settings.supervision_weight)
    return float(max(settings.plan.supervision_per_token * relevant, SMALLEST_SUPERVISION))


def _starting_state(
    data: FocusData,
    evidence: WordEvidence,
    settings: FocusSettings,
    coef: np.ndarray,
    relevant: float,
    mean_squares: tuple[float, ...],
    kept: np.ndarray,
) -> ModelState:
    """The null models with topics' coefficients; δ is an error on documents not trained on."""
    nulls, n_topics, n_words = evidence.nulls, len(coef), len(kept)
    prior = settings.doc_topic_prior
    if prior is None:
        # The prior weighs as much as the relevant words of an average document.
        prior = np.full(n_topics, max(relevant / n_topics, SMALLEST_PRIOR))
    noise = tuple(mean_squares[column.where.start] for column in data.columns)
    return ModelState(
        topic_word=np.zeros((n_words, n_topics)),
        inclusion=np.ones(n_words),
        background=np.zeros(n_words),
        coef=coef.reshape(data.family.coef_shape(n_topics)),
        family=with_families(data.family, [fit.family for fit in nulls], noise),
        doc_topic_prior=prior,
        intercept=np.concatenate([fit.intercept for fit in nulls]),
        covariate_coef=None
        if data.train.covariates is None
        else np.column_stack([fit.coef for fit in nulls]),
    )


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


def word_weights(
    lean: np.ndarray, word_count: np.ndarray, wanted: np.ndarray, plan: ShapingPlan
) -> np.ndarray:
    """m_v ∝ min(s_v, 3), s_v = |u_v|, of mean one over tokens; or ones.

    A token of a word that says twice as much about the target counts twice, up to a limit. Of mean
    one, so that a document has as much to say about its mix as it has relevant tokens. `wanted`
    words are those that the user keeps whatever they say.
    """
    if not plan.weighted:
        return np.ones(len(lean))
    strength = unit_columns(np.sqrt((lean**2).sum(axis=1, keepdims=True)), word_count)[:, 0]
    strength = np.minimum(strength, FULL_STRENGTH)
    weight = strength / max(word_count @ strength / word_count.sum(), 1e-300)
    weight = np.maximum(weight, np.where(wanted, FORCED_WEIGHT, SMALLEST_WEIGHT))
    return weight / (word_count @ weight / word_count.sum())


def forced(settings: FocusSettings, kept: np.ndarray) -> np.ndarray:
    """Which of the kept words the user wants to be kept."""
    return np.isin(kept, np.zeros(0, dtype=int) if settings.keep is None else settings.keep)


def starting_logits(
    word_count: np.ndarray, lean: np.ndarray, place: np.ndarray, spread: float
) -> np.ndarray:
    """W⁰ = log n_v + clip(spread·u_v)·e_k, normalised over words."""
    push = np.clip(spread * lean, -3 * spread, 3 * spread) @ place.T
    weights = word_count[:, None] * np.exp(push)
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
    plain = np.exp(starting_logits(word_count, lean, mean, plan.start_spread))
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
