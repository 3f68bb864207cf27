"""experiments/data.py: files are found, read, split and prepared; absent ones are reported."""

import gzip
import io
import tarfile
import zipfile

import data
import numpy as np
import pandas as pd
import pytest
from small_sources import write_csv, write_small

pytest.importorskip("pooch")
PARTS = ("train", "valid", "test")


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    return write_small(tmp_path_factory.mktemp("data"))


@pytest.fixture
def nowhere(tmp_path, monkeypatch):
    """Neither a folder of data nor a cache."""
    monkeypatch.delenv("TOPICFOCUS_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path


def parts(loaded):
    return [getattr(loaded, name) for name in PARTS]


@pytest.mark.parametrize("name", list(data.SOURCES))
def test_absent_data_are_reported(name, nowhere):
    with pytest.raises(FileNotFoundError) as error:
        data.load(name)
    said = str(error.value)
    source = data.SOURCES[name]
    assert source.files[0] in said and "TOPICFOCUS_DATA is not set" in said
    assert source.origin in said
    assert (f"python experiments/data.py {name}" in said) == (name != "yelp")


def test_other_columns_and_no_rows(nowhere):
    write_csv(nowhere / "yelp" / "yelp.csv.gz", ["text"], [("a",)])
    with pytest.raises(ValueError, match=r"has no column \['stars'\]"):
        data.load("yelp", path=nowhere)
    write_csv(nowhere / "yelp" / "yelp.csv.gz", ["text", "stars"], [])
    with pytest.raises(ValueError, match="has no rows"):
        data.load("yelp", path=nowhere)


@pytest.mark.parametrize("name", list(data.SOURCES))
def test_every_data_set(name, small):
    loaded = data.load(name, 1, path=small)
    for part in parts(loaded):
        assert part.counts.shape == (len(part.target), len(loaded.vocabulary))
        assert part.counts.has_canonical_format
        assert part.texts is None or len(part.texts) == len(part.target)
    again, other = data.load(name, 1, path=small), data.load(name, 2, path=small)
    assert (again.train.counts != loaded.train.counts).nnz == 0
    assert len(other.train.target) == len(loaded.train.target) or loaded.train.groups is not None
    fewer = data.load(name, 1, path=small, max_docs=5)
    assert fewer.train.counts.shape[0] == 5 and fewer.test.counts.shape == loaded.test.counts.shape


def test_vocabulary_is_of_the_training_part():
    texts = ["good film the"] * 10 + ["film"] * 9 + ["rare"] * 9
    (train, test), words = data.count_texts([texts, ["new good good film"]])
    assert words == ("good",)  # "film" is in over half of the documents, "rare" in fewer than 10
    assert train.shape == (28, 1) and test.toarray().tolist() == [[2.0]]


def test_targets(small):
    pang_lee = data.load("pang_lee", path=small)
    assert set(np.concatenate([p.target for p in parts(pang_lee)])) == {1, 4, 6, 8, 10}
    imdb = data.load("imdb", path=small)
    assert imdb.task == "binary" and "br" not in imdb.vocabulary
    assert len(data.load("newsgroups", path=small).test.target) == 40
    sides = data.load("poliblog", path=small)
    assert sides.target_names == ("Liberal", "Conservative")
    assert sum(part.target.sum() for part in parts(sides)) == 20


def test_eicu_codes(small):
    loaded = data.load("eicu", path=small)
    assert loaded.vocabulary == (
        "ad:admission diagnosis|Sepsis",
        "dx:a|b c, d",
        "hx:notes/CHF",
        "rx:HICL 77",  # a number without a name
        "rx:aspirin",  # less frequent than "ASPIRIN 81 MG", but without a dose
        "rx:saline 0.9%",  # a name without a number
        "tx:ventilation",
    )
    assert loaded.train.counts.max() == 1
    # Without stay 7, whose status is unknown, and 9, which has no codes.
    assert sum(len(part.target) for part in parts(loaded)) == 118
    assert sum(part.target.sum() for part in parts(loaded)) == 12
    groups = [set(part.groups) for part in parts(loaded)]
    assert not groups[0] & groups[1] and not groups[0] & groups[2]


def test_diabetes_codes(small):
    loaded = data.load("diabetes", path=small)
    assert loaded.vocabulary == (
        *("a1c:>8", "age:[70-80)", "discharge:Discharged to home", "drug_change:Ch", "icd9:008"),
        *("icd9:250", "payer:MC", "rx:insulin:Up", "rx:metformin:Steady"),
        *("source:Physician Referral", "specialty:Cardiology"),
    )
    assert sum(len(part.target) for part in parts(loaded)) == 80  # without death and hospice


# ---- publishers' files ---------------------------------------------------------------------------


def make_tar(path, members):
    with tarfile.open(path, "w:gz") as archive:
        for name, content in members:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))


