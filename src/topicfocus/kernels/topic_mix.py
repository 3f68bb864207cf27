"""The topic mix of a document from its words alone: a strictly concave problem, by Newton.

    θ̂ = argmax_θ  f(θ) = Σ_v c_v m_v log(W_v·θ) + Σ_k a_k log θ_k   on the simplex.

The exponent of θ_k is a_k, not a_k - 1: this is the posterior mode in the softmax basis, as in the
paper's code, and it keeps θ̂ off the boundary. Newton runs in the scaled step x, θ ← θ∘(1 + t x)
(θ/(1 - t x) where x < 0: the same to first order, and always positive); its matrix is that of
`kernels.curvature`. At the optimum θ̂_k = (a_k + Σ_v c m r_vk) / (Σ_k a_k + Σ_v c m).
"""

from __future__ import annotations

import math

import numpy as np

from topicfocus.kernels.compile import kernel
from topicfocus.kernels.curvature import (
    MIX_VECTOR,
    OVER_TOPICS,
    factorise,
    mix_work,
    scaled_curvature,
    solve_factorised,
    solve_over_words,
    whole,
    word_curvature,
    words_to_solve,
)
from topicfocus.kernels.scratch import ROOM, apart
from topicfocus.kernels.special import log_in_place
from topicfocus.kernels.word_sums import gather_document, mixture

#: Before Newton's first step; see `map_document`.
_FIXED_POINT_ROUNDS = 2
#: A fixed-point round that moves θ by less than this ends the rounds.
_NEAR = 0.01
#: A step that changes no θ_k by more than this share changes no W_v·θ by more either, and so the
#: curvature along it by less than a quarter: the full step raises f, no line search needed.
_SHORT = 0.1
#: Newton decrement, relative to the document's size, below which rounding may be all that is left.
_ROUNDING = 1e-7


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


# What runs at every step takes arrays, not `work`: a tuple of arrays is handed over one by one with
# their reference counts, and for five topics that cost as much as the arithmetic.


@kernel
def fixed_point_gradient(rows, weight, n, prior, theta, norm, gradient):
    """gradient = θ∘∇f = a + Σ_v c m r_v; leaves c m / (W_v·θ) in norm."""
    mixture(rows, n, theta, norm)
    for j in range(n):
        norm[j] = weight[j] / norm[j]
    for k in range(prior.shape[0]):
        total = 0.0
        for j in range(n):
            total += rows[k, j] * norm[j]
        gradient[k] = prior[k] + total * theta[k]


@kernel
def fixed_point(rows, weight, n, prior, theta, norm, gradient):
    """Up to two rounds of θ ← (a + Σ_v c m r_v)/(Σ a + Σ c m)."""
    for _ in range(_FIXED_POINT_ROUNDS):
        fixed_point_gradient(rows, weight, n, prior, theta, norm, gradient)
        total = 0.0
        for k in range(prior.shape[0]):
            total += gradient[k]
        change = 0.0
        for k in range(prior.shape[0]):
            change = max(change, abs(gradient[k] / total - theta[k]))
            theta[k] = gradient[k] / total
        if change < _NEAR:
            break


@kernel
def along_simplex(theta, gradient, step):
    """gradient = step = ρ = g - θ Σ_k g_k, what is left of g = θ∘∇f at the optimum: nothing."""
    total = 0.0
    for k in range(theta.shape[0]):
        total += gradient[k]
    for k in range(theta.shape[0]):
        gradient[k] -= total * theta[k]
        step[k] = gradient[k]


@kernel
def newton_step(theta, gradient, step):
    """step = x, given s = M⁻¹ρ; returns (decrement, longest |x_k|).

    On the plane Σ_k θ_k x_k = 0 it is x = s - t (θ·s)/(θ·t) with t ∝ M⁻¹θ. Since M 1 = g, which is
    ρ + θ Σ_k g_k (`kernels.curvature`), t = 1 - s: one solution, whose rounding vanishes with ρ.
    """
    along = 0.0
    across = 0.0
    for k in range(theta.shape[0]):
        along += theta[k] * step[k]
        across += theta[k] * (1.0 - step[k])
    decrement = 0.0
    longest = 0.0
    ratio = along / across
    for k in range(theta.shape[0]):
        step[k] -= ratio * (1.0 - step[k])
        decrement += step[k] * gradient[k]
        longest = max(longest, abs(step[k]))
    return decrement, longest


