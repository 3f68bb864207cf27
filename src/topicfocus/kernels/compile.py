"""`kernel`: numba's njit with a cache that survives the process and never serves stale code.

Numba keys its on-disk cache by the file of the compiled function, so editing a helper in another
file leaves the old machine code in use. Here the cache lives in a directory named after a hash of
all sources that kernels are made of (``families/`` and ``kernels/``): any edit gets a new, empty
directory. Cache files are pickles, so the directory belongs to the user alone.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numba
from numba import config, njit

#: fastmath: sums may be reordered, so that LLVM can use SIMD; NaN and infinity keep their meaning.
#: error_model: Python's check for a zero divisor is an early exit, and no loop with one vectorises.
_OPTIONS: dict = {
    "nogil": True,
    "fastmath": {"reassoc", "contract", "arcp", "nsz"},
    "error_model": "numpy",
}
_PACKAGE = Path(__file__).resolve().parents[1]
_FORGET_AFTER_DAYS = 30


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
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "topicfocus" / "kernels"


def _prepare_cache() -> Path | None:
    """Make this version's cache directory (mode 0700) and forget those long unused."""
    try:
        root = cache_root()
        directory = root / source_hash()
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        if hasattr(os, "getuid") and directory.stat().st_uid != os.getuid():
            return None  # somebody else's directory: do not load pickles from it
        os.utime(directory)
        oldest = time.time() - _FORGET_AFTER_DAYS * 86400
        for other in root.iterdir():
            if other != directory and other.is_dir() and other.stat().st_mtime < oldest:
                shutil.rmtree(other, ignore_errors=True)
        return directory
    except (OSError, RuntimeError):
        return None  # no home, read-only disk: compile in memory


_CACHE = _prepare_cache()


def kernel(function: Callable) -> Callable:
    """Compile a module-level function: no GIL, reassociated sums, cached between processes."""
    if _CACHE is None:
        return njit(**_OPTIONS)(function)
    before = config.CACHE_DIR
    config.CACHE_DIR = str(_CACHE)  # read once, when the function's cache is set up
    try:
        return njit(cache=True, **_OPTIONS)(function)
    finally:
        config.CACHE_DIR = before
