"""The constrained objective of a document and its exact gradient, by implicit differentiation.

θ̂ is a function of the document's words: the maximiser of
f(θ) = Σ_v c m log(W_v·θ) + Σ_k a_k log θ_k (`kernels.proportions`). The objective of a document is

    J_d = Σ_t w_t log p(y_t | o + ηᵀθ̂) + f(θ̂).

f is stationary at θ̂, so only the derivative of the first term depends on how θ̂ moves. Let
g = Σ_l s_l η_l, s_l being the derivative of the first term in predictor l, H = -∇²f(θ̂), and u the
solution of [H 1; 1ᵀ 0][u; μ] = [g; 0]. With n = W_v·θ̂ and z = (W_v·u)/n the chain rule gives

    ∂J_d/∂log W_vk = (c m / n) W_vk (θ̂_k + u_k - z θ̂_k).
"""

from __future__ import annotations

import math
from collections import namedtuple
from typing import Any, NamedTuple

import numpy as np

from topicfocus.counts import Rows
from topicfocus.families.base import row_log_likelihood
from topicfocus.families.multiple import Multiple
from topicfocus.kernels.compile import borrowed, inlined, kernel, work_array
from topicfocus.kernels.curvature import (
    FEW_TOPICS,
    VECTOR,
    factorise_curvature,
    newton_work,
    solve_curvature,
    sum_words,
    words_to_solve,
)
from topicfocus.kernels.local import (
    LocalBudget,
    LocalCorpus,
    WordTable,
    has_target,
    longest_document,
)
from topicfocus.kernels.proportions import included_words, map_document
from topicfocus.kernels.special import log_in_place
from topicfocus.kernels.word_sums import gather_document, mixture, multiple_of, pad_document

#: Relative change √Σ_k Δθ_k²/θ_k of θ̂ since its curvature was factorised. Up to the first limit
#: the factor is used as it is; up to the second a solution is refined, with many topics (with few,
#: a new factor takes no longer); beyond it the curvature is factorised again. The relative error of
#: the gradient, with 5, 20 and 50 topics on Yelp: 1e-4, and 1e-3 for its part through θ̂.
_SAME, _NEAR = 1e-2, 0.15


class ConstrainedStats(NamedTuple):
    """Sums over documents: ∂J/∂log W_vk, and the terms of J (words, prior, target)."""

    word_topic: np.ndarray
    parts: np.ndarray


#: Work arrays of one thread besides those of Newton's method: a document (`rows`, topics x words,
#: and `weight`), its included words and their counts, and what follows from θ̂.
ConstrainedWork = namedtuple(
    "ConstrainedWork", "rows weight words counts z slope response logs bits predictor"
)


@inlined
def response_at_mode(slope, rows, weight, n, norm, theta, prior, over, work, z, out):
    """out = u, the response of θ̂ to the gradient g = `slope`, from the factor of the curvature M.

    In the scaled variable u = θ∘x the system is M x = θ∘g - μθ with Σ_k θ_k x_k = 0. At θ̂,
    M 1 = θ Σ_k g_k, so M⁻¹θ is a constant and x is M⁻¹(θ∘g) minus its mean under θ. `work` has the
    factor of the curvature M̃ at Newton's last θ. Each round adds M̃⁻¹ (θ∘g - M x) to x, where

        M x = a∘x + θ∘Σ_v W_v (c m / n²) W_v·(θ∘x),

    and multiplies the error by about twice the relative change of θ. `norm` is W_v·θ, `z` scratch.
    """
    n_topics = theta.shape[0]
    moved = 0.0
    for k in range(n_topics):
        change = theta[k] - work.mix[k]
        moved += change * change / work.mix[k]
    moved = math.sqrt(moved)
    if n_topics == 1 or not moved <= (_SAME if n_topics < FEW_TOPICS else _NEAR):
        factorise_curvature(rows, weight, n, prior, theta, over, work)
        mixture(rows, n, theta, norm)  # the line before may overwrite it
        moved = 0.0
    left, step = work.along, work.step
    for k in range(n_topics):
        step[k] = 0.0
        left[k] = theta[k] * slope[k]
    error = 1.0
    while True:
        solve_curvature(rows, n, prior, over, work, left)
        for k in range(n_topics):
            step[k] += left[k]
        error *= 2.0 * moved
        if error <= 2.0 * _SAME:
            break
        for k in range(n_topics):
            left[k] = theta[k] * step[k]
        mixture(rows, n, left, z)
        for j in range(n):
            z[j] *= weight[j] / (norm[j] * norm[j])
        sum_words(rows, n, over, z, work.by_word, work.mine)
        for k in range(n_topics):
            left[k] = theta[k] * (slope[k] - work.mine[k]) - prior[k] * step[k]
    mean = 0.0
    for k in range(n_topics):
        mean += theta[k] * step[k]
    for k in range(n_topics):
        out[k] = theta[k] * (step[k] - mean)


@inlined
def target_slope(corpus, d, family, coef, mix, predictor, by_predictor, slope, out):
    """Add log p(y | f), f = o + η·θ̂, to `out`; returns whether the document has a target.

    Writes the derivatives in f to `by_predictor` and in θ̂ to `slope`.
    """
    target, importance = corpus.target[d], corpus.target_weight[d]
    for l in range(coef.shape[0]):
        by_predictor[l] = 0.0
        predictor[l] = corpus.offset[d, l]
        for k in range(mix.shape[0]):
            predictor[l] += coef[l, k] * mix[k]
    if not has_target(importance):
        return False
    value = row_log_likelihood(family, target, importance, predictor, by_predictor)
    out.parts[2] += corpus.doc_weight[d] * value
    for k in range(mix.shape[0]):
        slope[k] = 0.0
        for l in range(coef.shape[0]):
            slope[k] += by_predictor[l] * coef[l, k]
    return True


