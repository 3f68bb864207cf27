"""`Values`: a column of texts in little memory.

Python takes some 70 bytes for a text as short as "3.14159". Here a block of values is a number of
one byte for each, where there are few different ones, and else their bytes one after the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

#: Values of a block.
_BLOCK = 1 << 16
#: Different values of a block that are numbered by a byte.
_FEW = 256
_SHOWN = 20


class _Few:
    """A block with few different values."""

    def __init__(self, values: list[str | None], different: dict[str | None, int]) -> None:
        self._different = list(different)
        self._codes = np.fromiter(map(different.__getitem__, values), np.uint8, len(values))

    def __iter__(self) -> Iterator[str | None]:
        return map(self._different.__getitem__, self._codes.tolist())


class _Many:
    """A block of any values: bytes of all, and how many each has; one less than none is None."""

    def __init__(self, values: list[str | None]) -> None:
        texts = [b"" if v is None else v.encode("utf-8", "surrogatepass") for v in values]
        sizes = np.fromiter(map(len, texts), np.int64, len(texts))
        sizes[[v is None for v in values]] = -1
        self._sizes: NDArray[Any] = sizes.astype(np.int8 if sizes.max() < 128 else np.int64)
        self._bytes = np.frombuffer(b"".join(texts), np.uint8).copy()

    def __iter__(self) -> Iterator[str | None]:
        together, at = self._bytes.tobytes(), 0
        for size in self._sizes.tolist():
            if size < 0:
                yield None
                continue
            yield together[at : at + size].decode("utf-8", "surrogatepass")
            at += size


class Values(Sequence[str | None]):
    """A list of texts, None where one is missing, to which can be added."""

    def __init__(self, values: Iterable[str | None] = ()) -> None:
        self._blocks: list[_Few | _Many] = []
        self._last: list[str | None] = []
        self += values

    def __iadd__(self, values: Iterable[str | None]) -> Values:
        more = iter(values)
        while new := list(islice(more, _BLOCK - len(self._last))):
            self._last += new
            if len(self._last) == _BLOCK:
                self._blocks.append(_packed(self._last))
                self._last = []
        return self

    def __len__(self) -> int:
        return len(self._blocks) * _BLOCK + len(self._last)

    def __iter__(self) -> Iterator[str | None]:
        for block in self._blocks:
            yield from block
        yield from self._last

    @overload
    def __getitem__(self, i: int) -> str | None: ...
    @overload
    def __getitem__(self, i: slice) -> list[str | None]: ...
    def __getitem__(self, i: int | slice) -> Any:
        if isinstance(i, slice):
            return list(self)[i]
        place = range(len(self))[i]
        block: Iterable[str | None] = self._last
        if place < len(self._blocks) * _BLOCK:
            block = self._blocks[place // _BLOCK]
        return next(islice(block, place % _BLOCK, None))

    def index(self, value: Any, start: int = 0, stop: int | None = None) -> int:
        """Where a value stands first; by one pass, where a Sequence would look up each place."""
        for i, found in enumerate(islice(self, start, stop), start):
            if found == value:
                return i
        raise ValueError(f"{value!r} is not among the values")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, (Values, list)) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        if len(self) <= _SHOWN:
            return repr(list(self))
        first = ", ".join(map(repr, islice(self, _SHOWN)))
        return f"[{first}, ... {len(self):,} values]"


def _packed(values: list[str | None]) -> _Few | _Many:
    different: dict[str | None, int] = {}
    for value in values:
        if different.setdefault(value, len(different)) == _FEW:
            return _Many(values)
    return _Few(values, different)
