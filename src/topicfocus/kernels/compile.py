"""`kernel`: numba's njit with a cache that survives the process and never serves stale code.

Numba keys its on-disk cache by the file of the compiled function, so editing a helper in another
file leaves the old machine code in use. Here the cache lives in a directory named after a hash of
all sources that kernels are made of (``families/`` and ``kernels/``): any edit gets a new, empty
directory. Cache files are pickles, so the directory belongs to the user alone.

A family of targets defined outside the package is not part of that hash, and an index that names
its class cannot be read by a process without it. So kernels compiled for such a family are kept in
a subdirectory of their own, named after a hash of the family's source.

A kernel is compiled in one of two forms, whichever is asked for: with an entry from Python, or
bare, for other kernels to call. Numba otherwise gives every function two entries, and LLVM copies
small functions into both: 38% of the time of compiling the largest kernels.
"""

from __future__ import annotations

import hashlib
import inspect
import os
from collections.abc import Callable
from functools import update_wrapper
from pathlib import Path
from typing import Any

import numba
from numba import njit
from numba.core import sigutils, types
from numba.core.caching import FunctionCache
from numba.core.ccallback import CFunc

from topicfocus.families.operations import (
    derivatives,
    expectation,
    log_likelihood,
    row_expectation,
    row_gradient,
    row_log_likelihood,
)
from topicfocus.folders import cache_folder

#: Numba sets its options when it is imported, so a type checker knows none of them.
config: Any = numba.config

#: fastmath: sums may be reordered, so that LLVM can use SIMD; NaN and infinity keep their meaning.
#: error_model: Python's check for a zero divisor is an early exit, and no loop with one vectorises.
_OPTIONS: dict = {
    "nogil": True,
    "fastmath": {"reassoc", "contract", "arcp", "nsz"},
    "error_model": "numpy",
    "no_cfunc_wrapper": True,  # an entry for C, which nobody calls
}
#: What a family may implement for kernels.
_COMPILED = (
    log_likelihood,
    derivatives,
    expectation,
    row_log_likelihood,
    row_gradient,
    row_expectation,
)
_PACKAGE = Path(__file__).resolve().parents[1]


def source_hash(package: Path = _PACKAGE) -> str:
    """Hash of every source file that compiled code is made of, and of the compiler's version."""
    digest = hashlib.sha256(f"numba {numba.__version__}".encode())
    for layer in ("families", "kernels"):
        for path in sorted((package / layer).glob("*.py")):
            digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def cache_root() -> Path:
    """Where compiled kernels are kept: $NUMBA_CACHE_DIR, else the user's cache folder."""
    if config.CACHE_DIR:
        return Path(config.CACHE_DIR) / "topicfocus"
    return cache_folder() / "kernels"


def _prepare_cache() -> Path | None:
    """Make this version's cache directory (mode 0700). Nothing is ever deleted here."""
    try:
        directory = cache_root() / source_hash()
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        if hasattr(os, "getuid") and directory.stat().st_uid != os.getuid():
            return None  # somebody else's directory: do not load pickles from it
        return directory
    except (OSError, RuntimeError):
        return None  # no home, read-only disk: compile in memory


_CACHE = _prepare_cache()


def outside_families(sig: Any) -> list[type]:
    """The NamedTuple classes of a signature that are not part of this package."""
    package = __name__.partition(".")[0]
    found = []
    for kind in sigutils.normalize_signature(sig)[0]:
        if isinstance(kind, (types.NamedTuple, types.NamedUniTuple)):
            cls = kind.instance_class
            if cls.__module__.partition(".")[0] != package:
                found.append(cls)
    return found


