"""Which words stand for a topic: orders of its own words, and the dropped words it goes with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.stats import rankdata

from topicfocus.estimators.fitted import Fitted

#: Orders of a topic's words.
ORDERS = ("telling", "probability", "relevance", "frex")
#: λ of the relevance, and the weight of exclusivity in FREX.
RELEVANCE = 0.4
EXCLUSIVITY = 0.5
#: Expected occurrences that a dropped word's lift is shrunken by.
CONTEXT_SHRINKAGE = 5.0
#: Share of a word's occurrences that an excess of them has to exceed: less is rounding.
_ROUNDING = 1e-5
#: A topic whose coefficients are closer to the average than this share of what is usual has no
#: direction, and asks none of its words.
_NO_DIRECTION = 0.1


def has_telling(fitted: Fitted) -> bool:
    """Whether the distinctive words of its topics are known."""
    return fitted.context is not None and fitted.leaning is not None


def usual_order(fitted: Fitted) -> str:
    """The order in which words are shown where none is asked for.

    Topics that are a theme with a direction are told by their telling words. Those of other models
    are what other packages print: the most probable words.
    """
    return "telling" if fitted.shaping == "themes" and has_telling(fitted) else "probability"


def naming_order(fitted: Fitted) -> str:
    """The order of the few words that a topic is called by, which are to tell it from the others.

    Probable words are often those of several topics.
    """
    order = usual_order(fitted)
    return "relevance" if order == "probability" else order


def topic_scores(
    fitted: Fitted, order: str | None = None, relevance: float = RELEVANCE
) -> np.ndarray:
    """Topics x words of a model, larger is earlier; -inf for words that are not listed."""
    order = usual_order(fitted) if order is None else order
    if order == "telling":
        return telling_scores(fitted)
    return word_scores(fitted.components, fitted.word_share, order, relevance)


def telling_scores(fitted: Fitted) -> np.ndarray:
    """Topics x words: what a reader learns of a topic by a word.

        (C_vk - E_vk)₊ · √r_vk · t_vk,   r_vk = β_vk / Σ_j β_vj,   t_vk = l/(1 + l), l = (u_v·e_k)₊

    C_vk is how often word v occurs beside the *other* words of topic k, E_vk = C_v· C_·k / C_·· how
    often it would if it did not mind the topics, r how much it is the topic's own, and l how far
    it leans the topic's way: u are the words' slopes against the targets, of size one for each
    predictor, and e_k is the direction of the topic's coefficients, less those of an average topic.
    So a word that leans no way counts little, and beyond an average word's leaning more of it
    hardly counts. After the words of which all of this is true come those of which a topic has more
    than its part (r_vk ≥ 1/K), by their probability.
    """
    assert fitted.context is not None and fitted.leaning is not None
    beta = fitted.components
    kept = np.flatnonzero(beta.max(axis=0) > 0)
    own = beta[:, kept] / beta[:, kept].sum(axis=0)
    beside = fitted.context[kept].T.astype(float)
    often = beside.sum(axis=0)
    expected = np.outer(beside.sum(axis=1), often) / max(beside.sum(), 1e-300)
    excess = beside - expected
    excess[excess <= _ROUNDING * often] = 0.0
    toward = leanings_toward(fitted.leaning[kept], fitted.state.coef_rows)
    telling = excess * np.sqrt(own) * toward
    out = np.full(beta.shape, -np.inf)
    others = np.where(own >= (1 - _ROUNDING) / len(beta), beta[:, kept] - 1.0, -np.inf)
    out[:, kept] = np.where(telling > 0, telling, others)
    return out


def leanings_toward(leaning: np.ndarray, coef: np.ndarray) -> np.ndarray:
    """t, topics x words: whether words lean the way that a topic goes, from 0 to 1.

    Parameters
    ----------
    leaning : array (words, predictors)
    coef : array (predictors, topics)
    """
    away = coef - coef.mean(axis=1, keepdims=True)
    away = away / _size(away, axis=1)
    size = np.linalg.norm(away, axis=0)
    lean = leaning / _size(leaning, axis=0)
    along = np.maximum(lean @ (away / np.maximum(size, 1e-300)), 0.0).T
    toward = along / (1 + along)
    toward[size <= _NO_DIRECTION * _size(size, axis=0)] = 1.0
    return toward


def _size(values: np.ndarray, axis: int) -> np.ndarray:
    """Root mean square; one where all are zero."""
    size = np.sqrt(np.mean(values**2, axis=axis, keepdims=True))
    return np.where(size > 0, size, 1.0)


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


def context_scores(context: np.ndarray, dropped: np.ndarray) -> np.ndarray:
    """Topics x words, larger is earlier, above zero for dropped words that a topic goes with.

    √C_vk · log((C_vk + s) / (E_vk + s)): the lift over E_vk = C_v· C_·k / C_··, what would be
    expected if the word did not mind the topics, shrunken by s = 5 occurrences, times the root of
    how often it occurs. The root makes it a z score where the lift is small, so neither a rare
    word of one document nor "the" comes first. Sums are over the `dropped` words.
    """
    counts = np.where(dropped[:, None], context, 0.0)
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


def reciprocal_ranks(scores: np.ndarray) -> np.ndarray:
    """1 for the first word of a topic, 1/2 for the second, and so on; 0 for those not listed."""
    out = np.zeros(scores.shape)
    for k, row in enumerate(scores):
        words = np.argsort(-row, kind="stable")[: int(np.sum(row > -np.inf))]
        out[k, words] = 1 / np.arange(1, len(words) + 1)
    return out
