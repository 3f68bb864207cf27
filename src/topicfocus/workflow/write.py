"""Write results: a folder that appears when it is complete, and single files.

A folder is filled under a temporary name beside its destination and renamed. Only files that a fit
wrote and nobody changed are replaced: manifest.json lists them with their digests.
"""

from __future__ import annotations

import csv
import glob
import hashlib
import io
import json
import math
import os
import re
import secrets
import shutil
import stat
import tomllib
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from topicfocus import __version__
from topicfocus.config import FitConfig, SettingError, setting

if TYPE_CHECKING:
    from topicfocus.workflow.outcome import Outcome

MANIFEST_FILE = "manifest.json"
MODEL_FILE = "model.topicfocus"
METRICS_FILE = "metrics.json"
PREDICTIONS_FILE = "predictions.csv"
TOPICS_FILE = "topics.csv"
WORDS_FILE = "words.csv"
CONFIG_FILE = "config.toml"
EXPLORER_FILE = "explorer.html"
PICTURE_FILE = "frontier.png"
_FORMAT = "topicfocus result"
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
    for ending in _ENDINGS:
        if name.lower().endswith(ending):
            name = name[: -len(ending)]
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
    """Raise an error unless the folder contains nothing but files of an earlier result."""
    present = set(os.listdir(folder))
    if not present:
        return
    advice = f"Move it away, or choose another folder with {setting('out')}."
    listed = _read_manifest(folder)
    if listed is None:
        raise FileExistsError(
            f"{folder} was not written by topicfocus: it has no {MANIFEST_FILE} that lists its "
            f"files, so nothing in it is replaced. {advice}"
        )
    other = sorted(
        name
        for name in present - {MANIFEST_FILE}
        if name not in listed or _digest(folder / name) != listed[name]
    )
    if other:
        raise FileExistsError(
            f"{folder}: {', '.join(other)} was changed or added after the fit, so the folder is "
            f"not replaced. {advice}"
        )


def _read_manifest(folder: Path) -> dict[str, str] | None:
    """Files of a result with their digests; None if there is no manifest of ours."""
    path = folder / MANIFEST_FILE
    try:
        if not stat.S_ISREG(os.lstat(path).st_mode):
            return None
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(content, dict) or content.get("format") != _FORMAT:
        return None
    files = content.get("files")
    return files if isinstance(files, dict) else None


def _digest(path: Path) -> str | None:
    """SHA-256 of a regular file; None for anything else, links included."""
    if not stat.S_ISREG(os.lstat(path).st_mode):
        return None
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


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
    from topicfocus.persistence import replacing

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
        _write_manifest(temporary)
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


def _write_manifest(folder: Path) -> None:
    content = {
        "format": _FORMAT,
        "version": 1,
        "about": "files written by topicfocus; only these are replaced by --overwrite",
        "files": {path.name: _digest(path) for path in sorted(folder.iterdir())},
    }
    with _new_file(folder / MANIFEST_FILE) as stream:
        stream.write(f"{json.dumps(content, indent=2)}\n")


def _new_file(path: Path) -> Any:
    return open(path, "x", encoding="utf-8", errors="replace", newline="")


def write_outcome(folder: Path, outcome: Outcome, *, overwrite: bool) -> Outcome:
    """Write model, metrics, predictions, tables, settings and page; the outcome says where."""
    import topicfocus

    with new_folder(folder, overwrite=overwrite) as temporary:
        topicfocus.save(outcome.pipeline, temporary / MODEL_FILE)
        with _new_file(temporary / METRICS_FILE) as stream:
            json.dump(outcome.result, stream, indent=2, ensure_ascii=False, allow_nan=False)
            stream.write("\n")
        tables = {PREDICTIONS_FILE: outcome.predictions, **outcome.tables}
        for name, table in tables.items():
            with _new_file(temporary / name) as stream:
                write_csv(table, stream)
        if outcome.config is not None:
            with _new_file(temporary / CONFIG_FILE) as stream:
                stream.write(config_text(outcome.config, folder))
        if "tuning" in outcome.result:
            _write_picture(temporary / PICTURE_FILE, outcome.result["tuning"])
        _write_page(temporary / EXPLORER_FILE, outcome)
        written = sorted([*os.listdir(temporary), MANIFEST_FILE])
    return replace(outcome, folder=folder, written=tuple(written))