def family_hash(family: type) -> str | None:
    """Hash of what a family outside the package compiles to, None if it has no stable name.

    The files that define its compiled operations, and their byte code as it was loaded. Functions
    that these call in yet other files are not followed.
    """
    if family.__module__ == "__main__" or "<locals>" in family.__qualname__:
        return None
    digest = hashlib.sha256(f"{family.__module__}.{family.__qualname__}".encode())
    for operation in _COMPILED:
        implementation = operation.dispatch(family)
        try:
            digest.update(Path(inspect.getfile(implementation)).read_bytes())
        except (OSError, TypeError):  # a notebook's cell, an extension module
            return None
        code = implementation.__code__
        constants = [c for c in code.co_consts if not inspect.iscode(c)]
        digest.update(code.co_code + repr((constants, code.co_names)).encode())
    return digest.hexdigest()[:16]


class _KernelCache(FunctionCache):
    """The cache of one kernel, with an index of its own for each family outside the package."""

    def __init__(self, function: Callable, directory: Path) -> None:
        self._directory = directory
        before = config.CACHE_DIR
        config.CACHE_DIR = str(directory)  # read once, here
        try:
            super().__init__(function)
        finally:
            config.CACHE_DIR = before

    def _part(self, sig: Any) -> FunctionCache | None:
        directory = self._directory
        for family in outside_families(sig):
            name = family_hash(family)
            if name is None:
                return None  # compile in memory
            directory = directory / name
        return self if directory == self._directory else _KernelCache(self._py_func, directory)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        part = self._part(sig)
        return None if part is None else FunctionCache.load_overload(part, sig, target_context)

    def save_overload(self, sig: Any, data: Any) -> None:
        part = self._part(sig)
        if part is not None:
            FunctionCache.save_overload(part, sig, data)


class Kernel:
    """A compiled function: from Python by its entry, from other kernels without one.

    Both are compiled when they are first called, and cached each for itself, because numba's index
    does not tell them apart.
    """

    def __init__(self, function: Callable, options: dict) -> None:
        update_wrapper(self, function)
        self.py_func = function
        self._entry = _dispatcher(function, options, _CACHE)
        bare = {**options, "no_cpython_wrapper": True}
        self._bare = _dispatcher(function, bare, _CACHE and _CACHE / "bare")

    @property
    def _numba_type_(self) -> Any:
        """What numba takes a kernel for that is named in another one."""
        return self._bare._numba_type_

    def __call__(self, *args: Any) -> Any:
        return self._entry(*args)

    def __getattr__(self, name: str) -> Any:
        if name == "_entry":  # before __init__
            raise AttributeError(name)
        return getattr(self._entry, name)  # signatures, stats, ...

    def __reduce__(self) -> str:
        return self.__qualname__  # a pickle has its name


def is_cached(compiled: Any) -> bool | None:
    """Whether a kernel was ever compiled with these sources; None where there is no cache."""
    if _CACHE is None or not isinstance(compiled, Kernel):
        return None
    return any(_CACHE.glob(f"*/*.{compiled.__name__}-*.nbi"))


def _dispatcher(function: Callable, options: dict, directory: Path | None) -> Any:
    dispatcher: Any = njit(**options)(function)
    if directory is not None:
        dispatcher._cache = _KernelCache(function, directory)
    return dispatcher


def kernel(function: Callable) -> Callable:
    """Compile a module-level function: no GIL, reassociated sums, cached between processes."""
    return _compiled(function, _OPTIONS)


def exact_kernel(function: Callable) -> Callable:
    """The same, with every sum in the order and with the rounding that is written down."""
    return _compiled(function, {**_OPTIONS, "fastmath": False})


def _compiled(function: Callable, options: dict) -> Callable:
    return function if config.DISABLE_JIT else Kernel(function, options)


def c_function(signature: Any, function: Callable) -> Any:
    """Compile a module-level function for C to call, cached like a kernel; `address` is where."""
    compiled: Any = CFunc(function, sigutils.normalize_signature(signature), {}, {})
    if _CACHE is not None:
        compiled._cache = _KernelCache(function, _CACHE)
    compiled.compile()
    return compiled
