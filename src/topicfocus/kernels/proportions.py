"""Topic proportions of a document from its words alone: a concave problem, by Newton's method.

    θ̂ = argmax_θ  f(θ) = Σ_v c_v m_v log(W_v·θ) + Σ_k a_k log θ_k   on the simplex.

The exponent of θ_k is a_k, not a_k - 1: this is the posterior mode in the softmax basis, as in the
code of Ren, Kunes and Doshi-Velez (2020), and it keeps θ̂ away from the boundary. Newton's method
takes scaled steps x, θ ← θ∘(1 + t x), or θ/(1 - t x) where x < 0, which is the same to first order
and always positive. Its matrix is that of `kernels.curvature`. At the optimum
θ̂_k = (a_k + Σ_v c m r_vk) / (Σ_k a_k + Σ_v c m).
"""

from __future__ import annotations

import math

from topicfocus.kernels.compile import helper, inlined
from topicfocus.kernels.curvature import (
    factorise_curvature,
    solve_curvature,
    sum_words,
)
from topicfocus.kernels.special import log_in_place
from topicfocus.kernels.word_sums import mixture

#: Fixed-point rounds before Newton's first step.
_FIXED_POINT_ROUNDS = 2
#: Change of θ below which the fixed-point rounds end.
_NEAR = 0.01
#: A step that reduces no θ_k by more than this fraction reduces no W_v·θ by more either. The
#: curvature along it then grows at most by 1/(1 - s/2)², s from 0 to 1, and f rises by at least
#: λ²(1 - ∫(1 - s)/(1 - s/2)² ds) = 0.23 λ², λ² being the decrement, so no line search is needed.
_DEEPEST = 0.5
#: After a step that changes no θ_k by more than this fraction, the next decrement is a fraction of
#: its own.
_SHORT = 0.2
#: Newton decrement, relative to the size of the document, that may consist of rounding only.
_ROUNDING = 1e-7


@helper
def log_posterior(rows, weight, n, prior, theta, work):
    """f(θ)."""
    mixture(rows, n, theta, work.norm)
    log_in_place(work.norm, n, work.bits)
    value = 0.0
    for j in range(n):
        value += weight[j] * work.norm[j]
    for k in range(prior.shape[0]):
        value += prior[k] * math.log(theta[k])
    return value


@inlined
def fixed_point(rows, weight, n, prior, theta, over, norm, by_word, sums, gradient):
    """Up to two rounds of θ ← (a + Σ_v c m r_v)/(Σ a + Σ c m)."""
    for _ in range(_FIXED_POINT_ROUNDS):
        mixture(rows, n, theta, norm)
        for j in range(n):
            norm[j] = weight[j] / norm[j]
        sum_words(rows, n, over, norm, by_word, sums)
        total = 0.0
        for k in range(prior.shape[0]):
            gradient[k] = prior[k] + sums[k] * theta[k]
            total += gradient[k]
        change = 0.0
        for k in range(prior.shape[0]):
            change = max(change, abs(gradient[k] / total - theta[k]))
            theta[k] = gradient[k] / total
        if change < _NEAR:
            break


@helper
def along_simplex(theta, gradient, step):
    """gradient = step = ρ = g - θ Σ_k g_k, the part of g = θ∘∇f that is zero at the optimum."""
    total = 0.0
    for k in range(theta.shape[0]):
        total += gradient[k]
    for k in range(theta.shape[0]):
        gradient[k] -= total * theta[k]
        step[k] = gradient[k]


@helper
def newton_step(theta, gradient, step):
    """step = x, given s = M⁻¹ρ; returns (decrement, max_k -x_k, max_k |x_k|).

    On the plane Σ_k θ_k x_k = 0 it is x = s - t (θ·s)/(θ·t) with t ∝ M⁻¹θ. Since
    M 1 = g = ρ + θ Σ_k g_k (`kernels.curvature`), t = 1 - s, whose rounding vanishes with ρ.
    """
    along = 0.0
    across = 0.0
    for k in range(theta.shape[0]):
        along += theta[k] * step[k]
        across += theta[k] * (1.0 - step[k])
    decrement = 0.0
    least = 0.0
    most = 0.0
    ratio = along / across
    for k in range(theta.shape[0]):
        step[k] -= ratio * (1.0 - step[k])
        decrement += step[k] * gradient[k]
        least = min(least, step[k])
        most = max(most, step[k])
    return decrement, -least, max(most, -least)


@helper
def whole_step(theta, step):
    """θ ← θ∘(1 + x), normalised."""
    total = 0.0
    for k in range(theta.shape[0]):
        theta[k] *= 1.0 + step[k]
        total += theta[k]
    for k in range(theta.shape[0]):
        theta[k] /= total


@inlined
def line_search(rows, weight, n, prior, theta, value, work):
    """Halve the step until f exceeds `value`; returns f, or `value` if no step does."""
    rate = 1.0
    for _ in range(40):
        total = 0.0
        for k in range(theta.shape[0]):
            x = rate * work.step[k]
            work.trial[k] = theta[k] * (1.0 + x) if x > 0.0 else theta[k] / (1.0 - x)
            total += work.trial[k]
        for k in range(theta.shape[0]):
            work.trial[k] /= total
        after = log_posterior(rows, weight, n, prior, work.trial, work)
        if after > value:
            for k in range(theta.shape[0]):
                theta[k] = work.trial[k]
            return after
        rate *= 0.5
    return value


@inlined
def map_document(rows, weight, n, prior, theta, budget, over, work):
    """Newton's method from the given θ, in place; returns the number of steps.

    One or two fixed-point rounds come first: far from the optimum each gains nearly as much as a
    Newton step, in a fraction of the time. A step that leaves at least half of every θ_k is taken
    in full (`_DEEPEST`); any other is halved until f rises.

    It stops when the Newton decrement (twice the possible rise of f) is below tolerance² times the
    size of the document, after a last step. `work` then has a factor of the curvature over `over`
    words or over topics (`words_to_solve`), and in work.mix the θ where it was computed.
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
    fixed_point(
        rows, weight, n, prior, theta, over, work.norm, work.by_word, work.mine, work.gradient
    )
    for _ in range(budget.max_steps):
        factorise_curvature(rows, weight, n, prior, theta, over, work)
        along_simplex(theta, work.gradient, work.step)
        solve_curvature(rows, n, prior, over, work, work.step)
        decrement, deepest, longest = newton_step(theta, work.gradient, work.step)
        taken += 1
        if deepest <= _DEEPEST:
            whole_step(theta, work.step)
            # After a short step the decrement falls to a fraction, unless it is rounding.
            stalled = decrement <= _ROUNDING * size and decrement > 0.1 * last
            if decrement <= budget.tolerance * budget.tolerance * size or stalled:
                break
            last = decrement if longest <= _SHORT else math.inf
            value = math.nan
            continue
        if math.isnan(value):
            value = log_posterior(rows, weight, n, prior, theta, work)
        before = value
        value = line_search(rows, weight, n, prior, theta, before, work)
        if value == before:
            break
    return taken


@helper
def included_words(words, counts, multiplicity, here, often):
    """Copy the words of a document with m_v > 0 and their counts; returns their number."""
    n = 0
    for j in range(words.shape[0]):
        if multiplicity[words[j]] > 0.0:
            here[n] = words[j]
            often[n] = counts[j]
            n += 1
    return n
