"""What the targets are, as an object by itself: no words, no topics, no estimator."""

import numpy as np
import pytest
from outside_family import NegativeBinomial

from topicfocus.estimators.targets import TargetModel
from topicfocus.families import Gaussian, Multiple, Ordinal, Poisson

Y = np.array([1.0, 4.0, 2.0, 2.0, 5.0])


def test_numbers_are_what_they_are():
    targets = TargetModel.of_numbers(Y)
    np.testing.assert_array_equal(targets.encode([3, None]), [[3.0], [np.nan]])
    family = targets.start(Y[:, None], np.ones(5))
    assert family == Gaussian(Y.var())
    f = np.array([[0.5], [2.0]])
    np.testing.assert_array_equal(targets.mean(family, f), f)
    spread = np.array([[0.1], [0.2]])
    np.testing.assert_allclose(targets.variance(family, f, spread), Y.var() + spread)
    assert targets.predictor_names() == ("y",)


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


def test_classes_of_two_kinds():
    two = TargetModel.of_classes(np.array(["no", "yes"]))
    assert two.predictor_names() == ("y is yes",)
    three = TargetModel.of_classes(np.array(["a", "b", "c"]))
    assert three.predictor_names() == ("y is a", "y is b", "y is c")
    family = three.start(three.encode(["a", "b", "c"]), np.ones(3))
    np.testing.assert_allclose(three.probabilities(family, np.zeros((1, 3)))[0], 1 / 3)
    assert two.has_classes and three.has_classes
    assert not TargetModel.of_numbers(np.array([0.0, 1.0]), "bernoulli").has_classes


def test_several_targets_are_one_family():
    y = np.column_stack([Y, Y])
    targets = TargetModel.of_numbers(y, ["gaussian", "poisson"])
    family = targets.start(targets.encode(y), np.ones(5))
    assert isinstance(family, Multiple)
    parts = targets.parts(family)
    assert [p.coding.kind for p in parts] == ["gaussian", "poisson"]
    mean = targets.mean(family, np.array([[1.0, 1.0]]))
    np.testing.assert_allclose(mean, [[1.0, np.e]])
    offset = targets.offset(np.array([np.e]), 1)
    np.testing.assert_allclose(offset, [[0.0, 1.0]])
    assert targets.predictor_names() == ("y0", "y1")


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


def test_covariates_are_scaled_and_back():
    targets = TargetModel.of_numbers(Y)
    z = np.array([[1.0], [3.0], [5.0], [7.0], [9.0]])
    beside = targets.with_covariates(z, np.ones(5))
    assert beside.n_covariates == 1 and targets.n_covariates == 0
    scaled = beside.scaled_covariates(z)
    assert scaled.mean() == pytest.approx(0) and scaled.std() == pytest.approx(1)
