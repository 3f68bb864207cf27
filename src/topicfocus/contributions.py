"""Exact contributions of words and topics to predictions.

**Linear predictors.** At the optimum θ̂_k = (a_k + Σ_v c_v m_v r_vk)/N, where
N = Σ_k a_k + Σ_v c_v m_v, so with ā = a/Σ_k a_k

    η·θ̂ = η·ā + Σ_v (c_v m_v / N) (η·r_v - η·ā),

the prediction for an empty document plus a contribution of every word. Since r_v sums to one, the
part of it that belongs to topic k is (c_v m_v / N) r_vk (η_k - η·ā), and its sum over words is

    (n_k / N) (η_k - η·ā),   n_k = Σ_v c_v m_v r_vk = N θ̂_k - a_k.

Words and topics are thus the two margins of one table. A topic whose η_k is below the prediction
for an empty document always has a negative contribution, and a topic without words in the document
has none. (η_k (θ̂_k - ā_k) adds up as well, but the absence of a negative topic would count as
positive.)

Without word v, the other words staying in their topics, θ̂ is (N θ̂ - c_v m_v r_v)/(N - c_v m_v),
so removing it lowers η·θ̂ by c_v m_v / (N - c_v m_v) (η·r_v - η·θ̂).

**Classes.** The scores f of classes have no meaning by themselves, since the softmax ignores a
constant added to all. The log odds of a class have,

    g_c = f_c - log Σ_{l≠c} e^{f_l} = log P(c) - log(1 - P(c)).

Let q_l be the probabilities of the other classes given that it is not c, and q⁰ those before words
(or topics, covariates) change the scores by Δ. With the logarithmic mean
L(x, y) = (x - y) / (log x - log y), L(x, x) = x,

    g_c - g_c⁰ = Δ_c - Σ_{l≠c} w_l Δ_l,   w_l = L(q_l, q_l⁰) / Σ_{j≠c} L(q_j, q_j⁰).

This is exact, because log q_l - log q_l⁰ = Δ_l - Δ(log Σ e^f) and
Σ_l L(q_l, q_l⁰)(log q_l - log q_l⁰) = Σ_l (q_l - q_l⁰) = 0 (Sato and Vartia's weights of price
indices). It is linear in Δ, so contributions to scores become contributions to log odds.

**Words and classes.** With many classes such a contribution can have another sign than the change
when the word is removed, since the likely alternatives change on the way. Removing word v lowers
g_c to first order by

    x_v = ρ_vc - Σ_{l≠c} q_l ρ_vl,

ρ_v being what the removal takes from the scores. These do not add up to the change T due to all
words. With P = Σ_{x>0} x and Q = -Σ_{x<0} x, the numbers

    s x_v where x_v > 0,  x_v / s where x_v < 0,   s = (T + √(T² + 4PQ)) / 2P,

do so exactly (s P - Q/s = T) and have the signs of x.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from topicfocus.corpus import Corpus
from topicfocus.counts import in_memory
from topicfocus.model import ModelState
from topicfocus.proportions import proportion_weights, responsibilities

#: Below this difference of the logarithms, L(x, y) = x to the last digit.
_SAME = 1e-9


@dataclass(frozen=True)
class Contributions:
    """Contributions in units of the linear predictor.

    Attributes
    ----------
    base : array (predictors,)
        η·ā, the part of the topics in the prediction for an empty document.
    words : array (nonzero counts, predictors)
        In the order of the corpus's nonzero counts.
    topics : array (documents, topics, predictors)
        (n_k / N) (η_k - η·ā).
    removal : array (nonzero counts, predictors)
        By how much removing the word would lower the predictor.
    """

    base: np.ndarray
    words: np.ndarray
    topics: np.ndarray
    removal: np.ndarray


def contributions(corpus: Corpus, state: ModelState, theta: np.ndarray) -> Contributions:
    """Contributions in every document, given θ̂."""
    weights = proportion_weights(state).table
    counts, eta = in_memory(corpus.counts), state.coef_rows.T
    prior = state.doc_topic_prior
    average = prior / prior.sum()
    base = average @ eta
    size = prior.sum() + counts @ weights.multiplicity
    words = np.zeros((counts.nnz, eta.shape[1]))
    removal, whole = np.zeros_like(words), theta @ eta
    for block in responsibilities(counts, weights.table, theta):
        amount = block.count * weights.multiplicity[block.word] / size[block.doc]
        value = block.r @ eta
        words[block.where] = amount[:, None] * (value - base)
        removal[block.where] = (amount / (1 - amount))[:, None] * (value - whole[block.doc])
    explained = theta - prior / size[:, None]  # n_k / N
    return Contributions(base, words, explained[:, :, None] * (eta - base), removal)


def log_odds(scores: np.ndarray) -> np.ndarray:
    """g_c of every class, from scores (documents x classes)."""
    out = np.empty_like(scores, dtype=float)
    for c in range(scores.shape[1]):
        out[:, c] = scores[:, c] - logsumexp(np.delete(scores, c, axis=1), axis=1)
    return out


def contrast(before: np.ndarray, after: np.ndarray, c: int) -> np.ndarray:
    """1 for class c and -w_l for the others, documents x classes; rows sum to zero."""
    others = np.delete(np.arange(before.shape[1]), c)
    old, new = (_log_shares(scores[:, others]) for scores in (before, after))
    gap = np.abs(new - old)
    near = gap < _SAME
    # The larger one times (1 - e^{-gap})/gap: neither overflows nor cancels.
    slope = np.where(near, 1.0, -np.expm1(-gap) / np.where(near, 1.0, gap))
    means = np.exp(np.maximum(old, new)) * slope
    out = np.empty_like(before, dtype=float)
    out[:, c] = 1.0
    out[:, others] = -means / means.sum(axis=1, keepdims=True)
    return out


def against_rest(scores: np.ndarray, c: int) -> np.ndarray:
    """∂g_c/∂f, 1 for class c and -q_l for the others; rows sum to zero."""
    out = -np.exp(_log_shares(np.delete(scores, c, axis=1)))
    return np.insert(out, c, 1.0, axis=1)


def shared_out(
    amounts: np.ndarray, removal: np.ndarray, owner: np.ndarray, n_docs: int
) -> np.ndarray:
    """The sum of `amounts` over each document, divided among words by the effect of their removal.

    `owner` is the document of every entry. `amounts` are returned where no removal has the sign of
    their sum.
    """
    total, up, down = (
        np.bincount(owner, values, n_docs)
        for values in (amounts, np.maximum(removal, 0.0), np.maximum(-removal, 0.0))
    )
    root = np.sqrt(total**2 + 4 * up * down)
    with np.errstate(divide="ignore", invalid="ignore"):
        # Two forms of s: the one without cancellation.
        factor = np.where(total > 0, (total + root) / (2 * up), 2 * down / (root - total))
        shared = removal * np.where(removal > 0, factor[owner], 1.0 / factor[owner])
    possible = np.isfinite(factor) & (factor > 0)
    return np.where(possible[owner], np.where(removal == 0, 0.0, shared), amounts)


def _log_shares(scores: np.ndarray) -> np.ndarray:
    return scores - logsumexp(scores, axis=1, keepdims=True)
