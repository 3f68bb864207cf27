"""Initial topics, coefficients and weights of words.

Without subjects, W⁰_vk = log n_v + clip(spread·u_v)·e_k, u_v being the signed association of word v
with each linear predictor and e_k the place of topic k. With one predictor, topics are graded from
-1 to 1; with several, topics take their directions in turn (up and down for a number, each class
for classes). With subjects (`subjects`), a topic is a subject with such a direction instead.

Kept words are weighted by their association (`word_weights`). Without weights, a word with little
association can have little influence only by being in topics of both signs, and topics cannot be
both distinct and predictive.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import softmax

from topicfocus.corpus import Corpus
from topicfocus.counts import take_columns, weigh_columns
from topicfocus.focused.data import FocusData
from topicfocus.focused.result import with_families
from topicfocus.focused.ridge import RidgeFit
from topicfocus.focused.screening import Screening
from topicfocus.focused.selection import Selection
from topicfocus.focused.settings import FocusSettings, TopicPlan
from topicfocus.focused.subjects import (
    LARGEST_ASSOCIATION,
    Subjects,
    cell_words,
    choose_cells,
    seed_lift,
    seeded_words,
    sign_fractions,
    subject_fractions,
)
from topicfocus.glm import Column
from topicfocus.model import ModelState, Problem

#: Smallest λ, for documents with few relevant tokens, and smallest a per topic.
SMALLEST_SUPERVISION, SMALLEST_PRIOR = 3.0, 0.1
#: Factor on the precision of the prior of topics with seed words.
SEEDED_PRECISION = 30.0
#: Smallest weight of a kept word, and of one that the user keeps, relative to an average token.
SMALLEST_WEIGHT, FORCED_WEIGHT = 0.03, 1.0


@dataclass(frozen=True, kw_only=True)
class Start:
    """The documents on the words kept, and the initial model.

    Attributes
    ----------
    train, held_out : Problem
        √counts of the words kept, times their weights.
    word_weight : array (words,)
        m, how much a token of each word counts.
    state : ModelState
        Coefficients, intercepts, family and prior, without topics.
    logits : array (words, topics)
        W⁰, the initial topics and the mean of their prior.
    coef_bound : array (topics, predictors) or None
        Bound of |η| during the optimisation; None leaves η as it is.
    supervision_weight : float
        λ.
    penalties, mean_squares : tuples of float
        Of the ridge regressions on the words kept, one per signal.
    """

    train: Problem
    held_out: Problem
    word_weight: np.ndarray
    state: ModelState
    logits: np.ndarray
    coef_bound: np.ndarray | None
    supervision_weight: float
    penalties: tuple[float, ...]
    mean_squares: tuple[float, ...]

    @property
    def first_state(self) -> ModelState:
        """The model with the initial topics."""
        return replace(self.state, topic_word=softmax(self.logits, axis=0))

    @property
    def supervised(self) -> Problem:
        """The training documents with targets weighted by λ."""
        train = self.train
        return train.with_corpus(train.corpus, self.supervision_weight * train.target_weight)


def start_topics(
    data: FocusData,
    screening: Screening,
    selection: Selection,
    subjects: Subjects | None,
    settings: FocusSettings,
    penalties: tuple[float, ...] | None = None,
    mean_squares: tuple[float, ...] | None = None,
    n_topics: int | None = None,
) -> Start:
    """The initial model, with penalties, errors and number of topics of another fit if given."""
    plan, kept = settings.plan, selection.kept
    if n_topics is None:
        n_topics = possible_topics(settings, len(kept))
    words, held_words = take_columns(data.words, kept), take_columns(data.held_words, kept)
    ridges = screening.regressed(kept, words, held_words, penalties, data.n_jobs)
    if mean_squares is None:
        mean_squares = tuple(r.mean_square for r in ridges)
    word_count = data.word_counts[kept]
    association = associations(screening.slopes[kept], ridges, word_count, plan)
    weight = np.ones(len(kept))
    if plan.has_subjects:
        weight = word_weights(association, word_count, forced(settings, kept))
    count = weight * word_count
    if subjects is None:
        place = topic_places(data.columns, association, count, n_topics)
        logits = starting_logits(count, association, place, plan.start_spread)
    else:
        directions = topic_directions(data.columns, association, count, n_topics)
        seeds = [np.searchsorted(kept, columns) for columns in settings.seeds]
        lift = subjects.lift[kept]
        if seeds:
            beside = seed_lift(words, data.train.doc_weights, seeds, data.n_jobs)
            lift = np.hstack([lift, beside])
        place, logits = subject_start(count, lift, association, directions, n_topics, seeds)
    spread = [c.family.predictor_spread(c.target, c.weight) for c in data.columns]
    size = np.repeat(spread, [c.width for c in data.columns]) * plan.coef_bound
    relevant = float(count.sum() / data.size)
    return Start(
        train=data.train.with_corpus(Corpus(weigh_columns(words, weight))),
        held_out=data.held_out.with_corpus(Corpus(weigh_columns(held_words, weight))),
        word_weight=weight,
        state=_starting_state(
            data, screening, settings, place * size, relevant, mean_squares, kept
        ),
        logits=logits,
        coef_bound=None if plan.fixed_coef else np.broadcast_to(size, place.shape),
        supervision_weight=supervision(settings, relevant),
        penalties=tuple(r.penalty for r in ridges),
        mean_squares=mean_squares,
    )


def possible_topics(settings: FocusSettings, n_kept: int) -> int:
    """The number of topics of the settings, but at most one per word kept, and at least two.

    With a prior for each topic, or seed words, the number of the settings.
    """
    if not settings.select or settings.doc_topic_prior is not None:
        return settings.n_topics
    return min(settings.n_topics, max(n_kept, 2, len(settings.seeds)))


def prior_precision(settings: FocusSettings, n_topics: int) -> np.ndarray:
    """τ of every topic: larger for topics with seed words, which stay about these."""
    precision = np.full(n_topics, settings.plan.prior_precision)
    precision[: len(settings.seeds)] *= SEEDED_PRECISION
    return precision


def supervision(settings: FocusSettings, relevant: float) -> float:
    """λ: the user's, or in proportion to the relevant tokens of an average document."""
    if settings.supervision_weight is not None:
        return float(settings.supervision_weight)
    return float(max(settings.plan.supervision_per_token * relevant, SMALLEST_SUPERVISION))


