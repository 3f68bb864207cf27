"""Counts on disk: what is written is what is read, and fits are those of memory to the last bit."""

import errno
import json
import os
import warnings

import numpy as np
import pytest
from scipy import sparse

from topicfocus import (
    LDA,
    CountStore,
    FocusedTopicClassifier,
    FocusedTopicRegressor,
    PCSLDARegressor,
    PFSLDARegressor,
    SLDARegressor,
)
from topicfocus.corpus import StoreError, parts
from topicfocus.corpus.parts import Joined, in_memory, sum_bounds, take_columns, take_rows
from topicfocus.corpus.scratch import SMALLEST, Scratch, let_go, parse_memory
from topicfocus.corpus.store_files import StoreWriter, is_store
from topicfocus.datasets import make_reviews
from topicfocus.inference.passes import dot, row_sums, transposed_dot
from topicfocus.kernels.paged import can_page


@pytest.fixture(scope="module")
def reviews():
    return make_reviews(600, random_state=0)


def stored(counts, folder, *, room, piece=500):
    """A store that is read in small pieces.

    Without room what is chosen from it is on disk too, and so are numbers of documents.
    """
    blocks = (counts[i : i + 170] for i in range(0, counts.shape[0], 170))
    store = CountStore.write(folder / "counts", blocks)
    store.piece = store.scratch.piece = piece
    if not room:
        store.scratch._room = store.scratch.for_arrays = 0
        store.scratch.large = 4000
    return store


def equal(a, b):
    return a.shape == b.shape and (abs(a - b)).nnz == 0


def small_sums(monkeypatch):
    """Many chunks, as of millions of documents."""
    monkeypatch.setattr(parts, "LARGEST_SUM", 2000)


# ---- what is in it -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("largest", "kind"), [(200, "uint8"), (40_000, "uint16"), (70_000, "uint32"), (0.5, "float64")]
)
def test_counts_are_as_wide_as_they_need_to_be(tmp_path, largest, kind):
    blocks = [sparse.csr_array([[1.0, 0, 3]]), sparse.csr_array([[0, largest, 2.0]])]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        store = CountStore.write(tmp_path / "s", blocks, ["a", "b", "c"])
    manifest = json.loads((tmp_path / "s" / "manifest.json").read_text())
    assert manifest["types"] == {"indices": "uint16", "counts": kind}
    assert equal(in_memory(store), sparse.vstack(blocks, format="csr"))
    assert store.vocabulary == ("a", "b", "c")


def test_more_words_than_two_bytes_hold(tmp_path):
    counts = sparse.csr_array(([2.0, 1.0], ([0, 1], [70_000, 5])), shape=(2, 70_001))
    assert equal(in_memory(CountStore.write(tmp_path / "s", [counts])), counts)


@pytest.mark.parametrize("room", [True, False])
def test_rows_columns_and_roots_are_those_of_a_matrix(tmp_path, reviews, room):
    counts, rng = reviews.counts.astype(float), np.random.default_rng(0)
    store = stored(counts, tmp_path, room=room)
    index = np.sort(rng.choice(600, 250, replace=False))
    kept = np.sort(rng.choice(counts.shape[1], 40, replace=False))
    weight = rng.random(40)
    assert equal(in_memory(take_rows(store, index)), counts[index])
    shuffled = rng.permutation(index)
    assert equal(in_memory(take_rows(store, shuffled)), counts[shuffled])
    assert equal(
        in_memory(take_rows(store, counts.indptr[1:] % 2 == 0)),
        counts[np.flatnonzero(counts.indptr[1:] % 2 == 0)],
    )
    assert equal(in_memory(store.sqrt().rows(index)), counts.sqrt()[index])
    mine = in_memory(take_columns(store.sqrt(), kept, weight))
    theirs = take_columns(counts.sqrt(), kept, weight)
    assert np.array_equal(mine.data, theirs.data) and equal(mine, theirs)


@pytest.mark.parametrize("room", [(True, True), (False, True), (True, False)])
def test_joined_counts_are_those_of_both(tmp_path, reviews, room):
    """One of the two may be in memory: its documents are read from the middle of a matrix."""
    counts = reviews.counts.astype(float)
    (tmp_path / "a").mkdir(), (tmp_path / "b").mkdir()
    first = stored(counts[:400], tmp_path / "a", room=True) if room[0] else counts[:400]
    second = stored(counts[400:], tmp_path / "b", room=True) if room[1] else counts[400:]
    both = Joined(first, second)
    both.piece = 300
    assert equal(in_memory(both), counts)
    assert np.array_equal(both.word_sums(), np.asarray(counts.sum(axis=0)).ravel())
    r = np.random.default_rng(0).normal(size=(600, 2))
    assert np.array_equal(transposed_dot(both.sqrt(), r), counts.sqrt().T @ r)


