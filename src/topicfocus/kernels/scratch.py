"""Scratch of kernels, far enough apart in memory.

LLVM vectorises a loop that reads one array and writes another only behind a check that the two
begin further apart than what it takes at a time (256 bytes with AVX-512); otherwise it takes the
scalar loop, whose sums round differently. Arrays of a few topics lie side by side, at distances
that differ between the heaps of threads: without room around them, a result would depend on the
thread that found it.
"""

from __future__ import annotations

from typing import Any

from numba.core import cgutils, types
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

from topicfocus.kernels.compile import config, helper

#: Elements of room on each side: 256 bytes in single precision.
_ROOM = 64
#: What is added to the size of an array that `apart` is given.
ROOM = 2 * _ROOM


@helper
def apart(buffer):
    """The middle of a one-dimensional buffer: all but ROOM elements."""
    return buffer[_ROOM : buffer.shape[0] - _ROOM]


def _borrowed(typing_context: Any, array: Any) -> Any:
    """The same array, or tuple of arrays, without an owner.

    Numba counts the references of every array that a compiled function is given, by atomic
    operations on entry and on exit: for a few topics these cost as much as the arithmetic. A
    borrowed array has no count. Its owner must live as long as it is used: an argument of the
    kernel does, and so does what is given to `keep` at the end.
    """

    def without_owner(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _without_owner(context, builder, signature.args[0], args[0])

    return array(array), without_owner


def _without_owner(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    if isinstance(kind, types.BaseTuple):
        kinds: list[Any] = list(kind)  # type: ignore[call-overload]
        parts = [
            _without_owner(context, builder, part, builder.extract_value(value, i))
            for i, part in enumerate(kinds)
        ]
        return context.make_tuple(builder, kind, parts)
    if not isinstance(kind, types.Array):
        return value
    view = make_array(kind)(context, builder, value)
    view.meminfo = cgutils.get_null_value(view.meminfo.type)
    view.parent = cgutils.get_null_value(view.parent.type)
    return view._getvalue()


def _keep(typing_context: Any, owners: Any) -> Any:
    """At the end of a function: the owners of what was borrowed were valid until here."""

    def nothing(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return context.get_dummy_value()

    return types.none(owners), nothing


# Intrinsics: as functions of their own, they would be compiled for every type of argument.
borrowed: Any = (lambda array: array) if config.DISABLE_JIT else intrinsic(_borrowed)
keep: Any = (lambda owners: None) if config.DISABLE_JIT else intrinsic(_keep)
