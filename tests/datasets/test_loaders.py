"""Loaders, on small files in the formats of the real ones and, where there are any, on these."""

import dataclasses
import os
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from small_sources import FILLER, WE8THERE, small_diabetes, small_yelp, write_csv, write_small

from topicfocus import datasets
from topicfocus.datasets import Dataset, Part, find_data, paper_counts
from topicfocus.datasets.sources import SOURCES

PARTS = ("train", "valid", "test")
LOADERS = {name: getattr(datasets, f"load_{name}") for name in SOURCES}


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """The folder of all small data sets."""
    return write_small(tmp_path_factory.mktemp("data"))


@pytest.fixture
def nowhere(tmp_path, monkeypatch):
    """No data anywhere: an empty cache and no TOPICFOCUS_DATA."""
    monkeypatch.delenv("TOPICFOCUS_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path


def assert_same(a, b):
    assert a.vocabulary == b.vocabulary
    for name in PARTS:
        one, other = getattr(a, name), getattr(b, name)
        np.testing.assert_array_equal(one.counts.toarray(), other.counts.toarray())
        np.testing.assert_array_equal(one.target, other.target)
        assert one.texts == other.texts


def sizes(data):
    return tuple(getattr(data, name).counts.shape[0] for name in PARTS)


def assert_groups_apart(data):
    groups = [set(getattr(data, name).groups) for name in PARTS]
    assert all(groups)
    assert not groups[0] & groups[1]
    assert not groups[0] & groups[2]
    assert not groups[1] & groups[2]


# Finding files


@pytest.mark.parametrize("name", LOADERS)
def test_data_that_is_not_there(name, nowhere):
    with pytest.raises(FileNotFoundError) as error:
        LOADERS[name]()
    message = str(error.value)
    folder = SOURCES[name].folder
    assert str(nowhere / "cache" / "topicfocus" / "data" / folder) in message
    assert SOURCES[name].files[0] in message
    assert "TOPICFOCUS_DATA is not set" in message
    assert "pass path=" in message


def test_order_of_places(nowhere, monkeypatch):
    cache = nowhere / "cache" / "topicfocus" / "data"
    small_yelp(cache)
    assert find_data("yelp") == cache / "yelp"
    monkeypatch.setenv("TOPICFOCUS_DATA", str(nowhere / "mine"))
    assert find_data("yelp") == cache / "yelp"
    small_yelp(nowhere / "mine")
    assert find_data("yelp") == nowhere / "mine" / "yelp"
    small_yelp(nowhere / "given")
    assert find_data("yelp", nowhere / "given") == nowhere / "given" / "yelp"
    assert find_data("yelp", str(nowhere / "given" / "yelp")) == nowhere / "given" / "yelp"


def test_a_path_is_not_replaced_by_another_place(nowhere, monkeypatch):
    small_yelp(nowhere / "mine")
    monkeypatch.setenv("TOPICFOCUS_DATA", str(nowhere / "mine"))
    with pytest.raises(FileNotFoundError) as error:
        find_data("yelp", nowhere / "typo")
    assert str(nowhere / "typo") in str(error.value)
    assert "is not set" not in str(error.value)


def test_cache_without_xdg(nowhere, monkeypatch):
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(nowhere))
    small_yelp(nowhere / ".cache" / "topicfocus" / "data")
    assert find_data("yelp") == nowhere / ".cache" / "topicfocus" / "data" / "yelp"


def test_an_incomplete_folder_names_the_missing_file(nowhere):
    small_diabetes(nowhere)
    (nowhere / "diabetes130" / "IDs_mapping.csv").unlink()
    with pytest.raises(FileNotFoundError, match=r"diabetes130: no IDs_mapping\.csv"):
        find_data("diabetes", nowhere)


def test_an_unknown_name():
    with pytest.raises(ValueError, match=r"no data set is called 'reuters'; there are pang_lee"):
        find_data("reuters")


def test_a_file_with_other_columns(nowhere):
    write_csv(nowhere / "yelp" / "yelp.csv.gz", ["text", "score"], [("a", 1)])
    with pytest.raises(ValueError, match=r"yelp\.csv\.gz has no column 'stars'; its columns are"):
        datasets.load_yelp(path=nowhere)


def test_a_file_without_rows(nowhere):
    write_csv(nowhere / "yelp" / "yelp.csv.gz", ["text", "stars"], [])
    with pytest.raises(ValueError, match="has no rows"):
        datasets.load_yelp(path=nowhere)


# What all loaders promise


