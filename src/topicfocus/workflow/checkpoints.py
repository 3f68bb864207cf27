"""Finished stages of a fit in a folder beside the result, without pickle.

`OUT.partial/run.json` says of which data and settings; each stage is an archive of arrays and JSON,
sealed like a model file and written atomically. A stage that cannot be read is computed again.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from pathlib import Path
from typing import Any

import numpy as np

import topicfocus.estimators  # noqa: F401  it registers records, before this module does
from topicfocus import __version__
from topicfocus.persistence import ModelFileError
from topicfocus.persistence.archive import read_archive, write_archive
from topicfocus.persistence.atomic import replacing
from topicfocus.persistence.decoding import Decoder
from topicfocus.persistence.encoding import Encoder
from topicfocus.workflow.errors import SettingError
from topicfocus.workflow.leftovers import is_temporary, remove_ours
from topicfocus.workflow.remarks import Remarks
from topicfocus.workflow.tables import plain
from topicfocus.workflow.wording import setting

#: Folders of finished fits of tuning and of stability, in that of checkpoints.
SEARCH, STABILITY = "search", "stability"
_RUN = "run.json"
_FORMAT = "topicfocus checkpoint"
_ENDING = ".stage"


def fingerprint(settings: dict[str, Any], *arrays: np.ndarray) -> str:
    """Of everything that the fit depends on."""
    digest = hashlib.sha256(json.dumps([__version__, plain(settings)], sort_keys=True).encode())
    for array in arrays:
        if array.dtype == object:
            array = np.array([str(item) for item in array])
        array = np.ascontiguousarray(array)
        digest.update(f"{array.dtype.str}{array.shape}".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()


class FolderStore:
    """Stages as files of a folder; the store that `solvers.checkpoints` asks for."""

    def __init__(self, folder: Path, every: float, remarks: Remarks) -> None:
        self.folder, self._every, self._remarks = folder, every, remarks
        self._last = time.monotonic()
        self._broken = False
        self.ours = False  # the folder, once it was looked at: until then it may be another fit's
        self.needed = True  # until the result is there

    # ---- opening -----------------------------------------------------------------------------

    def open(self, mark: str, settings: dict[str, Any], resume: bool) -> None:
        """Begin anew, or check that what is there belongs to the same data and settings."""
        self._clear_unbegun()
        found = self._found()
        if os.path.lexists(self.folder) and found is None:
            raise FileExistsError(
                f"{self.folder} is in the way: checkpoints go there, and it is none of ours. "
                f"Move it, or choose another {setting('out')}."
            )
        if resume and found is not None:
            if found.get("fingerprint") != mark:
                difference = self._difference(found, settings)
                raise SettingError(f"{setting('resume', True)}: {difference}")
            done = sorted(p.stem for p in self.folder.glob(f"*{_ENDING}"))
            self.ours = True
            for name in (SEARCH, STABILITY):
                n_fits = len(list((self.folder / name).glob("*-*.json")))
                done += [f"{n_fits} of {name}"] if n_fits else []
            self._remarks.say(f"Going on from {self.folder}: {', '.join(done) or 'nothing yet'}.")
            return
        self.ours = True
        if resume:
            self._remarks.say(f"There is no {self.folder}: nothing to go on from; starting anew.")
        elif found is not None:
            self._remarks.say(
                f"{self.folder} of an interrupted run is dropped (no {setting('resume', True)})."
            )
            if not self.remove():
                raise FileExistsError(
                    f"{self.folder} has files that are none of ours. Move it, or choose another "
                    f"{setting('out')}."
                )
        content = {"format": _FORMAT, "version": 1, "fingerprint": mark, "settings": settings}
        self.folder.mkdir()
        with replacing(self.folder / _RUN) as stream:
            stream.write(json.dumps(plain(content), indent=2).encode())

    def _clear_unbegun(self) -> None:
        """A process that was killed before it could write anything has left an empty folder."""
        try:
            names = os.listdir(self.folder)
        except OSError:
            return
        if all(map(is_temporary, names)):
            remove_ours(self.folder, is_temporary)

    def _found(self) -> dict[str, Any] | None:
        try:
            content = json.loads((self.folder / _RUN).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        ours = isinstance(content, dict) and content.get("format") == _FORMAT
        return content if ours else None

    def _difference(self, found: dict[str, Any], settings: dict[str, Any]) -> str:
        before, now = found.get("settings") or {}, plain(settings)
        other = [key for key in now if before.get(key) != now[key]]
        advice = f"Use the same, or start anew without {setting('resume', True)}."
        if not other:
            return f"the data, or topicfocus itself, have changed since {self.folder}. {advice}"
        said = ", ".join(f"{k} was {before.get(k)!r} and is {now[k]!r}" for k in other)
        return f"{self.folder} is of another fit: {said}. {advice}"

    # ---- stages ------------------------------------------------------------------------------

    def _path(self, name: str) -> Path:
        return self.folder / f"{name.replace(' ', '-')}{_ENDING}"

    @property
    def any_finished(self) -> bool:
        # Finished fits of tuning and of stability are in folders of their own.
        return any(self.folder.glob(f"*{_ENDING}")) or any(self.folder.glob("*/*-*.json"))

    def get(self, name: str) -> Any:
        path = self._path(name)
        if not path.exists():
            return None
        try:
            with path.open("rb") as stream:
                header, arrays = read_archive(stream)
            return Decoder(arrays).decode(header["stage"])
        except (ModelFileError, KeyError, TypeError, ValueError) as error:
            self._remarks.warn(f"{path} cannot be used ({error}); this part is computed again.")
            return None

    def put(self, name: str, value: Any) -> None:
        if self._broken:
            return
        encoder = Encoder()
        stage = encoder.encode(value, name)
        try:
            with replacing(self._path(name)) as stream:
                write_archive(stream, {"stage": stage}, encoder.arrays)
        except OSError as error:
            # The fit itself is not in danger yet: there may be room when it is done.
            self._broken = True
            self._remarks.warn(f"no more checkpoints: {error.strerror or error}.")
        self._last = time.monotonic()

    def due(self) -> bool:
        return time.monotonic() - self._last >= self._every

    def remove(self) -> bool:
        """Remove what is ours, the mark that it is last; whether nothing else was there."""
        for part in (SEARCH, STABILITY):
            remove_ours(self.folder / part, _is_figures, last=_RUN)
        return remove_ours(self.folder, _is_ours, last=_RUN)


def finished_fits(folder: Path) -> Path:
    """A folder of finished fits; one that is damaged is emptied, and they are computed again."""
    try:
        whole = isinstance(json.loads((folder / _RUN).read_text(encoding="utf-8")), dict)
    except FileNotFoundError:
        whole = not folder.is_dir()
    except (OSError, ValueError):
        whole = False
    if not whole:
        remove_ours(folder, _is_figures, last=_RUN)
    return folder


def _is_ours(name: str) -> bool:
    return name == _RUN or name.endswith(_ENDING) or is_temporary(name)


def _is_figures(name: str) -> bool:
    """Files that `selection.finished` writes."""
    return name == _RUN or (name.endswith(".json") and "-" in name) or is_temporary(name)
