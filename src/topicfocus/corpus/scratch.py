"""What a fit to counts on disk needs beside them: how much memory, and files for the rest."""

from __future__ import annotations

import atexit
import os
import re
import shutil
import tempfile
import threading
import weakref
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: What Python, NumPy, SciPy, Numba and scikit-learn take before any document is read.
INTERPRETER = 350 << 20
#: The least that anything can be fitted with.
SMALLEST = 512 << 20
#: Bytes that a nonzero takes while its piece is read and worked on.
_BYTES_A_NONZERO = 48
#: Nonzeros of a piece, at least and at most.
_PIECE = (1 << 12, 1 << 21)
_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}


def parse_memory(memory: int | str) -> int:
    """Bytes, of a number or of such as "2GB", "500 MB", "1.5g".

    Examples
    --------
    >>> from topicfocus.corpus.scratch import parse_memory
    >>> parse_memory("1.5GB")
    1500000000
    """
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b?\s*", str(memory).lower())
    if isinstance(memory, bool) or found is None:
        raise ValueError(f"memory must be a number of bytes or such as '2GB', got {memory!r}.")
    unit = _UNITS[found[2]]
    if found[3]:
        unit = 1024 ** ("kmgt".index(found[2]) + 1) if found[2] else 1
    size = int(float(found[1]) * unit)
    if size < SMALLEST:
        raise ValueError(
            f"{memory} of memory is too little: Python and its libraries alone take "
            f"{INTERPRETER / 1e6:.0f} MB. Give {SMALLEST / 1e6:.0f} MB or more."
        )
    return size


class Scratch:
    """A limit of memory, and a folder for what is beyond it.

    Parameters
    ----------
    folder : path
        Files are made in a folder of their own in it, when the first is needed.
    limit : int
        Bytes that the process may take.
    """

    def __init__(self, folder: Path, limit: int) -> None:
        self._parent, self.limit = folder, limit
        self._folder: Path | None = None
        self._lock = threading.Lock()
        #: A quarter of what is left is for counts and tables that fit; the rest is for pieces,
        #: sums of threads, and numbers of documents.
        self._room = (limit - INTERPRETER) // 4
        from_limit = (limit - INTERPRETER) // 8 // _BYTES_A_NONZERO // max(1, os.cpu_count() or 1)
        self.piece = int(np.clip(from_limit, *_PIECE))

    def take(self, size: int, owner: Any = None) -> bool:
        """Whether so many bytes may be in memory; they are given back with their owner."""
        with self._lock:
            if size > self._room:
                return False
            self._room -= size
        if owner is not None:
            weakref.finalize(owner, self.give, size)
        return True

    def give(self, size: int) -> None:
        """Bytes that are needed no more."""
        with self._lock:
            self._room += size

    def new_folder(self) -> Path:
        """An empty folder that goes with the process, if nobody removes it before."""
        with self._lock:
            if self._folder is None or not self._folder.exists():
                self._parent.mkdir(parents=True, exist_ok=True)
                prefix = f"scratch-{os.getpid()}-"
                self._folder = Path(tempfile.mkdtemp(prefix=prefix, dir=self._parent))
                atexit.register(shutil.rmtree, self._folder, ignore_errors=True)
        return Path(tempfile.mkdtemp(dir=self._folder))

    def table(
        self, n_docs: int, width: int, fill: float | NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Documents x width numbers; in a file that is mapped into memory if they are many."""
        size = n_docs * width * 8
        if self.take(size):
            out = np.empty((n_docs, width))
            weakref.finalize(out, self.give, size)
        else:
            out = self._mapped(n_docs, width)
        for first in range(0, n_docs, 1 << 16):
            last = min(first + (1 << 16), n_docs)
            out[first:last] = fill if np.ndim(fill) < 2 else fill[first:last]  # type: ignore[index]
        return out

    def _mapped(self, n_docs: int, width: int) -> NDArray[np.float64]:
        folder = self.new_folder()
        mapped = np.memmap(folder / "table.bin", np.float64, "w+", shape=(n_docs, width))
        weakref.finalize(mapped, shutil.rmtree, folder, ignore_errors=True)
        return mapped.view(np.ndarray)
