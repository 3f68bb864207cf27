"""Blocks of memory for arrays: small ones from the heap, large ones in files, compiled.

NumPy takes the memory of arrays from whom it is told (NEP 49). Here that is the heap, as always,
until large blocks have used up the room they are given; from then on a large block is a file of its
own, mapped into memory and without a name, so that it goes with the block, or with the process. Its
pages belong to the file: the system writes them back and takes them away when memory is short.

A block begins with a head of 64 bytes: its size, its kind, and its neighbours in the list of mapped
blocks. `Books` says what the 8-byte numbers at `books`, the first argument of all functions, are.
NumPy calls these with the GIL, so the books need no lock.
"""

from __future__ import annotations

import mmap
import os
from enum import IntEnum
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from topicfocus.kernels.compile import kernel

_I = types.int64
HEAD = 64
#: Kinds of blocks: of no account, counted, mapped.
SMALL, HELD, MAPPED = 0, 1, 2
#: Files of blocks that are gone are kept to be used again, so many of them: a page that is touched
#: for the first time costs more than what is computed with it.
SPARES = 8
_PROTECTION = 3  # read and write
_SHARED = 1
_CAN_RESERVE = hasattr(os, "posix_fallocate")
_DONT_NEED: int = getattr(mmap, "MADV_DONTNEED", 4)


class Books(IntEnum):
    """Places of 8 bytes."""

    PATH = 0  # where the name of files is, "...XXXXXX"
    LENGTH = 1  # of that name
    LARGE = 2  # bytes from which on a block is large
    ROOM = 3  # bytes that large blocks may still take on the heap
    IN_FILES = 4  # bytes of mapped blocks in use
    MOST_IN_FILES = 5
    REFUSED = 6  # bytes of a block that there was no room on disk for
    SINCE = 7  # bytes mapped since pages were let go
    OFTEN = 8  # bytes after which they are
    FIRST = 9  # of the list of mapped blocks
    SPARE = 10  # the first of the spare ones


#: Bytes of the books.
SIZE = 8 * (Books.SPARE + SPARES)


def _external(name: str, result: Any, *args: Any) -> Any:
    return types.ExternalFunction(name, result(*args))


_malloc = _external("malloc", _I, _I)
_free = _external("free", types.void, _I)
_memset = _external("memset", _I, _I, types.int32, _I)
_memcpy = _external("memcpy", _I, _I, _I, _I)
_mkstemp = _external("mkstemp", types.int32, _I)
_unlink = _external("unlink", types.int32, _I)
_close = _external("close", types.int32, types.int32)
_reserve = (
    _external("posix_fallocate", types.int32, types.int32, _I, _I)
    if _CAN_RESERVE
    else _external("ftruncate", types.int32, types.int32, _I)
)
_mmap = _external("mmap", _I, _I, _I, types.int32, types.int32, types.int32, _I)
_munmap = _external("munmap", types.int32, _I, _I)
_madvise = _external("madvise", types.int32, _I, _I, types.int32)


