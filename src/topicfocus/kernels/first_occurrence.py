"""What the first occurrence of a word does to the linear predictors of documents.

A document without the word, then with it once: two topic mixes, of which the first is the
document's own unless it has the word. Each begins where the one before it ended, so that Newton
(`kernels.topic_mix`) has a step or two to go.
"""

from __future__ import annotations

import numpy as np

from topicfocus.kernels.compile import kernel
from topicfocus.kernels.curvature import MIX_VECTOR, mix_work, words_to_solve
from topicfocus.kernels.scratch import ROOM, apart
from topicfocus.kernels.topic_mix import included_words, map_document, pad_document
from topicfocus.kernels.word_sums import gather_document


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
        for j in range(known):
            place[here[j]] = j
        for i in range(chosen.shape[0]):
            v = chosen[i]
            slot = place[v]
            # Not mix[:] = theta[d]: numba would compile what an error of shapes says, for 2 s.
            for k in range(n_topics):
                mix[k] = theta[d, k]
            before = 0.0
            if slot < 0:
                slot = known
                for k in range(n_topics):
                    rows[k, slot] = words.table[v, k]
            else:
                before = weight[slot]
                weight[slot] = 0.0
                over = words_to_solve(rows, weight, n, prior, work.by_word)
                map_document(rows, weight, n, prior, mix, budget, over, work)
            predict_mix(coef, mix, out[d, i, 0])
            weight[slot] = words.multiplicity[v]
            over = words_to_solve(rows, weight, n, prior, work.by_word)
            map_document(rows, weight, n, prior, mix, budget, over, work)
            predict_mix(coef, mix, out[d, i, 1])
            weight[slot] = before
        for j in range(known):
            place[here[j]] = -1


@kernel
def predict_mix(coef, mix, out):
    """out_l = η_l·θ."""
    for l in range(coef.shape[0]):
        total = 0.0
        for k in range(mix.shape[0]):
            total += coef[l, k] * mix[k]
        out[l] = total
