"""Evidence that lasts: what halves of the documents find on average, luck taken off.

A word that says something in one sample and nothing in another is not what a stable selection is
to keep. Halves of the sample at hand show which: the evidence of each is computed as if there were
no other documents, and averaged.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from topicfocus.inference.focused.evidence import (
    Signals,
    conjugate_gradients,
    normal_equations,
    word_evidence,
)

#: Into how many classes words are put by their frequency, of at least so many words.
CLASSES, WORDS_A_CLASS = 10, 100
#: Signals of halves that one pass over the documents serves, at most.
COLUMNS = 32


def lasting_evidence(
    signals: Signals,
    penalties: np.ndarray,
    often: np.ndarray,
    halves: np.ndarray,
    marginal_share: float,
) -> np.ndarray:
    """Mean over halves h of E[μ²_v | z_hv]^s · (Pratt_hv)^{1-s}, words x signals.

    A z² is large by strength or by luck, and with rare words more often by luck. Its expectation
    elsewhere (`expected_square`) takes that off. Pratt's measure is that of a ridge regression of
    the half; it is zero where regression and z disagree on the sign. Of words that say the same, it
    hangs on the half which has the weight, and on average all have some.

    Parameters
    ----------
    signals : Signals
    penalties : array (signals,)
        Of the ridge regressions of all documents; a half has its part of them.
    often : array (words,)
        n_v, to tell words of like frequency.
    halves : array of bool (documents, pairs)
        The documents of the first half of each pair; the others are the second.
    marginal_share : float
        s.
    """
    weight = np.ones(len(signals.values)) if signals.weight is None else signals.weight
    inside = np.hstack([halves, ~halves])
    part = weight @ inside / weight.sum()
    inside, part = inside[:, part > 0], part[part > 0]
    n_signals, at_once = len(penalties), max(COLUMNS // len(penalties), 1)
    total = np.zeros((len(often), n_signals))
    for first in range(0, len(part), at_once):
        here = slice(first, first + at_once)
        many = _side_by_side(signals, weight[:, None] * inside[:, here])
        matrix, right = normal_equations(many)
        penalty = np.outer(part[here], penalties).ravel()
        ridge = conjugate_gradients(matrix, right, penalty, np.zeros_like(right))
        found = word_evidence(many, ridge)
        expected = expected_square(found.marginal, often)
        amount = expected**marginal_share * found.joint ** (1 - marginal_share)
        total += amount.reshape(len(often), -1, n_signals).sum(axis=1)
    return total / len(part)


def _side_by_side(signals: Signals, weight: np.ndarray) -> Signals:
    """The same signals once for every column of `weight`, which are zero for documents left out."""
    n_signals = signals.values.shape[1]
    return replace(
        signals,
        values=np.tile(signals.values, weight.shape[1]),
        weight=np.repeat(weight, n_signals, axis=1),
    )


def expected_square(marginal: np.ndarray, often: np.ndarray) -> np.ndarray:
    """E[μ²_v | z_v] = k² z² + k with z ~ N(μ, 1), μ ~ N(0, s), k = s/(1 + s); words x signals.

    s is that of words of like frequency n_v, `often`: what the mean of their z² is above 1, the
    mean of noise, but at least the standard error of such a mean, √(2/m) for m words.
    """
    seen = often > 0
    n_classes = int(np.clip(seen.sum() // WORDS_A_CLASS, 1, CLASSES))
    ends = np.quantile(often[seen], np.arange(1, n_classes) / n_classes) if seen.any() else []
    place = np.where(seen, np.searchsorted(ends, often), -1)
    expected = np.zeros_like(marginal)
    for own in (np.flatnonzero(place == c) for c in range(n_classes)):
        if len(own):
            spread = np.maximum(marginal[own].mean(axis=0) - 1, np.sqrt(2 / len(own)))
            kept = spread / (1 + spread)
            expected[own] = kept**2 * marginal[own] + kept
    return expected
