"""scikit-learn's own checks of estimators, for the search over a regressor and a classifier."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from topicfocus import FocusedTopicRegressor, SLDAClassifier, TopicSearchCV

# Choosing the share of words is most of a small fit, and checked with the models themselves. One
# search is over a focused model, which is fitted in stages, and one over a joint one.
SMALL = {"n_topics": 2, "max_epochs": 1, "n_jobs": 1}
SEARCHES = [
    TopicSearchCV(model, {"n_topics": [2]}, cv=2, n_jobs=1)
    for model in (FocusedTopicRegressor(inclusion_prior=0.2, **SMALL), SLDAClassifier(**SMALL))
]

# The checks pass random numbers as X; users who do that are warned.
pytestmark = pytest.mark.filterwarnings("ignore::topicfocus.corpus.FractionWarning")


EXPECTED_FAILURES = {
    "check_decision_proba_consistency": "it passes negative numbers (tests/estimators has more)"
}


@parametrize_with_checks(
    SEARCHES,
    expected_failed_checks=lambda search: EXPECTED_FAILURES if search is SEARCHES[1] else {},
)
def test_checks(estimator, check):
    check(estimator)
