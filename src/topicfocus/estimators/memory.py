"""`within_memory`: methods that keep to the limit of memory that documents come with."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from topicfocus.corpus.parts import is_for_cluster
from topicfocus.corpus.scratch import Scratch
from topicfocus.kernels.paged import paged_arrays


def within_memory(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method of documents X: where these are on disk or on a cluster, large arrays are in files.

    What is computed is the same to the last bit.
    """

    @wraps(method)
    def bounded(self: Any, X: Any, *args: Any, **kwargs: Any) -> Any:
        with paged_arrays(_scratch(X)):
            return method(self, X, *args, **kwargs)

    return bounded


def _scratch(X: Any) -> Scratch | None:
    """The limit of memory of documents, and where files may be; None for a matrix."""
    own = getattr(X, "scratch", None)
    if isinstance(own, Scratch):
        return own
    if not is_for_cluster(X) and not hasattr(X, "run_task"):
        return None
    from topicfocus.distributed.cluster import client_scratch

    return client_scratch()
