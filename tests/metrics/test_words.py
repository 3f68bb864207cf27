import hypothesis.extra.numpy as hnp
import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from topicfocus.metrics import (
    channel_overlap,
    matched_topics,
    selection_scores,
    topic_diversity,
)


@pytest.mark.parametrize(
    ("inclusion", "relevant", "expected"),
    [
        ([0, 0], [True, False], (0, 0)),
        ([0, 0], [False, False], (1, 1)),
        ([1, 0], [False, False], (0, 1)),
        ([1, 0], [True, False], (1, 1)),
    ],
)
def test_selection_is_never_nan(inclusion, relevant, expected):
    assert selection_scores(inclusion, relevant) == expected


@pytest.mark.parametrize(
    ("inclusion", "relevant", "message"),
    [
        ([0.5, 1], [True], "inconsistent numbers of samples"),
        ([0.5, 1.2], [True, False], r"inclusion must be in \[0, 1\]"),
        ([0.5, 1, 0], [0, 1, 2], "relevant must be a mask"),
    ],
)
def test_selection_refuses(inclusion, relevant, message):
    with pytest.raises(ValueError, match=message):
        selection_scores(inclusion, relevant)


@given(
    kept=hnp.arrays(bool, 40),
    weights=hnp.arrays(float, (3, 40), elements=st.floats(1e-3, 1)),
)
def test_overlap_of_disjoint_channels_is_exactly_zero(kept, weights):
    kept[0], kept[1] = True, False
    components, background = weights * kept, weights[0] * ~kept
    assert channel_overlap(components, background) == 0.0
    background[0] = 1e-6  # one shared word is enough
    assert channel_overlap(components, background) > 0.0


@pytest.mark.parametrize(
    ("components", "message"),
    [
        ([0.5, 0.5], "Expected 2D array"),
        ([[0.5, 0.5], [-0.1, 1.1]], "Negative values"),
        ([[0.5, np.nan]], "components contains NaN"),
        ([[0.5, 0.5], [0, 0]], "topic 1 of components has no words"),
    ],
)
def test_bad_topics(components, message):
    with pytest.raises(ValueError, match=message):
        topic_diversity(components)
    with pytest.raises(ValueError, match=message):
        channel_overlap(components, [0.5, 0.5])


def test_bad_background_and_top_n():
    with pytest.raises(ValueError, match=r"components has 2 words but background has shape \(3,\)"):
        channel_overlap([[0.5, 0.5]], [1, 0, 0])
    with pytest.raises(ValueError, match="background contains NaN"):
        channel_overlap([[0.5, 0.5]], [1, np.nan])
    with pytest.raises(ValueError, match="top_n must be at least 1, got 0"):
        topic_diversity([[1.0]], top_n=0)


def test_matched_topics_are_one_to_one():
    truth = np.eye(4)[:3]
    found = np.array([[0, 0, 1, 0], [0.8, 0.6, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1]], dtype=float)
    np.testing.assert_allclose(matched_topics(found, truth), [1.0, 0.6, 1.0])
    # Whatever the order, and the sizes of rows.
    np.testing.assert_allclose(matched_topics(5 * found[::-1], truth), [1.0, 0.6, 1.0])
    np.testing.assert_allclose(matched_topics(truth, truth), 1)


def test_planted_topics_that_are_left_over_have_zero():
    np.testing.assert_allclose(matched_topics([[1.0, 0, 0]], np.eye(3)), [1, 0, 0])
    with pytest.raises(ValueError, match="components has 2 words but truth has 3"):
        matched_topics([[0.5, 0.5]], np.eye(3))
    with pytest.raises(ValueError, match="has no words"):
        matched_topics([[0.0, 0.0]], [[0.5, 0.5]])
