"""`explain`: the linear predictor of a document as a sum over its words, or over its topics."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from topicfocus.corpus import Corpus
from topicfocus.estimators.documents import Documents
from topicfocus.estimators.fitted import Fitted
from topicfocus.inference.contributions import contributions
from topicfocus.inference.state import ModelState, Problem

#: Words of each sign that the text of one document's explanation shows.
_SHOWN = 8


@dataclass(frozen=True)
class Explanation:
    """Contributions to the linear predictors of documents; they add up exactly.

    For every predictor, base + covariates + words = base + covariates + topics = the linear
    predictor (`decision_function` of a classifier, `predict` of a real target, the logarithm of a
    count).

    Attributes
    ----------
    predictor_names : tuple of str
        One for a number or two classes, one a class for more, in turn for several targets.
    base : array (documents, predictors)
        What a document without any words would get, its exposure included.
    words : tuple of sparse arrays (documents, words), one a predictor
    topics : tuple of sparse arrays (documents, topics), one a predictor
    covariates : tuple of arrays (documents, covariates), one a predictor
    word_names, topic_names : arrays of str
    """

    predictor_names: tuple[str, ...]
    base: np.ndarray
    words: tuple[sparse.csr_array, ...]
    topics: tuple[sparse.csr_array, ...]
    covariates: tuple[np.ndarray, ...]
    word_names: np.ndarray
    topic_names: np.ndarray

    def __len__(self) -> int:
        return len(self.base)

    def __getitem__(self, documents: Any) -> Explanation:
        """The explanation of one document, or of some."""
        index = np.arange(len(self))[documents]
        index = np.atleast_1d(index)
        return replace(
            self,
            base=self.base[index],
            words=tuple(m[index] for m in self.words),
            topics=tuple(m[index] for m in self.topics),
            covariates=tuple(m[index] for m in self.covariates),
        )

    @property
    def predictor(self) -> np.ndarray:
        """The linear predictors, documents x predictors: the sum over words."""
        return np.column_stack(
            [
                self.base[:, l]
                + np.asarray(self.words[l].sum(axis=1)).ravel()
                + self.covariates[l].sum(axis=1)
                for l in range(len(self.predictor_names))
            ]
        )

    def top_words(self, document: int = 0, predictor: int = 0) -> list[tuple[str, float]]:
        """Words of a document with their contributions, the largest first."""
        row = self.words[predictor][[document]]
        order = np.argsort(-np.abs(row.data), kind="stable")
        return [(str(self.word_names[row.indices[j]]), float(row.data[j])) for j in order]

    def __repr__(self) -> str:
        if len(self) != 1:
            return (
                f"Explanation of {len(self)} documents, {len(self.word_names)} words and "
                f"{len(self.topic_names)} topics; explanation[0] shows the first."
            )
        return "\n".join(self._lines(l) for l in range(len(self.predictor_names)))

    def _lines(self, l: int) -> str:
        total = self.predictor[0, l]
        lines = [f"{self.predictor_names[l]}: {total:.4g}", f"  {'base':<24}{self.base[0, l]:+.4g}"]
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
        row = self.topics[l][[0]].toarray()[0]
        parts = "  ".join(
            f"{name} {amount:+.3g}" for name, amount in zip(self.topic_names, row, strict=True)
        )
        return "\n".join([*lines, f"  by topic: {parts}"])


def explain(
    fitted: Fitted, documents: Documents, word_names: Any = None, n_jobs: int | None = None
) -> Explanation:
    """The explanation of documents by a fitted model; words are numbers unless they have names."""
    state = fitted.state
    corpus = fitted.seen(documents.corpus)
    found = contributions(corpus, state, fitted.mixes(documents.corpus, n_jobs))
    problem = documents.problem(1.0, n_jobs)
    n_predictors = state.n_predictors
    if word_names is None:
        word_names = np.array([str(v) for v in range(corpus.n_words)], dtype=object)
    return Explanation(
        fitted.target_model.predictor_names(),
        replace(problem, covariates=None).offsets(state) + found.base,
        tuple(_per_word(corpus, found.words[:, l]) for l in range(n_predictors)),
        tuple(sparse.csr_array(found.topics[:, :, l]) for l in range(n_predictors)),
        tuple(_per_covariate(problem, state, l) for l in range(n_predictors)),
        np.asarray(word_names),
        np.array([f"topic{k}" for k in range(state.n_topics)], dtype=object),
    )


def _per_word(corpus: Corpus, amounts: np.ndarray) -> sparse.csr_array:
    counts = corpus.counts
    parts = (amounts, counts.indices.copy(), counts.indptr.copy())
    matrix = sparse.csr_array(parts, shape=counts.shape)
    matrix.eliminate_zeros()  # dropped words say nothing
    return matrix


def _per_covariate(problem: Problem, state: ModelState, predictor: int) -> np.ndarray:
    if problem.covariates is None or state.covariate_coef is None:
        return np.zeros((problem.n_docs, 0))
    return problem.covariates * state.covariate_coef[:, predictor]
