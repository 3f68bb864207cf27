"""Count: choose the words to use, on the training set alone."""

from __future__ import annotations

import logging
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from topicfocus.config import CountOptions
from topicfocus.counts import Counts, take_columns
from topicfocus.inference.passes import Arrays, Task, run_pass, zeros
from topicfocus.text import ReadError, TokenCounter
from topicfocus.workflow.errors import setting
from topicfocus.workflow.read import Source

log = logging.getLogger(__name__)

#: The rule of Ren, Kunes and Doshi-Velez (2020).
MIN_DF, MAX_DF = 10, 0.5
#: Training documents from which on that rule is used unchanged.
ENOUGH_DOCUMENTS = 2000
#: With fewer words than this, rare words of a small file are kept too.
FEW_WORDS = 50


@dataclass(frozen=True)
class Counted:
    """Counts of the words in use, all documents, and the counter that makes them from texts.

    `kept` are the columns of the source that these words are.
    """

    counts: Counts
    words: np.ndarray
    counter: TokenCounter
    min_df: int | float
    max_df: int | float
    n_empty: int = 0
    kept: np.ndarray | None = None


def word_frequencies(counts: Any, documents: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """In how many of some documents each word is, and how often."""
    chosen = np.zeros((counts.shape[0], 1), dtype=bool)
    chosen[documents] = True
    n_words = counts.shape[1]
    task = Task(kernel=_frequencies, make=zeros(n_words, n_words), given=(chosen,), by_word=True)
    among, often = run_pass(counts, task, 1)
    return among.astype(np.int64), often


def _frequencies(rows: Any, shared: tuple, given: Arrays, changed: Arrays, total: Any) -> None:
    inside = np.repeat(given[0][:, 0], np.diff(rows.indptr))
    words, (among, often) = rows.indices[inside], total
    among += np.bincount(words, minlength=len(among))
    often += np.bincount(words, rows.data[inside], minlength=len(often))


def choose_words(source: Source, train: np.ndarray, options: CountOptions) -> Counted:
    """Keep the words that the options let through on the training documents."""
    counts = source.counts
    documents, frequency = word_frequencies(counts, train)
    n = len(train)
    max_df: int | float = MAX_DF if options.max_df is None else options.max_df
    min_df = options.min_df
    if not source.is_text:
        # The words of a count matrix have been chosen already.
        max_df = 1.0 if options.max_df is None else max_df
        min_df = 1 if min_df is None else min_df
    if min_df is None:
        min_df = _small_file(documents, n, max_df)
    least, most = (x if isinstance(x, int) else x * n for x in (min_df, max_df))
    kept = np.flatnonzero((documents > 0) & (documents >= least) & (documents <= most))
    if len(kept) < 2:
        raise ReadError(
            f"{source.path}: {len(kept)} words are in {least:g} to {most:g} of the {n} training "
            f"documents, too few for topics. Try a lower {setting('min_df')} or a higher "
            f"{setting('max_df')}."
        )
    if options.max_features is not None and len(kept) > options.max_features:
        # TokenCounter's expression on the same array, so that ties are broken alike.
        best = (-frequency[kept]).argsort()[: options.max_features]
        kept = kept[np.sort(best)]
    words = source.terms[kept]
    used = take_columns(counts, kept)
    counter = options.counter(
        stop_words=options.stops if source.is_text else None,
        min_df=min_df,
        max_df=max_df,
        max_features=options.max_features,
    )
    counter.vocabulary_ = {str(word): i for i, word in enumerate(words)}
    log.info(
        f"Words: {len(kept):,} of {len(source.terms):,}, {frequency[kept].sum():,.0f} tokens in "
        f"{n:,} training documents."
    )
    n_empty = int(np.sum(np.diff(used.indptr) == 0))
    if n_empty:
        log.info(
            f"{n_empty:,} of {used.shape[0]:,} documents have none of these words: the model "
            "predicts the average for them."
        )
    return Counted(used, words, counter, min_df, max_df, n_empty, kept)


def _small_file(documents: np.ndarray, n: int, max_df: Any) -> int:
    """The usual min_df, or less where it would leave a small file without words."""
    if n >= ENOUGH_DOCUMENTS:
        return MIN_DF
    min_df = max(2, math.ceil(MIN_DF * n / ENOUGH_DOCUMENTS))
    most = max_df if isinstance(max_df, int) else max_df * n
    if np.sum((documents >= min_df) & (documents <= most)) < FEW_WORDS:
        min_df = 1
    log.info(
        f"Only {n:,} training documents: words in {min_df} of them are kept, not in {MIN_DF} "
        f"({setting('min_df')})."
    )
    return min_df
