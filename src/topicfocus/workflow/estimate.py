"""Before long work: whether it fits into memory, and roughly how long it takes.

With N documents of n different words, V words, K topics and C classes (1 for a number), a fit holds
some 24 arrays of K·V (what L-BFGS remembers), 6 of N·K, and for each thread 4 of K². A step goes
over every word of every document for each topic and class, N·n·K·C times. The number of steps is a
guess, so the time is one of its order only: it is said where it is minutes.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

from topicfocus.corpus.scratch import least_memory, memory_here
from topicfocus.estimators.progress import duration
from topicfocus.text import ReadError
from topicfocus.workflow.options import ModelOptions
from topicfocus.workflow.remarks import Remarks
from topicfocus.workflow.wording import setting

#: Of a word, a topic and a class in a step; steps of a fit. Measured on two busy cores with 2,000
#: and 6,000 synthetic reviews and 5 to 60 topics; small fits take longer than this says.
_NANOSECONDS, _STEPS = 60.0, 60
#: Arrays of topics x words that L-BFGS and the statistics need.
_TOPIC_ARRAYS = 24
#: Seconds from which on the time is worth a remark.
_LONG = 60.0


@dataclass(frozen=True)
class Estimate:
    """Bytes and seconds of a fit."""

    memory: float
    seconds: float


def estimate(
    n_docs: int, nnz: int, n_words: int, n_topics: int, n_classes: int, threads: int
) -> Estimate:
    """What a fit needs, by its sizes."""
    numbers = (
        _TOPIC_ARRAYS * n_topics * n_words
        + 6 * n_docs * n_topics
        + 4 * threads * n_topics**2
        + 4 * nnz
    )
    a_step = nnz * n_topics * (n_classes if n_classes > 2 else 1)
    return Estimate(8.0 * numbers, a_step * _STEPS * _NANOSECONDS * 1e-9 / threads)


def check_size(
    n_docs: int,
    n_words: int,
    nnz: int,
    n_classes: int,
    options: ModelOptions,
    remarks: Remarks,
) -> None:
    """An error if a fit cannot be meant or does not fit; a remark if it takes long."""
    n_topics = int(options.topics)
    _check_topics(n_topics, n_docs)
    need = estimate(n_docs, nnz, n_words, n_topics, n_classes, options.jobs or os.cpu_count() or 1)
    room = memory_here()
    if room is not None and need.memory > room:
        raise ReadError(
            f"{n_topics:,} topics of {n_words:,} words and {n_docs:,} documents take about "
            f"{need.memory / 2**30:,.1f} GiB of memory; there are {room / 2**30:,.1f}. Ask for "
            f"fewer topics ({setting('topics')}) or words ({setting('max_features')})."
        )
    if room is not None and need.memory > room / 2:
        remarks.warn(f"the fit takes about {need.memory / 2**30:,.1f} GiB of memory.")
    _say_time(need.seconds, remarks)


def check_parts(
    n_docs: int,
    n_words: int,
    nnz: int,
    n_classes: int,
    options: ModelOptions,
    remarks: Remarks,
    *,
    limit: int | None,
) -> None:
    """The same of counts in parts, for which a `limit` of memory was set, or None."""
    n_topics = int(options.topics)
    _check_topics(n_topics, n_docs)
    threads = options.jobs or os.cpu_count() or 1
    words = 8 * _TOPIC_ARRAYS * n_topics * n_words
    least = least_memory(n_docs) + words
    if limit is not None and least > limit:
        raise ReadError(
            f"{n_topics:,} topics of {n_words:,} words take about {words / 1e6:,.0f} MB of memory, "
            f"with {n_docs:,} documents {least / 1e9:,.2f} GB in all; {setting('memory')} allows "
            f"{limit / 1e9:,.2f}. Allow more, or ask for fewer topics ({setting('topics')}) or "
            f"words ({setting('max_features')})."
        )
    need = estimate(n_docs, nnz, n_words, n_topics, n_classes, threads)
    _say_time(need.seconds, remarks)


def _check_topics(n_topics: int, n_docs: int) -> None:
    if n_topics > n_docs:
        raise ReadError(
            f"{n_topics:,} topics are more than the {n_docs:,} training documents. Ask for fewer: "
            f"{setting('topics')}."
        )


def _say_time(seconds: float, remarks: Remarks) -> None:
    if seconds > _LONG:
        remarks.say(f"This may take about {duration(seconds)}, give or take a factor of 3.")
