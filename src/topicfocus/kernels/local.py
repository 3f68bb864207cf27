"""Local inference of the joint objective for one document: q(θ) = Dirichlet(γ) given its words.

Responsibilities are a closed form of γ, so they are recomputed and never stored. With
e_k = exp(E_q[log θ_k]) and a word's row of weights W_v (β_v for the tight bound and for sLDA,
β_v^{φ_v} for the paper's bound), the collapsed objective of a document is

    L(γ) = -log B(α) + log B(γ) + Σ_k (α_k - γ_k) E[log θ_k]
           + Σ_v c_v m_v log Σ_k W_vk e_k + Σ_t w_t E_q[log p(y_t | f)],   f_l = o_l + η_l·θ,

m_v the word's multiplicity (φ_v for the tight bound, else 1), w_t the weight of target t and o the
document's offsets. Rows of W are scaled to a largest entry of one; the scale is a constant of the
corpus, added outside. The expected log-likelihood is the family's `row_expectation` at μ_l, ν_l,
the mean and variance of f_l: exact for a Gaussian target, a lower bound for most others.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from topicfocus.families.operations import row_expectation
from topicfocus.kernels.compile import kernel
from topicfocus.kernels.special import (
    digamma,
    dirichlet_log_normaliser,
    exp_digamma,
    log_in_place,
    trigamma,
)

#: Keeps a word that no topic can explain from dividing by zero (representable in single precision).
_TINY = np.float32(1e-30)
#: Words that LLVM's loops over a document take at a time in single precision (4 registers of 8).
_VECTOR = 32
#: Below this many topics a plain loop over them is faster than setting up SIMD.
_FEW_TOPICS = 12
#: Up to this many topics, everything a step does with a document's words fits one loop over them.
ONE_LOOP_TOPICS = 8


class LocalCorpus(NamedTuple):
    """The counts of a corpus in CSR form, and what each document has besides words.

    target, target_weight: documents x targets; offset: documents x predictors; doc_weight: how
    many documents each stands for in the statistics.
    """

    indptr: np.ndarray
    indices: np.ndarray
    counts: np.ndarray
    target: np.ndarray
    target_weight: np.ndarray
    offset: np.ndarray
    doc_weight: np.ndarray


class WordTable(NamedTuple):
    """What local inference needs of the words: rows W_v (largest entry one) and m_v."""

    table: np.ndarray
    multiplicity: np.ndarray


class LocalTarget(NamedTuple):
    """A document's targets y, their weights w, its offsets o, and η (predictors x topics)."""

    value: np.ndarray
    weight: np.ndarray
    offset: np.ndarray
    coef: np.ndarray


class LocalBudget(NamedTuple):
    """When to stop: a number of steps, or a relative change of γ (mean absolute) below that.

    `with_bound` also asks for the parts of the bound and for the words' evidence.
    """

    max_steps: int
    tolerance: float
    with_bound: bool = True


class LocalWork(NamedTuple):
    """Scratch of one thread. e, norm: in the table's precision; the rest in double.

    moments: 4 x predictors: μ, ν and the derivatives in them.
    """

    e: np.ndarray
    norm: np.ndarray
    exact: np.ndarray
    exact_norm: np.ndarray
    sums: np.ndarray
    push: np.ndarray
    start: np.ndarray
    bits: np.ndarray
    moments: np.ndarray


class LocalStats(NamedTuple):
    """Where `infer_documents` adds the statistics of its documents."""

    word_topic: np.ndarray
    word_evidence: np.ndarray
    log_theta: np.ndarray
    parts: np.ndarray


