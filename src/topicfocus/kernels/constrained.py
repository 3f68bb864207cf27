"""The constrained objective of a document and its exact gradient, by implicit differentiation.

θ̂ is a function of the document's words: the maximiser of
f(θ) = Σ_v c m log(W_v·θ) + Σ_k a_k log θ_k (`kernels.topic_mix`). The objective of a document is

    J_d = Σ_t w_t log p(y_t | o + ηᵀθ̂) + f(θ̂).

f is stationary at θ̂, so only the first term feels θ̂ move. With g = Σ_l s_l η_l, s_l the derivative
of the first term in predictor l, H = -∇²f(θ̂) and u the
solution of [H 1; 1ᵀ 0][u; μ] = [g; 0], the chain rule through θ̂ gives, n = W_v·θ̂ and z = (W_v·u)/n,

    ∂J_d/∂log W_vk = (c m / n) W_vk (θ̂_k + u_k - z θ̂_k)
    ∂J_d/∂m_v      = c (log n + z),

the second one per token: what the word adds as a word, plus what it adds to the prediction.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from topicfocus.families.operations import row_gradient, row_log_likelihood
from topicfocus.kernels.compile import kernel
from topicfocus.kernels.curvature import (
    FEW_TOPICS,
    MIX_VECTOR,
    factorise_curvature,
    mix_work,
    solve_curvature,
    sum_words,
    words_to_solve,
)
from topicfocus.kernels.scratch import ROOM, apart, borrowed, keep
from topicfocus.kernels.special import log_in_place
from topicfocus.kernels.target_terms import has_target
from topicfocus.kernels.topic_mix import map_document, pad_document
from topicfocus.kernels.word_sums import gather_document, mixture

#: Relative change of θ̂ since its curvature was factorised, √Σ_k Δθ_k²/θ_k: up to the first the
#: factor counts as the same, up to the second a solution is refined with it (where topics are many;
#: else a new factor costs no more), beyond that there is a new one. The gradient's error, measured
#: with 5, 20 and 50 topics on Yelp: 1e-4; the part that θ̂'s answer has in it: 1e-3.
_SAME, _NEAR = 1e-2, 0.15


class ConstrainedStats(NamedTuple):
    """Sums over documents.

    word_topic: ∂J/∂log W_vk. word_evidence: Σ c log n, word_push: Σ c z, both with weight one
    whatever the word's multiplicity. parts: Σ of (words, mix, target).
    """

    word_topic: np.ndarray
    word_evidence: np.ndarray
    word_push: np.ndarray
    parts: np.ndarray


@kernel
def project(theta, along, step, out):
    """out = θ∘x, x = step - along (θ·step)/(θ·along): the part with Σ_k θ_k x_k = 0."""
    far = 0.0
    across = 0.0
    for k in range(theta.shape[0]):
        far += theta[k] * step[k]
        across += theta[k] * along[k]
    for k in range(theta.shape[0]):
        out[k] = theta[k] * (step[k] - far / across * along[k])


@kernel
def mix_response(pushes, rows, n, theta, prior, over, work, out):
    """out_l = u: how θ̂ answers to the push g = pushes_l, from the factor of the scaled curvature M.

    In the scaled variable u = θ∘x the system is M x = θ∘g - μθ with Σ_k θ_k x_k = 0, so that x is
    M⁻¹(θ∘g) less its part along M⁻¹θ, which is the same for all pushes.
    """
    n_topics = theta.shape[0]
    for k in range(n_topics):
        work.along[k] = theta[k]
    solve_curvature(rows, n, prior, over, work, work.along)
    for l in range(pushes.shape[0]):
        for k in range(n_topics):
            work.step[k] = theta[k] * pushes[l, k]
        solve_curvature(rows, n, prior, over, work, work.step)
        project(theta, work.along, work.step, out[l])


@kernel
def refine(push, rows, weight, n, norm, theta, prior, over, work, z):
    """work.step = x + M̃⁻¹ (θ∘g - M x), x = work.step: closer to M⁻¹(θ∘g), M̃ being another θ's M.

    `norm` is W_v·θ; M x = a∘x + θ∘Σ_v W_v (c m / n²) W_v·(θ∘x).
    """
    left, step = work.along, work.step
    for k in range(theta.shape[0]):
        left[k] = theta[k] * step[k]
    mixture(rows, n, left, z)
    for j in range(n):
        z[j] *= weight[j] / (norm[j] * norm[j])
    sum_words(rows, n, over, z, work.by_word, work.mine)
    for k in range(theta.shape[0]):
        left[k] = theta[k] * (push[k] - work.mine[k]) - prior[k] * step[k]
    solve_curvature(rows, n, prior, over, work, left)
    for k in range(theta.shape[0]):
        step[k] += left[k]


@kernel
def answer_at_mode(push, rows, weight, n, norm, theta, prior, over, work, scratch, out):
    """`mix_response` of one push where θ is θ̂: M 1 = θ Σ_k g_k there, so M⁻¹θ is a constant.

    One solution instead of two; x = M⁻¹(θ∘g) less its mean under θ. The factor in `work` is that of
    a θ that Newton came by: each refinement multiplies the error by about twice the change since.
    """
    n_topics = theta.shape[0]
    moved = 0.0
    for k in range(n_topics):
        change = theta[k] - work.mix[k]
        moved += change * change / work.mix[k]
    moved = math.sqrt(moved)
    if n_topics == 1 or moved > (_SAME if n_topics < FEW_TOPICS else _NEAR):
        factorise_curvature(rows, weight, n, prior, theta, over, work)
        mixture(rows, n, theta, norm)  # which may be the scratch of the line before
        moved = 0.0
    for k in range(n_topics):
        work.step[k] = theta[k] * push[k]
    solve_curvature(rows, n, prior, over, work, work.step)
    error = 2.0 * moved
    while error > 2.0 * _SAME:
        refine(push, rows, weight, n, norm, theta, prior, over, work, scratch)
        error *= 2.0 * moved
    mean = 0.0
    for k in range(n_topics):
        mean += theta[k] * work.step[k]
    for k in range(n_topics):
        out[k] = theta[k] * (work.step[k] - mean)


@kernel
def target_pull(family, target, importance, offset, coef, mix, predictor, slope, pull):
    """log p(y | f), f = o + η·θ̂; writes its derivatives in f to `slope` and in θ̂ to `pull`."""
    for l in range(coef.shape[0]):
        predictor[l] = offset[l]
        for k in range(mix.shape[0]):
            predictor[l] += coef[l, k] * mix[k]
    row_gradient(family, target, importance, predictor, slope)
    for k in range(mix.shape[0]):
        pull[k] = 0.0
        for l in range(coef.shape[0]):
            pull[k] += slope[l] * coef[l, k]
    return row_log_likelihood(family, target, importance, predictor)


@kernel
def add_words(
    words_here, counts_here, times, table, rows, weight, padded, mix, answer, push, work, out
):
    """What a document's words add to J and to its gradients in log β and φ; work.norm = β_v·θ̂.

    ∂J/∂log β_vk += c β_vk (θ̂_k + u_k - z θ̂_k)/(β_v·θ̂),  z = β_v·u / β_v·θ̂,  u = `answer`.
    """
    mixture(rows, padded, answer, push)
    n_topics = mix.shape[0]
    for j in range(words_here.shape[0]):
        v = words_here[j]
        z = push[j] / work.norm[j]
        scale = times * weight[j] / work.norm[j]
        out.word_push[v] += times * counts_here[j] * z
        # The table, not its copy: there a word's topics lie side by side.
        row, sums, rest = table[v], out.word_topic[v], 1.0 - z
        for k in range(n_topics):
            sums[k] += scale * row[k] * (answer[k] + rest * mix[k])
    log_in_place(work.norm, padded, work.bits)
    for j in range(words_here.shape[0]):
        out.parts[0] += times * weight[j] * work.norm[j]
        out.word_evidence[words_here[j]] += times * counts_here[j] * work.norm[j]


@kernel
def constrained_documents(
    first, last, corpus, words, prior, coef, family, theta, slope, budget, out
):
    """Find θ̂ of documents first..last-1 (warm-started, in place) and add to `out`.

    `coef` is predictors x topics. Row d of `slope` is set to the derivatives of the document's
    log-likelihood in its predictors: all that the gradients in η, b and ζ need beside θ̂.
    """
    n_topics = prior.shape[0]
    longest = 1
    for d in range(first, last):
        longest = max(longest, corpus.indptr[d + 1] - corpus.indptr[d])
    longest += MIX_VECTOR
    owned = (
        np.empty(n_topics * longest + ROOM),
        np.empty(longest + ROOM),
        np.empty(longest + ROOM),
        np.empty(n_topics + ROOM),
        np.empty(n_topics + ROOM),
        np.empty(n_topics + ROOM),
        np.empty(coef.shape[0] + ROOM),
    )
    exponents = np.empty(n_topics + ROOM, dtype=np.int64)
    scratch = mix_work(n_topics, longest)
    rows = borrowed(apart(owned[0])).reshape((n_topics, longest))
    weight, push = borrowed(apart(owned[1])), borrowed(apart(owned[2]))
    pull, answer = borrowed(apart(owned[3])), borrowed(apart(owned[4]))
    logs, predictor = borrowed(apart(owned[5])), borrowed(apart(owned[6]))
    work, bits = borrowed(scratch), borrowed(apart(exponents))
    corpus, words, out = borrowed(corpus), borrowed(words), borrowed(out)
    prior, coef, theta, slope = borrowed(prior), borrowed(coef), borrowed(theta), borrowed(slope)
    for d in range(first, last):
        lo, hi = corpus.indptr[d], corpus.indptr[d + 1]
        words_here, counts_here = corpus.indices[lo:hi], corpus.counts[lo:hi]
        times, mix = corpus.doc_weight[d], theta[d]
        gather_document(words_here, counts_here, words.table, words.multiplicity, rows, weight)
        padded = pad_document(rows, weight, hi - lo)
        over = words_to_solve(rows, weight, padded, prior, work.by_word)
        map_document(rows, weight, padded, prior, mix, budget, over, work)
        mixture(rows, padded, mix, work.norm)
        for k in range(n_topics):
            logs[k] = mix[k]
            answer[k] = 0.0
        log_in_place(logs, n_topics, bits)
        for k in range(n_topics):
            out.parts[1] += times * prior[k] * logs[k]
        for l in range(coef.shape[0]):
            slope[d, l] = 0.0
        target, importance = corpus.target[d], corpus.target_weight[d]
        if has_target(importance):
            offset = corpus.offset[d]
            out.parts[2] += times * target_pull(
                family, target, importance, offset, coef, mix, predictor, slope[d], pull
            )
            answer_at_mode(
                pull, rows, weight, padded, work.norm, mix, prior, over, work, push, answer
            )
        add_words(
            words_here, counts_here, times, words.table, rows, weight, padded, mix, answer, push,
            work, out,
        )  # fmt: skip
    keep(owned, exponents, scratch)
