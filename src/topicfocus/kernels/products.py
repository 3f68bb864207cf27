"""Products of documents x words counts with tall matrices.

Unlike those of scipy they release the GIL, so that chunks of documents run on threads. They are
compiled without reassociation, because the sum over the few words of a document takes three times
as long when it is vectorised.
"""

from __future__ import annotations

from topicfocus.kernels.compile import exact_kernel


@exact_kernel
def add_rows(indptr, indices, data, x, out):
    """out_d = Σ_v c_dv x_v for each document, NumPy's ``counts @ x``; x is words x columns."""
    n_columns = x.shape[1]
    if n_columns == 1:  # an inner loop of one step costs more than the step
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
