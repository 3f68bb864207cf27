"""Report: the explorer page of a saved model, for documents of a file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from topicfocus.text import detect_target
from topicfocus.workflow.columns import Columns
from topicfocus.workflow.models import Saved, as_saved, model_files, target_values
from topicfocus.workflow.options import ReadOptions
from topicfocus.workflow.outputs import check_output, whole_file
from topicfocus.workflow.read import Paths, open_new


def report_file(
    model: Saved | str | os.PathLike[str],
    path: Paths,
    *,
    text: str | None = None,
    target: str | None = None,
    covariates: Sequence[str] = (),
    exposure: str | None = None,
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
        Documents to show; as for `fit_file`, but no count matrix.
    text, target, covariates, exposure
        Columns; by default as in the fit.
    out : path-like, default="explorer.html"
    overwrite : bool, default=False
        Replace the page if it exists.
    docs : int, default=2000
        Documents on the page at most, the first ones.
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
    >>> from topicfocus.workflow import report_file
    >>> report_file("reviews-topics", "reviews.csv", docs=500)  # doctest: +SKIP
    {'page': 'explorer.html', 'documents': 500}
    """
    page = Path(out)
    given = [path] if isinstance(path, (str, os.PathLike)) else path
    check_output(page, overwrite, (*given, *model_files(model)))
    from topicfocus.report import Explorer

    saved = as_saved(model, jobs)
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
    if hasattr(table, "corpus"):
        raise ValueError(f"{table.path} is a count matrix; the page needs texts.")
    texts: list[str] = []
    for block in table:
        texts += block.strings
        if len(texts) >= docs:
            break
    texts = texts[:docs]
    values = None
    if table.target is not None:
        kind = saved.settings.get("kind")
        found = detect_target(
            table.target[:docs], kind, where=table.where, skip_bad=reading.skip_bad
        )
        values = target_values(found)
    shown = Columns.read(names, table).of(np.arange(len(texts))).for_predict()
    if names.covariates:
        shown["covariate_names"] = list(names.covariates)
    explorer = Explorer(saved.whole, texts=texts, target=values, target_name=target, **shown)
    with whole_file(page, overwrite=overwrite) as stream:
        stream.write(explorer.html)
    return {"page": str(page), "documents": len(texts)}
