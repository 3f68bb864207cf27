"""Files that the workers of a cluster read and count, by the readers of Dask."""

from __future__ import annotations

import logging
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from topicfocus.config import CountOptions, FitConfig, ReadOptions, TuneConfig
from topicfocus.text import ReadError, detect_target
from topicfocus.workflow.columns import Columns
from topicfocus.workflow.errors import SettingError, setting
from topicfocus.workflow.read import Source

log = logging.getLogger(__name__)

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
        min_df=counting.min_df if isinstance(counting.min_df, int) else 1, max_df=1.0
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
