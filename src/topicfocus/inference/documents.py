"""Documents as compiled code takes them."""

from __future__ import annotations

from topicfocus.inference.state import ModelState, Problem
from topicfocus.kernels.local import LocalCorpus


def local_corpus(problem: Problem, state: ModelState) -> LocalCorpus:
    """A problem as the plain arrays that kernels take."""
    counts = problem.corpus.counts
    return LocalCorpus(
        counts.indptr,
        counts.indices,
        counts.data,
        problem.targets,
        problem.target_weights,
        problem.offsets(state),
        problem.doc_weights,
    )
