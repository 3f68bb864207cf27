"""Memory-mapped counts: what is written is what is read, and fits agree with those in memory."""

import json
import subprocess
import sys

import numpy as np
import pytest
from command_line import environment
from scipy import sparse

from topicfocus import (
    LDA,
    FocusedTopicClassifier,
    FocusedTopicRegressor,
    PCSLDARegressor,
    PFSLDARegressor,
    SLDARegressor,
    TokenCounter,
    compare_models,
    counts,
    open_counts,
    stability,
    write_counts,
)
from topicfocus.counts import MappedCounts, in_memory, stacked, take_columns, take_rows
from topicfocus.datasets import make_reviews
from topicfocus.selection import TopicSearchCV

#: Relative, on predictions: the contract between counts in memory, on disk and on a cluster.
AGREE = 1e-8


@pytest.fixture(scope="module")
def reviews():
    return make_reviews(600, random_state=0)


@pytest.fixture
def small_chunks(monkeypatch):
    """Many chunks, as of millions of documents, and no choice of words in memory."""
    monkeypatch.setattr("topicfocus.kernels.threads.SMALLEST_CHUNK", 512)
    monkeypatch.setattr(counts, "IN_MEMORY", 0)


@pytest.fixture
def mapped(tmp_path, reviews):
    write_counts(tmp_path / "counts", [reviews.counts[:170], reviews.counts[170:]])
    return open_counts(tmp_path / "counts")[0]


def equal(a, b):
    return a.shape == b.shape and (abs(a - b)).nnz == 0


# ---- folders -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("largest", "kind"), [(200, "uint8"), (70_000, "int32"), (0.5, "float64")])
def test_values_are_as_wide_as_they_need_to_be(tmp_path, largest, kind):
    blocks = [[[1.0, 0, 3]], [[0, largest, 2.0]], [[7, 0, 0]]]
    write_counts(tmp_path / "s", blocks, ["a", "b", "c"])
    found, words = open_counts(tmp_path / "s")
    assert found.data.dtype == kind and words == ("a", "b", "c")
    assert found.toarray().tolist() == [[1, 0, 3], [0, largest, 2], [7, 0, 0]]


def test_nothing_is_replaced_and_nothing_half_written(tmp_path):
    (tmp_path / "mine").mkdir()
    with pytest.raises(FileExistsError, match="Name a new folder"):
        write_counts(tmp_path / "mine", [[[1]]])
    with pytest.raises(ValueError, match="a block has 2 words, those before it 3"):
        write_counts(tmp_path / "s", [[[1, 2, 3]], [[1, 2]]])
    with pytest.raises(ValueError, match="no documents"):
        write_counts(tmp_path / "s", [])
    with pytest.raises(ValueError, match="2 words for 3 columns"):
        write_counts(tmp_path / "s", [[[1, 2, 3]]], ["a", "b"])
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_a_full_disk_is_a_clear_error(tmp_path, monkeypatch):
    def full(self, rows, n_words):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(counts.CountsWriter, "add", full)
    with pytest.raises(OSError, match=r"No space left on device.*Make room on the disk"):
        write_counts(tmp_path / "s", [[[1, 2]]])
    assert list(tmp_path.iterdir()) == []


def test_damaged_folders_are_refused(tmp_path):
    write_counts(tmp_path / "s", [[[1, 0, 3], [0, 2, 0]]])
    (tmp_path / "s" / "indices.bin").write_bytes(b"12")
    with pytest.raises(ValueError, match=r"indices\.bin is damaged"):
        open_counts(tmp_path / "s")
    about = json.loads((tmp_path / "s" / "counts.json").read_text())
    (tmp_path / "s" / "counts.json").write_text(json.dumps(about | {"format": "another"}))
    with pytest.raises(ValueError, match="a format that this version does not know"):
        open_counts(tmp_path / "s")
    (tmp_path / "s" / "counts.json").write_text("[]")
    with pytest.raises(ValueError, match="no readable description"):
        open_counts(tmp_path / "s")
    with pytest.raises(FileNotFoundError):
        open_counts(tmp_path)


@pytest.mark.parametrize(
    "settings",
    [
        {"min_df": 2, "max_features": 60},
        {"ngram_range": (1, 2), "stop_words": "english"},
        {"separator": " "},
        {"vocabulary": ["awful", "film", "superb"]},
    ],
)
def test_texts_are_counted_into_a_folder(tmp_path, reviews, settings):
    here, there = TokenCounter(**settings), TokenCounter(**settings)
    expected = here.fit_transform(reviews.texts)
    found = there.fit_transform(
        iter([reviews.texts[:99], reviews.texts[99:]]), folder=tmp_path / "s"
    )
    assert counts.is_mapped(found) and equal(found, expected)
    again, words = open_counts(tmp_path / "s")
    assert words == tuple(here.get_feature_names_out()) and equal(again, expected)
    assert [path.name for path in tmp_path.iterdir()] == ["s"]


