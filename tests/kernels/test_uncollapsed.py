"""The paper's algorithm: gradients against numerical ones, lazy Adam against textbook Adam."""

import kernel_twins as reference
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_cases import EXAMPLES, Documents, numerical_gradient, random_corpus
from scipy.special import digamma, gammaln, log_softmax

from topicfocus.families import Gaussian, for_kernels
from topicfocus.joint.gradient import unvisited_drift
from topicfocus.kernels.uncollapsed import (
    SMALLEST_CONCENTRATION,
    AdamStep,
    Uncollapsed,
    UncollapsedStats,
    adam_move_array,
    catch_up_documents,
    step_documents,
)

RATE = 0.025
every_family = pytest.mark.parametrize("family", EXAMPLES.values(), ids=EXAMPLES.keys())


def constants(t: int, epsilon: float = 1e-8) -> AdamStep:
    return AdamStep(RATE, 1 - 0.9**t, 1 - 0.999**t, epsilon)


def make_case(seed, family, lengths, n_words, n_topics):
    """A corpus, variational parameters away from their start, inclusion and log topics."""
    rng = np.random.default_rng(seed)
    case = random_corpus(rng, lengths, n_words, n_topics, family)
    nonzeros = len(case.corpus.indices)
    local = Uncollapsed(
        rng.uniform(0.3, 4.0, size=(len(lengths), n_topics)),
        np.zeros((len(lengths), n_topics)),
        np.zeros((len(lengths), n_topics)),
        rng.normal(size=(nonzeros, n_topics)),
        np.zeros((nonzeros, n_topics)),
        np.zeros((nonzeros, n_topics)),
    )
    log_topics = log_softmax(rng.normal(size=(n_words, n_topics)), axis=0)
    return case, local, rng.uniform(0.05, 0.95, size=n_words), log_topics


def document_parts(case: Documents, d, gamma, logits, inclusion, log_topics):
    """The bound of one document, term by term as in the paper's appendix: words, mix, target."""
    here = slice(case.corpus.indptr[d], case.corpus.indptr[d + 1])
    words, counts = case.corpus.indices[here], case.corpus.counts[here]
    prior = case.prior
    log_theta = digamma(gamma) - digamma(gamma.sum())
    r = np.exp(log_softmax(logits, axis=1)) if len(words) else logits
    log_p_z = np.sum(counts[:, None] * r * log_theta)
    log_p_w = np.sum(counts[:, None] * r * inclusion[words, None] * log_topics[words])
    log_q_z = np.sum(counts[:, None] * r * np.log(r))
    log_p_theta = gammaln(prior.sum()) - gammaln(prior).sum() + np.sum((prior - 1) * log_theta)
    log_q_theta = gammaln(gamma.sum()) - gammaln(gamma).sum() + np.sum((gamma - 1) * log_theta)
    log_p_y = reference.expected_log_likelihood(case.family, case.local_target(d), gamma)
    return np.array([log_p_z + log_p_w - log_q_z, log_p_theta - log_q_theta, log_p_y])


