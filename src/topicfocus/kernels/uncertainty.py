"""How sure the words are of a document's linear predictors: the Laplace approximation at θ̂.

At θ̂ the curvature of f(θ) (`kernels.topic_mix`) is H. The covariance of θ on the simplex is the
constrained inverse C of H, the one with C 1 = 0, so that Var(η·θ) = η·u with u = C η: the answer of
θ̂ to a push η, as in `kernels.constrained`.
"""

from __future__ import annotations

import numpy as np

from topicfocus.kernels.compile import kernel
from topicfocus.kernels.constrained import mix_response
from topicfocus.kernels.curvature import (
    MIX_VECTOR,
    factorise_curvature,
    mix_work,
    words_to_solve,
)
from topicfocus.kernels.scratch import ROOM, apart
from topicfocus.kernels.topic_mix import included_words, pad_document
from topicfocus.kernels.word_sums import gather_document


@kernel
def predictor_variances(first, last, indptr, indices, counts, words, prior, coef, theta, out):
    """out_dl = η_l·C_d η_l for documents first..last-1; `coef` predictors x topics."""
    n_topics = prior.shape[0]
    longest = 1
    for d in range(first, last):
        longest = max(longest, indptr[d + 1] - indptr[d])
    longest += MIX_VECTOR
    rows = np.empty((n_topics, longest))
    weight = apart(np.empty(longest + ROOM))
    answer = apart(np.empty(coef.size + ROOM)).reshape(coef.shape)
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
        factorise_curvature(rows, weight, n, prior, theta[d], over, work)
        mix_response(coef, rows, n, theta[d], prior, over, work, answer)
        for l in range(coef.shape[0]):
            total = 0.0
            for k in range(n_topics):
                total += coef[l, k] * answer[l, k]
            out[d, l] = max(total, 0.0)
