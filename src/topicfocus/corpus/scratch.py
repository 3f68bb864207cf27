"""What a fit to counts on disk needs beside them: how much memory, and files for the rest."""

from __future__ import annotations

import atexit
import ctypes
import mmap
import os
import re
import shutil
import sys
import tempfile
import threading
import weakref
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: What Python, NumPy, SciPy, Numba and scikit-learn take before any document is read.
INTERPRETER = 400 << 20
#: Bytes of each document that are in memory whatever the limit: its target, where it begins, and
#: what sorting needs (measured: 20). All else that a fit computes of documents is in files where
#: memory is short (`kernels/paged.py`); on Windows, which cannot do that, it is in memory.
A_DOCUMENT = 40 if os.name == "posix" else 500
#: Bytes that pieces, sums of threads and words need at least.
_WORKING = 96 << 20
#: The least that anything can be fitted with.
SMALLEST = 512 << 20
#: Bytes that a nonzero takes while its piece is read and worked on.
_BYTES_A_NONZERO = 48
#: Nonzeros of a piece, at least and at most.
_PIECE = (1 << 12, 1 << 21)
#: Bytes from which on an array may be in a file.
LARGE_ARRAY = 1 << 19
#: By this name NumPy knows who made the memory of an array (`kernels/paged.py`).
NAME_OF_BLOCKS = b"topicfocus"
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
            f"{limit / 1e6:,.0f} MB of memory are too little for {n_docs:,} documents: the target "
            f"of each, and where it begins ({A_DOCUMENT} bytes a document), are kept in memory. "
            f"Give {-(-least // 10**7) / 100:.2f} GB or more."
        )


def memory_here() -> float | None:
    """Bytes that this process may use: those of the machine, or of its container."""
    found = []
    try:
        found.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, OSError, ValueError):  # Windows
        return None
    for limit in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            with open(limit, encoding="ascii") as stream:
                found.append(int(stream.read()))
        except (OSError, ValueError):
            continue
    return float(min(found))


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
        self.folder, self.limit = folder, limit
        self._folder: Path | None = None
        self._lock = threading.Lock()
        left = limit - INTERPRETER - n_docs * A_DOCUMENT
        #: A quarter of what is left is for counts and tables that fit; the rest is for pieces and
        #: sums of threads.
        self._room = left // 4
        #: An eighth is for arrays of a fit (`kernels/paged.py`), whose books are kept here.
        self.for_arrays, self.large = left // 8, LARGE_ARRAY
        self.paging: Any = None
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
                self.folder.mkdir(parents=True, exist_ok=True)
                prefix = f"scratch-{os.getpid()}-"
                self._folder = Path(tempfile.mkdtemp(prefix=prefix, dir=self.folder))
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
        raise not_reserved(error, size, folder.parent) from error


def not_reserved(error: OSError, size: int, folder: Path) -> OSError:
    """There is no room on disk for so many bytes."""
    return OSError(
        error.errno,
        f"{size / 1e6:,.0f} MB for numbers of documents cannot be written to {folder}: "
        f"{error.strerror or error}. {MAKE_ROOM}",
    )


def give_back() -> None:
    """Memory that is free, but still the process's own, goes back to the system.

    The C library keeps what was freed in small pieces, and Arrow what it has read files into.
    """
    arrow = sys.modules.get("pyarrow")
    if arrow is not None:
        arrow.default_memory_pool().release_unused()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if os.name == "posix" else None
    if trim is not None:
        trim(0)


def let_go(array: NDArray[Any]) -> None:
    """Pages of an array in a file leave memory; they come back when they are needed.

    Arrays in memory stay as they are. What was written to the pages is in the file.
    """
    if not hasattr(mmap, "MADV_DONTNEED") or not array.size or not array.flags.c_contiguous:
        return
    if _of_table(array) or mapped_block(array):
        begin = -(-array.ctypes.data // mmap.PAGESIZE) * mmap.PAGESIZE
        end = (array.ctypes.data + array.nbytes) // mmap.PAGESIZE * mmap.PAGESIZE
        if end > begin:
            _madvise()(begin, end - begin, mmap.MADV_DONTNEED)


@cache
def _madvise() -> Any:
    function = ctypes.CDLL(None).madvise
    function.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    return function


def _root(array: NDArray[Any]) -> Any:
    """What an array is a view of, in the end."""
    root: Any = array
    while isinstance(root, np.ndarray) and root.base is not None:
        root = root.base
    return root


def _of_table(array: NDArray[Any]) -> bool:
    root = _root(array)
    return isinstance(root.obj if isinstance(root, memoryview) else root, mmap.mmap)


def mapped_block(array: NDArray[Any]) -> bool:
    """Whether an array is in a file of `kernels/paged.py`."""
    root = _root(array)
    if not isinstance(root, np.ndarray) or not root.flags.owndata:
        return False
    if _handler_name()(root) != NAME_OF_BLOCKS.decode():
        return False
    # The second number of the block's head is its kind, 2 if it is mapped (`kernels/blocks.py`).
    return ctypes.c_int64.from_address(root.ctypes.data - 56).value == 2


@cache
def _handler_name() -> Any:
    try:
        from numpy._core import multiarray
    except ImportError:  # NumPy 1
        from numpy.core import multiarray  # type: ignore[no-redef]
    return multiarray.get_handler_name
