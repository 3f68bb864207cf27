"""`explain`: the linear predictor of a document as a sum over its words, or over its topics."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from topicfocus.inference.contributions import contributions

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


def explain(model: Any, documents: Any) -> Explanation:
    """The explanation of documents that `model` has read."""
    state = model._state()
    corpus = model._seen(documents.corpus)
    mixes = model._mixes(documents.corpus)
    found = contributions(corpus, state, mixes)
    counts = corpus.counts
    n_predictors = state.n_predictors
    problem = documents.problem(1.0, model.n_jobs)
    bare = replace(problem, covariates=None)
    covariates = tuple(np.zeros((problem.n_docs, 0)) for _ in range(n_predictors))
    if problem.covariates is not None:
        covariates = tuple(
            problem.covariates * state.covariate_coef[:, l] for l in range(n_predictors)
        )
    vocabulary = getattr(model, "feature_names_in_", None)
    if vocabulary is None:
        vocabulary = np.array([str(v) for v in range(corpus.n_words)], dtype=object)
    words = []
    for l in range(n_predictors):
        matrix = sparse.csr_array(
            (found.words[:, l], counts.indices.copy(), counts.indptr.copy()), shape=counts.shape
        )
        matrix.eliminate_zeros()  # dropped words say nothing
        words.append(matrix)
    return Explanation(
        predictor_names(model),
        bare.offsets(state) + found.base,
        tuple(words),
        tuple(sparse.csr_array(found.topics[:, :, l]) for l in range(n_predictors)),
        covariates,
        np.asarray(vocabulary),
        model.get_feature_names_out(),
    )


def predictor_names(model: Any) -> tuple[str, ...]:
    """What each linear predictor is about."""
    names: list[str] = []
    several = len(model._codings) > 1
    for t, coding in enumerate(model._codings):
        target = f"y{t}" if several else "y"
        if coding.kind == "categorical":
            names += [f"{target} is {label}" for label in coding.labels]
        elif coding.kind == "bernoulli" and coding.labels is not None:
            names.append(f"{target} is {coding.labels[1]}")
        else:
            names.append(target)
    return tuple(names)
