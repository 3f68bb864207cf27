"""From a publisher's files to those that the loaders read.

Archives are read member by member, and only members with the expected names: nothing is unpacked,
so a name in an archive is never a path on the disk. Outputs are the same bytes every time.
"""

from __future__ import annotations

import csv
import gzip
import io
import re
import tarfile
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from topicfocus.datasets.sources import DownloadError

Files = Mapping[str, Path]

#: No file that is read out of an archive is nearly as large.
_LARGEST_MEMBER = 1 << 28

_CRITICS = ("Dennis Schwartz", "James Berardinelli", "Scott Renshaw", "Steve Rhodes")
_CRITIC_FILES = ("id", "rating", "label.3class", "label.4class", "subj")
_REVIEW = re.compile(r"(?:\./)?aclImdb/(train|test)/(neg|pos)/(\d+)_(\d+)\.txt")
_UCI_FILE = re.compile(r"(?:[\w+-]+/)?(diabetic_data|ids_mapping)\.csv", re.IGNORECASE)
EICU_TABLES = ("patient", "diagnosis", "treatment", "medication", "pastHistory", "admissionDx")


def pang_lee(files: Files, out: Path) -> None:
    """scale_data.tar.gz: for each critic a file of extracts, one a line, and files beside it."""
    parts: dict[str, list[str]] = {}
    wanted = {
        f"scaledata/{critic}/{kind}.{critic}"
        for critic in (name.replace(" ", "+") for name in _CRITICS)
        for kind in _CRITIC_FILES
    }
    for name, data in _tar_members(files["scale_data.tar.gz"]):
        if name.removeprefix("./") in wanted:
            lines = data.decode("latin-1").split("\n")
            parts[name.removeprefix("./")] = lines[:-1] if not lines[-1] else lines
    _expect(files["scale_data.tar.gz"], wanted - set(parts))
    rows = []
    for name in _CRITICS:
        critic = name.replace(" ", "+")
        columns = [parts[f"scaledata/{critic}/{kind}.{critic}"] for kind in _CRITIC_FILES]
        for number, rating, label3, label4, text in zip(*columns, strict=True):
            # Numbers in one way of writing them, whatever theirs is.
            labels = (str(int(label3)), str(int(label4)))
            rows.append((name, number.strip(), str(float(rating)), *labels, text))
    write_rows(
        out / "pang_lee.csv.gz", ("critic", "id", "rating", "label3", "label4", "text"), rows
    )


def imdb(files: Files, out: Path) -> None:
    """aclImdb_v1.tar.gz: a file for each review, its name the number and rating."""
    archive = files["aclImdb_v1.tar.gz"]
    rows = []
    for name, data in _tar_members(archive):
        if match := _REVIEW.fullmatch(name):
            split, side, number, rating = match.groups()
            key = (split, side == "pos", int(number))
            rows.append((key, rating, data.decode("utf-8")))
    if not rows:
        _expect(archive, {"aclImdb/train/neg/0_3.txt"})
    rows.sort(key=lambda row: row[0])
    write_rows(
        out / "imdb50k.csv.gz",
        ("split", "id", "rating", "label", "text"),
        ((key[0], key[2], rating, int(key[1]), text) for key, rating, text in rows),
    )


def newsgroups(files: Files, out: Path) -> None:
    """20ng-*-all-terms.txt: a line for each post, the group and the words."""
    rows = []
    for split in ("train", "test"):
        path = files[f"20ng-{split}-all-terms.txt"]
        with path.open(encoding="utf-8", newline="\n") as lines:
            for i, line in enumerate(lines, start=1):
                category, tab, text = line.rstrip("\r\n").partition("\t")
                if not tab:
                    raise DownloadError(f"{path}, line {i}: no tab between a group and a text")
                rows.append((category, text, split))
    write_rows(out / "20newsgroups.csv.gz", ("category", "text", "split"), rows)


def diabetes(files: Files, out: Path) -> None:
    """UCI's zip: two CSV files, in a folder or not."""
    (archive,) = files.values()
    names = {"diabetic_data": "diabetic_data.csv.gz", "ids_mapping": "IDs_mapping.csv"}
    missing = set(names)
    try:
        with zipfile.ZipFile(archive) as members:
            for info in members.infolist():
                match = _UCI_FILE.fullmatch(info.filename)
                if match is None:
                    continue
                _limit(archive, info.filename, info.file_size)
                data = members.read(info)
                target = out / names[match[1].lower()]
                if target.suffix == ".gz":
                    _write_gzip(target, data)
                else:
                    target.write_bytes(data)
                missing.discard(match[1].lower())
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
        raise DownloadError(f"{archive} cannot be read: {error}") from None
    _expect(archive, {f"{name}.csv" for name in missing})


