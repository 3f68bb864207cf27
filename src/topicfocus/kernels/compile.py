"""Numba's `njit` with the options of this package, and the work arrays of kernels.

A kernel is called from Python. Numba caches its machine code in ``__pycache__`` beside its source,
in the user's cache folder if that is read-only, or in ``NUMBA_CACHE_DIR``. A helper is called from
kernels only: it has no entry point for Python, which would take as long to compile as a small
function, and no cache file, because its machine code is part of the kernels that call it.
"""

from __future__ import annotations

import hashlib
import math
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba.core import cgutils, sigutils, types
from numba.core.caching import IndexDataCacheFile
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

#: Any, because numba's type hints lack its settings and some options of `njit`.
config: Any = numba.config
njit: Any = numba.njit

#: fastmath: sums may be reordered, so that LLVM can use SIMD; NaN and infinity keep their meaning.
#: error_model: with Python's check for a zero divisor, loops would have an early exit, which
#: prevents vectorisation.
_OPTIONS: dict = {
    "nogil": True,
    "fastmath": {"reassoc", "contract", "arcp", "nsz"},
    "error_model": "numpy",
    "no_cfunc_wrapper": True,
}
_PACKAGE = Path(__file__).resolve().parents[1]


def kernel(function: Callable) -> Callable:
    """Compile a module-level function that Python calls, and cache it between processes."""
    return _cached(njit(**_OPTIONS)(function))


def exact_kernel(function: Callable) -> Callable:
    """A kernel whose sums keep the order and the rounding of the source."""
    return _cached(njit(**_OPTIONS | {"fastmath": False})(function))


def helper(function: Callable) -> Callable:
    """Compile a function that only kernels and helpers call; a call from Python would crash."""
    return njit(**_OPTIONS | {"no_cpython_wrapper": True})(function)


def inlined(function: Callable) -> Callable:
    """A large helper that is called in one place: it becomes part of its caller."""
    return njit(inline="always", **_OPTIONS)(function)


def source_hash(package: Path = _PACKAGE) -> str:
    """Hash of all sources that kernels are compiled from.

    Numba compares the file of a kernel with its cached code, but not the files of its helpers:
    after an edit there, or an update of this package, it would use outdated code.
    """
    files = [*package.glob("families/*.py"), *package.glob("kernels/*.py")]
    digest = hashlib.sha256()
    for path in sorted(files):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:12]


_SOURCE_HASH = source_hash()


def _cached(dispatcher: Any) -> Callable:
    """Enable numba's cache; where it cannot be used, the kernel is compiled in memory."""
    if config.DISABLE_JIT:
        return dispatcher
    try:
        dispatcher.enable_caching()
    except RuntimeError:  # no folder that can be written
        return dispatcher
    cache = dispatcher._cache
    # In the names of the files, so that processes of two versions never read each other's code.
    name, stamp = f"{cache._impl.filename_base}.{_SOURCE_HASH}", cache._cache_file._source_stamp
    cache._cache_file = IndexDataCacheFile(cache.cache_path, name, stamp)
    load, save = cache.load_overload, cache.save_overload

    def load_overload(signature: Any, target_context: Any) -> Any:
        if _has_outside_family(signature):
            return None
        try:
            return load(signature, target_context)
        except Exception:  # an empty or truncated file may raise anything: compile again
            with suppress(OSError):
                cache.flush()
            return None

    def save_overload(signature: Any, compiled: Any) -> None:
        if _has_outside_family(signature):
            return
        try:
            save(signature, compiled)
        except Exception as error:  # such as a full disk
            reason = getattr(error, "strerror", None) or repr(error)  # without a file's name
            warnings.warn(
                f"Compiled code cannot be saved in {cache.cache_path}: {reason}. The next "
                "process will compile it again. Free space there, or set the environment "
                "variable NUMBA_CACHE_DIR to another folder.",
                RuntimeWarning,
                stacklevel=2,
            )

    cache.load_overload, cache.save_overload = load_overload, save_overload
    return dispatcher


def _has_outside_family(signature: Any) -> bool:
    """Whether an argument is a NamedTuple from outside the package.

    A cache index that names such a class cannot be read by a process without it.
    """
    package = __name__.partition(".")[0]
    return any(
        isinstance(kind, types.BaseNamedTuple)
        and vars(kind)["instance_class"].__module__.partition(".")[0] != package
        for kind in sigutils.normalize_signature(signature)[0]
    )


# ---- work arrays ---------------------------------------------------------------------------------

#: Elements of room on each side: 256 bytes in single precision.
_ROOM = 64


def work_array(*shape: int, dtype: Any = np.float64) -> np.ndarray:
    """An array of zeros with room around it in memory.

    LLVM vectorises a loop that reads one array and writes another, but checks at run time that they
    start further apart than one vectorised step (256 bytes with AVX-512). If not, the scalar loop
    runs, and its sums round differently. Small arrays lie side by side on the heap of a thread, at
    distances that differ between threads. Without room results would depend on the thread.
    """
    size = math.prod(shape)
    return np.zeros(size + 2 * _ROOM, dtype)[_ROOM : _ROOM + size].reshape(shape)


def _borrowed(typing_context: Any, array: Any) -> Any:
    """The same array, or tuple of arrays, without a reference count; for arguments of a kernel.

    Numba counts references to each array argument of a compiled function, by atomic operations on
    entry and exit, which take as long as the arithmetic for a few topics. A borrowed array has no
    count; the caller of the kernel keeps it alive.
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


# An intrinsic, because a function would be compiled for every type of argument.
borrowed: Any = (lambda array: array) if config.DISABLE_JIT else intrinsic(_borrowed)
