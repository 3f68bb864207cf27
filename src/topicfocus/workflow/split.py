"""Split, and count: choose the documents that are held out, and the words to use."""

from __future__ import annotations

import logging
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from topicfocus.config import FitConfig, TuneConfig, setting
from topicfocus.counts import Counts, Rows, take_columns
from topicfocus.estimators.documents import choose_groups
from topicfocus.passes import Arrays, Task, row_hashes, run_pass, transposed_dot, zeros
from topicfocus.text import ReadError, Target
from topicfocus.text.sequences import TokenizedTexts
from topicfocus.text.vocabulary import ENOUGH_DOCUMENTS, MAX_DF, MIN_DF, document_limits
from topicfocus.workflow.read import Documents

log = logging.getLogger(__name__)

#: Training and test documents.
Parts = tuple[np.ndarray, np.ndarray]
Config = FitConfig | TuneConfig

#: Fewest documents with a target for which metrics are meaningful.
LEAST_DOCUMENTS = 10
#: With fewer held-out groups the metrics depend on which these are.
FEW_GROUPS = 5
#: Documents with fewer different words may be equal by chance.
LEAST_WORDS = 5
#: A larger proportion of held-out documents with a copy in the training set is a warning.
NOTABLE = 0.01


def split_documents(documents: Documents, config: Config) -> Parts:
    """Training and test documents, with messages about groups."""
    group = documents.columns.group
    train, test = split(documents.target, config.test_share, config.seed, documents.path, group)
    if group is not None and len(test):
        held, n = len(np.unique(group[test])), len(np.unique(group))
        log.info(
            "Held out: %s documents, %s of %s groups.", f"{len(test):,}", f"{held:,}", f"{n:,}"
        )
        if held < FEW_GROUPS:
            warnings.warn(
                f"only {held} of {n} groups {'is' if held == 1 else 'are'} held out: metrics may "
                "be quite different for others.",
                stacklevel=2,
            )
        neither = documents.n_docs - len(train) - len(test)
        if neither:
            log.info(
                "%s documents without a target belong to held-out groups: not used.",
                f"{neither:,}",
            )
    return train, test


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


