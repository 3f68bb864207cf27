"""Topics and background of the paper's algorithm: kernels beside their twins."""

import kernel_twins as reference
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_cases import numerical_gradient
from scipy.special import expit, log_softmax, softmax

from topicfocus.kernels.channels import (
    ChannelGradients,
    log_softmax_columns,
    switch_gradients,
    topic_gradient,
)

shapes = given(st.integers(1, 40), st.integers(1, 6), st.integers(0, 2**32 - 1))


@shapes
def test_log_softmax(n_words, n_topics, seed):
    logits = np.random.default_rng(seed).normal(scale=20.0, size=(n_words, n_topics))
    log_p, p = np.empty_like(logits), np.empty_like(logits)
    log_softmax_columns(logits, log_p, p)
    np.testing.assert_allclose(log_p, log_softmax(logits, axis=0), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(p, softmax(logits, axis=0), rtol=1e-10)


def test_log_softmax_of_a_word_that_is_out_of_the_question():
    logits = np.array([[0.0], [-2000.0]])
    log_p, p = np.empty_like(logits), np.empty_like(logits)
    log_softmax_columns(logits, log_p, p)
    np.testing.assert_array_equal(log_p, [[0.0], [-2000.0]])
    assert p[0, 0] == 1.0
    assert 0.0 <= p[1, 0] < 1e-300


def channels(seed, n_words, n_topics):
    rng = np.random.default_rng(seed)
    word_topic = rng.poisson(1.0, size=(n_words, n_topics)) * rng.random((n_words, n_topics))
    return {
        "word_topic": word_topic,
        "word_count": word_topic.sum(axis=1) + rng.poisson(0.5, size=n_words),
        "topic_logits": rng.normal(size=(n_words, n_topics)),
        "inclusion": expit(rng.normal(scale=3.0, size=n_words)),
        "background_logits": rng.normal(size=n_words),
        "prior": rng.uniform(0.02, 0.98),
    }


@shapes
def test_gradients(n_words, n_topics, seed):
    case = channels(seed, n_words, n_topics)
    out = ChannelGradients(np.empty((n_words, n_topics)), np.empty(n_words), np.empty(n_words))
    log_topics = log_softmax(case["topic_logits"], axis=0)
    log_background = log_softmax(case["background_logits"])
    topic_gradient(case["word_topic"], np.exp(log_topics), case["inclusion"], out.topics)
    value = switch_gradients(
        case["word_topic"],
        case["word_count"],
        log_topics,
        case["inclusion"],
        log_background,
        np.exp(log_background),
        case["prior"],
        out,
    )
    twin = reference.channel_gradients(**case)
    for mine, theirs in zip((*out, value), twin, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-9)


# Fewer: a numerical gradient evaluates the bound four times for each of the parameters.
@settings(max_examples=40)
@given(st.integers(1, 9), st.integers(1, 4), st.integers(0, 2**32 - 1))
def test_the_twin_is_the_gradient_of_the_bound(n_words, n_topics, seed):
    case = channels(seed, n_words, n_topics)
    inclusion_logits = np.log(case["inclusion"]) - np.log1p(-case["inclusion"])

    def bound(topic_logits, inclusion_logits, background_logits):
        phi = expit(inclusion_logits)
        log_topics = log_softmax(topic_logits, axis=0)
        words = np.sum(phi[:, None] * case["word_topic"] * log_topics)
        changed = {"inclusion": phi, "background_logits": background_logits}
        return words + reference.channel_gradients(**{**case, **changed})[3]

    at = (case["topic_logits"], inclusion_logits, case["background_logits"])
    d_topics, d_background, d_inclusion, _ = reference.channel_gradients(**case)
    for i, gradient in enumerate((d_topics, d_inclusion, d_background)):
        numerical = numerical_gradient(
            lambda x, i=i: bound(*(x if j == i else value for j, value in enumerate(at))),
            at[i],
            1e-4,
        )
        np.testing.assert_allclose(gradient, numerical, rtol=1e-5, atol=1e-6)
