"""Choose the terms that have a column of the counts: words, n-grams and phrases; count them."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from topicfocus.counts import Rows
from topicfocus.kernels import grams as kernels
from topicfocus.kernels.grams import Grams, make_grams
from topicfocus.kernels.tokens import Sequences
from topicfocus.text import phrases
from topicfocus.text.phrases import Candidates
from topicfocus.text.sequences import TokenizedTexts
from topicfocus.text.stop_words import Roles, WordRoles

#: Defaults: the smallest number of documents of a term (with 2,000 documents or more), and the
#: largest proportion.
MIN_DF, ENOUGH_DOCUMENTS = 10, 2000
MAX_DF, FEW_DOCUMENTS = 0.5, 20
#: Smallest number of documents of a phrase, whatever `min_df`.
LEAST_OF_PHRASES = 3
#: If fewer words than this are frequent enough in a small corpus, rare words are kept, too.
FEW_WORDS = 50
#: Orders of the terms of a remainder: words and pairs of words, function words included.
ALL_ORDERS = (1, 2)
#: Smallest number of documents of these terms, and in a corpus of more documents than this, where
#: the largest number of terms excludes rare ones anyway.
LEAST_OF_ALL, LEAST_OF_MANY, MANY_DOCUMENTS = 2, 3, 20_000
MOST_OF_ALL = 50_000
#: Largest number of words in an n-gram table.
_MOST_WORDS = 1 << 24


@dataclass(frozen=True)
class TermRule:
    """Which terms are kept; see `TokenCounter`. `roles` is None where all words are terms."""

    roles: WordRoles | None
    orders: tuple[int, int] = (1, 1)
    phrases: bool = True
    min_df: float | None = None
    max_df: float | None = None
    max_features: int | None = None

    @property
    def longest(self) -> int:
        """Words of the longest term."""
        if self.orders != (1, 1) or self.roles is None:
            return self.orders[1]
        return phrases.LONGEST if self.phrases else 1

    @property
    def every(self) -> bool:
        """Whether every n-gram is counted, or the longest phrase consumes its words."""
        return self.orders != (1, 1)


def choose_terms(texts: TokenizedTexts, rule: TermRule, y: Any = None) -> list[str]:
    """The terms of a rule in alphabetical order, chosen on the documents of ``texts.rows``."""
    n_docs, in_docs = texts.n_chosen, texts.document_frequency
    least, most = document_limits(texts, rule)
    if most < least:
        raise ValueError(
            f"max_df corresponds to < documents than min_df: {most:g} and {least:g} of the "
            f"{n_docs} documents."
        )
    used = np.flatnonzero((in_docs > 0) & (in_docs >= least))[:_MOST_WORDS]
    names = texts.names(used)
    roles = _roles_of(names, rule.roles)
    renamed = np.full(len(in_docs) + 1, -1, dtype=np.int32)
    renamed[used] = np.arange(len(used))
    grams, order = _chosen_grams(texts, rule, y, renamed, used, roles, least)
    n_words = len(used)
    term = np.concatenate([roles.alone & (rule.orders[0] == 1), order >= max(rule.orders[0], 2)])
    spans = (rule.orders[0], max(rule.longest, 1))
    while True:
        found = term.copy()
        if not len(order):  # words only, which are counted already
            in_docs, often = texts.document_frequency[used], texts.frequency[used]
        else:
            in_docs, often = _frequencies(texts, renamed, grams, spans, found, rule.every)
        kept = found & (in_docs > 0) & (in_docs >= least) & (in_docs <= most)
        _limit_features(kept, often, names, grams, rule.max_features)
        # A phrase that is not kept must not consume words: count again without it.
        if rule.every or np.array_equal(kept[n_words:], found[n_words:]):
            break
        term[n_words:] = kept[n_words:]
    entries = np.flatnonzero(kept)
    if not len(entries):
        raise ValueError(
            f"After pruning, no terms remain: none is in {least:g} to {most:g} of the {n_docs} "
            "documents. Try a lower min_df or a higher max_df."
        )
    return sorted(_names_of(entries, names, grams))


def choose_all_terms(texts: TokenizedTexts) -> list[str]:
    """All words and pairs of words in more than very few documents, in alphabetical order."""
    least = LEAST_OF_MANY if texts.n_chosen > MANY_DOCUMENTS else LEAST_OF_ALL
    if not np.any(texts.document_frequency >= least):
        least = 1
    rule = TermRule(
        WordRoles(frozenset(), 1), ALL_ORDERS, False, least, 1.0, max_features=MOST_OF_ALL
    )
    return choose_terms(texts, rule)


def document_limits(texts: TokenizedTexts, rule: TermRule) -> tuple[float, float]:
    """The smallest and the largest number of documents of a term."""
    n_docs, in_docs = texts.n_chosen, texts.document_frequency
    most = _limit(MAX_DF if rule.max_df is None else rule.max_df, n_docs)
    if rule.max_df is None and n_docs < FEW_DOCUMENTS:
        most = n_docs
    if rule.min_df is not None:
        return _limit(rule.min_df, n_docs), most
    alone = np.flatnonzero((in_docs > 0) & (in_docs <= most))
    return float(_usual_min_df(texts, rule, alone, n_docs)), most


def _names_of(entries: NDArray[np.intp], names: list[str], grams: Grams) -> list[str]:
    keys, n_words = grams.keys.tolist(), len(names)
    known: dict[int, str] = {}

    def name(entry: int) -> str:
        if entry < n_words:
            return names[entry]
        if entry not in known:
            key = keys[entry - n_words]
            known[entry] = f"{name(key >> 32)} {names[key & 0xFFFFFFFF]}"
        return known[entry]

    return [name(entry) for entry in entries.tolist()]


def _roles_of(names: list[str], roles: WordRoles | None) -> Roles:
    n = len(names)
    if roles is None:
        yes, no = np.ones(n, dtype=bool), np.zeros(n, dtype=bool)
        return Roles(yes, yes, yes, yes, no, no)
    return roles.of(names)


def _usual_min_df(
    texts: TokenizedTexts, rule: TermRule, alone: NDArray[np.intp], n_docs: int
) -> int:
    """The default of `min_df`, or less where it would leave a small corpus without words."""
    if n_docs >= ENOUGH_DOCUMENTS:
        return MIN_DF
    least = max(2, math.ceil(MIN_DF * n_docs / ENOUGH_DOCUMENTS))
    often = alone[texts.document_frequency[alone] >= least]
    names = texts.names(often)
    words = int(_roles_of(names, rule.roles).alone.sum())
    return least if words >= FEW_WORDS else 1


def _chosen_grams(
    texts: TokenizedTexts,
    rule: TermRule,
    y: Any,
    renamed: NDArray[np.int32],
    used: NDArray[np.intp],
    roles: Roles,
    least: float,
) -> tuple[Grams, NDArray[np.int64]]:
    """A table of n-grams and their beginnings, and the number of words of each (0: not a term)."""
    none = make_grams(len(used), np.zeros(0, dtype=np.int64))
    if rule.longest < 2:
        return none, np.zeros(0, dtype=np.int64)

    def each(function: Any) -> Any:
        return texts.each(function, renamed)

    n_tokens = int(texts.frequency.sum())
    first = roles.edges if rule.every else roles.begins
    # In one or two documents, nearly every run of words has a high mutual information.
    enough = least if rule.every else max(least, LEAST_OF_PHRASES)
    found = phrases.frequent_grams(each, rule.longest, first, enough, n_tokens)
    if not len(found.order):
        return none, found.order
    if rule.every:
        last = found.grams.keys & 0xFFFFFFFF
        return found.grams, np.where(roles.edges[last], found.order, 0)
    sums = variance = None
    target = None if y is None else _target(texts, y)
    if target is not None:
        left = _residuals(texts, target, each, texts.document_frequency[used])
        sums, variance = phrases.value_sums(each, found, left), left.variance
    chosen = phrases.choose_phrases(found, roles, texts.frequency[used], n_tokens, sums, variance)
    return _only(found, chosen)


def _target(texts: TokenizedTexts, y: Any) -> NDArray[np.float64] | None:
    found = phrases.signals(y)
    if found is not None and len(found) != texts.n_chosen:
        raise ValueError(f"there are {texts.n_chosen} documents, but y has {len(found)} rows.")
    return found


def _residuals(
    texts: TokenizedTexts, target: NDArray[np.float64], each: Any, in_docs: NDArray[np.int64]
) -> phrases.Residuals:
    n_words = len(in_docs)
    words = make_grams(n_words, np.zeros(0, dtype=np.int64))
    column = np.arange(n_words, dtype=np.int32)
    rarity = np.log(texts.n_chosen / in_docs) + 1.0

    def features(part: Sequences) -> sparse.csr_array:
        """Words of documents: roots of counts times their rarity, rows of length one."""
        entries, counts, lengths = kernels.match(part, (1, 1), words, column, False)
        values = np.sqrt(counts) * rarity[entries]
        row = np.repeat(np.arange(len(lengths)), lengths)
        size = np.sqrt(np.bincount(row, values**2, minlength=len(lengths)))
        values /= np.maximum(size, 1e-300)[row]
        indptr = np.concatenate([[0], np.cumsum(lengths)])
        return sparse.csr_array((values, entries, indptr), shape=(len(lengths), n_words))

    def rows(chosen: NDArray[np.bool_]) -> sparse.csr_array:
        def some(part: Sequences, first: int) -> sparse.csr_array:
            kept = chosen[first : first + len(part.lengths)]
            ids = part.ids[np.repeat(kept, part.lengths)]
            return features(Sequences(ids, part.lengths[kept]))

        return sparse.vstack(list(each(some)), format="csr")

    sizes = np.concatenate([np.zeros(0, np.int64), *each(lambda part, _: part.lengths)])
    return phrases.cross_fitted(
        target, sizes, rows, lambda function: each(lambda part, _: function(features(part)))
    )


def _only(found: Candidates, chosen: NDArray[np.bool_]) -> tuple[Grams, NDArray[np.int64]]:
    """The chosen n-grams and their beginnings."""
    n_words, keys = len(found.grams.begins), found.grams.keys
    kept = chosen.copy()
    longer = np.flatnonzero(chosen & (found.order > 2))
    kept[(keys[longer] >> 32) - n_words] = True
    place = np.full(len(keys), -1, dtype=np.int64)
    place[kept] = np.arange(int(kept.sum()))
    parents, last = keys[kept] >> 32, keys[kept] & 0xFFFFFFFF
    inner = parents >= n_words
    parents[inner] = place[parents[inner] - n_words] + n_words
    return make_grams(n_words, parents << 32 | last), np.where(chosen, found.order, 0)[kept]


def _frequencies(
    texts: TokenizedTexts,
    renamed: NDArray[np.int32],
    grams: Grams,
    orders: tuple[int, int],
    term: NDArray[np.bool_],
    every: bool,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Document frequency and frequency of each term."""
    n = len(term)

    def count(part: Sequences, _: int) -> tuple[NDArray, NDArray]:
        return kernels.frequencies(part, orders, grams, term, every)

    in_docs, often = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
    for a, b in texts.each(count, renamed):
        in_docs += a
        often += b
    return in_docs, often


