"""Share: how much of the documents to keep, by documents not trained on, before topics are shaped.

The more words are kept, the more they explain, to a point; the fewer, the clearer the topics. Along
a path of shares words are cut and topics started, each target is regressed on the topic mixes of
those starting topics, coefficients drawn to the topics' directions as in the end (`refit`), and
documents not trained on are predicted. Shaping changes the words of topics and hardly what they
predict, so what is compared here is what will be compared in the end, for a small part of its cost.

Taken is the smallest share whose loss is not above that of the best by more than one standard error
of that *difference*, over documents: the rule of Breiman and others for trees, in pairs, since a
document that is hard for one share is hard for the other. So the documents compared on should be
many. Where few are set aside, the training documents are split into `N_FOLDS` folds, each predicted
from the others: then every document counts. Themes are those of all documents (they have seen no
target), penalties those already chosen on the documents set aside.

The share must have words enough to tell the topics apart. If topics share their top words
nevertheless in the end (`diversity`), the next larger share is tried.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from topicfocus.focused.data import FocusData, sample_rows
from topicfocus.focused.early_stopping import Found, StoppingRule, Watch
from topicfocus.focused.initialize import Start, start_topics
from topicfocus.focused.result import ShareTrial
from topicfocus.focused.screening import WordEvidence, gather_evidence
from topicfocus.focused.selection import Cut, automatic_cuts, cut_again
from topicfocus.focused.settings import FocusSettings
from topicfocus.focused.themes import Themes
from topicfocus.glm import mean_and_error
from topicfocus.inference.state import Problem
from topicfocus.kernels.threads import map_in_order

#: Words that a topic has to choose from, at least: its ten first words are then hardly another's.
#: But an eighth of the vocabulary is enough in any case.
WORDS_A_TOPIC = 20
#: Topics of an automatic share have at least this `diversity`, if any share of the path has it.
LEAST_DIVERSITY = 0.8
#: So many documents set aside are enough to compare shares on. Else folds of the others, so many,
#: of so many documents at most. Each is the work of a thread: two and four share them equally.
ENOUGH_ASIDE, N_FOLDS, MOST_COMPARED = 3_000, 4, 10_000
#: Documents that targets are regressed on the topic mixes of, at most: coefficients are few.
MOST_REGRESSED = 2_000
#: ρ that their coefficients are drawn by (`refit`), the best of them: as in the end, if coarser.
#: The more words, the more a regression as it is has to lose: compared by those, few words look
#: better than they will be.
DRAWN = (0.0, 0.03, 0.3)

#: Documents to train on and to predict, one fold after the other; none if there are too few.
Folds = Callable[[], Iterable[tuple[Problem, Problem]]]


@dataclass(frozen=True, kw_only=True)
class ChosenShare:
    """The share that was taken, and the larger ones of the path, in case topics turn out alike."""

    cuts: tuple[Cut, ...]
    starts: tuple[Start, ...]
    trials: tuple[ShareTrial, ...] = ()

    def candidate(self, larger: int) -> tuple[Cut, Start]:
        """Words and start of the one taken, or of the `larger`-th after it."""
        return self.cuts[larger], self.starts[larger]


def choose_share(
    data: FocusData,
    evidence: WordEvidence,
    themes: Themes | None,
    settings: FocusSettings,
    folds: Folds | None = None,
) -> ChosenShare:
    """The words to keep and the topics to start from."""
    cuts = automatic_cuts(data, evidence, settings)
    jobs = _threads(data)
    starts = tuple(
        map_in_order(
            lambda cut: start_topics(data, evidence, cut, themes, settings, None), cuts, jobs
        )
    )
    if len(cuts) == 1:
        return ChosenShare(cuts=cuts, starts=starts)
    parts = []
    if folds is not None and data.held_out.size < ENOUGH_ASIDE:
        penalties = [start.penalties for start in starts]
        parts = _by_folds(data, evidence, themes, settings, cuts, penalties, folds)
    if not parts:
        parts = [_compared(data, starts)]
    trials = _trials([cut.share for cut in cuts], parts)
    n_words = min(WORDS_A_TOPIC * settings.n_topics, int(np.sum(data.word_counts > 0)) // 8)
    taken = smallest_good(trials, [len(cut.kept) >= n_words for cut in cuts])
    return ChosenShare(cuts=cuts[taken:], starts=starts[taken:], trials=trials)


@dataclass(frozen=True, kw_only=True)
class _Compared:
    """Shares on some documents: losses (shares x targets of documents), what each explains."""

    losses: np.ndarray
    explained: np.ndarray
    weight: np.ndarray


def _compared(data: FocusData, starts: Sequence[Start]) -> _Compared:
    """How well the documents set aside are predicted by the starting topics of each share."""
    losses, explained = [], []
    some = sample_rows(data.train, MOST_REGRESSED)
    before = Found()  # mixes and regressions of the share before are near those of the next
    for start in starts:
        train = start.train if len(some) == data.train.n_docs else start.train.rows(some)
        watch = Watch(start.held_out, train, data.family, StoppingRule(), before, DRAWN)
        loss, good = watch.look(start.first_state)
        losses.append(loss)
        explained.append(good)
    weight = np.concatenate([column.weight for column in data.held_columns])
    return _Compared(losses=np.array(losses), explained=np.array(explained), weight=weight)


def _by_folds(
    data: FocusData,
    evidence: WordEvidence,
    themes: Themes | None,
    settings: FocusSettings,
    whole: Sequence[Cut],
    penalties: Sequence[tuple[float, ...]],
    folds: Folds,
) -> list[_Compared]:
    """The same for each fold; none where a fold has no word to keep.

    A fold is the work of one thread where counts are in memory: its passes are too small to share.
    """

    def compared(fold: tuple[Problem, Problem]) -> _Compared | None:
        part = FocusData.of(*fold, data.family, data.past)
        own = gather_evidence(part, evidence.penalties, settings.stable_share)
        try:
            cuts = [cut_again(part, own, settings, cut) for cut in whole]
        except ValueError:  # there is no word in this fold that says anything
            return None
        return _compared(
            part,
            [
                start_topics(part, own, cut, themes, settings, None, chosen)
                for cut, chosen in zip(cuts, penalties, strict=True)
            ],
        )

    found = list(map_in_order(compared, folds(), _threads(data)))
    good = [part for part in found if part is not None]
    return good if len(good) == len(found) else []


def _threads(data: FocusData) -> int | None:
    """How many shares or folds to look at at once: one where their documents are not in memory."""
    return data.train.n_jobs if sparse.issparse(data.train.corpus.counts) else 1


def _trials(shares: Sequence[float], parts: Sequence[_Compared]) -> tuple[ShareTrial, ...]:
    """What each share explains of all parts, and how well that is told from the best one's."""
    losses = np.concatenate([part.losses for part in parts], axis=1)
    weight = np.concatenate([part.weight for part in parts])
    size = [part.weight.sum() for part in parts]
    explained = np.average([part.explained for part in parts], axis=0, weights=size)
    least = losses[int(np.argmax(explained))]
    return tuple(
        ShareTrial(
            share=share, explained=float(good), error=mean_and_error(loss - least, weight)[1]
        )
        for share, good, loss in zip(shares, explained, losses, strict=True)
    )


def smallest_good(trials: Sequence[ShareTrial], enough: Sequence[bool]) -> int:
    """The first that explains as much as the best less one standard error of the difference.

    Those that have not words `enough` are passed over, if there are others.
    """
    best = max(trials, key=lambda trial: trial.explained)
    good = [i for i, t in enumerate(trials) if t.explained >= best.explained - t.error]
    return next((i for i in good if enough[i]), good[-1])


def diversity(topic_word: np.ndarray) -> float:
    """The share of distinct words among the top words of all topics; words x topics.

    Ten of each topic, or fewer where the words kept are not twice as many as all of these.
    """
    n_words, n_topics = topic_word.shape
    top = max(min(10, n_words // (2 * n_topics)), 1)
    words = np.argsort(-topic_word, axis=0, kind="stable")[:top]
    return len(np.unique(words)) / words.size
