"""Counts on disk in the hands of an adversary: damaged, replaced, in the way, no room for them."""

import json
import os
import shutil
import threading

import numpy as np
import pytest
from command_line import write_reviews

from topicfocus.corpus import CountStore, StoreError
from topicfocus.corpus.store_files import StoreWriter
from topicfocus.persistence import pack
from topicfocus.text import TokenCounter
from topicfocus.workflow import fit_file
from topicfocus.workflow.stored import counts_folder, remove_stores, stores

WORDS = ["b", "a", "é"]
BLOCKS = [[[2, 0, 1], [0, 3, 0]], [[0, 0, 300]]]
TEXTS = ["good film", "bad film", "good good plot"]


@pytest.fixture
def store(tmp_path):
    return CountStore.write(tmp_path / "s", BLOCKS, WORDS)


def content_of(store):
    return store.read(0, 3).matrix(3).toarray().tolist(), store.vocabulary


def test_every_byte_of_every_file(store):
    """Flipped one after the other: an error of one line, or the very same counts."""
    wanted, noticed = content_of(store), 0
    for path in sorted(store.folder.iterdir()):
        content = path.read_bytes()
        for place in range(len(content)):
            altered = bytearray(content)
            altered[place] ^= 0xFF if place % 2 else 1 << (place % 8)
            path.write_bytes(bytes(altered))
            try:
                found = content_of(CountStore(store.folder, check=True))
            except StoreError as error:
                noticed += 1
                assert "\n" not in str(error)
            else:
                assert found == wanted, (path.name, place)
        path.write_bytes(content)
    assert noticed > 100
    assert content_of(CountStore(store.folder, check=True)) == wanted


@pytest.mark.parametrize("key", ["documents", "words", "nonzeros", "types", "checksums", "about"])
@pytest.mark.parametrize("value", [None, -1, 10**18, "many", [], 3.5])
def test_a_manifest_made_by_hand(store, key, value):
    """Of version 1, which has no seal."""
    path = store.folder / "manifest.json"
    manifest = {**json.loads(path.read_text()), "version": 1, key: value}
    path.write_text(json.dumps(manifest))
    with pytest.raises(StoreError, match=r"damaged|documents|words"):
        CountStore(store.folder).vocabulary  # noqa: B018


def test_stores_of_version_1_are_read(store):
    wanted, path = content_of(store), store.folder / "manifest.json"
    manifest = json.loads(path.read_text())
    del manifest["seal"], manifest["checksums"]["words"]
    path.write_text(json.dumps({**manifest, "version": 1}))
    assert content_of(CountStore(store.folder, check=True)) == wanted


def test_words_that_there_are_not_never_reach_compiled_code(store):
    path = store.folder / "indices.bin"
    path.write_bytes(b"\xff" * path.stat().st_size)
    with pytest.raises(StoreError, match=r"indices.bin is damaged: it has words that there are"):
        CountStore(store.folder).read(0, 3)


@pytest.mark.skipif(not hasattr(os, "preadv"), reason="files cannot be kept open")
def test_who_reads_a_store_goes_on_when_it_is_replaced(store):
    wanted = content_of(store)[0]
    writer = StoreWriter(store.folder, 3)
    writer.close(WORDS)
    assert store.read(0, 3).matrix(3).toarray().tolist() == wanted
    assert CountStore(store.folder).seal != store.seal
    shutil.rmtree(store.folder)
    assert store.read(0, 3).matrix(3).toarray().tolist() == wanted


def test_a_worker_notices_another_store(store):
    from topicfocus.distributed.counts import load_part

    folder, seal = str(store.folder), store.seal
    assert load_part(folder, seal, 0, 3).matrix(3).toarray().tolist() == content_of(store)[0]
    with pytest.raises(StoreError, match="was counted again while it was in use"):
        load_part(folder, seal + 1, 0, 3)


def test_nothing_of_a_user_is_replaced(store):
    (store.folder / "notes.txt").write_text("mine")
    for work in (
        lambda: StoreWriter(store.folder, 3),
        lambda: TokenCounter(min_df=1).fit_store(TEXTS, store.folder),
    ):
        with pytest.raises(StoreError, match=r"holds 'notes.txt'|exists"):
            work()
    assert (store.folder / "notes.txt").read_text() == "mine"
    assert content_of(CountStore(store.folder)) == content_of(store)


# ---- the cache of the command ------------------------------------------------------------------


@pytest.fixture
def data(tmp_path, monkeypatch):
    monkeypatch.setattr("topicfocus.folders.cache_folder", lambda: tmp_path / "cache")
    path = write_reviews(tmp_path / "r.csv", 60)
    return path


