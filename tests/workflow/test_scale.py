"""`fit --memory` and `--cluster`: the model of memory, from counts on disk that are used again."""

import csv
import errno
import io
import json
import os
import subprocess
import sys
import time

import numpy as np
import pytest

from topicfocus.datasets import make_reviews
from topicfocus.estimators import progress
from topicfocus.workflow import SettingError, TuneOptions, fit_file
from topicfocus.workflow.stored import counts_folder, remove_stores, stores


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """A cache of counts of its own; compiled kernels stay where they are."""
    place = tmp_path / "cache"
    monkeypatch.setattr("topicfocus.folders.cache_folder", lambda: place)
    return place


def write(path, n=240, seed=0):
    reviews = make_reviews(n, random_state=seed)
    with open(path, "w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["text", "stars"])
        writer.writerows(zip(reviews.texts, reviews.target, strict=True))
    return path


def fit(path, said=None, **more):
    remarks = None if said is None else said.append
    return fit_file(path, text="text", target="stars", topics=2, remarks=remarks, **more)


def state(outcome):
    return outcome.pipeline[-1].fitted_.state


def same(a, b):
    assert np.array_equal(state(a).topic_word, state(b).topic_word)
    assert np.array_equal(state(a).coef, state(b).coef)


@pytest.fixture
def no_room(monkeypatch):
    """Nothing that is chosen from a store may be in memory."""
    monkeypatch.setattr("topicfocus.corpus.scratch.Scratch.take", lambda *_: False)


def test_the_model_is_that_of_memory(tmp_path, cache, no_room):
    path = write(tmp_path / "reviews.csv")
    stored, memory = fit(path, memory="1GB"), fit(path)
    same(stored, memory)
    mine, theirs = (o.result["held_out"]["FocusedTopicRegressor"] for o in (stored, memory))
    assert mine == theirs
    assert set(stored.predictions["part"]) == {"test"}
    held = memory.predictions["part"] == "test"
    assert np.array_equal(stored.predictions["prediction"], memory.predictions["prediction"][held])
    assert stored.result["topics"] == memory.result["topics"]
    assert stored.result["words"] == memory.result["words"]


def test_several_files_and_json_lines(tmp_path, cache):
    first, second = write(tmp_path / "a.csv"), write(tmp_path / "b.csv", 100, 1)
    same(fit([first, second], memory="1GB"), fit([first, second]))
    same(fit(str(tmp_path / "*.csv"), memory="1GB"), fit(str(tmp_path / "*.csv")))
    assert len(stores()) == 1  # the same files, however they are named
    lines = tmp_path / "reviews.jsonl"
    with open(first, newline="") as rows, open(lines, "w") as stream:
        stream.writelines(json.dumps(row) + "\n" for row in csv.DictReader(rows))
    same(fit(lines, memory="1GB"), fit(first))


def test_counts_are_used_again_until_the_file_changes(tmp_path, cache):
    path, said = write(tmp_path / "reviews.csv"), []
    first = fit(path, said, memory="1GB")
    assert any("Counting into" in line for line in said)
    said.clear()
    same(fit(path, said, memory="2GB"), first)
    assert any("the files have not changed" in line for line in said)
    said.clear()
    os.utime(path)  # another time, the same content
    fit(path, said, memory="1GB")
    assert any("the files have not changed" in line for line in said)
    said.clear()
    write(path, seed=3)
    other = fit(path, said, memory="1GB")
    assert any("the files have changed" in line for line in said)
    same(other, fit(path))
    assert len(stores()) == 1


@pytest.mark.parametrize("name", ["counts.bin", "manifest.json", "source"])
def test_damaged_counts_are_counted_again(tmp_path, cache, name):
    path, said = write(tmp_path / "reviews.csv"), []
    before = fit(path, memory="1GB")
    folder = counts_folder() / stores()[0]["name"]
    damaged = folder.with_name(f"{folder.name}.source") if name == "source" else folder / name
    content = damaged.read_bytes()
    damaged.write_bytes(content[: len(content) // 2])
    with pytest.warns(UserWarning, match="It is counted again"):
        again = fit(path, memory="1GB")
    same(again, before)
    assert said == []


def test_a_file_that_changes_while_it_is_read(tmp_path, cache, monkeypatch):
    from topicfocus.text import ReadError, TokenCounter

    path = write(tmp_path / "reviews.csv")
    fit_store = TokenCounter.fit_store

    def and_grows(self, *args, **more):
        found = fit_store(self, *args, **more)
        with open(path, "a") as stream:
            stream.write("one more,3\n")
        return found

    monkeypatch.setattr(TokenCounter, "fit_store", and_grows)
    with pytest.raises(ReadError, match="was changed while it was being read"):
        fit(path, memory="1GB")
    assert stores() == []


def test_a_full_disk_says_where(tmp_path, monkeypatch):
    """What is buffered when the file is closed does not fit, either; that error says nothing."""
    from topicfocus.corpus import StoreError
    from topicfocus.text import stored

    class Full(io.FileIO):
        def write(self, data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def opened(dir, prefix):
        return io.BufferedRandom(Full(os.path.join(dir, prefix), "x+"))

    monkeypatch.setattr(stored.tempfile, "NamedTemporaryFile", opened)
    pairs = stored.Pairs(*(np.zeros(1000, dtype=np.int64) for _ in range(3)))
    message = r"counts cannot be written to .*Make room"
    with pytest.raises(StoreError, match=message), stored.waiting_pairs(tmp_path) as waiting:
        waiting.append(pairs)


def test_stores_are_removed_by_name_or_all(tmp_path, cache):
    fit(write(tmp_path / "a.csv"), memory="1GB")
    fit(write(tmp_path / "b.csv"), memory="1GB")
    first, second = stores()
    with pytest.raises(SettingError, match="there is no store nonsense"):
        remove_stores(["nonsense"])
    assert remove_stores([first["name"]]) == [first]
    assert stores() == [second]
    (counts_folder() / "mine.txt").write_text("not yours")
    (counts_folder() / "scratch-999999999-x").mkdir()
    remove_stores()
    assert [p.name for p in counts_folder().iterdir()] == ["mine.txt"]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"memory": "lots"}, "memory must be a number of bytes"),
        ({"memory": "10MB"}, "10MB of memory is too little"),
    ],
)
def test_settings_that_cannot_be(tmp_path, cache, more, message):
    path = write(tmp_path / "reviews.csv", 30)
    with pytest.raises(SettingError, match=message):
        fit_file(path, text="text", target="stars", **{"topics": 2, **more})


