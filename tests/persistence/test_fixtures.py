"""Files of every format that was ever released load and predict what they did.

Made by fixtures/make_fixtures.py, never again changed. A failure here means that users' files no
longer load, or give other predictions: mend the code, not the files.
"""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import topicfocus
from topicfocus.persistence.archive import VERSION

FOLDER = Path(__file__).parent / "fixtures"
FORMATS = range(1, VERSION + 1)


def expected(version):
    return json.loads((FOLDER / f"format{version}-expected.json").read_text(encoding="utf-8"))


# Not to the last bit: the mathematical functions of two machines may differ there.
def same(actual, wanted):
    assert_allclose(actual, wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("version", FORMATS)
def test_a_pipeline(version):
    wanted = expected(version)
    model = topicfocus.load(FOLDER / f"format{version}-regressor.model")
    same(model.predict(wanted["texts"]), wanted["regressor"]["predict"])
    same(model.transform(wanted["texts"]), wanted["regressor"]["transform"])
    assert model[0].get_params()["stop_words"] == ["film", "movie"]
    assert list(model[0].get_feature_names_out()) == wanted["columns"]
    assert model[1].n_topics == 3


@pytest.mark.parametrize("version", FORMATS)
def test_a_classifier(version):
    wanted = expected(version)
    model = topicfocus.load(FOLDER / f"format{version}-classifier.model")
    counts = pd.DataFrame(wanted["counts"], columns=wanted["columns"])
    assert model.predict(counts).tolist() == wanted["classifier"]["predict"]
    same(model.predict_proba(counts), wanted["classifier"]["predict_proba"])
    assert list(model.feature_names_in_) == wanted["columns"]
    assert model.classes_.tolist() == ["bad", "good"]
    # Converged only so far, so of another machine's rounding a little more is left.
    assert_allclose(model.elbo(counts)["bound"], wanted["classifier"]["bound"], rtol=1e-9)


def few_counts(wanted):
    return np.array(wanted["counts"])[:, wanted["few"]]


@pytest.mark.parametrize("version", FORMATS)
def test_three_classes(version):
    wanted = expected(version)
    model = topicfocus.load(FOLDER / f"format{version}-classes.model")
    counts = few_counts(wanted)
    assert model.predict(counts).tolist() == wanted["classes"]["predict"]
    same(model.predict_proba(counts), wanted["classes"]["predict_proba"])
    assert model.classes_.tolist() == [-1, 0, 1]
    assert model.coef_.shape == (3, 3)


@pytest.mark.parametrize("version", FORMATS)
def test_a_rating_with_covariates(version):
    wanted = expected(version)
    model = topicfocus.load(FOLDER / f"format{version}-rating.model")
    counts, covariates = few_counts(wanted), np.array(wanted["covariates"])
    mean, std = model.predict(counts, return_std=True, covariates=covariates)
    same(mean, wanted["rating"]["predict"])
    same(std, wanted["rating"]["std"])
    proba = model.predict_proba(counts, covariates=covariates)
    same(proba, wanted["rating"]["predict_proba"])
    assert model.levels_.tolist() == [0, 1, 2]
    assert model.covariate_coef_.shape == (2,)


@pytest.mark.parametrize("version", FORMATS)
def test_several_targets(version):
    wanted = expected(version)
    model = topicfocus.load(FOLDER / f"format{version}-several.model")
    counts = few_counts(wanted)
    mean, std = model.predict(counts, return_std=True, exposure=np.full(len(counts), 2.0))
    same(mean, wanted["several"]["predict"])
    same(std, wanted["several"]["std"])
    assert model.family == ["gaussian", "poisson", "bernoulli", "ordinal"]
    assert model.coef_.shape == (4, 3)


def test_fixtures_stay_small():
    size = sum(path.stat().st_size for path in FOLDER.iterdir() if path.is_file())
    assert size < 100_000 * VERSION