def _limit_features(
    kept: NDArray[np.bool_],
    often: NDArray[np.int64],
    names: list[str],
    grams: Grams,
    most: int | None,
) -> None:
    """Keep the most frequent terms; equally frequent ones in alphabetical order."""
    if most is not None and kept.sum() > most:
        entries = np.flatnonzero(kept)
        order = np.lexsort((np.array(_names_of(entries, names, grams)), -often[entries]))
        kept[entries[order[most:]]] = False


def _limit(value: float, n_docs: int) -> float:
    return value if isinstance(value, numbers.Integral) else value * n_docs


@dataclass(frozen=True)
class Matcher:
    """Counts terms in sequences of word ids.

    At each word the longest term is counted, which consumes its words; with `every`, all terms
    that begin there are counted. `column` has the column of each word and n-gram, -1 for none.
    """

    grams: Grams
    column: NDArray[np.int32]
    orders: tuple[int, int]
    every: bool

    @classmethod
    def of_terms(
        cls, terms: Sequence[str], orders: tuple[int, int], every: bool, whole: bool = False
    ) -> tuple[Matcher, list[str]]:
        """The matcher of terms, in the order of their columns, and the words that they consist of.

        With `whole`, each term is one word, even if it contains spaces.
        """
        split = [(term,) if whole else tuple(term.split(" ")) for term in terms]
        words = list(dict.fromkeys(word for term in split for word in term))
        entry: dict[tuple[str, ...], int] = {(word,): i for i, word in enumerate(words)}
        keys: list[int] = []
        for length in range(2, max(map(len, split), default=1) + 1):
            for term in split:
                run = term[:length]
                if len(run) == length and run not in entry:
                    keys.append(entry[run[:-1]] << 32 | entry[run[-1:]])
                    entry[run] = len(entry)
        column = np.full(len(entry), -1, dtype=np.int32)
        for i, term in enumerate(split):
            if orders[0] <= len(term) <= orders[1]:
                column[entry[term]] = i
        table = make_grams(len(words), np.array(keys, dtype=np.int64))
        return cls(table, column, orders, every), words

    def __call__(self, part: Sequences, _: int = 0) -> Rows:
        """The counts of a part, with integers no wider than needed."""
        columns, counts, lengths = kernels.match(
            part, self.orders, self.grams, self.column, self.every
        )
        if counts.max(initial=0) < 256:
            counts = counts.astype(np.uint8)  # type: ignore[assignment]
        # Of the type of the columns: SciPy would convert these otherwise.
        indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(columns.dtype)
        shape = (len(lengths), int(self.column.max(initial=0)) + 1)
        found = sparse.csr_array((counts, columns, indptr), shape=shape)
        found.sort_indices()
        return Rows(indptr, found.indices, found.data)


