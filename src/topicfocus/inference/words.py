"""How a word enters a document: its row of weights, its multiplicity, its switch.

The two bounds differ only here. In the paper's bound a token carries its topic q(z) even where it
is irrelevant, which collapses to c log Σ_k β_vk^{φ_v} e_k. In the tight bound z is integrated out
where ξ = 0, which gives c φ_v log Σ_k β_vk e_k.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import entr, xlog1py, xlogy

from topicfocus.inference.state import Bound, Hyperparameters, ModelState
from topicfocus.kernels.local import WordTable

#: A word included with no more than this probability is left out of topic mixes.
NEGLIGIBLE = 1e-8


@dataclass(frozen=True)
class WordWeights:
    """A word table for the kernels, with what was divided out of its rows.

    ``log_scale`` is the logarithm of each row's largest entry before scaling: evidence of word v
    is the kernel's plus n_v · log_scale_v. Words that no topic contains (never seen in training)
    get multiplicity 0: they are ignored.
    """

    table: WordTable
    log_scale: np.ndarray


def word_weights(
    state: ModelState, bound: Bound, dtype: type[np.floating] = np.float64
) -> WordWeights:
    """Rows and multiplicities: (β_v^{φ_v}, 1) for the paper's bound, (β_v, φ_v) for the tight."""
    largest = state.topic_word.max(axis=1)
    known = largest > 0
    safe = np.where(known, largest, 1.0)
    rows = np.where(known[:, None], state.topic_word / safe[:, None], 1.0)
    log_scale = np.log(safe)
    multiplicity = known.astype(float)
    if bound == "paper":
        if np.any(state.inclusion != 1.0):  # sLDA and LDA are spared the powers
            rows = rows ** state.inclusion[:, None]
        log_scale = log_scale * state.inclusion
    else:
        multiplicity = multiplicity * state.inclusion
    return WordWeights(WordTable(np.ascontiguousarray(rows, dtype=dtype), multiplicity), log_scale)


def mix_weights(state: ModelState) -> WordWeights:
    """What topic mixes of new documents are found with: (β_v, φ_v), words all but dropped left out.

    Inclusion stays just above zero while it is learned; there is no reason to look such words up.
    """
    weights = word_weights(state, "tight")
    table, multiplicity = weights.table
    kept = np.where(multiplicity > NEGLIGIBLE, multiplicity, 0.0)
    return WordWeights(WordTable(table, kept), weights.log_scale)


def possible_words(state: ModelState) -> np.ndarray:
    """Words that a channel contains; the others (never seen in training) are left out of bounds."""
    return (state.topic_word.max(axis=1) > 0) | (state.background > 0)


def switch_terms(
    word_count: np.ndarray, state: ModelState, hyper: Hyperparameters
) -> dict[str, float]:
    """The three terms of the bound that concern only the switches.

    E log p(ξ) = Σ n_v [φ log p + (1-φ) log(1-p)], -E log q(ξ) = Σ n_v H(φ_v), and the part of
    E log p(w) explained by the background, Σ n_v (1-φ_v) log π_v.
    """
    if not hyper.selects:
        return {"log_p_xi": 0.0, "log_q_xi": 0.0, "background": 0.0}
    phi = state.inclusion
    p = hyper.inclusion_prior
    # A word never seen has n_v = 0 and π_v = 0: its 0·log 0 counts as nothing.
    seen = (word_count > 0) & possible_words(state)
    n, phi, pi = word_count[seen], phi[seen], state.background[seen]
    return {
        "log_p_xi": float(np.sum(n * (phi * np.log(p) + xlog1py(1 - phi, -p)))),
        "log_q_xi": -float(np.sum(n * (entr(phi) + entr(1 - phi)))),
        "background": float(np.sum(n * xlogy(1 - phi, pi))),
    }
