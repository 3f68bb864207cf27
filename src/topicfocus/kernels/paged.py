"""`paged_arrays`: large arrays that are made in a block are in files once memory is used up.

For fits to counts on disk. Whatever a fit computes of each document (targets, residuals, topic
mixes, predictions, and every intermediate result) is an array of NumPy; in such a block NumPy takes
their memory from `blocks.py`. The arrays are ordinary ones, and numbers are the same to the last
bit; only where their bytes are differs. Threads of kernels are not concerned: what they need is of
the size of a chunk. A thread of its own looks every 20 ms at how much memory the process has, pages
of files included, and lets these go when that is more than the limit.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from topicfocus.corpus.scratch import NAME_OF_BLOCKS, Scratch, not_reserved

#: Places of NumPy's table of functions for C; they never change.
_SET_HANDLER = 304
#: Bytes after which pages of mapped blocks are let go, at least.
_OFTEN = 1 << 25
#: Where Linux says how many pages a process has.
_PAGES = Path("/proc/self/statm")
_ACTIVE: ContextVar[Paging | None] = ContextVar("topicfocus_paged", default=None)


class _Handler(ctypes.Structure):
    """PyDataMem_Handler of NumPy."""

    _fields_ = (
        ("name", ctypes.c_char * 127),
        ("version", ctypes.c_uint8),
        ("books", ctypes.c_void_p),
        ("functions", ctypes.c_void_p * 4),
    )


@cache
def _compiled() -> list[Any] | None:
    """The functions that NumPy calls; None where they cannot be had (Windows, numba disabled)."""
    from numba import cfunc

    from topicfocus.kernels.compile import config

    if os.name != "posix" or config.DISABLE_JIT or ctypes.sizeof(ctypes.c_void_p) != 8:
        return None
    from topicfocus.kernels.blocks import FUNCTIONS

    return [_for_ever(cfunc(types, cache=True)(function)) for function, types in FUNCTIONS]


@cache
def _sweep() -> Any:
    """`blocks.sweep`."""
    from numba import cfunc

    from topicfocus.kernels.blocks import SWEEP

    function, types = SWEEP
    address = _for_ever(cfunc(types, cache=True)(function)).address
    return ctypes.PYFUNCTYPE(None, ctypes.c_int64)(address)


@cache
def _set_handler() -> Any:
    """NumPy's PyDataMem_SetHandler."""
    try:
        from numpy._core import _multiarray_umath as umath  # type: ignore[attr-defined]
    except ImportError:  # NumPy 1
        from numpy.core import _multiarray_umath as umath  # type: ignore[no-redef]
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    table = ctypes.cast(pointer(umath._ARRAY_API, None), ctypes.POINTER(ctypes.c_void_p))
    return ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object)(table[_SET_HANDLER])


def _for_ever(value: Any) -> Any:
    """The value, never to be freed: arrays may outlive all modules when Python ends."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(value))
    return value


class Paging:
    """The books of one `Scratch`, and the handler that NumPy is given."""

    def __init__(self, scratch: Scratch) -> None:
        from topicfocus.kernels.blocks import SIZE, Books

        functions = _compiled()
        assert functions is not None
        scratch.folder.mkdir(parents=True, exist_ok=True)
        name = os.fsencode(scratch.folder.resolve() / f"scratch-{os.getpid()}-array-XXXXXX")
        self._scratch = scratch
        self._path = _for_ever(ctypes.create_string_buffer(name))
        self._books = _for_ever((ctypes.c_int64 * (SIZE // 8))())
        self.address = ctypes.addressof(self._books)
        self._books[Books.PATH] = ctypes.addressof(self._path)
        self._books[Books.LENGTH] = len(name)
        self._books[Books.LARGE] = scratch.large
        self._books[Books.ROOM] = scratch.for_arrays
        self._books[Books.OFTEN] = max(scratch.for_arrays, _OFTEN)
        addresses = (ctypes.c_void_p * 4)(*(function.address for function in functions))
        self._handler = _for_ever(_Handler(NAME_OF_BLOCKS, 1, self.address, addresses))
        new = ctypes.pythonapi.PyCapsule_New
        new.restype = ctypes.py_object
        new.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
        self._capsule = new(ctypes.addressof(self._handler), b"mem_handler", None)

    def take_over(self) -> Any:
        """From now on NumPy asks here; returns whom it asked before."""
        return _set_handler()(self._capsule)

    @property
    def most_in_files(self) -> int:
        """Bytes of arrays that were in files at the same time, at most."""
        from topicfocus.kernels.blocks import Books

        return self._books[Books.MOST_IN_FILES]

    @contextmanager
    def sweeping(self) -> Iterator[None]:
        """In this block pages of files leave the process when it has more than its limit."""
        if not _PAGES.exists():
            yield
            return
        done = threading.Event()
        thread = threading.Thread(target=self._sweep_until, args=(done,), daemon=True)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()

    def _sweep_until(self, done: threading.Event) -> None:
        from topicfocus.kernels.blocks import Books

        sweep, after = _sweep(), 0
        while not done.wait(0.02):
            # Not again at once where it is something else that takes the memory.
            if not self._books[Books.IN_FILES] or _resident() < after + _OFTEN:
                continue
            if _resident() > 0.9 * self._scratch.limit:
                sweep(self.address)
                after = _resident()

    def forget_spares(self) -> None:
        from topicfocus.kernels.blocks import forget_spares

        forget_spares(self.address)

    @contextmanager
    def telling(self) -> Iterator[None]:
        """OSError instead of a MemoryError that is one of the disk."""
        from topicfocus.kernels.blocks import Books

        try:
            yield
        except MemoryError as error:
            refused, self._books[Books.REFUSED] = self._books[Books.REFUSED], 0
            if refused:
                raise _reason(self._scratch, refused) from error
            raise


def _resident() -> int:
    """Bytes of memory that the process has, pages of files included."""
    return int(_PAGES.read_text(encoding="ascii").split()[1]) * mmap.PAGESIZE


def _reason(scratch: Scratch, size: int) -> OSError:
    """Why there was no file of so many bytes: the same is tried again."""
    try:
        with tempfile.TemporaryFile(dir=scratch.folder) as stream:
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(stream.fileno(), 0, size)
    except OSError as error:
        return not_reserved(error, size, scratch.folder)
    return not_reserved(OSError(0, "the disk was full"), size, scratch.folder)


def can_page() -> bool:
    """Whether arrays can be in files here."""
    return _compiled() is not None


@contextmanager
def paged_arrays(scratch: Scratch | None) -> Iterator[None]:
    """In this block, and on this thread, large arrays are in files once memory for them is used up.

    Nothing happens without a limit of memory, inside another such block, and where it cannot be.

    Raises
    ------
    OSError
        If there is no room on disk.
    """
    outer = _ACTIVE.get()
    if outer is not None:
        with outer.telling():
            yield
        return
    if scratch is None or not can_page():
        yield
        return
    if scratch.paging is None:
        scratch.paging = Paging(scratch)
    paging: Paging = scratch.paging
    token, before = _ACTIVE.set(paging), paging.take_over()
    try:
        with paging.telling(), paging.sweeping():
            yield
    finally:
        _set_handler()(before)
        _ACTIVE.reset(token)
        paging.forget_spares()


def is_in_file(array: np.ndarray) -> bool:
    """Whether the numbers of an array are in a file of `paged_arrays`."""
    from topicfocus.corpus.scratch import mapped_block

    return mapped_block(array)
