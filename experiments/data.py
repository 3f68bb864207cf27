"""The real data sets of the experiments: found on disk or downloaded, split and counted.

    python experiments/data.py                 # which data sets are found, and where
    python experiments/data.py imdb eicu       # download these into the user's cache

Files are searched for in ``$TOPICFOCUS_DATA/<folder>``, then in the cache. Nothing is downloaded
unless it is requested. experiments/DATA.md describes the data sets.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import re
import sys
import tarfile
import tomllib
import warnings
import zipfile
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer

Task = Literal["regression", "binary", "multiclass", "multi-target"]
Rows = np.ndarray

#: 3,754/626/626 of 5,006 reviews and 7,500/1,250/1,250 of 10,000: the proportions of the paper.
PROPORTIONS = (0.75, 0.125, 0.125)


@dataclass(frozen=True, eq=False)
class Part:
    """Documents of one part of a data set; `groups` is the patient or the domain of each."""

    counts: sparse.csr_array
    target: np.ndarray
    texts: list[str] | None = None
    groups: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class Dataset:
    """Three parts of a data set: to fit, to choose settings, and to report."""

    name: str
    train: Part
    valid: Part
    test: Part
    vocabulary: tuple[str, ...]
    task: Task
    target_names: tuple[str, ...]


# ---- where the files are -------------------------------------------------------------------------


@dataclass(frozen=True)
class Source:
    """A public data set: its folder, the files that are read from it, its origin and licence.

    `downloads` are the publisher's files, with their SHA-256 where it is known; `digests` are
    content digests (`content_digest`) of columns of the prepared files.
    """

    title: str
    folder: str
    files: tuple[str, ...]
    origin: str
    licence: str
    downloads: tuple[dict[str, str], ...] = ()
    digests: tuple[dict[str, Any], ...] = ()


def _read_sources() -> dict[str, Source]:
    text = (Path(__file__).parent / "sources.toml").read_text(encoding="utf-8")
    return {name: Source(**fields) for name, fields in tomllib.loads(text).items()}


SOURCES = _read_sources()


def find_data(name: str, path: str | os.PathLike[str] | None = None) -> Path:
    """The folder with all files of a data set; `path` is that folder or its parent."""
    if name not in SOURCES:
        raise ValueError(f"no data set is called {name!r}; there are {', '.join(SOURCES)}")
    source = SOURCES[name]
    if path is not None:
        places = [Path(path).expanduser(), Path(path).expanduser() / source.folder]
    else:
        roots = [os.environ.get("TOPICFOCUS_DATA"), _cache()]
        places = [Path(root).expanduser() / source.folder for root in roots if root]
    for place in places:
        if all((place / file).is_file() for file in source.files):
            return place
    searched = "\n".join(
        f"  {place}: no {', '.join(f for f in source.files if not (place / f).is_file())}"
        for place in places
    )
    unset = "" if path or os.environ.get("TOPICFOCUS_DATA") else " (TOPICFOCUS_DATA is not set)"
    download = f"download them with `python experiments/data.py {name}`"
    if not source.downloads:
        download = f"they may not be downloaded from here ({source.licence}; see DATA.md)"
    raise FileNotFoundError(
        f"the data set {name!r} was not found{unset}. Searched in\n{searched}\n"
        f"Set the environment variable TOPICFOCUS_DATA to the folder that contains "
        f"{source.folder}/, or {download}. The data: {source.origin}"
    )


def _cache() -> Path:
    import pooch

    return Path(pooch.os_cache("topicfocus")) / "data"


# ---- downloads -----------------------------------------------------------------------------------


def download(name: str) -> Path:
    """Download the publisher's files and write the files that `load` reads into the cache."""
    import pooch

    source = SOURCES[name]
    if not source.downloads:
        return find_data(name)  # its error says where the data are from
    place = _cache() / source.folder
    place.mkdir(parents=True, exist_ok=True)
    raw = [
        Path(
            pooch.retrieve(
                file["url"],
                file.get("sha256"),
                fname=file["url"].rsplit("/", 1)[-1],
                path=place / "downloaded",
            )
        )
        for file in source.downloads
    ]
    prepare(name, raw, place)
    return place


