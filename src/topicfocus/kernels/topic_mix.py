"""The topic mix of a document from its words alone: a strictly concave problem, by Newton.

    θ̂ = argmax_θ  f(θ) = Σ_v c_v m_v log(W_v·θ) + Σ_k a_k log θ_k   on the simplex.

The exponent of θ_k is a_k, not a_k - 1: this is the posterior mode in the softmax basis, as in the
paper's code, and it keeps θ̂ off the boundary. Newton runs in the scaled step x, θ ← θ∘(1 + t x)
(θ/(1 - t x) where x < 0: the same to first order, and always positive). Its matrix
R diag(c m) Rᵀ + diag(a), r the responsibilities, stays well conditioned when a θ_k is tiny. At
the optimum θ̂_k = (a_k + Σ_v c m r_vk) / (Σ_k a_k + Σ_v c m).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from topicfocus.kernels.compile import kernel
from topicfocus.kernels.special import log_in_place
from topicfocus.kernels.word_sums import gather_document, mixture

#: Where the first Newton step is long; see `map_document`.
_FIXED_POINT_ROUNDS = 2
#: A fixed-point round that moves θ by less than this ends the rounds.
_NEAR = 0.01
#: A step that changes no θ_k by more than this share changes no W_v·θ by more either, and so the
#: curvature along it by less than a quarter: the full step raises f, no line search needed.
_SHORT = 0.1
#: Newton decrement, relative to the document's size, below which rounding may be all that is left.
_ROUNDING = 1e-7


#: Words that LLVM's loops over a document take at a time (4 registers of 4).
MIX_VECTOR = 16


class MixWork(NamedTuple):
    """Scratch of one thread."""

    norm: np.ndarray
    bend: np.ndarray
    bits: np.ndarray
    gradient: np.ndarray
    step: np.ndarray
    trial: np.ndarray
    along: np.ndarray
    matrix: np.ndarray


@kernel
def mix_work(n_topics, longest):
    """Scratch for documents of up to `longest` words."""
    return MixWork(
        np.empty(longest),
        np.empty(longest),
        np.empty(longest, dtype=np.int64),
        np.empty(n_topics),
        np.empty(n_topics),
        np.empty(n_topics),
        np.empty(n_topics),
        np.empty((n_topics, n_topics)),
    )


@kernel
def mix_value(rows, weight, n, prior, theta, work):
    """f(θ)."""
    mixture(rows, n, theta, work.norm)
    log_in_place(work.norm, n, work.bits)
    value = 0.0
    for j in range(n):
        value += weight[j] * work.norm[j]
    for k in range(prior.shape[0]):
        value += prior[k] * math.log(theta[k])
    return value


@kernel
def factorise(matrix):
    """Cholesky factor of a positive definite matrix, in place (lower triangle).

    Its diagonal is left inverted, so that neither this nor solving divides more than once a row.
    """
    size = matrix.shape[0]
    for j in range(size):
        total = matrix[j, j]
        for l in range(j):
            total -= matrix[j, l] * matrix[j, l]
        inverse = 1.0 / math.sqrt(max(total, 1e-300))
        matrix[j, j] = inverse
        for i in range(j + 1, size):
            total = matrix[i, j]
            for l in range(j):
                total -= matrix[i, l] * matrix[j, l]
            matrix[i, j] = total * inverse


@kernel
def solve_factorised(factor, x):
    """x ← (L Lᵀ)⁻¹ x, with 1/L_ii on the diagonal of `factor`."""
    size = factor.shape[0]
    for i in range(size):
        total = x[i]
        for l in range(i):
            total -= factor[i, l] * x[l]
        x[i] = total * factor[i, i]
    for i in range(size - 1, -1, -1):
        total = x[i]
        for l in range(i + 1, size):
            total -= factor[l, i] * x[l]
        x[i] = total * factor[i, i]


@kernel
def fixed_point_gradient(rows, weight, n, prior, theta, work):
    """work.gradient = θ∘∇f = a + Σ_v c m r_v; leaves c m / (W_v·θ) in work.norm."""
    mixture(rows, n, theta, work.norm)
    for j in range(n):
        work.norm[j] = weight[j] / work.norm[j]
    for k in range(prior.shape[0]):
        total = 0.0
        for j in range(n):
            total += rows[k, j] * work.norm[j]
        work.gradient[k] = prior[k] + total * theta[k]


@kernel
def scaled_curvature(rows, weight, n, prior, theta, work):
    """work.gradient = θ∘∇f and work.matrix = -θθᵀ∘∇²f = R diag(c m) Rᵀ + diag(a)."""
    n_topics = prior.shape[0]
    mixture(rows, n, theta, work.norm)
    for j in range(n):
        inverse = 1.0 / work.norm[j]
        work.norm[j] = weight[j] * inverse
        work.bend[j] = weight[j] * inverse * inverse
    for k in range(n_topics):
        total = 0.0
        for j in range(n):
            total += rows[k, j] * work.norm[j]
        work.gradient[k] = prior[k] + total * theta[k]
        for l in range(k + 1):
            total = 0.0
            for j in range(n):
                total += rows[k, j] * rows[l, j] * work.bend[j]
            work.matrix[k, l] = total * theta[k] * theta[l]
        work.matrix[k, k] += prior[k]


@kernel
def fixed_point(rows, weight, n, prior, theta, work):
    """Up to two rounds of θ ← (a + Σ_v c m r_v)/(Σ a + Σ c m)."""
    for _ in range(_FIXED_POINT_ROUNDS):
        fixed_point_gradient(rows, weight, n, prior, theta, work)
        total = 0.0
        for k in range(prior.shape[0]):
            total += work.gradient[k]
        change = 0.0
        for k in range(prior.shape[0]):
            change = max(change, abs(work.gradient[k] / total - theta[k]))
            theta[k] = work.gradient[k] / total
        if change < _NEAR:
            break


# long: one iteration with four ways to end; parts of it would have to return which one it was.
@kernel
def map_document(rows, weight, n, prior, theta, budget, work):  # noqa: C901
    """Newton with a line search from the θ given, in place. Returns the number of steps.

    Short steps are taken in full (`_SHORT`). Where the first step is long, θ is far from the
    optimum, and up to two rounds of the fixed point are made instead: they cost less than a Newton
    step and are nearly as good there. A long step is halved until f rises. Stops when the Newton
    decrement (twice the rise still to be had) was below tolerance² relative to the document's
    size, after a last step; work.matrix then holds the factor of the curvature just before it.
    """
    n_topics = prior.shape[0]
    if n_topics == 1:
        theta[0] = 1.0
        return 1
    size = 0.0
    for j in range(n):
        size += weight[j]
    for k in range(n_topics):
        size += prior[k]
    taken = 0
    moved = False
    last = math.inf
    value = math.nan  # f(θ), when a line search first needs it
    for _ in range(budget.max_steps):
        scaled_curvature(rows, weight, n, prior, theta, work)
        factorise(work.matrix)
        # Newton's step on the tangent plane Σ_k θ_k x_k = 0.
        along = 0.0
        across = 0.0
        for k in range(n_topics):
            work.step[k] = work.gradient[k]
            work.along[k] = theta[k]
        solve_factorised(work.matrix, work.step)
        solve_factorised(work.matrix, work.along)
        for k in range(n_topics):
            along += theta[k] * work.step[k]
            across += theta[k] * work.along[k]
        decrement = 0.0
        longest = 0.0
        for k in range(n_topics):
            work.step[k] -= along / across * work.along[k]
            # The gradient along the plane: size·θ would add Σ_k θ_k x_k = 0, but not in floats.
            decrement += work.step[k] * (work.gradient[k] - size * theta[k])
            longest = max(longest, abs(work.step[k]))
        if longest > _SHORT and not moved:
            moved = True
            fixed_point(rows, weight, n, prior, theta, work)
            continue
        moved = True
        taken += 1
        if longest <= _SHORT:
            total = 0.0
            for k in range(n_topics):
                theta[k] *= 1.0 + work.step[k]
                total += theta[k]
            for k in range(n_topics):
                theta[k] /= total
            stalled = decrement <= _ROUNDING * size and decrement > 0.1 * last
            if decrement <= budget.tolerance * budget.tolerance * size or stalled:
                break  # done, or down to rounding
            last = decrement
            value = math.nan
            continue
        if math.isnan(value):
            value = mix_value(rows, weight, n, prior, theta, work)
        rate = 1.0
        rose = False
        for _ in range(40):
            total = 0.0
            for k in range(n_topics):
                x = rate * work.step[k]
                work.trial[k] = theta[k] * (1.0 + x) if x > 0.0 else theta[k] / (1.0 - x)
                total += work.trial[k]
            for k in range(n_topics):
                work.trial[k] /= total
            after = mix_value(rows, weight, n, prior, work.trial, work)
            if after > value:
                value = after
                rose = True
                break
            rate *= 0.5
        if not rose:
            break
        for k in range(n_topics):
            theta[k] = work.trial[k]
    return taken


@kernel
def pad_document(rows, weight, n):
    """Words of weight zero up to a whole number of vectors; returns that number.

    Without them every loop over the words of a document has a remainder to do one by one.
    """
    padded = (n + MIX_VECTOR - 1) // MIX_VECTOR * MIX_VECTOR
    for j in range(n, padded):
        weight[j] = 0.0
        for k in range(rows.shape[0]):
            rows[k, j] = 1.0
    return padded


@kernel
def included_words(words, counts, multiplicity, here, often):
    """Copy the words of a document with m_v > 0 and their counts; returns how many they are."""
    n = 0
    for j in range(words.shape[0]):
        if multiplicity[words[j]] > 0.0:
            here[n] = words[j]
            often[n] = counts[j]
            n += 1
    return n


@kernel
def map_documents(first, last, indptr, indices, counts, words, prior, theta, budget, steps):
    """θ̂ of documents first..last-1, written into `theta`; steps[0] counts Newton steps."""
    n_topics = prior.shape[0]
    longest = 1
    for d in range(first, last):
        longest = max(longest, indptr[d + 1] - indptr[d])
    longest += MIX_VECTOR
    rows = np.empty((n_topics, longest))
    weight = np.empty(longest)
    work = mix_work(n_topics, longest)
    here = np.empty(longest, dtype=indices.dtype)
    often = np.empty(longest)
    for d in range(first, last):
        n = included_words(
            indices[indptr[d] : indptr[d + 1]],
            counts[indptr[d] : indptr[d + 1]],
            words.multiplicity,
            here,
            often,
        )
        gather_document(here[:n], often[:n], words.table, words.multiplicity, rows, weight)
        n = pad_document(rows, weight, n)
        steps[0] += map_document(rows, weight, n, prior, theta[d], budget, work)