@kernel
def mixture(rows, n, e, out):
    """out_j = Σ_k rows_kj e_k for the n words of a document.

    A document's weights are stored topics x words, so that SIMD runs over its words whatever the
    number of topics; four topics at a time keep `out` in registers.
    """
    n_topics = e.shape[0]
    whole = n_topics - n_topics % 4
    for j in range(n):
        out[j] = _TINY
    for k in range(0, whole, 4):
        e0, e1, e2, e3 = e[k], e[k + 1], e[k + 2], e[k + 3]
        r0, r1, r2, r3 = rows[k], rows[k + 1], rows[k + 2], rows[k + 3]
        for j in range(n):
            out[j] += r0[j] * e0 + r1[j] * e1 + r2[j] * e2 + r3[j] * e3
    for k in range(whole, n_topics):
        e0 = e[k]
        r0 = rows[k]
        for j in range(n):
            out[j] += r0[j] * e0


@kernel
def topic_sums(rows, weight, n, e, norm, out):
    """out_k = Σ_j weight_j r_kj,  r_kj = rows_kj e_k / Σ_l rows_lj e_l; `norm` is scratch."""
    if e.shape[0] == 5:  # the paper's number, and the default
        _sums_of_five(rows, weight, n, e, out)
    elif e.shape[0] <= ONE_LOOP_TOPICS:
        _sums_of_few(rows, weight, n, e, out)
    else:
        _sums_of_many(rows, weight, n, e, norm, out)


@kernel
def _sums_of_five(rows, weight, n, e, out):
    """One loop instead of six: its set-up costs as much as its work when topics are few."""
    r0, r1, r2, r3, r4 = rows[0], rows[1], rows[2], rows[3], rows[4]
    e0, e1, e2, e3, e4 = e[0], e[1], e[2], e[3], e[4]
    zero = e.dtype.type(0)
    s0, s1, s2, s3, s4 = zero, zero, zero, zero, zero
    for j in range(n):
        mixed = r0[j] * e0 + r1[j] * e1 + r2[j] * e2 + r3[j] * e3 + r4[j] * e4
        scale = weight[j] / (mixed + _TINY)
        s0 += r0[j] * scale
        s1 += r1[j] * scale
        s2 += r2[j] * scale
        s3 += r3[j] * scale
        s4 += r4[j] * scale
    out[0] = s0 * e0
    out[1] = s1 * e1
    out[2] = s2 * e2
    out[3] = s3 * e3
    out[4] = s4 * e4


@kernel
def _sums_of_few(rows, weight, n, e, out):
    """The same for up to eight topics; those that are missing repeat the last with e = 0."""
    last = e.shape[0] - 1
    zero = e.dtype.type(0)
    r0, r1, r2, r3 = rows[0], rows[min(1, last)], rows[min(2, last)], rows[min(3, last)]
    r4, r5, r6, r7 = rows[min(4, last)], rows[min(5, last)], rows[min(6, last)], rows[min(7, last)]
    e0 = e[0]
    e1 = e[1] if last >= 1 else zero
    e2 = e[2] if last >= 2 else zero
    e3 = e[3] if last >= 3 else zero
    e4 = e[4] if last >= 4 else zero
    e5 = e[5] if last >= 5 else zero
    e6 = e[6] if last >= 6 else zero
    e7 = e[7] if last >= 7 else zero
    s0, s1, s2, s3, s4, s5, s6, s7 = zero, zero, zero, zero, zero, zero, zero, zero
    for j in range(n):
        mixed = r0[j] * e0 + r1[j] * e1 + r2[j] * e2 + r3[j] * e3
        mixed += r4[j] * e4 + r5[j] * e5 + r6[j] * e6 + r7[j] * e7
        scale = weight[j] / (mixed + _TINY)
        s0 += r0[j] * scale
        s1 += r1[j] * scale
        s2 += r2[j] * scale
        s3 += r3[j] * scale
        s4 += r4[j] * scale
        s5 += r5[j] * scale
        s6 += r6[j] * scale
        s7 += r7[j] * scale
    sums = (s0 * e0, s1 * e1, s2 * e2, s3 * e3, s4 * e4, s5 * e5, s6 * e6, s7 * e7)
    for k in range(last + 1):
        out[k] = sums[k]


