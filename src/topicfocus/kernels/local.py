"""Local inference in the joint models: q(θ) = Dirichlet(γ) of a document.

Responsibilities are a closed form of γ, so that they are computed again instead of stored. With
e_k = exp(E_q[log θ_k]) and a word's row of weights W_v (β_v for the tight bound and for sLDA,
β_v^{φ_v} for bound="paper"), the collapsed objective of a document is

    L(γ) = -log B(α) + log B(γ) + Σ_k (α_k - γ_k) E[log θ_k]
           + Σ_v c_v m_v log Σ_k W_vk e_k + Σ_t w_t E_q[log p(y_t | f)],   f_l = o_l + η_l·θ,

m_v the word's multiplicity (φ_v for the tight bound, else 1), w_t the weight of target t and o the
offsets of the document. Rows of W are scaled to a largest entry of one; the caller adds the scale,
a constant of the corpus. The expected log-likelihood is `row_expectation` of the family at the mean
μ_l and variance ν_l of f_l: exact for a Gaussian target, a lower bound for most others.
"""

from __future__ import annotations

import math
from collections import namedtuple
from typing import Any, NamedTuple

import numpy as np

from topicfocus.families.base import row_expectation
from topicfocus.kernels.compile import borrowed, helper, kernel, work_array
from topicfocus.kernels.special import (
    digamma,
    dirichlet_log_normaliser,
    exp_digamma,
    log_in_place,
    trigamma,
)
from topicfocus.kernels.word_sums import (
    add_responsibilities,
    gather_document,
    mixture,
    multiple_of,
    pad_document,
    topic_sums,
)

#: Words per step of LLVM's loops over a document in single precision (4 registers of 8).
_VECTOR = 32


class LocalCorpus(NamedTuple):
    """Counts in CSR form, with targets, their weights and offsets.

    target, target_weight: documents x targets; offset: documents x predictors; doc_weight: weights
    of the documents in the statistics.
    """

    indptr: np.ndarray
    indices: np.ndarray
    counts: np.ndarray
    target: np.ndarray
    target_weight: np.ndarray
    offset: np.ndarray
    doc_weight: np.ndarray


class LocalTarget(NamedTuple):
    """A document's targets y, their weights w, its offsets o, and η (predictors x topics)."""

    value: np.ndarray
    weight: np.ndarray
    offset: np.ndarray
    coef: np.ndarray


class WordTable(NamedTuple):
    """Rows W_v of the words, each with a largest entry of one, and multiplicities m_v."""

    table: np.ndarray
    multiplicity: np.ndarray


class LocalBudget(NamedTuple):
    """Largest number of steps, and the mean absolute change of γ, relative to γ, that ends them.

    `with_bound`: whether parts of the bound and log-likelihoods of words are computed.
    """

    max_steps: int
    tolerance: float
    with_bound: bool = True


#: Work arrays of one thread. rows, weight, e and norm have the precision of the table; moments are
#: 4 x predictors, μ, ν and the derivatives in them.
LocalWork = namedtuple(
    "LocalWork", "rows weight e norm exact exact_norm sums slope start bits moments"
)


class LocalStats(NamedTuple):
    """Statistics to which `infer_documents` adds."""

    word_topic: np.ndarray
    word_log_likelihood: np.ndarray
    log_theta: np.ndarray
    parts: np.ndarray


# ---- the target's part ---------------------------------------------------------------------------


@helper
def target_moments(concentration, coef):
    """Mean and variance of η·θ under Dirichlet(γ): μ = η·γ/γ₀, ν = (Σ η²γ/γ₀ - μ²)/(γ₀ + 1)."""
    total = 0.0
    mean = 0.0
    second = 0.0
    for k in range(coef.shape[0]):
        total += concentration[k]
        mean += coef[k] * concentration[k]
        second += coef[k] * coef[k] * concentration[k]
    mean /= total
    second /= total
    return mean, max(second - mean * mean, 0.0) / (total + 1.0)


