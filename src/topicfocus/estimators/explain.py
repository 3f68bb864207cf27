"""`explain`: the linear predictor of a document as a sum over its words, or over its topics.

A remainder is one more part of the sum, and itself a sum over terms.

For more than two classes, the sums are the log odds of each class against all others, because the
score of a class has no meaning by itself (`topicfocus.contributions`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from html import escape
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from topicfocus.contributions import against_rest, contrast, contributions, log_odds, shared_out
from topicfocus.counts import in_memory
from topicfocus.estimators.documents import Documents
from topicfocus.estimators.fitted import Fitted
from topicfocus.model import ModelState
from topicfocus.text.errors import printable

#: Number of words, and of terms of the remainder, in the text of an explanation.
_SHOWN = 12
#: Documents, and words of each, in the HTML of an explanation.
_HTML_DOCUMENTS, _HTML_WORDS = 5, 40
#: Red, green and blue of a word that raises the prediction, and of one that lowers it; they are
#: legible on light and dark backgrounds.
_UP, _DOWN = "46, 160, 67", "218, 54, 51"
#: Opacity of the strongest word.
_OPACITY = 0.55


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
        return printable("\n".join(self._text(int(l)) for l in self.chosen[0]))

    def _repr_html_(self) -> str:
        return _html(self)

    def parts(self, predictor: int) -> list[tuple[str, float]]:
        """Contributions to a predictor of the first document, the largest topic first."""
        rows = [("without words", self.base[0, predictor])]
        if self.covariates[predictor].shape[1]:
            rows.append(("covariates", self.covariates[predictor][0].sum()))
        topics = self.topics[predictor][[0]].toarray()[0]
        for k in np.argsort(-np.abs(topics), kind="stable"):
            about = f": {self.topic_words[k]}" if self.topic_words else ""
            rows.append((f"{self.topic_names[k]}{about}", topics[k]))
        if self.remainder:
            rows.append(("remainder of the text", self.remainder_amounts(predictor)[0]))
        if self.limit[0, predictor]:
            rows.append(("end of the scale", self.limit[0, predictor]))
        return rows

    def _text(self, l: int) -> str:
        total = self.predictor[0, l] + self.limit[0, l]
        before, after = self.before[0, l], self.after[0, l]
        head = f"{self.predictor_names[l]}: {total:.4g}"
        if not np.isclose(total, after):  # on another scale than the target
            head += f", from {before:.3g} without words to {after:.3g}"
        words = [(word, amount) for word, amount in self.top_words(0, l) if amount != 0]
        if len(words) > _SHOWN:
            rest = sum(amount for _, amount in words[_SHOWN:])
            words[_SHOWN:] = [(f"({len(words) - _SHOWN} more words)", rest)]
        sections = {"by topic": self.parts(l), "by word": words}
        if self.remainder:
            sections["in the remainder"] = self.top_terms(0, l)[:_SHOWN]
        width = max(len(name) for rows in sections.values() for name, _ in rows) + 2
        lines = [head]
        for title, rows in sections.items():
            lines.append(f"  {title}:")
            lines += [f"    {name:<{width}}{amount:+.4g}" for name, amount in rows]
        return "\n".join(lines)


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
    n_docs = problem.n_docs
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
        words=tuple(_matrix(corpus.counts, column) for column in amounts["words"].values.T),
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
        remainder=tuple(_matrix(terms[0], c) for c in amounts["terms"].values.T) if terms else (),
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


def _matrix(rows: Any, values: np.ndarray) -> sparse.csr_array:
    """Amounts at the places of the counts of a matrix, without those of dropped words."""
    parts = (values, rows.indices, rows.indptr)
    matrix = sparse.csr_array(parts, shape=rows.shape, copy=True)
    matrix.eliminate_zeros()
    return matrix


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


# ---- in a notebook ---------------------------------------------------------------------------


def _html(explanation: Explanation) -> str:
    """HTML of the first documents of an explanation."""
    n = len(explanation)
    parts = [_document(explanation, d, n > 1) for d in range(min(n, _HTML_DOCUMENTS))]
    if n > _HTML_DOCUMENTS:
        parts.append(
            f"<p>{n - _HTML_DOCUMENTS:,} more documents: explanation[{_HTML_DOCUMENTS}:]</p>"
        )
    return "<div class='topicfocus-explanation'>" + "".join(parts) + "</div>"


def _document(explanation: Explanation, d: int, numbered: bool) -> str:
    found = explanation[d]
    title = f"<p><em>Document {d}</em></p>" if numbered else ""
    return title + "".join(_predictor(found, int(l)) for l in found.chosen[0])


def _predictor(found: Explanation, l: int) -> str:
    """One target of one document."""
    before, after = found.before[0, l], found.after[0, l]
    head = f"<strong>{escape(found.predictor_names[l])}: {after:.4g}</strong>"
    head += f" ({before:.4g} without words)"
    words = [(word, amount) for word, amount in found.top_words(0, l) if amount != 0]
    largest = max((abs(amount) for _, amount in words), default=1.0)
    shown = " ".join(_word(word, amount, largest) for word, amount in words[:_HTML_WORDS])
    rows = found.parts(l)
    total = sum(amount for _, amount in rows)
    scale = "total" if np.isclose(total, after) else "total, on the scale of the linear predictor"
    cells = "".join(
        f"<tr><td style='text-align:left'>{escape(name)}</td>"
        f"<td style='text-align:right'>{amount:+.3g}</td></tr>"
        for name, amount in (*rows, (scale, total))
    )
    rest = len(words) - _HTML_WORDS
    more = f" and {rest} more words" if rest > 0 else ""
    return f"<p>{head}</p><p>{shown or 'no word is in the topics'}{more}</p><table>{cells}</table>"


def _word(word: str, amount: float, largest: float) -> str:
    """A word on a green or red ground, the stronger the more it contributes."""
    colour = _UP if amount > 0 else _DOWN
    opacity = _OPACITY * abs(amount) / largest
    return (
        f"<span style='background: rgba({colour}, {opacity:.2f}); border-radius: 3px; "
        f"padding: 0 3px' title='{amount:+.3g}'>{escape(word)} <small>{amount:+.2g}</small></span>"
    )
