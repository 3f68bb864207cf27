"""Products of documents x words counts with tall matrices, and sums like them.

Without the interpreter lock, so that chunks of documents run on threads. Plain products are
compiled without reassociation: vectorised, the sum over a document's few words is three times as
slow.
"""

from __future__ import annotations

import numpy as np

from topicfocus.kernels.compile import exact_kernel, kernel

#: Of a document's relevant tokens: less than this share of them is rounding.
_NOTHING = 1e-9


@exact_kernel
def add_rows(indptr, indices, data, x, out):
    """out_d = Σ_v c_dv x_v for each document, NumPy's ``counts @ x``; x is words x columns."""
    n_columns = x.shape[1]
    if n_columns == 1:  # a loop of one round costs more than what it does
        for d in range(indptr.shape[0] - 1):
            total = 0.0
            for j in range(indptr[d], indptr[d + 1]):
                total += data[j] * x[indices[j], 0]
            out[d, 0] = total
        return
    for d in range(indptr.shape[0] - 1):
        row = out[d]
        for l in range(n_columns):
            row[l] = 0.0
        for j in range(indptr[d], indptr[d + 1]):
            value, other = data[j], x[indices[j]]
            for l in range(n_columns):
                row[l] += value * other[l]


@exact_kernel
def add_words(indptr, indices, data, r, out):
    """out_v += Σ_d c_dv r_d, NumPy's ``out += counts.T @ r``; r is documents x columns."""
    n_columns = r.shape[1]
    if n_columns == 1:
        for d in range(indptr.shape[0] - 1):
            value = r[d, 0]
            for j in range(indptr[d], indptr[d + 1]):
                out[indices[j], 0] += data[j] * value
        return
    for d in range(indptr.shape[0] - 1):
        row = r[d]
        for j in range(indptr[d], indptr[d + 1]):
            value, sums = data[j], out[indices[j]]
            for l in range(n_columns):
                sums[l] += value * row[l]


@kernel
def add_beside(indptr, indices, data, weights, mixes, tokens, doc_weight, roots, out):
    """out_vk += Σ_d w_d c_dv s_dvk: words beside the tokens of each topic, their own left out.

    s_dvk is topic k's share of what the document has of all topics without word v,

        n_dk - c_dv m_v r_dvk,   r_dvk = β_vk θ_dk / Σ_j β_vj θ_dj,

    and of n_dk itself for a word that no topic counts (m_v = 0). `weights` are β and m. Where
    nothing is left, the word is beside none. With `roots` √c_dv is added up instead of c_dv.
    """
    table, multiplicity = weights
    n_topics = out.shape[1]
    rest = np.empty(n_topics)
    for d in range(indptr.shape[0] - 1):
        mine, theta = tokens[d], mixes[d]
        total = 0.0
        for k in range(n_topics):
            total += mine[k]
        if not total > 0.0:
            continue
        for j in range(indptr[d], indptr[d + 1]):
            v = indices[j]
            beta, own, left = table[v], data[j] * multiplicity[v], total
            if own > 0.0:
                left = total - own
                if left <= _NOTHING * total:
                    continue
                mixed = 0.0
                for k in range(n_topics):
                    mixed += beta[k] * theta[k]
                for k in range(n_topics):
                    rest[k] = max(mine[k] - own * beta[k] * theta[k] / mixed, 0.0)
            else:
                for k in range(n_topics):
                    rest[k] = mine[k]
            value = np.sqrt(data[j]) if roots else data[j]
            value, sums = doc_weight[d] * value / left, out[v]
            for k in range(n_topics):
                sums[k] += value * rest[k]