@pytest.mark.parametrize("name", LOADERS)
def test_every_loader_on_small_files(name, small):
    data = LOADERS[name](path=small)
    assert isinstance(data, Dataset)
    assert data.name == name
    assert data.source == SOURCES[name].origin
    assert data.licence == SOURCES[name].licence
    assert isinstance(data.vocabulary, tuple)
    for part_name in PARTS:
        part = getattr(data, part_name)
        assert isinstance(part, Part)
        assert isinstance(part.counts, sparse.csr_array)
        assert part.counts.dtype == np.float64
        assert part.counts.shape == (len(part.target), len(data.vocabulary))
        assert part.target.dtype == np.float64 or data.task == "multiclass"
        assert part.texts is None or len(part.texts) == len(part.target)


@pytest.mark.parametrize("name", LOADERS)
def test_a_split_is_reproducible_and_splits_differ(name, small):
    first = LOADERS[name](split=1, path=small)
    assert_same(first, LOADERS[name](split=1, path=small))
    other = LOADERS[name](split=2, path=small)
    if first.train.texts is not None:
        assert first.train.texts != other.train.texts
    elif first.train.groups is not None:
        assert set(first.train.groups) != set(other.train.groups)
    else:
        assert not np.array_equal(first.train.target, other.train.target)


@pytest.mark.parametrize("name", ["pang_lee", "yelp", "imdb", "poliblog", "newsgroups"])
def test_counts_are_the_papers_of_the_texts(name, small):
    data = LOADERS[name](path=small)
    counts, vocabulary = paper_counts(data.train.texts, data.valid.texts, data.test.texts)
    assert vocabulary == data.vocabulary == tuple(sorted(FILLER))
    for expected, part in zip(counts, PARTS, strict=True):
        np.testing.assert_array_equal(expected.toarray(), getattr(data, part).counts.toarray())


@pytest.mark.parametrize("name", ["pang_lee", "yelp", "imdb", "poliblog", "newsgroups"])
def test_max_features(name, small):
    data = LOADERS[name](max_features=4, path=small)
    assert len(data.vocabulary) == data.test.counts.shape[1] == 4


@pytest.mark.parametrize("name", ["eicu", "diabetes"])
@pytest.mark.parametrize("split", [0, 1, 2])
def test_patients_are_in_one_part(name, split, small):
    assert_groups_apart(LOADERS[name](split=split, path=small))


# One data set after the other


def number_of(text):
    """The row that a small document was written from."""
    return int(next(word for word in text.split() if word.startswith("no"))[2:].split("<")[0])


def rows_of(data):
    return [[number_of(text) for text in getattr(data, name).texts] for name in PARTS]


def test_pang_lee_ratings(small):
    data = datasets.load_pang_lee(path=small)
    assert data.task == "regression"
    assert sizes(data) == (120, 20, 20)
    order = np.random.default_rng(0).permutation(160)
    np.testing.assert_array_equal(np.concatenate(rows_of(data)), order)
    # At least 1; halves go to the even number.
    rounded = np.array([1, 1, 1, 4, 6, 6, 8, 10])
    np.testing.assert_array_equal(data.train.target, rounded[order[:120] % 8])


def test_pang_lee_labels(small):
    data = datasets.load_pang_lee(target="label4", path=small)
    assert data.task == "multiclass"
    assert data.target_names == ("0", "1", "2", "3")
    np.testing.assert_array_equal(data.test.target, np.array(rows_of(data)[2]) % 4)
    with pytest.raises(ValueError, match='target must be one of "rating", "label3", "label4"'):
        datasets.load_pang_lee(target="stars", path=small)


def test_yelp_stars(small):
    data = datasets.load_yelp(path=small)
    np.testing.assert_array_equal(data.valid.target, 1 + np.array(rows_of(data)[1]) % 5)


@pytest.mark.parametrize("split", [0, 1])
def test_own_test_parts_stay(split, small):
    imdb = datasets.load_imdb(split=split, path=small)
    assert sizes(imdb) == (90, 10, 60)
    numbers = rows_of(imdb)
    assert numbers[2] == list(range(60))
    np.testing.assert_array_equal(imdb.train.target, np.array(numbers[0]) % 2)
    assert not any("<br" in text for text in imdb.train.texts)
    news = datasets.load_newsgroups(split=split, path=small)
    assert sizes(news) == (90, 10, 40)
    assert rows_of(news)[2] == list(range(100, 140))


