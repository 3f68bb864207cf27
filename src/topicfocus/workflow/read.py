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
from types import SimpleNamespace
from typing import Any

import numpy as np

from topicfocus.config import (
    ColumnNames,
    CountOptions,
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


@dataclass(frozen=True)
class Source:
    """Documents of a file.

    `counts` has all words of the file: which of them are used is decided on the training part.
    `texts` are those of the first documents, as many as fit; `is_text` False is a count matrix.
    `files` has the file of each document, where there are several.
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
    files: np.ndarray | None = None
    n_without_group: int = 0

    @property
    def n_docs(self) -> int:
        return self.counts.shape[0]

    def where(self, i: int) -> str:
        """What messages call a document."""
        row = f"row {self.rows[i]}"
        return row if self.files is None else f"{self.files[i]}, {row}"


def open_file(
    paths: Sequence[str],
    roles: Roles,
    reading: ReadOptions,
    counting: CountOptions,
) -> Any:
    """A table of `text.read_table`, with its columns checked."""
    table = read_table(
        paths,
        roles.text,
        roles.target,
        numbers=roles.more.every,
        allow_missing=roles.more.gaps,
        group=roles.more.group,
        separator=counting.separator,
        **asdict(reading),
    )
    n = len(getattr(table, "files", ()))
    files = f" ({n} files)" if n > 1 else ""
    log.info(f"Reading {'standard input' if paths[0] == '-' else table.path}{files} ...")
    return table


def open_new(
    path: Paths,
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
    table: Any,
    roles: Roles,
    counting: CountOptions,
    jobs: int | None,
    reading: ReadOptions,
    folder: Path | None = None,
    client: Any = None,
) -> Source:
    """Read what was opened, count, and find out what the target is.

    With `reading.skip_bad`, documents whose target should be a number and is none are left out.
    With a `folder`, counts go there. With a `client` of a cluster, its workers read and count.
    """
    if client is not None and table.path != "-":
        from topicfocus.workflow.read import read_on_cluster

        source = read_on_cluster(client, table, roles, reading, counting)
    else:
        source = _all_rows(table, roles, counting, jobs, reading.skip_bad, folder)
    _say_groups(source)
    return _without_bad(source)


def _say_groups(source: Source) -> None:
    name, alone = source.columns.names.group, source.n_without_group
    if name is not None and alone:
        documents = "1 document has" if alone == 1 else f"{alone:,} documents have"
        log.info(f"{documents} no {name!r}: each is a group of its own.")


def _without_bad(source: Source) -> Source:
    bad = source.target.bad
    if not bad:
        return source
    for i, what in bad[:MOST_MESSAGES]:
        log.info(f"Left out: {source.where(i)}: {what}.")
    rows = "1 row was" if len(bad) == 1 else f"{len(bad):,} rows were"
    log.info(f"{rows} left out for the target.")
    from topicfocus.counts import take_rows  # SciPy, which a mistake should not wait for

    good = np.delete(np.arange(source.n_docs), [i for i, _ in bad])
    return replace(
        source,
        counts=take_rows(source.counts, good),
        target=source.target.of(good),
        rows=source.rows[good],
        texts=[source.texts[i] for i in good if i < len(source.texts)],
        n_skipped=source.n_skipped + len(bad),
        columns=source.columns.of(good),
        files=None if source.files is None else source.files[good],
    )


def _all_rows(
    table: Any,
    roles: Roles,
    counting: CountOptions,
    jobs: int | None,
    skip_bad: bool,
    folder: Path | None,
) -> Source:
    path, is_matrix = table.path, hasattr(table, "corpus")
    if table.target is None:
        where = (
            "where the target is, a file with one value a line"
            if is_matrix
            else ("which column is the target")
        )
        raise SettingError(f"{path}: say {where}: {setting('target')}.")
    if is_matrix:
        return _from_matrix(path, table, roles, skip_bad)
    counter = counting.counter(
        stop_words=counting.stops,
        # Rarer in the whole file than this is rarer in its training part, too.
        min_df=counting.min_df if isinstance(counting.min_df, int) else 1,
        n_jobs=jobs,
    )
    table.keep_characters = KEPT_CHARACTERS if folder is None else FEWER_CHARACTERS
    try:
        counts = counter.fit_transform(iter(table), folder=folder)
    except ReadError:
        raise
    except ValueError as error:
        raise ReadError(f"{path}: {error}") from error
    for message in table.skipped:
        log.info(f"Left out: {message}")
    if table.n_skipped:
        log.info(f"{table.n_skipped} unreadable rows were left out.")
    columns = Columns.read(roles.more, table)
    values = _counting_targets(table.target, columns.weight)
    return Source(
        path,
        counts,
        counter.get_feature_names_out(),
        detect_target(
            values, roles.kind, name=_target_name(roles), where=table.where, skip_bad=skip_bad
        ),
        table.rows,
        table.texts,
        True,
        table.n_skipped,
        columns,
        table.file_of_rows if len(table.files) > 1 else None,
        n_without_group=0 if table.group is None else table.group.count(None),
    )


def _counting_targets(values: Any, weight: np.ndarray | None) -> Any:
    """A document that counts for nothing has no say in what the classes are, either."""
    if weight is None:
        return values
    nothing = int(np.sum(weight == 0))
    if nothing:
        log.info(f"{nothing:,} documents have weight 0: as if they had no target.")
    return [v if w > 0 else None for v, w in zip(values, weight, strict=True)]


def _from_matrix(path: str, table: Any, roles: Roles, skip_bad: bool) -> Source:
    target = detect_target(
        table.target, roles.kind, name=_target_name(roles), where=table.where, skip_bad=skip_bad
    )
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
        A language such as "english", "none", or a file of words, one a line; None is "auto",
        English unless documents are codes.
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
    what = f"It is one of {', '.join(LANGUAGES)}, none, or a file of words, one a line."
    place, option = Path(which), f"{setting('stop_words')} {which}"
    if not place.exists():
        raise SettingError(f"{option}: no such file.{nearest(which, list(LANGUAGES))} {what}")
    if place.is_dir():
        raise SettingError(f"{option}: this is a folder. {what}")
    return [line.strip() for line in read_lines(which, encoding) if line.strip()]


# ---- on a cluster --------------------------------------------------------------------------------


#: Texts that are shown on the explorer page.
_SHOWN = 2000


def read_on_cluster(
    client: Any,
    table: Any,
    roles: FitConfig | TuneConfig,
    reading: ReadOptions,
    counting: CountOptions,
) -> Source:
    """Count the texts of files on the workers; other columns come here."""
    from topicfocus.distributed import count_texts

    if roles.target is None or roles.text is None:
        raise SettingError(
            f"{table.path}: workers read tables, whose columns {setting('text')} and "
            f"{setting('target')} name. Leave {setting('cluster')} out for other inputs."
        )
    files = list(table.files)
    names = roles.more
    others = [roles.target, *names.every, *([] if names.group is None else [names.group])]
    frame = _frame(files, [roles.text, *others], reading, table)
    texts = frame[roles.text].fillna("").astype(object)
    log.info(f"Workers read and count it in {frame.npartitions:,} partitions.")
    counter = counting.counter(
        stop_words=counting.stops,
        min_df=counting.min_df if isinstance(counting.min_df, int) else 1,
    )
    try:
        counts = count_texts(counter, texts, learn=True, client=client)
        beside = client.compute(frame[others]).result()
        first = client.compute(texts.get_partition(0).head(_SHOWN, compute=False)).result()
    except ReadError:
        raise
    except (ValueError, UnicodeError) as error:
        raise ReadError(f"{table.path}: {error}") from error
    rows = np.arange(1, len(beside) + 1)
    columns = Columns.read(names, _table(beside, names, rows))
    target = [None if missing else str(value) for value, missing in _values(beside[roles.target])]
    if columns.weight is not None:
        target = [v if w > 0 else None for v, w in zip(target, columns.weight, strict=True)]
    return Source(
        table.path,
        counts,
        counter.get_feature_names_out(),
        detect_target(
            target, roles.kind, name=f"the target {roles.target!r}", skip_bad=reading.skip_bad
        ),
        rows,
        first.tolist(),
        True,
        0,
        columns,
        n_without_group=0 if names.group is None else int(beside[names.group].isna().sum()),
    )


def _frame(files: list[str], columns: list[str], reading: ReadOptions, table: Any) -> Any:
    """The columns of the files as a dask dataframe of strings, one partition per file or more."""
    import dask.dataframe as dd

    kind = reading.format or _kind(files[0])
    if kind == "parquet":
        return dd.read_parquet(files, columns=columns)
    if kind == "jsonl":
        return dd.read_json(files, lines=True, dtype=False, encoding=reading.encoding)[columns]
    if kind not in ("csv", "tsv"):
        raise SettingError(
            f"{table.path}: workers read CSV, JSON lines and Parquet. Leave {setting('cluster')} "
            "out, or write the documents in one of these formats."
        )
    return dd.read_csv(
        files,
        sep=reading.delimiter or ("\t" if kind == "tsv" else ","),
        encoding=reading.encoding,
        usecols=columns,
        dtype=str,
        keep_default_na=False,
        na_values=[""],
        on_bad_lines="skip" if reading.skip_bad else "error",
        blocksize=None,  # a text may have line breaks, at which a file must not be cut
    )


def _kind(path: str) -> str:
    """What the name of a file says that it is, packed or not."""
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    if suffixes and suffixes[-1] in (".gz", ".bz2", ".xz", ".zip", ".zst"):
        suffixes.pop()
    known = {".tsv": "tsv", ".parquet": "parquet", ".jsonl": "jsonl", ".ndjson": "jsonl"}
    known |= {".csv": "csv", ".txt": "csv"}
    return known.get(suffixes[-1] if suffixes else "", "other")


def _values(series: Any) -> Any:
    return zip(series.tolist(), series.isna().tolist(), strict=True)


def _table(beside: Any, names: Any, rows: np.ndarray) -> Any:
    """What `Columns.read` takes: the numbers, the groups and the row numbers."""
    numbers = np.empty((len(beside), len(names.every)))
    for i, name in enumerate(names.every):
        try:
            numbers[:, i] = beside[name].astype(float)
        except (TypeError, ValueError) as error:
            raise ReadError(
                f"the column {name!r} has values that are not numbers: {error}."
            ) from None
        missing = np.isnan(numbers[:, i])
        if missing.any() and name not in names.gaps:
            raise ReadError(f"the column {name!r} has no value in row {rows[np.argmax(missing)]}.")
    group = None
    if names.group is not None:
        group = [None if missing else str(value) for value, missing in _values(beside[names.group])]
    return SimpleNamespace(numbers=numbers, group=group, rows=rows)
