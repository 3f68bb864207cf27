"""Topics that start from seed words of the user.

A seeded topic is one more subject beside those of `subjects`. Documents belong to it by their seed
words, and the lift of any other word is how much more often it occurs in these documents. With n_ds
the number of seed words of document d (roots of counts, like all others),

    P(s | d) = n_ds / (1 + n_ds),   lift_vs = [(C_vs + 5) / (C_v P(s) + 5) / 1.5]³,
    C_vs = Σ_d √c_dv P(s | d),   C_v = Σ_d √c_dv.

The ratio is that of the observed to the expected occurrences. A word belongs to the topic rather
than to subjects at large if it is above 1.5, so that frequent words of one sign do not fill the
topic; the power makes the topic prevail over a subject that is found in the same documents. Words
are divided among subjects by their lifts as without seeds, and a seeded topic has the signs of
its seed words: P(e | s) is the mean of P(e | v) over their tokens. The seed words themselves belong
to their topic. The optimisation moves topics little from where they start, and the prior
holds each at these words.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from topicfocus.counts import Counts
from topicfocus.passes import dot, transposed_dots

#: Tokens that are added to the occurrences of a word beside seed words, and to those expected.
SHRINKAGE = 5.0
#: Ratio of observed to expected occurrences from which a word belongs to the topic, and its power.
THRESHOLD, POWER = 1.5, 3.0
#: Fraction of the tokens of a seed word that its topic starts with.
OWN_FRACTION = 0.95


def seed_lift(
    words: Counts, weight: np.ndarray, seeds: Sequence[np.ndarray], n_jobs: int | None = None
) -> np.ndarray:
    """Lift of every word in the documents of each seeded topic, words x seeded topics.

    `words` are roots of counts, `weight` the weights of the documents, and `seeds` the columns of
    the seed words of each topic.
    """
    chosen = np.zeros((words.shape[1], len(seeds)))
    for s, columns in enumerate(seeds):
        chosen[columns, s] = 1.0
    number = dot(words, chosen, n_jobs)
    belongs = number / (1.0 + number)
    everywhere = np.ones((len(weight), 1))
    uses, _ = transposed_dots(
        words, weight[:, None] * np.hstack([belongs, everywhere]), everywhere, n_jobs
    )
    expected = uses[:, -1:] * (weight @ belongs / weight.sum())
    return ((uses[:, :-1] + SHRINKAGE) / (expected + SHRINKAGE) / THRESHOLD) ** POWER


def seeded_words(
    word_count: np.ndarray,
    about: np.ndarray,
    toward: np.ndarray,
    seeds: Sequence[np.ndarray],
) -> np.ndarray:
    """Tokens of the seeded topics, words x seeded topics.

    `about` is P(s | v) of the seeded subjects, `toward` is P(e | v), words x directions.
    """
    topics = np.empty_like(about)
    for s, columns in enumerate(seeds):
        count = np.maximum(word_count[columns], 1e-300)
        signs = count @ toward[columns] / count.sum()
        topics[:, s] = word_count * about[:, s] * (toward @ signs)
    for s, columns in enumerate(seeds):
        topics[columns] *= 1.0 - OWN_FRACTION
        topics[columns, s] = OWN_FRACTION * np.maximum(word_count[columns], 1e-300)
    return topics
