"""Preparing what publishers have: archives of the same layout, made from what is known.

Where the real data are found, their publishers' files are built from them, and the whole way
is gone: the checks of `origins` accept them, and the loader gives the same data set.
"""

import csv
import gzip
import hashlib
import io
import os
import sys
import tarfile
import zipfile

import numpy as np
import pytest

from topicfocus import datasets
from topicfocus.datasets import DownloadError, download, prepare
from topicfocus.datasets.content import file_digest, rows_digest
from topicfocus.datasets.origins import ORIGINS
from topicfocus.datasets.sources import SOURCES, find_data, read_columns

SLOW = (
    pytest.mark.slow,
    pytest.mark.skipif(not os.environ.get("TOPICFOCUS_SLOW"), reason="TOPICFOCUS_SLOW is not set"),
)
CRITICS = ("Dennis Schwartz", "James Berardinelli", "Scott Renshaw", "Steve Rhodes")


def make_tar(path, members, links=()):
    """A gzipped tar of names and contents, and symbolic links."""
    with tarfile.open(path, "w:gz", compresslevel=1) as archive:
        for name, data in members:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
        for name, target in links:
            info = tarfile.TarInfo(name)
            info.type, info.linkname = tarfile.SYMTYPE, target
            archive.addfile(info)


def rows_of(path):
    with gzip.open(path, "rt", encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def scale_members(rows):
    """The files of scale_data.tar.gz, for rows (critic, id, rating, label3, label4, text)."""
    yield "scaledata/README.txt", b"not data"
    for critic in reversed(CRITICS):
        name = critic.replace(" ", "+")
        columns = list(zip(*(row[1:] for row in rows if row[0] == critic), strict=True))
        kinds = ("id", "rating", "label.3class", "label.4class", "subj")
        for kind, values in zip(kinds, columns, strict=True):
            text = "".join(f"{value}\n" for value in values)
            yield f"scaledata/{name}/{kind}.{name}", text.encode("latin-1")


def small_scale():
    return [
        (critic, str(100 * k + i), ("0", "1", ".50")[i], "1", "2", f" review {k} {i} , and so on ")
        for k, critic in enumerate(CRITICS)
        for i in range(3)
    ]


def test_pang_lee(tmp_path):
    archive = tmp_path / "scale_data.tar.gz"
    make_tar(archive, scale_members(small_scale()))
    prepare.pang_lee({archive.name: archive}, tmp_path)
    rows = rows_of(tmp_path / "pang_lee.csv.gz")
    assert [row["critic"] for row in rows] == [critic for critic in CRITICS for _ in range(3)]
    assert [row["rating"] for row in rows[:3]] == ["0.0", "1.0", "0.5"]
    assert rows[4]["text"].strip() == "review 1 1 , and so on"
    assert rows[4]["id"] == "101"


def test_an_archive_without_what_is_needed(tmp_path):
    archive = tmp_path / "scale_data.tar.gz"
    members = [m for m in scale_members(small_scale()) if not m[0].endswith("rating.Steve+Rhodes")]
    make_tar(archive, members)
    with pytest.raises(DownloadError, match=r"has no scaledata/Steve\+Rhodes/rating"):
        prepare.pang_lee({archive.name: archive}, tmp_path)


def review_members(rows):
    yield "aclImdb/README", b"not a review"
    yield "aclImdb/train/unsup/0_0.txt", b"without a rating"
    yield "aclImdb/train/urls_pos.txt", b"not a review"
    for split, number, rating, label, text in rows:
        side = "pos" if int(label) else "neg"
        yield f"aclImdb/{split}/{side}/{number}_{rating}.txt", text.encode("utf-8")


def test_imdb(tmp_path):
    rows = [
        (
            split,
            number,
            7 + number % 3 if label else 1,
            label,
            f"été {split} {label} {number}<br />",
        )
        for split in ("train", "test")
        for label in (1, 0)
        for number in (10, 9, 0)
    ]
    archive = tmp_path / "aclImdb_v1.tar.gz"
    make_tar(archive, review_members(rows))
    prepare.imdb({archive.name: archive}, tmp_path)
    found = [tuple(row.values()) for row in rows_of(tmp_path / "imdb50k.csv.gz")]
    # Test before training part, negative before positive, then by number and not by its digits.
    expected = sorted(rows, key=lambda row: (row[0], row[3], row[1]))
    assert found == [tuple(map(str, row)) for row in expected]


def test_names_in_archives_are_never_paths(tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    archive = tmp_path / "aclImdb_v1.tar.gz"
    evil = [
        ("../evil.txt", b"x"),
        ("/evil.txt", b"x"),
        ("aclImdb/train/neg/../../../../evil.txt", b"x"),
        ("aclImdb/train/neg/0_3.txt", b"a review"),
    ]
    make_tar(archive, evil, links=[("aclImdb/train/pos/1_9.txt", "/etc/passwd")])
    prepare.imdb({archive.name: archive}, out)
    assert [row["text"] for row in rows_of(out / "imdb50k.csv.gz")] == ["a review"]
    zipped = tmp_path / "diabetes130.zip"
    with zipfile.ZipFile(zipped, "w") as archive:
        archive.writestr("../diabetic_data.csv", "x")
        archive.writestr("../../IDS_mapping.csv", "x")
    with pytest.raises(DownloadError, match=r"has no diabetic_data\.csv, ids_mapping\.csv"):
        prepare.diabetes({zipped.name: zipped}, out)
    everything = sorted(str(p.relative_to(tmp_path)) for p in tmp_path.rglob("*") if p.is_file())
    assert everything == ["aclImdb_v1.tar.gz", "diabetes130.zip", "out/imdb50k.csv.gz"]


@pytest.mark.parametrize("name", ["pang_lee", "imdb", "diabetes", "eicu"])
def test_damaged_archives(name, tmp_path):
    files = {}
    for remote in ORIGINS[name].remotes:
        files[remote.filename] = tmp_path / remote.filename
        files[remote.filename].write_bytes(b"<html>moved</html>")
    with pytest.raises(DownloadError, match="cannot be read"):
        getattr(prepare, name)(files, tmp_path)


def test_a_truncated_archive(tmp_path):
    archive = tmp_path / "scale_data.tar.gz"
    make_tar(archive, scale_members(small_scale()))
    archive.write_bytes(archive.read_bytes()[:200])
    with pytest.raises(DownloadError, match="cannot be read"):
        prepare.pang_lee({archive.name: archive}, tmp_path)


def test_members_far_too_large(tmp_path, monkeypatch):
    monkeypatch.setattr(prepare, "_LARGEST_MEMBER", 5)
    archive = tmp_path / "aclImdb_v1.tar.gz"
    make_tar(archive, [("aclImdb/train/neg/0_3.txt", b"a review")])
    with pytest.raises(DownloadError, match="far more than expected"):
        prepare.imdb({archive.name: archive}, tmp_path)


@pytest.mark.parametrize("folder", ["", "dataset_diabetes/"])
def test_diabetes(folder, tmp_path):
    archive = tmp_path / "diabetes130.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as members:
        members.writestr(f"{folder}diabetic_data.csv", "a,b\r\n1,2\r\n")
        members.writestr(f"{folder}IDS_mapping.csv", "c,d\r\n")
        members.writestr("other.txt", "x")
    prepare.diabetes({archive.name: archive}, tmp_path)
    assert gzip.decompress((tmp_path / "diabetic_data.csv.gz").read_bytes()) == b"a,b\r\n1,2\r\n"
    assert (tmp_path / "IDs_mapping.csv").read_bytes() == b"c,d\r\n"


def test_eicu(tmp_path):
    files = {}
    for table in prepare.EICU_TABLES:
        files[f"{table}.csv.gz"] = path = tmp_path / "from" / f"{table}.csv.gz"
        path.parent.mkdir(exist_ok=True)
        with gzip.open(path, "wt") as out:
            out.write('patientUnitStayID,drugname\n1,"PRILOSEC    "\n2,"1 ML  -  A, B"\n3,""\n')
    prepare.eicu(files, tmp_path)
    # Blanks that pad a value are no part of it; those inside are.
    expected = [("1", "PRILOSEC"), ("2", "1 ML  -  A, B"), ("3", "")]
    for file in SOURCES["eicu"].files:
        assert list(read_columns(tmp_path / file, "patientunitstayid", "drugname")) == expected


def test_newsgroups(tmp_path):
    files = {}
    for split in ("train", "test"):
        path = tmp_path / f"20ng-{split}-all-terms.txt"
        path.write_text(f"alt.atheism\tone {split}\nsci.space\t two\n")
        files[path.name] = path
    prepare.newsgroups(files, tmp_path)
    found = [tuple(row.values()) for row in rows_of(tmp_path / "20newsgroups.csv.gz")]
    assert found[0] == ("alt.atheism", "one train", "train")
    assert found[3] == ("sci.space", " two", "test")
    files["20ng-test-all-terms.txt"].write_text("<html>\n")
    with pytest.raises(DownloadError, match="line 1: no tab"):
        prepare.newsgroups(files, tmp_path)


def test_outputs_are_the_same_bytes(tmp_path):
    digests = []
    for name in ("one", "two"):
        out = tmp_path / name
        out.mkdir()
        archive = out / "scale_data.tar.gz"
        make_tar(archive, scale_members(small_scale()))
        prepare.pang_lee({archive.name: archive}, out)
        digests.append(hashlib.sha256((out / "pang_lee.csv.gz").read_bytes()).hexdigest())
    assert digests[0] == digests[1]


def write_r(path, documents, vocabulary, ratings, days, blogs):
    rdata = pytest.importorskip("rdata")
    pandas = pytest.importorskip("pandas")
    meta = {"rating": pandas.Categorical(ratings), "day": np.array(days, dtype=np.int32)}
    rdata.write_rda(
        path,
        {
            "poliblog5k.docs": [np.array(d, dtype=np.int32) for d in documents],
            "poliblog5k.voc": np.array(vocabulary),
            "poliblog5k.meta": pandas.DataFrame({**meta, "blog": pandas.Categorical(blogs)}),
        },
    )


def test_poliblog(tmp_path):
    path = tmp_path / "poliblog5k.RData"
    documents = [[[1, 3], [2, 1]], [[2], [1]]]
    write_r(
        path, documents, ["beta", "alpha", "delta"], ["Liberal", "Conservative"], [1, 9], ["x", "y"]
    )
    prepare.poliblog({path.name: path}, tmp_path)
    found = [tuple(row.values()) for row in rows_of(tmp_path / "poliblog5k.csv.gz")]
    assert found == [("Liberal", "1", "x", "beta beta delta"), ("Conservative", "9", "y", "alpha")]


def test_poliblog_without_the_reader(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "rdata", None)
    with pytest.raises(DownloadError, match=r"pip install 'topicfocus\[r\]'"):
        prepare.poliblog({}, tmp_path)


# Digests


def test_digests_see_values_and_not_their_writing():
    rows = [("1", "a  b"), ("2", "")]
    assert rows_digest(rows) == rows_digest([("1", " a b\n"), ("2", "NA")])
    assert rows_digest(rows) != rows_digest([("1", "ab"), ("2", "")])
    assert rows_digest(rows) != rows_digest([("1a", "b"), ("2", "")])
    assert rows_digest(rows) != rows_digest(rows[::-1])
    assert rows_digest(rows, ordered=False) == rows_digest(rows[::-1], ordered=False)
    assert rows_digest(rows, ordered=False) != rows_digest([*rows, rows[0]], ordered=False)


# From the real data to what their publishers have, and back


@pytest.fixture
def real(request, tmp_path, monkeypatch):
    """The folder of a real data set; from then on only an empty cache is looked in."""
    try:
        folder = find_data(request.param)
    except FileNotFoundError:
        pytest.skip(f"{request.param} is not there")
    monkeypatch.delenv("TOPICFOCUS_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    downloads = tmp_path / "cache" / "topicfocus" / "downloads"
    downloads.mkdir(parents=True)
    return request.param, folder, downloads


def original_pang_lee(folder, downloads):
    columns = ("critic", "id", "rating", "label3", "label4", "text")
    rows = list(read_columns(folder / "pang_lee.csv.gz", *columns))
    make_tar(downloads / "scale_data.tar.gz", scale_members(rows))


def original_newsgroups(folder, downloads):
    for split in ("train", "test"):
        rows = read_columns(folder / "20newsgroups.csv.gz", "category", "text", "split")
        lines = [f"{category}\t{text}\n" for category, text, own in rows if own == split]
        (downloads / f"20ng-{split}-all-terms.txt").write_text("".join(lines))


def original_diabetes(folder, downloads):
    with zipfile.ZipFile(downloads / "diabetes130.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        data = gzip.decompress((folder / "diabetic_data.csv.gz").read_bytes())
        archive.writestr("diabetic_data.csv", data)
        archive.writestr("IDS_mapping.csv", (folder / "IDs_mapping.csv").read_bytes())


def original_eicu(folder, downloads):
    """As PhysioNet writes it: nothing for NA, quotes where needed, blanks kept, names mixed."""
    for table in prepare.EICU_TABLES:
        with (
            gzip.open(folder / f"{table.lower()}.csv.gz", "rt", newline="") as lines,
            gzip.open(downloads / f"{table}.csv.gz", "wt", newline="") as out,
        ):
            writer = csv.writer(out, lineterminator="\n")
            for row in csv.reader(lines):
                writer.writerow(["" if value == "NA" else value for value in row])


def original_we8there(folder, downloads):
    for remote in ORIGINS["we8there"].remotes:
        data = gzip.decompress((folder / "raw" / f"{remote.filename}.gz").read_bytes())
        (downloads / remote.filename).write_bytes(data)


def original_poliblog(folder, downloads):
    rows = rows_of(folder / "poliblog5k.csv.gz")
    vocabulary = sorted({word for row in rows for word in row["bag"].split()})
    number = {word: i + 1 for i, word in enumerate(vocabulary)}
    documents = []
    for row in rows:
        words, counts = np.unique([number[w] for w in row["bag"].split()], return_counts=True)
        documents.append(np.vstack([words, counts]))
    columns = ([row[name] for row in rows] for name in ("rating", "day", "blog"))
    write_r(downloads / "poliblog5k.RData", documents, vocabulary, *columns)


ORIGINALS = {
    "pang_lee": original_pang_lee,
    "eicu": original_eicu,
    "diabetes": original_diabetes,
    "poliblog": original_poliblog,
    "newsgroups": original_newsgroups,
    "we8there": original_we8there,
}


@pytest.mark.parametrize(
    "real",
    ["pang_lee", "eicu", "we8there"]
    + [pytest.param(name, marks=SLOW) for name in ("diabetes", "poliblog", "newsgroups")],
    indirect=True,
)
def test_the_whole_way(real, tmp_path):
    name, folder, downloads = real
    ORIGINALS[name](folder, downloads)
    place = download(name)  # everything is in its place: no connection is needed
    assert place == tmp_path / "cache" / "topicfocus" / "data" / SOURCES[name].folder
    load = getattr(datasets, f"load_{name}")
    ours, theirs = load(), load(path=folder)
    assert ours.vocabulary == theirs.vocabulary
    for part in ("train", "valid", "test"):
        mine, other = getattr(ours, part), getattr(theirs, part)
        assert (mine.counts != other.counts).nnz == 0
        np.testing.assert_array_equal(mine.target, other.target)
        if mine.texts is not None:
            assert [" ".join(t.split()) for t in mine.texts] == [
                " ".join(t.split()) for t in other.texts
            ]


@pytest.mark.parametrize("real", ["imdb"], indirect=True)
def test_reviews_of_imdb(real, tmp_path):
    _, folder, _ = real
    columns = ("split", "id", "rating", "label", "text")
    some = [row for row in read_columns(folder / "imdb50k.csv.gz", *columns) if int(row[1]) < 300]
    assert len(some) == 1200
    archive = tmp_path / "aclImdb_v1.tar.gz"
    order = np.random.default_rng(0).permutation(len(some))
    make_tar(archive, review_members([some[i] for i in order]))
    prepare.imdb({archive.name: archive}, tmp_path)
    assert list(read_columns(tmp_path / "imdb50k.csv.gz", *columns)) == some


@pytest.mark.parametrize("real", ["pang_lee"], indirect=True)
def test_one_other_word_is_noticed(real):
    _, folder, downloads = real
    original_pang_lee(folder, downloads)
    rows = list(read_columns(folder / "pang_lee.csv.gz", "rating", "label3", "label4", "text"))
    check = ORIGINS["pang_lee"].checks["pang_lee.csv.gz"]
    assert file_digest(folder / "pang_lee.csv.gz", check.names) == check.sha256
    rows[2500] = (*rows[2500][:3], rows[2500][3].replace("the", "a", 1))
    assert rows_digest(rows) != check.sha256
