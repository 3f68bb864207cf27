"""scikit-learn's own checks of estimators, all of them, for every class."""

import numpy as np
import pytest
from model_files import MODELS
from sklearn.base import ClassifierMixin
from sklearn.datasets import make_blobs
from sklearn.decomposition import LatentDirichletAllocation
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks

import topicfocus

SMALL = {"n_topics": 2, "max_epochs": 3, "n_jobs": 1}
ESTIMATORS = [getattr(topicfocus, name)(**SMALL) for name in MODELS]
CLASSIFIERS = [model for model in ESTIMATORS if isinstance(model, ClassifierMixin)]

# The checks pass random numbers as X; users who do that are warned.
pytestmark = pytest.mark.filterwarnings("ignore::topicfocus.corpus.FractionWarning")

EXPECTED_FAILURES = {
    "check_decision_proba_consistency": (
        "it passes negative numbers although the tag positive_only is set; scikit-learn's topic "
        "model refuses them as well. The same check on positive numbers is below."
    ),
    "check_class_weight_classifiers": (
        "it passes negative numbers, too. What class_weight means is in test_class_weight.py."
    ),
}


MINIBATCHES = "which documents share a minibatch depends on their number and order"
WEIGHT_CHECKS = (
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",
)


def expected_failures(model):
    expected = dict(EXPECTED_FAILURES) if model in CLASSIFIERS else {}
    if type(model).__name__.startswith("PFSLDA"):
        expected |= dict.fromkeys(WEIGHT_CHECKS, MINIBATCHES)
    return expected


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)
def test_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("cls", [topicfocus.PFSLDARegressor, topicfocus.PFSLDAClassifier])
@pytest.mark.parametrize("check", WEIGHT_CHECKS)
def test_weights_are_copies_in_coordinate_ascent(cls, check):
    getattr(estimator_checks, check)(cls.__name__, cls(**SMALL, solver="coordinate"))


@pytest.mark.parametrize("model", CLASSIFIERS, ids=lambda model: type(model).__name__)
def test_the_check_that_fails_passes_on_positive_numbers(model, monkeypatch):
    given = []

    def positive(**options):
        X, y = make_blobs(**options)
        given.append(X)
        return np.maximum(X, 0.0), y

    monkeypatch.setattr(estimator_checks, "make_blobs", positive)
    estimator_checks.check_decision_proba_consistency(type(model).__name__, model)
    # What the exception above rests on: these numbers are refused by scikit-learn's LDA, too.
    with pytest.raises(ValueError, match="Negative values"):
        LatentDirichletAllocation().fit(given[0])
