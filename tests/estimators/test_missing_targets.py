"""Documents without a target teach only the words, and that helps when few have one."""

import numpy as np
import pandas as pd
import pytest
from model_files import LABELS, MODELS, REVIEWS, STARS

import topicfocus
from topicfocus import SLDAClassifier, SLDARegressor

X, Y = REVIEWS.counts, REVIEWS.target
MISSING = np.arange(X.shape[0]) % 3 == 0
SUPERVISED = [name for name in MODELS if name != "LDA"]


def make(name, **options):
    return getattr(topicfocus, name)(
        **{"n_topics": 3, "max_epochs": 5, "random_state": 0} | options
    )


@pytest.mark.parametrize("name", SUPERVISED)
def test_they_teach_the_words_and_nothing_else(name):
    y = (LABELS if name.endswith("Classifier") else Y).astype(object)
    part = np.where(MISSING, None, y)
    with_them = make(name).fit(X, part)
    without = make(name).fit(X[~MISSING], y[~MISSING])
    assert np.abs(with_them.components_ - without.components_).max() > 1e-6
    assert np.isfinite(with_them.coef_).all()
    # Their targets are not looked at, so the model does not depend on them.
    assert with_them.score(X, part) == with_them.score(X[~MISSING], y[~MISSING])
    if hasattr(with_them, "elbo"):
        found = with_them.elbo(X, part, per_document=True)["log_p_y"]
        assert np.all(found[MISSING] == 0)
        assert np.all(found[~MISSING] != 0)


FORMS = {
    "NaN": lambda y: np.where(MISSING, np.nan, y.astype(float)),
    "None": lambda y: np.where(MISSING, None, y.astype(object)),
    "NaN among objects": lambda y: np.where(MISSING, np.nan, y.astype(object)),
    "a list": lambda y: [None if gone else v for gone, v in zip(MISSING, y.tolist(), strict=True)],
    "a series": lambda y: pd.Series(y.astype(float)).mask(MISSING),
    "a nullable series": lambda y: pd.Series(y.astype(int), dtype="Int64").mask(MISSING),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("cls", [SLDARegressor, SLDAClassifier])
def test_every_way_to_write_nothing(form, cls):
    y = np.round(Y).astype(int)
    model = cls(2, max_epochs=3, random_state=0).fit(X, FORMS[form](y))
    same = cls(2, max_epochs=3, random_state=0).fit(X, FORMS["NaN"](y))
    np.testing.assert_array_equal(model.coef_, same.coef_)
    if cls is SLDAClassifier:
        np.testing.assert_array_equal(model.classes_, np.unique(y[~MISSING]))
        assert model.classes_.dtype.kind == "i"  # NaN must not make floats of them


@pytest.mark.parametrize("name", ["SLDARegressor", "FocusedTopicRegressor"])
def test_one_of_several_targets_may_be_missing(name):
    both = np.column_stack([Y, STARS]).astype(float)
    both[::3, 0] = np.nan
    both[1::4, 1] = np.nan
    model = make(name).fit(X, both)
    assert np.isfinite(model.predict(X)).all()
    other = both.copy()
    other[::3, 0] = Y[::3]
    assert np.abs(make(name).fit(X, other).coef_[0] - model.coef_[0]).max() > 1e-6
