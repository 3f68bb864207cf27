"""Coherence by its definition, pair by pair, and how "pmi" depends on rare words."""

import itertools
import math

import numpy as np
import pytest
import scipy.sparse as sp

from topicfocus.metrics import coherence


@pytest.fixture
def case():
    rng = np.random.default_rng(0)
    counts = rng.poisson(0.7, (60, 12))
    counts[:, 11] = 0
    counts[3, 11] = 2  # a word of one document, apart from word 0
    counts[3, 0] = 0
    topics = rng.dirichlet(np.ones(12), 3)
    topics[0, [0, 11]] += 1.0
    return topics / topics.sum(axis=1, keepdims=True), counts


def by_definition(topics, counts, measure, top_n, s=0.01):
    present, m = counts > 0, len(counts)
    means = []
    for topic in topics:
        top = np.argsort(-topic, kind="stable")[:top_n]
        scores = []
        for i, j in itertools.combinations(top, 2):
            both = (present[:, i] & present[:, j]).sum()
            a, b = present[:, i].sum(), present[:, j].sum()
            if measure == "pmi":
                score = math.log((both / m + s) / ((a / m + s) * (b / m + s)))
            elif measure == "npmi":
                score = -1.0 if both == 0 else math.log(both * m / (a * b)) / -math.log(both / m)
            elif measure == "umass":
                score = math.log((both / m + 1e-12) / (a / m))
            else:
                score = math.log((both + 1) / (a * b / m + 1))
            scores.append(score)
        means.append(np.mean(scores))
    return np.array(means)


@pytest.mark.parametrize("measure", ["pmi", "npmi", "umass", "smoothed_pmi"])
def test_definition(case, measure):
    topics, counts = case
    expected = by_definition(topics, counts, measure, 5)
    found = coherence(topics, sp.coo_array(counts), measure, top_n=5, per_topic=True)
    np.testing.assert_allclose(found, expected)
    assert coherence(topics, counts, measure, top_n=5) == pytest.approx(expected.mean())


def test_the_papers_measure_rewards_independent_rare_words():
    # model.md's check: independent words of frequency f score log((f²+0.01)/(f+0.01)²).
    rng = np.random.default_rng(1)
    for f, expected in ((0.004, 3.93), (0.05, 1.24), (0.15, 0.24)):
        assert math.log((f**2 + 0.01) / (f + 0.01) ** 2) == pytest.approx(expected, abs=0.01)
        counts = (rng.random((20_000, 60)) < f).astype(int)
        topic = np.ones((1, 60)) / 60
        assert coherence(topic, counts, "pmi", top_n=50) == pytest.approx(expected, abs=0.05)
        assert abs(coherence(topic, counts, "smoothed_pmi", top_n=50)) < 0.15


def test_errors(case):
    topics, counts = case
    with pytest.raises(ValueError, match="measure must be one of"):
        coherence(topics, counts, "tc")
    with pytest.raises(ValueError, match="counts has 5 words but components has 12"):
        coherence(topics, counts[:, :5])
    with pytest.raises(ValueError, match="fewer than two words"):
        coherence(np.eye(12)[:2], counts)
    with pytest.raises(ValueError, match="occurs in none"):
        coherence(np.ones((1, 2)), np.array([[0, 1], [0, 1]]), "umass", top_n=2)
    with pytest.raises(ValueError, match="epsilon must be"):
        coherence(topics, counts, "umass", epsilon=0)
    with pytest.raises(ValueError, match='"npmi" needs counts'):
        coherence(topics, None, "npmi")


def test_errors_of_windows(case):
    topics, counts = case
    words = [f"w{i}" for i in range(12)]
    texts = [words, words[::-1]]
    with pytest.raises(ValueError, match='"uci" is a measure of windows'):
        coherence(topics, counts, "uci")
    with pytest.raises(ValueError, match='"umass" is a measure of documents'):
        coherence(topics, None, "umass", texts=texts, vocabulary=words)
    for wrong in (None, words[1:]):
        with pytest.raises(ValueError, match="texts needs vocabulary, the word of each of the 12"):
            coherence(topics, None, "c_v", texts=texts, vocabulary=wrong)
    with pytest.raises(ValueError, match="the same word more than once"):
        coherence(topics, None, "c_v", texts=texts, vocabulary=[*words[:-1], "w3"])
    with pytest.raises(TypeError, match="document 1 is a string"):
        coherence(topics, None, "c_v", texts=[words, "w1 w2"], vocabulary=words)
    with pytest.raises(ValueError, match="texts has no documents"):
        coherence(topics, None, "c_v", texts=[], vocabulary=words)
    with pytest.raises(ValueError, match="occurs in none"):
        coherence(topics, None, "uci", texts=[words[:3]], vocabulary=words)