@kernel
def _sums_of_many(rows, weight, n, e, norm, out):
    n_topics = e.shape[0]
    whole = n_topics - n_topics % 4
    mixture(rows, n, e, norm)
    for j in range(n):
        norm[j] = weight[j] / norm[j]
    zero = e.dtype.type(0)
    for k in range(0, whole, 4):
        r0, r1, r2, r3 = rows[k], rows[k + 1], rows[k + 2], rows[k + 3]
        s0, s1, s2, s3 = zero, zero, zero, zero
        for j in range(n):
            scale = norm[j]
            s0 += r0[j] * scale
            s1 += r1[j] * scale
            s2 += r2[j] * scale
            s3 += r3[j] * scale
        out[k] = s0 * e[k]
        out[k + 1] = s1 * e[k + 1]
        out[k + 2] = s2 * e[k + 2]
        out[k + 3] = s3 * e[k + 3]
    for k in range(whole, n_topics):
        r0 = rows[k]
        s0 = zero
        for j in range(n):
            s0 += r0[j] * norm[j]
        out[k] = s0 * e[k]


@kernel
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


@kernel
def expected_target(family, target, concentration, moments):
    """Σ_t w_t E[log p(y_t | f)]; leaves μ, ν and the derivatives in them in the rows of moments."""
    for l in range(target.coef.shape[0]):
        mean, variance = target_moments(concentration, target.coef[l])
        moments[0, l] = mean + target.offset[l]
        moments[1, l] = variance
    return row_expectation(
        family, target.value, target.weight, moments[0], moments[1], moments[2], moments[3]
    )


@kernel
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


@kernel
def target_natural_gradient(family, target, concentration, moments, out):
    """out = F⁻¹ ∇_γ of the target's part, F = diag ψ'(γ) - ψ'(γ₀)11ᵀ, by Sherman-Morrison."""
    n_topics = concentration.shape[0]
    if n_topics == 1:  # θ = 1 for certain: nothing to gain, and F is zero
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


@kernel
def has_target(weight):
    """Whether any of a document's targets is known."""
    for t in range(weight.shape[0]):  # noqa: SIM110 (compiled code has no generators)
        if weight[t] > 0.0:
            return True
    return False


@kernel
def mix_objective(prior, concentration, log_theta):
    """-log B(α) + log B(γ) + Σ_k (α_k - γ_k) E[log θ_k]; writes E[log θ] into `log_theta`."""
    return mix_objective_less_prior(prior, concentration, log_theta) - dirichlet_log_normaliser(
        prior
    )


@kernel
def mix_objective_less_prior(prior, concentration, log_theta):
    """The same without -log B(α), which is one number for all documents."""
    total = 0.0
    for k in range(prior.shape[0]):
        total += concentration[k]
    log_total = digamma(total)
    value = dirichlet_log_normaliser(concentration)
    for k in range(prior.shape[0]):
        log_theta[k] = digamma(concentration[k]) - log_total
        value += (prior[k] - concentration[k]) * log_theta[k]
    return value


@kernel
def document_objective(rows, weight, n, prior, concentration, family, target, work):
    """L(γ), up to the scale of the rows."""
    value = mix_objective(prior, concentration, work.exact)
    for k in range(prior.shape[0]):
        work.exact[k] = math.exp(work.exact[k])
    mixture(rows, n, work.exact, work.exact_norm)
    log_in_place(work.exact_norm, n, work.bits)
    for j in range(n):
        value += weight[j] * work.exact_norm[j]
    return value + expected_target(family, target, concentration, work.moments)


