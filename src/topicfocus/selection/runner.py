"""Run independent fits on all cores, and keep the record of every finished fit in a folder.

A record is a dictionary of plain numbers and strings, stored as a JSON file, so that an interrupted
search continues from the fits that were finished. No model is stored, nothing is executed when a
record is read, and nothing is deleted.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from scipy import sparse
from sklearn.utils.parallel import Parallel, delayed

from topicfocus import __version__
from topicfocus.counts import ChunkedCounts
from topicfocus.inference.marks import marks
from topicfocus.kernels.threads import n_threads
from topicfocus.progress import show_progress
from topicfocus.selection.documents import Data

Record = dict[str, Any]

#: Processes are started for more fits times nonzero counts than this. A fit takes about a
#: microsecond per nonzero, and a new process some 3 seconds to import and to load compiled code.
WORTH_PROCESSES = 5_000_000

#: Parameters that results do not depend on.
_FREE = ("n_jobs", "verbose")
_RUN, _FORMAT = "run.json", "topicfocus fits"


def n_processes(data: Data, n_fits: int, n_jobs: int | None) -> int:
    """How many processes to use: one if counts cannot be sent to others, or fits are small.

    With one process, each fit runs on as many threads as the model asks for.
    """
    most = min(n_threads(n_jobs), n_fits)
    if isinstance(data.X, ChunkedCounts) or n_fits * _size(data.X) < WORTH_PROCESSES:
        return 1
    return most


def _size(X: Any) -> float:
    """Nonzero counts, or about as many words of texts."""
    if sparse.issparse(X):
        return X.nnz
    shape = getattr(X, "shape", (len(X),))
    return float(np.prod(shape)) if len(shape) > 1 else sum(len(str(text)) for text in X) / 6


def run_fits(
    fit: Callable[[Any, Any, dict[Any, Any]], Record],
    groups: Sequence[Sequence[tuple[str, Any]]],
    common: Any,
    finished: FinishedFits,
    *,
    n_jobs: int,
    title: str,
    verbose: bool,
    raise_errors: bool = False,
) -> dict[str, Record]:
    """The records of all fits by name; those in `finished` are not computed again.

    A group is a list of (name, item). Its fits run one after the other in one process, as
    ``fit(item, common, memory)``, where `memory` is a dictionary that the fits of a group share.
    A fit that fails has an "error" in its record, unless errors are to be raised.
    """
    found = finished.get(name for group in groups for name, _ in group)
    left = [[one for one in group if one[0] not in found] for group in groups]
    total, failed = sum(map(len, groups)), 0
    # Copy on write: compiled code distinguishes arrays that are read-only.
    parallel = Parallel(n_jobs=n_jobs, return_as="generator_unordered", mmap_mode="c")
    run = delayed(_run_group)
    with show_progress(title, verbose) as progress:
        tasks = (run(fit, group, common, finished, raise_errors) for group in left if group)
        for records in parallel(tasks):
            found |= records
            failed += sum(record["error"] is not None for record in records.values())
            if progress is not None:
                progress(f"fits, {failed} failed" if failed else "fits", len(found), total)
    return found


def _run_group(
    fit: Callable[[Any, Any, dict[Any, Any]], Record],
    group: Sequence[tuple[str, Any]],
    common: Any,
    finished: FinishedFits,
    raise_errors: bool,
) -> dict[str, Record]:
    records: dict[str, Record] = {}
    memory: dict[Any, Any] = {}
    for name, item in group:
        try:
            record = {"error": None, **fit(item, common, memory)}
        except OSError:  # a full disk or a lost cluster: other fits would fail as well
            raise
        except Exception as error:
            if raise_errors:
                raise
            message = " ".join(str(error).split())
            record = {"error": f"{type(error).__name__}: {message}"}
        finished.put(name, record)
        records[name] = record
    return records


class FinishedFits:
    """Records of finished fits by name in a folder; without a folder, none are kept.

    `identity` is everything that the records depend on.
    """

    def __init__(
        self, folder: str | os.PathLike[str] | None, what: str, identity: Iterable[Any]
    ) -> None:
        self.folder = None if folder is None else Path(folder)
        if self.folder is not None:
            self._open(self.folder, what, fingerprint(identity))

    def _open(self, folder: Path, what: str, mark: str) -> None:
        run = folder / _RUN
        if folder.exists() and not folder.is_dir():
            raise FileExistsError(f"checkpoint={str(folder)!r} is a file; name a folder.")
        folder.mkdir(parents=True, exist_ok=True)
        if not run.exists():
            if any(path.suffix != ".tmp" for path in folder.iterdir()):
                raise FileExistsError(
                    f"checkpoint={str(folder)!r} contains other files; name a new folder."
                )
            _write(run, {"format": _FORMAT, "version": 2, "what": what, "fingerprint": mark})
            return
        found = _read(run)
        if found is None or found.get("format") != _FORMAT:
            raise FileExistsError(f"{run} was not written by topicfocus; name another folder.")
        if found.get("fingerprint") != mark:
            raise ValueError(
                f"checkpoint={str(folder)!r} belongs to another {found.get('what', what)}: data, "
                "settings or the version of topicfocus differ. Use the same, or a new folder."
            )

    def get(self, names: Iterable[str]) -> dict[str, Record]:
        """The records of these fits that can be read, without fits that failed."""
        if self.folder is None:
            return {}
        records = {name: _read(self.folder / f"{name}.json") for name in names}
        return {n: r for n, r in records.items() if r is not None and r.get("error") is None}

    def put(self, name: str, record: Record) -> None:
        """Store a record."""
        if self.folder is not None:
            _write(self.folder / f"{name}.json", record)


def _read(path: Path) -> Record | None:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def _write(path: Path, content: Record) -> None:
    """Write a file that appears as a whole."""
    temporary = path.with_suffix(f".{os.getpid()}.tmp")
    temporary.write_text(json.dumps(content), encoding="utf-8")
    temporary.replace(path)


def fingerprint(identity: Iterable[Any]) -> str:
    """A hash of data and settings, and of the version of topicfocus."""
    return str(joblib.hash([__version__, *map(_hashable, identity)]))


def _hashable(value: Any) -> Any:
    """Counts by their rows, estimators by their parameters, functions by their names."""
    if isinstance(value, Data):
        return [_hashable(part) for part in (value.X, value.y, value.groups, value.arrays)]
    if sparse.issparse(value) or isinstance(value, ChunkedCounts):
        rows = sparse.csr_array(value) if sparse.issparse(value) else value
        return [tuple(rows.shape), rows.indptr.astype(np.int64), *marks(rows)]
    if isinstance(value, dict):
        return {str(key): _hashable(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_hashable(item) for item in value]
    if hasattr(value, "get_params") and not isinstance(value, type):
        params = value.get_params(deep=False)
        return [
            type(value).__name__,
            {k: _hashable(v) for k, v in params.items() if k not in _FREE},
        ]
    if hasattr(value, "__qualname__"):
        return f"{value.__module__}.{value.__qualname__}"
    if hasattr(value, "to_numpy"):
        return [list(getattr(value, "columns", ())), value.to_numpy()]
    return value
