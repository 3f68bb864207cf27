"""`download`: a public data set, fetched, checked and prepared in the user's cache."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from topicfocus.datasets.sources import (
    SOURCES,
    DownloadError,
    Source,
    cache_folder,
    find_data,
)

if TYPE_CHECKING:
    from topicfocus.datasets.origins import Origin


def download(name: str, *, force: bool = False, progress: bool | None = None) -> Path:
    """Download a data set from its public source into the user's cache, unless it is there.

    The publisher's files are fetched into ``<cache>/topicfocus/downloads`` (continued if an earlier
    call was interrupted; a file that you put there yourself is used instead), checked, turned into
    the files that the loader reads, checked again, and moved into ``<cache>/topicfocus/data``. What
    was fetched is removed then. The cache is ``$XDG_CACHE_HOME`` or ``~/.cache`` (Linux).

    Parameters
    ----------
    name : str
        As in ``find_data``; not "yelp", whose terms do not allow it.
    force : bool, default=False
        Whether to do so even if the data are found already.
    progress : bool, optional
        Whether to show a progress bar; by default if standard error is a terminal.

    Returns
    -------
    pathlib.Path
        The data set's folder.

    Raises
    ------
    ValueError
        If there is no such data set.
    DownloadError
        If there is no connection, a file is not the expected one, or the cache cannot be written;
        the message says what to do.

    Examples
    --------
    >>> from topicfocus.datasets import download
    >>> folder = download("pang_lee")
    >>> (folder / "pang_lee.csv.gz").is_file()
    True
    """
    if name not in SOURCES:
        raise ValueError(f"no data set is called {name!r}; there are {', '.join(SOURCES)}")
    if not force:
        try:
            return find_data(name)
        except FileNotFoundError:
            pass
    # Here, not above: loading data that are there needs neither the network nor archives.
    from topicfocus.datasets.origins import ORIGINS

    source = SOURCES[name]
    if name not in ORIGINS:
        raise DownloadError(
            f"the data set {name!r} may not be downloaded from here ({source.licence}). Get it "
            f"from {source.origin} and put {', '.join(source.files)} into a folder "
            f"{source.folder}/ that TOPICFOCUS_DATA or path= leads to"
        )
    origin = ORIGINS[name]
    downloads = cache_folder().parent / "downloads"
    with _advice(source, origin, downloads):
        from topicfocus.datasets.fetching import locked

        downloads.mkdir(parents=True, exist_ok=True)
        with locked(downloads / f".{source.folder}.lock"):
            if not force:
                try:  # another process may have brought them while this one waited
                    return find_data(name)
                except FileNotFoundError:
                    pass
            return _obtain(source, origin, downloads, progress)


def _obtain(source: Source, origin: Origin, downloads: Path, progress: bool | None) -> Path:
    from topicfocus.datasets.fetching import fetch

    place = cache_folder() / source.folder
    place.mkdir(parents=True, exist_ok=True)
    fetched, files = [], {}
    for remote in origin.remotes:
        path = downloads / remote.filename
        if not path.is_file():
            fetched.append(path)
        files[remote.filename] = fetch(remote, downloads, progress=progress)
    prepared = Path(tempfile.mkdtemp(prefix=f".{source.folder}-", dir=place.parent))
    try:
        try:
            origin.prepare(files, prepared)
        except (ValueError, LookupError) as error:
            raise DownloadError(f"{', '.join(files)} cannot be prepared: {error}") from None
        _check(origin, prepared, files)
        for file in source.files:
            (place / file).parent.mkdir(parents=True, exist_ok=True)
            os.replace(prepared / file, place / file)  # each whole, and the same from any process
    finally:
        shutil.rmtree(prepared, ignore_errors=True)
    for path in fetched:
        path.unlink(missing_ok=True)
    return place


def _check(origin: Origin, prepared: Path, files: Mapping[str, Path]) -> None:
    for file, check in origin.checks.items():
        found = check.found(prepared / file)
        if found != check.sha256:
            for path in files.values():  # kept to look at, out of the way of the next try
                os.replace(path, path.with_name(f"{path.name}.wrong"))
            kept = ", ".join(f"{path}.wrong" for path in files.values())
            raise DownloadError(
                f"{file}, prepared from {', '.join(files)}, has other content than the data that "
                f"this version knows: digest {found}, expected {check.sha256}. The files were "
                f"kept as {kept}. Try again; if it stays so, the publisher has changed the data"
            )


@contextmanager
def _advice(source: Source, origin: Origin, downloads: Path) -> Iterator[None]:
    """What to do, behind what went wrong."""
    try:
        yield
    except DownloadError as error:
        names = ", ".join(remote.filename for remote in origin.remotes)
        raise DownloadError(
            f"{error}.\nWithout this download: get {names} from {origin.page} on any machine, put "
            f"it into {downloads} and try again; or put {', '.join(source.files)} into a folder "
            f"{source.folder}/ and set TOPICFOCUS_DATA to the folder that contains it, or pass "
            "path="
        ) from None
    except OSError as error:
        raise DownloadError(
            f"cannot write to the cache {downloads.parent}: {error}. Set XDG_CACHE_HOME to a "
            "folder that can be written"
        ) from None
