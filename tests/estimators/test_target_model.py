"""What the targets are, as an object by itself: no words, no topics, no estimator."""

import numpy as np
import pytest
from outside_family import NegativeBinomial

from topicfocus.estimators.targets import TargetModel
from topicfocus.families import Ordinal, Poisson

Y = np.array([1.0, 4.0, 2.0, 2.0, 5.0])


def test_levels_are_codes_and_back():
    targets = TargetModel.of_numbers(Y, "ordinal")
    assert targets.codings[0].labels.tolist() == [1, 2, 4, 5]
    assert targets.encode(Y).ravel().tolist() == [0, 2, 1, 1, 3]
    family = targets.start(targets.encode(Y), np.ones(5))
    assert isinstance(family, Ordinal)
    mean = targets.mean(family, np.array([[-40.0], [40.0]]))
    np.testing.assert_allclose(mean.ravel(), [1, 5])
    with pytest.raises(ValueError, match="a level never seen in fit at row 1: 3"):
        targets.encode(np.array([1.0, 3.0]))


def test_an_instance_says_which_family():
    targets = TargetModel.of_numbers(Y, Poisson())
    assert targets.codings[0].kind == "poisson"
    own = TargetModel.of_numbers(Y, NegativeBinomial(3.0))
    assert own.start(own.encode(Y), np.ones(5)) == NegativeBinomial(3.0)
    mean = own.mean(NegativeBinomial(3.0), np.array([[0.7]]))
    np.testing.assert_allclose(mean, np.exp(0.7))


@pytest.mark.parametrize(
    "family, message",
    [
        ("normal", "family must be one of"),
        (3, "family must be one of"),
        (["gaussian"], "family names 1 targets, but y has 2"),
        (NegativeBinomial(1.0), "cannot be one of several targets"),
    ],
)
def test_families_that_there_are_not(family, message):
    with pytest.raises(ValueError, match=message):
        TargetModel.of_numbers(np.column_stack([Y, Y]), family)
