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
from typing import Any, NamedTuple

import numpy as np

from topicfocus.families.base import row_log_likelihood
from topicfocus.families.multiple import Multiple
from topicfocus.kernels.compile import inlined, kernel
from topicfocus.kernels.curvature import (
    FEW_TOPICS,
    MIX_VECTOR,
    factorise_curvature,
    mix_work,
    solve_curvature,
    sum_words,
    words_to_solve,
)
from topicfocus.kernels.local import LocalBudget, LocalCorpus
from topicfocus.kernels.scratch import ROOM, apart, borrowed, keep
from topicfocus.kernels.special import log_in_place
from topicfocus.kernels.target_terms import has_target
from topicfocus.kernels.topic_mix import included_words, map_document, pad_document
from topicfocus.kernels.word_sums import gather_document, mixture

#: Relative change of θ̂ since its curvature was factorised, √Σ_k Δθ_k²/θ_k: up to the first the
#: factor counts as the same, up to the second a solution is refined with it (where topics are many;
#: else a new factor costs no more), beyond that there is a new one. The gradient's error, measured
#: with 5, 20 and 50 topics on Yelp: 1e-4; the part that θ̂'s answer has in it: 1e-3.
_SAME, _NEAR = 1e-2, 0.15
#: What `constrained_documents` computes of each document.
MIXES, VARIANCES, GRADIENTS = 0, 1, 2


class ConstrainedStats(NamedTuple):
    """Sums over documents.

    word_topic: ∂J/∂log W_vk. word_log_likelihood: Σ c log n, word_push: Σ c z, both with weight one
    whatever the word's multiplicity. parts: Σ of (words, mix, target).
    """

    word_topic: np.ndarray
    word_log_likelihood: np.ndarray
    word_push: np.ndarray
    parts: np.ndarray


@inlined
def answer_at_mode(push, rows, weight, n, norm, theta, prior, over, work, z, out):
    """out = u: how θ̂ answers to the push g, from the factor of the scaled curvature M.

    In the scaled variable u = θ∘x the system is M x = θ∘g - μθ with Σ_k θ_k x_k = 0. At θ̂ it is
    M 1 = θ Σ_k g_k, so M⁻¹θ is a constant and x is M⁻¹(θ∘g) less its mean under θ. The factor in
    `work` is that of the θ where Newton last made it, M̃. Each round adds M̃⁻¹ (θ∘g - M x) to x,

        M x = a∘x + θ∘Σ_v W_v (c m / n²) W_v·(θ∘x),

    and multiplies the error by about twice the change since. `norm` is W_v·θ, `z` scratch.
    """
    n_topics = theta.shape[0]
    moved = 0.0
    for k in range(n_topics):
        change = theta[k] - work.mix[k]
        moved += change * change / work.mix[k]
    moved = math.sqrt(moved)
    if n_topics == 1 or not moved <= (_SAME if n_topics < FEW_TOPICS else _NEAR):
        factorise_curvature(rows, weight, n, prior, theta, over, work)
        mixture(rows, n, theta, norm)  # which may be the scratch of the line before
        moved = 0.0
    left, step = work.along, work.step
    for k in range(n_topics):
        step[k] = 0.0
        left[k] = theta[k] * push[k]
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
            left[k] = theta[k] * (push[k] - work.mine[k]) - prior[k] * step[k]
    mean = 0.0
    for k in range(n_topics):
        mean += theta[k] * step[k]
    for k in range(n_topics):
        out[k] = theta[k] * (step[k] - mean)


@inlined
def answer_pushes(task, pushes, coef, pull, rows, weight, n, mix, prior, over, work, z, out, into):
    """out = the answer of θ̂ to `pull`, or of VARIANCES to each η_l: into_l = η_l·u."""
    for k in range(mix.shape[0]):
        out[k] = 0.0
    for l in range(pushes):
        if task == VARIANCES:
            for k in range(mix.shape[0]):
                pull[k] = coef[l, k]
        answer_at_mode(pull, rows, weight, n, work.norm, mix, prior, over, work, z, out)
        if task == VARIANCES:
            total = 0.0
            for k in range(mix.shape[0]):
                total += pull[k] * out[k]
            into[l] = max(total, 0.0)


@inlined
def target_pull(corpus, d, family, coef, mix, predictor, slope, pull, out):
    """Add log p(y | f), f = o + η·θ̂, of a document that has a target, and return whether it does.

    Writes the derivatives in f to `slope` and in θ̂ to `pull`.
    """
    target, importance = corpus.target[d], corpus.target_weight[d]
    for l in range(coef.shape[0]):
        slope[l] = 0.0
        predictor[l] = corpus.offset[d, l]
        for k in range(mix.shape[0]):
            predictor[l] += coef[l, k] * mix[k]
    if not has_target(importance):
        return 0
    value = row_log_likelihood(family, target, importance, predictor, slope)
    out.parts[2] += corpus.doc_weight[d] * value
    for k in range(mix.shape[0]):
        pull[k] = 0.0
        for l in range(coef.shape[0]):
            pull[k] += slope[l] * coef[l, k]
    return 1


@inlined
def add_prior(mix, prior, times, logs, bits, out):
    """What the prior of θ̂ adds to J."""
    for k in range(mix.shape[0]):
        logs[k] = mix[k]
    log_in_place(logs, mix.shape[0], bits)
    for k in range(mix.shape[0]):
        out.parts[1] += times * prior[k] * logs[k]


@inlined
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
        out.word_log_likelihood[words_here[j]] += times * counts_here[j] * work.norm[j]


