"""Split, and count: choose the documents that are held out, and the words to use."""

from __future__ import annotations

import logging
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from topicfocus.config import CountOptions, setting
from topicfocus.counts import Counts, take_columns
from topicfocus.estimators.documents import choose_groups
from topicfocus.passes import Arrays, Task, row_hashes, run_pass, zeros
from topicfocus.text import ReadError, Target, TokenCounter
from topicfocus.text.sequences import TokenizedTexts
from topicfocus.text.vocabulary import ENOUGH_DOCUMENTS, MAX_DF, MIN_DF, document_limits
from topicfocus.workflow.read import Source

log = logging.getLogger(__name__)

#: Training and test documents.
Parts = tuple[np.ndarray, np.ndarray]

#: Fewest documents with a target for which metrics are meaningful.
LEAST_DOCUMENTS = 10
#: With fewer held-out groups the metrics depend on which these are.
FEW_GROUPS = 5
#: Documents with fewer different words may be equal by chance.
LEAST_WORDS = 5
#: A larger proportion of held-out documents with a copy in the training set is a warning.
NOTABLE = 0.01


def split_source(source: Any, config: Any) -> Parts:
    """Training and test documents, with messages about groups and copies."""
    group = source.columns.group
    parts = split(source.target, config.test_share, config.seed, source.path, group)
    train, test = parts
    if group is not None and len(test):
        held, n = len(np.unique(group[test])), len(np.unique(group))
        log.info("Held out: %s documents, %s of %s groups.", f"{len(test):,}", held, n)
        if held < FEW_GROUPS:
            warnings.warn(
                f"only {held} of {n} groups {'is' if held == 1 else 'are'} held out: metrics may "
                "be quite different for others.",
                stacklevel=2,
            )
        neither = source.n_docs - len(train) - len(test)
        if neither:
            log.info(
                "%s documents without a target belong to held-out groups: not used.",
                f"{neither:,}",
            )
    return parts


def split(
    target: Target, share: float, seed: int, path: str, group: np.ndarray | None = None
) -> Parts:
    """Training and test documents, in their order; classes in their proportions.

    Documents without a target are in the training set, for their words. With groups, a group is
    held out as a whole; its documents without a target are then in neither part. With a `share` of
    0 no document is held out.
    """
    known = np.flatnonzero(np.isfinite(target.values))
    if len(known) < LEAST_DOCUMENTS:
        raise ReadError(
            f"{path}: {len(known)} documents have a target; at least {LEAST_DOCUMENTS} are needed."
        )
    rng = np.random.default_rng(seed)
    strata = [known]
    if target.classes is not None:
        codes = target.values[known]
        strata = [known[codes == code] for code in np.unique(codes)]
        _check_classes(len(strata), len(known), path)
    if not share:
        held, train = np.empty(0, dtype=np.intp), np.arange(len(target.values))
    elif group is None:
        held = _some_of_each(strata, share, rng)
        train = np.setdiff1d(np.arange(len(target.values)), held)
    else:
        out = choose_groups(group, strata, np.ones(len(group)), share, rng)[group]
        held, train = np.intersect1d(np.flatnonzero(out), known), np.flatnonzero(~out)
        _check_groups(group, held, target, path)
    values = target.values[train]
    if np.ptp(values[np.isfinite(values)]) == 0:
        raise ReadError(
            f"{path}: the target has one value only in the training part. Try another "
            f"{setting('seed')} or a smaller {setting('test_share')}."
        )
    return train, held


def _some_of_each(strata: list[np.ndarray], share: float, rng: np.random.Generator) -> np.ndarray:
    test = []
    for documents in strata:
        # At least one document of each class is trained on.
        n = min(max(round(share * len(documents)), 1), len(documents) - 1)
        test.append(rng.permutation(documents)[:n])
    return np.sort(np.concatenate(test))


def _check_groups(group: np.ndarray, held: np.ndarray, target: Target, path: str) -> None:
    if len(held):
        return
    n = len(np.unique(group))
    if n == 1:
        raise ReadError(
            f"{path}: all documents are of one group, so none can be held out. Name another "
            f"column, or leave {setting('group')} out."
        )
    what = "class" if target.classes is not None else "target"
    raise ReadError(
        f"{path}: none of the {n} groups can be held out without the last documents of a {what}. "
        f"Name another column, or leave {setting('group')} out."
    )