def _starting_state(
    data: FocusData,
    screening: Screening,
    settings: FocusSettings,
    coef: np.ndarray,
    relevant: float,
    mean_squares: tuple[float, ...],
    kept: np.ndarray,
) -> ModelState:
    """The null models with initial coefficients, and validation errors as δ."""
    nulls, n_topics, n_words = screening.nulls, len(coef), len(kept)
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


def associations(
    slopes: np.ndarray, ridges: Sequence[RidgeFit], word_count: np.ndarray, plan: TopicPlan
) -> np.ndarray:
    """u, words x predictors: the mean of ridge weights and slopes, all of unit size."""
    weights = np.column_stack([r.weights for r in ridges])
    association = plan.ridge_share * unit_columns(weights, word_count)
    association = association + (1 - plan.ridge_share) * unit_columns(slopes, word_count)
    return unit_columns(association, word_count)


def word_weights(association: np.ndarray, word_count: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """m_v ∝ |u_v|, of mean one over tokens.

    A token of a word with twice the association counts twice. The mean is one, so that the words of
    a document weigh as much as it has relevant tokens. `wanted` words are those that the user
    keeps.
    """
    strength = unit_columns(np.sqrt((association**2).sum(axis=1, keepdims=True)), word_count)[:, 0]
    weight = strength / max(word_count @ strength / word_count.sum(), 1e-300)
    weight = np.maximum(weight, np.where(wanted, FORCED_WEIGHT, SMALLEST_WEIGHT))
    return weight / (word_count @ weight / word_count.sum())


def forced(settings: FocusSettings, kept: np.ndarray) -> np.ndarray:
    """Which of the kept words the user keeps."""
    return np.isin(kept, np.zeros(0, dtype=int) if settings.keep is None else settings.keep)


def starting_logits(
    word_count: np.ndarray, association: np.ndarray, place: np.ndarray, spread: float
) -> np.ndarray:
    """W⁰ = log n_v + clip(spread·u_v)·e_k, normalised over words."""
    push = np.clip(spread * association, -3 * spread, 3 * spread) @ place.T
    weights = word_count[:, None] * np.exp(push)
    return np.log(weights / weights.sum(axis=0))


def subject_start(
    word_count: np.ndarray,
    lift: np.ndarray,
    association: np.ndarray,
    directions: Sequence[np.ndarray],
    n_topics: int,
    seeds: Sequence[np.ndarray] = (),
) -> tuple[np.ndarray, np.ndarray]:
    """e and W⁰ of topics: those with `seeds`, then those with a subject and a sign (`subjects`).

    The last columns of `lift` are those of the seeded topics. The place of a topic is the mean
    association of its words, the largest entry scaled to one.
    """
    toward = sign_fractions(association, directions)
    about = subject_fractions(lift)
    n_subjects = lift.shape[1] - len(seeds)
    chosen = seeded_words(word_count, about[:, n_subjects:], toward, seeds)
    if n_topics > len(seeds):
        count = word_count.copy()
        for columns in seeds:
            count[columns] -= chosen[columns].sum(axis=1)
        cells = cell_words(np.maximum(count, 0.0), about[:, :n_subjects], toward)
        chosen = np.hstack([chosen, choose_cells(cells, n_topics - len(seeds))])
    topics = chosen / chosen.sum(axis=0)
    place = topics.T @ np.clip(association, -LARGEST_ASSOCIATION, LARGEST_ASSOCIATION)
    return place / max(np.abs(place).max(), 1e-300), np.log(np.maximum(topics, 1e-300))


# ---- places of topics ---------------------------------------------------------------------------


def topic_places(
    columns: Sequence[Column], association: np.ndarray, word_count: np.ndarray, n_topics: int
) -> np.ndarray:
    """e, topics x predictors, entries from -1 to 1."""
    n_predictors = association.shape[1]
    if n_topics == 1:
        return np.zeros((1, n_predictors))
    if n_predictors == 1:
        return np.linspace(-1.0, 1.0, n_topics)[:, None]
    directions = topic_directions(columns, association, word_count, n_topics)
    rounds = -(-n_topics // len(directions))
    out = np.empty((n_topics, n_predictors))
    for k in range(n_topics):
        # A second topic in the same direction is closer to zero; otherwise both would stay equal.
        size = 1.0 - (k // len(directions)) / rounds
        out[k] = size * directions[k % len(directions)]
    return out


def topic_directions(
    columns: Sequence[Column], association: np.ndarray, word_count: np.ndarray, n_topics: int
) -> list[np.ndarray]:
    """All directions of associations, or the leading ones if topics are fewer."""
    directions = _directions(columns, association.shape[1])
    if n_topics < len(directions):
        directions = _main_directions(association, word_count, n_topics)
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


def _main_directions(association: np.ndarray, word_count: np.ndarray, n: int) -> list[np.ndarray]:
    """Both ends of the leading directions of the associations."""
    root = np.sqrt(word_count / word_count.sum())[:, None]
    axes = np.linalg.svd(root * association, full_matrices=False)[2]
    out = []
    for axis in axes:
        axis = axis / np.abs(axis).max()
        # The sign of an SVD is arbitrary: the first of the largest entries becomes positive. With
        # two targets both can be the largest, and rounding must not choose between them.
        axis = axis * np.sign(axis[np.argmax(np.abs(axis) > 1 - 1e-6)])
        out += [axis, -axis]
    return out[:n]