@kernel
def constrained_documents(
    task, first, last, corpus, words, prior, coef, family, theta, by_predictor, budget, many, out
):
    """One pass over documents first..last-1; `coef` is predictors x topics.

    MIXES: find θ̂ (warm-started, in place), with words of m_v > 0 only.
    VARIANCES: row d of `by_predictor` is set to the variances η_l·C η_l of the predictors by the
    Laplace approximation: C is the inverse of H on the simplex, so that C η_l is the answer of θ̂
    to a push η_l. `theta` is θ̂ and stays as it is.
    GRADIENTS: find θ̂, add the gradients and values of J_d to `out`, and set row d of
    `by_predictor` to the derivatives of the document's log-likelihood in its predictors: all that
    the gradients in η, b and ζ need beside θ̂.

    One kernel, because most of what compiles in it is the same for all three. `many` is that of
    `many_topics`.
    """
    n_topics, n_predictors = prior.shape[0], coef.shape[0]
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
        np.empty(n_predictors + ROOM),
        np.empty(longest + ROOM),
    )
    exponents = np.empty(n_topics + ROOM, dtype=np.int64)
    included = np.empty(longest, dtype=corpus.indices.dtype)
    scratch = mix_work(n_topics, longest)
    rows = borrowed(apart(owned[0])).reshape((n_topics, longest))
    weight, push = borrowed(apart(owned[1])), borrowed(apart(owned[2]))
    pull, answer = borrowed(apart(owned[3])), borrowed(apart(owned[4]))
    logs, predictor = borrowed(apart(owned[5])), borrowed(apart(owned[6]))
    often, here = borrowed(apart(owned[7])), borrowed(included)
    work, bits = borrowed(scratch), borrowed(apart(exponents))
    corpus, words, out = borrowed(corpus), borrowed(words), borrowed(out)
    prior, coef, theta = borrowed(prior), borrowed(coef), borrowed(theta)
    by_predictor = borrowed(by_predictor)
    for d in range(first, last):
        lo, hi = corpus.indptr[d], corpus.indptr[d + 1]
        words_here, counts_here, mix = corpus.indices[lo:hi], corpus.counts[lo:hi], theta[d]
        if task != GRADIENTS:
            n = included_words(words_here, counts_here, words.multiplicity, here, often)
            words_here, counts_here = here[:n], often[:n]
        gather_document(words_here, counts_here, words.table, words.multiplicity, rows, weight)
        padded = pad_document(rows, weight, words_here.shape[0])
        over = None
        if many is not None:
            over = words_to_solve(rows, weight, padded, prior, work.by_word)
        if task == VARIANCES:
            work.mix[0] = 0.0  # infinitely far from θ̂: a new factor is needed
        else:
            map_document(rows, weight, padded, prior, mix, budget, over, work)
        if task == MIXES:
            continue
        mixture(rows, padded, mix, work.norm)
        slope, pushes = by_predictor[d], n_predictors
        if task == GRADIENTS:
            pushes = target_pull(corpus, d, family, coef, mix, predictor, slope, pull, out)
        answer_pushes(
            task, pushes, coef, pull, rows, weight, padded, mix, prior, over, work, push, answer,
            slope,
        )  # fmt: skip
        if task == GRADIENTS:
            times = corpus.doc_weight[d]
            add_prior(mix, prior, times, logs, bits, out)
            add_words(
                words_here, counts_here, times, words.table, rows, weight, padded, mix, answer,
                push, work, out,
            )  # fmt: skip
    keep((owned, exponents, included, scratch))


def many_topics(n_topics: int) -> bool | None:
    """None for few topics: the factor over words, which they do not need, is not compiled."""
    return None if n_topics < FEW_TOPICS else True


def map_documents(
    first: int,
    last: int,
    rows: tuple[np.ndarray, np.ndarray, np.ndarray],
    words: Any,
    prior: np.ndarray,
    theta: np.ndarray,
    budget: Any,
) -> None:
    """θ̂ of documents first..last-1 of a CSR matrix, in place of `theta`."""
    coef = np.empty((0, len(prior)))
    _without_targets(MIXES, first, last, rows, words, prior, coef, theta, coef, budget)


def predictor_variances(
    first: int,
    last: int,
    rows: tuple[np.ndarray, np.ndarray, np.ndarray],
    words: Any,
    prior: np.ndarray,
    coef: np.ndarray,
    theta: np.ndarray,
    out: np.ndarray,
) -> None:
    """Variances of the predictors of documents first..last-1, given θ̂: documents x predictors."""
    budget = LocalBudget(0, 0.0)
    _without_targets(VARIANCES, first, last, rows, words, prior, coef, theta, out, budget)


def _without_targets(
    task: int, first: int, last: int, rows: Any, words: Any, prior: np.ndarray, coef: np.ndarray,
    theta: np.ndarray, by_predictor: np.ndarray, budget: Any,
) -> None:  # fmt: skip
    table, vector = np.empty((0, 0)), np.empty(0)
    indptr, indices, counts = rows
    corpus = LocalCorpus(indptr, indices, counts, table, table, table, vector)
    out = ConstrainedStats(table, vector, vector, vector)
    many = many_topics(len(prior))
    constrained_documents(
        task, first, last, corpus, words, prior, coef, _NO_TARGETS, theta, by_predictor, budget,
        many, out,
    )  # fmt: skip


#: The arguments have the types of a pass with targets, so that nothing is compiled for them.
_NO_TARGETS = Multiple.of([])
