"""The folder that fit writes: whole or not at all."""

from __future__ import annotations

import csv
import json
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from topicfocus.cli.console import plain
from topicfocus.cli.models import METRICS_FILE, MODEL_FILE

PREDICTIONS_FILE = "predictions.csv"
EXPLORER_FILE = "explorer.html"
_ENDINGS = (".gz", ".csv", ".tsv", ".tab", ".jsonl", ".ndjson", ".json", ".parquet", ".pq", ".npz")


def default_folder(file: str) -> Path:
    """`reviews-topics` in the current folder for `somewhere/reviews.csv.gz`."""
    if file == "-":
        return Path("topicfocus-topics")
    name = Path(file).resolve().name
    for ending in (*_ENDINGS, ".mtx"):
        if name.lower().endswith(ending):
            name = name[: -len(ending)]
    return Path(f"{name or 'topicfocus'}-topics")


def check_free(folder: Path, overwrite: bool) -> None:
    """Before long work: nothing of that name is there, and its parent is."""
    if (folder.exists() or folder.is_symlink()) and not overwrite:
        raise FileExistsError(
            f"{folder} exists. Choose another folder with --out, or replace it with --overwrite."
        )
    if folder.exists() and not folder.is_dir():
        raise FileExistsError(f"{folder} is a file. Choose another name with --out.")
    ours = (folder / METRICS_FILE).is_file()
    # --overwrite with a slip in --out must not cost somebody a folder of other things.
    if overwrite and folder.is_dir() and any(folder.iterdir()) and not ours:
        raise FileExistsError(
            f"{folder} was not written by topicfocus (it has no {METRICS_FILE}), so it is not "
            "replaced. Choose another folder with --out."
        )
    parent = folder.resolve().parent
    if not parent.is_dir():
        raise FileNotFoundError(f"there is no folder {parent} to write into; create it first.")
    if not os.access(parent, os.W_OK):
        raise PermissionError(f"the folder {parent} cannot be written to.")


@contextmanager
def writing(folder: Path) -> Iterator[Path]:
    """A new folder to fill, which takes the name `folder` when the block ends without error."""
    folder = folder.resolve()
    temporary = folder.with_name(f".{folder.name}-{secrets.token_hex(6)}.tmp")
    temporary.mkdir()
    try:
        yield temporary
        if folder.exists():
            old = folder.with_name(f".{folder.name}-{secrets.token_hex(6)}.old")
            folder.rename(old)
            temporary.rename(folder)
            shutil.rmtree(old, ignore_errors=True)
        else:
            temporary.rename(folder)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise


def write_model(folder: Path, model: Any) -> None:
    import topicfocus

    topicfocus.save(model, folder / MODEL_FILE)


def write_metrics(folder: Path, result: dict[str, Any]) -> None:
    text = json.dumps(plain(result), indent=2, ensure_ascii=False, allow_nan=False)
    (folder / METRICS_FILE).write_text(text + "\n", encoding="utf-8")


def write_predictions(folder: Path, columns: dict[str, Any]) -> None:
    """Columns of equal length as CSV, numbers with six digits, empty where nothing is known."""
    with (folder / PREDICTIONS_FILE).open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*(map(cell, column) for column in columns.values()), strict=True))


def cell(value: Any) -> str:
    """A value in a table."""
    if value is None:
        return ""
    if isinstance(value, (float, np.floating)):
        return "" if np.isnan(value) else f"{value:.6g}"
    return str(value)