def prepare(name: str, raw: list[Path], place: Path) -> None:
    """Write the files of a data set from the publisher's, and check their content."""
    _PREPARE[name](raw, place)
    for check in SOURCES[name].digests:
        path = place / check["file"]
        found = content_digest(read_columns(path, *check["columns"]), ordered=name != "eicu")
        if found != check["sha256"]:
            wrong = path.rename(f"{path}.wrong")
            raise ValueError(
                f"{path.name}, prepared from {', '.join(p.name for p in raw)}, has other content "
                f"than the data of the published results: digest {found}, expected "
                f"{check['sha256']}. It was kept as {wrong}; the publisher may have changed it"
            )


def content_digest(table: pd.DataFrame, *, ordered: bool = True) -> str:
    """SHA-256 of the values of a table, ignoring runs of blanks and "NA" for missing values."""

    def normal(value: str) -> str:
        joined = " ".join(value.split())
        return "" if joined == "NA" else joined

    rows = table.itertuples(index=False, name=None)
    each = (hashlib.sha256("\x1f".join(map(normal, row)).encode()).digest() for row in rows)
    return hashlib.sha256(b"".join(each if ordered else sorted(each))).hexdigest()


def _write(path: Path, columns: list[str], rows: list[tuple[Any, ...]]) -> None:
    pd.DataFrame(rows, columns=columns).to_csv(path, index=False)


def _prepare_pang_lee(raw: list[Path], place: Path) -> None:
    """scale_data.tar.gz: for each critic one file of extracts and one per label, line by line."""
    rows: list[tuple[Any, ...]] = []
    with tarfile.open(raw[0]) as archive:
        for critic in ("Dennis+Schwartz", "James+Berardinelli", "Scott+Renshaw", "Steve+Rhodes"):
            columns = []
            for kind in ("id", "rating", "label.3class", "label.4class", "subj"):
                member = archive.extractfile(f"scaledata/{critic}/{kind}.{critic}")
                assert member is not None
                columns.append(member.read().decode("latin-1").removesuffix("\n").split("\n"))
            for number, rating, label3, label4, text in zip(*columns, strict=True):
                labels = (float(rating), int(label3), int(label4))
                rows.append((critic.replace("+", " "), number.strip(), *labels, text))
    columns = ["critic", "id", "rating", "label3", "label4", "text"]
    _write(place / "pang_lee.csv.gz", columns, rows)


def _prepare_imdb(raw: list[Path], place: Path) -> None:
    """aclImdb_v1.tar.gz: one file per review, named by its number and rating."""
    pattern = re.compile(r"(?:\./)?aclImdb/(train|test)/(neg|pos)/(\d+)_(\d+)\.txt")
    rows = []
    with tarfile.open(raw[0], "r|gz") as archive:
        for member in archive:
            if match := pattern.fullmatch(member.name):
                split, side, number, rating = match.groups()
                text = archive.extractfile(member).read().decode("utf-8")  # type: ignore[union-attr]
                rows.append((split, int(number), int(rating), int(side == "pos"), text))
    rows.sort(key=lambda row: (row[0], row[3], row[1]))
    _write(place / "imdb50k.csv.gz", ["split", "id", "rating", "label", "text"], rows)


def _prepare_newsgroups(raw: list[Path], place: Path) -> None:
    """Two files with one post per line: the group, a tab, the words."""
    rows = []
    for path, split in zip(raw, ("train", "test"), strict=True):
        for line in path.read_text(encoding="utf-8").splitlines():
            category, _, text = line.partition("\t")
            rows.append((category, text, split))
    _write(place / "20newsgroups.csv.gz", ["category", "text", "split"], rows)


def _prepare_diabetes(raw: list[Path], place: Path) -> None:
    """A zip archive with two CSV files."""
    with zipfile.ZipFile(raw[0]) as archive:
        members = {Path(name).name.lower(): name for name in archive.namelist()}
        for file in SOURCES["diabetes"].files:
            data = archive.read(members[file.removesuffix(".gz").lower()])
            (place / file).write_bytes(gzip.compress(data) if file.endswith(".gz") else data)


def _prepare_eicu(raw: list[Path], place: Path) -> None:
    """PhysioNet's tables: names in lower case, no blanks around values."""
    for path in raw:
        table = pd.read_csv(path, dtype=str, keep_default_na=False)
        table = table.rename(columns=lambda name: name.strip().lower())
        table.apply(lambda column: column.str.strip()).to_csv(
            place / path.name.lower(), index=False
        )


