"""Report: the explorer page of a saved model, for documents of a file."""

from __future__ import annotations

import heapq
import os
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from topicfocus.text import detect_target, read_table
from topicfocus.text.tables import is_matrix
from topicfocus.workflow.columns import Columns
from topicfocus.workflow.errors import SettingError
from topicfocus.workflow.models import Saved, as_saved, model_files, target_values
from topicfocus.workflow.options import ReadOptions
from topicfocus.workflow.outputs import check_output, whole_file
from topicfocus.workflow.predict import same_columns
from topicfocus.workflow.read import Paths, open_new
from topicfocus.workflow.wording import setting

#: Rows of a file that documents are chosen from, so that a page of a huge file does not take long.
LOOKED_AT = 200_000


def report_file(
    model: Saved | str | os.PathLike[str],
    path: Paths,
    *,
    text: str | None = None,
    target: str | None = None,
    covariates: Sequence[str] = (),
    exposure: str | None = None,
    by: Sequence[str] = (),
    time: str | None = None,
    out: str | os.PathLike[str] = "explorer.html",
    overwrite: bool = False,
    docs: int = 2000,
    reading: ReadOptions = ReadOptions(),  # noqa: B008 - frozen
    jobs: int | None = None,
) -> dict[str, Any]:
    """Write one HTML file to explore a model with documents: ``topicfocus report MODEL FILE``.

    Parameters
    ----------
    model : path-like or Saved
        A model file, a folder of `fit_file`, or what `load_model` has loaded.
    path : path-like
        Documents to show; as for `fit_file`.
    text, target, covariates, exposure
        Columns; by default as in the fit.
    by : sequence of str, optional
        Columns of groups: the page shows the topics of each.
    time : str, optional
        Column of numbers or dates: the page shows the topics over it.
    out : path-like, default="explorer.html"
    overwrite : bool, default=False
        Replace the page if it exists.
    docs : int, default=2000
        Documents to make the page from at most: a random choice, the same each time, of the first
        200,000 rows.
    reading : ReadOptions, optional
    jobs : int, optional
        Threads; all cores by default.

    Returns
    -------
    dict
        "page", its path, and "documents", how many it shows.

    Raises
    ------
    FileExistsError
        If the page exists, or is what is read.
    ReadError
        If the file cannot be read, or lacks a column that the model needs.

    Examples
    --------
    With the folder that the example of `fit_file` has written:

    >>> from topicfocus.workflow import report_file
    >>> report_file("reviews-topics", "reviews.csv", docs=100)
    {'page': 'explorer.html', 'documents': 100}
    """
    page = Path(out)
    given = [path] if isinstance(path, (str, os.PathLike)) else path
    check_output(page, overwrite, (*given, *model_files(model)))
    from topicfocus.report import Explorer

    saved, matrix = as_saved(model, jobs), is_matrix(given[0])
    _check_grouping(os.fspath(given[0]), by, time)
    if not matrix:  # the target of another matrix is in a file of its own
        target = target or saved.settings.get("target")
    names, table = open_new(
        path,
        saved,
        text=text,
        target=target,
        covariates=covariates,
        exposure=exposure,
        reading=reading,
    )
    grouping = {
        name: read_table(path, text or saved.settings.get("text"), name, **asdict(reading))
        for name in dict.fromkeys((*by, *((time,) if time else ())))
    }
    # The target of a matrix is a file: its stem is a name.
    called = Path(target).stem if target and matrix else target
    whole, shown, chosen = _documents(table, saved, docs)
    values = None if table.target is None else _targets(table, saved, chosen, reading.skip_bad)
    more: dict[str, Any] = {}
    if not hasattr(table, "corpus"):
        more = Columns.read(names, table).of(chosen).for_predict()
        more["document_names"] = _row_names(table, chosen)
    if names.covariates:
        more["covariate_names"] = list(names.covariates)
    if grouping:
        keys = _keys(table)
        rows = [keys[i] for i in chosen]
        values_of = {name: _of_rows(one, rows) for name, one in grouping.items()}
        more["by"] = {name: values_of[name] for name in by} or None
        more["time"] = {time: values_of[time]} if time else None
    explorer = Explorer(whole, **{**more, **shown}, target=values, target_name=called)
    with whole_file(page, overwrite=overwrite) as stream:
        stream.write(explorer.html)
    return {"page": str(page), "documents": len(chosen)}


def _check_grouping(path: str, by: Sequence[str], time: str | None) -> None:
    """Columns of groups are read in a pass of their own, from a table."""
    if not by and time is None:
        return
    option = setting("by") if by else setting("time")
    if is_matrix(path):
        raise SettingError(f"{option} names a column of a table; {path} is a count matrix.")
    if path == "-":
        raise SettingError(f"{option} reads the file twice, so it cannot be standard input.")


def _targets(table: Any, saved: Saved, chosen: np.ndarray, skip_bad: bool) -> Any:
    """Of the documents that are shown, as the model takes them."""
    values = list(table.target)
    found = detect_target(
        [values[i] for i in chosen],
        saved.settings.get("kind"),
        where=lambda i: table.where(int(chosen[i])),
        skip_bad=skip_bad,
    )
    return target_values(found)


def _keys(table: Any) -> list[tuple[str, int]]:
    """File and row of all that was read: rows of several files have the same numbers."""
    return list(zip(map(str, table.file_of_rows), map(int, table.rows), strict=True))


def _row_names(table: Any, chosen: np.ndarray) -> list[str]:
    """What documents are called, as in messages."""
    keys = _keys(table)
    several = len(table.files) > 1
    return [f"{keys[i][0]}, row {keys[i][1]}" if several else f"row {keys[i][1]}" for i in chosen]


def _of_rows(table: Any, rows: list[tuple[str, int]]) -> list[Any]:
    """The values of a column in these rows of the file; None where there is none."""
    last = rows[-1] if rows else None
    for block in table:
        path = str(block.path or table.path)
        if last is None or (path == last[0] and block.rows[-1] >= last[1]):
            break
    found = dict(zip(_keys(table), table.target, strict=False))
    return [found.get(row) for row in rows]


def _documents(table: Any, saved: Saved, most: int) -> tuple[Any, dict[str, Any], np.ndarray]:
    """What the page is made of: the model as it takes the documents, some of them, and which.

    A random choice where there are more than `most`, because files are often sorted: the first
    ones may be of one class, one shop or one year.
    """
    rng = np.random.default_rng(0)
    if hasattr(table, "corpus"):
        counts = same_columns(table.corpus, saved.counter, saved.estimator)
        chosen = np.arange(counts.shape[0])
        if len(chosen) > most:
            chosen = np.sort(rng.choice(len(chosen), most, replace=False))
        words = table.corpus.vocabulary
        if saved.counter is not None:
            words = saved.counter.get_feature_names_out().tolist()
        # Names of columns are no text: words are picked from a list.
        return saved.estimator, {"counts": counts[chosen], "vocabulary": words}, chosen
    kept: list[tuple[float, int, str]] = []
    n = 0
    for block in table:
        # The documents with the smallest random numbers, whatever the size of the blocks.
        numbers = rng.random(len(block.strings)).tolist()
        kept += zip(numbers, range(n, n + len(numbers)), block.strings, strict=True)
        n += len(numbers)
        if len(kept) > most:
            kept = heapq.nsmallest(most, kept)
        if n >= max(LOOKED_AT, most):
            break
    kept.sort(key=lambda one: one[1])
    chosen = np.array([place for _, place, _ in kept], dtype=int)
    return saved.whole, {"texts": [text for *_, text in kept]}, chosen
