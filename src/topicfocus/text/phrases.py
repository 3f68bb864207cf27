"""Choose phrases: collocations, and runs of words that predict a target beyond their words.

A phrase has two or three words, neither begins nor ends with a function word, and is in enough
documents. It is chosen if

- its words occur together much more often than by chance (normalised pointwise mutual
  information), or
- documents that contain it have another target than a regression on single words expects. The
  regression is cross-fitted, the test is a z statistic of its residuals. This is a screen, and a
  liberal one: it passes p values up to 0.05 and, where there are more, discoveries at a false
  discovery rate of one half (Benjamini and Hochberg). Models select once more.

A phrase that contains a chosen one must differ from it in its residuals. The input are sequences of
word ids (`text.sequences`), which are read part by part.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.stats import norm

from topicfocus.kernels import grams as kernels
from topicfocus.kernels.grams import Frequencies, Grams, make_grams
from topicfocus.kernels.tokens import Sequences
from topicfocus.text.stop_words import Roles

#: ``each(function)``: its value for each part and the number of its first document, in order.
Pass = Callable[[Callable[[Sequences, int], Any]], Iterable[Any]]

#: Words of the longest phrase.
LONGEST = 3
#: False discovery rate of phrases that are chosen by the target. It is liberal, because models
#: select among words and phrases once more.
FALSE_DISCOVERIES = 0.5
#: Normalised pointwise mutual information of collocations of two and three words.
LEAST_NPMI = {2: 0.4, 3: 0.5}
#: Phrases with a p value up to this are chosen, too: small corpora have too few discoveries.
SMALL_P = 0.05
#: A phrase must differ from a chosen phrase inside it by this number of standard errors.
LEAST_DIFFERENCE = 1.0
#: A phrase is dropped if this proportion of its documents have one longer phrase that contains it.
FRAGMENT = 0.7
#: Folds of the cross-fitted regression.
FOLDS = 3
#: Penalty of coefficients of rows of length one, in units of the target's variance.
PENALTY = 1.0
#: Documents the regression is fitted to, at most, times its targets.
MOST_DOCUMENTS = 60_000
_ITERATIONS = 15
#: Whole numbers with at most this many different values are treated as classes, too.
MOST_CLASSES = 20
#: Residuals are clipped at this number of standard deviations.
_LARGEST = 3.0
_LEAST_BUCKETS, _MOST_BUCKETS = 1 << 14, 1 << 20
_LOW_32 = (1 << 32) - 1


@dataclass(frozen=True)
class Candidates:
    """Frequent n-grams: their table, numbers of words, document frequencies and frequencies."""

    grams: Grams
    order: NDArray[np.int64]
    document_frequency: NDArray[np.int64]
    frequency: NDArray[np.int64]

    def words(self) -> NDArray[np.int64]:
        """The word ids of each n-gram, -1 behind its last."""
        n_words, keys = len(self.grams.begins), self.grams.keys
        out = np.full((len(keys), int(self.order.max(initial=1))), -1, dtype=np.int64)
        parents, last = keys >> 32, keys & _LOW_32
        for order in range(2, out.shape[1] + 1):
            here = np.flatnonzero(self.order == order)
            out[here, order - 1] = last[here]
            if order == 2:
                out[here, 0] = parents[here]
            else:
                out[here, : order - 1] = out[parents[here] - n_words, : order - 1]
        return out

    def inner(self, words: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The first two and the last two words of each n-gram of three, as n-grams; -1 if none."""
        keys, long = self.grams.keys, self.order == 3
        left = np.where(long, (keys >> 32) - len(self.grams.begins), -1)
        wanted = words[:, 1] << 32 | words[:, -1]
        by_key = np.argsort(keys)
        place = by_key[np.searchsorted(keys, wanted, sorter=by_key) % max(len(keys), 1)]
        return left, np.where(long & (keys[place] == wanted), place, -1)


