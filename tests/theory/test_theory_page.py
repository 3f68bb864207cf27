"""Formulas of docs/focused.md, intervals.md that are checked nowhere else in this form."""

from __future__ import annotations

import numpy as np
import pytest

from topicfocus import FocusedTopicRegressor
from topicfocus.datasets import make_reviews


@pytest.fixture(scope="module")
def fitted():
    reviews = make_reviews(400, random_state=0)
    model = FocusedTopicRegressor(4, random_state=0).fit(reviews.counts, reviews.target)
    return model, reviews.counts[:5]


def parts(model, counts, theta):
    """w_v, β_v and n_v of one document, as the page has them."""
    row = counts.toarray()[0] if counts.ndim == 2 else counts.toarray()
    here = np.flatnonzero((row > 0) & (model.word_weight_ > 0))
    weight = model.word_weight_[here] * np.sqrt(row[here])
    beta = model.components_[:, here].T
    return weight, beta, beta @ theta


def test_mixes_are_stationary(fitted):
    model, counts = fitted
    for d, theta in enumerate(model.transform(counts)):
        weight, beta, n = parts(model, counts[[d]], theta)
        gradient = (weight / n) @ beta + model.doc_topic_prior_ / theta
        np.testing.assert_allclose(gradient, gradient.mean(), rtol=1e-5)


def test_variance_of_a_prediction(fitted):
    model, counts = fitted
    _, deviation = model.predict(counts, return_std=True)
    for d, theta in enumerate(model.transform(counts)):
        weight, beta, n = parts(model, counts[[d]], theta)
        curvature = (beta * (weight / n**2)[:, None]).T @ beta
        curvature += np.diag(model.doc_topic_prior_ / theta**2)
        inverse = np.linalg.inv(curvature)
        along = inverse.sum(axis=1)
        covariance = inverse - np.outer(along, along) / along.sum()
        (rho,) = model.fitted_.variance_factor
        spread = model.coef_.ravel() @ covariance @ model.coef_.ravel()
        variance = model.noise_variance_ + rho * spread
        np.testing.assert_allclose(deviation[d] ** 2, variance, rtol=1e-4)


def test_with_a_heavy_prior_a_mix_is_linear_in_the_words():
    reviews = make_reviews(400, random_state=0)
    model = FocusedTopicRegressor(4, doc_topic_prior=1e4, random_state=0)
    model.fit(reviews.counts, reviews.target)
    prior, coef = model.doc_topic_prior_, model.coef_.ravel()
    average = prior / prior.sum()
    for d, theta in enumerate(model.transform(reviews.counts[:5])):
        weight, beta, _ = parts(model, reviews.counts[[d]], theta)
        share = average * beta
        share /= share.sum(axis=1, keepdims=True)
        linear = weight @ (share @ coef - average @ coef) / prior.sum()
        np.testing.assert_allclose(coef @ theta - coef @ average, linear, rtol=0.02, atol=1e-9)
