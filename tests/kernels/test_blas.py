"""BLAS has one thread while a model is trained, and as many as before afterwards."""

from __future__ import annotations

import threading

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from topicfocus.kernels.blas import one_blas_thread


def blas_threads():
    return [lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"]


@pytest.fixture(autouse=True)
def three_threads():
    """A number that nothing here would set by itself."""
    with threadpool_limits(3, user_api="blas"):
        yield


def test_one_thread_inside_and_as_before_outside():
    before = blas_threads()
    assert set(before) == {3}
    with one_blas_thread():
        assert set(blas_threads()) == {1}
        with one_blas_thread():
            assert set(blas_threads()) == {1}
        assert set(blas_threads()) == {1}
    assert blas_threads() == before


def test_an_error_lifts_the_limit_too():
    with pytest.raises(ZeroDivisionError), one_blas_thread():
        1 / 0  # noqa: B018
    assert set(blas_threads()) == {3}


def test_another_thread_changes_nothing():
    """It could not lift a limit again that is set meanwhile."""
    seen = []

    def other():
        with one_blas_thread():
            seen.append(blas_threads())

    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    assert set(seen[0]) == {3}
    assert set(blas_threads()) == {3}
