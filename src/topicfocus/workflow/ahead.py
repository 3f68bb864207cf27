"""A first run on a new machine compiles kernels; here a second process compiles half of them.

    python -m topicfocus.workflow.ahead      # what the second process does

Numba compiles one function at a time in a process, however many cores there are. A fit first reads,
counts and finds themes, and compiles what these need and what shapes the topics; meanwhile the
other process compiles the mixes, which come in between, and what comes last, for which the first
waits. Both write to the cache of kernels, and a kernel that is there when it is needed is read.
What is not there yet is compiled, as before: a kernel that both begin is time lost, so each has
half of the work.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from contextvars import ContextVar

from topicfocus.workflow.interrupts import undoing, uninterrupted

_WELCOME: ContextVar[bool] = ContextVar("topicfocus_second_process", default=False)
_HELPER: ContextVar[subprocess.Popen[bytes] | None] = ContextVar("topicfocus_helper", default=None)
#: Seconds that are waited for the other process at most; it takes some 25.
_PATIENCE = 120.0


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
        token = _HELPER.set(process)
        try:
            yield
        finally:
            _HELPER.reset(token)


def wait_for_help() -> None:
    """Before what comes last: the other process is at it, and ends sooner than we would."""
    process = _HELPER.get()
    if process is not None:
        with suppress(subprocess.TimeoutExpired):
            process.wait(_PATIENCE)


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
    """Call on two documents what a focused fit calls after its themes.

    Of shaping only a part: by the time that the themes are found this process is not further.
    """
    import numpy as np

    from topicfocus.corpus import make_corpus
    from topicfocus.families import Bernoulli
    from topicfocus.inference.mixes import first_occurrence, predictor_variance, topic_mixes
    from topicfocus.inference.state import ModelState
    from topicfocus.kernels.constrained import answer_at_mode
    from topicfocus.kernels.curvature import OVER_TOPICS, mix_work

    corpus = make_corpus([[2, 1, 0], [0, 1, 2]])
    ones = np.ones(2)
    topics = np.array([[0.6, 0.1], [0.3, 0.3], [0.1, 0.6]])
    state = ModelState(topics, np.ones(3), np.zeros(3), np.array([-1.0, 1.0]), Bernoulli(), ones)
    mixes = topic_mixes(corpus, state, n_jobs=1)
    work, words = mix_work(2, 16), np.ones(16)
    answer_at_mode(
        ones, np.ones((2, 16)), words, 16, work.norm, ones / 2, ones, OVER_TOPICS, work, words,
        np.empty(2),
    )  # fmt: skip
    predictor_variance(corpus, state, mixes, n_jobs=1)
    first_occurrence(corpus, state, mixes, np.arange(3), n_jobs=1)


if __name__ == "__main__":
    compile_late_kernels()