def eicu(files: Files, out: Path) -> None:
    """The tables of PhysioNet, names in lower case, no blanks around values."""
    for table in EICU_TABLES:
        path = files[f"{table}.csv.gz"]
        try:
            with gzip.open(path, "rt", encoding="utf-8", newline="") as lines:
                rows = csv.reader(lines)
                header = [name.strip().lower() for name in next(rows, [])]
                write_rows(
                    out / f"{table.lower()}.csv.gz",
                    header,
                    ([value.strip() for value in row] for row in rows),
                )
        except (EOFError, gzip.BadGzipFile, UnicodeDecodeError) as error:
            raise DownloadError(f"{path} cannot be read: {error}") from None


def we8there(files: Files, out: Path) -> None:
    """The columns of a sparse matrix as text files, and the ratings."""
    (out / "raw").mkdir()
    for name, path in files.items():
        _write_gzip(out / "raw" / f"{name}.gz", path.read_bytes())
    # Not in a file of its own there: the ratings in the order of the R package's documentation.
    names = "Food\nService\nValue\nAtmosphere\nOverall\n"
    _write_gzip(out / "raw" / "y_dense_colnames.txt.gz", names.encode("ascii"))


def poliblog(files: Files, out: Path) -> None:
    """poliblog5k.RData of the R package stm: word numbers with counts, a vocabulary, a table."""
    try:
        import rdata
    except ImportError:
        raise DownloadError(
            "preparing poliblog needs a reader of R's files: pip install 'topicfocus[r]'"
        ) from None
    objects = _read_r(rdata, files["poliblog5k.RData"])
    vocabulary = [str(word) for word in objects["poliblog5k.voc"]]
    meta = objects["poliblog5k.meta"]
    rows = []
    for document, rating, day, blog in zip(
        objects["poliblog5k.docs"], meta["rating"], meta["day"], meta["blog"], strict=True
    ):
        words, counts = (list(map(int, line)) for line in document)
        bag = sorted(
            word
            for number, count in zip(words, counts, strict=True)
            for word in [vocabulary[number - 1]] * count
        )
        rows.append((rating, int(day), blog, " ".join(bag)))
    write_rows(out / "poliblog5k.csv.gz", ("rating", "day", "blog", "bag"), rows)


def _read_r(rdata: Any, path: Path) -> Mapping[str, Any]:
    import warnings

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # strings of unknown encoding, in a column not used
            objects = rdata.read_rda(path, default_encoding="latin-1")
    except Exception as error:  # whatever a parser meets in a damaged file
        raise DownloadError(f"{path} cannot be read: {error}") from None
    _expect(path, {f"poliblog5k.{name}" for name in ("docs", "voc", "meta")} - set(objects))
    return objects


def write_rows(path: Path, header: Iterable[str], rows: Iterable[Iterable[Any]]) -> None:
    """A gzipped CSV file, the same bytes for the same rows."""
    with _gzip_stream(path) as raw, io.TextIOWrapper(raw, encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def _write_gzip(path: Path, data: bytes) -> None:
    with _gzip_stream(path) as stream:
        stream.write(data)


@contextmanager
def _gzip_stream(path: Path) -> Iterator[gzip.GzipFile]:
    """Without the time and the name, which gzip would put into the header."""
    with (
        path.open("wb") as raw,
        gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as stream,
    ):
        yield stream


def _tar_members(archive: Path) -> Iterator[tuple[str, bytes]]:
    """Names and contents of the regular files, in one pass."""
    try:
        with tarfile.open(archive, "r|gz") as members:
            for member in members:
                if not member.isreg():
                    continue
                _limit(archive, member.name, member.size)
                stream = members.extractfile(member)
                assert stream is not None  # a regular file has one
                yield member.name, stream.read()
    except (tarfile.TarError, EOFError, OSError) as error:
        if isinstance(error, DownloadError):
            raise
        raise DownloadError(f"{archive} cannot be read: {error}") from None


def _limit(archive: Path, name: str, size: int) -> None:
    if size > _LARGEST_MEMBER:
        raise DownloadError(f"{archive}: {name} has {size} bytes, far more than expected")


def _expect(archive: Path, missing: set[str]) -> None:
    if missing:
        raise DownloadError(f"{archive} has no {', '.join(sorted(missing))}")
