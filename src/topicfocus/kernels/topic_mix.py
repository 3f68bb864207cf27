"""The topic mix of a document from its words alone: a strictly concave problem, by Newton.

    θ̂ = argmax_θ  f(θ) = Σ_v c_v m_v log(W_v·θ) + Σ_k a_k log θ_k   on the simplex.

The exponent of θ_k is a_k, not a_k - 1: this is the posterior mode in the softmax basis, as in the
paper's code, and it keeps θ̂ off the boundary. Newton runs in the scaled step x, θ ← θ∘(1 + t x)
(θ/(1 - t x) where x < 0: the same to first order, and always positive); its matrix is that of
`kernels.curvature`. At the optimum θ̂_k = (a_k + Σ_v c m r_vk) / (Σ_k a_k + Σ_v c m).
"""

from __future__ import annotations

import math

from topicfocus.kernels.compile import helper, inlined
from topicfocus.kernels.curvature import (
    FEW_TOPICS,
    factorise_curvature,
    solve_curvature,
    sum_words,
    whole,
)
from topicfocus.kernels.special import log_in_place
from topicfocus.kernels.word_sums import mixture

#: Before Newton's first step; see `map_document`.
_FIXED_POINT_ROUNDS = 2
#: A fixed-point round that moves θ by less than this ends the rounds.
_NEAR = 0.01
#: A step that takes no more than this share from any θ_k takes no more from any W_v·θ either. The
#: curvature along it then grows at most by 1/(1 - s/2)², s from 0 to 1, and f rises by at least
#: λ²(1 - ∫(1 - s)/(1 - s/2)² ds) = 0.23 λ², λ² being the decrement: no line search is needed.
_DEEPEST = 0.5
#: A step that changes no θ_k by more than this share leaves a factor of the curvature that is good
#: enough for the next one, which is then cheap: a gradient and a solution.
_SHORT = 0.2
#: But not where a small error is asked for: such a step leaves a part of it, Newton's its square.
_ROUGH = 1e-3
#: Newton decrement, relative to the document's size, below which rounding may be all that is left.
_ROUNDING = 1e-7


@helper
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


@helper
def fixed_point_gradient(rows, weight, n, prior, theta, over, norm, by_word, total, gradient):
    """gradient = θ∘∇f = a + Σ_v c m r_v; leaves c m / (W_v·θ) in norm."""
    mixture(rows, n, theta, norm)
    for j in range(n):
        norm[j] = weight[j] / norm[j]
    sum_words(rows, n, over, norm, by_word, total)
    for k in range(prior.shape[0]):
        gradient[k] = prior[k] + total[k] * theta[k]


@helper
def fixed_point(rows, weight, n, prior, theta, over, norm, by_word, sums, gradient):
    """Up to two rounds of θ ← (a + Σ_v c m r_v)/(Σ a + Σ c m)."""
    for _ in range(_FIXED_POINT_ROUNDS):
        fixed_point_gradient(rows, weight, n, prior, theta, over, norm, by_word, sums, gradient)
        total = 0.0
        for k in range(prior.shape[0]):
            total += gradient[k]
        change = 0.0
        for k in range(prior.shape[0]):
            change = max(change, abs(gradient[k] / total - theta[k]))
            theta[k] = gradient[k] / total
        if change < _NEAR:
            break


@helper
def along_simplex(theta, gradient, step):
    """gradient = step = ρ = g - θ Σ_k g_k, what is left of g = θ∘∇f at the optimum: nothing."""
    total = 0.0
    for k in range(theta.shape[0]):
        total += gradient[k]
    for k in range(theta.shape[0]):
        gradient[k] -= total * theta[k]
        step[k] = gradient[k]


@helper
def newton_step(theta, gradient, step):
    """step = x, given s = M⁻¹ρ; returns (decrement, most negative x_k as positive, longest |x_k|).

    On the plane Σ_k θ_k x_k = 0 it is x = s - t (θ·s)/(θ·t) with t ∝ M⁻¹θ. Since M 1 = g, which is
    ρ + θ Σ_k g_k (`kernels.curvature`), t = 1 - s: one solution, whose rounding vanishes with ρ.
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
def chord_step(theta, gradient, step):
    """The same where M is that of the step before: near the optimum M 1 is θ Σ_k g_k, so t is 1."""
    along = 0.0
    for k in range(theta.shape[0]):
        along += theta[k] * step[k]
    decrement = 0.0
    least = 0.0
    most = 0.0
    for k in range(theta.shape[0]):
        step[k] -= along
        decrement += step[k] * gradient[k]
        least = min(least, step[k])
        most = max(most, step[k])
    return decrement, -least, max(most, -least)


@helper
def whole_step(theta, step):
    """θ ← θ∘(1 + x), back on the simplex."""
    total = 0.0
    for k in range(theta.shape[0]):
        theta[k] *= 1.0 + step[k]
        total += theta[k]
    for k in range(theta.shape[0]):
        theta[k] /= total


@helper
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


@inlined
def map_document(rows, weight, n, prior, theta, budget, over, work):
    """Newton from the θ given, in place. Returns the number of steps.

    A round or two of the fixed point come first: each costs a fraction of a Newton step, and far
    from the optimum is nearly as good. A step that leaves half of every θ_k is taken in full
    (`_DEEPEST`), any other is halved until f rises. After a short one the next is made with the
    same factor, where topics are many enough that this saves something and the tolerance allows it.

    Stops when the Newton decrement (twice the rise still to be had) was below tolerance² relative
    to the document's size, after a last step. `work` then holds a factor of the curvature, over
    `over` words or over topics (`words_to_solve`), and the θ where it was made: work.mix.
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
    fresh = True  # whether the curvature is to be that of θ
    always = prior.shape[0] < FEW_TOPICS or budget.tolerance < _ROUGH
    for _ in range(budget.max_steps):
        if fresh:
            factorise_curvature(rows, weight, n, prior, theta, over, work)
        else:
            fixed_point_gradient(
                rows, weight, n, prior, theta, over, work.norm, work.by_word, work.mine,
                work.gradient,
            )  # fmt: skip
        along_simplex(theta, work.gradient, work.step)
        solve_curvature(rows, n, prior, over, work, work.step)
        if fresh:
            decrement, deepest, longest = newton_step(theta, work.gradient, work.step)
        else:
            decrement, deepest, longest = chord_step(theta, work.gradient, work.step)
        taken += 1
        if deepest <= _DEEPEST:
            whole_step(theta, work.step)
            # From a short step the next one's decrement is a fraction; if not, it is rounding.
            stalled = fresh and decrement <= _ROUNDING * size and decrement > 0.1 * last
            if decrement <= budget.tolerance * budget.tolerance * size or stalled:
                break  # done, or down to rounding
            fresh = longest > _SHORT or not fresh or always
            last = decrement if longest <= _SHORT else math.inf
            value = math.nan
            continue
        fresh = True
        if math.isnan(value):
            value = mix_value(rows, weight, n, prior, theta, work)
        before = value
        value = line_search(rows, weight, n, prior, theta, before, work)
        if value == before:
            break
    return taken


@helper
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


@helper
def included_words(words, counts, multiplicity, here, often):
    """Copy the words of a document with m_v > 0 and their counts; returns how many they are."""
    n = 0
    for j in range(words.shape[0]):
        if multiplicity[words[j]] > 0.0:
            here[n] = words[j]
            often[n] = counts[j]
            n += 1
    return n
