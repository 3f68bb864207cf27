"""Write: the folder of a fit, whole or not at all. Imports nothing heavy before it writes."""

from __future__ import annotations

import json
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from topicfocus.workflow.remarks import Remarks
from topicfocus.workflow.wording import setting

if TYPE_CHECKING:
    from topicfocus.workflow.outcome import Outcome

MODEL_FILE = "model.topicfocus"
METRICS_FILE = "metrics.json"
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
            f"{folder} exists. Choose another folder with {setting('out')}, or replace it with "
            f"{setting('overwrite', True)}."
        )
    if folder.exists() and not folder.is_dir():
        raise FileExistsError(f"{folder} is a file. Choose another name with {setting('out')}.")
    ours = (folder / METRICS_FILE).is_file()
    # --overwrite with a slip in --out must not cost somebody a folder of other things.
    if overwrite and folder.is_dir() and any(folder.iterdir()) and not ours:
        raise FileExistsError(
            f"{folder} was not written by topicfocus (it has no {METRICS_FILE}), so it is not "
            f"replaced. Choose another folder with {setting('out')}."
        )
    parent = folder.resolve().parent
    if not parent.is_dir():
        raise FileNotFoundError(f"there is no folder {parent} to write into; create it first.")
    if not os.access(parent, os.W_OK):
        raise PermissionError(f"the folder {parent} cannot be written to.")


def check_page(page: Path, overwrite: bool) -> None:
    """Before a page is made."""
    if page.exists() and not overwrite:
        raise FileExistsError(
            f"{page} exists. Choose another {setting('out')}, or replace it: "
            f"{setting('overwrite', True)}."
        )


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


def write_outcome(folder: Path, outcome: Outcome, remarks: Remarks) -> list[str]:
    """Model, figures, predictions and, where texts are at hand, the page; returns their names."""
    import topicfocus
    from topicfocus.workflow.predict import write_csv

    with writing(folder) as temporary:
        topicfocus.save(outcome.pipeline, temporary / MODEL_FILE)
        text = json.dumps(outcome.result, indent=2, ensure_ascii=False, allow_nan=False)
        (temporary / METRICS_FILE).write_text(text + "\n", encoding="utf-8")
        with (temporary / PREDICTIONS_FILE).open("w", encoding="utf-8", newline="") as stream:
            write_csv(outcome.predictions, stream)
        if "tuning" in outcome.result:
            from topicfocus.workflow.tune import PICTURE_FILE, write_picture

            write_picture(temporary / PICTURE_FILE, outcome.result["tuning"])
        if outcome.shown["texts"]:
            _write_page(temporary / EXPLORER_FILE, outcome, remarks)
        return sorted(path.name for path in temporary.iterdir())


def _write_page(path: Path, outcome: Outcome, remarks: Remarks) -> None:
    from topicfocus.report import Explorer

    try:
        Explorer(outcome.pipeline, **outcome.shown).save(path)
    except (ValueError, TypeError, ImportError) as error:
        # The model is what was asked for; a page can be made from it later.
        remarks.warn(f"no explorer page: {' '.join(str(error).split())}")