CHOOSING = {"topics": "auto", "tuning": TuneOptions(topics=(2, 3), shares=(), folds=2)}


def choose(path, said=None, **more):
    remarks = None if said is None else said.append
    how = {**CHOOSING, "stability": 2, "jobs": 1, "baseline": False, **more}
    return fit_file(path, text="text", target="stars", remarks=remarks, **how)


def same_choice(a, b):
    same(a, b)
    mine, theirs = (outcome.result["tuning"] for outcome in (a, b))
    assert mine["chosen"] == theirs["chosen"]
    for name in ("score", "words", "npmi"):
        expected = pytest.approx([row[name] for row in theirs["rows"]], rel=1e-12)
        assert [row[name] for row in mine["rows"]] == expected, name
    assert a.result["stability"]["words"] == b.result["stability"]["words"]


def test_topics_and_stability_of_counts_on_disk(tmp_path, cache, no_room, monkeypatch):
    monkeypatch.setattr("topicfocus.estimators.progress._FIRST", 0.0)
    monkeypatch.setattr("topicfocus.estimators.progress._LAST", 0.01)
    path, said = write(tmp_path / "reviews.csv"), []
    stored, memory = choose(path, said, memory="1GB", progress=True), choose(path)
    same_choice(stored, memory)
    assert any(line.startswith("Fits: 1 of 4") and " left" in line for line in said)
    assert any(line.startswith("Halves: 1 of 2") for line in said)


def test_a_search_that_lost_its_place_goes_on_elsewhere(tmp_path, cache, monkeypatch):
    """A cluster or a disk that is gone is not a setting that failed: what was finished is kept."""
    from topicfocus.selection import fitting

    path, out, done, said = write(tmp_path / "reviews.csv"), tmp_path / "o", [], []
    score = fitting.held_out_score

    def until_it_is_gone(*args):
        done.append(args)
        if len(done) == 3:
            raise OSError("the cluster is gone")
        return score(*args)

    with monkeypatch.context() as patch:
        patch.setattr(fitting, "held_out_score", until_it_is_gone)
        with pytest.raises(OSError, match="the cluster is gone") as error:
            choose(path, memory="1GB", out=out)
    assert "resume" in " ".join(error.value.__notes__)
    resumed = choose(path, said, out=out, resume=True)
    assert any("Going on from" in line and "2 of search" in line for line in said)
    same_choice(resumed, choose(path))


def test_a_folder_and_parquet(tmp_path, cache):
    import pyarrow as pa
    from pyarrow import parquet

    reviews = make_reviews(200, random_state=0)
    columns = {"text": reviews.texts, "stars": np.asarray(reviews.target)}
    parquet.write_table(pa.table(columns), tmp_path / "reviews.parquet", row_group_size=70)
    path = tmp_path / "reviews.parquet"
    same(fit(path, memory="1GB"), fit(path))
    for i, (text, stars) in enumerate(zip(reviews.texts, reviews.target, strict=True)):
        place = tmp_path / "texts" / ("good" if stars > 5 else "bad")
        place.mkdir(parents=True, exist_ok=True)
        (place / f"{i:03d}.txt").write_text(text)
    stored, memory = (fit_file(tmp_path / "texts", topics=2, memory=m) for m in ("1GB", None))
    same(stored, memory)
    tables = tmp_path / "tables"
    tables.mkdir()
    write(tables / "a.csv", 120), write(tables / "b.csv", 90, 1)
    same(fit(tables, memory="1GB"), fit(tables))