def fit(data, said=None):
    remarks = None if said is None else said.append
    return fit_file(
        data, text="text", target="stars", topics=2, memory="1GB", remarks=remarks, baseline=False
    )


def test_words_that_were_altered_are_counted_again(data):
    before = fit(data)
    path = counts_folder() / stores()[0]["name"] / "words.json"
    path.write_text(path.read_text().replace("film", "evil"))
    with pytest.warns(UserWarning, match=r"words.json is damaged: .* It is counted again"):
        again = fit(data)
    assert again.pipeline[0].vocabulary_ == before.pipeline[0].vocabulary_


def test_what_a_killed_process_left_is_removed(data):
    fit(data)
    place, (store,) = counts_folder(), stores()
    for name in (f".{store['name']}-0123abcd.tmp", "scratch-999999999-x"):
        (place / name).mkdir()
        (place / name / "counts.bin").write_text("half")
    (place / "scratch-999999999-pairs-x").write_text("half")
    (place / ".mine-0123abcd.tmp").mkdir()
    fit(data)
    left = {p.name for p in place.iterdir()} - {f".{store['name']}.lock"}
    assert left == {store["name"], f"{store['name']}.source", ".mine-0123abcd.tmp"}


def test_a_damaged_store_can_be_removed_and_a_folder_of_others_not(data):
    fit(data)
    (store,) = stores()
    folder = counts_folder() / store["name"]
    (folder / "manifest.json").write_text("{")
    assert [s["name"] for s in stores()] == [store["name"]]
    other = counts_folder() / ("0" * 20)
    other.mkdir()
    (other / "thesis.txt").write_text("mine")
    remove_stores()
    assert not folder.exists() and (other / "thesis.txt").read_text() == "mine"


def test_a_store_with_notes_in_it_stays(data):
    fit(data)
    folder = counts_folder() / stores()[0]["name"]
    (folder / "notes.txt").write_text("mine")
    with pytest.raises(StoreError, match=r"holds 'notes.txt'"):
        remove_stores()
    with data.open("a") as stream:
        stream.write("99,superb film,3\n")
    with pytest.raises(StoreError, match=r"holds 'notes.txt'"):
        fit(data)
    assert (folder / "notes.txt").read_text() == "mine"


def test_a_cache_that_is_a_file(data, tmp_path):
    (tmp_path / "cache").write_text("mine")
    with pytest.raises(StoreError, match=r"counts cannot be kept in .* \$XDG_CACHE_HOME"):
        fit(data)
    assert (tmp_path / "cache").read_text() == "mine"


def test_two_at_once_use_one_store(data):
    """The second waits, says so, and counts nothing."""
    entered, go_on, said = threading.Event(), threading.Event(), []
    fit_store = TokenCounter.fit_store

    def slowly(self, *args, **more):
        entered.set()
        assert go_on.wait(60)
        return fit_store(self, *args, **more)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TokenCounter, "fit_store", slowly)
        first = threading.Thread(target=fit, args=(data,))
        first.start()
        assert entered.wait(60)
        second = threading.Thread(target=fit, args=(data, said))
        second.start()
        for _ in range(600):
            if any("waiting for it" in line for line in said):
                break
            second.join(0.1)
        go_on.set()
        first.join()
        second.join()
    assert any("waiting for it" in line for line in said)
    assert any("have not changed" in line for line in said)
    assert len(stores()) == 1


@pytest.mark.parametrize("room", [0, 2, 4, 6, 7, 8, 9])
def test_no_room_while_counting(data, monkeypatch, room):
    """At whichever write: one line, and nothing is left."""
    left = [room]

    def full(write):
        def limited(*args, **more):
            left[0] -= 1
            if left[0] < 0:
                raise OSError(28, "No space left on device")
            return write(*args, **more)

        return limited

    with monkeypatch.context() as patch:
        patch.setattr(np, "save", full(np.save))
        patch.setattr(StoreWriter, "_write", full(StoreWriter._write))
        patch.setattr("pathlib.Path.write_text", full(type(data).write_text))
        patch.setattr("pathlib.Path.write_bytes", full(type(data).write_bytes))
        patch.setattr("topicfocus.persistence.pack", full(pack))
        try:
            fit(data)
        except OSError as error:
            assert "No space left" in str(error) and "\n" not in str(error)
            assert [p.name for p in counts_folder().iterdir() if not p.name.endswith(".lock")] == []
        else:
            assert room == 9
    fit(data)
