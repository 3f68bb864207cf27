"""Counts of words and codes, with the vocabulary of the training part only; random parts."""

import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse

from topicfocus.corpus import make_corpus
from topicfocus.datasets import code_counts, paper_counts
from topicfocus.datasets.preprocessing import group_parts, random_parts

SHARES = (0.75, 0.125, 0.125)


def test_the_rule_of_the_paper():
    # "good" in 12 of 40 documents, "rare" in 9, "often" in 21, "the" is a stop word.
    train = ["the"] * 40
    for word, n in (("good", 12), ("rare", 9), ("often", 21), ("edge", 20), ("ten", 10)):
        train = [text + f" {word}" * (i < n) for i, text in enumerate(train)]
    (counts,), vocabulary = paper_counts(train)
    assert vocabulary == ("edge", "good")  # "ten" is a stop word of scikit-learn's list
    np.testing.assert_array_equal(counts.sum(axis=0), [20, 12])


def test_words_are_of_the_training_part_only():
    train = ["good film", "bad film", "good plot"]
    other = ["unseen word good good", "unseen unseen"]
    (counts, other_counts), vocabulary = paper_counts(train, other, min_df=1, max_df=1.0)
    assert vocabulary == ("bad", "film", "good", "plot")
    np.testing.assert_array_equal(counts.toarray()[0], [0, 1, 1, 0])
    np.testing.assert_array_equal(other_counts.toarray(), [[0, 0, 2, 0], [0, 0, 0, 0]])


def test_parameters_are_passed_on():
    train = ["good good good film the", "bad film the", "plot film the"]
    _, vocabulary = paper_counts(train, min_df=1, max_df=1.0, max_features=2)
    assert vocabulary == ("film", "good")
    _, vocabulary = paper_counts(train, min_df=1, max_df=2, stop_words=["plot"])
    assert vocabulary == ("bad", "good")
    _, vocabulary = paper_counts(train, min_df=3, max_df=1.0, stop_words=None)
    assert vocabulary == ("film", "the")


def test_counts_need_no_conversion():
    counts, vocabulary = paper_counts(["b a1 a1", "c b"], ["c a1"], min_df=1, max_df=1.0)
    for matrix in counts:
        assert isinstance(matrix, sparse.csr_array)
        assert matrix.dtype == np.float64
    corpus = make_corpus(counts[0], vocabulary)
    assert np.shares_memory(corpus.counts.data, counts[0].data)


def test_codes_may_contain_anything():
    train = [{"dx:a|b c", "rx:x, y"}, {"dx:a|b c"}, ["rx:x, y", "rx:x, y", "rare"]]
    counts, vocabulary = code_counts(train, [{"rare", "dx:a|b c", "new"}, set()], min_df=2)
    assert vocabulary == ("dx:a|b c", "rx:x, y")
    np.testing.assert_array_equal(counts[0].toarray(), [[1, 1], [1, 0], [0, 2]])
    np.testing.assert_array_equal(counts[1].toarray(), [[1, 0], [0, 0]])
    assert all(isinstance(m, sparse.csr_array) and m.dtype == np.float64 for m in counts)


def test_codes_that_are_all_rare():
    with pytest.raises(ValueError, match="none of the 2 codes is in at least min_df=10 of the 1"):
        code_counts([{"a", "b"}])


@pytest.mark.parametrize(
    ("n", "sizes"), [(5006, (3754, 626, 626)), (10000, (7500, 1250, 1250)), (8, (6, 1, 1))]
)
def test_sizes_of_the_paper(n, sizes):
    parts = random_parts(n, 0)
    assert tuple(map(len, parts)) == sizes
    np.testing.assert_array_equal(np.sort(np.concatenate(parts)), np.arange(n))


def test_a_tenth_is_a_tenth():
    for n in (10, 70, 25000, 30):  # 0.9 * 70 is below 63 in floating point
        assert tuple(map(len, random_parts(n, 0, (0.9, 0.1)))) == (n * 9 // 10, n // 10)


def test_split_is_the_seed_of_a_permutation():
    order = np.random.default_rng(3).permutation(100)
    np.testing.assert_array_equal(np.concatenate(random_parts(100, 3)), order)
    assert not np.array_equal(np.concatenate(random_parts(100, 4)), order)


@pytest.mark.parametrize("split", [0, 1, 2])
def test_a_group_is_in_one_part(split):
    groups = np.random.default_rng(0).integers(0, 80, size=300).astype(str)
    parts = group_parts(groups, split)
    np.testing.assert_array_equal(np.sort(np.concatenate(parts)), np.arange(300))
    members = [set(groups[rows]) for rows in parts]
    assert not members[0] & members[1]
    assert not members[0] & members[2]
    assert not members[1] & members[2]
    n_groups = len(set(groups))
    np.testing.assert_allclose([len(m) / n_groups for m in members], SHARES, atol=0.02)
    again = group_parts(groups, split)
    assert all(np.array_equal(a, b) for a, b in zip(parts, again, strict=True))


def test_a_split_is_a_whole_number():
    with pytest.raises(TypeError, match="split must be an integer"):
        random_parts(10, 0.5)
    with pytest.raises(ValueError, match="split must be at least 0"):
        random_parts(10, -1)


def test_importing_data_sets_does_not_import_scikit_learn():
    code = "import sys, topicfocus.datasets; sys.exit('sklearn' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
