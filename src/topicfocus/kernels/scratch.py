"""Work arrays of kernels, with a distance between them in memory.

LLVM vectorises a loop that reads one array and writes another, but checks at run time that they
start further apart than one vectorised step (256 bytes with AVX-512). If not, the scalar loop runs,
and its sums round differently. Small arrays lie side by side on the heap of a thread, at distances
that differ between threads. Without room around them, results would depend on the thread.
"""

from __future__ import annotations

from typing import Any

from numba.core import cgutils, types
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

from topicfocus.kernels.compile import config, helper

#: Elements of room on each side: 256 bytes in single precision.
_ROOM = 64
#: Elements to allocate for `apart` besides those that are used.
ROOM = 2 * _ROOM


@helper
def apart(buffer):
    """The middle of a one-dimensional buffer, without ROOM / 2 elements at each end."""
    return buffer[_ROOM : buffer.shape[0] - _ROOM]


def _borrowed(typing_context: Any, array: Any) -> Any:
    """The same array, or tuple of arrays, without a reference count.

    Numba counts references to each array argument of a compiled function, by atomic operations on
    entry and exit, which take as long as the arithmetic for a few topics. A borrowed array has no
    count, so that its owner must live as long: an argument of the kernel, or an array that is
    passed to `keep` at the end.
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
    """Keep the owners of borrowed arrays alive until here, the end of a function."""

    def nothing(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return context.get_dummy_value()

    return types.none(owners), nothing


# Intrinsics, because functions would be compiled for every type of argument.
borrowed: Any = (lambda array: array) if config.DISABLE_JIT else intrinsic(_borrowed)
keep: Any = (lambda owners: None) if config.DISABLE_JIT else intrinsic(_keep)
