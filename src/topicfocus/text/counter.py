"""`TokenCounter`: texts to counts as a scikit-learn vectoriser."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.exceptions import NotFittedError

from topicfocus.counts import (
    NamedCounts,
    Rows,
    counts_writer,
    is_dask,
    joined_rows,
    open_counts,
)
from topicfocus.text.sequences import (
    Split,
    TokenizedTexts,
    known_sequences,
    learn,
    split_by,
    split_words,
    text_chunks,
)
from topicfocus.text.stop_words import WordRoles, elisions_of, read_stop_words
from topicfocus.text.tokenizer import TokenRule, code_spans, segments, term_spans, token_spans
from topicfocus.text.vocabulary import (
    ALL_ORDERS,
    Matcher,
    TermRule,
    check_count,
    check_frequency,
    choose_all_terms,
    choose_terms,
    given_vocabulary,
)


class TokenCounter(TransformerMixin, BaseEstimator):
    """Count words and phrases of texts, on all cores.

    Words are runs of letters and digits of any alphabet; contractions stay whole (*didn't*), and
    punctuation ends a segment that no phrase crosses. Phrases of two and three words are chosen
    from the texts: those whose words belong together and, if `fit_transform` is given targets,
    those that predict them beyond their words. The longest phrase is counted and its words are not
    counted again. Texts may come in blocks and are not kept, so a corpus may be larger than memory.

    Parameters
    ----------
    lowercase : bool, default=True
        Put texts into lower case first, as ``str.lower`` does.
    min_length : int, default=2
        Characters of the shortest word that is a term by itself.
    stop_words : name of a language, list of str, or None, default="auto"
        Function words: they are no terms by themselves, and no phrase or n-gram begins or ends with
        one, but they may be inside. "auto" is English, but none with a separator; the others are
        "dutch", "french", "german", "italian", "portuguese" and "spanish". Negations and
        quantifiers are no function words. In a list, "english+" stands for all words of that list.
    phrases : bool, default=True
        Choose phrases. Without effect if `ngram_range` is given, for codes and for tokens of a
        function of yours.
    ngram_range : (int, int), default=(1, 1)
        Count every run of this many words instead: (1, 2) is words and pairs of words.
    min_df, max_df : int or float, optional
        Terms in fewer (more) documents than this are left out. A whole number is a number of
        documents, a float a proportion. By default terms are in 10 documents at least, or in fewer
        with fewer than 2,000 documents, and in half of them at most.
    max_features : int, optional
        Of the others, keep this many, the most frequent ones.
    vocabulary : mapping, sequence or set of str, optional
        Count these terms and no others, whatever their frequency. Terms of several words are
        phrases.
    separator : str, optional
        Documents are codes with this between them, such as ";": tokens are the codes as they are,
        in their case and with their dots and dashes, without the spaces around them. There are no
        n-grams or phrases of them, and ``lowercase`` and ``min_length`` do not apply.
    tokenizer : callable, optional
        A function of yours from a text (in lower case with ``lowercase``) to a list of tokens.
        ``min_length`` does not apply. Model files hold its name only (docs/text.md).
    remainder : bool, default=False
        Also count all words and pairs of words, function words included (in two documents at
        least, or three of more than 20,000; the 50,000 most frequent ones), for
        estimators with ``remainder=True``. Counts have them as a second matrix, ``.remainder``,
        unless they go to a folder or a cluster. Without effect for codes and for tokens of a
        function of yours, whose columns are all there is.
    n_jobs : int, optional
        Threads; None is all cores. The result does not depend on it.

    Attributes
    ----------
    vocabulary_ : dict of str to int
        The column of each term. The words of a phrase are separated by spaces.
    remainder_vocabulary_ : dict of str to int
        With ``remainder=True``: the column of each word and pair of words in ``.remainder``.

    Examples
    --------
    >>> counter = TokenCounter(min_df=2, max_df=1.0)
    >>> counter.fit_transform(["A good film.", "good, good!", "film"]).toarray()
    array([[1., 1.],
           [0., 2.],
           [1., 0.]])
    >>> counter.get_feature_names_out()
    array(['film', 'good'], dtype=object)
    >>> counter = TokenCounter(vocabulary=["good", "not good"])
    >>> counter.transform(["It's not good.", "Good!"]).toarray()
    array([[0., 1.],
           [1., 0.]])
    >>> TokenCounter(separator=";").fit(["E11.9; I10", "I10"]).get_feature_names_out()
    array(['E11.9', 'I10'], dtype=object)
    """

    remainder_vocabulary_: dict[str, int]

    def __init__(
        self,
        *,
        lowercase: bool = True,
        min_length: int = 2,
        stop_words: str | Iterable[str] | None = "auto",
        phrases: bool = True,
        ngram_range: tuple[int, int] = (1, 1),
        min_df: float | None = None,
        max_df: float | None = None,
        max_features: int | None = None,
        vocabulary: Mapping[str, int] | Iterable[str] | None = None,
        separator: str | None = None,
        tokenizer: Callable[[str], Sequence[str]] | None = None,
        remainder: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.lowercase = lowercase
        self.min_length = min_length
        self.stop_words = stop_words
        self.phrases = phrases
        self.ngram_range = ngram_range
        self.min_df = min_df
        self.max_df = max_df
        self.max_features = max_features
        self.vocabulary = vocabulary
        self.separator = separator
        self.tokenizer = tokenizer
        self.remainder = remainder
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> TokenCounter:
        """Learn the vocabulary.

        Parameters
        ----------
        X : iterable of str, or a table of `topicfocus.text.read_table`
            The documents.
        y : array-like of shape (n_documents,) or (n_documents, n_targets), optional
            Targets that phrases are chosen by: numbers, counts or classes; NaN or None is missing.

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
        self.check()
        if self.vocabulary is not None and not self._counts_all:
            self.vocabulary_ = given_vocabulary(self.vocabulary)
        else:
            self.choose(self.tokenize(X), y)
        return self

    def fit_transform(
        self, X: Any, y: Any = None, *, folder: str | os.PathLike[str] | None = None
    ) -> sparse.csr_array:
        """Learn the vocabulary and count. Texts are read once.

        Parameters
        ----------
        X : iterable
            Strings: a list, an array, a series, an Arrow column, a generator; or an
            iterator of blocks of these, or what `read_table` returns. A dask bag, or a column of a
            dask dataframe, is counted by the workers of the current client.
        y : array-like of shape (n_documents,) or (n_documents, n_targets), optional
            Targets that phrases are chosen by: numbers, counts or classes; NaN or None is missing.
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
        self.check()
        if self.vocabulary is not None and not self._counts_all:
            self.vocabulary_ = given_vocabulary(self.vocabulary)
            return self._count_known(X, folder)
        place = None if folder is None else Path(folder).parent
        if place is not None:
            place.mkdir(parents=True, exist_ok=True)
        texts = self.tokenize(X, place)
        self.choose(texts, y)
        return self.count(texts, folder)

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
        self.check()
        if not hasattr(self, "vocabulary_"):
            if self.vocabulary is None:
                raise NotFittedError(
                    "This TokenCounter has no vocabulary yet. Call fit, or give it one."
                )
            self.vocabulary_ = given_vocabulary(self.vocabulary)
        return self._count_known(X)

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
        """Where each term of a text is: (start, stop, the term as it is counted), for display.

        Words outside the vocabulary are included.

        Parameters
        ----------
        text : str

        Returns
        -------
        list of tuples (start, stop, term)

        Examples
        --------
        >>> from topicfocus import TokenCounter
        >>> counter = TokenCounter(vocabulary=["not good", "film"]).fit([])
        >>> counter.spans("Not good, Film")
        [(0, 8, 'not good'), (10, 14, 'film')]
        """
        self.check()
        if self.separator is not None:
            return code_spans(text, self.separator)
        if self.tokenizer is not None:
            return token_spans(text, bool(self.lowercase), self.tokenizer)
        terms = getattr(self, "vocabulary_", {})
        longest = 1 if self.term_rule.every else max((t.count(" ") + 1 for t in terms), default=1)
        return term_spans(text, self.token_rule, terms, longest)

    def tokenize(
        self, X: Any, folder: str | os.PathLike[str] | None = None, *, empty: bool = False
    ) -> TokenizedTexts:
        """Texts as sequences of word ids, from which terms are chosen and counted.

        Parameters
        ----------
        X : iterable of str
            The documents, as `fit_transform` takes them.
        folder : path-like, optional
            A temporary file in this folder takes the sequences, instead of memory.
        empty : bool, default=False
            Accept texts without any word.

        Returns
        -------
        TokenizedTexts

        Raises
        ------
        ValueError
            If a parameter is out of its range, or there is no word.

        Examples
        --------
        >>> from topicfocus import TokenCounter
        >>> counter = TokenCounter(min_df=1)
        >>> texts = counter.tokenize(["good film", "bad film"])
        >>> counter.choose(texts)
        >>> counter.count(texts).shape
        (2, 3)
        """
        self.check()
        if is_dask(X):
            from topicfocus.distributed import tokenize_texts

            return tokenize_texts(self, X)
        texts = learn(text_chunks(X), self._split(), self._threads(), folder)
        if not empty:
            self._check_any(texts)
        return texts

    def choose(self, texts: TokenizedTexts, y: Any = None) -> None:
        """Learn the vocabulary from tokenized texts.

        Parameters
        ----------
        texts : TokenizedTexts
            From `tokenize`.
        y : array-like, optional
            Targets that phrases are chosen by, as in `fit`.

        Examples
        --------
        >>> from topicfocus import TokenCounter
        >>> counter = TokenCounter(min_df=1)
        >>> counter.choose(counter.tokenize(["good film", "bad film"]))
        >>> sorted(counter.vocabulary_)
        ['bad', 'film', 'good']
        """
        self._check_any(texts)
        if self.vocabulary is not None:
            self.vocabulary_ = given_vocabulary(self.vocabulary)
        else:
            terms = choose_terms(texts, self.term_rule, y)
            self.vocabulary_ = {term: i for i, term in enumerate(terms)}
        if hasattr(self, "remainder_vocabulary_"):
            del self.remainder_vocabulary_
        if self._counts_all:
            self.remainder_vocabulary_ = {t: i for i, t in enumerate(choose_all_terms(texts))}

    def without_remainder(self) -> TokenCounter:
        """A copy that does not count all words and pairs of words.

        Returns
        -------
        TokenCounter

        Examples
        --------
        >>> from topicfocus import TokenCounter
        >>> TokenCounter(remainder=True).without_remainder().remainder
        False
        """
        found = copy(self)
        found.remainder = False
        if hasattr(found, "remainder_vocabulary_"):
            del found.remainder_vocabulary_
        return found

    @property
    def _counts_all(self) -> bool:
        """Whether all words and pairs of words are counted as well."""
        return bool(self.remainder) and self.separator is None and self.tokenizer is None

    def _check_any(self, texts: TokenizedTexts) -> None:
        roles, n = self.term_rule.roles, len(texts.frequency)
        some = (np.arange(i, min(i + 1000, n)) for i in range(0, n, 1000))
        if not any(roles is None or roles.of(texts.names(ids)).begins.any() for ids in some):
            raise ValueError(
                f"empty vocabulary; the {texts.n_docs} documents hold no "
                f"{'codes' if self.separator is not None else 'words'}, or only stop words"
            )

    def count(
        self, texts: TokenizedTexts, folder: str | os.PathLike[str] | None = None
    ) -> sparse.csr_array:
        """Counts of the terms of the vocabulary in tokenized texts.

        Parameters
        ----------
        texts : TokenizedTexts
            From `tokenize`.
        folder : path-like, optional
            A new folder for the counts, as in `fit_transform`.

        Returns
        -------
        scipy.sparse.csr_array of shape (n_documents, n_terms)

        Examples
        --------
        >>> from topicfocus import TokenCounter
        >>> counter = TokenCounter(vocabulary=["good", "bad"]).fit([])
        >>> counter.count(counter.tokenize(["good film", "bad film"])).toarray()
        array([[1., 0.],
               [0., 1.]])
        """
        if hasattr(texts, "count"):  # by the workers that hold them
            return texts.count(self)
        matcher, words = self._matcher()
        found = self._counts(texts.each(matcher, texts.places_of(words)), folder)
        if folder is None and hasattr(self, "remainder_vocabulary_"):
            found.remainder = self._count_all(texts)
        return found

    def _count_all(self, texts: TokenizedTexts) -> NamedCounts:
        """Counts of all words and pairs of words."""
        terms = list(self.remainder_vocabulary_)
        matcher, words = Matcher.of_terms(terms, ALL_ORDERS, every=True)
        rows = joined_rows(list(texts.each(matcher, texts.places_of(words))))
        return NamedCounts.of(rows.matrix(len(terms)), terms)

    def _count_known(self, X: Any, folder: Any = None) -> Any:
        if is_dask(X):
            from topicfocus.distributed import count_known

            return count_known(self, X)
        if folder is None and hasattr(self, "remainder_vocabulary_"):
            return self.count(self.tokenize(X, empty=True))
        matcher, words = self._matcher()
        found = known_sequences(text_chunks(X), self._split(), words, self._threads())
        return self._counts(map(matcher, found), folder)

    def _counts(self, parts: Iterator[Rows], folder: Any) -> sparse.csr_array:
        names = self._terms()
        if folder is not None:
            with counts_writer(folder) as writer:
                for rows in parts:
                    writer.add(rows, len(names))
                writer.finish(names)
            return open_counts(folder)[0]
        matrix = joined_rows(list(parts)).matrix(len(names))
        return NamedCounts.of(matrix, names)

    def _matcher(self) -> tuple[Matcher, list[str]]:
        names, rule = self._terms(), self.term_rule
        if rule.roles is None:
            return Matcher.of_terms(names, (1, 1), False, whole=True)
        orders = rule.orders
        if not rule.every and self.phrases:
            orders = (1, max(name.count(" ") + 1 for name in names))
        return Matcher.of_terms(names, orders, rule.every)

    def check(self) -> None:
        """Check the parameters.

        Raises
        ------
        ValueError, TypeError
            If one is out of its range, or two contradict each other.

        Examples
        --------
        >>> from topicfocus import TokenCounter
        >>> TokenCounter(min_df=5).check()
        """
        rule = self.term_rule
        check_frequency("min_df", self.min_df)
        check_frequency("max_df", self.max_df)
        if self.max_features is not None:
            check_count("max_features", self.max_features)
        if rule.roles is not None and not isinstance(self.stop_words, str | None):
            _warn_of_stop_words(self._function_words(), self.token_rule)

    def _terms(self) -> list[str]:
        return sorted(self.vocabulary_, key=self.vocabulary_.__getitem__)

    def _threads(self) -> int | None:
        """Functions of Python run on one thread: they may not expect several."""
        return self.n_jobs if self.term_rule.roles is not None else 1

    def _split(self) -> Split:
        """How a chunk of texts becomes words, or codes or tokens of a function of the user."""
        if self.separator is not None:
            separator = self.separator
            tokens: Any = lambda text: [c for c in map(str.strip, text.split(separator)) if c]  # noqa: E731
        elif self.tokenizer is not None:
            tokens = _checked_tokens(self.tokenizer, bool(self.lowercase))
        else:
            return split_words(self.token_rule)
        stop = frozenset(self._function_words())
        return split_by(partial(_terms_of, tokens, stop, read_orders(self.ngram_range)))

    def _function_words(self) -> tuple[str, ...]:
        return read_stop_words(self.stop_words, self.separator)

    @property
    def token_rule(self) -> TokenRule:
        """How a text becomes words."""
        return TokenRule(bool(self.lowercase), elisions_of(self.stop_words))

    @property
    def term_rule(self) -> TermRule:
        """Which words and phrases are terms, from the parameters, which are checked."""
        check_count("min_length", self.min_length)
        orders = read_orders(self.ngram_range)
        _check_separator(self.separator, self.tokenizer, orders)
        limits = (self.min_df, self.max_df, self.max_features)
        if self.separator is not None or self.tokenizer is not None:
            return TermRule(None, (1, 1), False, *limits)
        roles = WordRoles(frozenset(self._function_words()), int(self.min_length))
        return TermRule(roles, orders, bool(self.phrases), *limits)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.requires_fit = self.vocabulary is None
        return tags


def _check_separator(separator: Any, tokenizer: Any, orders: tuple[int, int]) -> None:
    """Raise where codes or a function are not what they must be, or do not go together."""
    if separator is not None:
        if not isinstance(separator, str) or not separator:
            raise ValueError(f"separator must be one character or more, got {separator!r}.")
        if tokenizer is not None:
            raise ValueError("separator and tokenizer do not go together: give one of them.")
        if orders != (1, 1):
            raise ValueError("there are no n-grams of codes: leave ngram_range with a separator.")
    if isinstance(tokenizer, str):
        raise TypeError(
            f"tokenizer is only the name of a function, {tokenizer!r}. Pass the function itself."
        )
    if tokenizer is not None and not callable(tokenizer):
        raise TypeError(f"tokenizer must be a function, got {tokenizer!r:.40}.")


def read_orders(ngram_range: Any) -> tuple[int, int]:
    """The lowest and the highest order of n-grams."""
    try:
        low, high = ngram_range
    except (TypeError, ValueError):
        raise ValueError(
            f"ngram_range must be two whole numbers such as (1, 2), got {ngram_range!r}."
        ) from None
    check_count("ngram_range[0]", low)
    check_count("ngram_range[1]", high)
    if low > high:
        raise ValueError(f"ngram_range must not fall, got {ngram_range!r}.")
    return int(low), int(high)


def _warn_of_stop_words(stop: tuple[str, ...], rule: TokenRule) -> None:
    """Warn about stop words that no text contains as they are written."""
    parts = {
        part for word in stop for segment in segments(word, rule) for _, _, part in segment
    } - set(stop)
    if parts:
        shown = ", ".join(map(repr, sorted(parts)[:10])) + (", ..." if len(parts) > 10 else "")
        warnings.warn(
            "Your stop_words may be inconsistent with your preprocessing. Some are split or put "
            f"into lower case like any text and become {shown}, not in stop_words.",
            UserWarning,
            stacklevel=5,
        )


def _checked_tokens(
    function: Callable[[str], Iterable[str]], lowercase: bool
) -> Callable[[str], list[str]]:
    """A user's function; an error if its tokens are not strings."""

    def tokens(text: str) -> list[str]:
        found = list(function(text.lower() if lowercase else text))
        if not set(map(type, found)) <= {str}:
            wrong = next(token for token in found if type(token) is not str)
            raise TypeError(f"the tokenizer gave {wrong!r:.40}, not a string. Let it give strings.")
        return found

    return tokens


def _terms_of(
    tokens: Callable[[str], list[str]], stop: frozenset[str], orders: tuple[int, int], text: str
) -> list[str]:
    """Tokens without stop words, or the n-grams of these."""
    words = [word for word in tokens(text) if word not in stop]
    if orders == (1, 1):
        return words
    sizes = range(orders[0], orders[1] + 1)
    return [" ".join(words[i : i + n]) for n in sizes for i in range(len(words) - n + 1)]
