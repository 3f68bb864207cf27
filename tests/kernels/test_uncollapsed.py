"""The paper's algorithm: gradients against numerical ones, lazy Adam against textbook Adam."""

from typing import Any, NamedTuple

import kernel_twins as reference
import models
import numpy as np
import pytest
from kernel_cases import numerical_gradient
from scipy.special import digamma, gammaln, log_softmax

from topicfocus.counts import read_rows
from topicfocus.families import for_kernels
from topicfocus.joint.gradient import unvisited_drift
from topicfocus.kernels.local import LocalCorpus, LocalTarget
from topicfocus.kernels.uncollapsed import (
    SMALLEST_CONCENTRATION,
    AdamStep,
    Uncollapsed,
    UncollapsedStats,
    catch_up_documents,
    log_softmax_columns,
    step_documents,
)

RATE = 0.025
every_family = pytest.mark.parametrize("family", models.FAMILIES)


def constants(t: int, epsilon: float = 1e-8) -> AdamStep:
    return AdamStep(RATE, 1 - 0.9**t, 1 - 0.999**t, epsilon)


class Case(NamedTuple):
    """A corpus, variational parameters away from their start, inclusion and log topics."""

    corpus: LocalCorpus
    prior: np.ndarray
    coef: np.ndarray
    family: Any
    local: Uncollapsed
    inclusion: np.ndarray
    log_topics: np.ndarray

    def local_target(self, d):
        corpus = self.corpus
        return LocalTarget(corpus.target[d], corpus.target_weight[d], corpus.offset[d], self.coef)


def make_case(seed, family, n_docs, n_topics):
    """With offsets and weights of documents; document 2 is empty."""
    problem, state, _, gamma = models.draw_case(
        seed, family, n_docs=n_docs, n_topics=n_topics, n_covariates=1
    )
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=(problem.corpus.counts.nnz, n_topics))
    still = (np.zeros_like(gamma), np.zeros_like(gamma))
    rows = read_rows(problem.corpus.counts, 0, n_docs)
    return Case(
        LocalCorpus(*rows, *problem.given(state)),
        state.doc_topic_prior,
        state.coef_rows,
        state.family,
        Uncollapsed(gamma, *still, logits, np.zeros_like(logits), np.zeros_like(logits)),
        state.inclusion,
        np.log(state.topic_word),
    )


def document_parts(case, d, gamma, logits):
    """The bound of one document, term by term as in the paper's appendix: words, mix, target."""
    here = slice(case.corpus.indptr[d], case.corpus.indptr[d + 1])
    words, counts = case.corpus.indices[here], case.corpus.counts[here]
    prior = case.prior
    log_theta = digamma(gamma) - digamma(gamma.sum())
    r = np.exp(log_softmax(logits, axis=1)) if len(words) else logits
    log_p_z = np.sum(counts[:, None] * r * log_theta)
    log_p_w = np.sum(counts[:, None] * r * case.inclusion[words, None] * case.log_topics[words])
    log_q_z = np.sum(counts[:, None] * r * np.log(r))
    log_p_theta = gammaln(prior.sum()) - gammaln(prior).sum() + np.sum((prior - 1) * log_theta)
    log_q_theta = gammaln(gamma.sum()) - gammaln(gamma).sum() + np.sum((gamma - 1) * log_theta)
    log_p_y = reference.expected_log_likelihood(case.family, case.local_target(d), gamma)
    return np.array([log_p_z + log_p_w - log_q_z, log_p_theta - log_q_theta, log_p_y])


def take_step(case, first, last, t, epsilon=1e-8):
    out = UncollapsedStats(np.zeros(case.log_topics.shape), np.zeros(3))
    step_documents(
        first,
        last,
        case.corpus,
        case.inclusion,
        case.log_topics,
        case.prior,
        case.coef,
        for_kernels(case.family),  # as the solver gives it: compiled once for all families
        case.local,
        constants(t, epsilon),
        out,
    )
    return out


def logit_rows(stored, n_topics):
    """A document's block of logits, topics x words in memory, as words x topics."""
    return stored.reshape(n_topics, -1).T


def one_document(local: Uncollapsed, corpus, d) -> Uncollapsed:
    """Views of one document's parameters."""
    a, b = corpus.indptr[d], corpus.indptr[d + 1]
    gamma, logits = local[:3], local[3:]
    return Uncollapsed(*(x[d : d + 1] for x in gamma), *(x[a:b] for x in logits))


def gradients_of(case, d, gamma, logits):
    """Those of the twin for one document."""
    here = slice(case.corpus.indptr[d], case.corpus.indptr[d + 1])
    return reference.uncollapsed_gradients(
        case.corpus.indices[here],
        case.corpus.counts[here],
        case.inclusion,
        case.log_topics,
        case.prior,
        gamma,
        logit_rows(logits[here], len(case.prior)),
        case.family,
        case.local_target(d),
    )


def copy_of(local: Uncollapsed) -> Uncollapsed:
    return Uncollapsed(*(x.copy() for x in local))


