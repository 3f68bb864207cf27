"""Coherence beside gensim's CoherenceModel, on the same documents."""

import numpy as np
import pytest

from topicfocus.metrics import coherence

gensim_models = pytest.importorskip("gensim.models")
Dictionary = pytest.importorskip("gensim.corpora").Dictionary

N_WORDS, TOP_N = 40, 8


@pytest.fixture(scope="module")
def case():
    """Texts with repeated words, words outside the vocabulary, and of very different lengths."""
    rng = np.random.default_rng(3)
    vocabulary = [f"word{i:02d}" for i in range(N_WORDS)]
    outside = [f"other{i}" for i in range(15)]
    themes = rng.dirichlet(np.full(N_WORDS + 15, 0.3), 6)
    texts = []
    for length in [1, 2, 9, 10, 11, 109, 110, 111, *rng.integers(5, 260, 150)]:
        words = rng.choice(N_WORDS + 15, size=length, p=themes[rng.integers(6)])
        texts.append([[*vocabulary, *outside][i] for i in words])
    number = {word: i for i, word in enumerate(vocabulary)}
    counts = np.zeros((len(texts), N_WORDS))
    for d, text in enumerate(texts):
        for word in text:
            if word in number:
                counts[d, number[word]] += 1
    topics = rng.dirichlet(np.full(N_WORDS, 0.5), 7)
    return topics, counts, texts, vocabulary


def by_gensim(case, measure, window=None, texts=None):
    topics, _, own, vocabulary = case
    texts = own if texts is None else texts
    dictionary = Dictionary([vocabulary, *texts])
    model = gensim_models.CoherenceModel(
        topics=[[vocabulary[v] for v in np.argsort(-t, kind="stable")[:TOP_N]] for t in topics],
        texts=texts,
        dictionary=dictionary,
        coherence=measure,
        topn=TOP_N,
        window_size=window,
        processes=1,
    )
    return np.array(model.get_coherence_per_topic()), model.get_coherence()


def check(case, measure, theirs, **given):
    topics, counts, _, _ = case
    each, mean = theirs
    found = coherence(topics, counts, measure, TOP_N, per_topic=True, **given)
    np.testing.assert_allclose(found, each, rtol=0, atol=1e-9)
    assert coherence(topics, counts, measure, TOP_N, **given) == pytest.approx(mean, abs=1e-9)


@pytest.mark.parametrize("window", [None, 10, 110])
@pytest.mark.parametrize("measure", ["uci", "c_v", "npmi"])
def test_windows(case, measure, window):
    _, _, texts, vocabulary = case
    name = {"uci": "c_uci", "npmi": "c_npmi", "c_v": "c_v"}[measure]
    epsilon = 1e-12 if measure == "npmi" else None
    given = {"texts": texts, "vocabulary": vocabulary, "window": window, "epsilon": epsilon}
    check(case, measure, by_gensim(case, name, window), **given)


def test_umass(case):
    check(case, "umass", by_gensim(case, "u_mass"))


def test_npmi_of_documents(case):
    # One window for each document: longer than all of them.
    check(case, "npmi", by_gensim(case, "c_npmi", 1000), epsilon=1e-12)


@pytest.mark.parametrize("measure", ["uci", "c_v"])
def test_exact_windows_are_gensims_where_no_window_repeats_a_word(case, measure):
    vocabulary = case[-1]
    rng = np.random.default_rng(4)
    texts = [[vocabulary[i] for i in rng.permutation(N_WORDS)] for _ in range(30)]
    name = {"uci": "c_uci", "c_v": "c_v"}[measure]
    theirs = by_gensim(case, name, 12, texts)
    for exact in (True, False):
        given = {"texts": texts, "vocabulary": vocabulary, "window": 12, "exact_windows": exact}
        check(case, measure, theirs, **given)
