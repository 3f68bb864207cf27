"""Words that correlate with the topics of the words kept, without being associated with the target.

Topics make the words of a document vary together. Let x_d be the counts of its kept words, ℓ_d
their sum and p_v the fraction of word v in all kept tokens. The factors are the leading principal
directions of (x_dv - ℓ_d p_v)/√p_v, which multinomial noise makes white; K topics span K-1. For
another word with counts c_d and rate q in documents of length L_d,

    t = Σ_d (c_d - q L_d) s_d,    C = Σ_d (c_d - q L_d)² s_d s_dᵀ,    tᵀ C⁻¹ t ~ χ²(K-1),

s_d being the factor scores, if the rate of the word does not depend on the topics. Scores are
linear in the tokens with mean zero, so that the given length of a document does not bias t.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse.linalg import LinearOperator, eigsh
from scipy.stats import chi2

from topicfocus.counts import Counts, Rows, take_columns
from topicfocus.kernels.products import add_rows, add_words
from topicfocus.model import Problem
from topicfocus.passes import (
    Arrays,
    Task,
    dot,
    row_sums,
    run_pass,
    transposed_dot,
    transposed_dots,
    zeros,
)

#: Largest number of rounds. Added words improve the factors; a round without new words is the last.
_MOST_ROUNDS = 10
#: Familywise error of the test.
FAMILYWISE_ERROR = 0.05


def factor_scores(words: Counts, weight: np.ndarray, n_factors: int) -> np.ndarray:
    """Factor scores s_d, documents x factors."""
    length = row_sums(words)
    count = transposed_dot(words, weight)
    share = count / count.sum()
    scale = 1.0 / np.sqrt(np.maximum(share, 1e-300))

    def forward(x: np.ndarray) -> np.ndarray:
        x = scale * x.ravel()
        return dot(words, x) - length * (share @ x)

    def square_dot(x: np.ndarray) -> np.ndarray:
        """AᵀAx for the centred and scaled counts A, in one pass over the documents."""
        x = scale * x.ravel()
        task = Task(
            kernel=_square,
            make=zeros((len(x), 1), 1),
            shared=(x[:, None], share @ x),
            given=(length[:, None], weight[:, None]),
            by_word=True,
            light=True,
        )
        sums, total = run_pass(words, task, None)
        return scale * (sums[:, 0] - share * total[0])

    n_words = words.shape[1]
    if n_factors >= n_words - 1:  # too few words for an iterative method
        square = np.column_stack([square_dot(e) for e in np.eye(n_words)])
        directions = np.linalg.eigh(square)[1][:, ::-1][:, :n_factors]
    else:
        operator = LinearOperator((n_words, n_words), matvec=square_dot, dtype=float)
        # A fixed start, so that the same data give the same words.
        start = np.random.default_rng(0).standard_normal(n_words)
        directions = eigsh(operator, k=n_factors, v0=start, tol=1e-4)[1]
    return np.column_stack([forward(direction) for direction in directions.T])


def _square(rows: Rows, shared: tuple, given: Arrays, changed: Arrays, total: Arrays) -> None:
    """r_d = w_d (x_d·x - ℓ_d p·x), and its sums over the documents of each word."""
    x, offset = shared
    length, weight = given
    r = np.empty((rows.n_docs, 1))
    add_rows(*rows, x, r)
    r -= length * offset
    np.multiply(weight, r, out=r)
    add_words(*rows, r, total[0])
    total[1][:] += length[:, 0] @ r


def factor_dependence(
    words: Counts, length: np.ndarray, weight: np.ndarray, scores: np.ndarray
) -> np.ndarray:
    """tᵀ C⁻¹ t of every word, by the formula of the module."""
    n_factors = scores.shape[1]
    rate = transposed_dot(words, weight) / (weight @ length)
    pairs = (scores[:, :, None] * scores[:, None, :]).reshape(len(scores), -1)
    scores, pairs = weight[:, None] * scores, weight[:, None] * pairs
    both = np.column_stack([scores, pairs * length[:, None]])
    sums, squares = transposed_dots(words, both, pairs)
    score = sums[:, :n_factors] - np.outer(rate, length @ scores)
    spread = squares - 2 * rate[:, None] * sums[:, n_factors:]
    spread += (rate**2)[:, None] * (length**2 @ pairs)
    spread = spread.reshape(-1, n_factors, n_factors)
    size = np.trace(spread, axis1=1, axis2=2) / n_factors
    spread += (1e-9 * size + 1e-300)[:, None, None] * np.eye(n_factors)
    return np.einsum("vk,vk->v", score, np.linalg.solve(spread, score[:, :, None])[:, :, 0])


def add_correlated_words(
    kept: np.ndarray,
    problem: Problem,
    inclusion_prior: float,
    n_topics: int,
    *,
    drop: np.ndarray | None = None,
) -> np.ndarray:
    """The columns kept, and words that correlate with their topics, up to the inclusion.

    Words whose dependence on the factors is significant are added, the largest per token first.
    Words in `drop` are never added.
    """
    corpus, weight, count = problem.corpus, problem.doc_weights, problem.word_counts
    needed = chi2.isf(FAMILYWISE_ERROR / max(len(count), 1), max(n_topics - 1, 1))
    inside = np.zeros(len(count), dtype=bool)
    inside[kept] = True
    allowed = count > 0
    if drop is not None:
        allowed[drop] = False
    for _ in range(_MOST_ROUNDS):
        room = inclusion_prior * count.sum() - count[inside].sum()
        others = np.flatnonzero(allowed & ~inside)
        known = np.flatnonzero(inside & (count > 0))
        n_factors = min(n_topics, len(known)) - 1
        if room <= 0 or n_factors < 1 or len(others) == 0:
            break
        scores = factor_scores(take_columns(corpus.counts, known), weight, n_factors)
        rest = take_columns(corpus.counts, others)
        found = factor_dependence(rest, row_sums(corpus.counts), weight, scores)
        order = np.argsort(-found / count[others], kind="stable")
        order = order[found[order] > needed]
        taken = np.cumsum(count[others[order]])
        order = order[taken <= room]
        if len(order) == 0:
            break
        inside[others[order]] = True
    return np.flatnonzero(inside)
