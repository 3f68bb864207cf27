"""What a fit to counts on disk needs beside them: how much memory, and files for the rest."""

from __future__ import annotations

import atexit
import mmap
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
INTERPRETER = 400 << 20
#: Bytes of the numbers that a fit has of each document besides its counts and its topic mix:
#: targets, weights, where it begins, residuals and predictors of the regressions.
A_DOCUMENT = 500
#: Bytes that pieces, sums of threads and words need at least.
_WORKING = 96 << 20
#: The least that anything can be fitted with.
SMALLEST = 512 << 20
#: Bytes that a nonzero takes while its piece is read and worked on.
_BYTES_A_NONZERO = 48
#: Nonzeros of a piece, at least and at most.
_PIECE = (1 << 12, 1 << 21)
#: Advice where a disk is full.
MAKE_ROOM = "Make room, or choose another place with $XDG_CACHE_HOME"
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


def least_memory(n_docs: int) -> int:
    """Bytes that a fit to so many documents takes at least, however little is held of them."""
    return max(SMALLEST, INTERPRETER + _WORKING + n_docs * A_DOCUMENT)


def check_room(limit: int, n_docs: int) -> None:
    """ValueError if a limit is too little for the numbers of so many documents."""
    least = least_memory(n_docs)
    if limit < least:
        raise ValueError(
            f"{limit / 1e6:,.0f} MB of memory are too little for {n_docs:,} documents: targets, "
            f"weights and other numbers of each ({A_DOCUMENT} bytes a document) are kept in "
            f"memory. Give {-(-least // 10**7) / 100:.2f} GB or more."
        )


class Scratch:
    """A limit of memory, and a folder for what is beyond it.

    Parameters
    ----------
    folder : path
        Files are made in a folder of their own in it, when the first is needed.
    limit : int
        Bytes that the process may take.
    n_docs : int, default=0
        Documents whose numbers are in memory whatever the limit.
    """

    def __init__(self, folder: Path, limit: int, n_docs: int = 0) -> None:
        check_room(limit, n_docs)
        self._parent, self.limit = folder, limit
        self._folder: Path | None = None
        self._lock = threading.Lock()
        left = limit - INTERPRETER - n_docs * A_DOCUMENT
        #: A quarter of what is left is for counts and tables that fit; the rest is for pieces and
        #: sums of threads.
        self._room = left // 4
        from_limit = left // 8 // _BYTES_A_NONZERO // max(1, os.cpu_count() or 1)
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
            let_go(out[first:last])
        return out

    def _mapped(self, n_docs: int, width: int) -> NDArray[np.float64]:
        folder = self.new_folder()
        with (folder / "table.bin").open("w+b") as stream:
            _reserve(stream, max(8 * n_docs * width, 1), folder)
            pages = mmap.mmap(stream.fileno(), 0)
        weakref.finalize(pages, shutil.rmtree, folder, ignore_errors=True)
        return np.frombuffer(pages, np.float64, n_docs * width).reshape(n_docs, width)


def _reserve(stream: Any, size: int, folder: Path) -> None:
    """Room on disk for a file, now: if it were missing later, writing a page would end Python."""
    try:
        stream.truncate(size)
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(stream.fileno(), 0, size)
    except OSError as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise OSError(
            error.errno,
            f"{size / 1e6:,.0f} MB for numbers of documents cannot be written to {folder.parent}: "
            f"{error.strerror or error}. {MAKE_ROOM}",
        ) from error


def let_go(array: NDArray[Any]) -> None:
    """Pages of a mapped table (`Scratch.table`) leave memory; they come back when they are needed.

    Arrays in memory stay as they are. What was written to the pages is in the file.
    """
    root: Any = array
    while isinstance(root, np.ndarray) and root.base is not None:
        root = root.base
    pages = root.obj if isinstance(root, memoryview) else root
    if not isinstance(pages, mmap.mmap) or not hasattr(mmap, "MADV_DONTNEED") or not array.size:
        return
    begin = array.ctypes.data - np.frombuffer(pages, np.uint8).ctypes.data
    first, last = -(-begin // mmap.PAGESIZE), (begin + array.nbytes) // mmap.PAGESIZE
    if last > first:
        pages.madvise(mmap.MADV_DONTNEED, first * mmap.PAGESIZE, (last - first) * mmap.PAGESIZE)
