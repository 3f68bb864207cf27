"""The summary: plain data, right numbers, clear errors."""

import json

import numpy as np
import pytest
from report_cases import KINDS, case, explorer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.feature_selection import VarianceThreshold
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline

from topicfocus import LDA, SLDARegressor
from topicfocus.report import Explorer
from topicfocus.report.explorer import Extras, summarise
from topicfocus.report.inputs import read_inputs
from topicfocus.report.labels import Labels
from topicfocus.report.render import unpack, unpack_texts
from topicfocus.report.words import evidence_needed


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_plain_json(kind):
    model, texts, target = case(kind)
    summary = summarise(read_inputs(model, texts[:30], None, target[:30]))
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary
    estimator = model[-1]
    assert len(summary["predictors"]) == np.atleast_2d(estimator.coef_).shape[0]
    np.testing.assert_allclose(
        np.array(summary["topics"]["coef"]).T, np.atleast_2d(estimator.coef_)
    )
    made_of = estimator.token_proportions(model[:-1].transform(texts[:30]))
    np.testing.assert_allclose(summary["topics"]["prevalence"], made_of.mean(axis=0))
    context = summary["topics"]["context"]
    if kind == "joint":
        assert context is None
    else:
        vocabulary = model[0].get_feature_names_out()
        assert [[vocabulary[v] for v in words] for words in context] == (
            estimator.context_words(12, vocabulary)
        )


@pytest.mark.parametrize("kind", ["regression", "binary", "multiclass", "poisson", "ordinal"])
def test_effects_are_those_of_the_model(kind):
    made, estimator = explorer(kind, held_out=True).summary, case(kind).model[-1]
    counts = case(kind).model[:-1].transform(case(kind).texts[:60])
    table = estimator.topic_effects(counts, case(kind).target[:60])
    for name in ("low", "high", "change", "lower", "upper"):
        shown = made["effects"][name]
        if shown is None:
            assert table[name].isna().any()
        else:
            np.testing.assert_allclose(np.ravel(shown), table[name], rtol=1e-6, atol=1e-6)
    change = unpack(made["words"]["effect"]).reshape(-1, len(made["predictors"]))
    words = estimator.word_effects(counts)
    np.testing.assert_allclose(change.ravel(), words["change"], rtol=1e-4, atol=1e-6)


def test_figures_and_curves_of_classes_are_scikit_learns():
    model, texts, target = case("binary")
    other = make_pipeline(CountVectorizer(), LogisticRegression()).fit(texts, target)
    made = Explorer(
        model, texts=texts, target=target, baselines={"logistic": other.predict_proba(texts)}
    )
    found = made.summary["evaluation"][0]
    p = model.predict_proba(texts)[:, 1]
    rows = found["figures"]
    assert rows["this model"]["AUC"] == pytest.approx(roc_auc_score(target == "yes", p))
    assert rows["this model"]["accuracy"] == pytest.approx(model.score(texts, target))
    assert rows["logistic"]["accuracy"] == pytest.approx(other.score(texts, target))
    assert found["roc"][1]["auc"] == rows["this model"]["AUC"]
    assert sum(found["calibration"][1]["n"]) == len(texts)
    mean = np.average(found["calibration"][1]["y"], weights=found["calibration"][1]["n"])
    assert mean == pytest.approx(np.mean(target == "yes"), abs=1e-4)


def test_figures_of_numbers():
    model, texts, target = case("regression")
    rows = Explorer(model, texts=texts, target=target).summary["evaluation"][0]["figures"]
    assert rows["this model"]["R²"] == pytest.approx(model.score(texts, target))
    mean, std = model.predict(texts, return_std=True)
    inside = np.mean(np.abs(target - mean) < 1.2815515655446004 * std)
    assert rows["this model"]["in the 80% interval"] == pytest.approx(inside)


def test_words_know_their_target_and_why():
    model, texts, target = case("binary")
    estimator = model[-1]
    summary = Explorer(model, texts=texts, target=target).summary["words"]
    counts = model[:-1].transform(texts)
    present = (counts > 0).toarray()
    by = summary["by_target"][0]
    found = unpack(by["documents"]).reshape(-1, 2)
    np.testing.assert_array_equal(found[:, 1], present[target == "yes"].sum(axis=0))
    assert by["labels"] == ["no", "yes"]
    z = unpack(summary["association"])
    v = int(np.argmax(np.abs(z)))
    root = np.sqrt(counts[:, [v]].toarray()[:, 0])
    wanted = np.sqrt(len(texts)) * np.corrcoef(root, target == "yes")[0, 1]
    assert z[v] == pytest.approx(wanted, abs=0.011)
    np.testing.assert_allclose(
        unpack(summary["why"]["evidence"]), estimator.screening_statistic_, rtol=1e-3
    )


