"""Counts on disk in the hands of an adversary: damaged, replaced, in the way, no room for them."""

import json
import os
import shutil

import pytest

from topicfocus.corpus import CountStore, StoreError
from topicfocus.corpus.store_files import StoreWriter
from topicfocus.text import TokenCounter

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
