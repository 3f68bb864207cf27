import numpy as np
import pytest

from topicfocus.metrics import rmse


def test_rmse_by_hand():
    assert rmse([1, 2, 3, 4], [1, 2, 3, 8]) == 2.0
    assert rmse([1.5], [1.5]) == 0.0


def test_rmse_of_columns_is_not_broadcast():
    target, prediction = np.arange(4.0), np.arange(4.0) + 0.5
    assert rmse(target[:, None], prediction) == rmse(target, prediction[:, None]) == 0.5


@pytest.mark.parametrize(
    ("target", "prediction", "message"),
    [
        ([1, 2], [1, 2, 3], "target has 2 values but prediction has 3"),
        ([], [], "at least one value"),
        (np.ones((2, 2)), [1, 2], r"target must have one value .* got shape \(2, 2\)"),
        ([1, 2], [1, np.nan], "prediction must be finite, but row 1 is nan"),
        ([np.inf, 2], [1, 2], "target must be finite, but row 0 is inf"),
    ],
)
def test_rmse_refuses(target, prediction, message):
    with pytest.raises(ValueError, match=message):
        rmse(target, prediction)
