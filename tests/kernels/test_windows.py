"""Counting windows, beside every window written out."""

import kernel_twins as reference
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topicfocus.kernels.windows import window_counts

DOCUMENTS = st.lists(st.lists(st.integers(-1, 4), max_size=25), min_size=1, max_size=6)


def by_kernel(documents, n_words, window, exact):
    ids = np.array([word for document in documents for word in document], dtype=np.int32)
    ends = np.cumsum([len(document) for document in documents])
    return window_counts(ids, ends, n_words, window, exact)


@pytest.mark.parametrize("exact", [True, False])
@given(documents=DOCUMENTS, window=st.integers(2, 30))
def test_twin(documents, window, exact):
    together, n_windows = by_kernel(documents, 5, window, exact)
    expected, expected_windows = reference.window_counts(documents, 5, window, exact)
    np.testing.assert_array_equal(together, expected)
    assert n_windows == expected_windows


def test_a_repeated_word():
    document = [[0, 1, 0, 2]]  # windows of three: 0 1 0 and 1 0 2
    together, n_windows = by_kernel(document, 3, 3, True)
    assert n_windows == 2
    np.testing.assert_array_equal(together, [[2, 2, 1], [2, 2, 1], [1, 1, 1]])
    forgotten, _ = by_kernel(document, 3, 3, False)  # 0 leaves at the front, though still inside
    np.testing.assert_array_equal(forgotten, [[1, 1, 0], [1, 2, 1], [0, 1, 1]])


def test_a_document_without_tokens_is_a_window():
    together, n_windows = by_kernel([[], [0, 1], []], 2, 5, True)
    assert n_windows == 3
    np.testing.assert_array_equal(together, [[1, 1], [1, 1]])