def _write_picture(path: Path, tuning: dict[str, Any]) -> bool:
    """The frontier as a picture; False where matplotlib is not installed."""
    try:
        # Without pyplot, which keeps figures and needs the main thread.
        from matplotlib.figure import Figure
    except ImportError:
        return False
    from topicfocus.report import plot_frontier

    figure = Figure(figsize=(6.0, 4.0), layout="constrained")
    plot_frontier(tuning["rows"], score=tuning["score"], ax=figure.add_subplot())
    figure.savefig(path, dpi=150)
    return True


def _write_page(path: Path, outcome: Outcome) -> None:
    from topicfocus.report import Explorer

    # A count matrix has no texts: on its page words are chosen from a list.
    model = outcome.pipeline if "texts" in outcome.shown else outcome.pipeline[-1]
    try:
        Explorer(model, **outcome.shown).save(path)
    except (ValueError, TypeError, ImportError) as error:
        # The model is written anyway; `report` can make a page later.
        warnings.warn(f"no explorer page: {' '.join(str(error).split())}", stacklevel=2)


# ---- tables --------------------------------------------------------------------------------------


#: Columns of a table by name, all of the same length.
Table = dict[str, Any]
#: Rows that are converted to strings at a time, to save memory.
_ROWS = 1 << 14


def plain(value: Any) -> Any:
    """A value as JSON has it: Python's own numbers, None for NaN and infinity."""
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def joined(words: Iterable[str]) -> str:
    """Words in a row; with semicolons if some contain spaces, as codes may."""
    words = list(words)
    return ("; " if any(" " in word for word in words) else " ").join(words)


def write_tables(tables: Iterable[Table], stream: Any, *, as_json: bool = False) -> int:
    """Write tables one below the other as CSV or JSON lines; returns the number of rows."""
    n = 0
    for table in tables:
        if as_json:
            write_json_lines(table, stream)
        else:
            write_csv(table, stream, header=n == 0)
        n += len(table["row"])
    return n


def write_csv(table: Table, stream: Any, *, header: bool = True) -> None:
    """Numbers with six digits; empty cells for missing values."""
    writer = csv.writer(stream, lineterminator="\n")
    if header:
        writer.writerow(table)
    n = len(next(iter(table.values()), ()))
    for first in range(0, n, _ROWS):
        block = (_cells(column[first : first + _ROWS]) for column in table.values())
        writer.writerows(zip(*block, strict=True))


def write_json_lines(table: Table, stream: Any) -> None:
    """One object per row."""
    names = list(table)
    for values in zip(*(plain(c) for c in table.values()), strict=True):
        line = json.dumps(dict(zip(names, values, strict=True)), ensure_ascii=False)
        stream.write(line + "\n")


def _cells(column: Any) -> list[str]:
    kind = getattr(getattr(column, "dtype", None), "kind", "O")
    if kind == "f":
        return ["" if value != value else f"{value:.6g}" for value in column.tolist()]
    if kind in "iub":
        return list(map(str, column.tolist()))
    return list(map(_cell, column))


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{value:.6g}"
    return str(value)


# ---- config.toml ---------------------------------------------------------------------------------


#: Keys whose values are names of files.
_PATHS = ("file", "vocabulary")
#: Types of TOML values, by the words of an annotation that allow them.
_TYPES = {
    "int": (int,),
    "float": (int, float),
    "str": (str,),
    "bool": (bool,),
    "tuple": (list,),
    "Sequence": (list,),
    "dict": (dict,),
}


