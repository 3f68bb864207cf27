"""The inputs of a report, checked: model, documents, targets, and how the page reads text."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from topicfocus.counts import NamedCounts
from topicfocus.estimators.arguments import check_columns
from topicfocus.estimators.fitted import Fitted
from topicfocus.estimators.supervised import TopicClassifier, TopicRegressor
from topicfocus.estimators.targets import Coding
from topicfocus.estimators.words import word_names
from topicfocus.text import TokenCounter
from topicfocus.text.codes import readable

#: Why the page cannot split text.
_CODES = "The documents of this model are lists of codes."
_CUSTOM = "The model was trained with a custom tokenizer, which does not run in the page."
_PREPROCESSED = "The model was trained with preprocessing steps that do not run in the page."


@dataclass(frozen=True)
class TextReading:
    """How the page turns text into words; without `text`, words are picked from a list.

    `codes`: the documents are lists of codes, which the page calls so.

    `note` tells the reader of the page about differences to training, "" if there are none.
    `elisions` is None for scikit-learn's words; with it they are those of `TokenCounter`, of which
    the longest known phrase is counted if `orders` begins with 0.
    """

    text: bool
    codes: bool = False
    lowercase: bool = True
    min_length: int = 2
    orders: tuple[int, int] = (1, 1)
    stop_words: tuple[str, ...] = ()
    binary: bool = False
    elisions: tuple[str, ...] | None = None
    note: str = ""


@dataclass(frozen=True)
class Inputs:
    """A fitted model and documents, checked.

    Attributes
    ----------
    model : an estimator with a target
    counts : csr array, documents x words; without rows where no documents were given
        With the counts of all terms (`NamedCounts.remainder`) where they were given.
    texts : list of str, or None
    vocabulary, labels : list of str
        The words, and their `readable` labels.
    words : TextReading
    codes : array (documents, targets) or None
        Targets as the family's numbers, NaN where they are missing.
    """

    model: Any
    counts: sparse.csr_array
    texts: list[str] | None
    vocabulary: list[str]
    labels: list[str]
    words: TextReading
    codes: np.ndarray | None

    @property
    def n_docs(self) -> int:
        return int(self.counts.shape[0])

    @property
    def fitted(self) -> Fitted:
        """The fitted parts of the model."""
        return self.model.fitted_

    @property
    def codings(self) -> tuple[Coding, ...]:
        """The coding of each target."""
        return tuple(part.coding for part in self.fitted.parts)


def read_inputs(
    model: Any, texts: Any = None, counts: Any = None, target: Any = None, vocabulary: Any = None
) -> Inputs:
    """Check a model and documents, and count texts."""
    vectoriser, before, estimator = _steps(model)
    if not isinstance(estimator, (TopicRegressor, TopicClassifier)):
        raise TypeError(
            f"a report needs a topic model with a target, or a pipeline that ends in one, got "
            f"{type(estimator).__name__}."
        )
    check_is_fitted(estimator)
    if texts is not None:
        if isinstance(texts, (str, bytes)):
            raise TypeError("texts must be a list of documents, got one string.")
        texts = [t.decode("utf-8", "replace") if isinstance(t, bytes) else str(t) for t in texts]
    if counts is None and texts is not None:
        if before is None:
            raise ValueError(
                f"{type(estimator).__name__} takes counts: pass counts=..., or give the pipeline "
                "of the vectoriser and the model, which reads texts."
            )
        counts = before.transform(texts)
    fitted: Fitted = estimator.fitted_
    n_words = fitted.state.n_words
    if counts is None:
        matrix = sparse.csr_array((0, n_words))
    else:
        corpus = fitted.corpus(counts)
        matrix = corpus.counts
        if corpus.remainder is not None:
            names = [str(v) for v in range(corpus.n_words)]
            matrix = NamedCounts.of(matrix, names, corpus.remainder)
            matrix.feature_names = None
        # Columns of other names than at fit, or in another order, are an error.
        check_columns(estimator, counts, reset=False)
    if texts is not None and len(texts) != matrix.shape[0]:
        raise ValueError(f"there are {len(texts)} texts, but counts has {matrix.shape[0]} rows.")
    names = _vocabulary(vocabulary, estimator, vectoriser, n_words)
    words = _words(vectoriser, before, names)
    codes = None
    if target is not None:
        if counts is None:
            raise ValueError("target was given without documents: pass texts or counts, too.")
        codes = fitted.target_model.encode(target, "target", matrix.shape[0])
    return Inputs(estimator, matrix, texts, names, readable(names), words, codes)


def _steps(model: Any) -> tuple[Any, Any, Any]:
    """(vectoriser or None, all steps before the model or None, model)."""
    if not isinstance(model, Pipeline):
        return None, None, model
    if len(model) == 1:
        return None, None, model[0]
    first = model[0]
    alone = len(model) == 2 and isinstance(first, (CountVectorizer, TokenCounter))
    return (first if alone else None), model[:-1], model[-1]


def _vocabulary(given: Any, estimator: Any, vectoriser: Any, n_words: int) -> list[str]:
    if given is None and vectoriser is not None:
        given = vectoriser.get_feature_names_out()
    if given is None:
        given = getattr(estimator, "feature_names_in_", None)
    if given is None:
        given = [f"word {v}" for v in range(n_words)]
    return list(word_names(given, n_words))


def _words(vectoriser: Any, before: Any, vocabulary: list[str]) -> TextReading:
    """How to read text in the page as training did, if it can."""
    if isinstance(vectoriser, TokenCounter):
        if vectoriser.separator is not None or vectoriser.tokenizer is not None:
            codes = vectoriser.separator is not None
            return TextReading(False, codes, note=_CODES if codes else _CUSTOM)
        rule, terms = vectoriser.token_rule, vectoriser.term_rule
        longest = max(name.count(" ") + 1 for name in vocabulary)
        orders = terms.orders if terms.every else (0, longest if vectoriser.phrases else 1)
        return TextReading(True, False, rule.lowercase, 1, orders, elisions=rule.elisions)
    if isinstance(vectoriser, CountVectorizer):
        usual = CountVectorizer()
        names = ("analyzer", "token_pattern", "tokenizer", "preprocessor", "strip_accents")
        if any(getattr(vectoriser, name) != getattr(usual, name) for name in names):
            return TextReading(False, note=_CUSTOM)
        stop = tuple(vectoriser.get_stop_words() or ())
        orders = vectoriser.ngram_range
        lowercase = vectoriser.lowercase
        reading = TextReading(True, False, lowercase, 2, orders, stop, vectoriser.binary)
    elif before is not None:
        return TextReading(False, note=_PREPROCESSED)
    else:
        return TextReading(False)
    # Stop words are not in the vocabulary; n-grams are formed after they are removed.
    stop = tuple(sorted(reading.stop_words)) if tuple(reading.orders) != (1, 1) else ()
    return replace(reading, stop_words=stop)
