"""Theorem 2: β and π are disjoint if and only if the posterior of the switches is a point mass.

The "only if" needs every word to be observed, as the paper's proof says; documents here hold all.
"""

import itertools
from dataclasses import replace

import hypothesis.strategies as st
import models
import numpy as np
from hypothesis import given, settings
from scipy.special import logsumexp

from topicfocus.corpus import make_corpus
from topicfocus.joint.likelihood import exact_log_likelihood
from topicfocus.joint.settings import Hyperparameters
from topicfocus.metrics import channel_overlap
from topicfocus.model import make_problem

N_WORDS = 5


def make(seed, n_topics, kept):
    """A model with disjoint channels; `kept` says which words are the topics'."""
    rng = np.random.default_rng(seed)
    state = models.draw_state(rng, N_WORDS, n_topics)
    topics = state.topic_word * kept[:, None]
    background = state.background * ~kept
    return rng, replace(
        state, topic_word=topics / topics.sum(axis=0), background=background / background.sum()
    )


kept_words = st.lists(st.booleans(), min_size=N_WORDS, max_size=N_WORDS).filter(
    lambda kept: any(kept) and not all(kept)
)


def enumerate_switches(tokens, state, hyper):
    """All 2^N switch assignments of a short document, and log p(w, ξ) of each."""
    switches = np.array(list(itertools.product((0, 1), repeat=len(tokens))), dtype=int)
    counts = np.array([np.bincount(tokens[xi == 1], minlength=N_WORDS) for xi in switches])
    problem = make_problem(make_corpus(counts, allow_empty=True), None)
    plain = Hyperparameters(n_topics=hyper.n_topics, selects=False)
    # A word of no topic is left out by the likelihood; here it is impossible.
    possible = np.all((counts == 0) | (state.topic_word.max(axis=1) > 0), axis=1)
    with np.errstate(divide="ignore"):
        outside = [np.log(state.background[tokens[xi == 0]]).sum() for xi in switches]
    log_p = exact_log_likelihood(problem, state, plain) + outside
    kept = switches.sum(axis=1)
    log_p += kept * np.log(hyper.inclusion_prior)
    log_p += (len(tokens) - kept) * np.log1p(-hyper.inclusion_prior)
    return switches, np.where(possible, log_p, -np.inf)


def posterior(tokens, state, hyper):
    switches, log_p = enumerate_switches(tokens, state, hyper)
    return switches, np.exp(log_p - logsumexp(log_p))


@settings(deadline=None, max_examples=40, derandomize=True)
@given(st.integers(0, 10**6), st.integers(1, 3), kept_words, st.floats(0.05, 0.95))
def test_disjoint_channels_give_a_point_mass(seed, n_topics, kept, p):
    kept = np.array(kept)
    rng, state = make(seed, n_topics, kept)
    assert channel_overlap(state.topic_word.T, state.background) == 0.0
    tokens = rng.permutation(np.append(np.arange(N_WORDS), rng.integers(0, N_WORDS)))
    switches, probability = posterior(
        tokens, state, Hyperparameters(n_topics=n_topics, inclusion_prior=p)
    )
    np.testing.assert_array_equal(switches[probability > 0], [kept[tokens].astype(int)])
    assert probability.max() == 1.0


@settings(deadline=None, max_examples=40, derandomize=True)
@given(
    st.integers(0, 10**6),
    st.integers(1, 3),
    kept_words,
    st.floats(0.05, 0.95),
    st.floats(1e-6, 0.5),
)
def test_one_shared_word_is_enough_for_a_posterior_that_is_none(seed, n_topics, kept, p, leak):
    kept = np.array(kept)
    rng, state = make(seed, n_topics, kept)
    shared = rng.choice(np.flatnonzero(kept))
    background = (1 - leak) * state.background
    background[shared] += leak
    state = replace(state, background=background)
    assert channel_overlap(state.topic_word.T, state.background) > 0.0
    switches, probability = posterior(
        np.arange(N_WORDS), state, Hyperparameters(n_topics=n_topics, inclusion_prior=p)
    )
    possible = probability > 0
    # Exactly the shared word is in doubt, nothing else.
    assert possible.sum() == 2
    assert np.all(switches[possible][:, shared] == [0, 1])
    others = np.arange(N_WORDS) != shared
    np.testing.assert_array_equal(switches[possible][:, others], [kept[others]] * 2)
