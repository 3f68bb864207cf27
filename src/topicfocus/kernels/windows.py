"""Counts of windows with a word, and with two words.

A window of w tokens slides over each document one token at a time; a document of at most w tokens
is one window. Counts change only at moves at which a word enters or leaves, so a pair is counted
when the first of the two leaves: the windows since the second of them entered.
"""

from __future__ import annotations

import numpy as np

from topicfocus.kernels.compile import helper, kernel


@helper
def _leave(word, now, since, here, place, n_here, together):
    """Take a word out of the present ones; add the windows that each of them shared with it."""
    began = since[word]
    for i in range(n_here):
        other = here[i]
        together[word, other] += now - max(began, since[other])
    n_here -= 1
    last = here[n_here]
    here[place[word]] = last
    place[last] = place[word]
    place[word] = -1
    return n_here


@kernel
def window_counts(ids, ends, n_words, window, exact):
    """Count the windows that contain each word, and each pair of words.

    Parameters
    ----------
    ids : array of int
        The words of all documents, one after the other; those below zero are not counted.
    ends : array of int
        Where each document ends in `ids`.
    n_words, window : int
    exact : bool
        Whether a word is in a window while any copy of it is; else it is forgotten when a copy
        leaves at the front, unless the token that enters at that move is the same word.

    Returns
    -------
    together : array (n_words, n_words)
        Windows with each pair, symmetric; the diagonal has those with a word.
    n_windows : int
    """
    together = np.zeros((n_words, n_words), dtype=np.int64)
    copies = np.zeros(n_words, dtype=np.int64)  # of a word in the window
    since = np.zeros(n_words, dtype=np.int64)  # first window of a word that is here
    here = np.zeros(n_words, dtype=np.int64)  # the words that are here, in any order
    place = np.full(n_words, -1, dtype=np.int64)  # where in `here`, or -1
    n_windows = 0
    begin = 0
    for end in ends:
        length = end - begin
        last_window = max(length - window, 0)
        n_here = 0
        for j in range(length):
            now = max(j - window + 1, 0)  # the window whose last token is j
            entering = ids[begin + j]
            leaving = ids[begin + j - window] if j >= window else -1
            if leaving >= 0:
                copies[leaving] -= 1
                gone = copies[leaving] == 0 or not exact
                if gone and place[leaving] >= 0 and leaving != entering:
                    n_here = _leave(leaving, now, since, here, place, n_here, together)
            if entering >= 0:
                copies[entering] += 1
                if place[entering] < 0:
                    since[entering] = now
                    here[n_here] = entering
                    place[entering] = n_here
                    n_here += 1
        while n_here > 0:
            n_here = _leave(here[n_here - 1], last_window + 1, since, here, place, n_here, together)
        for j in range(max(length - window, 0), length):
            if ids[begin + j] >= 0:
                copies[ids[begin + j]] = 0
        n_windows += last_window + 1
        begin = end
    # A pair was counted at whichever left first.
    for i in range(n_words):
        for j in range(i):
            together[i, j] += together[j, i]
            together[j, i] = together[i, j]
    return together, n_windows
