"""Evidence that words share: by what other documents predict, not by their own luck."""

import numpy as np
import pytest
from scipy import sparse

from topicfocus.inference.focused.evidence import Signals, shared_evidence, word_evidence

PENALTY = np.array([10.0])


@pytest.fixture(scope="module")
def documents():
    """Words 0-3 say the same about y, words 4-5 the opposite; 30 more say nothing."""
    rng = np.random.default_rng(0)
    mood = rng.normal(size=1200)
    rate = np.full((1200, 36), 0.4)
    rate[:, :4] = 0.3 * np.exp(0.8 * mood)[:, None]
    rate[:, 4:6] = 0.3 * np.exp(-0.8 * mood)[:, None]
    counts = rng.poisson(rate)
    y = mood + rng.normal(size=1200)
    return sparse.csr_array(np.sqrt(counts.astype(float))), y[:, None] - y.mean()


def evidence(words, y, weight=None):
    return shared_evidence(Signals(words, y, weight, False), PENALTY)[:, 0]


def test_words_that_matter_stand_out_more_than_by_themselves(documents):
    words, y = documents
    marginal = word_evidence(Signals(words, y, None, False), np.zeros((36, 1))).marginal[:, 0]
    shared = evidence(words, y)
    assert shared[:6].min() > 5 * shared[6:].max()
    assert shared[:6].min() / shared[6:].max() > marginal[:6].min() / marginal[6:].max()


def test_two_samples_share_more_words_of_shared_evidence():
    """80 of 300 words say a little of the same; the 80 of most evidence in disjoint halves."""
    common = {"own": [], "shared": []}
    for seed in range(3):
        rng = np.random.default_rng(seed)
        mood = rng.normal(size=1600)
        rate = np.full((1600, 300), 0.2)
        rate[:, :80] *= np.exp(0.3 * mood - 0.05)[:, None]
        words = sparse.csr_array(np.sqrt(rng.poisson(rate).astype(float)))
        y = (mood + 2 * rng.normal(size=1600))[:, None]
        tops = {"own": [], "shared": []}
        for half in (slice(0, 800), slice(800, 1600)):
            signals = Signals(words[half], y[half], None, False)
            own = word_evidence(signals, np.zeros((300, 1))).marginal[:, 0]
            tops["own"].append(set(np.argsort(-own)[:80]))
            tops["shared"].append(set(np.argsort(-evidence(words[half], y[half]))[:80]))
        for name, (a, b) in tops.items():
            common[name].append(len(a & b) / len(a | b))
    assert np.mean(common["shared"]) > 1.1 * np.mean(common["own"])


def test_order_does_not_matter_and_a_weight_of_two_is_two_copies(documents):
    words, y = documents
    order = np.random.default_rng(1).permutation(len(y))
    np.testing.assert_allclose(
        evidence(words[order], y[order]), evidence(words, y), rtol=1e-6, atol=1e-9
    )
    weight = np.where(np.arange(len(y)) < 300, 2.0, 1.0)
    twice = np.concatenate([np.arange(len(y)), np.arange(300)])
    np.testing.assert_allclose(
        evidence(words, y, weight), evidence(words[twice], y[twice]), rtol=1e-6, atol=1e-9
    )


def test_copies_of_one_document_have_no_shared_evidence():
    words = sparse.csr_array(np.ones((8, 3)))
    y = np.arange(8.0)[:, None] - 3.5
    assert np.all(np.isfinite(evidence(words, y)))
