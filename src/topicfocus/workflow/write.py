"""Write results: a folder that appears when it is complete, and single files.

A folder is filled under a temporary name beside its destination and renamed. It replaces a folder
of that name only if that contains a model and nothing but files that a fit writes.
"""

from __future__ import annotations

import glob
import io
import json
import os
import secrets
import shutil
import stat
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from topicfocus.config import SettingError, config_text, setting
from topicfocus.persistence import plain, replacing, save

if TYPE_CHECKING:
    import pandas as pd

    from topicfocus.workflow.result import Result

MODEL_FILE = "model.topicfocus"
METRICS_FILE = "metrics.json"
#: All files that a fit may write into a folder.
_FILES = (
    *(MODEL_FILE, METRICS_FILE, "config.toml", "explorer.html", "frontier.png"),
    *("predictions.csv", "topics.csv", "words.csv"),
)
_ENDINGS = (
    *(".gz", ".bz2", ".xz", ".zip", ".zst", ".csv", ".tsv", ".tab", ".jsonl", ".ndjson", ".json"),
    *(".parquet", ".pq", ".xlsx", ".xlsm", ".npz", ".mtx"),
)


def default_folder(file: str) -> str:
    """`reviews-topics` in the current folder for `somewhere/reviews.csv.gz`.

    For a pattern such as `parts/*.csv`, the name of its folder.
    """
    if file == "-":
        return "topicfocus-topics"
    path = Path(file)
    while glob.has_magic(path.name) and not path.exists():
        path = path.parent
    name = path.resolve().name
    while name.lower().endswith(_ENDINGS):
        name = name[: name.rindex(".")]
    return f"{name or 'topicfocus'}-topics"


# ---- checks before long work -------------------------------------------------------------------


def check_folder(out: str | os.PathLike[str], overwrite: bool, sources: Iterable[str]) -> Path:
    """The folder to write, if nothing of that name exists or it is a result to be replaced.

    `sources` are the files that are read; none of them is replaced.
    """
    folder = Path(os.path.realpath(out))
    if not folder.name:
        raise SettingError(f"{setting('out')} must be the name of a folder, got {str(out)!r}.")
    _check_parent(folder)
    found = _status(folder if Path(out).exists() else Path(out))
    if found is None:
        return folder
    advice = f"Choose another folder with {setting('out')}"
    if not stat.S_ISDIR(found.st_mode):
        raise FileExistsError(f"{out} is not a folder. {advice}.")
    if not overwrite:
        raise FileExistsError(
            f"{out} exists. {advice}, or replace it: {setting('overwrite', True)}."
        )
    if Path.cwd().is_relative_to(folder):
        raise FileExistsError(f"{out} is the current folder, which is not replaced. {advice}.")
    for source in sources:
        if Path(os.path.realpath(source)).is_relative_to(folder):
            raise FileExistsError(
                f"{source} is read, and is in {out}: it is not replaced. {advice}."
            )
    _check_replaceable(folder)
    return folder


def _check_parent(path: Path) -> None:
    if not path.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {path.parent} to write into; create it first.")
    if not os.access(path.parent, os.W_OK):
        raise PermissionError(f"the folder {path.parent} cannot be written to.")


def _status(path: Path) -> os.stat_result | None:
    """Status of a file or a link, None if there is none; an error for a name that is too long."""
    try:
        return os.lstat(path)
    except FileNotFoundError:
        return None


def _check_replaceable(folder: Path) -> None:
    """Raise an error unless the folder contains nothing but files that a fit writes."""
    advice = f"Move it away, or choose another folder with {setting('out')}."
    present = {entry.name: entry for entry in os.scandir(folder)}
    if present and MODEL_FILE not in present:
        raise FileExistsError(
            f"{folder} was not written by topicfocus: it has no {MODEL_FILE}, so nothing in it is "
            f"replaced. {advice}"
        )
    other = sorted(
        name
        for name, entry in present.items()
        if name not in _FILES or not entry.is_file(follow_symlinks=False)
    )
    if other:
        raise FileExistsError(
            f"{folder} has {', '.join(other)}, which a fit does not write, so the folder is not "
            f"replaced. {advice}"
        )


def check_file(path: str | os.PathLike[str], overwrite: bool, inputs: Iterable[Any] = ()) -> None:
    """Raise an error unless `path` may be written; `inputs` are read and never replaced."""
    place, advice = Path(path), f"Choose another {setting('out')}"
    _check_parent(Path(os.path.realpath(place)))
    if _status(place) is None:
        return
    if place.is_dir():
        raise IsADirectoryError(f"{place} is a folder. {advice}, the name of a file.")
    if place.exists() and not place.is_file():
        raise FileExistsError(
            f"{place} is not a regular file (a device or a pipe): it is not written to. {advice}."
        )
    target = Path(os.path.realpath(place))
    for source in filter(None, inputs):
        read = Path(os.path.realpath(source))
        same = place.exists() and read.exists() and os.path.samefile(place, read)
        if same or target.is_relative_to(read):
            raise FileExistsError(
                f"{place} is what is read ({source}): it is not replaced. {advice}."
            )
    if not overwrite:
        raise FileExistsError(
            f"{place} exists. {advice}, or replace it: {setting('overwrite', True)}."
        )


