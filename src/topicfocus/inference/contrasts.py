"""A class against the others: log odds as an exact sum, though they are not linear in the scores.

Scores f of classes mean nothing alone: the softmax ignores what is added to all of them. What a
class has against the rest are its log odds

    g_c = f_c - log Σ_{l≠c} e^{f_l} = log P(c) - log(1 - P(c)).

Let q_l be the probabilities of the other classes, given that it is not c, and q⁰ those before the
words (or topics, covariates) that change the scores by Δ. With the logarithmic mean
L(x, y) = (x - y) / (log x - log y), L(x, x) = x,

    g_c - g_c⁰ = Δ_c - Σ_{l≠c} w_l Δ_l,   w_l = L(q_l, q_l⁰) / Σ_{j≠c} L(q_j, q_j⁰),

exactly: log q_l - log q_l⁰ = Δ_l - Δ(log Σ e^f), and Σ_l L(q_l, q_l⁰)(log q_l - log q_l⁰) =
Σ_l (q_l - q_l⁰) = 0. (Sato and Vartia's weights of price indices.) They sum to one, so what is
added to all scores adds nothing, and they are large where a class is, or was, a likely alternative.
The right side is linear in Δ: what a part changes the scores by becomes what it adds to the log
odds.

**Words.** Of many classes such an amount can have another sign than what taking the word out does:
the alternatives are others at the end than at the beginning, and a word that speaks for c less than
the rest of the document dilutes it. What taking word v out takes from g_c is, to first order,

    x_v = ρ_vc - Σ_{l≠c} q_l ρ_vl,

ρ_v being what it takes from the scores (`inference.contributions`) and q the shares in the document
as it is. These do not add up to what the words do together, T; with P = Σ_{x>0} x and
Q = -Σ_{x<0} x,

    s x_v where x_v > 0,  x_v / s where x_v < 0,   s = (T + √(T² + 4PQ)) / 2P,

do, exactly (s P - Q/s = T), with the signs of x. s = 1 where removals add up by themselves.
"""

from __future__ import annotations

import numpy as np
from scipy.special import logsumexp

#: Logarithms closer than this are the same: L(x, y) = x to the last digit.
_SAME = 1e-9


def log_odds(scores: np.ndarray) -> np.ndarray:
    """g_c of every class, rows of scores in, rows of the same length out."""
    out = np.empty_like(scores, dtype=float)
    for c in range(scores.shape[1]):
        out[:, c] = scores[:, c] - logsumexp(np.delete(scores, c, axis=1), axis=1)
    return out


def contrast(before: np.ndarray, after: np.ndarray, c: int) -> np.ndarray:
    """1 for class c and -w_l for the others: documents x classes, rows sum to zero."""
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
    """1 for class c and -q_l for the others: the slope of g_c, rows sum to zero."""
    out = -np.exp(_log_shares(np.delete(scores, c, axis=1)))
    return np.insert(out, c, 1.0, axis=1)


def shared_out(
    amounts: np.ndarray, removal: np.ndarray, owner: np.ndarray, n_docs: int
) -> np.ndarray:
    """Σ_v amounts of each document, shared out by what taking each word out does.

    `owner` is the document of every entry. Where removals all have the sign that the sum has not,
    `amounts` stay as they are.
    """
    total, up, down = (
        np.bincount(owner, values, n_docs)
        for values in (amounts, np.maximum(removal, 0.0), np.maximum(-removal, 0.0))
    )
    root = np.sqrt(total**2 + 4 * up * down)
    with np.errstate(divide="ignore", invalid="ignore"):
        # Twice the same number: the one that does not cancel.
        factor = np.where(total > 0, (total + root) / (2 * up), 2 * down / (root - total))
        shared = removal * np.where(removal > 0, factor[owner], 1.0 / factor[owner])
    possible = np.isfinite(factor) & (factor > 0)
    return np.where(possible[owner], np.where(removal == 0, 0.0, shared), amounts)


def _log_shares(scores: np.ndarray) -> np.ndarray:
    return scores - logsumexp(scores, axis=1, keepdims=True)
