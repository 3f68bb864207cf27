"""One BLAS thread while a model is trained.

Products of matrices are small there (topics x topics, topics x documents), and the threads of
`kernels.threads` do the work. BLAS's own threads wait for the next product by spinning, on cores
that these need: with 50 topics a third of a fit's processor time went there. One thread has a
further use: sums do not depend on how many BLAS would have taken.
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
    """The BLAS libraries of this process; to look for them takes some milliseconds."""
    return ThreadpoolController()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread, in this process, until the block is left. Also a decorator.

    In the main thread only. OpenBLAS takes no such order from another one (0.3.31: the number
    stays as it is); and blocks of one thread are left in the order that restores what was before.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    with _libraries().limit(limits=1, user_api="blas"):
        yield
