"""`DaskTexts`: texts that the workers of a cluster read and count, each its own share.

A worker counts its share with numbers of its own for the words, and says which words it has found;
these are put together here, and the workers give their counts the columns of all
(`text.merged`). Vocabulary and counts are those of one machine. Texts are forgotten once they are
counted, and never come here: words, targets and other columns do.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from itertools import count
from typing import Any, NamedTuple

from topicfocus.corpus.parts import Rows
from topicfocus.distributed.cluster import default_client, result_of
from topicfocus.distributed.counts import DaskCounts
from topicfocus.distributed.work import packed, same
from topicfocus.text import ReadError, TokenCounter
from topicfocus.text.merged import (
    MergedTally,
    learn_from,
    rows_of,
    summary_of,
    tally_of,
)
from topicfocus.text.shares import Keeping, Seen, Share, seen_of

_NUMBERS = count()


class DaskTexts:
    """Texts of a Dask cluster, for `TokenCounter` and for pipelines that begin with one.

    ``fit_transform`` and ``transform`` of a counter return `DaskCounts` of them, so a pipeline is
    fitted to texts that are never in this process.

    Parameters
    ----------
    texts : dask bag of str, or column of a dask dataframe
        One text a document.
    client : distributed.Client, optional
        By default the current one.

    Raises
    ------
    TypeError
        If it is something else.
    ClusterError
        If there is no client.

    Examples
    --------
    With ``client``, a `distributed.Client` (or that of `connected`):

    >>> import dask.bag
    >>> from sklearn.pipeline import make_pipeline
    >>> from topicfocus import FocusedTopicRegressor, TokenCounter
    >>> from topicfocus.datasets import make_reviews
    >>> from topicfocus.distributed import DaskTexts
    >>> reviews = make_reviews(100, random_state=0)
    >>> bag = dask.bag.from_sequence(reviews.texts, npartitions=2)
    >>> focused = FocusedTopicRegressor(2, inclusion_prior=0.2, max_epochs=2, random_state=0)
    >>> model = make_pipeline(TokenCounter(min_df=5), focused)
    >>> model = model.fit(DaskTexts(bag, client), reviews.target)
    >>> model.predict(["a superb masterpiece"]).shape
    (1,)
    """

    def __init__(self, texts: Any, client: Any = None) -> None:
        self.client = default_client() if client is None else client
        #: What each share has seen besides texts, and the first texts, once they were counted.
        self.seen: list[Seen] = []
        self._texts: list[Any] = []
        if isinstance(texts, list) and all(isinstance(one, Share) for one in texts):
            self._shares: list[Any] = texts
        else:
            self._shares = _partitions(texts)

    def fit_counter(self, counter: TokenCounter, room: int = 0) -> DaskCounts:
        """Learn the vocabulary of a counter, and count.

        Parameters
        ----------
        counter : TokenCounter
            It is fitted.
        room : int, default=0
            Characters of the first texts that may be asked for afterwards (`first_texts`).

        Returns
        -------
        DaskCounts

        Raises
        ------
        ValueError
            As of ``TokenCounter.fit``; ReadError of files that cannot be read.

        Examples
        --------
        >>> import dask.bag
        >>> from topicfocus import TokenCounter
        >>> from topicfocus.distributed import DaskTexts
        >>> bag = dask.bag.from_sequence(["good film", "bad film"], npartitions=2)
        >>> counts = DaskTexts(bag, client).fit_counter(TokenCounter(min_df=1))
        >>> counts.shape, counts.vocabulary
        ((2, 3), ('bad', 'film', 'good'))
        """
        alone = _single(counter)
        if counter.vocabulary is not None:
            counter.transform([])  # checks it
            return self.count_known(counter, room)
        learned = self._on_shares(learn, alone, room)
        merged = MergedTally()
        for said in self._said(learned, room):
            merged.add(said.summary)
        learn_from(counter, merged)
        place = self._submit(same, dict(counter.vocabulary_))
        rows = [self._submit(_columns, one, place) for one in learned]
        words = tuple(counter.get_feature_names_out())
        return DaskCounts.of_rows(self.client, rows, len(words), words)

    def count_known(self, counter: TokenCounter, room: int = 0) -> DaskCounts:
        """Count the words that a counter knows.

        Parameters
        ----------
        counter : TokenCounter
            With a vocabulary.
        room : int, default=0
            As for `fit_counter`.

        Returns
        -------
        DaskCounts

        Raises
        ------
        ValueError
            ReadError of files that cannot be read.

        Examples
        --------
        >>> import dask.bag
        >>> from topicfocus import TokenCounter
        >>> from topicfocus.distributed import DaskTexts
        >>> counter = TokenCounter(min_df=1).fit(["good film"])
        >>> bag = dask.bag.from_sequence(["a good bad film", "a film"], npartitions=2)
        >>> DaskTexts(bag, client).count_known(counter).word_sums().tolist()
        [2.0, 1.0]
        """
        alone = _single(counter)
        known = self._on_shares(count_known, alone, room)
        for _ in self._said(known, room):
            pass
        words = tuple(counter.get_feature_names_out())
        rows = [self._submit(_rows_of, one) for one in known]
        return DaskCounts.of_rows(self.client, rows, len(words), words)

    def first_texts(self, room: int) -> list[str]:
        """Texts of the first documents, as many as have so many characters.

        Parameters
        ----------
        room : int
            Not more than was asked for when they were counted.

        Returns
        -------
        list of str
            Of files that workers have read; a collection's texts are not asked for again.

        Examples
        --------
        >>> from topicfocus import TokenCounter
        >>> from topicfocus.distributed import DaskTexts
        >>> from topicfocus.text import read_table
        >>> from topicfocus.text.shares import shares_of
        >>> with open("films.csv", "w") as stream:
        ...     _ = stream.write("text\\ngood film\\nbad film\\n")
        >>> texts = DaskTexts(shares_of(read_table("films.csv", "text")), client)
        >>> counts = texts.fit_counter(TokenCounter(min_df=1), room=1000)
        >>> texts.first_texts(1000)
        ['good film', 'bad film']
        """
        out: list[str] = []
        for seen, future in zip(self.seen, self._texts, strict=False):
            found = result_of(self.client, future)
            out += found
            room -= sum(map(len, found))
            if room <= 0 or len(found) < len(seen.rows):
                break
        return out

    def _said(self, counted: list[Any], room: int) -> Iterator[_Said]:
        """What every share has to say, in their order; its error is raised here."""
        self.seen = []
        self._texts = [self._submit(_texts_of, one) for one in counted] if room else []
        said = [self._submit(_said_of, one) for one in counted]
        for future in said:
            found = result_of(self.client, future)
            if found.error is not None:
                raise found.error
            if found.seen is not None:
                self.seen.append(found.seen)
            yield found

    def _on_shares(self, function: Any, counter: TokenCounter, room: int) -> list[Any]:
        """A future for every share."""
        if self._shares and isinstance(self._shares[0], Share):
            return [self._submit(function, share, counter, room) for share in self._shares]
        from dask import delayed

        # In one graph with what makes the texts, so that these go once they are counted.
        call = delayed(function, pure=False, traverse=False)
        return self.client.compute([call(one, counter, room) for one in self._shares], retries=2)

    def _submit(self, function: Any, *args: Any) -> Any:
        key = f"topicfocus-{function.__name__.strip('_')}-{id(self)}-{next(_NUMBERS)}"
        return self.client.submit(function, *args, key=key, pure=False, retries=2)


def _partitions(texts: Any) -> list[Any]:
    """The partitions of a collection, not computed yet: texts go once they are counted."""
    kind = type(texts)
    if kind.__module__.partition(".")[0] != "dask" or getattr(texts, "ndim", 1) != 1:
        raise TypeError(
            f"texts of a cluster are a dask bag of strings or one column of a dask dataframe, not "
            f"{kind.__name__} of {kind.__module__}."
        )
    return list(texts.to_delayed())


# ---- what workers do -----------------------------------------------------------------------------


class _Counted(NamedTuple):
    """A share that was counted: all its words, or its rows; or what is wrong with it."""

    counts: Any
    seen: Seen | None = None
    texts: tuple[str, ...] = ()
    error: Exception | None = None


class _Said(NamedTuple):
    summary: Any
    seen: Seen | None
    error: Exception | None


def _work(share: Any, room: int, work: Any) -> _Counted:
    """Errors of what is in a file are no errors of the worker: nobody else would fare better."""
    try:
        if not isinstance(share, Share):
            return _Counted(work(iter([_as_block(share)])))
        table = share.open()
        keeping = Keeping(table, room)
        found = work(iter(keeping))
        share.check(table)
        return _Counted(found, seen_of(table, share.name), tuple(keeping.texts))
    except (ReadError, ValueError, TypeError, UnicodeError) as error:
        return _Counted(None, error=error)


def learn(share: Any, counter: TokenCounter, room: int) -> _Counted:
    """A share with all its words counted."""
    return _work(share, room, lambda texts: tally_of(counter, texts))


def count_known(share: Any, counter: TokenCounter, room: int) -> _Counted:
    """The counts of the words that the counter knows."""

    def work(texts: Any) -> Rows:
        matrix = counter.transform(texts)
        return packed(Rows(matrix.indptr, matrix.indices, matrix.data))

    return _work(share, room, work)


def _as_block(items: Any) -> Any:
    return items if hasattr(items, "to_numpy") else list(items)


def _said_of(counted: _Counted) -> _Said:
    summary = None
    if counted.error is None and not isinstance(counted.counts, Rows):
        summary = summary_of(counted.counts)
    return _Said(summary, counted.seen, counted.error)


def _texts_of(counted: _Counted) -> tuple[str, ...]:
    return counted.texts


def _columns(counted: _Counted, place: dict[str, int]) -> Rows:
    return packed(rows_of(counted.counts, place))


def _rows_of(counted: _Counted) -> Rows:
    return counted.counts


def _single(counter: TokenCounter) -> TokenCounter:
    """The counter as workers use it, on one thread each."""
    alone = copy(counter)
    alone.n_jobs = 1
    return alone
