"""Giveaway words: terms that identify a class, a group of documents or a value of the target."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from topicfocus.counts import Counts
from topicfocus.workflow.split import sums_by_word

#: A giveaway word is in at least this proportion of the documents, and in 100 of them: of a few
#: documents with a word, all may be of one kind by chance.
LEAST_SHARE, LEAST_DOCUMENTS = 0.02, 100
#: Proportion of a word's documents that belong to one class or group, at least.
PURITY = 0.98
#: How many times larger the odds of the class are in documents with the word than in all, at least.
ODDS_RATIO = 50.0
#: Proportion of a group's documents that have the word, at least.
COVERAGE = 0.25
#: Standard deviation of a number in documents with the word, at most, and distance of their mean
#: from that of all documents, at least, both in standard deviations of all documents.
SPREAD, DISTANCE = 0.2, 1.0
#: Groups that are compared, the largest ones: a smaller one has too few documents.
_MOST_GROUPS = int(1 / (LEAST_SHARE * PURITY))


@dataclass(frozen=True)
class Giveaway:
    """A term that occurs almost only in documents of one kind.

    Attributes
    ----------
    word : str
    documents : int
        Documents with the term.
    share : float
        Proportion of these that are of that kind; 1 for a value of a number.
    where : str
        The kind, for messages: "of class 'db'", "of one group" or "with a target near 4".
    """

    word: str
    documents: int
    share: float
    where: str


def find_giveaways(
    counts: Counts,
    words: np.ndarray,
    target: np.ndarray,
    classes: tuple[str, ...] | None = None,
    groups: np.ndarray | None = None,
) -> list[Giveaway]:
    """Terms in many documents of which almost all have one class, group or value.

    Such a term often comes from how the documents were made and not from what they say: a
    signature, a template, "4/5" in a review. The most frequent terms come first.

    Parameters
    ----------
    counts : csr matrix or ChunkedCounts, (documents, words)
    words : array of str
    target : array of float
        Numbers, or with `classes` the index of the class; NaN is missing.
    classes : tuple of str, optional
    groups : array of int, optional
        The group of each document.

    Returns
    -------
    list of Giveaway
    """
    found: dict[str, Giveaway] = {}
    if groups is not None:
        numbers, place = np.unique(groups, return_inverse=True)
        for one in _of_kinds(counts, words, place, ["of one group"] * len(numbers), COVERAGE):
            found[one.word] = one
    known = np.isfinite(target)
    if classes is not None:
        kind = np.where(known, target, -1).astype(np.intp)
        of_target = _of_kinds(counts, words, kind, [f"of class {name!r}" for name in classes], 0.0)
    else:
        of_target = _of_values(counts, words, np.where(known, target, 0.0), known)
    for one in of_target:
        found[one.word] = one
    return sorted(found.values(), key=lambda one: (-one.documents, one.word))


def _of_kinds(
    counts: Counts, words: np.ndarray, kind: np.ndarray, names: list[str], coverage: float
) -> list[Giveaway]:
    """Words of one class or group; `kind` is the index of each document's name, or -1."""
    sizes = np.bincount(kind[kind >= 0], minlength=len(names))
    large = np.sort(np.argsort(-sizes, kind="stable")[:_MOST_GROUPS])
    if np.count_nonzero(sizes) < 2:
        return []
    indicators = (kind[:, None] == large).astype(np.float64)
    known = (kind >= 0).astype(np.float64)[:, None]
    sums = sums_by_word(counts, np.hstack([known, indicators]))
    n, inside = sums[:, 0], sums[:, 1:]
    best = np.argmax(inside, axis=1)
    most, size = inside[np.arange(len(n)), best], sizes[large][best]
    total = sizes.sum()
    # Half a document more on both sides, so that odds are finite.
    odds = (most + 0.5) / (n - most + 0.5)
    usual = (size + 0.5) / (total - size + 0.5)
    chosen = _frequent(n, int(total)) & (most >= PURITY * n)
    chosen &= (odds >= ODDS_RATIO * usual) & (most >= coverage * size)
    return [
        Giveaway(str(words[i]), int(n[i]), float(most[i] / n[i]), names[large[best[i]]])
        for i in np.flatnonzero(chosen)
    ]


def _of_values(
    counts: Counts, words: np.ndarray, y: np.ndarray, known: np.ndarray
) -> list[Giveaway]:
    """Words whose documents have nearly the same number, far from the average."""
    if not known.any() or not y[known].std() > 0:
        return []
    centre, scale = y[known].mean(), y[known].std()
    z = np.where(known, (y - centre) / scale, 0.0)
    n, first, second = sums_by_word(counts, np.column_stack([known, z, z * z])).T
    mean = first / np.maximum(n, 1)
    variance = second / np.maximum(n, 1) - mean**2
    chosen = _frequent(n, int(known.sum())) & (variance <= SPREAD**2) & (np.abs(mean) >= DISTANCE)
    return [
        Giveaway(str(words[i]), int(n[i]), 1.0, f"with a target near {centre + scale * m:.3g}")
        for i, m in zip(np.flatnonzero(chosen), mean[chosen], strict=True)
    ]


def _frequent(n: np.ndarray, n_docs: int) -> np.ndarray:
    return n >= max(LEAST_DOCUMENTS, LEAST_SHARE * n_docs)


def giveaway_messages(found: list[Giveaway], remedy: str, most: int = 5) -> list[str]:
    """A warning that names the terms, if there are any; `remedy` says how to drop them."""
    if not found:
        return []
    listed = [f"{g.word!r} ({g.documents:,} documents, {g.share:.0%} {g.where})" for g in found]
    more = f" and {len(found) - most} more" if len(found) > most else ""
    are = "1 term occurs" if len(found) == 1 else f"{len(found)} terms occur"
    return [
        f"{are} almost only in documents of one kind and may give the target away: "
        f"{', '.join(listed[:most])}{more}. To leave them out, {remedy}."
    ]