def read_config(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read the settings of a file such as config.toml of a result folder.

    Parameters
    ----------
    path : path-like
        A TOML file with fields of `FitConfig` (``topics = 8``, ``min_df = 5``, also written
        ``min-df``). Paths are relative to the file.

    Returns
    -------
    dict
        Keyword arguments of `fit_file` or `FitConfig`; only those that the file contains.

    Raises
    ------
    SettingError
        If it is not TOML, or has a key or a value that is not a setting.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from topicfocus.workflow import read_config
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "fit.toml")
    ...     _ = path.write_text('target = "stars"\\ntopics = 8\\nmin_df = 5\\n')
    ...     read_config(path)
    {'target': 'stars', 'topics': 8, 'min_df': 5}
    """
    place = Path(path)
    if place.exists() and not place.is_file():
        raise SettingError(f"the config {place} is not a file.")
    try:
        content = tomllib.loads(place.read_bytes().decode("utf-8-sig"))
    except OSError as error:
        raise SettingError(f"the config {place}: {error.strerror or error}.") from None
    except (ValueError, RecursionError) as error:  # includes TOMLDecodeError and UnicodeError
        reason = " ".join(str(error).split()).rstrip(".")
        raise SettingError(f"the config {place} is not TOML: {reason}.") from None
    known = {one.name: str(one.type) for one in fields(FitConfig) if one.metadata["saved"]}
    out: dict[str, Any] = {}
    for written, value in content.items():
        key = written.replace("-", "_")
        if key not in known:
            raise SettingError(
                f"the config {place} has {written!r}, which is not a setting of a fit. Settings "
                f"are {', '.join(known)}."
            )
        _check_type(place, written, value, known[key])
        out[key] = _as_argument(place, key, value)
    return out


def _check_type(place: Path, key: str, value: Any, annotation: str) -> None:
    outside = re.sub(r"\[.*?\]", "", annotation)  # the items of a list are checked below
    allowed = {t for word, types in _TYPES.items() if word in outside for t in types}
    items = value if isinstance(value, list) else []
    inside = int if "int" in annotation else str
    if type(value) not in allowed or any(type(item) is not inside for item in items):
        kind = annotation.replace("| None", "").strip()
        raise SettingError(f"the config {place}: {key} must be {kind}, not {value!r}.")


def _as_argument(place: Path, key: str, value: Any) -> Any:
    if key in _PATHS:
        if isinstance(value, list):
            return [_as_argument(place, key, one) for one in value]
        return value if value == "-" else os.path.normpath(place.parent / value)
    if key == "stop_words" and isinstance(value, str):
        return _stop_words(place, value)
    if key == "ngrams":
        if len(value) != 2:
            raise SettingError(f"the config {place}: {key} must be two numbers, not {value!r}.")
        return tuple(value)
    return value


def _stop_words(place: Path, value: str) -> str | None:
    """A list of ours. A file is not accepted: its lines would be copied into the result."""
    from topicfocus.text.stop_words import LANGUAGES

    if value == "none":
        return None
    if value != "auto" and value not in LANGUAGES:
        raise SettingError(
            f"the config {place}: stop_words must be a list of words, auto, none, or one of "
            f"{', '.join(LANGUAGES)}, not {value!r}. Name a file on the command line."
        )
    return value


def config_text(config: FitConfig, folder: Path) -> str:
    """The settings as TOML, for a file in `folder`."""
    lines = [f"# topicfocus {__version__}. To repeat this fit:"]
    lines += ["#     topicfocus fit --config config.toml --out ANOTHER_FOLDER"]
    lines += ["# Paths are relative to this file."]
    for one in fields(config):
        value = getattr(config, one.name)
        if one.name == "stop_words":
            value = "none" if value is None else value
        if value is None or not one.metadata["saved"]:
            continue
        if one.name in _PATHS:
            value = _relative(value, folder)
        lines.append(f"{one.name} = {_toml(value)}")
    return "\n".join(lines) + "\n"


def _relative(path: Any, folder: Path) -> Any:
    if isinstance(path, (list, tuple)):
        return [_relative(one, folder) for one in path]
    if path == "-":
        return path
    try:
        return os.path.relpath(os.path.abspath(path), folder.resolve())
    except ValueError:  # another drive on Windows
        return os.path.abspath(path)


def _toml(value: Any) -> str:
    if isinstance(value, (set, frozenset)):
        value = sorted(value)
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, dict):
        inside = ", ".join(f"{_toml(str(name))} = {_toml(one)}" for name, one in value.items())
        return f"{{{inside}}}"
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if isinstance(value, str):
        clean = value.encode("utf-8", "replace").decode("utf-8")
        return json.dumps(clean, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, bool):
        return str(value).lower()
    return repr(value.item() if hasattr(value, "item") else value)
