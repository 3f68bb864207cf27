"""Tokens that topics explain, beside a loop over documents and words."""

import numpy as np
import pytest
from kernel_twins import words_beside
from scipy import sparse

from topicfocus import FocusedTopicRegressor, PFSLDARegressor, SLDARegressor
from topicfocus.corpus import make_corpus
from topicfocus.datasets import make_reviews
from topicfocus.token_proportions import context_counts, topic_tokens

REVIEWS = make_reviews(120, random_state=1)
COUNTS = sparse.vstack([REVIEWS.counts[:60], REVIEWS.counts[:2] * 0]).tocsr()


def fitted(model):
    return model.fit(REVIEWS.counts, REVIEWS.target)


@pytest.fixture(
    scope="module", params=[FocusedTopicRegressor, PFSLDARegressor, SLDARegressor], ids=str
)
def model(request):
    return fitted(request.param(3, max_epochs=5, random_state=0))


def twin(model, counts):
    """Word by word."""
    state = model.fitted_.state
    theta = model.transform(counts)
    out = np.zeros((counts.shape[0], state.n_topics))
    for d, row in enumerate(counts.toarray()):
        for v in np.flatnonzero(row):
            beta, phi = state.topic_word[v], state.inclusion[v]
            if beta.max() > 0 and phi > 1e-8:
                out[d] += row[v] * phi * beta * theta[d] / (beta @ theta[d])
    return out


def test_tokens_equal_a_loop(model):
    wanted = twin(model, COUNTS)
    np.testing.assert_allclose(model.topic_tokens(COUNTS), wanted, rtol=1e-10, atol=1e-12)
    prior = model.doc_topic_prior_
    made_of = model.token_proportions(COUNTS)
    np.testing.assert_allclose(made_of.sum(axis=1), 1)
    np.testing.assert_allclose(made_of[-1], prior / prior.sum())
    some = wanted.sum(axis=1) > 0
    np.testing.assert_allclose(
        made_of[some], wanted[some] / wanted[some].sum(axis=1, keepdims=True)
    )


@pytest.mark.parametrize("roots", [True, False])
@pytest.mark.parametrize("cls", [FocusedTopicRegressor, PFSLDARegressor])
def test_words_beside_topics_equal_a_loop(cls, roots):
    model = fitted(cls(3, max_epochs=5, random_state=0))
    state, counts = model.fitted_.state, REVIEWS.counts[:40]
    corpus, mixes, doc_weight = make_corpus(counts), model.transform(counts), np.arange(40.0)
    tokens = topic_tokens(corpus, state, mixes)
    found = context_counts(corpus, state, mixes, tokens, doc_weight, roots)
    weight = np.where(state.topic_word.max(axis=1) > 0, state.inclusion, 0.0)
    topics = np.where(weight[:, None] > 0, state.topic_word, 1.0)
    wanted = words_beside(counts.toarray(), topics, weight, mixes, doc_weight, roots)
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9)
    assert found[weight > 0].sum() > 0