def test_imdb_targets(small):
    assert datasets.load_imdb(path=small).task == "binary"
    rated = datasets.load_imdb(target="rating", path=small)
    assert rated.task == "regression"
    assert set(rated.train.target) == {1, 2, 3, 4}
    with pytest.raises(ValueError, match='target must be one of "label", "rating", got'):
        datasets.load_imdb(target="stars", path=small)


def test_poliblog_sides(small):
    data = datasets.load_poliblog(path=small)
    assert data.target_names == ("Liberal", "Conservative")
    numbers = np.array(rows_of(data)[0])
    np.testing.assert_array_equal(data.train.target, numbers % 4 == 0)


def test_poliblog_with_another_side(nowhere):
    header = ["rating", "bag"]
    write_csv(nowhere / "poliblog" / "poliblog5k.csv.gz", header, [("Green", "a")])
    with pytest.raises(ValueError, match=r"rating has \['Green'\], expected"):
        datasets.load_poliblog(path=nowhere)


def test_newsgroups_labels(small):
    data = datasets.load_newsgroups(path=small)
    assert data.target_names == ("alt.atheism", "rec.autos", "sci.space")
    assert set(data.train.target) == set(data.target_names)


def test_we8there(small):
    data = datasets.load_we8there(path=small)
    assert data.task == "multi-target"
    assert data.vocabulary == ("veri good", "go back", "dine room")
    assert data.target_names == ("food", "service", "value", "atmosphere", "overall")
    assert sizes(data) == (12, 2, 2)
    order = np.random.default_rng(0).permutation(16)
    np.testing.assert_array_equal(data.train.counts.toarray(), WE8THERE[order[:12]])
    np.testing.assert_array_equal(data.train.target[:, 0], 1 + order[:12] % 5)
    np.testing.assert_array_equal(data.train.target[:, 4], 1 + order[:12] % 2)


def test_eicu_codes(small):
    data = datasets.load_eicu(path=small)
    assert data.vocabulary == (
        "ad:admission diagnosis|Sepsis",
        "dx:a|b c, d",
        "hx:notes/CHF",
        "rx:HICL 77",  # a number without a name
        "rx:aspirin",  # less frequent than "ASPIRIN 81 MG", but without a dose
        "rx:saline 0.9%",  # a name without a number
        "tx:ventilation",
    )
    assert data.train.counts.max() == 1
    np.testing.assert_array_equal(data.train.counts.toarray()[:, :6], 1)
    assert data.target_names == ("survived", "died")
    assert sum(sizes(data)) == 118  # without 7, whose status is unknown, and 9, without codes
    assert sum(getattr(data, name).target.sum() for name in PARTS) == 12


def test_diabetes_codes(small):
    data = datasets.load_diabetes(path=small)
    assert data.vocabulary == (
        "a1c:>8",
        "age:[70-80)",
        "discharge:Discharged to home",
        "drug_change:Ch",
        "icd9:008",
        "icd9:250",
        "payer:MC",
        "rx:insulin:Up",
        "rx:metformin:Steady",
        "source:Physician Referral",
        "specialty:Cardiology",
    )
    assert data.train.counts.max() == 1
    assert sum(sizes(data)) == 80  # without death and hospice


def test_diabetes_targets(small):
    anytime = datasets.load_diabetes(path=small)
    soon = datasets.load_diabetes(target="<30", path=small)
    assert sum(getattr(anytime, name).target.sum() for name in PARTS) == 60
    assert sum(getattr(soon, name).target.sum() for name in PARTS) == 30
    with pytest.raises(ValueError, match='target must be "any" or "<30", got'):
        datasets.load_diabetes(target="never", path=small)


@pytest.mark.parametrize(
    ("code", "category"),
    [("250.83", "250"), ("8.45", "008"), ("38", "038"), ("V57.1", "V57"), ("E878", "E878")],
)
def test_icd9_categories(code, category):
    assert datasets.health._icd9_category(code) == category


# The classes


def test_repr(small):
    text = repr(datasets.load_eicu(path=small))
    assert text.startswith("Dataset 'eicu': binary, 7 words\n  train: ")
    assert "% died" in text
    assert "licence: ODbL 1.0" in text
    assert "mean food" in repr(datasets.load_we8there(path=small))
    assert "3 classes" in repr(datasets.load_newsgroups(path=small))
    yelp = datasets.load_yelp(path=small)
    assert "train: 120 documents, 240 tokens, mean stars" in repr(yelp)
    assert repr(yelp.test) == "Part(20 documents x 6 words, 40 tokens)"


