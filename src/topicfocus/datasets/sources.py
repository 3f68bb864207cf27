"""Where each data set comes from, where its files are looked for, and how they are read."""

from __future__ import annotations

import csv
import gzip
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from topicfocus import folders


@dataclass(frozen=True)
class Source:
    """A public data set: its folder, the files a loader reads there, and its origin."""

    title: str
    folder: str
    files: tuple[str, ...]
    origin: str
    licence: str


class DownloadError(OSError):
    """A file could not be fetched, or is not the one that it should be."""


@dataclass(frozen=True)
class Remote:
    """A public file. Without ``sha256`` what is prepared from it is checked instead."""

    url: str
    filename: str
    sha256: str | None = None


SOURCES: dict[str, Source] = {
    "pang_lee": Source(
        title="Movie reviews of four critics with their ratings",
        folder="pang_lee",
        files=("pang_lee.csv.gz",),
        origin="Pang & Lee (2005), scale data v1.0, "
        "https://www.cs.cornell.edu/people/pabo/movie-review-data/",
        licence="research use",
    ),
    "yelp": Source(
        title="A well-known sample of 10,000 Yelp reviews, not the paper's",
        folder="yelp",
        files=("yelp.csv.gz",),
        origin="Yelp academic data set",
        licence="Yelp academic terms: do not redistribute",
    ),
    "imdb": Source(
        title="Large Movie Review Dataset",
        folder="imdb",
        files=("imdb50k.csv.gz",),
        origin="Maas et al. (2011), https://ai.stanford.edu/~amaas/data/sentiment/",
        licence="research use",
    ),
    "eicu": Source(
        title="Intensive-care stays, codes of the first 24 hours",
        folder="eicu_demo",
        files=(
            "patient.csv.gz",
            "diagnosis.csv.gz",
            "treatment.csv.gz",
            "medication.csv.gz",
            "pasthistory.csv.gz",
            "admissiondx.csv.gz",
        ),
        origin="eICU Collaborative Research Database Demo v2.0, "
        "https://physionet.org/content/eicu-crd-demo/",
        licence="ODbL 1.0",
    ),
    "diabetes": Source(
        title="Hospital encounters of diabetic patients, 130 US hospitals 1999-2008",
        folder="diabetes130",
        files=("diabetic_data.csv.gz", "IDs_mapping.csv"),
        origin="UCI Machine Learning Repository, https://archive.ics.uci.edu/dataset/296",
        licence="CC BY 4.0",
    ),
    "poliblog": Source(
        title="Political blogs of 2008 as bags of stems",
        folder="poliblog",
        files=("poliblog5k.csv.gz",),
        origin="poliblog5k of the R package stm",
        licence="MIT",
    ),
    "newsgroups": Source(
        title="20 newsgroups",
        folder="newsgroups",
        files=("20newsgroups.csv.gz",),
        origin="20 Newsgroups, later posts as the test part",
        licence="research use",
    ),
    "we8there": Source(
        title="Restaurant reviews as counts of bigrams, with five ratings",
        folder="we8there",
        files=tuple(
            f"raw/{name}.txt.gz"
            for name in (
                "x_csc_data",
                "x_csc_indices",
                "x_csc_indptr",
                "x_csc_shape",
                "x_csc_colnames",
                "y_dense",
                "y_dense_colnames",
            )
        ),
        origin="we8there of the R package textir, Taddy (2013)",
        licence="BSD-3 repository",
    ),
}


def find_data(
    name: str, path: str | os.PathLike[str] | None = None, *, download: bool = False
) -> Path:
    """Find the folder of a data set.

    Parameters
    ----------
    name : str
        One of "pang_lee", "yelp", "imdb", "eicu", "diabetes", "poliblog", "newsgroups", "we8there".
    path : path-like, optional
        The data set's folder, or the folder that contains it; nowhere else is looked then. By
        default ``$TOPICFOCUS_DATA/<folder>``, then ``<cache>/topicfocus/data/<folder>``, where the
        cache is ``$XDG_CACHE_HOME`` or the system's (``~/.cache`` on Linux).
    download : bool, default=False
        Whether to fetch the data into that cache if they are nowhere (see ``download``); not with
        ``path``.

    Returns
    -------
    pathlib.Path
        A folder with all files that the loader needs.

    Raises
    ------
    ValueError
        If there is no such data set.
    FileNotFoundError
        If no place has all files; the message says what was missing where.

    Examples
    --------
    >>> from topicfocus.datasets import find_data
    >>> folder = find_data("pang_lee")
    >>> [path.name for path in folder.iterdir()]
    ['pang_lee.csv.gz']
    """
    if name not in SOURCES:
        raise ValueError(f"no data set is called {name!r}; there are {', '.join(SOURCES)}")
    source = SOURCES[name]
    places = _places(source, path)
    for place in places:
        if not _missing(source, place):
            return place
    if download and path is None:
        from topicfocus.datasets.obtain import download as obtain

        return obtain(name)
    raise FileNotFoundError(_not_found(name, source, places, given=path is not None))


def cache_folder() -> Path:
    """The user's cache of data sets."""
    return folders.cache_folder() / "data"


def _earlier_cache() -> Path:
    """Where it once was on every system; data that are there are still found."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "topicfocus" / "data"


def read_columns(path: Path, *columns: str) -> Iterator[tuple[str, ...]]:
    """Read some columns of a gzipped CSV file with a header, one row at a time."""
    with gzip.open(path, "rt", encoding="utf-8", newline="") as lines:
        rows = csv.reader(lines)
        header = next(rows, [])
        missing = [column for column in columns if column not in header]
        if missing:
            raise ValueError(
                f"{path} has no column {', '.join(map(repr, missing))}; "
                f"its columns are {', '.join(header) or '(none)'}"
            )
        indices = [header.index(column) for column in columns]
        for row in rows:
            yield tuple([row[i] for i in indices])


def _places(source: Source, path: str | os.PathLike[str] | None) -> list[Path]:
    if path is not None:
        given = Path(path).expanduser()
        return [given, given / source.folder]
    places = [cache_folder() / source.folder]
    earlier = _earlier_cache() / source.folder
    if earlier != places[0] and earlier.is_dir():
        places.append(earlier)
    root = os.environ.get("TOPICFOCUS_DATA")
    if root:
        places.insert(0, Path(root).expanduser() / source.folder)
    return places


def _missing(source: Source, place: Path) -> list[str]:
    return [file for file in source.files if not (place / file).is_file()]


def _not_found(name: str, source: Source, places: list[Path], *, given: bool) -> str:
    looked = "\n".join(f"  {place}: no {', '.join(_missing(source, place))}" for place in places)
    unset = "" if given or os.environ.get("TOPICFOCUS_DATA") else " (TOPICFOCUS_DATA is not set)"
    return (
        f"the data set {name!r} was not found{unset}. Looked in\n{looked}\n"
        f"Set the environment variable TOPICFOCUS_DATA to the folder that contains "
        f"{source.folder}/, or pass path=. {_how_to_get(name)} The data: {source.origin}"
    )


def _how_to_get(name: str) -> str:
    if name == "yelp":
        return "Yelp's terms do not allow a download from here: ask Yelp, or see docs/datasets.md."
    return (
        f"To download them: topicfocus.datasets.download({name!r}), load_{name}(download=True), "
        f"or `topicfocus datasets --download {name}`."
    )