@helper
def expected_target(family, target, concentration, moments):
    """Σ_t w_t E[log p(y_t | f)]; writes μ, ν and the derivatives in them to the rows of moments."""
    for l in range(target.coef.shape[0]):
        mean, variance = target_moments(concentration, target.coef[l])
        moments[0, l] = mean + target.offset[l]
        moments[1, l] = variance
    return row_expectation(
        family, target.value, target.weight, moments[0], moments[1], moments[2], moments[3]
    )


@helper
def target_gradient(family, target, concentration, moments, out):
    """out = ∇_γ Σ_t w_t E[log p(y_t | f)], f_l of mean μ_l(γ) and variance ν_l(γ)."""
    n_topics = concentration.shape[0]
    total = 0.0
    for k in range(n_topics):
        total += concentration[k]
        out[k] = 0.0
    expected_target(family, target, concentration, moments)
    for l in range(target.coef.shape[0]):
        coef = target.coef[l]
        mean = moments[0, l] - target.offset[l]
        variance = moments[1, l]
        slope = moments[2, l]
        bend = moments[3, l]
        square = variance * (total + 1.0) + mean * mean  # Σ η² γ/γ₀
        for k in range(n_topics):
            d_mean = (coef[k] - mean) / total
            d_square = (coef[k] * coef[k] - square) / total
            d_variance = (d_square - 2.0 * mean * d_mean - variance) / (total + 1.0)
            out[k] += slope * d_mean + bend * d_variance


@helper
def target_natural_gradient(family, target, concentration, moments, out):
    """out = F⁻¹ ∇_γ of the target's part, F = diag ψ'(γ) - ψ'(γ₀)11ᵀ, by Sherman-Morrison."""
    n_topics = concentration.shape[0]
    if n_topics == 1:  # θ = 1 with certainty, and F is zero
        out[0] = 0.0
        return
    target_gradient(family, target, concentration, moments, out)
    total = 0.0
    scaled_sum = 0.0
    inverse_sum = 0.0
    for k in range(n_topics):
        total += concentration[k]
        inverse = 1.0 / trigamma(concentration[k])
        scaled_sum += inverse * out[k]
        inverse_sum += inverse
    spread = trigamma(total)
    common = spread * scaled_sum / (1.0 - spread * inverse_sum)
    for k in range(n_topics):
        out[k] = (out[k] + common) / trigamma(concentration[k])


@helper
def has_target(weight):
    """Whether any of a document's targets is known."""
    for t in range(weight.shape[0]):  # noqa: SIM110 (compiled code has no generators)
        if weight[t] > 0.0:
            return True
    return False


# ---- one document --------------------------------------------------------------------------------


@helper
def theta_objective(prior, concentration, log_theta):
    """log B(γ) + Σ_k (α_k - γ_k) E[log θ_k]; writes E[log θ] into `log_theta`."""
    total = 0.0
    for k in range(prior.shape[0]):
        total += concentration[k]
    log_total = digamma(total)
    value = dirichlet_log_normaliser(concentration)
    for k in range(prior.shape[0]):
        log_theta[k] = digamma(concentration[k]) - log_total
        value += (prior[k] - concentration[k]) * log_theta[k]
    return value


@helper
def document_objective(rows, weight, n, prior, concentration, family, target, work):
    """L(γ) without the scale of the rows and log B(α)."""
    value = theta_objective(prior, concentration, work.exact)
    for k in range(prior.shape[0]):
        work.exact[k] = math.exp(work.exact[k])
    mixture(rows, n, work.exact, work.exact_norm)
    log_in_place(work.exact_norm, n, work.bits)
    for j in range(n):
        value += weight[j] * work.exact_norm[j]
    return value + expected_target(family, target, concentration, work.moments)