def report_copies(documents: Documents, parts: Parts) -> None:
    """Report held-out documents with the same counts as a training document.

    Near-duplicates count as copies if they differ only in words that are not in the vocabulary.
    """
    train, test = parts
    counts = documents.counts
    if documents.is_text:
        # A word that is inserted splits phrases: only single words are compared.
        single = np.flatnonzero([" " not in word for word in documents.words])
        if 0 < len(single) < len(documents.words):
            counts = take_columns(counts, single)
    pairs = copies(counts, train, test)
    if not pairs:
        return
    i, j = pairs[0]
    said = (
        f"{len(pairs):,} of {len(test):,} held-out documents also "
        f"{'appear' if len(pairs) > 1 else 'appears'} in the training set, such as "
        f"{documents.where(j)} and {documents.where(i)}"
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


def word_frequencies(counts: Any, documents: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """In how many of some documents each word is, and how often."""
    chosen = np.zeros(counts.shape[0])
    chosen[documents] = 1.0
    among = sums_by_word(counts, chosen[:, None])[:, 0]
    return among.astype(np.int64), transposed_dot(counts, chosen, 1)


def sums_by_word(counts: Counts, values: np.ndarray) -> np.ndarray:
    """Σ over the documents with each word of their values, (words, values)."""
    task = Task(
        kernel=_add_sums,
        make=zeros((counts.shape[1], values.shape[1])),
        given=(values.astype(np.float64),),
        by_word=True,
    )
    (sums,) = run_pass(counts, task, 1)
    return sums


def _add_sums(rows: Rows, shared: tuple, given: Arrays, changed: Arrays, total: Any) -> None:
    (sums,) = total
    ones = np.ones(len(rows.indices))
    has = sparse.csr_array((ones, rows.indices, rows.indptr), shape=(rows.n_docs, len(sums)))
    sums += has.T @ given[0]


def count_words(
    documents: Documents, train: np.ndarray, config: Config
) -> tuple[Documents, Config]:
    """Choose terms on the training documents, also by their targets; count all documents.

    The settings get the frequencies that were used. With a comparison or a remainder, the counts
    have all words and pairs of words as well, if they are in memory.
    """
    if not isinstance(documents.counts, TokenizedTexts):
        return _choose_columns(documents, train, config)
    all_terms = (config.baseline or config.has_remainder) and documents.folder is None
    counter = config.counter(min_df=config.min_df, max_df=config.max_df, remainder=all_terms)
    counter.max_features = config.max_features
    texts = documents.counts.of(train)
    try:
        counter.choose(texts, documents.y[train])
    except ValueError as error:
        raise ReadError(f"{documents.path}: {error}") from error
    words = counter.get_feature_names_out()
    if len(words) < 2:
        raise ReadError(
            f"{documents.path}: 1 term is left, too few for topics. Try a lower "
            f"{setting('min_df')} or a higher {setting('max_df')}."
        )
    used = counter.count(documents.counts, documents.folder)
    least, _ = document_limits(texts, counter.term_rule)
    if least < MIN_DF and config.min_df is None:
        log.info(
            f"Words in at least {least:g} of the {len(train):,} training documents are used. With "
            f"{ENOUGH_DOCUMENTS:,} documents or more it is {MIN_DF} ({setting('min_df')})."
        )
    what, of_which = "Codes", ""
    if config.separator is None:
        what, of_which = "Terms", f", of which {sum(' ' in word for word in words):,} are phrases"
    log.info(f"{what}: {len(words):,}{of_which}, in {len(train):,} training documents.")
    config = replace(
        config,
        min_df=int(least) if config.min_df is None else config.min_df,
        max_df=MAX_DF if config.max_df is None else config.max_df,
    )
    _log_empty(used)
    return replace(documents, counts=used, words=words, counter=counter), config


def _log_empty(counts: Any) -> None:
    empty = n_empty(counts)
    if empty:
        log.info(
            f"{empty:,} of {counts.shape[0]:,} documents have none of these words: the model "
            "predicts the average for them."
        )


def n_empty(counts: Any) -> int:
    """Number of documents without any of the words."""
    return int(np.sum(np.diff(counts.indptr) == 0))


def _choose_columns(
    documents: Documents, train: np.ndarray, config: Config
) -> tuple[Documents, Config]:
    """Keep the words of a count matrix that the options let through on the training documents."""
    counts = documents.counts
    among, frequency = word_frequencies(counts, train)
    n = len(train)
    # By default all words: those of a count matrix have been chosen already.
    min_df = 1 if config.min_df is None else config.min_df
    max_df = 1.0 if config.max_df is None else config.max_df
    least, most = (x if isinstance(x, int) else x * n for x in (min_df, max_df))
    kept = np.flatnonzero((among > 0) & (among >= least) & (among <= most))
    if len(kept) < 2:
        raise ReadError(
            f"{documents.path}: {len(kept)} words are in {least:g} to {most:g} of the {n} training "
            f"documents, too few for topics. Try a lower {setting('min_df')} or a higher "
            f"{setting('max_df')}."
        )
    if config.max_features is not None and len(kept) > config.max_features:
        best = np.argsort(-frequency[kept], kind="stable")[: config.max_features]
        kept = kept[np.sort(best)]
    words = documents.words[kept]
    counter = config.counter(min_df=min_df, max_df=max_df)
    counter.max_features = config.max_features
    counter.stop_words = None
    counter.vocabulary_ = {str(word): i for i, word in enumerate(words)}
    log.info(
        f"Words: {len(kept):,} of {len(documents.words):,}, {frequency[kept].sum():,.0f} tokens in "
        f"{n:,} training documents."
    )
    used = take_columns(counts, kept)
    _log_empty(used)
    config = replace(config, min_df=min_df, max_df=max_df)
    return replace(documents, counts=used, words=words, counter=counter), config