def _prepare_poliblog(raw: list[Path], place: Path) -> None:
    """poliblog5k.RData: word numbers with counts, a vocabulary, a table of posts."""
    import rdata

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the encoding of a column that is not used is unknown
        objects = rdata.read_rda(raw[0], default_encoding="latin-1")
    words, meta = objects["poliblog5k.voc"], objects["poliblog5k.meta"]
    rows = []
    for document, rating, day, blog in zip(
        objects["poliblog5k.docs"], meta["rating"], meta["day"], meta["blog"], strict=True
    ):
        numbers, counts = np.asarray(document, dtype=int)
        bag = sorted(map(str, np.repeat(np.asarray(words)[numbers - 1], counts)))
        rows.append((rating, int(day), blog, " ".join(bag)))
    _write(place / "poliblog5k.csv.gz", ["rating", "day", "blog", "bag"], rows)


def _prepare_we8there(raw: list[Path], place: Path) -> None:
    (place / "raw").mkdir(exist_ok=True)
    for path in raw:
        (place / "raw" / f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))


_PREPARE: dict[str, Callable[[list[Path], Path], None]] = {
    "pang_lee": _prepare_pang_lee,
    "imdb": _prepare_imdb,
    "newsgroups": _prepare_newsgroups,
    "diabetes": _prepare_diabetes,
    "eicu": _prepare_eicu,
    "poliblog": _prepare_poliblog,
    "we8there": _prepare_we8there,
}


# ---- loading -------------------------------------------------------------------------------------


def read_columns(path: Path, *columns: str) -> pd.DataFrame:
    """Some columns of a CSV file, as text."""
    table = pd.read_csv(path, dtype=str, keep_default_na=False)
    missing = [column for column in columns if column not in table]
    if missing:
        raise ValueError(f"{path} has no column {missing}; its columns are {list(table)}")
    if table.empty:
        raise ValueError(f"{path} has no rows")
    return table[list(columns)]


def load(
    name: str,
    split: int = 0,
    *,
    max_features: int | None = None,
    max_docs: int | None = None,
    path: str | os.PathLike[str] | None = None,
) -> Dataset:
    """One random split of a data set, counted with the vocabulary of its training part.

    Parameters
    ----------
    name : str
        A name of `SOURCES`, or "yelp_imdb": half restaurants, half films, liked or not.
    split : int, default=0
        Seed of the split.
    max_features : int, optional
        Keep this number of words, the most frequent ones.
    max_docs : int, optional
        Keep this number of training documents.
    path : path-like, optional
        Where the data are, see `find_data`.
    """
    if name == "yelp_imdb":
        data = _yelp_and_imdb(split)
    elif name in ("eicu", "diabetes"):
        data = _load_codes(name, split, find_data(name, path))
    elif name == "we8there":
        data = _load_we8there(split, find_data(name, path))
    else:
        data = _load_texts(name, split, max_features, find_data(name, path))
    if max_docs is None or max_docs >= data.train.counts.shape[0]:
        return data
    part, n = data.train, max_docs
    train = Part(
        part.counts[:n],
        part.target[:n],
        None if part.texts is None else part.texts[:n],
        None if part.groups is None else part.groups[:n],
    )
    return Dataset(**{**vars(data), "train": train})


def random_parts(n: int, split: int, proportions: tuple[float, ...] = PROPORTIONS) -> list[Rows]:
    """Random parts of n rows; `split` is the seed."""
    order = np.random.default_rng(split).permutation(n)
    # Rounded first: 0.9 of 10 is 9, whatever the last bit of the product is.
    edges = np.floor(np.round(np.cumsum(proportions[:-1]) * n, 6)).astype(np.int64)
    return np.split(order, edges)


def group_parts(groups: np.ndarray, split: int) -> list[Rows]:
    """Random parts in which all rows of a group are in one part."""
    names, group_of = np.unique(groups, return_inverse=True)
    part_of = np.empty(len(names), dtype=np.int64)
    for i, members in enumerate(random_parts(len(names), split)):
        part_of[members] = i
    return [np.flatnonzero(part_of[group_of] == i) for i in range(len(PROPORTIONS))]


