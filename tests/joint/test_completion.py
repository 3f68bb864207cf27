"""Words that follow the topics although the cut dropped them."""

import numpy as np
import pytest

from topicfocus.corpus import make_corpus
from topicfocus.datasets import make_pfslda
from topicfocus.joint.updates import complete, topic_dependence
from topicfocus.model import make_problem


@pytest.fixture(scope="module")
def data():
    return make_pfslda(1500, 100, random_state=1)


def test_the_ratio_is_that_of_the_best_profile(data):
    corpus = make_corpus(data.counts)
    lengths = corpus.doc_lengths
    average = lengths @ data.doc_topic / lengths.sum()
    problem = make_problem(corpus, None)
    best = topic_dependence(problem, data.doc_topic, np.array([3]), steps=500)[0]
    counts = corpus.counts[:, [3]].toarray().ravel()
    rng = np.random.default_rng(0)
    for profile in rng.dirichlet(np.ones(5), 200):
        value = counts @ np.log(data.doc_topic @ (profile / average))
        assert value <= best + 1e-6


def test_completion_fills_the_share_with_words_that_matter(data):
    corpus = make_corpus(data.counts)
    problem = make_problem(corpus, None)
    count = corpus.word_counts
    kept = data.relevant.copy()
    kept[np.flatnonzero(data.relevant)[::3]] = False  # the cut missed a third of them
    filled = complete(kept, problem, data.doc_topic, 0.25)
    assert np.all(filled[kept])
    assert np.mean(data.relevant[filled]) == 1.0
    assert filled.sum() > kept.sum() + 8
    # No room, nothing to add.
    np.testing.assert_array_equal(complete(kept, problem, data.doc_topic, 0.05), kept)
    # Never past the share by more than the last word.
    half = complete(kept, problem, data.doc_topic, 0.2)
    added = half & ~kept
    assert count[half].sum() - count[added].max() <= 0.2 * count.sum()


def test_weights_are_copies_of_documents(data):
    corpus = make_corpus(data.counts)
    times = np.random.default_rng(0).integers(0, 3, corpus.n_docs)
    index = np.repeat(np.arange(corpus.n_docs), times)
    weighted = make_problem(corpus, None, doc_weight=times.astype(float))
    copies = make_problem(corpus.rows(index), None)
    columns = np.arange(0, 100, 7)
    np.testing.assert_allclose(
        topic_dependence(weighted, data.doc_topic, columns),
        topic_dependence(copies, data.doc_topic[index], columns),
        rtol=1e-9,
    )
    kept = data.relevant & (np.arange(100) % 3 > 0)
    np.testing.assert_array_equal(
        complete(kept, weighted, data.doc_topic, 0.25),
        complete(kept, copies, data.doc_topic[index], 0.25),
    )
