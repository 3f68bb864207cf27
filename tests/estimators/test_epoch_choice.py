"""Joint models with X_val: the epoch that predicts these documents best is kept."""

import io

import numpy as np
import pytest

import topicfocus
from topicfocus import PFSLDARegressor, SLDAClassifier, SLDARegressor
from topicfocus.datasets import make_reviews

DATA = make_reviews(260, 40, random_state=3)
TRAIN, HELD = slice(0, 180), slice(180, 260)
X, X_VAL = DATA.counts[TRAIN], DATA.counts[HELD]
Y, Y_VAL = DATA.target[TRAIN].astype(float), DATA.target[HELD].astype(float)


def explained(y, predicted):
    return 1 - np.mean((y - predicted) ** 2) / np.var(y)


@pytest.mark.parametrize("cls", [SLDARegressor, PFSLDARegressor])
@pytest.mark.parametrize("solver", ["coordinate", "stochastic", "gradient"])
def test_the_kept_epoch_is_the_best_one_looked_at(cls, solver):
    settings = {"solver": solver, "max_epochs": 12, "tol": 0.0, "random_state": 0}
    model = cls(3, **settings).fit(X, Y, X_val=X_VAL, y_val=Y_VAL)
    looks = np.array(model.history_["validation"])
    assert np.isfinite(looks).all()  # so few epochs are all looked at
    best = int(np.argmax(looks))
    assert explained(Y_VAL, model.predict(X_VAL)) == pytest.approx(looks[best], abs=1e-4)
    # The path is the same without validation documents: stop it there and compare.
    if solver != "stochastic":  # whose steps depend on the number of epochs
        there = cls(3, **{**settings, "max_epochs": best + 1}).fit(X, Y)
        np.testing.assert_allclose(model.components_, there.components_, rtol=1e-9)
        np.testing.assert_allclose(model.coef_, there.coef_, rtol=1e-9)


def test_the_last_epoch_is_what_a_fit_without_validation_gives():
    settings = {"max_epochs": 15, "tol": 0.0, "random_state": 0}
    model = PFSLDARegressor(3, **settings).fit(X, Y, X_val=X_VAL, y_val=Y_VAL)
    plain = PFSLDARegressor(3, **settings).fit(X, Y)
    last = model.at_last_epoch()
    for name in ("components_", "coef_", "inclusion_", "background_"):
        np.testing.assert_array_equal(getattr(last, name), getattr(plain, name))
    np.testing.assert_array_equal(last.predict(X_VAL), plain.predict(X_VAL))
    assert last.noise_variance_ == plain.noise_variance_
    file = io.BytesIO()
    model.save(file)
    assert "validation" not in plain.history_
    for other in (plain, topicfocus.load(io.BytesIO(file.getvalue()))):
        with pytest.raises(ValueError, match=r"X_val and y_val, and not in model files"):
            other.at_last_epoch()
    # The model itself is not touched.
    assert explained(Y_VAL, model.predict(X_VAL)) == pytest.approx(
        max(model.history_["validation"]), abs=1e-4
    )


@pytest.mark.parametrize("kind", ["ordinal", "poisson", "bernoulli"])
def test_other_families_are_scored_by_their_own_likelihood(kind):
    if kind == "bernoulli":
        y, y_val = (Y > 5.5).astype(int), (Y_VAL > 5.5).astype(int)
        model = SLDAClassifier(3, max_epochs=8, tol=0.0, random_state=0)
    else:
        y, y_val = np.round(Y / 2), np.round(Y_VAL / 2)
        model = SLDARegressor(3, family=kind, max_epochs=8, tol=0.0, random_state=0)
    model.fit(X, y, X_val=X_VAL, y_val=y_val)
    looks = np.array(model.history_["validation"])
    assert np.isfinite(looks).all() and looks.max() < 1
    if kind == "bernoulli":
        p = model.predict_proba(X_VAL)[:, 1]
        loss = -np.mean(np.where(y_val == 1, np.log(p), np.log1p(-p)))
        share = y_val.mean()
        null = -(share * np.log(share) + (1 - share) * np.log1p(-share))
        assert 1 - loss / null == pytest.approx(looks.max(), abs=1e-3)