@kernel
def infer_document(rows, weight, n, prior, family, target, concentration, budget, work):
    """Maximise L(γ) from the γ given, in place. Returns the number of steps taken.

    Without a target, γ ← α + Σ_v c m r is coordinate ascent in (γ, r) and cannot lower L. With
    one, the natural gradient of the target is added to it; the full step is tried for all
    steps, and only if L ended lower than it began (rare) is the document done again with steps
    halved until each of them rises. So one pass of a coordinate solver never lowers the bound.
    """
    n_topics = prior.shape[0]
    supervised = has_target(target.weight) and n_topics > 1  # one topic: θ = 1 whatever y
    before = 0.0
    if supervised:
        for k in range(n_topics):
            work.start[k] = concentration[k]
        before = document_objective(rows, weight, n, prior, concentration, family, target, work)
    taken = 0
    for _ in range(budget.max_steps):
        exp_digamma(concentration, work.e)
        topic_sums(rows, weight, n, work.e, work.norm, work.sums)
        if supervised:
            target_natural_gradient(family, target, concentration, work.moments, work.push)
        change = 0.0
        size = 0.0
        for k in range(n_topics):
            new = prior[k] + work.sums[k]
            if supervised:
                # A step may not cross zero, nor shrink γ_k by more than a factor of ten.
                new = max(new + work.push[k], 0.1 * concentration[k])
            change += abs(new - concentration[k])
            size += new
            concentration[k] = new
        taken += 1
        if change <= budget.tolerance * size:
            break
    if supervised:
        after = document_objective(rows, weight, n, prior, concentration, family, target, work)
        if not after >= before:  # also true for NaN
            for k in range(n_topics):
                concentration[k] = work.start[k]
            taken += _infer_carefully(
                rows, weight, n, prior, family, target, concentration, budget, work, before
            )
    return taken


@kernel
def _infer_carefully(rows, weight, n, prior, family, target, concentration, budget, work, before):
    """Natural-gradient ascent with halved steps: every accepted step raises L(γ)."""
    n_topics = prior.shape[0]
    taken = 0
    for _ in range(budget.max_steps):
        exp_digamma(concentration, work.e)
        topic_sums(rows, weight, n, work.e, work.norm, work.sums)
        target_natural_gradient(family, target, concentration, work.moments, work.push)
        for k in range(n_topics):
            work.start[k] = concentration[k]
            work.push[k] += prior[k] + work.sums[k] - concentration[k]
        rate = 1.0
        rose = False
        for _ in range(30):
            for k in range(n_topics):
                concentration[k] = max(work.start[k] + rate * work.push[k], 0.1 * work.start[k])
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


@kernel
def gather_document(words, counts, table, multiplicity, rows, weight):
    """Copy a document's rows of the word table side by side, topics x words, and c·m.

    Eight words at a time, so that what is written to a topic's row is one run of memory.
    """
    n = words.shape[0]
    whole = n - n % 8
    for j in range(n):
        weight[j] = counts[j] * multiplicity[words[j]]
    for j in range(0, whole, 8):
        t0, t1 = table[words[j]], table[words[j + 1]]
        t2, t3 = table[words[j + 2]], table[words[j + 3]]
        t4, t5 = table[words[j + 4]], table[words[j + 5]]
        t6, t7 = table[words[j + 6]], table[words[j + 7]]
        for k in range(table.shape[1]):
            row = rows[k]
            row[j] = t0[k]
            row[j + 1] = t1[k]
            row[j + 2] = t2[k]
            row[j + 3] = t3[k]
            row[j + 4] = t4[k]
            row[j + 5] = t5[k]
            row[j + 6] = t6[k]
            row[j + 7] = t7[k]
    for j in range(whole, n):
        for k in range(table.shape[1]):
            rows[k, j] = table[words[j], k]


@kernel
def add_responsibilities(words, counts, times, table, rows, e, norm, out):
    """out_vk += times c_j r_kj for the words v of a document; `norm` is their mixture."""
    n_topics = e.shape[0]
    for j in range(words.shape[0]):
        scale = times * counts[j] / norm[j]
        sums = out[words[j]]
        if n_topics < _FEW_TOPICS:
            for k in range(n_topics):
                sums[k] += scale * rows[k, j] * e[k]
        else:
            # The table again, not its copy: there a word's topics lie side by side.
            row = table[words[j]]
            for k in range(n_topics):
                sums[k] += scale * row[k] * e[k]


