"""`TokenCounter`: texts to counts as a scikit-learn vectoriser."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from topicfocus.counts import is_dask
from topicfocus.text import counting, listed
from topicfocus.text.buffers import Texts, text_chunks
from topicfocus.text.counter_parameters import (
    check_count,
    check_frequency,
    check_separator,
    read_orders,
    read_stop_words,
    warn_of_stop_words,
)
from topicfocus.text.counting import Countable, Pairs, Tally, TokenRule
from topicfocus.text.listed import ListedTally
from topicfocus.text.spans import token_spans
from topicfocus.text.vocabulary import chosen_terms, given_vocabulary


class TokenCounter(TransformerMixin, BaseEstimator):
    """Count words of texts: scikit-learn's CountVectorizer, compiled and on all cores.

    Vocabulary and counts are those of ``CountVectorizer`` with the same settings, for any language.
    Words are runs of word characters (``\\w`` of Python: letters of any alphabet, digits, the
    underscore). Texts may come in blocks and are not kept, so a corpus may be larger than memory.

    Parameters
    ----------
    lowercase : bool, default=True
        Put texts into lower case first, as ``str.lower`` does.
    min_length : int, default=2
        Shortest word, in characters.
    stop_words : name of a language, list of str, or None, default=None
        Words that are left out before n-grams are made; "english" is scikit-learn's list, "dutch",
        "french", "german", "italian", "portuguese" and "spanish" are short ones of our own.
    ngram_range : (int, int), default=(1, 1)
        Orders of n-grams to count: (1, 2) is words and pairs of words.
    min_df, max_df : int or float, default=1 and 1.0
        Terms in fewer (more) documents than this are left out. A whole number is a number of
        documents, a float a share of them.
    max_features : int, optional
        Of the others, keep this many, the most frequent ones.
    vocabulary : mapping, sequence or set of str, optional
        Count these terms and no others, whatever their frequency.
    separator : str, optional
        Documents are codes with this between them, such as ";": tokens are the codes as they are,
        in their case and with their dots and dashes, without the spaces around them. There are no
        n-grams of them, and ``lowercase`` and ``min_length`` do not apply.
    tokenizer : callable, optional
        A function of yours from a text (in lower case with ``lowercase``) to a list of tokens.
        ``min_length`` does not apply. Model files hold its name only (docs/text.md).
    encoding, decode_error : str, default="utf-8" and "strict"
        How documents that are bytes are decoded.
    dtype : dtype, default=numpy.float64
        Of the counts; models of this package use float64 as it is.
    n_jobs : int, optional
        Threads; None is all cores. The result does not depend on it.

    Attributes
    ----------
    vocabulary_ : dict of str to int
        The column of each term.

    Examples
    --------
    >>> counter = TokenCounter(min_df=2)
    >>> counter.fit_transform(["A good film.", "good, good!", "film"]).toarray()
    array([[1., 1.],
           [0., 2.],
           [1., 0.]])
    >>> counter.get_feature_names_out()
    array(['film', 'good'], dtype=object)
    >>> TokenCounter(separator=";").fit(["E11.9; I10", "I10"]).get_feature_names_out()
    array(['E11.9', 'I10'], dtype=object)
    """

    def __init__(
        self,
        *,
        lowercase: bool = True,
        min_length: int = 2,
        stop_words: str | Iterable[str] | None = None,
        ngram_range: tuple[int, int] = (1, 1),
        min_df: float = 1,
        max_df: float = 1.0,
        max_features: int | None = None,
        vocabulary: Mapping[str, int] | Iterable[str] | None = None,
        separator: str | None = None,
        tokenizer: Callable[[str], Sequence[str]] | None = None,
        encoding: str = "utf-8",
        decode_error: str = "strict",
        dtype: DTypeLike = np.float64,
        n_jobs: int | None = None,
    ) -> None:
        self.lowercase = lowercase
        self.min_length = min_length
        self.stop_words = stop_words
        self.ngram_range = ngram_range
        self.min_df = min_df
        self.max_df = max_df
        self.max_features = max_features
        self.vocabulary = vocabulary
        self.separator = separator
        self.tokenizer = tokenizer
        self.encoding = encoding
        self.decode_error = decode_error
        self.dtype = dtype
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> TokenCounter:
        """Learn the vocabulary. Of the texts only the frequencies of their terms are kept.

        Parameters
        ----------
        X : iterable of str, or a table of `topicfocus.text.read_table`
            The documents.
        y : ignored

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a parameter is out of its range, or no word is left.

        Examples
        --------
        >>> from topicfocus import TokenCounter
        >>> TokenCounter(min_df=1).fit(["good film", "bad film"]).get_feature_names_out().tolist()
        ['bad', 'film', 'good']
        """
        rule = self._checked_rule()
        if self.vocabulary is not None:
            self.vocabulary_ = given_vocabulary(self.vocabulary)
        elif is_dask(X):
            self._on_cluster(X, learn=True)
        else:
            self._choose(self._learn(X, rule))
        return self

    def fit_transform(
        self, X: Any, y: Any = None, *, folder: str | os.PathLike[str] | None = None
    ) -> sparse.csr_array:
        """Learn the vocabulary and count, in one pass over the texts.

        Parameters
        ----------
        X : iterable
            Strings or bytes: a list, an array, a series, an Arrow column, a generator; or an
            iterator of blocks of these, or what `read_table` returns. A dask bag, or a column of a
            dask dataframe, is counted by the workers of the current client.
        y : ignored
        folder : path-like, optional
            A new folder that the counts are written to, for more texts than memory holds. It
            appears when all is counted; `topicfocus.open_counts` opens it again.

        Returns
        -------
        scipy.sparse.csr_array of shape (n_documents, n_terms)
            Canonical: sorted indices, no zeros. With `folder` its arrays are memory-mapped. Of a
            collection of Dask, `topicfocus.distributed.DaskCounts`.

        Raises
        ------
        ValueError
            If a parameter is out of its range, or no word is left.
        OSError
            If the folder exists already or cannot be written.

        Examples
        --------
        >>> from topicfocus import TokenCounter
        >>> TokenCounter(min_df=1).fit_transform(["good film", "bad film"]).shape
        (2, 3)
        """
        rule = self._checked_rule()
        if self.vocabulary is not None:
            self.vocabulary_ = given_vocabulary(self.vocabulary)
        if is_dask(X):
            return self._on_cluster(X, learn=self.vocabulary is None)
        if folder is not None:
            return self._to_folder(X, rule, Path(folder))
        if self.vocabulary is not None:
            return self._count_known(X, rule)
        tally = self._learn(X, rule, [])
        column = self._choose(tally)
        n_terms = len(self.vocabulary_)
        return counting.to_csr(tally.pairs, column, n_terms, self.dtype, self.n_jobs)

    def transform(self, X: Any) -> sparse.csr_array:
        """Count the known terms of documents; others are left out.

        Parameters
        ----------
        X : iterable of str, or a table of `topicfocus.text.read_table`
            The documents.

        Returns
        -------
        scipy.sparse.csr_array of shape (n_docs, n_terms)

        Raises
        ------
        NotFittedError
            If it was neither fitted nor given a vocabulary.

        Examples
        --------
        >>> from topicfocus import TokenCounter
        >>> counter = TokenCounter(min_df=1).fit(["good film", "bad film"])
        >>> counter.transform(["good good music"]).toarray().astype(int).tolist()
        [[0, 0, 2]]
        """
        rule = self.rule()
        if not hasattr(self, "vocabulary_"):
            if self.vocabulary is None:
                raise NotFittedError(
                    "This TokenCounter has no vocabulary yet. Call fit, or give it one."
                )
            self.vocabulary_ = given_vocabulary(self.vocabulary)
        return self._on_cluster(X, learn=False) if is_dask(X) else self._count_known(X, rule)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """The terms, in the order of the columns.

        Parameters
        ----------
        input_features : ignored

        Returns
        -------
        ndarray of str

        Raises
        ------
        NotFittedError
            If there is no vocabulary yet.

        Examples
        --------
        >>> from topicfocus import TokenCounter
        >>> TokenCounter(min_df=1).fit(["good film"]).get_feature_names_out().tolist()
        ['film', 'good']
        """
        if not hasattr(self, "vocabulary_"):
            raise NotFittedError("This TokenCounter has no vocabulary yet. Call fit first.")
        return np.array(self._terms(), dtype=object)

    def spans(self, text: str) -> list[tuple[int, int, str]]:
        """Where each word of a text is: (start, stop, the word as it is counted), for display.

        Stop words and words outside the vocabulary are included.

        Parameters
        ----------
        text : str

        Returns
        -------
        list of tuples (start, stop, word)

        Examples
        --------
        >>> from topicfocus import TokenCounter
        >>> TokenCounter(min_df=1).fit(["good film"]).spans("A Good film")
        [(2, 6, 'good'), (7, 11, 'film')]
        """
        rule = self.rule()
        if self.separator is not None:
            return listed.code_spans(text, self.separator)
        return token_spans(text, rule, self.tokenizer)

    def _to_folder(self, X: Any, rule: TokenRule, folder: Path) -> sparse.csr_array:
        if self.vocabulary is not None:
            column, pairs = self._known_pairs(X, rule)
            return counting.to_folder(pairs, column, self._terms(), folder)
        folder.parent.mkdir(parents=True, exist_ok=True)
        # Which terms are frequent enough is known at the end: until then pairs wait in a file.
        with tempfile.TemporaryFile(dir=folder.parent) as stream:
            tally = self._learn(X, rule, counting.PairsFile(stream))
            column = self._choose(tally)
            return counting.to_folder(tally.pairs, column, self._terms(), folder)

    def _on_cluster(self, X: Any, learn: bool) -> Any:
        from topicfocus.distributed import count_texts

        return count_texts(self, X, learn)

    def _checked_rule(self) -> TokenRule:
        rule = self.rule()
        if self._listed_terms(rule) is None:
            warn_of_stop_words(rule)
        check_frequency("min_df", self.min_df)
        check_frequency("max_df", self.max_df)
        if self.max_features is not None:
            check_count("max_features", self.max_features)
        return rule

    def _learn(self, X: Any, rule: TokenRule, pairs: Any = None) -> Tally | ListedTally:
        """Everything counted; the pairs of documents are appended to `pairs`."""
        tally = self._tally(X, rule, pairs)
        self._check_any(tally)
        return tally

    def _tally(self, X: Any, rule: TokenRule, pairs: Any) -> Tally | ListedTally:
        terms = self._listed_terms(rule)
        if terms is None:
            return counting.learn(self._chunks(X), rule, self.n_jobs, pairs=pairs)
        return listed.learn_listed(self._chunks(X), terms, pairs=pairs)

    def _check_any(self, tally: Countable) -> None:
        if not tally.document_frequency.any():
            raise ValueError(
                f"empty vocabulary; the {tally.n_docs} documents hold no "
                f"{'codes' if self.separator is not None else 'words'}, or only stop words"
            )

    def _choose(self, tally: Countable) -> NDArray[np.int64]:
        """The vocabulary, and the column of each id."""
        kept, column = chosen_terms(tally, self.min_df, self.max_df, self.max_features)
        self.vocabulary_ = {term: i for i, term in enumerate(kept)}
        return column

    def _listed_terms(self, rule: TokenRule) -> listed.Tokens | None:
        return listed.listed_terms(rule, self.separator, self.tokenizer)

    def _count_known(self, X: Any, rule: TokenRule) -> sparse.csr_array:
        column, pairs = self._known_pairs(X, rule)
        n_terms = len(self.vocabulary_)
        return counting.to_csr(list(pairs), column, n_terms, self.dtype, self.n_jobs)

    def _known_pairs(self, X: Any, rule: TokenRule) -> tuple[NDArray[np.int64], Iterator[Pairs]]:
        chunks, terms = self._chunks(X), self._listed_terms(rule)
        if terms is not None:
            return listed.known_listed(chunks, terms, self._terms())
        return counting.known_pairs(chunks, rule, self._terms(), self.n_jobs)

    def _chunks(self, X: Any) -> Iterator[Texts]:
        return text_chunks(X, encoding=self.encoding, decode_error=self.decode_error)

    def _terms(self) -> list[str]:
        return sorted(self.vocabulary_, key=self.vocabulary_.__getitem__)

    def rule(self) -> TokenRule:
        """What a token is, from the parameters, each of them checked.

        Returns
        -------
        TokenRule

        Raises
        ------
        ValueError
            If a parameter is out of its range, such as an ``ngram_range`` that falls.

        Examples
        --------
        >>> from topicfocus import TokenCounter
        >>> TokenCounter(min_length=3).rule().min_length
        3
        """
        check_count("min_length", self.min_length)
        orders = read_orders(self.ngram_range)
        check_separator(self.separator, self.tokenizer, orders)
        stop = read_stop_words(self.stop_words, ENGLISH_STOP_WORDS)
        return TokenRule(bool(self.lowercase), int(self.min_length), orders, stop)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.requires_fit = self.vocabulary is None
        return tags


def tally_of(counter: TokenCounter, texts: Any) -> Tally | ListedTally:
    """Everything counted in some of the documents, for a vocabulary that is chosen by all."""
    return counter._tally(texts, counter.rule(), [])


def choose_terms(counter: TokenCounter, tally: Countable) -> None:
    """Fit a counter to what was counted in all documents."""
    counter._check_any(tally)
    counter._choose(tally)