def given_vocabulary(vocabulary: Any) -> dict[str, int]:
    """A user's vocabulary as a dict of columns, the same rules as scikit-learn's."""
    if isinstance(vocabulary, str):
        raise TypeError(f"vocabulary must hold terms, got one string; pass [{vocabulary!r}].")
    if isinstance(vocabulary, Mapping):
        columns = dict(vocabulary)
        if sorted(columns.values()) != list(range(len(columns))):
            raise ValueError(
                f"the columns of a vocabulary of {len(columns)} terms must be the numbers 0 to "
                f"{len(columns) - 1}, each once."
            )
    else:
        terms = sorted(vocabulary) if isinstance(vocabulary, (set, frozenset)) else list(vocabulary)
        columns = {}
        for i, term in enumerate(terms):
            if columns.setdefault(term, i) != i:
                raise ValueError(f"Duplicate term in vocabulary: {term!r}")
    if not columns:
        raise ValueError("empty vocabulary passed to fit")
    for term in columns:
        if not isinstance(term, str):
            raise TypeError(f"vocabulary must hold strings, but one term is {term!r}.")
    return {term: int(i) for term, i in columns.items()}


def check_count(name: str, value: Any) -> None:
    """Raise unless a parameter is a positive whole number."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < 1:
        raise ValueError(f"{name} must be a whole number of at least 1, got {value!r}.")


def check_frequency(name: str, value: Any) -> None:
    """Raise unless a parameter is a number of documents, a proportion or None."""
    if value is None:
        return
    whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    share = isinstance(value, numbers.Real) and not isinstance(value, (bool, numbers.Integral))
    if not (whole and value >= 1) and not (share and 0 <= value <= 1):
        raise ValueError(
            f"{name} must be a whole number of documents from 1 or a share of them between 0.0 and "
            f"1.0, got {value!r}."
        )
