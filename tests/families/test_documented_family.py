"""The family that docs/families.md adds, executed as it stands there, all the way of a user."""

import importlib.util
import io
import re
import sys
from pathlib import Path

import numpy as np
import pytest

import topicfocus
from topicfocus.datasets import make_reviews
from topicfocus.report import Explorer

DESIGN = Path(__file__).parents[2] / "docs" / "families.md"
REVIEWS = make_reviews(300, random_state=0)


@pytest.fixture(scope="module")
def family(tmp_path_factory):
    """The module of the documentation; numba reads the sources of what it compiles."""
    section = DESIGN.read_text(encoding="utf-8").split("# Adding a family of targets")[1]
    (code,) = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    path = tmp_path_factory.mktemp("documented") / "documented_family.py"
    path.write_text(code, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("documented_family", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["documented_family"] = module
    spec.loader.exec_module(module)
    yield module.NegativeBinomial()
    del sys.modules["documented_family"]


@pytest.fixture(scope="module")
def counts():
    rng = np.random.default_rng(0)
    rate = np.exp((REVIEWS.target - 5) / 3) * rng.gamma(2.0, 0.5, size=len(REVIEWS.target))
    return rng.poisson(rate).astype(float)


@pytest.fixture(scope="module")
def model(family, counts):
    model = topicfocus.FocusedTopicRegressor(3, family=family, random_state=0)
    return model.fit(REVIEWS.counts, counts)


def test_derivatives_are_those_of_the_likelihood(family):
    h = 1e-4
    for y in (0.0, 1.0, 7.0):
        for f in (-1.0, 0.3, 2.0):
            first, second, third = family.derivatives(y, f)
            values = [family.log_likelihood(y, f + k * h) for k in (-1, 0, 1)]
            assert first == pytest.approx((values[2] - values[0]) / (2 * h), abs=1e-5)
            bend = (values[2] - 2 * values[1] + values[0]) / h**2
            assert second == pytest.approx(bend, abs=1e-5)
            slopes = [family.derivatives(y, f + k * h)[1] for k in (-1, 1)]
            assert third == pytest.approx((slopes[1] - slopes[0]) / (2 * h), abs=1e-5)


def test_probabilities_add_up(family):
    for f in (-1.0, 1.0):
        p = np.exp([family.log_likelihood(float(y), f) for y in range(400)])
        assert p.sum() == pytest.approx(1.0, rel=1e-6)


def test_it_predicts(model, counts):
    mean, std = model.predict(REVIEWS.counts, return_std=True)
    assert np.corrcoef(mean, counts)[0, 1] > 0.4
    # Var y = μ + μ²/2, and what the words leave open.
    assert np.all(std**2 >= mean + mean**2 / 2 - 1e-9)
    assert model.family_ == model.family
    assert model.score(REVIEWS.counts, counts) > 0


def test_its_intervals_are_whole(model, counts):
    low, high = model.predict_interval(REVIEWS.counts)
    for end in (low, high):
        np.testing.assert_array_equal(end, np.round(end))
    assert 0.8 <= np.mean((low <= counts) & (counts <= high)) <= 0.97


def test_it_is_explained(model):
    found = model.explain(REVIEWS.counts[:6])
    mean = model.predict(REVIEWS.counts[:6])
    np.testing.assert_allclose(np.exp(found.predictor[:, 0]), mean)


def test_it_is_saved_and_loaded(model):
    file = io.BytesIO()
    topicfocus.save(model, file)
    again = topicfocus.load(io.BytesIO(file.getvalue()))
    np.testing.assert_array_equal(again.predict(REVIEWS.counts), model.predict(REVIEWS.counts))
    assert again.family == model.family


def test_it_is_explored(model, counts):
    explorer = Explorer(model, counts=REVIEWS.counts, target=counts)
    (target,) = explorer.summary["targets"]
    assert target["kind"] == "negativebinomial"
    curve = target["curve"]
    np.testing.assert_allclose(curve["mean"], np.exp(curve["f"]))
    assert explorer.summary["evaluation"][0]["figures"]["this model"]["RMSE"] > 0
    assert "<html" in explorer.html


def test_a_value_without_likelihoods_is_no_family(counts):
    with pytest.raises(ValueError, match="family must be one of"):
        topicfocus.SLDARegressor(family=(1, 2)).fit(REVIEWS.counts, np.column_stack([counts] * 2))
