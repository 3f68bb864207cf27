"""Share: how much of the documents to keep, by what is set aside, before any topic is shaped.

The more words are kept, the more they explain, to a point; the fewer, the clearer the topics. Along
a path of shares words are cut and topics started, each target is regressed on the topic mixes of
those starting topics, and the documents set aside are predicted. Shaping changes the words of
topics and hardly what they predict, so what is compared here is what will be compared in the end,
for a small part of its cost.

Taken is the smallest share whose loss is not above that of the best by more than one standard error
of the latter: the rule of Breiman and others for trees. The standard error of the *difference*, in
pairs of documents, is smaller, and predicts a little better for more words; but then a fifth of
the words kept in made reviews were noise, where this rule keeps none, and other documents set
aside gave other shares. The share must have words enough to tell the topics apart. If topics share
their top words nevertheless in the end (`diversity`), the next larger share is tried.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from topicfocus.solvers.focus.cut import Cut, cut_vocabulary, possible_shares
from topicfocus.solvers.focus.data import FocusData
from topicfocus.solvers.focus.evidence import WordEvidence
from topicfocus.solvers.focus.result import ShareTrial
from topicfocus.solvers.focus.settings import FocusSettings
from topicfocus.solvers.focus.start import Start, start_topics
from topicfocus.solvers.focus.stopping import StoppingRule, Watch, mean_and_error
from topicfocus.solvers.focus.themes import Themes

#: Words that a topic has to choose from, at least: its ten first words are then hardly another's.
#: But an eighth of the vocabulary is enough in any case.
WORDS_A_TOPIC = 20
#: Topics of an automatic share have at least this `diversity`, if any share of the path has it.
LEAST_DIVERSITY = 0.8


@dataclass(frozen=True, kw_only=True)
class ChosenShare:
    """The share that was taken: its words, its start, and all that were tried.

    `larger`: words and starts of the larger shares of the path, in case topics turn out alike.
    """

    cut: Cut
    start: Start
    trials: tuple[ShareTrial, ...] = ()
    larger: tuple[tuple[Cut, Start], ...] = ()

    def candidates(self) -> tuple[tuple[Cut, Start], ...]:
        """The one taken, and what to try after it."""
        return (self.cut, self.start), *self.larger


def choose_share(
    data: FocusData, evidence: WordEvidence, themes: Themes | None, settings: FocusSettings
) -> ChosenShare:
    """The words to keep and the topics to start from."""
    tried: list[tuple[Cut, Start]] = []
    losses, explained = [], []
    shares = possible_shares(data, settings) if settings.select else (1.0,)
    for share in shares:
        cut = cut_vocabulary(data, evidence, settings, share)
        start = start_topics(data, evidence, cut, themes, settings, None)
        if len(shares) == 1:
            return ChosenShare(cut=cut, start=start)
        watch = Watch(start.held_out, start.train, data.family, StoppingRule())
        loss, good = watch.look(start.first_state)
        tried.append((cut, start))
        losses.append(loss)
        explained.append(good)
    weight = np.concatenate([column.weight for column in data.held_columns])
    trials = tuple(
        ShareTrial(share=cut.share, explained=good, error=mean_and_error(loss, weight)[1])
        for (cut, _), loss, good in zip(tried, losses, explained, strict=True)
    )
    n_words = min(WORDS_A_TOPIC * settings.n_topics, int(np.sum(data.word_counts > 0)) // 8)
    enough = [len(cut.kept) >= n_words for cut, _ in tried]
    taken = smallest_good(trials, enough)
    cut, start = tried[taken]
    return ChosenShare(cut=cut, start=start, trials=trials, larger=tuple(tried[taken + 1 :]))


def smallest_good(trials: Sequence[ShareTrial], enough: Sequence[bool]) -> int:
    """The first that explains as much as the best less one standard error of that.

    Those that have not words `enough` are passed over, if there are others.
    """
    best = max(trials, key=lambda trial: trial.explained)
    good = [i for i, t in enumerate(trials) if t.explained >= best.explained - best.error]
    return next((i for i in good if enough[i]), good[-1])


def diversity(topic_word: np.ndarray) -> float:
    """The share of distinct words among the top words of all topics; words x topics.

    Ten of each topic, or fewer where the words kept are not twice as many as all of these.
    """
    n_words, n_topics = topic_word.shape
    top = max(min(10, n_words // (2 * n_topics)), 1)
    words = np.argsort(-topic_word, axis=0, kind="stable")[:top]
    return len(np.unique(words)) / words.size
