"""Read: from a file to counts of all its words and a target, in one pass, also from a pipe.

`open_file` looks at names and columns only, and imports nothing that a mistake in them should wait
for; `read_source` reads and counts.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from topicfocus.text import ReadError, Target, detect_target, read_table
from topicfocus.text.files import check_regular, encoding_advice
from topicfocus.workflow.columns import NO_COLUMNS, Columns, named_for_new
from topicfocus.workflow.errors import SettingError
from topicfocus.workflow.options import ColumnNames, CountOptions, ReadOptions, Roles
from topicfocus.workflow.remarks import Remarks
from topicfocus.workflow.wording import setting

#: Texts that are kept to be shown on the explorer page, in characters together.
KEPT_CHARACTERS = 1 << 26


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

    def __init__(self, blocks: Any) -> None:
        self._blocks, self._room = blocks, KEPT_CHARACTERS
        self.texts: list[str] = []

    def __iter__(self) -> Iterator[Any]:
        for block in self._blocks:
            if self._room > 0:
                strings = block.strings
                self.texts += strings
                self._room -= sum(map(len, strings))
            yield block


def open_file(path: str, roles: Roles, reading: ReadOptions, remarks: Remarks) -> Any:
    """A table of `text.read_table`, with its columns checked."""
    remarks.say(f"Reading {'standard input' if path == '-' else path} ...")
    return read_table(path, roles.text, roles.target, numbers=roles.more.every, **asdict(reading))


def open_new(
    path: str,
    saved: Any,
    *,
    text: str | None,
    target: str | None = None,
    covariates: Sequence[str] = (),
    exposure: str | None = None,
    reading: ReadOptions,
) -> tuple[ColumnNames, Any]:
    """A table of new documents for a saved model, and the columns that it needs.

    Of a missing column it is said why it is needed.
    """
    names = named_for_new(saved.estimator, covariates, exposure, saved.path)
    text = text or saved.settings.get("text")
    try:
        table = read_table(path, text, target, numbers=names.every, **asdict(reading))
    except ReadError as error:
        missing = next((n for n in names.every if f"no column {n!r}" in str(error)), None)
        if missing is None:
            raise
        option = setting("exposure" if missing == names.exposure else "covariates")
        raise ReadError(
            f"{error} {saved.path} was fitted with such a column; say what it is called here: "
            f"{option}."
        ) from None
    return names, table


def read_source(
    path: str, table: Any, roles: Roles, counting: CountOptions, remarks: Remarks, jobs: int | None
) -> Source:
    """Read what was opened, count, and find out what the target is."""
    is_matrix = hasattr(table, "corpus")
    if table.target is None:
        where = (
            "where the target is, a file with one value a line"
            if is_matrix
            else ("which column is the target")
        )
        raise SettingError(f"{path}: say {where}: {setting('target')}.")
    if is_matrix:
        return _from_matrix(path, table, roles)
    counter = counting.counter(
        stop_words=counting.stop_words,
        # Rarer in the whole file than this is rarer in its training part, too.
        min_df=counting.min_df if isinstance(counting.min_df, int) else 1,
        n_jobs=jobs,
    )
    keeping = _Keeping(table)
    try:
        counts = counter.fit_transform(iter(keeping))
    except ReadError:
        raise
    except ValueError as error:
        raise ReadError(f"{path}: {error}") from error
    for message in table.skipped:
        remarks.say(f"Left out: {message}")
    if table.n_skipped:
        remarks.say(f"{table.n_skipped} unreadable rows were left out.")
    columns = Columns.read(roles.more, table)
    values = _counting_targets(table.target, columns.weight, remarks)
    return Source(
        path,
        counts,
        counter.get_feature_names_out(),
        detect_target(values, roles.kind, name=_target_name(roles)),
        table.rows,
        keeping.texts,
        True,
        table.n_skipped,
        columns,
    )


def _counting_targets(values: Any, weight: np.ndarray | None, remarks: Remarks) -> Any:
    """A document that counts for nothing has no say in what the classes are, either."""
    if weight is None:
        return values
    nothing = int(np.sum(weight == 0))
    if nothing:
        remarks.say(f"{nothing:,} documents have weight 0: as if they had no target.")
    return [v if w > 0 else None for v, w in zip(values, weight, strict=True)]


def _from_matrix(path: str, table: Any, roles: Roles) -> Source:
    target = detect_target(table.target, roles.kind, name=_target_name(roles))
    counts = table.corpus.counts
    terms = np.array(table.corpus.vocabulary, dtype=object)
    rows = np.arange(1, counts.shape[0] + 1)
    return Source(path, counts, terms, target, rows, [], False)


def _target_name(roles: Roles) -> str:
    return "the target" if roles.target is None else f"the target {roles.target!r}"


def read_stop_words(which: str | None, encoding: str = "utf-8") -> str | list[str] | None:
    """The stop words that a setting names.

    Parameters
    ----------
    which : str or None
        "english" (also for None), "none", or a file of words, one a line.
    encoding : str, default="utf-8"

    Returns
    -------
    "english", None, or a list of str

    Examples
    --------
    >>> from topicfocus.workflow import read_stop_words
    >>> read_stop_words("none") is None
    True
    """
    if which in (None, "english"):
        return "english"
    if which == "none":
        return None
    if os.path.exists(which):
        check_regular(which)
    try:
        words = Path(which).read_text(encoding=encoding).split("\n")
    except FileNotFoundError:
        raise SettingError(
            f'{setting("stop_words")} {which}: no such file. It is "english", "none", or a file '
            "of words."
        ) from None
    except UnicodeError as error:
        raise ReadError(f"{which}: {error}. {encoding_advice(encoding)}") from None
    return [word.strip() for word in words if word.strip()]