def test_products_are_scipys_to_the_last_bit(tmp_path, reviews):
    counts = reviews.counts.astype(float).sqrt()
    store = stored(reviews.counts, tmp_path, room=True).sqrt()
    rng = np.random.default_rng(0)
    x, r = rng.normal(size=(counts.shape[1], 3)), rng.normal(size=600)
    for held in (counts, store):
        assert np.array_equal(dot(held, x), counts @ x)
        assert np.array_equal(transposed_dot(held, r), counts.T @ r)
        assert np.array_equal(row_sums(held), np.asarray(counts.sum(axis=1)).ravel())


def test_chunks_of_sums_depend_on_the_data_alone(monkeypatch, reviews):
    small_sums(monkeypatch)
    bounds = sum_bounds(reviews.counts.indptr)
    assert len(bounds) > 4 and bounds[0] == 0 and bounds[-1] == 600
    assert np.array_equal(bounds, sum_bounds(reviews.counts.indptr.astype(np.int64)))


# ---- the same model ------------------------------------------------------------------------------

MODELS = {
    "focused": lambda: FocusedTopicRegressor(4, random_state=0),
    "share": lambda: FocusedTopicRegressor(3, random_state=0, inclusion_prior=0.4),
    "stable": lambda: FocusedTopicRegressor(3, random_state=0, max_epochs=2, selection="stable"),
    "pc-slda": lambda: PCSLDARegressor(3, random_state=0, max_epochs=3),
    "slda": lambda: SLDARegressor(3, random_state=0, max_epochs=3),
    "pf-slda": lambda: PFSLDARegressor(3, random_state=0, max_epochs=3),
    "stochastic": lambda: PFSLDARegressor(3, random_state=0, max_epochs=2, solver="stochastic"),
    "lda": lambda: LDA(3, random_state=0, max_epochs=3),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("chunks", ["one", "many"])
@pytest.mark.parametrize("name", MODELS)
def test_a_fit_to_a_store_is_that_to_a_matrix(tmp_path, monkeypatch, reviews, name, chunks):
    if chunks == "many":
        small_sums(monkeypatch)
    target = () if name == "lda" else (reviews.target,)
    store = stored(reviews.counts, tmp_path, room=chunks == "one")
    mine, theirs = (MODELS[name]().fit(X, *target) for X in (store, reviews.counts))
    a, b = mine.fitted_.state, theirs.fitted_.state
    for part in ("topic_word", "coef", "inclusion", "doc_topic_prior"):
        assert np.array_equal(getattr(a, part), getattr(b, part)), part
    assert np.array_equal(mine.transform(store), theirs.transform(reviews.counts))
    assert (store.scratch.paging.most_in_files > 0) == (chunks == "many") or not can_page()
    if name != "lda":
        assert np.array_equal(mine.predict(store), theirs.predict(reviews.counts))


@pytest.mark.filterwarnings("ignore")
def test_weights_missing_targets_covariates_and_classes(tmp_path, monkeypatch, reviews):
    small_sums(monkeypatch)
    rng = np.random.default_rng(1)
    y = np.where(reviews.target > 5, "good", "bad").astype(object)
    y[::9] = None
    more = {
        "sample_weight": rng.integers(0, 3, 600).astype(float),
        "covariates": rng.normal(size=(600, 2)),
    }
    store = stored(reviews.counts, tmp_path, room=False)
    mine, theirs = (
        FocusedTopicClassifier(4, random_state=0).fit(X, y, **more) for X in (store, reviews.counts)
    )
    assert np.array_equal(mine.components_, theirs.components_)
    assert np.array_equal(mine.coef_, theirs.coef_)
    assert np.array_equal(mine.context_words(3), theirs.context_words(3))


# ---- what can go wrong ---------------------------------------------------------------------------


def damage(folder, name, change):
    path = folder / f"{name}.bin"
    path.write_bytes(change(path.read_bytes()))


def test_a_damaged_store_says_so(tmp_path, reviews):
    folder = CountStore.write(tmp_path / "s", [reviews.counts]).folder
    damage(folder, "counts", lambda content: bytes([content[0] ^ 1]) + content[1:])
    CountStore(folder)  # sizes are right
    with pytest.raises(StoreError, match="content is not what was written"):
        CountStore(folder, check=True)
    damage(folder, "indices", lambda content: content[:-2])
    with pytest.raises(StoreError, match=r"indices.bin is damaged: it has .* bytes instead of"):
        CountStore(folder)
    (folder / "lengths.bin").unlink()
    with pytest.raises(StoreError, match="missing"):
        CountStore(folder)


def test_another_version_and_no_store_at_all(tmp_path, reviews):
    folder = CountStore.write(tmp_path / "s", [reviews.counts]).folder
    text = (folder / "manifest.json").read_text().replace('"version": 2', '"version": 7')
    (folder / "manifest.json").write_text(text)
    with pytest.raises(StoreError, match="of version 7 and this program reads version 2"):
        CountStore(folder)
    with pytest.raises(StoreError, match="not a store of counts"):
        CountStore(tmp_path)
    with pytest.raises(StoreError, match="exists"):
        CountStore.write(folder, [reviews.counts])


def test_a_full_disk_leaves_nothing_half_written(tmp_path, monkeypatch, reviews):
    writer = StoreWriter(tmp_path / "s", reviews.counts.shape[1])

    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(writer, "_write", full)
    with pytest.raises(StoreError, match="No space left on device"):
        writer.add(parts.read_rows(reviews.counts.astype(float), 0, 600))
    assert list(tmp_path.iterdir()) == []
    assert not is_store(tmp_path / "s")


def test_blocks_that_do_not_go_together_leave_nothing(tmp_path):
    with pytest.raises(ValueError, match="a block has 2 words, but others 3"):
        CountStore.write(tmp_path / "s", [[[1, 2, 3]], [[1, 2]]])
    with pytest.raises(ValueError, match="no blocks"):
        CountStore.write(tmp_path / "s", [])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("text", "size"),
    [("2GB", 2 * 10**9), ("1.5g", 1_500_000_000), ("1GiB", 2**30), (10**9, 10**9)],
)
def test_memory_is_read(text, size):
    assert parse_memory(text) == size