# ---- choices -------------------------------------------------------------------------------------


def test_rows_columns_and_roots_are_those_of_a_matrix(mapped, reviews, small_chunks):
    matrix, rng = reviews.counts.astype(float), np.random.default_rng(0)
    lazy = MappedCounts.of(mapped)
    index = rng.choice(600, 250, replace=False)
    kept = np.sort(rng.choice(matrix.shape[1], 40, replace=False))
    weight = rng.random(40)
    assert equal(in_memory(take_rows(lazy, index)), matrix[index])
    assert equal(in_memory(take_rows(take_rows(lazy, index), slice(3, 90))), matrix[index][3:90])
    mine = take_columns(lazy.rows(index).sqrt(), kept, weight)
    theirs = take_columns(matrix[index].sqrt(), kept, weight)
    assert isinstance(mine, MappedCounts)
    assert equal(in_memory(mine), theirs)
    twice = take_columns(mine, np.arange(0, 40, 2), weight[::2])
    expected = take_columns(theirs, np.arange(0, 40, 2), weight[::2])
    assert abs(in_memory(twice) - expected).max() < 1e-15
    assert equal(in_memory(stacked(lazy.rows(index), lazy)), sparse.vstack([matrix[index], matrix]))
    assert np.array_equal(lazy.word_sums(), np.asarray(matrix.sum(axis=0)).ravel())


def test_few_words_become_a_matrix_in_memory(mapped):
    assert sparse.issparse(take_columns(MappedCounts.of(mapped), np.arange(20)))


# ---- fits ----------------------------------------------------------------------------------------

