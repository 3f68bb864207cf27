"""The automatic inclusion: compare a few inclusions on validation documents, with initial topics.

For each inclusion we select words, initialise topics, regress each target on the proportions of
these topics, and predict validation documents. The optimisation changes the words of topics but
hardly their predictions, so that this compares the final models in a fraction of the time.

We choose the smallest inclusion whose loss exceeds the smallest loss by at most one standard error
of the paired difference over documents (the one-standard-error rule of Breiman and others). With
few validation documents, the training documents are split into `N_FOLDS` folds, and each is
predicted from the others. Folds have the subjects of all documents, which do not depend on the
target, and the penalties that are already chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from topicfocus.focused.data import FocusData, sample_rows
from topicfocus.focused.initialize import Start, start_topics
from topicfocus.focused.refit import best_toward_signs
from topicfocus.focused.result import InclusionTrial
from topicfocus.focused.screening import Screening, screen_words
from topicfocus.focused.selection import Selection, possible_selections, select
from topicfocus.focused.settings import FocusSettings
from topicfocus.focused.subjects import Subjects
from topicfocus.glm import mean_and_error, null_deviance, target_columns
from topicfocus.kernels.threads import map_in_order
from topicfocus.model import Problem
from topicfocus.proportions import topic_proportions

#: Smallest number of words per topic, so that topics can have different top words. An eighth of the
#: vocabulary is always enough.
WORDS_PER_TOPIC = 20
#: Number of validation documents that is enough to compare inclusions. With fewer there are folds
#: of the training documents, of at most `MOST_COMPARED` documents.
ENOUGH_VALIDATION, N_FOLDS, MOST_COMPARED = 3_000, 4, 10_000
#: Largest number of documents in regressions, which have few coefficients.
MOST_REGRESSED = 2_000
#: ρ of these regressions, a coarser grid than that of `refit`.
TOWARD_SIGNS = (0.0, 0.03, 0.3)
#: Tolerance of θ̂, which Newton's last step squares.
TOLERANCE = 1e-2

#: Returns (training, test) documents of each fold, none if there are too few documents.
Folds = Callable[[], Iterable[tuple[Problem, Problem]]]


@dataclass(frozen=True, kw_only=True)
class ChosenInclusion:
    """The words kept, the initial topics, and the inclusions that were compared."""

    selection: Selection
    start: Start
    trials: tuple[InclusionTrial, ...] = ()


def choose_inclusion(
    data: FocusData,
    screening: Screening,
    subjects: Subjects | None,
    settings: FocusSettings,
    folds: Folds | None = None,
) -> ChosenInclusion:
    """The words to keep and the initial topics."""
    selections = possible_selections(data, screening, settings)

    def started(selection: Selection) -> Start:
        return start_topics(data, screening, selection, subjects, settings)

    starts = tuple(map_in_order(started, selections, _threads(data)))
    if len(selections) == 1:
        return ChosenInclusion(selection=selections[0], start=starts[0])
    parts: list[_Compared] = []
    if folds is not None and data.held_out.size < ENOUGH_VALIDATION:
        penalties = [start.penalties for start in starts]
        parts = _by_folds(data, screening, subjects, settings, selections, penalties, folds)
    if not parts:
        parts = [_compare(data, starts)]
    trials = _trials([selection.inclusion for selection in selections], parts)
    n_words = min(WORDS_PER_TOPIC * settings.n_topics, int(np.sum(data.word_counts > 0)) // 8)
    best = smallest_good(trials, [len(s.kept) >= n_words for s in selections])
    return ChosenInclusion(selection=selections[best], start=starts[best], trials=trials)


@dataclass(frozen=True, kw_only=True)
class _Compared:
    """Losses (inclusions x documents and targets), and the explained fraction of each inclusion."""

    losses: np.ndarray
    explained: np.ndarray
    weight: np.ndarray


def _compare(data: FocusData, starts: Sequence[Start]) -> _Compared:
    """How well the validation documents are predicted by the initial topics of each inclusion."""
    some = sample_rows(data.train, MOST_REGRESSED)
    columns = target_columns(data.train.rows(some), data.family)
    scale = [null_deviance(column) for column in data.held_columns]
    losses, explained, theta, held = [], [], None, None
    for start in starts:
        if theta is not None and theta.shape[1] != start.state.n_topics:
            theta = held = None
        train, state = start.train.rows(some), start.first_state
        # θ̂ of one inclusion is a good start for the next.
        theta = topic_proportions(
            train.corpus, state, tolerance=TOLERANCE, n_jobs=data.n_jobs, start=theta
        )
        held = topic_proportions(
            start.held_out.corpus, state, tolerance=TOLERANCE, n_jobs=data.n_jobs, start=held
        )
        design, held_design = train.design(theta), start.held_out.design(held)
        of_targets, shares = [], []
        for mine, theirs, unit in zip(columns, data.held_columns, scale, strict=True):
            signs = state.coef_rows[mine.where].T
            best = best_toward_signs(
                mine, mine.of(design), theirs, held_design, signs, TOWARD_SIGNS
            )
            of_targets.append(best[1] / unit)
            shares.append(1.0 - float(np.average(of_targets[-1], weights=theirs.weight)))
        losses.append(np.concatenate(of_targets))
        explained.append(float(np.mean(shares)))
    weight = np.concatenate([column.weight for column in data.held_columns])
    return _Compared(losses=np.array(losses), explained=np.array(explained), weight=weight)


def _by_folds(
    data: FocusData,
    screening: Screening,
    subjects: Subjects | None,
    settings: FocusSettings,
    whole: Sequence[Selection],
    penalties: Sequence[tuple[float, ...]],
    folds: Folds,
) -> list[_Compared]:
    """The same for each fold, on threads; an empty list if a fold has no word to keep."""

    def compared(fold: tuple[Problem, Problem]) -> _Compared | None:
        part = FocusData.of(*fold, data.family, data.past)
        own = screen_words(part, screening.penalties, settings.is_stable)
        try:
            selections = [select(part, own, settings, s.limit) for s in whole]
        except ValueError:  # no word of this fold is associated with the target
            return None
        return _compare(
            part,
            [
                start_topics(part, own, selection, subjects, settings, chosen)
                for selection, chosen in zip(selections, penalties, strict=True)
            ],
        )

    found = list(map_in_order(compared, folds(), _threads(data)))
    good = [part for part in found if part is not None]
    return good if len(good) == len(found) else []


def _threads(data: FocusData) -> int | None:
    """Number of inclusions or folds at a time: 1 for documents that are not in memory."""
    return data.train.n_jobs if sparse.issparse(data.train.corpus.counts) else 1


def _trials(inclusions: Sequence[float], parts: Sequence[_Compared]) -> tuple[InclusionTrial, ...]:
    """The explained fraction of each inclusion, with the error of its difference from the best."""
    losses = np.concatenate([part.losses for part in parts], axis=1)
    weight = np.concatenate([part.weight for part in parts])
    size = [part.weight.sum() for part in parts]
    explained = np.average([part.explained for part in parts], axis=0, weights=size)
    least = losses[int(np.argmax(explained))]
    return tuple(
        InclusionTrial(
            inclusion=inclusion,
            explained=float(good),
            error=mean_and_error(loss - least, weight)[1],
        )
        for inclusion, good, loss in zip(inclusions, explained, losses, strict=True)
    )


def smallest_good(trials: Sequence[InclusionTrial], enough: Sequence[bool]) -> int:
    """The first inclusion that explains at least as much as the best minus one standard error.

    Inclusions with too few words are left out, if there are others.
    """
    best = max(trials, key=lambda trial: trial.explained)
    good = [i for i, t in enumerate(trials) if t.explained >= best.explained - t.error]
    return next((i for i in good if enough[i]), good[-1])
