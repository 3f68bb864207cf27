"""Predictions of one fitted model from eight threads at once."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.testing import assert_allclose

from topicfocus import FocusedTopicRegressor, PFSLDAClassifier
from topicfocus.datasets import make_reviews

REVIEWS = make_reviews(300, random_state=0)
NEW = make_reviews(400, random_state=1).counts


@pytest.mark.parametrize("cls", [FocusedTopicRegressor, PFSLDAClassifier])
def test_predictions_from_eight_threads(cls):
    regressor = cls is FocusedTopicRegressor
    target = REVIEWS.target if regressor else REVIEWS.target > 5
    model = cls(3, max_epochs=10, n_jobs=2, random_state=0).fit(REVIEWS.counts, target)
    predict = model.predict if regressor else model.predict_proba
    wanted, shares = predict(NEW), model.token_proportions(NEW)
    # Pieces of many sizes, so that threads meet in different places of the kernels.
    rng = np.random.default_rng(0)
    pieces = [np.sort(rng.choice(400, size=rng.integers(1, 40), replace=False)) for _ in range(200)]

    def work(i):
        rows = pieces[i % 200]
        return predict(NEW[rows]) if i < 200 else model.token_proportions(NEW[rows])

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(work, range(400)))
    for i, values in enumerate(found):
        # BLAS adds up a product of few rows in another order: the last digit.
        assert_allclose(values, (wanted if i < 200 else shares)[pieces[i % 200]], rtol=1e-12)
