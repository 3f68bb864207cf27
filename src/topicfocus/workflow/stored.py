"""Counts of files kept on disk: made once, used again while the files are what they were.

A store is named after the files and the settings of counting. What else was read (targets, other
columns, the first texts) is in a sealed file beside it. If a file has another size or time, its
content decides: only if that has changed, too, it is counted again.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from topicfocus import folders
from topicfocus.corpus import CountStore, StoreError
from topicfocus.corpus.scratch import Scratch, check_room, least_memory, parse_memory
from topicfocus.corpus.store_files import (
    VERSION,
    check_ours,
    is_store,
    read_manifest,
    remove_store,
)
from topicfocus.text import ReadError, Target
from topicfocus.workflow.columns import Columns
from topicfocus.workflow.errors import SettingError
from topicfocus.workflow.options import ColumnNames, CountOptions, ReadOptions, Roles
from topicfocus.workflow.read import Source
from topicfocus.workflow.remarks import Remarks
from topicfocus.workflow.wording import setting

_BLOCK = 1 << 22


def counts_folder() -> Path:
    """Where stores are kept."""
    return folders.cache_folder() / "counts"


def check_memory(memory: int | str | None) -> int | None:
    """Bytes that a setting of memory means."""
    if memory is None:
        return None
    try:
        return parse_memory(memory)
    except ValueError as error:
        raise SettingError(f"{setting('memory')}: {error}") from None


@contextmanager
def keeping_to(memory: int) -> Iterator[None]:
    """In this block arrays are in files beside the stores where a limit of memory asks for it."""
    from topicfocus.kernels.paged import paged_arrays

    _check_place(counts_folder())
    with paged_arrays(Scratch(counts_folder(), memory)):
        yield


def read_stored(
    table: Any,
    roles: Roles,
    reading: ReadOptions,
    counting: CountOptions,
    remarks: Remarks,
    memory: int,
    count: Callable[[Callable[[Any, Any], Any]], Source],
) -> Source:
    """The source of a table, its counts on disk: those of an earlier call, or counted now.

    `count` reads the table and hands its counter and the texts to the function it is given, which
    returns the counts.
    """
    if hasattr(table, "corpus"):
        raise SettingError(
            f"{table.path} is a count matrix, which is read as a whole: leave {setting('memory')} "
            "out, or write it as a topicfocus.CountStore (docs/scale.md)."
        )
    place = counts_folder()
    _check_place(place)
    remove_leftovers(place)
    files = [] if table.path == "-" else list(table.files)
    settings = [VERSION, asdict(roles), asdict(reading), asdict(counting)]
    name = hashlib.sha256(
        json.dumps([settings, [os.path.abspath(f) for f in files]], default=repr).encode()
    ).hexdigest()[:20]
    # Standard input and a user's own function are not known the next time.
    again = bool(files) and counting.tokenizer is None
    folder = place / (name if again else f"scratch-{os.getpid()}-{name}")
    with _locked(folder, remarks):
        found = _reused(folder, files, memory, remarks) if again else None
        return found or _made(folder, files, table, memory, remarks, count)


def _made(
    folder: Path,
    files: Sequence[str],
    table: Any,
    memory: int,
    remarks: Remarks,
    count: Callable[[Callable[[Any, Any], Any]], Source],
) -> Source:
    """Counted now; nothing is left of it if that fails."""
    before = [_stat(path) for path in _every(files)]
    remarks.say(f"Counting into {folder} ...")
    remove_store(folder)
    _beside(folder).unlink(missing_ok=True)
    opened: list[CountStore] = []

    def counted(counter: Any, blocks: Any) -> Any:
        counter.fit_store(iter(blocks), folder, memory=memory, path=table.path)
        n_docs = read_manifest(folder)["documents"]
        opened.append(CountStore(folder, memory=max(memory, least_memory(n_docs))))
        return opened[0]

    try:
        source = count(counted)
        for entry in before:
            if _stat(entry["path"]) != entry:
                raise ReadError(f"{entry['path']} was changed while it was being read. Try again.")
        inputs = [{**entry, "sha256": _digest(entry["path"])} for entry in before]
        _write_beside(folder, source, inputs)
    except BaseException:
        with suppress(OSError):
            remove_store(folder)
        raise
    size = opened[0].nbytes
    _check_room(memory, source.n_docs)
    remarks.say(
        f"Counts of {source.n_docs:,} documents: {size / 1e6:,.0f} MB on disk, "
        f"{size / max(source.n_docs, 1):.0f} bytes a document."
    )
    return source


def _check_room(memory: int, n_docs: int) -> None:
    """Whether the numbers of so many documents fit; what was counted stays for the next call."""
    try:
        check_room(memory, n_docs)
    except ValueError as error:
        raise SettingError(
            f"{setting('memory')}: {error} What was counted is kept and will be used again."
        ) from None


def _reused(folder: Path, files: Sequence[str], memory: int, remarks: Remarks) -> Source | None:
    """The source as it was counted before; None if it has to be counted (again)."""
    if not os.path.lexists(folder):
        return None
    try:
        header = _read_beside(folder)
        if not _unchanged(header["inputs"], files):
            remarks.say(f"{folder}: the files have changed, so they are counted again.")
            return None
        _check_room(memory, read_manifest(folder)["documents"])
        counts = CountStore(folder, memory=memory, check=True)
    except SettingError:
        raise
    except (OSError, ValueError, KeyError, TypeError) as error:
        remarks.warn(f"{error} It is counted again.")
        return None
    remarks.say(f"Counts are those of {folder}; the files have not changed.")
    return _source(header, counts)


# ---- what is beside the counts -------------------------------------------------------------------


def _beside(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.source")


def _register_records() -> None:
    """What a source is made of, for `pack` and `unpack`."""
    import topicfocus.estimators  # noqa: F401  it registers records first
    from topicfocus.persistence import register_record

    for record in (Target, Columns, ColumnNames):
        register_record(record)


def _write_beside(folder: Path, source: Source, inputs: list[dict[str, Any]]) -> None:
    from topicfocus.persistence import pack
    from topicfocus.persistence.atomic import replacing

    _register_records()
    files = None if source.files is None else source.files.tolist()
    value = (
        source.target,
        source.rows,
        "\0".join(source.texts),
        len(source.texts),
        source.n_skipped,
        source.columns,
        files,
        source.n_without_group,
    )
    content = {
        "path": source.path,
        "inputs": inputs,
        "source": value,
    }
    with replacing(_beside(folder)) as stream:
        stream.write(pack(content, "source"))


def _read_beside(folder: Path) -> dict[str, Any]:
    from topicfocus.persistence import ModelFileError, unpack

    _register_records()
    path = _beside(folder)
    try:
        return unpack(path.read_bytes())
    except FileNotFoundError:
        raise StoreError(f"{folder} was not finished.") from None
    except ModelFileError as error:
        raise StoreError(f"{path} cannot be used ({error}).") from error


def _source(header: dict[str, Any], counts: CountStore) -> Source:
    import numpy as np

    target, rows, texts, n_texts, n_skipped, columns, files, alone = header["source"]
    return Source(
        header["path"],
        counts,
        np.array(counts.vocabulary, dtype=object),
        target,
        rows,
        texts.split("\0") if n_texts else [],
        True,
        n_skipped,
        columns,
        None if files is None else np.array(files, dtype=object),
        n_without_group=alone,
    )


# ---- files ---------------------------------------------------------------------------------------


def _every(files: Sequence[str]) -> list[str]:
    """The files themselves, of folders too."""
    out: list[str] = []
    for path in files:
        if os.path.isdir(path):
            out += sorted(os.path.join(a, name) for a, _, names in os.walk(path) for name in names)
        else:
            out.append(path)
    return out


def _stat(path: str) -> dict[str, Any]:
    try:
        found = os.stat(path)
    except OSError as error:
        raise ReadError(f"{path}: {error.strerror or error}.") from None
    return {"path": os.path.abspath(path), "size": found.st_size, "time": found.st_mtime_ns}


def _digest(path: str) -> str:
    digest = hashlib.sha256()
    with open(path, "rb") as stream:
        while block := stream.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()


def _unchanged(inputs: list[dict[str, Any]], files: Sequence[str]) -> bool:
    now = [_stat(path) for path in _every(files)]
    if [entry["path"] for entry in inputs] != [entry["path"] for entry in now]:
        return False
    for before, entry in zip(inputs, now, strict=True):
        if before["size"] != entry["size"]:
            return False
        if before["time"] != entry["time"] and before["sha256"] != _digest(entry["path"]):
            return False
    return True


def _check_place(place: Path) -> None:
    """The folder of stores is there and can be written to."""
    try:
        place.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=place).close()
    except OSError as error:
        raise StoreError(
            error.errno,
            f"counts cannot be kept in {place}: {error.strerror or error}. Choose another place "
            "with $XDG_CACHE_HOME",
        ) from None


def _lock(folder: Path) -> Any:
    from filelock import FileLock

    return FileLock(folder.with_name(f".{folder.name}.lock"))


@contextmanager
def _locked(folder: Path, remarks: Remarks) -> Iterator[None]:
    """Nobody else makes the same store meanwhile."""
    from filelock import Timeout

    lock = _lock(folder)
    try:
        lock.acquire(timeout=0.5)
    except Timeout:
        remarks.say(f"Another process counts into {folder}: waiting for it ...")
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


# ---- keeping house -------------------------------------------------------------------------------


def stores() -> list[dict[str, Any]]:
    """The stores there are: name, what they are of, documents, bytes.

    Returns
    -------
    list of dict

    Examples
    --------
    >>> from topicfocus.workflow.stored import stores
    >>> isinstance(stores(), list)
    True
    """
    place, out = counts_folder(), []
    for folder in sorted(place.iterdir()) if place.is_dir() else ():
        if not _is_ours(folder):
            continue
        try:
            manifest = read_manifest(folder)
            about, documents = manifest["about"].get("path", ""), manifest["documents"]
        except StoreError as error:
            about, documents = str(error), 0
        size = sum(f.stat().st_size for f in (*folder.iterdir(), _beside(folder)) if f.exists())
        out.append({"name": folder.name, "of": about, "documents": documents, "bytes": size})
    return out


def _is_ours(folder: Path) -> bool:
    """A store, or what is left of one that is damaged."""
    if folder.is_symlink() or not folder.is_dir():
        return False
    if is_store(folder):
        return True
    try:
        check_ours(folder)
    except StoreError:
        return False
    return re.fullmatch("[0-9a-f]{20}", folder.name) is not None


def remove_stores(names: Sequence[str] | None = None) -> list[dict[str, Any]]:
    """Remove stores by name, or all of them; what else is in the folder stays.

    Parameters
    ----------
    names : sequence of str, optional

    Returns
    -------
    list of dict
        Those that were removed, as `stores` has them.

    Examples
    --------
    >>> from topicfocus.workflow.stored import remove_stores
    >>> remove_stores([])
    []
    """
    there = stores()
    known = {store["name"] for store in there}
    for name in names or ():
        if name not in known:
            raise SettingError(f"there is no store {name}. Those there are: topicfocus cache list.")
    gone = [store for store in there if names is None or store["name"] in names]
    for store in gone:
        folder = counts_folder() / store["name"]
        remove_store(folder)
        for other in (_beside(folder), folder.with_name(f".{folder.name}.lock")):
            other.unlink(missing_ok=True)
    if counts_folder().is_dir():
        remove_leftovers(counts_folder())
    return gone


def remove_leftovers(place: Path) -> None:
    """Remove what processes that were killed have left: scratch, and stores never finished."""
    for path in list(place.iterdir()):
        scratch = re.match(r"scratch-(\d+)-", path.name)
        if scratch is not None and not _alive(int(scratch[1])):
            _remove(path)
        unfinished = re.fullmatch(r"\.([0-9a-f]{20})-[0-9a-f]{8}\.tmp", path.name)
        if unfinished is not None:
            _remove_unfinished(place / unfinished[1], path)


def _remove_unfinished(folder: Path, path: Path) -> None:
    """What a killed process wrote of a store: nobody has its lock."""
    from filelock import Timeout

    lock = _lock(folder)
    with suppress(Timeout, OSError), lock.acquire(timeout=0):
        _remove(path)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink()


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, SystemError):
        return True
    return True
