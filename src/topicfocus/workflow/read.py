"""Read: from files to counts of all their words and a target, in one pass, also from a pipe.

`open_file` checks names and columns only; `read_documents` reads and counts.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from topicfocus.config import (
    ColumnNames,
    FitConfig,
    PredictConfig,
    ReportConfig,
    SettingError,
    TuneConfig,
    setting,
)
from topicfocus.counts import ChunkedCounts, take_rows
from topicfocus.text import ReadError, Target, detect_target, read_table
from topicfocus.text.errors import MissingColumn
from topicfocus.text.formats import MOST_MESSAGES
from topicfocus.text.sequences import TokenizedTexts
from topicfocus.text.tables import format_of
from topicfocus.workflow.columns import NO_COLUMNS, Columns, named_for_new, target_values

log = logging.getLogger(__name__)

#: Settings that have the columns of text and target, and `more` for the others.
Roles = FitConfig | TuneConfig
#: A file, a pattern of names, or several of these.
Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]

#: Texts that are kept to be shown on the explorer page, in characters together.
KEPT_CHARACTERS = 1 << 26
#: The same where memory is limited.
FEWER_CHARACTERS = 1 << 22
#: Texts of a cluster that are shown on the explorer page.
_SHOWN = 2000


@dataclass(frozen=True)
class Documents:
    """Documents of a file: their counts, target and other columns.

    `counts` are sequences of all words of texts, from which `split.count_words` chooses terms and
    counts them (into `folder`, where one is given), or a count matrix. Its columns are `words`,
    which `counter` counts in texts. `texts` are those of the first documents, as many as fit;
    `is_text` False is a count matrix. `files` has the file of each document, where there are
    several.
    """

    path: str
    counts: Any
    words: Any
    target: Target
    rows: np.ndarray
    texts: list[str]
    is_text: bool
    n_skipped: int = 0
    columns: Columns = NO_COLUMNS
    files: np.ndarray | None = None
    folder: Path | None = None
    counter: Any = None

    @property
    def n_docs(self) -> int:
        return self.counts.shape[0]

    @cached_property
    def y(self) -> np.ndarray:
        """Targets as estimators take them."""
        return target_values(self.target)

    @property
    def in_memory(self) -> bool:
        """Whether the counts are a matrix in memory."""
        return not isinstance(self.counts, ChunkedCounts)

    def where(self, i: int) -> str:
        """What messages call a document."""
        row = f"row {self.rows[i]}"
        return row if self.files is None else f"{self.files[i]}, {row}"

    def of(self, documents: np.ndarray) -> Documents:
        """Some of the documents, in ascending order."""
        if isinstance(self.counts, TokenizedTexts):
            counts: Any = self.counts.without(np.setdiff1d(np.arange(self.n_docs), documents))
        else:
            counts = take_rows(self.counts, documents)
        return replace(
            self,
            counts=counts,
            target=self.target.of(documents),
            rows=self.rows[documents],
            texts=[self.texts[i] for i in documents if i < len(self.texts)],
            columns=self.columns.of(documents),
            files=None if self.files is None else self.files[documents],
        )


def open_file(config: Roles, frame: Any = None) -> Any:
    """A table of `text.read_table`, with its columns checked; of a DataFrame if one is given."""
    table = read_table(
        config.paths if frame is None else frame,
        config.text,
        config.target,
        numbers=config.more.every,
        allow_missing=config.more.gaps,
        group=config.more.group,
        separator=config.separator,
        **asdict(config.reading),
    )
    n = len(getattr(table, "files", ()))
    files = f" ({n} files)" if n > 1 else ""
    if frame is None:
        log.info(f"Reading {'standard input' if table.path == '-' else table.path}{files} ...")
    return table


def open_new(
    config: PredictConfig | ReportConfig,
    saved: Any,
    frame: pd.DataFrame | None = None,
    *,
    target: str | None = None,
    labels: Sequence[str] = (),
) -> tuple[ColumnNames, Any]:
    """A table of new documents for a saved model, and the columns that the model needs."""
    names = named_for_new(saved.estimator, config.covariates, config.exposure, saved.path)
    try:
        table = read_table(
            config.paths if frame is None else frame,
            config.text or saved.columns.get("text"),
            target,
            numbers=names.every,
            allow_missing=names.gaps,
            labels=labels,
            separator=getattr(saved.counter, "separator", None),
            **asdict(config.reading),
        )
    except MissingColumn as error:
        if error.column not in names.every:
            raise
        option = setting("exposure" if error.column == names.exposure else "covariates")
        raise ReadError(
            f"{error} {saved.path} was fitted with such a column; say what it is called here: "
            f"{option}."
        ) from None
    return names, table


def read_documents(
    table: Any, config: Roles, folder: Path | None = None, client: Any = None
) -> Documents:
    """Read what was opened, count, and find out what the target is.

    With `skip_bad`, documents whose target should be a number and is not are left out. With a
    `folder`, counts are kept there. With the `client` of a cluster, its workers count.
    """
    is_matrix = hasattr(table, "corpus")
    if table.target is None:
        where = "which column is the target"
        if is_matrix:
            where = "where the target is, a file with one value per line"
        raise SettingError(f"{table.path}: say {where}: {setting('target')}.")
    columns, words, more = NO_COLUMNS, None, {}
    if is_matrix:
        counts = table.corpus.counts
        words = np.array(table.corpus.vocabulary, dtype=object)
        rows: Any = np.arange(1, counts.shape[0] + 1)
    else:
        counts = _tokenize(table, config, folder, client)
        rows, columns = table.rows, Columns.read(config.more, table)
        _log_rows(table, config.more)
        several = table.file_of_rows if len(table.files) > 1 else None
        more = {"n_skipped": table.n_skipped, "files": several, "folder": folder}
    name = "the target" if config.target is None else f"the target {config.target!r}"
    values = _counting_targets(table.target, columns.weight)
    target = detect_target(
        values, config.kind, name=name, where=table.where, skip_bad=config.skip_bad
    )
    texts = [] if is_matrix else table.texts
    found = Documents(
        table.path, counts, words, target, rows, texts, not is_matrix, columns=columns, **more
    )
    return _without_bad(found)


def _tokenize(table: Any, config: Roles, folder: Path | None, client: Any) -> Any:
    """The texts as sequences of words, here or on the workers of a cluster."""
    counter = config.counter(n_jobs=config.jobs)
    table.keep_characters = KEPT_CHARACTERS if folder is None else FEWER_CHARACTERS
    try:
        counter.check()
        if client is not None and table.path != "-":
            return _tokenize_on_cluster(client, table, config, counter)
        if folder is not None:
            folder.parent.mkdir(parents=True, exist_ok=True)
        return counter.tokenize(iter(table), None if folder is None else folder.parent)
    except (ReadError, SettingError):
        raise
    except (ValueError, UnicodeError) as error:
        raise ReadError(f"{table.path}: {error}") from error


def _log_rows(table: Any, names: ColumnNames) -> None:
    """Log how many rows were left out, and how many have no group."""
    for message in table.skipped:
        log.info(f"Left out: {message}")
    if table.n_skipped:
        log.info(f"{table.n_skipped} unreadable rows were left out.")
    alone = 0 if table.group is None else table.group.count(None)
    if alone:
        documents = "1 document has" if alone == 1 else f"{alone:,} documents have"
        log.info(f"{documents} no {names.group!r}: each is a group of its own.")


def _without_bad(found: Documents) -> Documents:
    bad = found.target.bad
    if not bad:
        return found
    for i, what in bad[:MOST_MESSAGES]:
        log.info(f"Left out: {found.where(i)}: {what}.")
    rows = "1 row was" if len(bad) == 1 else f"{len(bad):,} rows were"
    log.info(f"{rows} left out for the target.")
    good = found.of(np.delete(np.arange(found.n_docs), [i for i, _ in bad]))
    return replace(good, n_skipped=found.n_skipped + len(bad))


def _counting_targets(values: Any, weight: np.ndarray | None) -> Any:
    """A document that counts for nothing has no say in what the classes are, either."""
    if weight is None:
        return values
    nothing = int(np.sum(weight == 0))
    if nothing:
        log.info(f"{nothing:,} documents have weight 0: as if they had no target.")
    return [v if w > 0 else None for v, w in zip(values, weight, strict=True)]


# ---- on a cluster -------------------------------------------------------------------------------


def _tokenize_on_cluster(client: Any, table: Any, config: Roles, counter: Any) -> Any:
    """Tokenize the texts of files on the workers; the values of the other columns come here."""
    from topicfocus.distributed import tokenize_texts

    text, names = table.request.text, table.request.names
    frame = _frame(table, config)
    log.info(f"Workers read and count it in {frame.npartitions:,} partitions.")
    texts = frame[text].fillna("").astype(object)
    tokenized = tokenize_texts(counter, texts, client)
    beside = client.compute(frame[names[1:]]).result().astype(object)
    first = client.compute(texts.get_partition(0).head(_SHOWN, compute=False)).result()
    values = beside.where(beside.notna(), None)
    table.load([values[name].tolist() for name in names[1:]], first.tolist())
    return tokenized


def _frame(table: Any, config: Roles) -> Any:
    """The columns of the files as a dask dataframe of strings, one partition per file or more."""
    import dask.dataframe as dd

    files, names = table.files, table.request.names
    kinds = {config.format or format_of(file) for file in files}
    if kinds == {"parquet"}:
        return dd.read_parquet(files, columns=names)
    if kinds == {"jsonl"}:
        return dd.read_json(files, lines=True, dtype=False, encoding=config.encoding)[names]
    if not kinds <= {"csv", "tsv"} or len(kinds) > 1:
        raise SettingError(
            f"{table.path}: workers read CSV, JSON lines and Parquet. Leave {setting('cluster')} "
            "out, or write the documents in one of these formats."
        )
    return dd.read_csv(
        files,
        sep=config.delimiter or ("\t" if kinds == {"tsv"} else ","),
        encoding=config.encoding,
        usecols=names,
        dtype=str,
        keep_default_na=False,
        na_values=[""],
        on_bad_lines="skip" if config.skip_bad else "error",
        blocksize=None,  # a text may have line breaks, at which a file must not be cut
    )
