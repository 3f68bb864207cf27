"""The curvature of the objective of topic proportions at θ, factorised over topics or over words.

    M = -θθᵀ∘∇²f = A + P Pᵀ,   A = diag(a),   P_kv = √(c m) r_kv,   r_kv = W_vk θ_k / (W_v·θ),

f being that of `kernels.proportions` and r the responsibilities. M, topics x topics, stays well
conditioned when a θ_k is tiny. It takes K² n/2 + K³/6 operations. For a document with fewer words
than topics, the space of its words needs fewer, K n²/2 + n³/6 (Woodbury):

    M⁻¹ b = A⁻¹ (b - P S⁻¹ Pᵀ A⁻¹ b),   S = I + Pᵀ A⁻¹ P.

No eigenvalue of S is below one, but the difference cancels where S is large: b loses as many digits
as Σ c m / min a has. Documents of large weight with a tiny prior therefore use the factor over
topics (`_LARGEST_RATIO`).

Responsibilities sum to one over topics, so M 1 = θ∘∇f, a solution without arithmetic.
"""

from __future__ import annotations

import math
from collections import namedtuple

import numpy as np

from topicfocus.kernels.compile import helper, inlined, work_array
from topicfocus.kernels.word_sums import mixture

#: Words or topics per step of vectorised loops. With AVX-512 and 10 or 50 topics, padding to 16
#: took a tenth more time, and padding to 4 slightly more.
VECTOR = 8
#: Value of `words_to_solve` where the factor over topics is faster or more accurate. With fewer
#: than FEW_TOPICS topics `over` is None, and numba does not compile the factor over words.
OVER_TOPICS = -1
#: Measured limits: with fewer topics, or more words per topic, the factor over topics is as fast.
#: Newton steps over words are 0.9 times as fast with 8 words and 10 topics; 1.8, 1.3 and 1.0 times
#: with 5, 12 and 16 words and 20 topics; 6, 4, 1.8, 1.3 and 1.0 times with 5, 16, 32, 40 and 48
#: words and 50 topics.
FEW_TOPICS = 12
_MOST_WORDS = 0.75
#: Largest Σ c m / min a for which the factor over words has ten correct digits. Compared with
#: extended precision, the largest error at 1e6 was 7e-11 for b in the span of P (9e-12 over
#: topics), and 1e-12 for other b.
_LARGEST_RATIO = 1e6


#: Work arrays of one thread; those with one entry per topic are padded to whole vectors.
NewtonWork = namedtuple(
    "NewtonWork",
    "norm bend bits middle gradient step trial along mix by_topic mine matrix by_word",
)


