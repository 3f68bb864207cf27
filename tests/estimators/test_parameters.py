"""Wrong parameters are errors that name the parameter, before anything is fitted."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from topicfocus import FocusedTopicRegressor, PFSLDARegressor, SLDARegressor
from topicfocus.datasets import make_reviews

REVIEWS = make_reviews(50, random_state=0)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_topics": 0}, "n_topics must be at least 1, got 0"),
        ({"n_topics": 2.5}, "n_topics must be a whole number"),
        ({"inclusion_prior": 0.0}, "inclusion_prior must be greater than 0"),
        ({"inclusion_prior": 10}, "A percentage such as 10 is written 0.1"),
        ({"inclusion_prior": "many"}, "inclusion_prior must be 'auto' or a number"),
        ({"doc_topic_prior": -1.0}, "doc_topic_prior must be greater than 0"),
        ({"doc_topic_prior": [1.0, 2.0]}, "one number for each of the 5 topics"),
        ({"supervision_weight": "strong"}, "supervision_weight must be 'auto' or a number"),
        ({"supervision_weight": 0}, "supervision_weight must be greater than 0"),
        ({"max_epochs": 0}, "max_epochs must be at least 1"),
        ({"n_jobs": 0}, "n_jobs=0 has no meaning"),
    ],
)
@pytest.mark.parametrize("cls", [PFSLDARegressor, FocusedTopicRegressor])
def test_parameters_that_both_kinds_have(cls, parameters, message):
    refused(cls(**parameters), message)


def refused(model, message):
    with pytest.raises((ValueError, TypeError), match=message):
        model.fit(REVIEWS.counts, REVIEWS.target)
    assert not hasattr(model, "components_")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"doc_topic_prior": "auto"}, "doc_topic_prior must be one of 'learn'"),
        ({"bound": "loose"}, "bound must be one of 'paper', 'tight'"),
        ({"solver": "newton"}, "solver must be one of"),
        ({"solver": "gradient", "bound": "tight"}, 'use bound="paper"'),
        ({"selection": "sort_and_cut"}, 'use bound="tight"'),
        ({"selection": "sort_and_cut", "solver": "stochastic"}, 'needs solver="coordinate"'),
        ({"solver": "gradient", "doc_topic_prior": "learn"}, 'needs solver="coordinate"'),
        ({"tol": -1.0}, "tol must be at least 0"),
        ({"batch_size": 0}, "batch_size must be at least 1"),
        ({"learning_rate": 0.0}, "learning_rate must be greater than 0"),
    ],
)
def test_joint_models(parameters, message):
    refused(PFSLDARegressor(**parameters), message)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"doc_topic_prior": "learn"}, 'doc_topic_prior="learn" is for joint models'),
        ({"validation_fraction": 0}, "validation_fraction must be greater than 0"),
        ({"themes": "yes"}, "themes must be True or False"),
        ({"selection": "best"}, "selection must be one of 'predictive', 'stable'"),
    ],
)
def test_focused_models(parameters, message):
    refused(FocusedTopicRegressor(**parameters), message)


def test_probabilities_are_those_of_levels():
    assert not hasattr(SLDARegressor(), "predict_proba")
    with pytest.raises(NotFittedError):
        SLDARegressor(family="ordinal").predict_proba(np.ones((2, 3)))
