"""Read: from files to counts of all their words and a target, in one pass, also from a pipe.

`open_file` checks names and columns only, and imports nothing that a mistake in them should wait
for; `read_source` reads and counts.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from topicfocus.config import (
    ColumnNames,
    FitConfig,
    ReadOptions,
    SettingError,
    TuneConfig,
    setting,
)
from topicfocus.text import ReadError, Target, detect_target, read_table
from topicfocus.text.errors import MissingColumn, nearest
from topicfocus.text.files import read_lines
from topicfocus.text.formats import MOST_MESSAGES
from topicfocus.text.stop_words import LANGUAGES
from topicfocus.text.tables import format_of
from topicfocus.workflow.columns import NO_COLUMNS, Columns, named_for_new

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
class Source:
    """Documents of a file.

    `counts` are sequences of all words of texts, from which terms are chosen and counted on the
    training part (into `folder`, where one is given), or a count matrix with `terms`.
    `texts` are those of the first documents, as many as fit; `is_text` False is a count matrix.
    `files` has the file of each document, where there are several.
    """

    path: str
    counts: Any
    terms: np.ndarray | None
    target: Target
    rows: np.ndarray
    texts: list[str]
    is_text: bool
    n_skipped: int = 0
    columns: Columns = NO_COLUMNS
    files: np.ndarray | None = None
    folder: Path | None = None

    @property
    def n_docs(self) -> int:
        return self.counts.shape[0]

    def where(self, i: int) -> str:
        """What messages call a document."""
        row = f"row {self.rows[i]}"
        return row if self.files is None else f"{self.files[i]}, {row}"


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
    path: Paths | pd.DataFrame,
    saved: Any,
    *,
    text: str | None,
    target: str | None = None,
    covariates: Sequence[str] = (),
    exposure: str | None = None,
    labels: Sequence[str] = (),
    reading: ReadOptions,
) -> tuple[ColumnNames, Any]:
    """A table of new documents for a saved model, and the columns that the model needs."""
    names = named_for_new(saved.estimator, covariates, exposure, saved.path)
    try:
        table = read_table(
            path,
            text or saved.settings.get("text"),
            target,
            numbers=names.every,
            allow_missing=names.gaps,
            labels=labels,
            separator=getattr(saved.counter, "separator", None),
            **asdict(reading),
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


def read_source(
    table: Any, config: Roles, folder: Path | None = None, client: Any = None
) -> Source:
    """Read what was opened, count, and find out what the target is.

    With `skip_bad`, documents whose target should be a number and is not are left out. With a
    `folder`, counts are kept there. With the `client` of a cluster, its workers count.
    """
    path, is_matrix = table.path, hasattr(table, "corpus")
    if table.target is None:
        where = "which column is the target"
        if is_matrix:
            where = "where the target is, a file with one value per line"
        raise SettingError(f"{path}: say {where}: {setting('target')}.")
    if is_matrix:
        counts, columns = table.corpus.counts, NO_COLUMNS
        terms = np.array(table.corpus.vocabulary, dtype=object)
        rows: Any = np.arange(1, counts.shape[0] + 1)
    else:
        counter = config.counter(n_jobs=config.jobs)
        table.keep_characters = KEPT_CHARACTERS if folder is None else FEWER_CHARACTERS
        try:
            counter.check()
            terms = None
            if client is not None and path != "-":
                counts = _tokenize_on_cluster(client, table, config, counter)
            else:
                place = None if folder is None else folder.parent
                if place is not None:
                    place.mkdir(parents=True, exist_ok=True)
                counts = counter.tokenize(iter(table), place)
        except (ReadError, SettingError):
            raise
        except (ValueError, UnicodeError) as error:
            raise ReadError(f"{path}: {error}") from error
        rows = table.rows
        columns = Columns.read(config.more, table)
        _log_rows(table, config.more)
    name = "the target" if config.target is None else f"the target {config.target!r}"
    values = _counting_targets(table.target, columns.weight)
    target = detect_target(
        values, config.kind, name=name, where=table.where, skip_bad=config.skip_bad
    )
    source = Source(
        path, counts, terms, target, rows, [], not is_matrix, columns=columns, folder=folder
    )
    if not is_matrix:
        several = table.file_of_rows if len(table.files) > 1 else None
        source = replace(source, texts=table.texts, n_skipped=table.n_skipped, files=several)
    return _without_bad(source)


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


def _without_bad(source: Source) -> Source:
    bad = source.target.bad
    if not bad:
        return source
    for i, what in bad[:MOST_MESSAGES]:
        log.info(f"Left out: {source.where(i)}: {what}.")
    rows = "1 row was" if len(bad) == 1 else f"{len(bad):,} rows were"
    log.info(f"{rows} left out for the target.")
    from topicfocus.counts import take_rows  # SciPy, which a mistake should not wait for
    from topicfocus.text.sequences import TokenizedTexts

    good = np.delete(np.arange(source.n_docs), [i for i, _ in bad])
    return replace(
        source,
        counts=source.counts.without(np.array([i for i, _ in bad]))
        if isinstance(source.counts, TokenizedTexts)
        else take_rows(source.counts, good),
        target=source.target.of(good),
        rows=source.rows[good],
        texts=[source.texts[i] for i in good if i < len(source.texts)],
        n_skipped=source.n_skipped + len(bad),
        columns=source.columns.of(good),
        files=None if source.files is None else source.files[good],
    )


def _counting_targets(values: Any, weight: np.ndarray | None) -> Any:
    """A document that counts for nothing has no say in what the classes are, either."""
    if weight is None:
        return values
    nothing = int(np.sum(weight == 0))
    if nothing:
        log.info(f"{nothing:,} documents have weight 0: as if they had no target.")
    return [v if w > 0 else None for v, w in zip(values, weight, strict=True)]


def read_stop_words(which: str | None, encoding: str = "utf-8") -> str | list[str] | None:
    """The function words that a setting names.

    Parameters
    ----------
    which : str or None
        A language such as "english", "none", a file with one word per line, or "english+FILE" for
        both; None is "auto", English unless documents are codes.
    encoding : str, default="utf-8"
        Of the file.

    Returns
    -------
    a language, "auto", None, or a list of str

    Raises
    ------
    SettingError
        If there is no such language or file.
    ReadError
        If the file cannot be decoded.

    Examples
    --------
    >>> from topicfocus.workflow import read_stop_words
    >>> read_stop_words("none") is None
    True
    """
    if which is None:
        return "auto"
    if which in LANGUAGES:
        return which
    if which == "none":
        return None
    what = (
        f"It is one of {', '.join(LANGUAGES)}, none, a file with one word per line, or a language "
        "and a file such as english+FILE."
    )
    option = f"{setting('stop_words')} {which}"
    language, plus, name = which.partition("+")
    more = [f"{language}+"] if plus and language in LANGUAGES else []
    place = Path(name) if more else Path(which)
    if not place.exists():
        raise SettingError(f"{option}: no such file.{nearest(which, list(LANGUAGES))} {what}")
    if place.is_dir():
        raise SettingError(f"{option}: this is a folder. {what}")
    return more + [line.strip() for line in read_lines(str(place), encoding) if line.strip()]


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
