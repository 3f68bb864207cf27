"""What the first occurrence of a word does to the linear predictors of documents.

A document without the word, then with it once: two topic mixes, of which the first is the
document's own unless it has the word. Few words of a vocabulary are in a document; those that are
get both mixes by Newton (`kernels.topic_mix`). For the others Newton's matrix changes little from
one to the next, so it is inverted once a document: at θ̂ it is M (`kernels.curvature`), and with a
word of weight m and responsibilities r it is M + m r rᵀ there, whose inverse is, with u = M⁻¹ r,

    M⁻¹ - m u uᵀ / (1 + m r·u).

All steps are made with this one matrix (the chord method): K² and the gradient's K n instead of
K² n/2. It is the same mix that is found, since steps end where the gradient vanishes; where they do
not shrink quickly, Newton goes on.
"""

from __future__ import annotations

import numpy as np

from topicfocus.kernels.compile import kernel
from topicfocus.kernels.curvature import (
    MIX_VECTOR,
    OVER_TOPICS,
    factorise,
    mix_work,
    scaled_curvature,
    solve_factorised,
    words_to_solve,
)
from topicfocus.kernels.scratch import ROOM, apart
from topicfocus.kernels.topic_mix import (
    along_simplex,
    fixed_point_gradient,
    included_words,
    map_document,
    pad_document,
    whole_step,
)
from topicfocus.kernels.word_sums import gather_document

#: Chord steps, at most, and how far one may go, relative to θ; the rest is left to Newton.
_MOST_STEPS = 12
_LONGEST = 0.3
#: A last step changes no θ_k by more than this share of it; what is left is a small part of that.
_TINY = 1e-6


@kernel
def first_occurrences(
    first, last, indptr, indices, counts, words, chosen, prior, coef, theta, budget, out
):
    """η_l·θ̂ without and with each word of `chosen`; `coef` predictors x topics.

    `out` is documents x words x 2 x predictors, `theta` the mixes of the documents as they are.
    """
    n_topics = prior.shape[0]
    longest = 1
    for d in range(first, last):
        longest = max(longest, indptr[d + 1] - indptr[d])
    longest += MIX_VECTOR + 1
    rows = np.empty((n_topics, longest))
    weight = apart(np.empty(longest + ROOM))
    mix = apart(np.empty(n_topics + ROOM))
    inverse = apart(np.empty(n_topics * n_topics + ROOM)).reshape((n_topics, n_topics))
    r = apart(np.empty(n_topics + ROOM))
    u = apart(np.empty(n_topics + ROOM))
    work = mix_work(n_topics, longest)
    here = np.empty(longest, dtype=indices.dtype)
    often = apart(np.empty(longest + ROOM))
    place = np.full(words.table.shape[0], -1)
    for d in range(first, last):
        known = included_words(
            indices[indptr[d] : indptr[d + 1]],
            counts[indptr[d] : indptr[d + 1]],
            words.multiplicity,
            here,
            often,
        )
        gather_document(here[:known], often[:known], words.table, words.multiplicity, rows, weight)
        weight[known] = 0.0  # room for one more word
        for k in range(n_topics):
            rows[k, known] = 1.0
        n = pad_document(rows, weight, known + 1)
        invert_curvature(rows, weight, n, prior, theta[d], work, inverse)
        for j in range(known):
            place[here[j]] = j
        for i in range(chosen.shape[0]):
            v = chosen[i]
            slot = place[v]
            # Not mix[:] = theta[d]: numba would compile what an error of shapes says, for 2 s.
            for k in range(n_topics):
                mix[k] = theta[d, k]
            if slot < 0:
                predict_mix(coef, mix, out[d, i, 0])
                for k in range(n_topics):
                    rows[k, known] = words.table[v, k]
                weight[known] = words.multiplicity[v]
                if not chord(rows, weight, n, known, prior, mix, inverse, r, u, work):
                    over = words_to_solve(rows, weight, n, prior, work.by_word)
                    map_document(rows, weight, n, prior, mix, budget, over, work)
                predict_mix(coef, mix, out[d, i, 1])
                weight[known] = 0.0
            else:
                m = words.multiplicity[v]
                both_mixes(rows, weight, n, slot, m, prior, mix, budget, work, coef, out[d, i])
        for j in range(known):
            place[here[j]] = -1


@kernel
def both_mixes(rows, weight, n, slot, multiplicity, prior, mix, budget, work, coef, out):
    """Of a word that the document has: by Newton without it, and from there with it once."""
    before = weight[slot]
    for occurrence in range(2):
        weight[slot] = occurrence * multiplicity
        over = words_to_solve(rows, weight, n, prior, work.by_word)
        map_document(rows, weight, n, prior, mix, budget, over, work)
        predict_mix(coef, mix, out[occurrence])
    weight[slot] = before


@kernel
def invert_curvature(rows, weight, n, prior, theta, work, inverse):
    """inverse = M⁻¹ at θ, the whole square."""
    n_topics = prior.shape[0]
    scaled_curvature(
        rows, weight, n, prior, theta, work.norm, work.bend, work.middle, work.gradient,
        work.matrix,
    )  # fmt: skip
    factorise(work.matrix, n_topics)
    for k in range(n_topics):
        column = inverse[k]
        for l in range(n_topics):
            column[l] = 1.0 if k == l else 0.0
        solve_factorised(work.matrix, n_topics, column)


@kernel
def chord(rows, weight, n, new, prior, mix, inverse, r, u, work):
    """θ̂ with the word in place `new`, in place of `mix`; False, and `mix` on the way, if it is far.

    `inverse` is M⁻¹ of the document without the word at the mix given.
    """
    n_topics = prior.shape[0]
    m = weight[new]
    total = 0.0
    for k in range(n_topics):
        r[k] = rows[k, new] * mix[k]
        total += r[k]
    if not total > 0.0:
        return False
    along = 0.0
    for k in range(n_topics):
        r[k] /= total
    multiply(inverse, r, u)
    for k in range(n_topics):
        along += r[k] * u[k]
    scale = m / (1.0 + m * along)
    for _ in range(_MOST_STEPS):
        fixed_point_gradient(
            rows, weight, n, prior, mix, OVER_TOPICS, work.norm, work.by_word, work.mine,
            work.gradient,
        )  # fmt: skip
        along_simplex(mix, work.gradient, work.trial)
        multiply(inverse, work.trial, work.step)
        along = 0.0
        for k in range(n_topics):
            along += u[k] * work.trial[k]
        off = 0.0
        for k in range(n_topics):
            work.step[k] -= scale * along * u[k]
            off += mix[k] * work.step[k]
        longest = 0.0
        for k in range(n_topics):
            work.step[k] -= off
            longest = max(longest, abs(work.step[k]))
        if longest > _LONGEST:
            return False
        whole_step(mix, work.step)
        if longest <= _TINY:
            return True
    return False


@kernel
def multiply(matrix, x, out):
    """out = matrix x, of a symmetric matrix."""
    size = matrix.shape[0]
    for k in range(size):
        out[k] = 0.0
    for l in range(size):
        row = matrix[l]
        value = x[l]
        for k in range(size):
            out[k] += value * row[k]


@kernel
def predict_mix(coef, mix, out):
    """out_l = η_l·θ."""
    for l in range(coef.shape[0]):
        total = 0.0
        for k in range(mix.shape[0]):
            total += coef[l, k] * mix[k]
        out[l] = total
