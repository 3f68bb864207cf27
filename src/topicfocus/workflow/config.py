"""The settings of a fit as a file: read for ``--config``, and written into the result folder.

A flat table of TOML. Its keys are the fields of the classes of options, so an option that is added
there is known here. Paths in it are relative to the file itself.
"""

from __future__ import annotations

import json
import os
import tomllib
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from topicfocus import __version__
from topicfocus.workflow.errors import SettingError
from topicfocus.workflow.options import ColumnNames, CountOptions, ModelOptions, ReadOptions, Roles

#: Values that are names of files.
_PATHS = ("file", "vocabulary")
#: Keys beside those of the classes: what is read, whether it is compared with a regression, and the
#: mark of the fit that wrote the config.
_MORE = {"file": "str | Sequence[str]", "baseline": "bool", "fingerprint": "str"}
#: What a word of an annotation lets a value be.
_TYPES = {
    "int": (int,),
    "float": (int, float),
    "str": (str,),
    "bool": (bool,),
    "tuple": (list,),
    "Sequence": (list,),
    "dict": (dict,),
    "Any": (str,),
}


def _known() -> dict[str, str]:
    """Every key with the annotation of its type."""
    classes: tuple[Any, ...] = (Roles, ColumnNames, ModelOptions, ReadOptions, CountOptions)
    found = {field.name: str(field.type) for one in classes for field in fields(one)}
    del found["more"]  # its fields are keys of their own
    del found["tuning"], found["tokenizer"]  # of the command tune; never from a file
    found["topics"] = "int"  # what was chosen, not that it was
    return {**_MORE, **found}


def read_config(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The settings of a file such as config.toml of a result folder: arguments of `fit_file`.

    Parameters
    ----------
    path : path-like
        A file of TOML with options of ``topicfocus fit`` (``topics = 8``, ``min_df = 5``, also
        written ``min-df``), and ``file``, what is read. Paths are relative to the file.

    Returns
    -------
    dict
        Keyword arguments of `fit_file`, those of the file only.

    Raises
    ------
    SettingError
        If it is no TOML, or has a key or a value that is no setting.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from topicfocus.workflow import read_config
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "fit.toml")
    ...     _ = path.write_text('target = "stars"\\ntopics = 8\\nmin_df = 5\\n')
    ...     settings = read_config(path)
    >>> settings["target"], settings["topics"], settings["counting"].min_df
    ('stars', 8, 5)
    """
    flat = read_flat(path)
    out = {("path" if key == "file" else key): value for key, value in flat.items()}
    if "stop_words" in out:
        from topicfocus.workflow.read import read_stop_words

        words, encoding = out["stop_words"], out.get("encoding", "utf-8")
        out["stop_words"] = words if isinstance(words, list) else read_stop_words(words, encoding)
    for name, one in (("reading", ReadOptions), ("counting", CountOptions)):
        mine = {f.name: out.pop(f.name) for f in fields(one) if f.name in out}
        if mine:
            out[name] = one(**mine)
    return out


def read_flat(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The keys of a config file with their values, checked, with paths made the reader's."""
    place = Path(path)
    if place.exists() and not place.is_file():
        raise SettingError(f"the config {place} is not a file.")
    try:
        content = tomllib.loads(place.read_bytes().decode("utf-8-sig"))
    except OSError as error:
        raise SettingError(f"the config {place}: {error.strerror or error}.") from None
    except (ValueError, RecursionError) as error:  # TOMLDecodeError and UnicodeError are such
        reason = " ".join(str(error).split()).rstrip(".")
        raise SettingError(f"the config {place} is not TOML: {reason}.") from None
    known, out = _known(), {}
    for written, value in content.items():
        key = written.replace("-", "_")
        if key not in known:
            raise SettingError(
                f"the config {place} has {written!r}, which is no setting of a fit. Settings are "
                f"{', '.join(known)}."
            )
        _check(place, written, value, known[key])
        out[key] = _as_argument(place, key, value)
    return out


def _check(place: Path, key: str, value: Any, annotation: str) -> None:
    allowed = {t for word, types in _TYPES.items() if word in annotation for t in types}
    if type(value) in allowed:
        items = value if isinstance(value, list) else []
        inside = int if "int" in annotation else str
        if all(type(item) is inside for item in items):
            return
    kind = annotation.replace("| None", "").replace("Any", "str").strip()
    raise SettingError(f"the config {place}: {key} must be {kind}, not {value!r}.")


def _as_argument(place: Path, key: str, value: Any) -> Any:
    if key in _PATHS and isinstance(value, list):
        return [_as_argument(place, key, one) for one in value]
    # Stop words are a file, or the name of a list of ours.
    is_file = key == "stop_words" and isinstance(value, str) and (place.parent / value).is_file()
    if is_file or (key in _PATHS and value != "-"):
        return os.path.normpath(place.parent / value)
    if key == "ngrams":
        if len(value) != 2:
            raise SettingError(f"the config {place}: {key} must be two numbers, not {value!r}.")
        return tuple(value)
    return value


# ---- writing -----------------------------------------------------------------------------------


def as_config(
    path: str | list[str],
    roles: Roles,
    options: ModelOptions,
    reading: ReadOptions,
    counting: CountOptions,
    **found: Any,
) -> dict[str, Any]:
    """The settings of a fit; `found` is what was decided on the way (min_df, ...)."""
    flat = {"file": path, **roles.said, "kind": roles.kind}
    for one in (options, reading, counting):
        flat |= asdict(one)
    for name in ("tuning", "tokenizer"):
        del flat[name]
    flat["stop_words"] = "none" if counting.stop_words is None else counting.stop_words
    if counting.stop_words == "auto":
        del flat["stop_words"]  # what fits the other settings, as if nothing was said
    if not options.stability:
        del flat["stability"]
    if options.selection == "predictive":
        del flat["selection"]
    flat |= found
    if isinstance(flat.get("stop_words"), (set, frozenset)):
        flat["stop_words"] = sorted(flat["stop_words"])
    return {key: value for key, value in flat.items() if value is not None}


def config_text(settings: dict[str, Any], folder: Path) -> str:
    """TOML of `as_config` for a file in `folder`."""
    lines = [f"# topicfocus {__version__}. To repeat this fit:"]
    lines += ["#     topicfocus fit --config config.toml --out ANOTHER_FOLDER"]
    lines += ["# Paths are relative to this file."]
    for key, value in settings.items():
        if key in _PATHS:
            value = _relative(value, folder)
        lines.append(f"{key} = {_toml(value)}")
    return "\n".join(lines) + "\n"


def _relative(path: Any, folder: Path) -> Any:
    if isinstance(path, (list, tuple)):
        return [_relative(one, folder) for one in path]
    if path == "-":
        return path
    try:
        return os.path.relpath(os.path.abspath(path), folder.resolve())
    except ValueError:  # another drive of Windows
        return os.path.abspath(path)


def _toml(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, dict):
        inside = ", ".join(f"{_toml(str(name))} = {_toml(one)}" for name, one in value.items())
        return f"{{{inside}}}"
    if isinstance(value, str):
        clean = value.encode("utf-8", "replace").decode("utf-8")
        return json.dumps(clean, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, bool):
        return str(value).lower()
    return repr(value.item() if hasattr(value, "item") else value)
