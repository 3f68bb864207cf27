"""Documents as compiled code takes them."""

from __future__ import annotations

import numpy as np

from topicfocus.counts import Rows
from topicfocus.inference.state import ModelState, Problem
from topicfocus.kernels.local import LocalCorpus


def beside_words(problem: Problem, state: ModelState) -> tuple[np.ndarray, ...]:
    """What kernels are given of each document beside its words: `given` of a task."""
    return (
        np.ascontiguousarray(problem.targets),
        np.ascontiguousarray(problem.target_weights),
        problem.offsets(state),
        problem.doc_weights,
    )


def local_corpus(rows: Rows, given: tuple[np.ndarray, ...]) -> LocalCorpus:
    """Documents as the plain arrays that kernels take; `given` are those of `beside_words`."""
    return LocalCorpus(*rows, *given)