def count(parts: list[list[Any]], **options: Any) -> tuple[list[sparse.csr_array], tuple[str, ...]]:
    """Counts of each part, with the vocabulary of the first; words in 10 of its documents."""
    vectorizer = CountVectorizer(min_df=10, dtype=np.float64, **options)
    matrices = [vectorizer.fit_transform(parts[0])]
    matrices += [vectorizer.transform(documents) for documents in parts[1:]]
    counts = [sparse.csr_array(matrix) for matrix in matrices]
    for matrix in counts:
        matrix.sum_duplicates()
    return counts, tuple(vectorizer.get_feature_names_out().tolist())


def count_texts(
    parts: list[list[str]], max_features: int | None = None
) -> tuple[list[sparse.csr_array], tuple[str, ...]]:
    """The paper's rule: English stop words and words in over half of the documents are left out."""
    return count(parts, stop_words="english", max_df=0.5, max_features=max_features)


_TARGETS = {
    "pang_lee": "rating",
    "yelp": "stars",
    "imdb": "label",
    "poliblog": "rating",
    "newsgroups": "category",
}


def _load_texts(name: str, split: int, max_features: int | None, folder: Path) -> Dataset:
    text = "bag" if name == "poliblog" else "text"
    target = _TARGETS[name]
    own = ["split"] if name == "newsgroups" else []
    table = read_columns(folder / SOURCES[name].files[0], text, target, *own)
    # Line breaks of web pages: "br" is not a word.
    texts = table[text].str.replace("<br />", " ", regex=False).tolist()
    values, task, names = _read_target(name, table[target])
    if name == "newsgroups":  # its authors' test part
        others = np.flatnonzero(table["split"] != "test")
        parts = [others[rows] for rows in random_parts(len(others), split, (0.9, 0.1))]
        parts.append(np.flatnonzero(table["split"] == "test"))
    else:
        parts = random_parts(len(texts), split)
    part_texts = [[texts[i] for i in rows] for rows in parts]
    counts, vocabulary = count_texts(part_texts, max_features)
    made = [Part(c, values[rows], t) for c, rows, t in zip(counts, parts, part_texts, strict=True)]
    return Dataset(name, *made, vocabulary, task, names)


def _read_target(name: str, column: pd.Series) -> tuple[Any, Task, tuple[str, ...]]:
    if name == "newsgroups":
        return np.array(column.tolist()), "multiclass", tuple(sorted(set(column)))
    if name == "poliblog":
        sides = ("Liberal", "Conservative")
        if unknown := sorted(set(column) - set(sides)):
            raise ValueError(f"poliblog: the column rating has {unknown}, expected {list(sides)}")
        return (column == sides[1]).to_numpy(dtype=float), "binary", sides
    numbers = column.astype(float).to_numpy()
    if name == "imdb":
        return numbers, "binary", ("negative", "positive")
    if name == "pang_lee":
        numbers = np.clip(np.round(10 * numbers), 1, 10)  # ratings 1 to 10, as in the paper
    return numbers, "regression", (_TARGETS[name],)


def _load_we8there(split: int, folder: Path) -> Dataset:
    data, indices, indptr, shape = (
        np.loadtxt(folder / "raw" / f"{name}.txt.gz", dtype=np.int64, ndmin=1)
        for name in ("x_csc_data", "x_csc_indices", "x_csc_indptr", "x_csc_shape")
    )
    counts = sparse.csc_array((data.astype(float), indices, indptr), shape=tuple(shape)).tocsr()
    ratings = np.loadtxt(folder / "raw" / "y_dense.txt.gz", ndmin=2)
    lines = gzip.decompress((folder / "raw" / "x_csc_colnames.txt.gz").read_bytes()).decode()
    words = tuple(line.strip() for line in lines.splitlines() if line.strip())
    parts = [Part(counts[rows], ratings[rows]) for rows in random_parts(counts.shape[0], split)]
    names = ("food", "service", "value", "atmosphere", "overall")
    return Dataset("we8there", *parts, words, "multi-target", names)