def take_step(case, local, inclusion, log_topics, first, last, t, epsilon=1e-8):
    n_words, n_topics = log_topics.shape
    out = UncollapsedStats(np.zeros((n_words, n_topics)), np.zeros(3))
    step_documents(
        first,
        last,
        case.corpus,
        inclusion,
        log_topics,
        case.prior,
        case.coef,
        for_kernels(case.family),  # as the solver gives it: compiled once for all families
        local,
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


def copy_of(local: Uncollapsed) -> Uncollapsed:
    return Uncollapsed(*(x.copy() for x in local))


corpora = given(
    data=st.data(),
    lengths=st.lists(st.integers(0, 5), min_size=1, max_size=4),
    n_words=st.integers(1, 8),
    n_topics=st.integers(1, 5),
    seed=st.integers(0, 2**32 - 1),
)


@pytest.mark.parametrize(
    "group", [("gaussian",), ("bernoulli",), tuple(EXAMPLES)[2:]], ids=lambda group: group[0]
)
@settings(max_examples=40)
@corpora
def test_gradients(group, data, lengths, n_words, n_topics, seed):
    """From zero moments one step leaves m = 0.1 g: the kernel's own gradients, exactly."""
    family = EXAMPLES[data.draw(st.sampled_from(group))]
    case, local, inclusion, log_topics = make_case(seed, family, lengths, n_words, n_topics)
    before = copy_of(local)
    docs = range(len(case.corpus.target))
    out = take_step(case, local, inclusion, log_topics, 0, len(docs), 1)
    parts = np.zeros(3)
    word_topic = np.zeros((n_words, n_topics))
    for d in docs:
        here = slice(case.corpus.indptr[d], case.corpus.indptr[d + 1])
        words, counts = case.corpus.indices[here], case.corpus.counts[here]
        gamma, logits = before.concentration[d], logit_rows(before.logits[here], n_topics)
        d_gamma = local.concentration_m[d] / 0.1
        d_logits = logit_rows(local.logits_m[here], n_topics) / 0.1

        def bound(g, l, d=d):
            return document_parts(case, d, g, l, inclusion, log_topics).sum()

        size = 1.0 + counts.sum()
        size += case.corpus.target_weight[d].sum() * (1 + np.abs(case.coef).max())
        numerical = numerical_gradient(lambda x: bound(x, logits), gamma, 1e-4)  # noqa: B023
        np.testing.assert_allclose(d_gamma, numerical, rtol=1e-6, atol=1e-7 * size)
        numerical = numerical_gradient(lambda x: bound(gamma, x), logits, 1e-3)  # noqa: B023
        np.testing.assert_allclose(d_logits, numerical, rtol=1e-6, atol=1e-7 * size)

        twin = reference.uncollapsed_gradients(
            words,
            counts,
            inclusion,
            log_topics,
            case.prior,
            gamma,
            logits,
            family,
            case.local_target(d),
        )
        np.testing.assert_allclose(d_logits, twin[0], rtol=1e-9, atol=1e-12 * size)
        np.testing.assert_allclose(d_gamma, twin[1], rtol=1e-9, atol=1e-11 * size)
        np.testing.assert_allclose(
            local.concentration_v[d], 0.001 * twin[1] ** 2, rtol=1e-6, atol=1e-15 * size
        )
        # A document's weight counts in the sums, not in its own steps.
        times = case.corpus.doc_weight[d]
        np.add.at(word_topic, words, times * twin[2])
        parts += times * document_parts(case, d, gamma, logits, inclusion, log_topics)
    np.testing.assert_allclose(out.word_topic, word_topic, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(out.parts, parts, rtol=1e-9, atol=1e-9)
    # The first Adam step moves every parameter by the rate, in the direction of its gradient.
    moved = local.concentration - before.concentration
    clear = np.abs(local.concentration_m) > 1e-4
    clear &= local.concentration > SMALLEST_CONCENTRATION
    expected = RATE * np.sign(local.concentration_m)
    np.testing.assert_allclose(moved[clear], expected[clear], rtol=1e-4)
    clear = np.abs(local.logits_m) > 1e-4
    moved = local.logits - before.logits
    np.testing.assert_allclose(moved[clear], RATE * np.sign(local.logits_m[clear]), rtol=1e-4)


@every_family
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(("epsilon", "tolerance"), [(1e-14, 1e-9), (1e-8, 1e-5)])
def test_lazy_steps_equal_textbook_adam(family, seed, epsilon, tolerance):
    """Documents visited now and then, caught up before each visit, as if always stepped.

    In between a document's gradient is zero for the original, and its momentum carries it on. The
    closed form leaves out Adam's ε: exact without it, and ε/|gradient| from the original with it.
    """
    lengths = [4, 0, 3, 6]
    case, local, inclusion, log_topics = make_case(seed, family, lengths, 8, 3)
    n_docs, n_topics = local.concentration.shape
    start = copy_of(local)
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
            twin = reference.uncollapsed_gradients(
                case.corpus.indices[here],
                case.corpus.counts[here],
                inclusion,
                log_topics,
                case.prior,
                local.concentration[d],
                logit_rows(local.logits[here], n_topics),
                family,
                case.local_target(d),
            )
            logit_gradients[t - 1][here] = twin[0].T.reshape(-1, n_topics)
            gamma_gradients[t - 1][d] = twin[1]
            take_step(case, local, inclusion, log_topics, d, d + 1, t, epsilon)
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


def test_drift_of_a_single_parameter():
    """The closed form itself, beside a loop, long after the visit."""
    gradient = np.array([[0.7]])
    for gap in (0, 1, 5, 300):
        local = Uncollapsed(
            np.array([[5.0]]), *(np.zeros((1, 1)) for _ in range(2)), *empty_logits(1)
        )
        value, m, v = local.concentration[0], local.concentration_m[0], local.concentration_v[0]
        adam_move_array(value, gradient[0], m, v, constants(1))
        catch_up_documents(local, unvisited_drift(1, gap + 2), RATE)
        expected = reference.adam(np.array([5.0]), [gradient[0]] + [np.zeros(1)] * gap, RATE)
        assert local.concentration[0, 0] == pytest.approx(expected[0], rel=1e-8)
        assert m[0] == pytest.approx(0.1 * 0.7 * 0.9**gap, rel=1e-12)
        assert v[0] == pytest.approx(0.001 * 0.49 * 0.999**gap, rel=1e-12)


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
    case, local, inclusion, log_topics = make_case(1, Gaussian(1.0), [0], 3, 2)
    local.concentration[:] = SMALLEST_CONCENTRATION
    local.concentration_m[:] = -1e3
    take_step(case, local, inclusion, log_topics, 0, 1, 1)
    assert np.all(local.concentration == SMALLEST_CONCENTRATION)