MODELS = {
    "focused": lambda: FocusedTopicRegressor(4, random_state=0),
    "stable": lambda: FocusedTopicRegressor(3, random_state=0, max_epochs=2, selection="stable"),
    "pc-slda": lambda: PCSLDARegressor(3, random_state=0, max_epochs=3),
    "slda": lambda: SLDARegressor(3, random_state=0, max_epochs=3),
    "pf-slda": lambda: PFSLDARegressor(3, random_state=0, max_epochs=3, solver="coordinate"),
    "stochastic": lambda: PFSLDARegressor(3, random_state=0, max_epochs=2, solver="stochastic"),
    "lda": lambda: LDA(3, random_state=0, max_epochs=3),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", MODELS)
def test_fits_agree_with_those_in_memory(mapped, reviews, name, small_chunks):
    target = () if name == "lda" else (reviews.target,)
    mine, theirs = (MODELS[name]().fit(X, *target) for X in (mapped, reviews.counts))
    found, expected = mine.transform(mapped), theirs.transform(reviews.counts)
    assert np.allclose(found, expected, rtol=AGREE, atol=0)
    if name != "lda":
        assert np.allclose(mine.predict(mapped), theirs.predict(reviews.counts), rtol=AGREE)


@pytest.mark.filterwarnings("ignore")
def test_weights_missing_targets_covariates_and_classes(mapped, reviews, small_chunks):
    rng = np.random.default_rng(1)
    y = np.where(reviews.target > 5, "good", "bad").astype(object)
    y[::9] = None
    beside = {"covariates": rng.normal(size=(600, 2))}
    weight = rng.integers(0, 3, 600).astype(float)
    mine, theirs = (
        FocusedTopicClassifier(4, random_state=0).fit(X, y, sample_weight=weight, **beside)
        for X in (mapped, reviews.counts)
    )
    found, expected = (
        model.predict_proba(X, **beside) for model, X in ((mine, mapped), (theirs, reviews.counts))
    )
    assert np.allclose(found, expected, rtol=AGREE)
    assert np.array_equal(mine.context_words(3), theirs.context_words(3))
    first, second = (m.explain(X, **beside) for m, X in ((mine, mapped), (mine, reviews.counts)))
    assert np.allclose(first.after, second.after, rtol=AGREE)
    assert abs(first.words[0] - second.words[0]).max() < AGREE


@pytest.mark.filterwarnings("ignore")
def test_choosing_models(mapped, reviews):
    def model(n=2):
        return FocusedTopicRegressor(n, random_state=0, max_epochs=2, inclusion_prior=0.1)

    grid, y = {"n_topics": [2, 3]}, reviews.target
    both = [
        TopicSearchCV(model(), grid, cv=2, n_jobs=1).fit(X, y) for X in (mapped, reviews.counts)
    ]
    scores = [[row["score"] for row in search.frontier_.to_dict("records")] for search in both]
    assert np.allclose(*scores, rtol=AGREE)
    halves = [
        stability(model(), X, y, n_resamples=2, random_state=0, n_jobs=1).frequency
        for X in (mapped, reviews.counts)
    ]
    assert np.array_equal(*halves)
    differences = [
        compare_models(model(), model(3), X, y, cv=2, random_state=0, n_jobs=1).difference
        for X in (mapped, reviews.counts)
    ]
    assert np.isclose(*differences, rtol=1e-6)


def test_the_papers_solver_needs_memory(mapped, reviews):
    with pytest.raises(ValueError, match='solver="gradient" keeps numbers for every word'):
        SLDARegressor(2, solver="gradient", max_epochs=1).fit(mapped, reviews.target)


# ---- a matrix of the user's own ------------------------------------------------------------------


def of_files(folder, data, indices, indptr, shape):
    """A CSR matrix over memmaps, as SciPy makes it."""
    parts = []
    for name, array in (("data", data), ("indices", indices), ("indptr", indptr)):
        np.save(folder / f"{name}.npy", array)
        parts.append(np.load(folder / f"{name}.npy", mmap_mode="r"))
    return sparse.csr_array(tuple(parts), shape=shape)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
def test_any_csr_matrix_of_memmaps(tmp_path, reviews, dtype):
    c = reviews.counts
    X = of_files(tmp_path, c.data.astype(dtype), c.indices, c.indptr, c.shape)
    assert counts.is_mapped(X)
    model = SLDARegressor(2, random_state=0, max_epochs=2).fit(X, reviews.target)
    here = SLDARegressor(2, random_state=0, max_epochs=2).fit(c, reviews.target)
    assert np.allclose(model.predict(X), here.predict(c), rtol=AGREE)


@pytest.mark.parametrize(
    ("data", "indices", "indptr", "message"),
    [
        ([1, -2, 3], [0, 1, 2], [0, 1, 3], "Negative values.*row 1, column 1"),
        ([1, np.nan, 3], [0, 1, 2], [0, 1, 3], "NaN at row 1, column 1"),
        ([1, 2, 3], [0, 1, 9], [0, 1, 3], "outside its columns"),
        ([1, 2, 3], [0, 2, 1], [0, 1, 3], "unsorted, repeated or zero"),
        ([1, 2, 0], [0, 1, 2], [0, 1, 3], "unsorted, repeated or zero"),
        ([1, 2, 3], [0, 1, 2], [0, 3, 2], "indptr does not match"),
    ],
)
def test_what_is_wrong_with_it(tmp_path, data, indices, indptr, message):
    X = sparse.csr_array((2, 3))
    X.data, X.indices, X.indptr = (
        np.memmap(tmp_path / name, dtype, "w+", shape=(len(values),))
        for name, dtype, values in (("d", "f8", data), ("i", "i4", indices), ("p", "i4", indptr))
    )
    X.data[:], X.indices[:], X.indptr[:] = data, indices, indptr
    with pytest.raises(ValueError, match=message):
        LDA(2).fit(X)


#: Fits to counts in a folder; prints the peak of the process's own memory above what it was, in MB.
CHILD = """
import sys, threading
import numpy as np
from topicfocus import SLDARegressor, open_counts

def own():
    with open("/proc/self/status") as stream:
        return next(int(line.split()[1]) for line in stream if line.startswith("RssAnon")) // 1000

X, y = open_counts(sys.argv[1])[0], np.load(sys.argv[2])
few = X[:2000].astype(float)
SLDARegressor(2, random_state=0, max_epochs=1, n_jobs=1).fit(few, y[:2000])  # compiles
before, most, done = own(), 0, threading.Event()
def watch():
    global most
    while not done.wait(0.002):
        most = max(most, own())
thread = threading.Thread(target=watch)
thread.start()
SLDARegressor(2, random_state=0, max_epochs=1, n_jobs=1).fit(X, y)
done.set()
thread.join()
print(most - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_counts_are_never_in_memory_as_a_whole(tmp_path):
    """6.4 million nonzeros, 77 MB in memory as one matrix, are read in chunks of 12 MB."""
    rng = np.random.default_rng(0)
    n, length = 4000, 80

    def blocks():
        for _ in range(20):
            first = rng.integers(0, 40, (n, 1))
            words = first + 25 * np.arange(length)
            parts = (np.ones(n * length), words.ravel(), np.arange(0, n * length + 1, length))
            yield sparse.csr_array(parts, shape=(n, 40 + 25 * length))

    write_counts(tmp_path / "counts", blocks())
    np.save(tmp_path / "y.npy", rng.normal(size=20 * n))
    found = subprocess.run(
        [sys.executable, "-c", CHILD, tmp_path / "counts", tmp_path / "y.npy"],
        capture_output=True,
        text=True,
        check=True,
        env=environment(),
    )
    assert int(found.stdout) < 60
