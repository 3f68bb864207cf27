"""Sums over the words of a document: mixtures, responsibilities and expected tokens per topic.

The rows of its words in the word table are copied to a matrix topics x words, padded with words of
weight zero, so that SIMD instructions run over words for any number of topics.
"""

from __future__ import annotations

import numpy as np

from topicfocus.kernels.compile import helper

#: Prevents division by zero for a word of probability zero (representable in single precision).
_TINY = np.float32(1e-30)
#: Below this many topics a plain loop over them is faster than setting up SIMD.
_FEW_TOPICS = 12
#: Largest number of topics for which a step needs only one loop over the words of a document.
ONE_LOOP_TOPICS = 8


@helper
def mixture(rows, n, e, out):
    """out_j = Σ_k rows_kj e_k for the n words of a document, four topics at a time."""
    n_topics = rows.shape[0]
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


@helper
def topic_sums(rows, weight, n, e, norm, out):
    """out_k = Σ_j weight_j r_kj,  r_kj = rows_kj e_k / Σ_l rows_lj e_l; `norm` is scratch."""
    if e.shape[0] <= ONE_LOOP_TOPICS:
        _sums_of_few(rows, weight, n, e, out)
    else:
        _sums_of_many(rows, weight, n, e, norm, out)


@helper
def _sums_of_few(rows, weight, n, e, out):
    """One loop for up to eight topics, with e = 0 for those that do not exist.

    With few topics, starting a loop takes as long as its steps.
    """
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


@helper
def _sums_of_many(rows, weight, n, e, norm, out):
    """A mixture first, then the sums of four topics per loop."""
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


@helper
def gather_document(words, counts, table, multiplicity, rows, weight):
    """Copy the table rows of a document's words to `rows`, topics x words, and c·m to `weight`.

    Eight words at a time, so that each topic's row is written in contiguous pieces.
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


@helper
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
            # The table, not its copy, because there the topics of a word are contiguous.
            row = table[words[j]]
            for k in range(n_topics):
                sums[k] += scale * row[k] * e[k]


@helper
def pad_document(rows, weight, n, padded):
    """Append words of weight zero, so that loops over words have no scalar remainder."""
    for j in range(n, padded):
        weight[j] = 0.0
        for k in range(rows.shape[0]):
            rows[k, j] = 1.0


@helper
def multiple_of(step, n):
    """n rounded up to a multiple of `step`."""
    return (n + step - 1) // step * step