@every_family
@pytest.mark.parametrize("n_topics", [1, 2, 4])
@pytest.mark.parametrize("seed", range(3))
def test_gradients(family, n_topics, seed):
    """From zero moments one step leaves m = 0.1 g: the kernel's own gradients, exactly."""
    case = make_case(seed, family, 4, n_topics)
    local, before = case.local, copy_of(case.local)
    out = take_step(case, 0, 4, 1)
    parts, word_topic = np.zeros(3), np.zeros(case.log_topics.shape)
    for d in range(4):
        here = slice(case.corpus.indptr[d], case.corpus.indptr[d + 1])
        words, counts = case.corpus.indices[here], case.corpus.counts[here]
        gamma, logits = before.concentration[d], logit_rows(before.logits[here], n_topics)
        d_gamma = local.concentration_m[d] / 0.1
        d_logits = logit_rows(local.logits_m[here], n_topics) / 0.1

        def bound(g, l, d=d):
            return document_parts(case, d, g, l).sum()

        size = 1.0 + counts.sum() + np.abs(case.coef).max()
        numerical = numerical_gradient(lambda x: bound(x, logits), gamma, 1e-4)  # noqa: B023
        np.testing.assert_allclose(d_gamma, numerical, rtol=1e-6, atol=1e-7 * size)
        numerical = numerical_gradient(lambda x: bound(gamma, x), logits, 1e-3)  # noqa: B023
        np.testing.assert_allclose(d_logits, numerical, rtol=1e-6, atol=1e-7 * size)
        twin = gradients_of(case, d, gamma, before.logits)
        np.testing.assert_allclose(d_logits, twin[0], rtol=1e-9, atol=1e-12 * size)
        np.testing.assert_allclose(d_gamma, twin[1], rtol=1e-9, atol=1e-11 * size)
        # A document's weight counts in the sums, not in its own steps.
        times = case.corpus.doc_weight[d]
        np.add.at(word_topic, words, times * twin[2])
        parts += times * document_parts(case, d, gamma, logits)
    np.testing.assert_allclose(out.word_topic, word_topic, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(out.parts, parts, rtol=1e-9, atol=1e-9)


@every_family
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(("epsilon", "tolerance"), [(1e-14, 1e-9), (1e-8, 1e-5)])
def test_lazy_steps_equal_textbook_adam(family, seed, epsilon, tolerance):
    """Documents visited now and then, caught up before each visit, as if always stepped.

    In between a document's gradient is zero for the original, and its momentum carries it on. The
    closed form leaves out Adam's ε: exact without it, and ε/|gradient| from the original with it.
    """
    case = make_case(seed, family, 4, 3)
    local, start = case.local, copy_of(case.local)
    n_docs, n_topics = local.concentration.shape
    rng = np.random.default_rng(seed)
    n_steps = 40
    gamma_gradients = [np.zeros((n_docs, n_topics)) for _ in range(n_steps)]
    logit_gradients = [np.zeros_like(local.logits) for _ in range(n_steps)]
    visited = np.zeros(n_docs, dtype=np.int64)
    for t in range(1, n_steps + 1):
        docs = np.flatnonzero(rng.random(n_docs) < [0.9, 0.2, 0.3, 0.1])
        if t in (1, 2):
            docs = np.array([0, 2])  # document 1 and 3 begin later
        if t == 7:
            docs = np.arange(n_docs)
        for d in docs:
            drift = unvisited_drift(int(visited[d]), t)
            catch_up_documents(one_document(local, case.corpus, d), drift, RATE)
            visited[d] = t
            here = slice(case.corpus.indptr[d], case.corpus.indptr[d + 1])
            twin = gradients_of(case, d, local.concentration[d], local.logits)
            logit_gradients[t - 1][here] = twin[0].T.reshape(-1, n_topics)
            gamma_gradients[t - 1][d] = twin[1]
            take_step(case, d, d + 1, t, epsilon)
    assert len(set(visited)) > 1  # somebody is behind at the end
    for d in range(n_docs):
        end = unvisited_drift(int(visited[d]), n_steps + 1)
        catch_up_documents(one_document(local, case.corpus, d), end, RATE)
    assert local.concentration.min() > SMALLEST_CONCENTRATION
    expected = reference.adam(start.concentration, gamma_gradients, RATE, epsilon)
    np.testing.assert_allclose(local.concentration, expected, rtol=tolerance)
    expected = reference.adam(start.logits, logit_gradients, RATE, epsilon)
    np.testing.assert_allclose(local.logits, expected, rtol=tolerance, atol=tolerance)
    # And it did move, most of it while nobody looked.
    assert np.abs(local.concentration - start.concentration).max() > 5 * RATE


def empty_logits(n_topics):
    return tuple(np.zeros((0, n_topics)) for _ in range(3))


def test_concentrations_stay_positive():
    """A momentum downwards, and a gradient downwards, end at the floor."""
    local = Uncollapsed(
        np.array([[0.02, 1.0]]),
        np.array([[-1.0, 0.0]]),
        np.array([[1e-3, 0.0]]),
        *empty_logits(2),
    )
    catch_up_documents(local, unvisited_drift(1, 50), RATE)
    assert local.concentration[0, 0] == SMALLEST_CONCENTRATION
    assert local.concentration[0, 1] == 1.0
    case = make_case(1, "gaussian", 3, 2)
    case.local.concentration[:] = SMALLEST_CONCENTRATION
    case.local.concentration_m[:] = -1e3
    take_step(case, 0, 3, 1)
    assert np.all(case.local.concentration == SMALLEST_CONCENTRATION)


def test_log_softmax():
    """Also of a word that is out of the question."""
    logits = np.random.default_rng(0).normal(scale=20.0, size=(40, 6))
    logits[3, 1] = -2000.0
    log_p, p = np.empty_like(logits), np.empty_like(logits)
    log_softmax_columns(logits, log_p, p)
    np.testing.assert_allclose(log_p, log_softmax(logits, axis=0), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(p, np.exp(log_p), rtol=1e-10, atol=1e-300)