def newton_work(n_topics: int, longest: int) -> NewtonWork:
    """Work arrays for documents of up to `longest` words."""
    width = -(-n_topics // VECTOR) * VECTOR
    norm, bend, middle = (work_array(longest) for _ in range(3))
    gradient, step, trial, along, mix, by_topic, mine = (work_array(width) for _ in range(7))
    matrix, by_word = work_array(n_topics, width), work_array(n_topics + 3, width)
    bits = work_array(longest, dtype=np.int64)
    return NewtonWork(
        norm, bend, bits, middle, gradient, step, trial, along, mix, by_topic, mine, matrix, by_word
    )


@helper
def words_to_solve(rows, weight, n, prior, by_word):
    """The number of words to factorise over, or OVER_TOPICS.

    Up to the last word with a positive weight. For FEW_TOPICS topics or more. Copies the rows of
    these words as words x topics, the order in which S reads them.
    """
    n_topics = prior.shape[0]
    total = 0.0
    over = 0
    for j in range(n):
        total += weight[j]
        if weight[j] > 0.0:
            over = j + 1
    least = prior[0]
    for k in range(1, n_topics):
        least = min(least, prior[k])
    if over > _MOST_WORDS * n_topics or total > _LARGEST_RATIO * least:
        return OVER_TOPICS
    for j in range(over):
        row = by_word[j]
        for k in range(n_topics):
            row[k] = rows[k, j]
    return over


@helper
def factorise_curvature(rows, weight, n, prior, theta, over, work):
    """work.gradient = θ∘∇f = a + Σ_v c m r_v, work.matrix the factor of S or M, work.mix = θ."""
    if over is not None:  # noqa: SIM102 (numba leaves out the branch of a plain `is not None`)
        if over != OVER_TOPICS:
            word_curvature(rows, weight, n, prior, theta, over, work)
            factorise(work.matrix, over)
            return
    scaled_curvature(
        rows, weight, n, prior, theta, work.norm, work.bend, work.middle, work.gradient,
        work.matrix,
    )  # fmt: skip
    factorise(work.matrix, prior.shape[0])
    for k in range(prior.shape[0]):
        work.mix[k] = theta[k]


@helper
def solve_curvature(rows, n, prior, over, work, x):
    """x ← M⁻¹ x, by the factor in `work`."""
    if over is not None:  # noqa: SIM102
        if over != OVER_TOPICS:
            solve_over_words(rows, n, prior, over, work, x)
            return
    solve_factorised(work.matrix, prior.shape[0], x)


@helper
def sum_words(rows, n, over, z, by_word, out):
    """out_k = Σ_j W_jk z_j, from the copy words x topics if there is one.

    That copy needs no horizontal sums of registers, of which 50 take longer than all products with
    16 words.
    """
    if over is not None:  # noqa: SIM102
        if over != OVER_TOPICS:
            sum_copied_words(over, z, by_word, out)
            return
    for k in range(rows.shape[0]):
        row = rows[k]
        total = 0.0
        for j in range(n):
            total += row[j] * z[j]
        out[k] = total


@helper
def sum_copied_words(over, z, by_word, out):
    """out_k = Σ_j W_jk z_j from the copy words x topics, four words at a time."""
    width = by_word.shape[1]
    for k in range(width):
        out[k] = 0.0
    fours = over - over % 4
    for j in range(0, fours, 4):
        r0, r1, r2, r3 = by_word[j], by_word[j + 1], by_word[j + 2], by_word[j + 3]
        z0, z1, z2, z3 = z[j], z[j + 1], z[j + 2], z[j + 3]
        for k in range(width):
            out[k] += r0[k] * z0 + r1[k] * z1 + r2[k] * z2 + r3[k] * z3
    for j in range(fours, over):
        r0, z0 = by_word[j], z[j]
        for k in range(width):
            out[k] += r0[k] * z0


# ---- over topics --------------------------------------------------------------------------------


@inlined
def scaled_curvature(rows, weight, n, prior, theta, norm, bend, mine, gradient, matrix):
    """gradient = θ∘∇f and matrix = M (lower triangle). `mine` is scratch."""
    n_topics = prior.shape[0]
    mixture(rows, n, theta, norm)
    for j in range(n):
        inverse = 1.0 / norm[j]
        norm[j] = weight[j] * inverse
        bend[j] = weight[j] * inverse * inverse
    for k in range(n_topics):
        row, sums = rows[k], matrix[k]
        total = 0.0
        for j in range(n):
            total += row[j] * norm[j]
            mine[j] = row[j] * bend[j]
        gradient[k] = prior[k] + total * theta[k]
        fours = (k + 1) - (k + 1) % 4
        for l in range(0, fours, 4):  # four at a time share a factor
            r0, r1, r2, r3 = rows[l], rows[l + 1], rows[l + 2], rows[l + 3]
            t0, t1, t2, t3 = 0.0, 0.0, 0.0, 0.0
            for j in range(n):
                x = mine[j]
                t0 += x * r0[j]
                t1 += x * r1[j]
                t2 += x * r2[j]
                t3 += x * r3[j]
            sums[l] = t0 * theta[k] * theta[l]
            sums[l + 1] = t1 * theta[k] * theta[l + 1]
            sums[l + 2] = t2 * theta[k] * theta[l + 2]
            sums[l + 3] = t3 * theta[k] * theta[l + 3]
        for l in range(fours, k + 1):
            r0 = rows[l]
            total = 0.0
            for j in range(n):
                total += mine[j] * r0[j]
            sums[l] = total * theta[k] * theta[l]
        sums[k] += prior[k]


@helper
def factorise(matrix, size):
    """Cholesky factor of a positive definite matrix of `size` rows, in place (lower triangle).

    The diagonal has the inverses 1/L_jj, so that there is one division per row.
    """
    for j in range(size):
        mine = matrix[j]
        total = mine[j]
        for l in range(j):
            total -= mine[l] * mine[l]
        inverse = 1.0 / math.sqrt(max(total, 1e-300))
        mine[j] = inverse
        for i in range(j + 1, size):
            row = matrix[i]
            total = row[j]
            for l in range(j):
                total -= row[l] * mine[l]
            row[j] = total * inverse


@helper
def solve_factorised(factor, size, x):
    """x ← (L Lᵀ)⁻¹ x, with 1/L_ii on the diagonal of `factor`."""
    for i in range(size):
        row = factor[i]
        total = x[i]
        for l in range(i):
            total -= row[l] * x[l]
        x[i] = total * row[i]
    for i in range(size - 1, -1, -1):
        row = factor[i]
        value = x[i] * row[i]
        x[i] = value
        for l in range(i):
            x[l] -= row[l] * value


# ---- over words ---------------------------------------------------------------------------------


@inlined
def word_curvature(rows, weight, n, prior, theta, over, work):
    """work.gradient = θ∘∇f and work.matrix = S (lower triangle).

    Also work.bend_j = √(c m)/(W_j·θ) and work.mix = θ, which give P_kj = θ_k W_jk bend_j.
    """
    n_topics = prior.shape[0]
    mixture(rows, n, theta, work.norm)
    for j in range(n):
        inverse = 1.0 / work.norm[j]
        work.norm[j] = weight[j] * inverse
        work.bend[j] = math.sqrt(weight[j]) * inverse
    sum_words(rows, n, over, work.norm, work.by_word, work.mine)
    for k in range(n_topics):
        work.gradient[k] = prior[k] + work.mine[k] * theta[k]
        work.mix[k] = theta[k]
        work.by_topic[k] = theta[k] * theta[k] / prior[k]
    add_products(work.by_word, work.by_topic, over, work.bend, work.mine, work.matrix)


@inlined
def add_products(by_word, by_topic, over, bend, mine, out):
    """out = I + diag(bend) B diag(by_topic) Bᵀ diag(bend), lower triangle, B words x topics.

    Four words at a time share a factor: 1.7 times as fast with 23 words and 50 topics. Up to three
    entries beyond the diagonal are overwritten. `mine` is scratch.
    """
    width = by_word.shape[1]
    for i in range(over):
        row, sums = by_word[i], out[i]
        for k in range(width):
            mine[k] = row[k] * by_topic[k]
        for j in range(0, i + 1, 4):
            r0, r1, r2, r3 = by_word[j], by_word[j + 1], by_word[j + 2], by_word[j + 3]
            t0, t1, t2, t3 = 0.0, 0.0, 0.0, 0.0
            for k in range(width):
                x = mine[k]
                t0 += x * r0[k]
                t1 += x * r1[k]
                t2 += x * r2[k]
                t3 += x * r3[k]
            sums[j] = bend[i] * bend[j] * t0
            sums[j + 1] = bend[i] * bend[j + 1] * t1
            sums[j + 2] = bend[i] * bend[j + 2] * t2
            sums[j + 3] = bend[i] * bend[j + 3] * t3
        sums[i] += 1.0


@helper
def solve_over_words(rows, n, prior, over, work, x):
    """x ← A⁻¹ (x - P S⁻¹ Pᵀ A⁻¹ x), by the factor of S."""
    z, factor, bend, mix, scaled = work.middle, work.matrix, work.bend, work.mix, work.trial
    for k in range(prior.shape[0]):
        scaled[k] = mix[k] * x[k] / prior[k]
    mixture(rows, n, scaled, z)
    for j in range(n):
        z[j] *= bend[j]
    solve_factorised(factor, over, z)
    for j in range(n):
        z[j] *= bend[j]
    sum_words(rows, n, over, z, work.by_word, work.mine)
    for k in range(prior.shape[0]):
        x[k] = (x[k] - mix[k] * work.mine[k]) / prior[k]