def frequent_grams(
    each: Pass, longest: int, first: NDArray[np.bool_], least: float, n_tokens: int
) -> Candidates:
    """N-grams in at least `least` documents, whose first word is one of `first`.

    A first pass counts keys in buckets, so that the second one counts only those that can be
    frequent: most n-grams are rare.
    """
    n_words = len(first)
    keys = np.zeros(0, dtype=np.int64)
    columns: list[tuple[NDArray, NDArray, NDArray]] = []
    grams = make_grams(n_words, keys)
    n_buckets = min(max(_LEAST_BUCKETS, 1 << int(n_tokens).bit_length()), _MOST_BUCKETS)
    for order in range(1, longest):

        def sizes(part: Sequences, _: int, order: int = order, level: Grams = grams) -> NDArray:
            found, _documents = kernels.next_keys(part, order, level, first)
            return np.bincount(kernels.key_buckets(found, n_buckets), minlength=n_buckets)

        full = sum(each(sizes), np.zeros(n_buckets, dtype=np.int64)) >= least

        def frequencies(
            part: Sequences, _: int, order: int = order, level: Grams = grams, full: NDArray = full
        ) -> Frequencies:
            found, documents = kernels.next_keys(part, order, level, first)
            kept = full[kernels.key_buckets(found, n_buckets)]
            return kernels.key_frequencies(found[kept], documents[kept])

        found = _sum_frequencies(each(frequencies))
        kept = found.document_frequency >= least
        keys = np.concatenate([keys, found.keys[kept]])
        n = int(kept.sum())
        columns.append(
            (np.full(n, order + 1), found.document_frequency[kept], found.frequency[kept])
        )
        grams = make_grams(n_words, keys)
        if not n:
            break
    empty = np.zeros(0, dtype=np.int64)
    return Candidates(grams, *(np.concatenate([empty, *c]) for c in zip(*columns, strict=True)))


def _sum_frequencies(parts: Iterable[Frequencies]) -> Frequencies:
    """The sum of frequencies; every 4 parts are merged, so that memory is bounded."""
    waiting: list[Frequencies] = []
    for part in parts:
        waiting.append(part)
        if len(waiting) == 4:
            waiting = [_merged(waiting)]
    return _merged(waiting)


def _merged(parts: list[Frequencies]) -> Frequencies:
    if len(parts) == 1:
        return parts[0]
    empty = np.zeros(0, dtype=np.int64)
    keys, *amounts = (np.concatenate([empty, *column]) for column in zip(*parts, strict=True))
    keys, place = np.unique(keys, return_inverse=True)
    return Frequencies(keys, *(np.bincount(place, a, len(keys)).astype(np.int64) for a in amounts))


def npmi(
    candidates: Candidates, words: NDArray[np.int64], frequency: NDArray[np.int64], total: int
) -> NDArray[np.float64]:
    """Normalised pointwise mutual information; for three words, the smaller one of both splits."""
    p_word = np.maximum(frequency, 1) / max(total, 1)
    p = np.maximum(candidates.frequency, 1) / max(total, 1)
    a, b, last = p_word[words[:, 0]], p_word[words[:, 1]], p_word[_last(words)]
    left, right = candidates.inner(words)
    begin, end = p[left] * last, a * np.where(right >= 0, p[right], b * last)
    expected = np.where(candidates.order == 3, np.maximum(begin, end), a * b)
    return np.log(p / expected) / np.maximum(-np.log(p), 1e-9)


def _last(words: NDArray[np.int64]) -> NDArray[np.int64]:
    """The last word of each n-gram."""
    return np.where(words[:, -1] < 0, words[:, 1], words[:, -1])


