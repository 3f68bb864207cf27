"""From a file to counts of all its words and a target, in one pass: also from a pipe."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from topicfocus.cli.columns import NO_COLUMNS, NO_NAMES, ColumnNames, Columns
from topicfocus.cli.console import Remarks
from topicfocus.cli.errors import UsageError
from topicfocus.text import ReadError, Target, TokenCounter, detect_target
from topicfocus.text.files import encoding_advice

#: Texts that are kept to be shown on the explorer page, in characters together.
KEPT_CHARACTERS = 1 << 26


@dataclass(frozen=True)
class CountOptions:
    """How words are counted; None is the default, which depends on the data."""

    stop_words: Any = None
    min_df: int | float | None = None
    max_df: int | float | None = None
    max_features: int | None = None
    ngrams: tuple[int, int] = (1, 1)
    min_length: int = 2
    lowercase: bool = True

    def counter(self, **settings: Any) -> TokenCounter:
        """A counter by these rules."""
        return TokenCounter(
            lowercase=self.lowercase,
            min_length=self.min_length,
            ngram_range=self.ngrams,
            **settings,
        )


@dataclass(frozen=True)
class Source:
    """Documents of a file.

    `counts` has all words of the file: which of them are used is decided on the training part.
    `texts` are those of the first documents, as many as fit; `is_text` False is a count matrix.
    """

    path: str
    counts: Any
    terms: np.ndarray
    target: Target
    rows: np.ndarray
    texts: list[str]
    is_text: bool
    n_skipped: int = 0
    columns: Columns = NO_COLUMNS

    @property
    def n_docs(self) -> int:
        return self.counts.shape[0]


class _Keeping:
    """Blocks on their way to the counter, with texts kept until there is no more room."""

    def __init__(self, blocks: Any, remarks: Remarks) -> None:
        self._blocks, self._room = blocks, KEPT_CHARACTERS
        self.texts: list[str] = []

    def __iter__(self) -> Iterator[Any]:
        for block in self._blocks:
            if self._room > 0:
                strings = block.strings
                self.texts += strings
                self._room -= sum(map(len, strings))
            yield block


def read_source(
    table: Any, args: Any, options: CountOptions, remarks: Remarks, names: ColumnNames = NO_NAMES
) -> Source:
    """Read what was opened, count, and find out what the target is."""
    if hasattr(table, "corpus"):
        return _from_matrix(table, args)
    if table.target is None:
        raise UsageError(f"{args.file}: say which column is the target: --target.")
    counter = options.counter(
        stop_words=options.stop_words,
        # Rarer in the whole file than this is rarer in its training part, too.
        min_df=options.min_df if isinstance(options.min_df, int) else 1,
        n_jobs=args.jobs,
    )
    keeping = _Keeping(table, remarks)
    try:
        counts = counter.fit_transform(iter(keeping))
    except ReadError:
        raise
    except ValueError as error:
        raise ReadError(f"{args.file}: {error}") from error
    for message in table.skipped:
        remarks.say(f"Left out: {message}")
    if table.n_skipped:
        remarks.say(f"{table.n_skipped} unreadable rows were left out.")
    columns = Columns.read(names, table)
    values = table.target
    if columns.weight is not None:
        # A document that counts for nothing has no say in what the classes are, either.
        values = [v if w > 0 else None for v, w in zip(values, columns.weight, strict=True)]
        nothing = int(np.sum(columns.weight == 0))
        if nothing:
            remarks.say(f"{nothing:,} documents have weight 0: as if they had no target.")
    target = detect_target(values, args.kind, name=_target_name(args))
    return Source(
        args.file,
        counts,
        counter.get_feature_names_out(),
        target,
        table.rows,
        keeping.texts,
        True,
        table.n_skipped,
        columns,
    )


def _from_matrix(table: Any, args: Any) -> Source:
    if table.target is None:
        raise UsageError(
            f"{args.file}: say where the target is, a file with one value a line: --target."
        )
    target = detect_target(table.target, args.kind, name=_target_name(args))
    counts = table.corpus.counts
    terms = np.array(table.corpus.vocabulary, dtype=object)
    rows = np.arange(1, counts.shape[0] + 1)
    return Source(args.file, counts, terms, target, rows, [], False)


def _target_name(args: Any) -> str:
    return "the target" if args.target is None else f"the target {args.target!r}"


def read_stop_words(which: str | None, encoding: str) -> Any:
    """ "english", None for "none", or the words of a file."""
    if which in (None, "english"):
        return "english"
    if which == "none":
        return None
    try:
        words = Path(which).read_text(encoding=encoding).split("\n")
    except FileNotFoundError:
        raise UsageError(
            f'--stop-words {which}: no such file. It is "english", "none", or a file of words.'
        ) from None
    except UnicodeError as error:
        raise ReadError(f"{which}: {error}. {encoding_advice(encoding)}") from None
    return [word.strip() for word in words if word.strip()]


def count_options(args: Any) -> CountOptions:
    """The options of counting, from the arguments of fit."""
    return CountOptions(
        stop_words=read_stop_words(args.stop_words, args.encoding),
        min_df=args.min_df,
        max_df=args.max_df,
        max_features=args.max_features,
        ngrams=args.ngrams,
        min_length=args.min_length,
        lowercase=not args.keep_case,
    )
