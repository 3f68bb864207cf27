"""Count: choose the words to use, on the training set alone."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any

import numpy as np

from topicfocus.config import CountOptions
from topicfocus.counts import Counts, take_columns
from topicfocus.inference.passes import Arrays, Task, run_pass, zeros
from topicfocus.text import ReadError, TokenCounter
from topicfocus.text.counting import TokenizedTexts
from topicfocus.text.vocabulary import ENOUGH_DOCUMENTS, MAX_DF, MIN_DF, document_limits
from topicfocus.workflow.errors import setting
from topicfocus.workflow.read import Source

log = logging.getLogger(__name__)


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


def choose_words(
    source: Source, train: np.ndarray, options: CountOptions, y: Any = None
) -> Counted:
    """Choose terms on the training documents, also by their targets; count all documents."""
    if not isinstance(source.counts, TokenizedTexts):
        return _choose_columns(source, train, options)
    counter = options.counter(min_df=options.min_df, max_df=options.max_df)
    counter.max_features = options.max_features
    texts = source.counts.of(train)
    try:
        counter.choose(texts, None if y is None else np.asarray(y)[train])
    except ValueError as error:
        raise ReadError(f"{source.path}: {error}") from error
    words = counter.get_feature_names_out()
    if len(words) < 2:
        raise ReadError(
            f"{source.path}: 1 term is left, too few for topics. Try a lower {setting('min_df')} "
            f"or a higher {setting('max_df')}."
        )
    used = counter.count(source.counts, source.folder)
    least, _ = document_limits(texts, counter.term_rule())
    if len(train) < ENOUGH_DOCUMENTS and options.min_df is None:
        log.info(
            f"Only {len(train):,} training documents: words in {least:g} of them are kept, not in "
            f"{MIN_DF} ({setting('min_df')})."
        )
    n_phrases = sum(" " in word for word in words)
    log.info(
        f"Terms: {len(words):,}, of which {n_phrases:,} are phrases, in {len(train):,} training "
        "documents."
    )
    min_df = int(least) if options.min_df is None else options.min_df
    max_df = MAX_DF if options.max_df is None else options.max_df
    return Counted(used, words, counter, min_df, max_df, _n_empty(used))


def _n_empty(used: Any) -> int:
    n_empty = int(np.sum(np.diff(used.indptr) == 0))
    if n_empty:
        log.info(
            f"{n_empty:,} of {used.shape[0]:,} documents have none of these words: the model "
            "predicts the average for them."
        )
    return n_empty


def _choose_columns(source: Source, train: np.ndarray, options: CountOptions) -> Counted:
    """Keep the words of a count matrix that the options let through on the training documents."""
    assert source.terms is not None
    counts = source.counts
    documents, frequency = word_frequencies(counts, train)
    n = len(train)
    # The words of a count matrix have been chosen already; those of a cluster have not.
    max_df: Any = options.max_df
    if max_df is None:
        max_df = MAX_DF if source.is_text else 1.0
    min_df: Any = options.min_df
    if min_df is None:
        min_df = min(MIN_DF, max(1, n // 200)) if source.is_text else 1
    least, most = (x if isinstance(x, int) else x * n for x in (min_df, max_df))
    kept = np.flatnonzero((documents > 0) & (documents >= least) & (documents <= most))
    if len(kept) < 2:
        raise ReadError(
            f"{source.path}: {len(kept)} words are in {least:g} to {most:g} of the {n} training "
            f"documents, too few for topics. Try a lower {setting('min_df')} or a higher "
            f"{setting('max_df')}."
        )
    if options.max_features is not None and len(kept) > options.max_features:
        best = np.argsort(-frequency[kept], kind="stable")[: options.max_features]
        kept = kept[np.sort(best)]
    words = source.terms[kept]
    used = take_columns(counts, kept)
    counter = options.counter(min_df=min_df, max_df=max_df)
    counter.max_features = options.max_features
    if not source.is_text:
        counter.stop_words = None
    counter.vocabulary_ = {str(word): i for i, word in enumerate(words)}
    log.info(
        f"Words: {len(kept):,} of {len(source.terms):,}, {frequency[kept].sum():,.0f} tokens in "
        f"{n:,} training documents."
    )
    return Counted(used, words, counter, min_df, max_df, _n_empty(used), kept)
