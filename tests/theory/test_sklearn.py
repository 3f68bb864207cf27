"""Without a target, local inference is scikit-learn's: the same LDA from the same start."""

import numpy as np
import pytest
from scipy.special import digamma
from sklearn.decomposition import LatentDirichletAllocation

from topicfocus.corpus import make_corpus
from topicfocus.datasets import make_pfslda
from topicfocus.families import Gaussian, for_kernels
from topicfocus.kernels.local import (
    LocalBudget,
    LocalCorpus,
    LocalStats,
    WordTable,
    infer_documents,
)

STEPS = 25
#: scikit-learn's digamma is cut off after x⁻⁶, an error of up to 6⁻⁸/240 = 2.5e-9 a step.
DIGAMMA = 1e-7


def make_counts():
    data = make_pfslda(n_docs=60, doc_length=40, n_topics=3, n_relevant=20, random_state=0)
    counts = data.counts.toarray()
    counts[4] = 0
    return make_corpus(counts)


def exp_expected_log(components):
    """exp(E[log β]) of Dirichlet rows, words-major."""
    expected = digamma(components) - digamma(components.sum(axis=1, keepdims=True))
    return np.ascontiguousarray(np.exp(expected).T)


def e_step(corpus, components, gamma, prior, steps):
    """γ (in place) and Σ_d c r, topics x words, by our kernel at sklearn's topics."""
    n_topics, n_words = components.shape
    out = LocalStats(
        np.zeros((n_words, n_topics)), np.zeros(n_words), np.zeros(n_topics), np.zeros(4)
    )
    counts, n_docs = corpus.counts, corpus.n_docs
    infer_documents(
        LocalCorpus(
            counts.indptr,
            counts.indices,
            counts.data,
            *(np.zeros((n_docs, 1)) for _ in range(3)),
            np.ones(n_docs),
        ),
        WordTable(exp_expected_log(components), np.ones(n_words)),
        np.full(n_topics, prior),
        np.zeros((1, n_topics)),
        for_kernels(Gaussian(1.0)),
        gamma,
        LocalBudget(steps, 0.0),
        out,
    )
    return out.word_topic.T


def sklearn_lda(n_topics, max_iter, **settings):
    return LatentDirichletAllocation(
        n_components=n_topics,
        max_iter=max_iter,
        learning_method="batch",
        mean_change_tol=0.0,
        evaluate_every=-1,
        random_state=7,
        **settings,
    )


@pytest.mark.parametrize("n_topics", [2, 5])
@pytest.mark.parametrize(("doc_prior", "word_prior"), [(1.0, 0.1), (0.3, 0.5)])
def test_batch_learning_gives_the_same_components(n_topics, doc_prior, word_prior):
    """scikit-learn draws topics, then γ anew for every pass, from gamma(100, 0.01)."""
    corpus = make_counts()
    rng = np.random.RandomState(7)
    components = rng.gamma(100.0, 0.01, (n_topics, corpus.n_words))
    for _ in range(6):
        gamma = rng.gamma(100.0, 0.01, (corpus.n_docs, n_topics))
        components = word_prior + e_step(corpus, components, gamma, doc_prior, STEPS)
    theirs = sklearn_lda(
        n_topics,
        6,
        doc_topic_prior=doc_prior,
        topic_word_prior=word_prior,
        max_doc_update_iter=STEPS,
    ).fit(corpus.counts)
    np.testing.assert_allclose(components, theirs.components_, rtol=10 * DIGAMMA, atol=1e-8)


def test_topic_proportions_of_new_documents_are_the_same():
    """Its transform starts from γ = 1."""
    corpus = make_counts()
    theirs = sklearn_lda(3, 5, doc_topic_prior=0.7, max_doc_update_iter=STEPS).fit(corpus.counts)
    gamma = np.ones((corpus.n_docs, 3))
    e_step(corpus, theirs.components_, gamma, 0.7, STEPS)
    ours = gamma / gamma.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(ours, theirs.transform(corpus.counts), rtol=DIGAMMA)