# ---- writing -----------------------------------------------------------------------------------


@contextmanager
def whole_file(path: str | os.PathLike[str], *, overwrite: bool) -> Iterator[Any]:
    """A text file that appears when it is complete."""
    with replacing(path, overwrite=overwrite) as raw:
        # Unpaired surrogates, which damaged texts may contain, cannot be encoded.
        text = io.TextIOWrapper(
            raw, encoding="utf-8", errors="replace", newline="", write_through=True
        )
        yield text
        text.detach()  # flushed; `replacing` closes the file itself


@contextmanager
def new_folder(folder: Path, *, overwrite: bool) -> Iterator[Path]:
    """A temporary folder that is renamed to `folder` at the end, and removed after an error."""
    temporary = folder.with_name(f".topicfocus-{secrets.token_hex(8)}.tmp")
    try:
        temporary.mkdir()
        yield temporary
        if not folder.exists():
            temporary.rename(folder)
        elif overwrite:
            _check_replaceable(folder)
            _swap(temporary, folder)
        else:
            raise FileExistsError(f"{folder} was created by another process during the fit.")
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _swap(temporary: Path, folder: Path) -> None:
    """Put a new result in the place of an earlier one, which is then removed."""
    old = temporary.with_suffix(".old")
    folder.rename(old)
    try:
        temporary.rename(folder)
    except BaseException:
        old.rename(folder)
        raise
    shutil.rmtree(old)


def _new_file(path: Path) -> Any:
    return open(path, "x", encoding="utf-8", errors="replace", newline="")


def write_result(folder: Path, result: Result, *, overwrite: bool) -> tuple[str, ...]:
    """Write model, metrics, tables, settings and page; returns the names of the files."""
    with new_folder(folder, overwrite=overwrite) as temporary:
        save(result.pipeline, temporary / MODEL_FILE)
        with _new_file(temporary / METRICS_FILE) as stream:
            json.dump(result.summary, stream, indent=2, ensure_ascii=False, allow_nan=False)
            stream.write("\n")
        tables = {
            "predictions.csv": result.predictions,
            "topics.csv": result.topics,
            "words.csv": result.words,
        }
        for name, table in tables.items():
            with _new_file(temporary / name) as stream:
                write_csv(table, stream)
        if result.config is not None:
            with _new_file(temporary / "config.toml") as stream:
                stream.write(config_text(result.config, folder))
        if "tuning" in result.summary:
            _write_picture(temporary / "frontier.png", result.summary["tuning"])
        try:
            result.explorer().save(temporary / "explorer.html")
        except (ValueError, TypeError, ImportError) as error:
            # The model is written anyway; `report` can make a page later.
            warnings.warn(f"no explorer page: {' '.join(str(error).split())}", stacklevel=2)
        return tuple(sorted(os.listdir(temporary)))


def _write_picture(path: Path, tuning: dict[str, Any]) -> None:
    """The frontier as a picture, if matplotlib is installed."""
    try:
        # Without pyplot, which keeps figures and needs the main thread.
        from matplotlib.figure import Figure
    except ImportError:
        return
    from topicfocus.report import plot_frontier

    figure = Figure(figsize=(6.0, 4.0), layout="constrained")
    plot_frontier(tuning["rows"], score=tuning["score"], ax=figure.add_subplot())
    figure.savefig(path, dpi=150)


# ---- tables --------------------------------------------------------------------------------------


def write_tables(tables: Iterable[pd.DataFrame], stream: Any, *, as_json: bool = False) -> int:
    """Write tables one below the other as CSV or JSON lines; returns the number of rows."""
    n = 0
    for table in tables:
        if as_json:
            write_json_lines(table, stream)
        else:
            write_csv(table, stream, header=n == 0)
        n += len(table)
    return n


def write_csv(table: pd.DataFrame, stream: Any, *, header: bool = True) -> None:
    """Numbers with six digits; empty cells for missing values."""
    table.to_csv(stream, header=header, index=False, float_format="%.6g", lineterminator="\n")


def write_json_lines(table: pd.DataFrame, stream: Any) -> None:
    """One object per row."""
    for row in table.to_dict("records"):
        stream.write(json.dumps(plain(row), ensure_ascii=False) + "\n")
