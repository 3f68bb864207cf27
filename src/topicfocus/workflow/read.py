"""Read: from a file to counts of all its words and a target, in one pass, also from a pipe.

`open_file` looks at names and columns only, and imports nothing that a mistake in them should wait
for; `read_source` reads and counts.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from topicfocus.config import ColumnNames, CountOptions, FitConfig, ReadOptions, TuneConfig
from topicfocus.text import ReadError, Target, detect_target, read_table
from topicfocus.text.errors import nearest
from topicfocus.text.files import read_lines
from topicfocus.text.formats import MOST_MESSAGES
from topicfocus.text.stop_words import LANGUAGES
from topicfocus.workflow.columns import NO_COLUMNS, Columns, named_for_new
from topicfocus.workflow.errors import SettingError, setting

log = logging.getLogger(__name__)

#: Settings that have the columns of text and target, and `more` for the others.
Roles = FitConfig | TuneConfig
#: A file, a pattern of names, or several of these.
Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]

#: Texts that are kept to be shown on the explorer page, in characters together.
KEPT_CHARACTERS = 1 << 26
#: The same where memory is limited.
FEWER_CHARACTERS = 1 << 22
#: Seconds between lines about the documents read so far.
LOG_SECONDS = 10


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
    n_without_group: int = 0
    folder: Path | None = None

    @property
    def n_docs(self) -> int:
        return self.counts.shape[0]

    def where(self, i: int) -> str:
        """What messages call a document."""
        row = f"row {self.rows[i]}"
        return row if self.files is None else f"{self.files[i]}, {row}"


def _documents(table: Any, texts: list[str], room: int) -> Iterator[Any]:
    """Blocks on their way to the counter; the first texts, up to `room` characters, are kept."""
    n, logged = 0, time.monotonic()
    for block in table:
        if room > 0:
            texts += block.texts
            room -= sum(map(len, block.texts))
        n += len(block)
        if time.monotonic() - logged > LOG_SECONDS:
            log.info(f"Read {n:,} documents ...")
            logged = time.monotonic()
        yield block


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
    reading: ReadOptions,
) -> tuple[ColumnNames, Any]:
    """A table of new documents for a saved model, and the columns that it needs.

    Of a missing column it is said why it is needed.
    """
    names = named_for_new(saved.estimator, covariates, exposure, saved.path)
    text = text or saved.settings.get("text")
    try:
        table = read_table(
            path,
            text,
            target,
            numbers=names.every,
            allow_missing=names.gaps,
            separator=getattr(saved.counter, "separator", None),
            **asdict(reading),
        )
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
        from topicfocus.workflow.clustered import read_on_cluster

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
    from topicfocus.text.counting import TokenizedTexts

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
    counter = counting.counter(n_jobs=jobs)
    texts: list[str] = []
    blocks = _documents(table, texts, KEPT_CHARACTERS if folder is None else FEWER_CHARACTERS)
    try:
        counter.check()
        if folder is not None:
            folder.parent.mkdir(parents=True, exist_ok=True)
        counts = counter.tokenize(blocks, None if folder is None else folder.parent)
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
        None,
        detect_target(
            values, roles.kind, name=_target_name(roles), where=table.where, skip_bad=skip_bad
        ),
        table.rows,
        texts,
        True,
        table.n_skipped,
        columns,
        table.file_of_rows if len(table.files) > 1 else None,
        n_without_group=0 if table.group is None else table.group.count(None),
        folder=folder,
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
    """The function words that a setting names.

    Parameters
    ----------
    which : str or None
        A language such as "english", "none", a file of words, one a line, or "english+FILE" for
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
        f"It is one of {', '.join(LANGUAGES)}, none, a file of words, one a line, or a language "
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