@kernel
def whole_vectors(n):
    """n rounded up to what the vectorised loops take at a time."""
    return (n + _VECTOR - 1) // _VECTOR * _VECTOR


@kernel
def infer_documents(first, last, corpus, words, prior, coef, family, concentration, budget, out):
    """Infer documents first..last-1, update their γ in place and add their statistics to `out`.

    `coef` is predictors x topics.

    out.word_topic[v,k] += c_dv r_dvk and out.word_evidence[v] += c_dv log Σ_k W_vk e_dk carry
    weight one whatever the word's inclusion: a dropped word keeps its counterfactual topic
    profile and can come back. out.log_theta[k] += E[log θ_dk]; out.parts += (words, mix, target,
    steps), the first three summing to Σ_d L(γ_d). Without `budget.with_bound` only word_topic and
    the steps are added.
    """
    n_topics = prior.shape[0]
    longest = 1
    for d in range(first, last):
        longest = max(longest, corpus.indptr[d + 1] - corpus.indptr[d])
    longest = whole_vectors(longest)
    prior_normaliser = dirichlet_log_normaliser(prior)
    kind = words.table.dtype
    scratch = np.empty(n_topics * longest, dtype=kind)
    weight = np.empty(longest, dtype=kind)
    work = LocalWork(
        np.empty(n_topics, dtype=kind),
        np.empty(longest, dtype=kind),
        np.empty(n_topics),
        np.empty(longest),
        np.empty(n_topics),
        np.empty(n_topics),
        np.empty(n_topics),
        np.empty(longest, dtype=np.int64),
        np.empty((4, coef.shape[0])),
    )
    for d in range(first, last):
        lo = corpus.indptr[d]
        n = corpus.indptr[d + 1] - lo
        times = corpus.doc_weight[d]
        gamma = concentration[d]
        # Packed, without gaps between topics: a document then fits the first-level cache. Padded
        # with words of weight zero, so that no loop has a remainder to do one by one.
        padded = whole_vectors(n)
        rows = scratch[: n_topics * padded].reshape((n_topics, padded))
        for j in range(n, padded):
            weight[j] = 0.0
            for k in range(n_topics):
                rows[k, j] = 1.0
        target = LocalTarget(corpus.target[d], corpus.target_weight[d], corpus.offset[d], coef)
        gather_document(
            corpus.indices[lo : lo + n],
            corpus.counts[lo : lo + n],
            words.table,
            words.multiplicity,
            rows,
            weight,
        )
        out.parts[3] += infer_document(
            rows, weight, padded, prior, family, target, gamma, budget, work
        )
        # Statistics at the final γ.
        words_here = corpus.indices[lo : lo + n]
        counts_here = corpus.counts[lo : lo + n]
        if not budget.with_bound:
            exp_digamma(gamma, work.e)  # responsibilities do not mind a common factor
            mixture(rows, padded, work.e, work.norm)
            add_responsibilities(
                words_here, counts_here, times, words.table, rows, work.e, work.norm, out.word_topic
            )
            continue
        # The bound in double precision.
        mix = mix_objective_less_prior(prior, gamma, work.exact) - prior_normaliser
        out.parts[1] += times * mix
        for k in range(n_topics):
            out.log_theta[k] += times * work.exact[k]
            work.exact[k] = math.exp(work.exact[k])
        mixture(rows, padded, work.exact, work.exact_norm)
        add_responsibilities(
            words_here,
            counts_here,
            times,
            words.table,
            rows,
            work.exact,
            work.exact_norm,
            out.word_topic,
        )
        log_in_place(work.exact_norm, padded, work.bits)
        for j in range(n):
            value = times * work.exact_norm[j]
            out.parts[0] += weight[j] * value
            out.word_evidence[words_here[j]] += counts_here[j] * value
        if has_target(target.weight):
            out.parts[2] += times * expected_target(family, target, gamma, work.moments)
