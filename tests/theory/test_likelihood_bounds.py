"""Equation 1 and the corrected bound for disjoint supports, by quadrature for two topics.

Equation 1:  log p(y,w) >= E_ξ[log p_β(y|W₁(ξ))] + p E_θ[log p_β(w|θ)] + (1-p) log p_π(w).
Disjoint:    log p(y,w) >= log p_β(y|W₁(ξ*)) + E_θ[Σ_n ξ*_n log p_β(w_n|θ)]
                           + Σ_n (1-ξ*_n) log p_π(w_n) + log p(ξ*),
with the logarithms that the paper's last formula is missing.
"""

import itertools
from dataclasses import replace

import hypothesis.strategies as st
import models
import numpy as np
import pytest
from hypothesis import given, settings

from topicfocus.corpus import make_corpus
from topicfocus.joint.likelihood import exact_log_likelihood
from topicfocus.joint.settings import Hyperparameters
from topicfocus.model import make_problem

N_WORDS = 4
seeds = st.integers(0, 10**6)
families = st.sampled_from(models.FAMILIES)
documents = st.lists(st.integers(0, N_WORDS - 1), max_size=4)
priors = st.floats(0.05, 0.95)


class Document:
    """One document with its exact likelihood, and the integrals over θ ~ Dir(α) it needs."""

    def __init__(self, seed, family, tokens, p, kept=None):
        rng = np.random.default_rng(seed)
        state = models.draw_state(rng, N_WORDS, 2, family)
        if kept is not None:
            topics = state.topic_word * kept[:, None]
            background = state.background * ~kept
            state = replace(
                state,
                topic_word=topics / topics.sum(axis=0),
                background=background / background.sum(),
            )
        self.state, self.p, self.tokens = state, p, np.array(tokens, dtype=int)
        self.y = models.draw_target(rng, 1, family)[0]
        self.theta, self.weight = models.dirichlet_nodes(state.doc_topic_prior)
        self.words = self.theta @ state.topic_word.T  # p_β(v | θ) at every node
        self.target = models.target_log_density(state, self.y, self.theta @ state.coef)

    def log_likelihood(self):
        row = np.bincount(self.tokens, minlength=N_WORDS)[None]
        problem = make_problem(make_corpus(row, allow_empty=True), np.array([self.y]))
        hyper = Hyperparameters(n_topics=2, inclusion_prior=self.p)
        return exact_log_likelihood(problem, self.state, hyper)[0]

    def log_target_given(self, relevant):
        """log p_β(y | W₁): the target given the relevant tokens, θ integrated out."""
        words = np.prod(self.words[:, relevant], axis=1)
        joint = self.weight @ (words * np.exp(self.target))
        return np.log(joint) - np.log(self.weight @ words)

    def expected_log_words(self, relevant):
        """E_θ[Σ log p_β(w_n | θ)] under the prior."""
        return self.weight @ np.sum(np.log(self.words[:, relevant]), axis=1)

    def switches(self):
        return (
            np.array(xi, dtype=bool) for xi in itertools.product((0, 1), repeat=len(self.tokens))
        )

    def equation_1(self):
        value = 0.0
        for xi in self.switches():
            chance = np.prod(np.where(xi, self.p, 1 - self.p))
            value += chance * self.log_target_given(self.tokens[xi])
        value += self.p * self.expected_log_words(self.tokens)
        return value + (1 - self.p) * np.log(self.state.background[self.tokens]).sum()

    def disjoint_bound(self, kept):
        xi = kept[self.tokens]
        return (
            self.log_target_given(self.tokens[xi])
            + self.expected_log_words(self.tokens[xi])
            + np.log(self.state.background[self.tokens[~xi]]).sum()
            + xi.sum() * np.log(self.p)
            + (~xi).sum() * np.log1p(-self.p)
        )


@settings(deadline=None, max_examples=60, derandomize=True)
@given(seeds, families, documents, priors)
def test_equation_1_is_a_lower_bound(seed, family, tokens, p):
    document = Document(seed, family, tokens, p)
    assert document.equation_1() <= document.log_likelihood() + 1e-10


@pytest.mark.parametrize("family", models.FAMILIES)
def test_equation_1_is_exact_for_a_document_without_words(family):
    document = Document(1, family, [], 0.3)
    np.testing.assert_allclose(document.equation_1(), document.log_likelihood(), rtol=1e-10)


def test_equation_1_has_both_channels_in_it():
    """Each word is charged to both channels, so the bound is loose by about that."""
    document = Document(2, "gaussian", [0, 1, 1, 3], 0.4)
    gap = document.log_likelihood() - document.equation_1()
    assert 0.1 < gap < 20


kept_words = st.lists(st.booleans(), min_size=N_WORDS, max_size=N_WORDS).filter(
    lambda kept: any(kept) and not all(kept)
)


@settings(deadline=None, max_examples=60, derandomize=True)
@given(seeds, families, documents, priors, kept_words)
def test_the_bound_for_disjoint_supports(seed, family, tokens, p, kept):
    kept = np.array(kept)
    document = Document(seed, family, tokens, p, kept)
    assert document.disjoint_bound(kept) <= document.log_likelihood() + 1e-10


@settings(deadline=None, max_examples=40, derandomize=True)
@given(seeds, families, documents, priors, kept_words)
def test_with_disjoint_supports_the_likelihood_factors_at_the_one_possible_switch(
    seed, family, tokens, p, kept
):
    """p(y,w) = p(y,w|ξ*) p(ξ*): what the bound's only inequality (Jensen in θ) starts from."""
    kept = np.array(kept)
    document = Document(seed, family, tokens, p, kept)
    xi = kept[document.tokens]
    words = np.prod(document.words[:, document.tokens[xi]], axis=1)
    exact = (
        np.log(document.weight @ (words * np.exp(document.target)))
        + np.log(document.state.background[document.tokens[~xi]]).sum()
        + xi.sum() * np.log(p)
        + (~xi).sum() * np.log1p(-p)
    )
    np.testing.assert_allclose(document.log_likelihood(), exact, rtol=1e-9, atol=1e-10)


def test_the_disjoint_bound_is_finite_where_equation_1_is_not():
    kept = np.array([True, True, False, False])
    document = Document(3, "gaussian", [0, 2, 3], 0.4, kept)
    with np.errstate(divide="ignore"):
        assert document.expected_log_words(document.tokens) == -np.inf
        assert np.log(document.state.background[document.tokens]).sum() == -np.inf
    assert np.isfinite(document.disjoint_bound(kept))


def test_the_papers_last_formula_without_its_logarithms_is_no_bound():
    """p_β(y|W₁), Σ p_β(w|θ) and p(ξ*) in place of their logarithms: far above the likelihood."""
    kept = np.array([True, True, False, False])
    document = Document(4, "gaussian", [0, 1, 2], 0.4, kept)
    xi = kept[document.tokens]
    printed = (
        np.exp(document.log_target_given(document.tokens[xi]))
        + document.weight @ document.words[:, document.tokens[xi]].sum(axis=1)
        + np.log(document.state.background[document.tokens[~xi]]).sum()
        + 0.4 ** xi.sum() * 0.6 ** (~xi).sum()
    )
    assert printed > document.log_likelihood()