def test_data_sets_are_frozen(small):
    data = datasets.load_we8there(path=small)
    with pytest.raises(dataclasses.FrozenInstanceError):
        data.name = "other"
    with pytest.raises(dataclasses.FrozenInstanceError):
        data.train.target = None


def test_parts_that_do_not_fit():
    counts = sparse.csr_array(np.ones((2, 3)))
    with pytest.raises(ValueError, match="counts has 2 documents, but target has 3"):
        Part(counts, np.ones(3))
    part = Part(counts, np.ones(2))
    with pytest.raises(ValueError, match=r"train\.counts has 3 columns, but the vocabulary has 1"):
        Dataset(part, part, part, ("a",), "x", "x", "x", "regression", ("y",))


# The real data


def real(name, **options):
    """Load a real data set from TOPICFOCUS_DATA, or skip."""
    root = os.environ.get("TOPICFOCUS_DATA")
    if not root:
        pytest.skip("TOPICFOCUS_DATA is not set")
    if not (Path(root) / SOURCES[name].folder).is_dir():
        pytest.skip(f"TOPICFOCUS_DATA has no folder {SOURCES[name].folder}")
    return LOADERS[name](**options)


def all_targets(data):
    return np.concatenate([getattr(data, name).target for name in PARTS])


def test_real_pang_lee():
    data = real("pang_lee")
    assert sizes(data) == (3754, 626, 626)
    assert len(data.vocabulary) == 7819  # as model.md has it for the stated rule
    target = all_targets(data)
    np.testing.assert_array_equal(np.unique(target), np.arange(1, 11))
    assert target.mean() == pytest.approx(5.82, abs=0.01)
    presence = (data.train.counts > 0).sum(axis=0)
    assert presence.min() == 10
    assert presence.max() <= 3754 / 2
    assert "film" not in data.vocabulary  # in more than half of the reviews


def test_real_pang_lee_with_the_papers_number_of_words():
    data = real("pang_lee", split=1, max_features=4596)
    assert data.train.counts.shape == (3754, 4596)


def test_real_yelp():
    data = real("yelp")
    assert sizes(data) == (7500, 1250, 1250)
    np.testing.assert_array_equal(
        np.unique(all_targets(data), return_counts=True)[1], [749, 927, 1461, 3526, 3337]
    )


def test_real_eicu():
    data = real("eicu")
    assert_groups_apart(data)
    target = all_targets(data)
    assert len(target) == 2387
    assert target.sum() == 206  # 8.6%
    assert {code.split(":")[0] for code in data.vocabulary} == {"ad", "dx", "hx", "rx", "tx"}
    assert data.train.counts.max() == 1
    assert data.train.counts.sum(axis=0).min() == 10
    again = real("eicu")
    np.testing.assert_array_equal(again.test.groups, data.test.groups)
    assert_same(again, data)


def test_real_diabetes():
    data = real("diabetes")
    assert_groups_apart(data)
    target = all_targets(data)
    assert len(target) == 99343  # 2,423 of 101,766 ended in death or hospice
    assert target.mean() == pytest.approx(0.471, abs=0.001)
    assert not any("Expired" in code or "Hospice" in code for code in data.vocabulary)
    assert data.train.counts.max() == 1


def test_real_poliblog():
    data = real("poliblog")
    assert sizes(data) == (3750, 625, 625)
    assert all_targets(data).sum() == 2853


@pytest.mark.slow
def test_real_newsgroups():
    if not os.environ.get("TOPICFOCUS_SLOW"):
        pytest.skip("TOPICFOCUS_SLOW is not set")
    data = real("newsgroups")
    assert sizes(data) == (10163, 1130, 7528)
    assert len(data.target_names) == 20
    assert set(data.valid.target) == set(data.target_names)


def test_real_we8there():
    data = real("we8there")
    assert sizes(data) == (4624, 771, 771)
    target = all_targets(data)
    assert target.shape == (6166, 5)
    assert target[:, [0, 4]].min() == 1
    assert (target == 0).any(axis=1).sum() == 49  # a part of the rating is missing
    assert target.max() == 5
    assert all(" " in bigram for bigram in data.vocabulary)


@pytest.mark.slow
def test_real_imdb():
    if not os.environ.get("TOPICFOCUS_SLOW"):
        pytest.skip("TOPICFOCUS_SLOW is not set")
    data = real("imdb")
    assert sizes(data) == (22500, 2500, 25000)
    assert data.test.target.mean() == 0.5
    assert all_targets(data).mean() == 0.5
    assert "br" not in data.vocabulary
