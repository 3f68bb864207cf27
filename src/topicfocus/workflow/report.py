"""Report: the explorer page of a saved model, for documents of a file."""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import Any

import numpy as np

from topicfocus.config import ColumnNames, ReportConfig, SettingError, setting
from topicfocus.text import detect_target
from topicfocus.text.errors import MissingColumn
from topicfocus.text.numbers import is_missing
from topicfocus.text.tables import is_matrix
from topicfocus.workflow.columns import Columns, target_values
from topicfocus.workflow.predict import same_columns
from topicfocus.workflow.read import Paths, open_new
from topicfocus.workflow.saved import Saved, as_saved
from topicfocus.workflow.write import check_file, whole_file

log = logging.getLogger(__name__)

#: Rows of a file that documents are chosen from, so that a page of a huge file does not take long.
LOOKED_AT = 200_000


def report_file(
    model: Saved | str | os.PathLike[str], file: Paths, **settings: Any
) -> dict[str, Any]:
    """Write one HTML file to explore a model with documents: ``topicfocus report MODEL FILE``.

    Parameters
    ----------
    model : path-like or Saved
        A model file, a folder of `fit_file`, or what `load_model` has loaded.
    file : path-like
        Documents to show; as for `fit_file`.
    **settings
        Fields of `ReportConfig`, such as ``target``, ``by``, ``time``, ``out`` or ``docs``.

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
    return run_report(ReportConfig(model=model, file=file, **settings))  # type: ignore[arg-type]


def run_report(config: ReportConfig) -> dict[str, Any]:
    """Write the page with these settings."""
    paths = config.paths
    check_file(config.out, config.overwrite, (*paths, config.model))
    from topicfocus.report import Explorer

    saved, matrix = as_saved(config.model, config.jobs), is_matrix(paths[0])
    target, names, table = _open(config, saved, matrix)
    whole, shown, chosen = _documents(table, saved, config.docs)
    values = None if table.target is None else _targets(table, saved, chosen, config.skip_bad)
    more: dict[str, Any] = {}
    if not matrix:
        more = Columns.read(names, table).of(chosen).for_predict()
        more["document_names"] = [table.where(i) for i in chosen]
        labels = {name: [of[i] for i in chosen] for name, of in table.labels.items()}
        more["by"] = {name: labels[name] for name in config.by} or None
        more["time"] = {config.time: labels[config.time]} if config.time else None
    if names.covariates:
        more["covariate_names"] = list(names.covariates)
    # The target of a matrix is a file: its stem is a name.
    called = Path(target).stem if target and matrix else target
    explorer = Explorer(whole, **{**more, **shown}, target=values, target_name=called)
    with whole_file(config.out, overwrite=config.overwrite) as stream:
        stream.write(explorer.html)
    return {"page": os.fspath(config.out), "documents": len(chosen)}


def _open(config: ReportConfig, saved: Saved, matrix: bool) -> tuple[str | None, ColumnNames, Any]:
    """The target, the columns that the model needs, and the table of the documents.

    A file without the target of the fit has no targets, unless the target was asked for.
    """
    grouping = tuple(dict.fromkeys((*config.by, *filter(None, [config.time]))))
    if matrix and grouping:
        option = setting("by") if config.by else setting("time")
        raise SettingError(f"{option} names a column of a table, not of a count matrix.")
    # The target of another matrix is in a file of its own.
    target = config.target or (None if matrix else saved.columns.get("target"))
    try:
        return target, *open_new(config, saved, target=target, labels=grouping)
    except MissingColumn as error:
        if error.column != target or target == config.target:
            raise
    log.info(f"No column {target!r}: the page shows the documents without targets.")
    return None, *open_new(config, saved, labels=grouping)


def _targets(table: Any, saved: Saved, chosen: np.ndarray, skip_bad: bool) -> Any:
    """Targets of the documents that are shown, as the model takes them; None if there are none."""
    every = list(table.target)
    values = [every[i] for i in chosen]
    known = {str(value) for value in values if value is not None and not is_missing(str(value))}
    if not known:
        return None
    if len(known) == 1 and hasattr(saved.estimator, "classes_"):
        labels = {str(label): label for label in saved.estimator.classes_.tolist()}
        return np.array([labels.get(str(value)) for value in values], dtype=object)
    found = detect_target(
        [*values, "0", "1"] if len(known) == 1 else values,  # a number needs two values
        saved.estimator.fitted_.parts[0].family.kind,
        where=lambda i: table.where(int(chosen[i])),
        skip_bad=skip_bad,
    )
    return target_values(found)[: len(values)]


def _documents(table: Any, saved: Saved, most: int) -> tuple[Any, dict[str, Any], np.ndarray]:
    """What the page is made of: the model as it takes the documents, some of them, and which.

    A random choice where there are more than `most`, because files are often sorted: the first
    ones may be of one class, one shop or one year.
    """
    if hasattr(table, "corpus"):
        counts = same_columns(table.corpus, saved.counter, saved.estimator)
        chosen = _some(counts.shape[0], most)
        words = table.corpus.vocabulary
        if saved.counter is not None:
            words = saved.counter.get_feature_names_out().tolist()
        # Names of columns are no text: words are picked from a list.
        return saved.estimator, {"counts": counts[chosen], "vocabulary": words}, chosen
    texts: list[str] = []
    for block in table:
        texts.extend(block.texts)
        if len(texts) >= max(LOOKED_AT, most):
            break
    chosen = _some(len(texts), most)
    return saved.whole, {"texts": [texts[i] for i in chosen]}, chosen


def _some(n: int, most: int) -> np.ndarray:
    """All of n documents, or a random choice, in their order."""
    if n <= most:
        return np.arange(n)
    return np.sort(np.random.default_rng(0).choice(n, most, replace=False))
