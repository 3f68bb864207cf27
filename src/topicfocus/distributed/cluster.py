"""The cluster: connecting to it, waiting for it, and noticing that it is gone."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from topicfocus import folders
from topicfocus.corpus.scratch import SMALLEST, Scratch, memory_here

#: Seconds in which a scheduler must answer.
ANSWER = 20.0
#: Seconds without any worker after which a cluster counts as gone.
PATIENCE = 60.0
#: Seconds between looks at whether there still are workers.
_LOOK = 5.0
#: Of clients: one that has lost its scheduler closes itself, and then knows it no more.
_ADDRESSES: WeakKeyDictionary[Any, str] = WeakKeyDictionary()


class ClusterError(OSError):
    """The cluster cannot be reached, or is gone; what was finished before is not lost with it."""


def dask() -> Any:
    """The package `distributed`, or what to install."""
    try:
        import distributed
    except ImportError:
        raise ImportError(
            "a cluster needs Dask, which is not installed: pip install 'topicfocus[dask]'"
        ) from None
    return distributed


def default_client() -> Any:
    """The client that the user has made."""
    try:
        return dask().get_client()
    except ValueError:
        raise ClusterError(
            "no Dask client: make one first, client = dask.distributed.Client(...), or pass client="
        ) from None


@cache
def client_scratch() -> Scratch:
    """Where numbers of documents are that stay with the client: a quarter of memory, then files."""
    most = memory_here() or 2e9
    place = folders.cache_folder() / "counts"
    try:
        place.mkdir(parents=True, exist_ok=True)
        usable = os.access(place, os.W_OK)
    except (OSError, RuntimeError):
        usable = False
    room = Scratch(place if usable else Path(tempfile.gettempdir()), max(int(most), SMALLEST))
    room.for_arrays = int(most / 4)
    return room


@contextmanager
def connected(address: str, workers: int | None = None) -> Iterator[Any]:
    """A client of the cluster at an address, or of processes of this machine ("local").

    These processes import the program that starts them: in a script call this below
    ``if __name__ == "__main__":``.

    Parameters
    ----------
    address : str
        Of the scheduler, such as "tcp://scheduler:8786", or "local".
    workers : int, optional
        Processes of a local cluster; by default one a core.

    Yields
    ------
    distributed.Client
        Closed at the end of the block, with the local cluster.

    Raises
    ------
    ClusterError
        If nothing answers at the address within 20 seconds.

    Examples
    --------
    With ``address``, that of a running scheduler, or "local" for processes of this machine:

    >>> from topicfocus.distributed import connected
    >>> with connected(address) as client:
    ...     client.submit(sum, [1, 2]).result()
    3
    """
    package = dask()
    cluster = None
    try:
        if address == "local":
            from dask.config import set as setting

            from topicfocus.kernels.threads import n_threads

            # There is no dashboard to see what Dask's profiler finds, a hundred times a second.
            with setting({"distributed.worker.profile.enabled": False}):
                cluster = package.LocalCluster(
                    n_workers=workers or n_threads(None),
                    threads_per_worker=1,
                    processes=True,
                    dashboard_address=None,
                    # Dask serves its state without one, too: here only, at a free port.
                    scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},
                    silence_logs=50,
                )
        client = package.Client(cluster or address, timeout=ANSWER)
    except (OSError, ValueError, TimeoutError) as error:
        if cluster is not None:
            cluster.close()
        reason = " ".join(str(error).split()) or type(error).__name__
        raise ClusterError(f"no cluster at {address}: {reason}") from error
    try:
        yield client
    finally:
        client.close()
        if cluster is not None:
            cluster.close()


def result_of(client: Any, future: Any) -> Any:
    """The result of a future, or a ClusterError if there is nobody left to compute it."""
    package = dask()
    _address(client)  # while it is known
    alone_since: float | None = None
    while True:
        try:
            return future.result(timeout=_LOOK)
        except package.TimeoutError:
            alone = not _n_workers(client)
            now = time.monotonic()
            alone_since = (alone_since or now) if alone else None
            if alone_since is not None and now - alone_since > PATIENCE:
                raise _gone(client, f"no worker for {PATIENCE:.0f} s") from None
        except (package.CancelledError, package.client.FutureCancelledError) as error:
            raise _gone(client, "the connection to its scheduler was lost") from error
        except package.KilledWorker as error:
            raise _gone(client, f"a part of the work ended several workers ({error})") from error
        except package.comm.core.CommClosedError as error:
            raise _gone(client, str(error)) from error


def _n_workers(client: Any) -> int:
    try:
        return len(client.scheduler_info(n_workers=-1)["workers"])
    except Exception:  # of a scheduler that is gone, whatever it is called
        return 0


def _gone(client: Any, why: str) -> ClusterError:
    return ClusterError(f"the cluster at {_address(client)} is gone: {why}.")


def _address(client: Any) -> str:
    """Where the scheduler is, or was when this was asked last."""
    now = getattr(getattr(client, "scheduler", None), "address", None)
    if now is not None:
        _ADDRESSES[client] = now
    return _ADDRESSES.get(client, "?")
