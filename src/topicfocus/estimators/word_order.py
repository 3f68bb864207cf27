"""Which words stand for a topic: orders of its own words, and the dropped words it goes with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.stats import rankdata

#: Orders of a topic's words, and the one that is shown where none is asked for.
ORDERS = ("probability", "relevance", "frex")
DEFAULT_ORDER = "probability"
#: λ of the relevance, and the weight of exclusivity in FREX.
RELEVANCE = 0.4
EXCLUSIVITY = 0.5
#: Expected occurrences that a dropped word's lift is shrunken by.
CONTEXT_SHRINKAGE = 5.0


def word_scores(
    components: np.ndarray, share: np.ndarray, order: str, relevance: float = RELEVANCE
) -> np.ndarray:
    """Topics x words, larger is earlier; -inf for words that a topic does not contain.

    Parameters
    ----------
    components : array (topics, words)
        β, rows sum to one.
    share : array (words,)
        p_v, above zero where a topic contains the word.
    order : {"probability", "relevance", "frex"}
        log β_vk; λ log β_vk + (1-λ) log(β_vk / p_v); or 1 / (ω / E_vk + (1-ω) / F_vk), with E and F
        the ranks of β_vk / Σ_j β_vj and of β_vk among the words of topic k, as shares of them.
    relevance : float
        λ.
    """
    with np.errstate(divide="ignore"):
        log = np.log(components)
    if order == "probability":
        return log
    if order == "relevance":
        return log - (1 - relevance) * np.log(np.where(share > 0, share, 1.0))
    total = components.sum(axis=0)
    out = np.full(components.shape, -np.inf)
    for k, beta in enumerate(components):
        words = np.flatnonzero(beta)
        often = rankdata(beta[words]) / len(words)
        own = rankdata(_rounded(beta[words] / total[words])) / len(words)
        out[k, words] = 1 / (EXCLUSIVITY / own + (1 - EXCLUSIVITY) / often)
    return out


def _rounded(share: np.ndarray) -> np.ndarray:
    """Without the last digits, so that words of one topic alone are ties."""
    return np.round(share, 12)


def context_scores(context: np.ndarray) -> np.ndarray:
    """Topics x words, larger is earlier, above zero for words that a topic goes with.

    √C_vk · log((C_vk + s) / (E_vk + s)): the lift over E_vk = C_v· C_·k / C_··, what would be
    expected if the word did not mind the topics, shrunken by s = 5 occurrences, times the root of
    how often it occurs. The root makes it a z score where the lift is small, so neither a rare
    word of one document nor "the" comes first.
    """
    counts = context.astype(float)
    total = max(counts.sum(), 1e-300)
    expected = counts.sum(axis=1, keepdims=True) * (counts.sum(axis=0) / total)
    lift = np.log((counts + CONTEXT_SHRINKAGE) / (expected + CONTEXT_SHRINKAGE))
    return (np.sqrt(counts) * lift).T


def first_words(
    scores: np.ndarray, n: int, names: Any, listed: Callable[[np.ndarray], np.ndarray]
) -> list[list[str]]:
    """The n best words of each topic, of those whose scores are `listed`."""
    best = np.argsort(-scores, axis=1, kind="stable")[:, :n]
    return [
        [str(names[v]) for v in words[listed(scores[k, words])]] for k, words in enumerate(best)
    ]