@intrinsic
def _at(context: Any, address: Any) -> Any:
    """The 8-byte number at an address."""

    def load(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load(builder.inttoptr(args[0], ir.IntType(64).as_pointer()))

    return _I(_I), load


@intrinsic
def _put(context: Any, address: Any, value: Any) -> Any:
    """Write an 8-byte number to an address."""

    def store(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.store(args[1], builder.inttoptr(args[0], ir.IntType(64).as_pointer()))
        return context.get_dummy_value()

    return types.void(_I, _I), store


@kernel
def _add(address, amount):
    _put(address, _at(address) + amount)


@kernel
def _new_file(books, total):
    """Where a new file of so many bytes is mapped; 0 if there is no room for it."""
    path, length = _at(books + 8 * Books.PATH), _at(books + 8 * Books.LENGTH)
    _memset(path + length - 6, 88, 6)  # XXXXXX, which the system has replaced
    stream = _mkstemp(path)
    if stream < 0:
        return 0
    _unlink(path)
    # Room on disk now: if it were missing later, writing a page would end the process.
    failed = _reserve(stream, 0, total) if _CAN_RESERVE else _reserve(stream, total)
    block = -1
    if failed == 0:
        block = _mmap(0, total, _PROTECTION, _SHARED, stream, 0)
    _close(stream)
    return 0 if block == -1 else block


@kernel
def _spare(books, total):
    """A spare block of this size, or a little more; 0 if there is none."""
    best, place = 0, 0
    for i in range(SPARES):
        slot = books + 8 * (Books.SPARE + i)
        block = _at(slot)
        size = 0 if block == 0 else _at(block)
        if total <= size <= total + total // 4 and (best == 0 or size < _at(best)):
            best, place = block, slot
    if best != 0:
        _put(place, 0)
    return best


@kernel
def _enlist(books, block):
    """Put a mapped block into the list."""
    after = _at(books + 8 * Books.FIRST)
    _put(block + 8, MAPPED)
    _put(block + 16, after)
    _put(block + 24, 0)
    if after != 0:
        _put(after + 24, block)
    _put(books + 8 * Books.FIRST, block)


@kernel
def _delist(books, block):
    after, before = _at(block + 16), _at(block + 24)
    if after != 0:
        _put(after + 24, before)
    if before != 0:
        _put(before + 16, after)
    else:
        _put(books + 8 * Books.FIRST, after)


@kernel
def let_pages_go(books):
    """Pages of all mapped blocks leave the process; what was written is in the file."""
    _put(books + 8 * Books.SINCE, 0)
    block = _at(books + 8 * Books.FIRST)
    while block != 0:
        after = _at(block + 16)
        _madvise(block, _at(block), _DONT_NEED)
        block = after


@kernel
def _mapped(books, total):
    """A block in a file, in the list; 0 if there is no room."""
    if _at(books + 8 * Books.SINCE) > _at(books + 8 * Books.OFTEN):
        let_pages_go(books)
    block = _spare(books, total)
    if block == 0:
        block = _new_file(books, total)
        if block == 0:
            _put(books + 8 * Books.REFUSED, total)
            return 0
        _put(block, total)
    _enlist(books, block)
    _add(books + 8 * Books.SINCE, _at(block))
    _add(books + 8 * Books.IN_FILES, _at(block))
    if _at(books + 8 * Books.IN_FILES) > _at(books + 8 * Books.MOST_IN_FILES):
        _put(books + 8 * Books.MOST_IN_FILES, _at(books + 8 * Books.IN_FILES))
    return block


@kernel
def _new(books, size):
    """A block's memory after its head; 0 if there is none."""
    total = size + HEAD
    large = size >= _at(books + 8 * Books.LARGE)
    if large and total > _at(books + 8 * Books.ROOM):
        block = _mapped(books, total)
        return 0 if block == 0 else block + HEAD
    block = _malloc(total)
    if block == 0:
        return 0
    _put(block, total)
    _put(block + 8, HELD if large else SMALL)
    if large:
        _add(books + 8 * Books.ROOM, -total)
    return block + HEAD


@kernel
def _release(books, memory):
    block = memory - HEAD
    kind, total = _at(block + 8), _at(block)
    if kind != MAPPED:
        if kind == HELD:
            _add(books + 8 * Books.ROOM, total)
        _free(block)
        return
    _add(books + 8 * Books.IN_FILES, -total)
    _delist(books, block)
    for i in range(SPARES):
        slot = books + 8 * (Books.SPARE + i)
        if _at(slot) == 0:
            _put(slot, block)
            return
    _munmap(block, total)


@kernel
def forget_spares(books):
    """Spare files go."""
    for i in range(SPARES):
        slot = books + 8 * (Books.SPARE + i)
        block = _at(slot)
        if block != 0:
            _put(slot, 0)
            _munmap(block, _at(block))


# ---- what NumPy calls ----------------------------------------------------------------------------


def new_block(books, size):
    return _new(books, size)


def new_zeros(books, number, width):
    memory = _new(books, number * width)
    if memory != 0:
        _memset(memory, 0, number * width)
    return memory


def resized(books, memory, size):
    new = _new(books, size)
    if new != 0 and memory != 0:
        _memcpy(new, memory, min(size, _at(memory - HEAD) - HEAD))
        _release(books, memory)
    return new


def release(books, memory, size):
    if memory != 0:
        _release(books, memory)


def sweep(books):
    let_pages_go(books)


#: `sweep` with its types: as a function for C it keeps the GIL, and so the list stays as it is.
SWEEP = (sweep, types.void(_I))
#: What NumPy wants, in its order, with the types of each.
FUNCTIONS = (
    (new_block, _I(_I, _I)),
    (new_zeros, _I(_I, _I, _I)),
    (resized, _I(_I, _I, _I)),
    (release, types.void(_I, _I, _I)),
)