@kernel
def whole_step(theta, step):
    """θ ← θ∘(1 + x), back on the simplex."""
    total = 0.0
    for k in range(theta.shape[0]):
        theta[k] *= 1.0 + step[k]
        total += theta[k]
    for k in range(theta.shape[0]):
        theta[k] /= total


@kernel
def line_search(rows, weight, n, prior, theta, value, work):
    """Halve the step until f rises above `value`; returns f there, or `value` and θ as it is."""
    rate = 1.0
    for _ in range(40):
        total = 0.0
        for k in range(theta.shape[0]):
            x = rate * work.step[k]
            work.trial[k] = theta[k] * (1.0 + x) if x > 0.0 else theta[k] / (1.0 - x)
            total += work.trial[k]
        for k in range(theta.shape[0]):
            work.trial[k] /= total
        after = mix_value(rows, weight, n, prior, work.trial, work)
        if after > value:
            for k in range(theta.shape[0]):
                theta[k] = work.trial[k]
            return after
        rate *= 0.5
    return value


@kernel
def map_document(rows, weight, n, prior, theta, budget, over, work):
    """Newton with a line search from the θ given, in place. Returns the number of steps.

    A round or two of the fixed point come first: each costs a fraction of a Newton step, and far
    from the optimum is nearly as good. Short steps are taken in full (`_SHORT`), a long one is
    halved until f rises. Stops when the Newton
    decrement (twice the rise still to be had) was below tolerance² relative to the document's
    size, after a last step; `work` then holds the factor of the curvature just before it, over
    `over` words or over topics (`words_to_solve`).
    """
    if prior.shape[0] == 1:
        theta[0] = 1.0
        return 1
    size = 0.0
    for j in range(n):
        size += weight[j]
    for k in range(prior.shape[0]):
        size += prior[k]
    taken = 0
    last = math.inf
    value = math.nan  # f(θ), when a line search first needs it
    fixed_point(rows, weight, n, prior, theta, work.norm, work.gradient)
    for _ in range(budget.max_steps):
        if over == OVER_TOPICS:
            scaled_curvature(
                rows, weight, n, prior, theta, work.norm, work.bend, work.gradient, work.matrix
            )
            factorise(work.matrix, prior.shape[0])
            along_simplex(theta, work.gradient, work.step)
            solve_factorised(work.matrix, prior.shape[0], work.step)
        else:
            word_curvature(rows, weight, n, prior, theta, over, work)
            factorise(work.matrix, over)
            along_simplex(theta, work.gradient, work.step)
            solve_over_words(rows, n, prior, over, work, work.step)
        decrement, longest = newton_step(theta, work.gradient, work.step)
        taken += 1
        if longest <= _SHORT:
            whole_step(theta, work.step)
            stalled = decrement <= _ROUNDING * size and decrement > 0.1 * last
            if decrement <= budget.tolerance * budget.tolerance * size or stalled:
                break  # done, or down to rounding
            last = decrement
            value = math.nan
            continue
        if math.isnan(value):
            value = mix_value(rows, weight, n, prior, theta, work)
        before = value
        value = line_search(rows, weight, n, prior, theta, before, work)
        if value == before:
            break
    return taken


@kernel
def pad_document(rows, weight, n):
    """Words of weight zero up to a whole number of vectors; returns that number.

    Without them every loop over the words of a document has a remainder to do one by one.
    """
    padded = whole(n)
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
    weight = apart(np.empty(longest + ROOM))
    work = mix_work(n_topics, longest)
    here = np.empty(longest, dtype=indices.dtype)
    often = apart(np.empty(longest + ROOM))
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
        over = words_to_solve(rows, weight, n, prior, work.by_word)
        steps[0] += map_document(rows, weight, n, prior, theta[d], budget, over, work)