def _check_classes(n_classes: int, n_docs: int, path: str) -> None:
    if 2 * n_classes > n_docs:
        raise ReadError(
            f"{path}: the target has {n_classes:,} classes for {n_docs:,} documents, most of "
            "them with one document: nothing can be learned about such a class. Name another "
            f"column, or, if these are numbers, say {setting('kind', 'real')}."
        )


def report_copies(source: Any, counted: Counted, parts: Parts) -> None:
    """Report held-out documents with the same counts as a training document.

    Near-duplicates count as copies if they differ only in words that are not in the vocabulary.
    """
    train, test = parts
    counts = counted.counts
    if isinstance(source.counts, TokenizedTexts):
        # A word that is inserted splits phrases: only single words are compared.
        single = np.flatnonzero([" " not in word for word in counted.words])
        if 0 < len(single) < len(counted.words):
            counts = take_columns(counts, single)
    pairs = copies(counts, train, test)
    if not pairs:
        return
    i, j = pairs[0]
    said = (
        f"{len(pairs):,} of {len(test):,} held-out documents also "
        f"{'appear' if len(pairs) > 1 else 'appears'} in the training set, such as "
        f"{source.where(j)} and {source.where(i)}"
    )
    if len(pairs) < NOTABLE * len(test):
        log.info("%s.", said)
        return
    warnings.warn(
        f"{said}: metrics are too good. Remove copies, or name a column that keeps them together, "
        f"{setting('group')}.",
        stacklevel=2,
    )


def copies(counts: Any, train: np.ndarray, test: np.ndarray) -> list[tuple[int, int]]:
    """Held-out documents with the same counts as a training document, and the first of these."""
    long_enough = np.diff(counts.indptr) >= LEAST_WORDS
    mine, held = train[long_enough[train]], test[long_enough[test]]
    if not len(mine) or not len(held):
        return []
    first, second = row_hashes(counts)
    mine = mine[np.argsort(first[mine], kind="stable")]  # the first of several copies comes first
    place = np.minimum(np.searchsorted(first[mine], first[held]), len(mine) - 1)
    other = mine[place]
    same = (first[other] == first[held]) & (second[other] == second[held])
    return list(zip(held[same].tolist(), other[same].tolist(), strict=True))


# ---- words ---------------------------------------------------------------------------------------


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
    source: Source,
    train: np.ndarray,
    options: CountOptions,
    y: Any = None,
    all_terms: bool = False,
) -> Counted:
    """Choose terms on the training documents, also by their targets; count all documents.

    With `all_terms` the counts have all words and pairs of words as well, if they are in memory.
    """
    if not isinstance(source.counts, TokenizedTexts):
        return _choose_columns(source, train, options)
    all_terms = all_terms and source.folder is None
    counter = options.counter(min_df=options.min_df, max_df=options.max_df, remainder=all_terms)
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
    least, _ = document_limits(texts, counter.term_rule)
    if len(train) < ENOUGH_DOCUMENTS and options.min_df is None:
        log.info(
            f"Words in at least {least:g} of the {len(train):,} training documents are used. With "
            f"{ENOUGH_DOCUMENTS:,} documents or more it is {MIN_DF} ({setting('min_df')})."
        )
    what, of_which = "Codes", ""
    if options.separator is None:
        what, of_which = "Terms", f", of which {sum(' ' in word for word in words):,} are phrases"
    log.info(f"{what}: {len(words):,}{of_which}, in {len(train):,} training documents.")
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
    # By default all words: those of a count matrix have been chosen already.
    min_df = 1 if options.min_df is None else options.min_df
    max_df = 1.0 if options.max_df is None else options.max_df
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
    counter.stop_words = None
    counter.vocabulary_ = {str(word): i for i, word in enumerate(words)}
    log.info(
        f"Words: {len(kept):,} of {len(source.terms):,}, {frequency[kept].sum():,.0f} tokens in "
        f"{n:,} training documents."
    )
    return Counted(used, words, counter, min_df, max_df, _n_empty(used), kept)