def without_digests(monkeypatch, name):
    source = data.SOURCES[name]
    monkeypatch.setitem(data.SOURCES, name, data.Source(**{**vars(source), "digests": ()}))


def test_prepare_pang_lee_checks_the_content(tmp_path, monkeypatch):
    values = {"id": "7", "rating": ".5", "label.3class": "1", "label.4class": "2", "subj": "a text"}
    critics = ("Dennis+Schwartz", "James+Berardinelli", "Scott+Renshaw", "Steve+Rhodes")
    make_tar(
        tmp_path / "scale_data.tar.gz",
        [(f"scaledata/{c}/{k}.{c}", f"{v}\n".encode()) for c in critics for k, v in values.items()],
    )
    with pytest.raises(ValueError, match="has other content than the data of the published"):
        data.prepare("pang_lee", [tmp_path / "scale_data.tar.gz"], tmp_path)
    assert (tmp_path / "pang_lee.csv.gz.wrong").exists()
    without_digests(monkeypatch, "pang_lee")
    data.prepare("pang_lee", [tmp_path / "scale_data.tar.gz"], tmp_path)
    found = pd.read_csv(tmp_path / "pang_lee.csv.gz")
    assert found["critic"].tolist() == [c.replace("+", " ") for c in critics]
    assert found["rating"].unique() == [0.5] and found["text"].unique() == ["a text"]


def test_prepare_the_others(tmp_path, monkeypatch):
    for name in ("newsgroups", "diabetes", "eicu", "poliblog"):
        without_digests(monkeypatch, name)
    (tmp_path / "a.txt").write_text("sci.space\tone two\n")
    (tmp_path / "b.txt").write_text("rec.autos\tthree\n")
    data.prepare("newsgroups", [tmp_path / "a.txt", tmp_path / "b.txt"], tmp_path)
    rows = pd.read_csv(tmp_path / "20newsgroups.csv.gz").to_numpy().tolist()
    assert rows == [["sci.space", "one two", "train"], ["rec.autos", "three", "test"]]
    with zipfile.ZipFile(tmp_path / "uci.zip", "w") as archive:
        archive.writestr("dataset/diabetic_data.csv", "a\n1\n")
        archive.writestr("dataset/IDS_mapping.csv", "b\n")
    data.prepare("diabetes", [tmp_path / "uci.zip"], tmp_path)
    assert gzip.decompress((tmp_path / "diabetic_data.csv.gz").read_bytes()) == b"a\n1\n"
    assert (tmp_path / "IDs_mapping.csv").read_text() == "b\n"
    write_csv(tmp_path / "raw" / "admissionDx.csv.gz", ["AdmitDxPath "], [(" x ",)])
    data.prepare("eicu", [tmp_path / "raw" / "admissionDx.csv.gz"], tmp_path)
    assert pd.read_csv(tmp_path / "admissiondx.csv.gz")["admitdxpath"].tolist() == ["x"]