@pytest.mark.parametrize("kind", ["regression", "binary", "multiclass", "poisson"])
def test_the_costs_explain_which_words_were_kept(kind):
    model, texts, target = case(kind)
    estimator, kept = model[-1], model[-1].selected_words_
    frequency = np.asarray(model[:-1].transform(texts).sum(axis=0)).ravel()  # of training
    cost = estimator.fitted_.word_cost
    needed = evidence_needed(estimator.fitted_, cost, [])
    # A word is kept if, and only if, it has more than the best dropped one has an occurrence.
    score = (estimator.screening_statistic_ - cost) / frequency
    best = score[~kept].max()
    np.testing.assert_allclose(needed[~kept], cost + max(best, 0) * frequency[~kept])
    assert np.all(score[kept] >= best)
    assert np.all(estimator.screening_statistic_[~kept] <= needed[~kept] * (1 + 1e-12))
    # The documents of the page do not matter to it.
    few = Explorer(model, texts=texts[:9], target=target[:9]).summary["words"]["why"]
    np.testing.assert_allclose(unpack(few["needed"]), needed, rtol=1e-3)
    assert few["cost"] == cost


def test_targets_have_names():
    pd = pytest.importorskip("pandas")
    model, texts, target = case("regression")
    made = Explorer(model, texts=texts[:9], target=target[:9], target_name="stars")
    assert made.summary["targets"][0]["name"] == "stars"
    assert made.summary["title"] == "Topics that predict stars"
    named = Explorer(model, texts=texts[:9], target=pd.Series(target[:9], name="rating"))
    assert named.summary["targets"][0]["name"] == "rating"
    bare = Explorer(model, texts=texts[:9], target=target[:9]).summary
    assert (bare["title"], bare["targets"][0]["name"]) == (
        "Topics of a FocusedTopicRegressor",
        "target",
    )
    model, texts, target = case("several")
    frame = pd.DataFrame(target[:9], columns=["a", "b", "c"])
    assert Explorer(model, texts=texts[:9], target=frame).summary["title"].endswith("a, b and c")
    with pytest.raises(ValueError, match="not both"):
        Explorer(model, target_name="a", target_names=["a", "b", "c"])
    with pytest.raises(ValueError, match="target_names has 1 entries"):
        Explorer(model, target_name="a")


def test_labels_and_a_sample():
    model, texts, target = case("binary")
    inputs = read_inputs(model, texts, None, target)
    labels = Labels("T", ["a", "b", "c"], ["vote"], ["nay", "aye"], [f"d{i}" for i in range(320)])
    summary = summarise(inputs, labels, max_documents=50)
    assert summary["topics"]["names"] == ["a", "b", "c"]
    assert summary["targets"][0]["labels"] == ["nay", "aye"]
    assert summary["predictors"] == [{"name": "aye", "target": 0}]
    rows = summary["documents"]["row"]
    assert len(rows) == 50 and rows == sorted(set(rows))
    assert summary["documents"]["names"] == [f"d{i}" for i in rows]
    assert unpack_texts(summary["documents"]["texts"]) == [texts[i] for i in rows]
    assert summary["evaluation"][0]["n"] == 320
    assert summarise(inputs, labels, max_documents=50)["documents"] == summary["documents"]


def test_vectorisers_the_page_cannot_be_are_noticed():
    _, texts, target = case("regression")
    model = SLDARegressor(2, max_epochs=2, random_state=0)
    for steps in (
        (CountVectorizer(token_pattern=r"[a-z]+"), model),
        (CountVectorizer(), VarianceThreshold(), model),
    ):
        pipeline = make_pipeline(*steps).fit(texts, target)
        words = read_inputs(pipeline, texts[:5]).words
        assert not words.text and "does not run" in words.note.replace("do not", "does not")


def test_errors_say_what_to_do():
    model, texts, target = case("regression")
    counts = model[:-1].transform(texts[:5])
    with pytest.raises(TypeError, match="needs a topic model with a target"):
        Explorer(LDA(2, max_epochs=1).fit(counts), counts=counts)
    with pytest.raises(ValueError, match="takes counts"):
        Explorer(model[-1], texts=texts)
    with pytest.raises(TypeError, match="one string"):
        Explorer(model, texts="oops")
    with pytest.raises(ValueError, match="vocabulary has 1 words"):
        Explorer(model[-1], counts=counts, vocabulary=["a"])
    with pytest.raises(ValueError, match="without documents"):
        Explorer(model, target=target)
    with pytest.raises(ValueError, match="5 texts, but counts has 4"):
        Explorer(model, texts=texts[:5], counts=counts[:4])
    with pytest.raises(ValueError, match="rows of components_, 0 to 2"):
        Explorer(model, names={3: "x"})
    with pytest.raises(ValueError, match="names has 1 entries"):
        Explorer(model, names=["x"])
    with pytest.raises(ValueError, match="predicts 3 documents"):
        Explorer(model, texts=texts[:5], target=target[:5], baselines={"b": np.ones(3)})
    with pytest.raises(ValueError, match="needs inclusion_prior"):
        summarise(read_inputs(model), extras=Extras(frontier=[{"rmse": 1.0}]))