@helper
def infer_document(rows, weight, n, prior, family, target, concentration, budget, work):
    """Maximise L(γ) from the given γ, in place; returns the number of steps.

    Without a target, γ ← α + Σ_v c m r is coordinate ascent in (γ, r) and cannot lower L. With a
    target its natural gradient is added, in full steps. If L is lower at the end, which is rare,
    the document is inferred again with steps that are halved until L rises. So one pass of a
    coordinate solver never lowers the bound.

    `family` is None where no document has a target; numba then leaves out the code of targets.
    """
    n_topics = prior.shape[0]
    supervised = False
    if family is not None:
        supervised = has_target(target.weight) and n_topics > 1  # one topic: θ = 1 whatever y
    before = 0.0
    if family is not None and supervised:
        for k in range(n_topics):
            work.start[k] = concentration[k]
        before = document_objective(rows, weight, n, prior, concentration, family, target, work)
    taken = 0
    for _ in range(budget.max_steps):
        exp_digamma(concentration, work.e)
        topic_sums(rows, weight, n, work.e, work.norm, work.sums)
        if family is not None and supervised:
            target_natural_gradient(family, target, concentration, work.moments, work.slope)
        change = 0.0
        size = 0.0
        for k in range(n_topics):
            new = prior[k] + work.sums[k]
            if family is not None and supervised:
                # A step may not cross zero, nor shrink γ_k by more than a factor of ten.
                new = max(new + work.slope[k], 0.1 * concentration[k])
            change += abs(new - concentration[k])
            size += new
            concentration[k] = new
        taken += 1
        if change <= budget.tolerance * size:
            break
    if family is not None and supervised:
        after = document_objective(rows, weight, n, prior, concentration, family, target, work)
        if not after >= before:  # also true for NaN
            for k in range(n_topics):
                concentration[k] = work.start[k]
            taken += _infer_carefully(
                rows, weight, n, prior, family, target, concentration, budget, work, before
            )
    return taken


@helper
def _infer_carefully(rows, weight, n, prior, family, target, concentration, budget, work, before):
    """Natural-gradient ascent with halved steps: every accepted step raises L(γ)."""
    n_topics = prior.shape[0]
    taken = 0
    for _ in range(budget.max_steps):
        exp_digamma(concentration, work.e)
        topic_sums(rows, weight, n, work.e, work.norm, work.sums)
        target_natural_gradient(family, target, concentration, work.moments, work.slope)
        for k in range(n_topics):
            work.start[k] = concentration[k]
            work.slope[k] += prior[k] + work.sums[k] - concentration[k]
        rate = 1.0
        rose = False
        for _ in range(30):
            for k in range(n_topics):
                concentration[k] = max(work.start[k] + rate * work.slope[k], 0.1 * work.start[k])
            after = document_objective(rows, weight, n, prior, concentration, family, target, work)
            if after >= before:
                before = after
                rose = True
                break
            rate *= 0.5
        if not rose:
            for k in range(n_topics):
                concentration[k] = work.start[k]
            break
        taken += 1
        change = 0.0
        size = 0.0
        for k in range(n_topics):
            change += abs(concentration[k] - work.start[k])
            size += concentration[k]
        if change <= budget.tolerance * size:
            break
    return taken


# ---- many documents ------------------------------------------------------------------------------


@helper
def add_bound(rows, weight, padded, words_here, counts_here, times, mix, table, work, out):
    """Add statistics at the final γ and the terms of words and θ in the bound, in double precision.

    work.exact has E[log θ], `mix` the term of θ.
    """
    out.parts[1] += times * mix
    for k in range(work.exact.shape[0]):
        out.log_theta[k] += times * work.exact[k]
        work.exact[k] = math.exp(work.exact[k])
    mixture(rows, padded, work.exact, work.exact_norm)
    add_responsibilities(
        words_here, counts_here, times, table, rows, work.exact, work.exact_norm, out.word_topic
    )
    log_in_place(work.exact_norm, padded, work.bits)
    for j in range(words_here.shape[0]):
        value = times * work.exact_norm[j]
        out.parts[0] += weight[j] * value
        out.word_log_likelihood[words_here[j]] += counts_here[j] * value


