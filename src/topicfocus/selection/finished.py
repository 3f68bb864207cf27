"""Finished fits of a search as files of a folder, so that an interrupted search goes on.

`run.json` says of which data and settings; each fit is a small JSON file of figures, written
atomically, with a checksum: one that is damaged is as if it were not there. No model is kept,
nothing is ever executed, and nothing is deleted.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from topicfocus.counts import ChunkedCounts
from topicfocus.inference.marks import marks
from topicfocus.persistence.atomic import replacing

_RUN = "run.json"
_FORMAT = "topicfocus fits"
_BEGUN = re.compile(r"\.topicfocus-[0-9a-f]+\.tmp")


class Finished:
    """Records by name in a folder; without a folder nothing is kept."""

    def __init__(self, folder: str | os.PathLike[str] | None, mark: str, what: str) -> None:
        self.folder = None if folder is None else Path(folder)
        if self.folder is not None:
            self._open(self.folder, mark, what)

    def _open(self, folder: Path, mark: str, what: str) -> None:
        """The folder of exactly this work, made if there is none."""
        run = folder / _RUN
        if not folder.exists():
            folder.mkdir(parents=True)
        elif not folder.is_dir():
            raise FileExistsError(f"checkpoint={str(folder)!r} is a file; name a folder.")
        # A process that was killed may have left a file that it had begun.
        elif not run.exists() and any(not _BEGUN.fullmatch(p.name) for p in folder.iterdir()):
            raise FileExistsError(
                f"checkpoint={str(folder)!r} is a folder of other things; name a new one."
            )
        if run.exists():
            self._check(run, mark, what)
            return
        content = {"format": _FORMAT, "version": 1, "what": what, "fingerprint": mark}
        with replacing(run) as stream:
            stream.write(json.dumps(content, indent=2).encode())

    def _check(self, run: Path, mark: str, what: str) -> None:
        try:
            found = json.loads(run.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            found = None
        if not isinstance(found, dict) or found.get("format") != _FORMAT:
            raise FileExistsError(f"{run} is none of ours; name another folder as checkpoint.")
        if found.get("fingerprint") != mark:
            raise ValueError(
                f"checkpoint={str(run.parent)!r} is of another {found.get('what', what)}: data, "
                "settings or topicfocus itself were not the same. Use the same, or a new folder."
            )

    def get(self, name: str) -> dict[str, Any] | None:
        """A record; None where there is none that can be read."""
        if self.folder is None:
            return None
        try:
            found = json.loads((self.folder / f"{name}.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        record = found.get("record") if isinstance(found, dict) else None
        if not isinstance(record, dict) or found.get("checksum") != _checksum(record):
            return None
        return record

    def put(self, name: str, record: Mapping[str, Any]) -> None:
        if self.folder is not None:
            with replacing(self.folder / f"{name}.json") as stream:
                whole = {"record": record, "checksum": _checksum(record)}
                stream.write(json.dumps(whole).encode())

    def keep(self, record: dict[str, Any], found: dict[str, dict[str, Any]]) -> None:
        """A record that has just been `found`, here and in the folder."""
        found[record["name"]] = record
        self.put(record["name"], record)


def _checksum(record: Mapping[str, Any]) -> int:
    return zlib.crc32(json.dumps(record).encode())


def fingerprint(*things: Any) -> str:
    """Of everything that a result depends on: data, settings, folds."""
    digest = hashlib.sha256()
    _feed(digest, things)
    return digest.hexdigest()


def _feed(digest: Any, value: Any) -> None:
    """Values by what they hold, estimators by their parameters, functions by their names."""
    if sparse.issparse(value) or isinstance(value, ChunkedCounts):
        _feed_counts(digest, value)
        return
    digest.update(type(value).__name__.encode())
    if isinstance(value, np.ndarray) and value.dtype != object:
        digest.update(f"{value.dtype.str}{value.shape}".encode())
        digest.update(np.ascontiguousarray(value).tobytes())
    elif isinstance(value, Mapping):
        for key in sorted(value, key=str):
            _feed(digest, (str(key), value[key]))
    elif hasattr(value, "get_params") and not isinstance(value, type):
        _feed(digest, value.get_params(deep=False))
    elif hasattr(value, "to_numpy"):
        _feed(digest, (list(getattr(value, "columns", ())), value.to_numpy()))
    elif isinstance(value, (Sequence, np.ndarray)) and not isinstance(value, (str, bytes)):
        digest.update(str(len(value)).encode())
        for item in value:
            _feed(digest, item)
    elif callable(value):
        digest.update(f"{value.__module__}.{getattr(value, '__qualname__', '')}".encode())
    else:
        digest.update(repr(value).encode())


def _feed_counts(digest: Any, counts: Any) -> None:
    """The same however counts are held: what a cluster began may be gone on with without it."""
    rows = sparse.csr_array(counts) if sparse.issparse(counts) else counts
    _feed(digest, (np.array(rows.shape), rows.indptr.astype(np.int64), *marks(rows)))