@pytest.mark.parametrize("text", ["lots", "-1GB", "", True, "2 XB"])
def test_memory_that_is_no_size(text):
    with pytest.raises(ValueError, match="must be a number of bytes or such as"):
        parse_memory(text)


def test_too_little_memory_says_how_much_is_needed():
    with pytest.raises(ValueError, match=r"100MB of memory is too little: .* Give 537 MB or more"):
        parse_memory("100MB")


def test_scratch_goes_with_what_it_was_for(tmp_path, reviews):
    store = stored(reviews.counts, tmp_path, room=False)
    chosen = take_rows(store, np.arange(300))
    table = store.table(3)
    table[:] = 1.0
    folders = [p for p in tmp_path.iterdir() if p.name.startswith("scratch-")]
    assert len(folders) == 1 and len(list(folders[0].iterdir())) == 2
    del chosen, table
    assert list(folders[0].iterdir()) == []


def test_memory_that_was_taken_is_given_back(tmp_path):
    scratch = Scratch(tmp_path, SMALLEST)
    before = scratch._room
    table = scratch.table(1000, 10, 0.0)
    assert scratch._room == before - 80_000
    del table
    assert scratch._room == before


def test_too_little_memory_for_so_many_documents(tmp_path, monkeypatch):
    store = CountStore.write(tmp_path / "s", [[[1, 0, 2]] * 50])
    monkeypatch.setattr("topicfocus.corpus.scratch.A_DOCUMENT", 10**7)
    with pytest.raises(ValueError, match=r"50 documents.*Give 1\.03 GB or more"):
        CountStore(store.folder, memory="600MB")
    CountStore(store.folder, memory="1.1GB")


def test_mapped_tables_leave_memory_and_come_back(tmp_path):
    scratch = Scratch(tmp_path, SMALLEST)
    scratch._room = 0
    table = scratch.table(5000, 3, 0.5)
    assert len(list(tmp_path.rglob("table.bin"))) == 1
    table[:] = np.arange(15000).reshape(5000, 3)
    let_go(table[7:4000])
    let_go(table)
    assert np.array_equal(table, np.arange(15000.0).reshape(5000, 3))
    let_go(np.zeros(4))  # of memory: nothing happens
    del table
    assert not list(tmp_path.rglob("table.bin"))


@pytest.mark.skipif(not hasattr(os, "posix_fallocate"), reason="not on this system")
def test_a_full_disk_is_told_before_a_table_is_written(tmp_path, monkeypatch):
    """Of a file that is mapped it would be a signal that ends Python."""

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full)
    scratch = Scratch(tmp_path, SMALLEST)
    scratch._room = 0
    with pytest.raises(OSError, match=r"1 MB for numbers of documents.*No space.*Make room"):
        scratch.table(50_000, 3, 0.0)
    assert not list(tmp_path.rglob("table.bin"))


def test_what_needs_everything_at_once_says_so(tmp_path, reviews):
    store = stored(reviews.counts, tmp_path, room=True)
    store.most_memory = 1000
    with pytest.raises(ValueError, match=r"all 600 documents in memory at once"):
        in_memory(store)
    assert sum(block.shape[0] for block in store.blocks()) == 600
    with pytest.raises(ValueError, match='solver="gradient" keeps numbers for every word'):
        SLDARegressor(2, solver="gradient", max_epochs=1).fit(store, reviews.target)