@inlined
def add_prior(mix, prior, times, logs, bits, out):
    """Add the term of the prior of θ̂ in J to `out`."""
    for k in range(mix.shape[0]):
        logs[k] = mix[k]
    log_in_place(logs, mix.shape[0], bits)
    for k in range(mix.shape[0]):
        out.parts[1] += times * prior[k] * logs[k]


@inlined
def add_words(words_here, times, table, rows, weight, padded, mix, response, z, work, out):
    """Add the terms of a document's words in J and its gradients to `out`; work.norm = β_v·θ̂.

    ∂J/∂log β_vk += c β_vk (θ̂_k + u_k - z θ̂_k)/(β_v·θ̂),  z = β_v·u / β_v·θ̂,  u = `response`.
    """
    mixture(rows, padded, response, z)
    n_topics = mix.shape[0]
    for j in range(words_here.shape[0]):
        v = words_here[j]
        ratio = z[j] / work.norm[j]
        scale = times * weight[j] / work.norm[j]
        # The table, not its copy, because there the topics of a word are contiguous.
        row, sums, rest = table[v], out.word_topic[v], 1.0 - ratio
        for k in range(n_topics):
            sums[k] += scale * row[k] * (response[k] + rest * mix[k])
    log_in_place(work.norm, padded, work.bits)
    for j in range(words_here.shape[0]):
        out.parts[0] += times * weight[j] * work.norm[j]


@kernel
def _constrained_documents(
    gradients, corpus, words, prior, coef, family, theta, by_predictor, budget, many, work, own, out
):
    corpus, words, out = borrowed(corpus), borrowed(words), borrowed(out)
    prior, coef, theta = borrowed(prior), borrowed(coef), borrowed(theta)
    work, own, by_predictor = borrowed(work), borrowed(own), borrowed(by_predictor)
    rows, weight, slope, response = own.rows, own.weight, own.slope, own.response
    for d in range(theta.shape[0]):
        lo, hi = corpus.indptr[d], corpus.indptr[d + 1]
        words_here, counts_here, mix = corpus.indices[lo:hi], corpus.counts[lo:hi], theta[d]
        if not gradients:
            n = included_words(words_here, counts_here, words.multiplicity, own.words, own.counts)
            words_here, counts_here = own.words[:n], own.counts[:n]
        gather_document(words_here, counts_here, words.table, words.multiplicity, rows, weight)
        padded = multiple_of(VECTOR, words_here.shape[0])
        pad_document(rows, weight, words_here.shape[0], padded)
        over = None
        if many is not None:
            over = words_to_solve(rows, weight, padded, prior, work.by_word)
        map_document(rows, weight, padded, prior, mix, budget, over, work)
        if not gradients:
            continue
        mixture(rows, padded, mix, work.norm)
        for k in range(prior.shape[0]):
            response[k] = 0.0
        if target_slope(corpus, d, family, coef, mix, own.predictor, by_predictor[d], slope, out):
            response_at_mode(
                slope, rows, weight, padded, work.norm, mix, prior, over, work, own.z, response
            )
        times = corpus.doc_weight[d]
        add_prior(mix, prior, times, own.logs, own.bits, out)
        add_words(
            words_here, times, words.table, rows, weight, padded, mix, response, own.z, work, out
        )


def constrained_documents(
    gradients: bool,
    corpus: LocalCorpus,
    words: WordTable,
    prior: np.ndarray,
    coef: np.ndarray,
    family: Any,
    theta: np.ndarray,
    by_predictor: np.ndarray,
    budget: LocalBudget,
    out: ConstrainedStats,
) -> None:
    """Find θ̂ of some documents, in place, from the θ given.

    With `gradients`, also add the values and gradients of J_d to `out`, and set row d of
    `by_predictor` to the derivatives of log p(y_d | f) in the predictors: with θ̂, the gradients in
    η, b and ζ follow from these. Without, words of m_v = 0 are left out. `coef` is predictors x
    topics.

    This is one kernel because most of its code is needed with and without gradients. The factor
    over words is compiled for many topics only.
    """
    n_topics, longest = len(prior), longest_document(corpus.indptr) + VECTOR
    own = ConstrainedWork(
        rows=work_array(n_topics, longest),
        weight=work_array(longest),
        words=work_array(longest, dtype=corpus.indices.dtype),
        counts=work_array(longest),
        z=work_array(longest),
        slope=work_array(n_topics),
        response=work_array(n_topics),
        logs=work_array(n_topics),
        bits=work_array(n_topics, dtype=np.int64),
        predictor=work_array(len(coef)),
    )
    many = None if n_topics < FEW_TOPICS else True
    _constrained_documents(
        gradients, corpus, words, prior, coef, family, theta, by_predictor, budget, many,
        newton_work(n_topics, longest), own, out,
    )  # fmt: skip


def map_documents(
    rows: Rows, words: WordTable, prior: np.ndarray, theta: np.ndarray, budget: LocalBudget
) -> None:
    """θ̂ of some documents, in place of `theta`."""
    # Arguments of the same types as with gradients, so that the kernel is compiled once.
    table, vector = np.empty((0, 0)), np.empty(0)
    corpus = LocalCorpus(*rows, table, table, table, vector)
    out = ConstrainedStats(table, vector)
    coef = np.empty((0, len(prior)))
    constrained_documents(False, corpus, words, prior, coef, _NO_TARGETS, theta, coef, budget, out)


_NO_TARGETS = Multiple.of([])