def value_sums(
    each: Pass, candidates: Candidates, residuals: Residuals
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """For each word and each n-gram: sums of residuals, and numbers of documents with a target."""
    n_words = len(candidates.grams.begins)
    longest = int(candidates.order.max(initial=1))
    n_columns = 2 * residuals.values.shape[1]
    words, grams = np.zeros((n_words, n_columns)), np.zeros((len(candidates.order), n_columns))

    def sums(part: Sequences, first: int) -> tuple[NDArray, NDArray]:
        values = residuals.of(first, first + len(part.lengths))
        return kernels.value_sums(part, longest, candidates.grams, values)

    for of_words, of_grams in each(sums):
        words += of_words
        grams += of_grams
    return words, grams


def choose_phrases(
    candidates: Candidates,
    roles: Roles,
    frequency: NDArray[np.int64],
    n_tokens: int,
    sums: tuple[NDArray[np.float64], NDArray[np.float64]] | None,
    variance: NDArray[np.float64] | None,
) -> NDArray[np.bool_]:
    """Which of the frequent n-grams are phrases.

    `sums` and `variance` are of `value_sums` and of the residuals; None where there is no target.
    """
    words = candidates.words()
    two = candidates.order == 2
    last = _last(words)
    ends = roles.ends[last] | (roles.negates[words[:, 0]] & roles.quantifies[last])
    shaped = roles.begins[words[:, 0]] & ends
    content = roles.begins[words[:, 0]] & roles.ends[words[:, 0]]
    association = npmi(candidates, words, frequency, n_tokens)
    least = np.where(two, LEAST_NPMI[2], LEAST_NPMI[3])
    chosen = shaped & content & roles.ends[last] & (association >= least)
    chosen = _without_fragments(candidates, words, chosen)
    if sums is None or variance is None:
        return chosen
    by_target = _chosen_by_target(candidates, words, shaped, roles, sums, variance)
    return _without_fragments(candidates, words, chosen | by_target)


def _chosen_by_target(
    candidates: Candidates,
    words: NDArray[np.int64],
    shaped: NDArray[np.bool_],
    roles: Roles,
    sums: tuple[NDArray[np.float64], NDArray[np.float64]],
    variance: NDArray[np.float64],
) -> NDArray[np.bool_]:
    total, n = np.split(sums[1], 2, axis=1)
    z = np.where(n > 0, total / np.sqrt(np.maximum(n * variance, 1e-300)), 0.0)
    best = np.argmax(np.abs(z), axis=1)
    rows = np.arange(len(best))
    p = np.minimum(2 * norm.sf(np.abs(z[rows, best])) * z.shape[1], 1.0)
    chosen = np.zeros(len(p), dtype=bool)
    # Phrases that begin with a negation are few and often matter: a family of their own.
    for family in (shaped & roles.negates[words[:, 0]], shaped & ~roles.negates[words[:, 0]]):
        of = np.flatnonzero(family)
        chosen[of] = (p[of] <= SMALL_P) | discoveries(p[of], FALSE_DISCOVERIES)

    def differs(i: int, inner: NDArray[np.float64]) -> bool:
        """Whether documents with n-gram i differ from others that have a part of it."""
        k = best[i]
        value, others = np.split(inner, 2)
        rest = others[k] - n[i, k]
        if rest < 1:
            return True
        gap = total[i, k] / n[i, k] - (value[k] - total[i, k]) / rest
        return bool(
            np.sign(gap) == np.sign(z[i, k])
            and gap**2 >= LEAST_DIFFERENCE**2 * variance[k] * (1 / n[i, k] + 1 / rest)
        )

    inner = np.column_stack(candidates.inner(words))
    for i in np.flatnonzero(chosen):  # shorter ones come first
        parts = [sums[0][w] for w in words[i] if w >= 0 and roles.alone[w]]
        parts += [sums[1][j] for j in inner[i] if j >= 0 and chosen[j]]
        chosen[i] = all(differs(int(i), part) for part in parts)
    return chosen


def _without_fragments(
    candidates: Candidates, words: NDArray[np.int64], chosen: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Without phrases that occur in one longer phrase nearly always."""
    chosen, often = chosen.copy(), candidates.document_frequency
    long = np.flatnonzero(chosen & (candidates.order == 3))
    for inner in candidates.inner(words):
        part = inner[long]
        chosen[part[(part >= 0) & (often[long] >= FRAGMENT * often[part])]] = False
    return chosen


def discoveries(p: NDArray[np.float64], rate: float) -> NDArray[np.bool_]:
    """Benjamini and Hochberg's procedure: which hypotheses are rejected at a rate."""
    ordered = np.sort(p)
    below = np.flatnonzero(ordered <= rate * np.arange(1, len(p) + 1) / max(len(p), 1))
    return p <= (ordered[below[-1]] if len(below) else -1.0)


# ---- residuals of a regression on words ---------------------------------------------------------


class Residuals(NamedTuple):
    """Residuals (0 where the target is missing), whether it is known (0 or 1), and variances."""

    values: NDArray[np.float64]
    known: NDArray[np.float64]
    variance: NDArray[np.float64]

    def of(self, first: int, last: int) -> NDArray[np.float64]:
        """Residuals and whether they are known, side by side, of documents first..last-1."""
        return np.hstack([self.values[first:last], self.known[first:last]])


def signals(y: Any) -> NDArray[np.float64] | None:
    """Targets as standardised columns that phrases are tested against; NaN where missing.

    There is one column per number and one per class. Whole numbers with few different values give
    both. The result is None if no target varies.
    """
    if hasattr(y, "to_numpy"):
        y = y.to_numpy()
    array = np.asarray(y)
    if array.ndim == 1:
        array = array[:, None]
    columns = [c for j in range(array.shape[1]) for c in _columns(array[:, j])]
    out = []
    for column in columns:
        known = np.isfinite(column)
        spread = column[known].std() if known.any() else 0.0
        if spread > 0:
            out.append((column - column[known].mean()) / spread)
    return np.column_stack(out) if out else None


def _columns(values: NDArray[Any]) -> list[NDArray[np.float64]]:
    if values.dtype.kind in "iufb":
        numbers_ = values.astype(np.float64)
        is_whole = values.dtype.kind != "f"
    else:
        missing = np.array([_is_missing(value) for value in values], dtype=bool)
        present = values[~missing]
        if not all(isinstance(value, numbers.Real) for value in present):
            labels = np.array([str(value) for value in values], dtype=object)
            return _indicators(labels, missing)
        numbers_ = np.full(len(values), np.nan)
        numbers_[~missing] = present.astype(np.float64)
        is_whole = all(isinstance(value, numbers.Integral) for value in present)
    known = np.isfinite(numbers_)
    different = np.unique(numbers_[known])
    if is_whole and 2 < len(different) <= MOST_CLASSES:
        return [numbers_, *_indicators(numbers_, ~known)]
    if len(different) > MOST_CLASSES and np.all((different >= 0) & (different % 1 == 0)):
        return [np.sqrt(numbers_)]  # counts: their variance grows with their mean
    return [numbers_]


def _indicators(labels: NDArray[Any], missing: NDArray[np.bool_]) -> list[NDArray[np.float64]]:
    """One column per class: the most frequent ones, and one column only for two classes."""
    names, sizes = np.unique(labels[~missing], return_counts=True)
    names = names[np.argsort(-sizes, kind="stable")][:MOST_CLASSES]
    if len(names) == 2:
        names = names[:1]
    return [np.where(missing, np.nan, (labels == name).astype(np.float64)) for name in names]


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and np.isnan(value))


def cross_fitted(
    target: NDArray[np.float64],
    lengths: NDArray[np.int64],
    rows: Callable[[NDArray[np.bool_]], sparse.csr_array],
    each: Callable[[Callable[[sparse.csr_array], Any]], Any],
) -> Residuals:
    """Residuals of a cross-fitted ridge regression, for all documents.

    Parameters
    ----------
    target : array (documents, signals)
    lengths : array
        Words of each document. Residuals are adjusted for its logarithm, since long documents have
        more phrases.
    rows : callable
        Features of chosen documents, as a matrix.
    each : callable
        Applies a function to the features of all documents, part by part.
    """
    n, n_signals = target.shape
    step = max(1, -(-n * n_signals // MOST_DOCUMENTS))
    chosen = np.arange(n) % step == 0
    X = rows(chosen)
    fold = np.arange(X.shape[0]) % FOLDS
    y = target[chosen]
    coef = _ridge(X, y, fold)
    predicted = np.concatenate(list(each(lambda part: part @ coef))).reshape(n, FOLDS, n_signals)
    left_out = np.full(n, -1)
    left_out[chosen] = fold
    expected = predicted.mean(axis=1)
    for k in range(FOLDS):
        expected[left_out == k] = predicted[left_out == k, k]
    residual = target - expected
    known = np.isfinite(residual)
    size = np.log1p(lengths)
    design = np.column_stack([np.ones(n), size, size**2])
    for j in range(n_signals):
        here = known[:, j]
        if here.sum() > design.shape[1]:
            found = np.linalg.lstsq(design[here], residual[here, j], rcond=None)[0]
            residual[here, j] -= design[here] @ found
    spread = np.sqrt(np.nanmean(residual**2, axis=0))
    residual = np.clip(np.where(known, residual, 0.0), -_LARGEST * spread, _LARGEST * spread)
    variance = (residual**2).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    return Residuals(residual, known.astype(np.float64), variance)


def _ridge(
    X: sparse.csr_array, y: NDArray[np.float64], fold: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Coefficients without each fold, (features, folds x targets), by conjugate gradients."""
    weight = np.concatenate(
        [np.isfinite(y) * (fold != k)[:, None].astype(np.float64) for k in range(FOLDS)], axis=1
    )
    y = np.tile(np.nan_to_num(y), (1, FOLDS)) * weight
    Xt = X.T.tocsr()
    residual = Xt @ y
    coef = np.zeros_like(residual)
    direction = residual.copy()
    size = np.sum(residual**2, axis=0)
    first = np.maximum(size, 1e-300)
    for _ in range(_ITERATIONS):
        product = Xt @ (weight * (X @ direction)) + PENALTY * direction
        along = np.sum(direction * product, axis=0)
        step = np.where(size > 1e-10 * first, size / np.maximum(along, 1e-300), 0.0)
        coef += step * direction
        residual -= step * product
        before, size = size, np.sum(residual**2, axis=0)
        direction = (
            residual + np.where(before > 0, size / np.maximum(before, 1e-300), 0) * direction
        )
    return coef
