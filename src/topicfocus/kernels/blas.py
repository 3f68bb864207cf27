"""One BLAS thread while a model is trained.

Matrix products are small there (topics x topics, topics x documents), and our own threads
(`kernels.threads`) need the cores. BLAS threads wait for the next product in a busy loop: with 50
topics this took a third of the processor time of a fit. With one thread, sums also do not depend on
the number of BLAS threads.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import numpy  # noqa: F401  (its BLAS must be loaded to be found)
import scipy.linalg  # noqa: F401  (and SciPy's)
from threadpoolctl import ThreadpoolController


@cache
def _libraries() -> ThreadpoolController:
    """The BLAS libraries of this process; finding them takes some milliseconds."""
    return ThreadpoolController()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread in this process, as a context manager or a decorator.

    It has an effect in the main thread only: OpenBLAS (0.3.31) ignores calls from other threads,
    and nested blocks in one thread restore the previous number in the right order.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    with _libraries().limit(limits=1, user_api="blas"):
        yield