def _yelp_and_imdb(split: int) -> Dataset:
    """As many reviews of restaurants as of films, liked or not; `groups` is the domain."""
    yelp, imdb = load("yelp", split), load("imdb", split)
    middle = float(np.mean(yelp.train.target))
    texts, targets, domains = [], [], []
    for part in ("train", "valid", "test"):
        one, other = getattr(yelp, part), getattr(imdb, part)
        n = min(len(one.target), 4000)
        order = np.random.default_rng(split).permutation(2 * n)
        both = one.texts[:n] + other.texts[:n]
        texts.append([both[i] for i in order])
        liked = np.concatenate([one.target[:n] > middle, other.target[:n] > 0])
        targets.append(liked.astype(float)[order])
        domains.append(np.repeat([0, 1], n)[order])
    counts, vocabulary = count_texts(texts)
    parts = [Part(*part) for part in zip(counts, targets, texts, domains, strict=True)]
    return Dataset("yelp_imdb", *parts, vocabulary, "binary", ("disliked", "liked"))


# ---- health records ------------------------------------------------------------------------------

_STAY = "patientunitstayid"
_FIRST_DAY = 1440  # minutes after admission to the unit
#: Prefix of a code, file, column of the code, columns with a time. All times must be within the
#: first day: what was entered later was not known then.
_EICU_CODES = (
    ("dx", "diagnosis", "diagnosisstring", ("diagnosisoffset",)),
    ("tx", "treatment", "treatmentstring", ("treatmentoffset",)),
    ("hx", "pasthistory", "pasthistorypath", ("pasthistoryoffset", "pasthistoryenteredoffset")),
    ("ad", "admissiondx", "admitdxpath", ("admitdxenteredoffset",)),
)
#: Discharges to death and hospice: these patients cannot be readmitted, or are not meant to be.
_NO_RETURN = ("11", "13", "14", "19", "20", "21")
_DIAGNOSES = ("diag_1", "diag_2", "diag_3")
_DRUG_NAMES = """metformin repaglinide nateglinide chlorpropamide glimepiride acetohexamide
glipizide glyburide tolbutamide pioglitazone rosiglitazone acarbose miglitol troglitazone
tolazamide examide citoglipton insulin glyburide-metformin glipizide-metformin
glimepiride-pioglitazone metformin-rosiglitazone metformin-pioglitazone"""
DRUGS = tuple(_DRUG_NAMES.split())
#: Columns whose values are codes, and numbers that IDs_mapping.csv explains, with their prefixes.
_CATEGORIES = {
    **{"race": "race", "gender": "gender", "age": "age", "payer_code": "payer"},
    **{"medical_specialty": "specialty", "max_glu_serum": "glucose", "A1Cresult": "a1c"},
    "change": "drug_change",
}
_NUMBERED = {
    "admission_type_id": "admission",
    "discharge_disposition_id": "discharge",
    "admission_source_id": "source",
}
_UNKNOWN = frozenset(
    ("", "?", "NA", "NULL", "No", "None", "Not Available", "Not Mapped", "Unknown/Invalid")
)


def _load_codes(name: str, split: int, folder: Path) -> Dataset:
    """Sets of codes with a binary target; all documents of a patient are in one part."""
    if name == "eicu":
        bags, positive, groups = _read_eicu(folder)
        names = ("survived", "died")
    else:
        bags, positive, groups = _read_diabetes(folder)
        names = ("not readmitted", "readmitted")
    parts = group_parts(groups, split)
    counts, vocabulary = count([[bags[i] for i in rows] for rows in parts], analyzer=_as_it_is)
    made = [
        Part(c, positive[rows], None, groups[rows]) for c, rows in zip(counts, parts, strict=True)
    ]
    return Dataset(name, *made, vocabulary, "binary", names)


def _as_it_is(bag: set[str]) -> set[str]:
    return bag


def _read_eicu(folder: Path) -> tuple[list[set[str]], np.ndarray, np.ndarray]:
    """Codes of each stay that were known 24 hours after admission to the unit."""
    codes: defaultdict[str, set[str]] = defaultdict(set)
    for prefix, file, column, times in _EICU_CODES:
        table = _first_day(read_columns(folder / f"{file}.csv.gz", _STAY, column, *times), times)
        for stay, code in zip(table[_STAY], table[column], strict=True):
            if code not in _UNKNOWN:
                codes[stay].add(f"{prefix}:{code}")
    for stay, drug in _eicu_drugs(folder):
        codes[stay].add(f"rx:{drug}")
    stays = read_columns(
        folder / "patient.csv.gz", _STAY, "hospitaldischargestatus", "uniquepid"
    ).set_axis(["stay", "status", "patient"], axis=1)
    stays = stays[stays["status"].isin(("Alive", "Expired")) & stays["stay"].isin(codes)]
    died = (stays["status"] == "Expired").to_numpy(dtype=float)
    return [codes[stay] for stay in stays["stay"]], died, np.array(stays["patient"].tolist())