def test_numbers_of_documents_have_to_fit(tmp_path, cache, monkeypatch):
    """What was counted is not lost with it."""
    path, said = write(tmp_path / "reviews.csv"), []
    monkeypatch.setattr("topicfocus.corpus.scratch.A_DOCUMENT", 10**7)
    message = r"too little for 240 documents.*Give 2\.93 GB or more\. What was counted is kept"
    for _ in range(2):
        with pytest.raises(SettingError, match=message):
            fit(path, said, memory="1GB")
    assert sum("Counting into" in line for line in said) == 1
    fit(path, said, memory="3GB")
    assert any("the files have not changed" in line for line in said)


def test_topics_have_to_fit(tmp_path, cache, monkeypatch):
    from topicfocus.text import ReadError

    path = write(tmp_path / "reviews.csv")
    monkeypatch.setattr("topicfocus.workflow.estimate._TOPIC_ARRAYS", 10**5)
    with pytest.raises(ReadError, match=r"2 topics of .* words take about .* allows 0\.60\."):
        fit(path, memory="600MB")


def test_words_have_to_fit(tmp_path, monkeypatch):
    from topicfocus import TokenCounter
    from topicfocus.corpus.scratch import SMALLEST

    # A tenth of the room that the least memory leaves for words, which takes a tenth of them.
    monkeypatch.setattr("topicfocus.text.counter.INTERPRETER", SMALLEST - (12 << 20))
    counter = TokenCounter(ngram_range=(1, 3))
    texts = (" ".join(f"word{i * 40 + j}" for j in range(40)) for i in range(12_000))
    with pytest.raises(ValueError, match=r"different words, which take .* 6 MB are left"):
        counter.fit_store(texts, tmp_path / "counts", memory=SMALLEST)
    assert list(tmp_path.iterdir()) == []


def test_progress_says_phase_and_pass(tmp_path, cache, monkeypatch):
    """Of a fit in a file or a pipe: lines, as soon as they are due."""
    monkeypatch.setattr("topicfocus.estimators.progress._FIRST", 0.0)
    monkeypatch.setattr("topicfocus.estimators.progress._LAST", 0.002)
    passed = progress.Lines.passed

    def slowly(self):  # passes over so few documents end before another thread can speak
        passed(self)
        time.sleep(0.01)

    monkeypatch.setattr(progress.Lines, "passed", slowly)
    said = []
    fit(write(tmp_path / "reviews.csv"), said, memory="1GB", progress=True)
    for phase in ("evidence", "first pass", "all documents"):
        assert any(f", {phase}, pass " in line for line in said), phase
    assert any(" of at most " in line and " left" in line for line in said)


LIMITED = """
import sys
import time
import numpy as np
from scipy import sparse
from topicfocus import CountStore, FocusedTopicRegressor

def blocks():
    rng = np.random.default_rng(0)
    for _ in range(int(sys.argv[2])):
        words = np.sort(rng.integers(0, 3000, (4000, 80)), axis=1)
        rows = np.repeat(np.arange(4000), 80)
        block = sparse.csr_array((np.ones(rows.size), (rows, words.ravel())), shape=(4000, 3000))
        y.append(np.asarray(block[:, :300].sum(axis=1)).ravel() + rng.normal(size=4000))
        yield block

y = []
store = CountStore.write(sys.argv[1], blocks(), memory="540MB")
FocusedTopicRegressor(2, random_state=0, max_epochs=2, inclusion_prior=0.1).fit(
    store, np.concatenate(y)
)
# Not ru_maxrss, which begins with what the process had that started this one.
with open("/proc/self/status") as stream:
    status = dict(line.split(":", 1) for line in stream)
print(int(status["VmHWM"].split()[0]) // 1024, store.nnz * 12 >> 20)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the peak is read from /proc")
def test_memory_stays_within_the_limit(tmp_path, monkeypatch):
    """64,000 documents of some 79 words, whose matrix alone would be 57 MB, roots as many.

    In memory they take 770 MB at the peak, with room in a store for all of them 670, else 370.
    """
    # Here first, with few: what is not compiled yet is, for which LLVM takes memory of its own.
    monkeypatch.setattr(sys, "argv", ["", str(tmp_path / "few"), "1"])
    exec(LIMITED, {})
    command = [sys.executable, "-c", LIMITED, str(tmp_path / "counts"), "16"]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    peak, matrix = map(int, found.stdout.split())
    assert matrix > 55
    assert peak < 540
