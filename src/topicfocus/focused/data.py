"""The training and validation documents of a focused fit."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from topicfocus.corpus import Corpus
from topicfocus.counts import Counts
from topicfocus.focused.word_statistics import Past
from topicfocus.glm import Column, target_columns
from topicfocus.model import Problem, joined
from topicfocus.passes import dot

#: First draw of `drawn_by_content` for halves. Samples use draw 0, subjects those from 1 on.
_FIRST_HALF = 1_000_000


def root_counts(corpus: Corpus) -> Corpus:
    """√counts, since the second occurrence of a word in a document adds less information."""
    return Corpus(corpus.counts.sqrt(), corpus.vocabulary)


def drawn_by_content(problem: Problem, draw: int) -> np.ndarray:
    """A pseudorandom number between 0 and 1 for each document, a function of its words.

    Every draw has its own seed, so that an additional column of zeros changes nothing.
    """
    key = np.random.default_rng((0, draw)).standard_normal(problem.corpus.n_words)
    content = dot(problem.corpus.counts, key, problem.n_jobs)
    return np.clip(np.modf(1e3 * np.abs(content))[0], 1e-12, 1.0)


def halves_by_content(problem: Problem, n_pairs: int) -> np.ndarray:
    """Whether each document is in the first half of each pair, documents x pairs.

    A function of their words, so that copies are in the same half and the order of documents does
    not matter.
    """
    draws = range(_FIRST_HALF, _FIRST_HALF + n_pairs)
    return np.column_stack([drawn_by_content(problem, draw) < 0.5 for draw in draws])


def sample_rows(problem: Problem, most: int) -> np.ndarray:
    """Rows of about `most` documents, or all. A smaller sample is a subset of a larger one.

    A document of weight two counts as two, but at least about a tenth of `most` rows are drawn.
    """
    if problem.size <= most:
        return np.arange(problem.n_docs)
    rate = max(most / problem.size, 0.1 * most / problem.n_docs)
    return np.flatnonzero(drawn_by_content(problem, 0) < rate)


def sampled(problem: Problem, most: int) -> Problem:
    """About `most` of the documents, or all."""
    return problem if problem.size <= most else problem.rows(sample_rows(problem, most))


@dataclass(frozen=True, kw_only=True)
class FocusData:
    """Training and validation documents, the family of their targets, and √counts.

    `past` has sums over training documents of a stream that are no longer in memory.
    """

    train: Problem
    held_out: Problem
    family: Any
    words: Counts
    held_words: Counts
    past: Past | None = None

    @staticmethod
    def of(train: Problem, held_out: Problem, family: Any, past: Past | None = None) -> FocusData:
        return FocusData(
            train=train,
            held_out=held_out,
            family=family,
            words=root_counts(train.corpus).counts,
            held_words=root_counts(held_out.corpus).counts,
            past=past,
        )

    def joined(self) -> FocusData:
        """All documents for training; the validation documents stay the same."""
        everyone = joined(self.train, self.held_out)
        return FocusData.of(everyone, self.held_out, self.family, self.past)

    @cached_property
    def columns(self) -> list[Column]:
        """The targets of the training documents, one by one."""
        return target_columns(self.train, self.family)

    @cached_property
    def held_columns(self) -> list[Column]:
        return target_columns(self.held_out, self.family)

    @property
    def n_jobs(self) -> int | None:
        return self.train.n_jobs

    @property
    def word_counts(self) -> np.ndarray:
        """n_v of all training documents, including past ones."""
        mine = self.train.word_counts
        return mine if self.past is None else mine + self.past.word_count

    @property
    def size(self) -> float:
        return self.train.size + (0.0 if self.past is None else self.past.size)