def _first_day(table: pd.DataFrame, times: tuple[str, ...]) -> pd.DataFrame:
    minutes = table[list(times)].apply(pd.to_numeric, errors="coerce")
    return table[(minutes <= _FIRST_DAY).all(axis=1)]


def _eicu_drugs(folder: Path) -> Iterator[tuple[str, str]]:
    """Drugs by their HICL number (ingredients), named by the most frequent name without digits."""
    times = ("drugstartoffset", "drugorderoffset")
    table = read_columns(
        folder / "medication.csv.gz", _STAY, "drughiclseqno", "drugname", *times
    ).rename(columns={"drughiclseqno": "number", "drugname": "name"})
    table["name"] = table["name"].where(~table["name"].isin(_UNKNOWN), "").str.lower()
    known = table[table["name"] != ""]
    often = known.groupby(["number", "name"]).size().reset_index(name="times")
    often["digits"] = often["name"].str.contains(r"\d")
    often = often.sort_values(["number", "digits", "times", "name"], ascending=[1, 1, 0, 1])
    label = often.drop_duplicates("number").set_index("number")["name"]
    for row in _first_day(table, times).itertuples():
        if row.number not in _UNKNOWN and row.number != "0":
            yield getattr(row, _STAY), label.get(row.number, f"HICL {row.number}")
        elif row.name != "":
            yield getattr(row, _STAY), row.name


def _read_diabetes(folder: Path) -> tuple[list[set[str]], np.ndarray, np.ndarray]:
    """Codes of each encounter that were known at discharge; death and hospice are left out."""
    columns = [*_DIAGNOSES, *DRUGS, *_CATEGORIES, *_NUMBERED, "patient_nbr", "readmitted"]
    table = read_columns(folder / "diabetic_data.csv.gz", *columns)
    table = table[~table["discharge_disposition_id"].isin(_NO_RETURN)]
    explained = _read_id_names(folder / "IDs_mapping.csv")
    coded = {}
    for column in _DIAGNOSES:  # "250.83" is in category "250", "8.45" in "008"
        category = table[column].str.split(".").str[0].str.zfill(3)
        coded[column] = ("icd9:" + category).where(~table[column].isin(_UNKNOWN))
    for column in (*DRUGS, *_CATEGORIES, *_NUMBERED):
        values = table[column].map(lambda v, c=column: explained.get((c, v), v))
        prefix = f"rx:{column}" if column in DRUGS else {**_CATEGORIES, **_NUMBERED}[column]
        coded[column] = (f"{prefix}:" + values).where(~values.isin(_UNKNOWN))
    frame = pd.DataFrame(coded)
    bags = [{code for code in row if isinstance(code, str)} for row in frame.to_numpy(dtype=object)]
    back = table["readmitted"] != "NO"
    return bags, back.to_numpy(dtype=float), np.array(table["patient_nbr"].tolist())


def _read_id_names(file: Path) -> dict[tuple[str, str], str]:
    """Names of (column, number): three tables, one below the other, in one file."""
    names: dict[tuple[str, str], str] = {}
    column = ""
    text = io.StringIO(file.read_text(encoding="utf-8"))
    table = pd.read_csv(text, header=None, names=["key", "name"], dtype=str, keep_default_na=False)
    for key, name in table.itertuples(index=False):
        if key.endswith("_id"):
            column = key
        elif key:
            names[column, key] = name.strip()
    return names


def main() -> None:
    for name in sys.argv[1:]:
        print(name, download(name))
    for name, source in SOURCES.items():
        try:
            place = str(find_data(name))
        except FileNotFoundError:
            place = "not found"
        print(f"{name:12s} {source.title} ({source.licence}): {place}")


if __name__ == "__main__":
    main()
