"""What of a result folder is ours: a list of the files that a fit wrote, with their digests.

Only files that are on the list, and still are what was written, are ever replaced or removed. A
list is no proof: names that a fit never writes are not believed.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MANIFEST_FILE = "manifest.json"
MODEL_FILE = "model.topicfocus"
METRICS_FILE = "metrics.json"
PREDICTIONS_FILE = "predictions.csv"
EXPLORER_FILE = "explorer.html"
PICTURE_FILE = "frontier.png"
TOPICS_FILE = "topics.csv"
WORDS_FILE = "words.csv"
CONFIG_FILE = "config.toml"
#: Every name that a fit writes, the manifest apart.
RESULT_FILES = (
    MODEL_FILE,
    METRICS_FILE,
    PREDICTIONS_FILE,
    TOPICS_FILE,
    WORDS_FILE,
    CONFIG_FILE,
    EXPLORER_FILE,
    PICTURE_FILE,
)
_FORMAT = "topicfocus result"


@dataclass(frozen=True)
class Manifest:
    """Files of a folder: the digests each may have, and the fingerprint of the fit.

    A file has one digest; two while a result takes the place of another, file by file.
    """

    files: dict[str, tuple[str, ...]]
    fingerprint: str | None = None
    whole: bool = True


def digest(path: Path) -> str | None:
    """SHA-256 of a regular file, None of anything else, links included."""
    try:
        if not stat.S_ISREG(os.lstat(path).st_mode):
            return None
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError:
        return None


def describe(folder: Path, fingerprint: str | None) -> Manifest:
    """The manifest of the result that is in `folder`."""
    found = {name: digest(folder / name) for name in RESULT_FILES}
    return Manifest(
        {name: (value,) for name, value in found.items() if value is not None}, fingerprint
    )


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write it, or put it in the place of the one before, at once."""
    from topicfocus.persistence.atomic import replacing

    content = {
        "format": _FORMAT,
        "version": 1,
        "about": "files written by topicfocus; only these are replaced by --overwrite",
        "whole": manifest.whole,
        "fingerprint": manifest.fingerprint,
        "files": {name: list(digests) for name, digests in manifest.files.items()},
    }
    with replacing(folder / MANIFEST_FILE) as stream:
        stream.write(f"{json.dumps(content, indent=2)}\n".encode())


def read_manifest(folder: Path) -> Manifest | None:
    """The manifest of a folder; None where there is none, or none of ours."""
    path = folder / MANIFEST_FILE
    try:
        if not stat.S_ISREG(os.lstat(path).st_mode):
            return None
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(content, dict) or content.get("format") != _FORMAT:
        return None
    listed = content.get("files")
    if not isinstance(listed, dict):
        return None
    files = {name: _digests(listed[name]) for name in RESULT_FILES if name in listed}
    fingerprint = content.get("fingerprint")
    fingerprint = fingerprint if isinstance(fingerprint, str) else None
    return Manifest(files, fingerprint, content.get("whole") is True)


def _digests(value: Any) -> tuple[str, ...]:
    return tuple(v for v in value if isinstance(v, str)) if isinstance(value, list) else ()


def not_ours(folder: Path, manifest: Manifest, names: Iterable[str] = RESULT_FILES) -> list[str]:
    """Of the names those that are in the folder, but not as the manifest knows them."""
    return [
        name
        for name in names
        if os.path.lexists(folder / name)
        and digest(folder / name) not in manifest.files.get(name, ())
    ]
