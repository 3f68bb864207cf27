"""`explain`: the linear predictor of a document as a sum over its words, or over its topics.

A remainder is one more part of the sum, and itself a sum over terms.

For more than two classes, the sums are the log odds of each class against all others, because the
score of a class has no meaning by itself (`topicfocus.contributions`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from topicfocus.contributions import against_rest, contrast, contributions, log_odds, shared_out
from topicfocus.corpus import Corpus
from topicfocus.counts import in_memory
from topicfocus.estimators.documents import Documents
from topicfocus.estimators.fitted import Fitted
from topicfocus.estimators.html import explanation_html
from topicfocus.model import ModelState
from topicfocus.text.errors import printable

#: Number of words of each sign in the text of an explanation.
_SHOWN = 8


@dataclass(frozen=True)
class Explanation:
    """Contributions to the linear predictors of documents; they add up exactly.

    For every predictor, base + covariates + words + remainder = base + covariates + topics +
    remainder = `predictor`: the target itself if it is real-valued (before the ends of its scale
    limit it), the logarithm of a count, the position on the scale of a rating, the log odds of the
    second of two classes, and for more classes the log odds of each against all others,
    log P(c) - log(1 - P(c)).

    Attributes
    ----------
    predictor_names : tuple of str
        One for a number or two classes, one per class for more; for several targets in turn.
    base : array (documents, predictors)
        Predictor of a document without words, including its exposure.
    words : tuple of sparse arrays (documents, words), one per predictor
    topics : tuple of sparse arrays (documents, topics), one per predictor
    covariates : tuple of arrays (documents, covariates), one per predictor
    average : tuple of arrays (documents, covariates), one per predictor
        Contributions of average covariates of the training documents.
    word_names, topic_names : arrays of str
        A topic without a name is topic0, topic1, ... by its place.
    before, after : arrays (documents, predictors)
        The expected target, or the probability of the class, of a document without words (and with
        average covariates), and of this document.
    chosen : array of int (documents, targets)
        The predictor that is shown by default: for more than two classes that of the likeliest.
    relevant : array of int (documents,)
        Number of different words of the document that the topics contain.
    topic_words : tuple of str
        A few words of each topic; column numbers if there are no names.
    remainder : tuple of sparse arrays (documents, terms), one per predictor
        Contributions of the terms of the remainder; no terms without a remainder.
    term_names : array of str
    limit : array (documents, predictors)
        What the ends of a scale such as 1 to 5 change in the prediction: `predictor` + `limit` is
        the predicted target if it is real-valued. Zero inside the scale, and for other targets.
    """

    predictor_names: tuple[str, ...]
    base: np.ndarray
    words: tuple[sparse.csr_array, ...]
    topics: tuple[sparse.csr_array, ...]
    covariates: tuple[np.ndarray, ...]
    average: tuple[np.ndarray, ...]
    word_names: np.ndarray
    topic_names: np.ndarray
    before: np.ndarray
    after: np.ndarray
    chosen: np.ndarray
    relevant: np.ndarray
    topic_words: tuple[str, ...]
    remainder: tuple[sparse.csr_array, ...]
    term_names: np.ndarray
    limit: np.ndarray

    _BY_DOCUMENT: ClassVar = (
        *("base", "words", "topics", "covariates", "average", "before", "after", "chosen"),
        *("relevant", "remainder", "limit"),
    )

    def __len__(self) -> int:
        return len(self.base)

    def __getitem__(self, documents: Any) -> Explanation:
        """The explanation of one document, or of some."""
        index = np.atleast_1d(np.arange(len(self))[documents])
        chosen: dict[str, Any] = {}
        for name in self._BY_DOCUMENT:
            value = getattr(self, name)
            is_matrix = isinstance(value, np.ndarray)
            chosen[name] = value[index] if is_matrix else tuple(part[index] for part in value)
        return replace(self, **chosen)

    @property
    def predictor(self) -> np.ndarray:
        """The sum of all contributions, documents x predictors."""
        total = self.base.copy()
        for parts in (self.words, self.covariates, self.remainder):
            for l, part in enumerate(parts):
                total[:, l] += np.asarray(part.sum(axis=1)).ravel()
        return total

    def remainder_amounts(self, predictor: int) -> np.ndarray:
        """What the remainder adds to a predictor of each document."""
        if not self.remainder:
            return np.zeros(len(self))
        return np.asarray(self.remainder[predictor].sum(axis=1)).ravel()

    def top_words(self, document: int = 0, predictor: int | None = None) -> list[tuple[str, float]]:
        """Words of a document with their contributions, the largest first."""
        predictor = int(self.chosen[document, 0]) if predictor is None else predictor
        return _largest_first(self.words[predictor][[document]], self.word_names)

    def top_terms(self, document: int = 0, predictor: int | None = None) -> list[tuple[str, float]]:
        """Terms of the remainder in a document with their contributions, the largest first."""
        if not self.remainder:
            return []
        predictor = int(self.chosen[document, 0]) if predictor is None else predictor
        return _largest_first(self.remainder[predictor][[document]], self.term_names)

    def __repr__(self) -> str:
        if len(self) != 1:
            return (
                f"Explanation of {len(self)} documents, {len(self.word_names)} words and "
                f"{len(self.topic_names)} topics; explanation[0] shows the first."
            )
        return printable("\n".join(self._lines(int(l)) for l in self.chosen[0]))

    def _repr_html_(self) -> str:
        return explanation_html(self)

    def _lines(self, l: int) -> str:
        limit = self.limit[0, l]
        total = self.predictor[0, l] + limit
        before, after = self.before[0, l], self.after[0, l]
        lines = [f"{self.predictor_names[l]}: {total:.4g}"]
        if not np.isclose(total, after):  # on another scale than the target
            lines[0] += f", from {before:.3g} without words to {after:.3g}"
        lines.append(f"  {'base':<24}{self.base[0, l]:+.4g}")
        if self.covariates[l].shape[1]:
            lines.append(f"  {'covariates':<24}{self.covariates[l][0].sum():+.4g}")
        words = [(word, amount) for word, amount in self.top_words(0, l) if amount != 0]
        for up in (True, False):
            signed = [(word, amount) for word, amount in words if (amount > 0) == up]
            for word, amount in signed[:_SHOWN]:
                lines.append(f"  {word:<24}{amount:+.4g}")
            if len(signed) > _SHOWN:
                rest = sum(amount for _, amount in signed[_SHOWN:])
                lines.append(f"  {f'({len(signed) - _SHOWN} more words)':<24}{rest:+.4g}")
        if self.remainder:
            lines.append(f"  {'remainder':<24}{self.remainder_amounts(l)[0]:+.4g}")
            terms = [f"{term} {amount:+.2g}" for term, amount in self.top_terms(0, l)[:_SHOWN]]
            lines.append(f"    of which {', '.join(terms)}")
        if limit:
            lines.append(f"  {'end of the scale':<24}{limit:+.4g}")
        return "\n".join([*lines, "  by topic:", *self._topic_lines(l)])

    def _topic_lines(self, l: int) -> list[str]:
        """Contributions of the topics, the largest first."""
        row = self.topics[l][[0]].toarray()[0]
        about = [f"  {words}" for words in self.topic_words] or [""] * len(row)
        order = np.argsort(-np.abs(row), kind="stable")
        width = max(10, *(len(name) + 1 for name in self.topic_names))
        return [f"    {self.topic_names[k]:<{width}}{row[k]:+8.3g}{about[k]}" for k in order]


def _largest_first(row: sparse.csr_array, names: np.ndarray) -> list[tuple[str, float]]:
    order = np.argsort(-np.abs(row.data), kind="stable")
    return [(str(names[row.indices[j]]), float(row.data[j])) for j in order]


def explain(
    fitted: Fitted,
    documents: Documents,
    word_names: np.ndarray,
    n_jobs: int | None,
    topic_words: tuple[str, ...],
) -> Explanation:
    """The explanation of documents by a fitted model, with a few words of each topic.

    An explanation has one number per nonzero count, so the counts are read into memory.
    """
    whole = replace(documents.corpus, counts=in_memory(documents.corpus.counts))
    documents = replace(documents, corpus=whole)
    state, targets = fitted.state, fitted.target_model
    corpus = fitted.seen(whole)
    found = contributions(corpus, state, fitted.mixes(whole, n_jobs))
    problem = documents.problem(1.0, n_jobs)
    n_docs, every = problem.n_docs, range(state.n_predictors)
    rest = fitted.remainder
    terms, term_names = (), np.empty(0, dtype=object)
    if rest is not None:
        terms = rest.contributions(fitted.remainder_counts(whole))
        term_names = word_names if rest.names is None else rest.names
    base = replace(problem, covariates=None).offsets(state) + found.base
    average = targets.covariates.centre[None]
    amounts = {
        "words": _Amounts(found.words, _owner(corpus.counts)),
        "topics": _by_document(found.topics),
        "covariates": _by_document(_of_covariates(problem.covariates, state, n_docs)),
        "average": _by_document(_of_covariates(average, state, n_docs)),
    }
    if terms:
        values = np.column_stack([part.data for part in terms])
        amounts["terms"] = _Amounts(values, _owner(terms[0]))
    empty = base + amounts["average"].sums(n_docs)
    full = base + amounts["covariates"].sums(n_docs) + amounts["topics"].sums(n_docs)
    full = full + fitted.remainder_amounts(whole)
    for part in fitted.parts:
        if part.width > 1:
            _against_others(base, amounts, part.where, empty, full, found.removal)

    def tables(name: str) -> tuple[np.ndarray, ...]:
        """Documents x topics (or covariates) of every predictor."""
        return tuple(column.reshape(n_docs, -1) for column in amounts[name].values.T)

    after = fitted.responses(full)
    return Explanation(
        predictor_names=targets.predictor_names(),
        base=base,
        words=tuple(_per_word(corpus, column) for column in amounts["words"].values.T),
        topics=tuple(map(sparse.csr_array, tables("topics"))),
        covariates=tables("covariates"),
        average=tables("average"),
        word_names=word_names,
        topic_names=np.array(fitted.labels, dtype=object),
        before=fitted.responses(empty),
        after=after,
        chosen=_likeliest(fitted, after),
        relevant=fitted.relevant_words(whole),
        topic_words=topic_words,
        remainder=tuple(
            _with_values(terms[l], amounts["terms"].values[:, l]) for l in every if terms
        ),
        term_names=term_names,
        limit=np.hstack([part.limit(full) for part in fitted.parts]),
    )


@dataclass(frozen=True)
class _Amounts:
    """Contributions, entries x predictors, and the document of each entry."""

    values: np.ndarray
    owner: np.ndarray

    def sums(self, n_docs: int) -> np.ndarray:
        """Documents x predictors."""
        columns = [np.bincount(self.owner, column, n_docs) for column in self.values.T]
        return np.column_stack(columns)


def _by_document(table: np.ndarray) -> _Amounts:
    """From documents x topics (or covariates) x predictors."""
    owner = np.repeat(np.arange(len(table)), table.shape[1])
    return _Amounts(table.reshape(len(owner), table.shape[2]).copy(), owner)


def _owner(rows: sparse.csr_array) -> np.ndarray:
    """The document of each nonzero entry."""
    return np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))


def _with_values(rows: sparse.csr_array, values: np.ndarray) -> sparse.csr_array:
    return sparse.csr_array((values, rows.indices, rows.indptr), shape=rows.shape)


def _of_covariates(values: np.ndarray | None, state: ModelState, n_docs: int) -> np.ndarray:
    if values is None or state.covariate_coef is None:
        return np.zeros((n_docs, 0, state.n_predictors))
    every = values[:, :, None] * state.covariate_coef
    return np.broadcast_to(every, (n_docs, *every.shape[1:]))


def _against_others(
    base: np.ndarray,
    amounts: dict[str, _Amounts],
    where: slice,
    empty: np.ndarray,
    full: np.ndarray,
    removal: np.ndarray,
) -> None:
    """Replace contributions to scores of classes by contributions to log odds against all others.

    `empty` and `full` are the scores without and with the words, `removal` is the change of the
    scores if a word is removed. Covariates contribute from their average on, so that base and
    average are the log odds of the empty document.
    """
    before, after = empty[:, where], full[:, where]
    n_docs, start = len(before), log_odds(before)
    scores = {name: part.values[:, where].copy() for name, part in amounts.items()}
    for c in range(before.shape[1]):
        signs, l = contrast(before, after, c), where.start + c
        for name, part in amounts.items():
            part.values[:, l] = np.einsum("nl,nl->n", scores[name], signs[part.owner])
        words = amounts["words"]
        slope = against_rest(after, c)[words.owner]
        taken = np.einsum("nl,nl->n", removal[:, where], slope)
        words.values[:, l] = shared_out(words.values[:, l], taken, words.owner, n_docs)
        base[:, l] = start[:, c] - amounts["average"].sums(n_docs)[:, l]


def _likeliest(fitted: Fitted, response: np.ndarray) -> np.ndarray:
    """The predictor of each target, or that of its likeliest class."""
    chosen = [part.where.start + response[:, part.where].argmax(axis=1) for part in fitted.parts]
    return np.column_stack(chosen)


def _per_word(corpus: Corpus, amounts: np.ndarray) -> sparse.csr_array:
    counts = in_memory(corpus.counts)
    parts = (amounts, counts.indices.copy(), counts.indptr.copy())
    matrix = sparse.csr_array(parts, shape=counts.shape)
    matrix.eliminate_zeros()  # dropped words
    return matrix
