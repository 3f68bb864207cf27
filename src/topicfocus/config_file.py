"""Settings of a fit as a TOML file: config.toml of a result, and files for ``--config``."""

from __future__ import annotations

import json
import os
import tomllib
from dataclasses import fields
from pathlib import Path
from typing import Any, get_type_hints

from topicfocus import __version__
from topicfocus.config import FitConfig, SettingError, has_type

#: Keys whose values are names of files.
_PATHS = ("file", "vocabulary")


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
    hints = get_type_hints(FitConfig)
    out: dict[str, Any] = {}
    for written, value in content.items():
        key = written.replace("-", "_")
        if key not in known:
            raise SettingError(
                f"the config {place} has {written!r}, which is not a setting of a fit. Settings "
                f"are {', '.join(known)}."
            )
        if not has_type(value, hints[key]):
            kind = known[key].replace("| None", "").strip()
            raise SettingError(f"the config {place}: {written} must be {kind}, not {value!r}.")
        out[key] = _as_argument(place, key, value)
    return out


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
        if value in (None, "") or not one.metadata["saved"]:
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