@kernel
def _infer_documents(corpus, words, prior, coef, family, concentration, budget, work, out):
    n_topics = prior.shape[0]
    prior_normaliser = dirichlet_log_normaliser(prior)
    work, corpus, words, out = borrowed(work), borrowed(corpus), borrowed(words), borrowed(out)
    prior, coef, concentration = borrowed(prior), borrowed(coef), borrowed(concentration)
    weight = work.weight
    for d in range(concentration.shape[0]):
        lo = corpus.indptr[d]
        n = corpus.indptr[d + 1] - lo
        words_here, counts_here = corpus.indices[lo : lo + n], corpus.counts[lo : lo + n]
        times, gamma = corpus.doc_weight[d], concentration[d]
        # Rows are contiguous, so that a document fits the first-level cache.
        padded = multiple_of(_VECTOR, n)
        rows = work.rows[: n_topics * padded].reshape((n_topics, padded))
        pad_document(rows, weight, n, padded)
        target = LocalTarget(corpus.target[d], corpus.target_weight[d], corpus.offset[d], coef)
        gather_document(words_here, counts_here, words.table, words.multiplicity, rows, weight)
        out.parts[3] += infer_document(
            rows, weight, padded, prior, family, target, gamma, budget, work
        )
        if not budget.with_bound:
            exp_digamma(gamma, work.e)  # a common factor cancels in responsibilities
            mixture(rows, padded, work.e, work.norm)
            add_responsibilities(
                words_here, counts_here, times, words.table, rows, work.e, work.norm, out.word_topic
            )
            continue
        mix = theta_objective(prior, gamma, work.exact) - prior_normaliser
        table = words.table
        add_bound(rows, weight, padded, words_here, counts_here, times, mix, table, work, out)
        if family is not None and has_target(target.weight):
            out.parts[2] += times * expected_target(family, target, gamma, work.moments)


def infer_documents(
    corpus: LocalCorpus,
    words: WordTable,
    prior: np.ndarray,
    coef: np.ndarray,
    family: Any,
    concentration: np.ndarray,
    budget: LocalBudget,
    out: LocalStats,
) -> None:
    """Infer some documents, update their γ in place and add their statistics to `out`.

    `coef` is predictors x topics; `family` is None where no document has a target.

    out.word_topic[v,k] += c_dv r_dvk and out.word_log_likelihood[v] += c_dv log Σ_k W_vk e_dk have
    weight one whatever the inclusion of the word, so that dropped words have topics as well and can
    be selected again. out.log_theta[k] += E[log θ_dk]; out.parts += (words, θ, target, steps), of
    which the first three add up to Σ_d L(γ_d). Without `budget.with_bound` only word_topic and the
    steps are added.
    """
    work = local_work(len(prior), longest_document(corpus.indptr), len(coef), words.table.dtype)
    _infer_documents(corpus, words, prior, coef, family, concentration, budget, work, out)


def longest_document(indptr: np.ndarray) -> int:
    """The largest number of distinct words of a document."""
    return int(np.diff(indptr).max(initial=1))


def local_work(n_topics: int, longest: int, n_predictors: int, dtype: Any) -> LocalWork:
    """Work arrays for documents of up to `longest` words, in the precision of the word table."""
    longest = -(-longest // _VECTOR) * _VECTOR
    return LocalWork(
        rows=work_array(n_topics * longest, dtype=dtype),
        weight=work_array(longest, dtype=dtype),
        e=work_array(n_topics, dtype=dtype),
        norm=work_array(longest, dtype=dtype),
        exact=work_array(n_topics),
        exact_norm=work_array(longest),
        sums=work_array(n_topics),
        slope=work_array(n_topics),
        start=work_array(n_topics),
        bits=work_array(longest, dtype=np.int64),
        moments=work_array(4, n_predictors),
    )
