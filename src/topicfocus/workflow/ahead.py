"""A first run on a new machine compiles kernels; here a second process compiles half of them.

    python -m topicfocus.workflow.ahead      # what the second process does

Numba compiles one function at a time in a process, however many cores there are. A fit first reads,
counts and finds themes, and compiles what these need; meanwhile the other process compiles what
comes after them, from the first needed to the last. Both write to the cache of kernels, and a
kernel that is there when it is needed is read. What is not there yet is compiled, as before.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar

from topicfocus.workflow.interrupts import undoing, uninterrupted

_WELCOME: ContextVar[bool] = ContextVar("topicfocus_second_process", default=False)


@contextmanager
def help_is_welcome() -> Iterator[None]:
    """In this block another process may be started: the command line has this one for itself."""
    token = _WELCOME.set(True)
    try:
        yield
    finally:
        _WELCOME.reset(token)


def help_of_another() -> AbstractContextManager[None]:
    """`compiling_ahead`, where it is welcome. Called once it is sure that there is work to do."""
    return compiling_ahead() if _WELCOME.get() else nullcontext()


@contextmanager
def compiling_ahead() -> Iterator[None]:
    """The second process for the time of a block: only with two cores and kernels not compiled."""
    process = None

    def end() -> None:
        if process is not None:
            process.terminate()
            process.wait()

    with undoing(end):
        if _is_worth_it():
            with uninterrupted():  # else it could have begun, and we not know of it
                process = _begin()
        yield


def _is_worth_it() -> bool:
    from topicfocus.kernels.compile import is_cached
    from topicfocus.kernels.threads import n_threads
    from topicfocus.kernels.topic_mix import map_documents

    return is_cached(map_documents) is False and n_threads(None) > 1


def _begin() -> subprocess.Popen[bytes] | None:
    nowhere = subprocess.DEVNULL
    try:
        return subprocess.Popen(
            [sys.executable, "-m", __name__],
            env={**os.environ, "OMP_NUM_THREADS": "1"},
            stdin=nowhere,
            stdout=nowhere,
            stderr=nowhere,
        )
    except OSError:  # no more processes allowed: the fit compiles everything itself
        return None


def compile_late_kernels() -> None:
    """Call what a focused fit calls after its themes, on two documents, in that order."""
    import numpy as np

    from topicfocus.corpus import make_corpus
    from topicfocus.families import Bernoulli
    from topicfocus.inference.focused.constrained import constrained_pass
    from topicfocus.inference.mixes import first_occurrence, predictor_variance, topic_mixes
    from topicfocus.inference.state import ModelState, Problem

    corpus = make_corpus([[2, 1, 0], [0, 1, 2]])
    ones = np.ones(2)
    topics = np.array([[0.6, 0.1], [0.3, 0.3], [0.1, 0.6]])
    state = ModelState(topics, np.ones(3), np.zeros(3), np.array([-1.0, 1.0]), Bernoulli(), ones)
    mixes = topic_mixes(corpus, state, n_jobs=1)
    problem = Problem(corpus, np.array([0.0, 1.0]), ones, n_jobs=1)
    constrained_pass(problem, state, mixes.copy())
    predictor_variance(corpus, state, mixes, n_jobs=1)
    first_occurrence(corpus, state, mixes, np.arange(3), n_jobs=1)


if __name__ == "__main__":
    compile_late_kernels()
