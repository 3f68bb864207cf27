"""What the page computes is what Python computes."""

import numpy as np
import pytest
from report_cases import KINDS, case

from topicfocus.report import Explorer

TEXTS = [
    "",
    "nothing of this is known zzz",
    "A masterpiece! Brilliant, superb and wonderful; a stunning love story.",
    "dull DULL dull, predictable and tedious. The worst waste of a comedy: awful, awful film",
    "An enjoyable horror movie with an uneven script; decent monster, clumsy ending, "
    "charming couple and a brilliant director. Brilliant!",
    "naïve İstanbul ΣΑΣ straße 日本語 x²y ٣٤ under_score don't ﬁlm masterpiece\u0301 "
    "e\u0301t\u0301e",
    "It's NOT good -- don’t go. No, never&#039;again &amp; not<br/>brilliant 4.5 stars 10:30 👍 "
    "superb",
    "<x@y> https://a.b/c?d=e www.dull.com not a dull film - an awful\n\nfilm\nnot awful. " * 60,
]


@pytest.mark.parametrize("kind", KINDS)
def test_try_it_equals_predict_and_explain(open_page, kind):
    model, texts, target = case(kind)
    page = open_page(Explorer(model, texts=texts[:40], target=target[:40]).html)
    asked = [*TEXTS, *texts[40:60]]
    found = page.evaluate(
        "texts => texts.map(t => { const r = topicfocus.predict(t);"
        " return {...r, theta: [...r.theta]}; })",
        asked,
    )
    estimator = model[-1]
    counts = model[:-1].transform(asked)
    explanation = estimator.explain(counts)
    vocabulary = model[0].get_feature_names_out()
    near = {"rtol": 0, "atol": 1e-6}
    np.testing.assert_allclose([r["theta"] for r in found], estimator.transform(counts), **near)
    made_of = [r["composition"] for r in found]
    np.testing.assert_allclose(made_of, estimator.token_proportions(counts), **near)
    tokens = [r["tokens"] for r in found]
    np.testing.assert_allclose(tokens, estimator.topic_tokens(counts), **near)
    np.testing.assert_allclose([r["predictor"] for r in found], explanation.predictor, **near)
    np.testing.assert_allclose([r["base"] for r in found], explanation.base, **near)
    fitted = estimator.fitted_
    spread = fitted.predictor_variance(fitted.corpus(counts), estimator.transform(counts))
    np.testing.assert_allclose([r["spread"] for r in found], spread, **near)
    for l in range(len(explanation.predictor_names)):
        words = np.zeros((len(asked), len(vocabulary)))
        for d, r in enumerate(found):
            for w in r["words"]:
                words[d, w["v"]] = w["amounts"][l]
        np.testing.assert_allclose(words, explanation.words[l].toarray(), **near)
        rest = [r["remainder"]["amounts"][l] for r in found]
        np.testing.assert_allclose(rest, explanation.remainder_amounts(l), **near)
        parts = [sum(term["amounts"][l] for term in r["remainder"]["terms"]) for r in found]
        np.testing.assert_allclose(parts, rest, **near)
        topics = [[row[l] for row in r["topics"]] for r in found]
        np.testing.assert_allclose(topics, explanation.topics[l].toarray(), **near)
    if hasattr(estimator, "classes_"):
        shown = [r["targets"][0]["probabilities"] for r in found]
        np.testing.assert_allclose(shown, estimator.predict_proba(counts), **near)
    else:
        mean, std = estimator.predict(counts, return_std=True)
        for t, (m, s) in enumerate(zip(np.atleast_2d(mean.T), np.atleast_2d(std.T), strict=True)):
            np.testing.assert_allclose([r["targets"][t]["mean"] for r in found], m, **near)
            np.testing.assert_allclose([r["targets"][t]["std"] for r in found], s, **near)
        both = [np.atleast_2d(end.T) for end in estimator.predict_interval(counts)]
        for t, ends in enumerate(zip(*both, strict=True)):
            if "low" not in found[0]["targets"][t]:
                continue  # 0 or 1, which has a probability
            for end, wanted in zip(("low", "high"), ends, strict=True):
                np.testing.assert_allclose([r["targets"][t][end] for r in found], wanted, **near)
    if kind == "ordinal":
        shown = [r["targets"][0]["probabilities"] for r in found]
        np.testing.assert_allclose(shown, estimator.predict_proba(counts), **near)


@pytest.mark.parametrize(
    "kind", ["poisson", "multiclass", "graded", "remainder", "remainder of classes"]
)
def test_documents_of_the_page_equal_explain(open_page, kind):
    model, texts, target = case(kind)
    page = open_page(Explorer(model, texts=texts[:30], target=target[:30]).html)
    found = page.evaluate(
        "Array.from({length: 30}, (_, d) => topicfocus.predictDocument(d).predictor)"
    )
    explanation = model[-1].explain(model[:-1].transform(texts[:30]))
    np.testing.assert_allclose(found, explanation.predictor, rtol=0, atol=1e-6)


def test_exposure_and_covariates_take_part(open_page):
    from topicfocus import FocusedTopicRegressor

    model, texts, target = case("poisson")
    counts = model[:-1].transform(texts)
    rng = np.random.default_rng(1)
    exposure, z = rng.uniform(0.5, 2, len(texts)), rng.standard_normal((len(texts), 2))
    fitted = FocusedTopicRegressor(3, family="poisson", max_epochs=4, random_state=0)
    fitted.fit(counts, target, exposure=exposure, covariates=z)
    explorer = Explorer(
        fitted, counts=counts[:20], target=target[:20], exposure=exposure[:20], covariates=z[:20]
    )
    page = open_page(explorer.html, "#view=try")
    found = page.evaluate("Array.from({length: 20}, (_, d) => topicfocus.predictDocument(d))")
    wanted = fitted.predict(counts[:20], exposure=exposure[:20], covariates=z[:20])
    np.testing.assert_allclose([r["targets"][0]["mean"] for r in found], wanted, atol=1e-6)
    page.get_by_role("button", name="Clear").click()
    page.get_by_label("exposure").fill("2")
    page.get_by_label("covariate 0").fill("0.5")
    page.get_by_label("covariate 1").fill("")
    page.get_by_label("covariate 1").press_sequentially("-1")  # a minus sign alone is no number yet
    assert page.get_by_label("covariate 1").input_value() == "-1"
    shown = float(page.locator("#try-result strong[data-value]").get_attribute("data-value"))
    empty = counts[:1] * 0
    wanted = fitted.predict(empty, exposure=[2.0], covariates=[[0.5, -1.0]])[0]
    assert shown == pytest.approx(wanted, abs=1e-6)
    # The waterfall has a row for each; the link has them, too.
    rows = page.locator("#try-result .waterfall tbody tr").all_inner_texts()
    amounts = [row.split("\t")[-1].replace("−", "-") for row in rows if "covariate " in row]
    wanted = fitted.covariate_coef_ * ([0.5, -1.0] - z.mean(axis=0))  # relative to the average
    wanted = wanted[np.argsort(-np.abs(wanted))]
    np.testing.assert_allclose(np.array(amounts, dtype=float), wanted, atol=0.006)
    again = open_page(explorer.html, page.evaluate("location.hash"))
    value = again.locator("#try-result strong[data-value]").get_attribute("data-value")
    assert float(value) == shown


def test_intervals_of_small_and_large_counts_are_the_same_whole_numbers(open_page):
    """Means from almost 0 to beyond exact quantiles: families/count_intervals.py, engine.js."""
    from topicfocus import FocusedTopicRegressor

    model, texts, target = case("poisson")
    counts = model[:-1].transform(texts)
    exposure = np.random.default_rng(1).uniform(0.5, 2, len(texts))
    fitted = FocusedTopicRegressor(3, family="poisson", max_epochs=4, random_state=0)
    fitted.fit(counts, target, exposure=exposure)
    asked = np.geomspace(1e-4, 1e8, 40)
    page = open_page(Explorer(fitted, counts=counts[:40], target=target[:40], exposure=asked).html)
    found = page.evaluate("Array.from({length: 40}, (_, d) => topicfocus.predictDocument(d))")
    ends = fitted.predict_interval(counts[:40], exposure=asked)
    for name, wanted in zip(("low", "high"), ends, strict=True):
        shown = np.array([r["targets"][0][name] for r in found])
        np.testing.assert_array_equal(shown, np.round(shown))
        np.testing.assert_allclose(shown, wanted, rtol=1e-6)
    assert ends[1][0] == 0 and ends[1][-1] > 1e7


def test_classes_beside_covariates_equal_explain(open_page):
    from topicfocus import FocusedTopicClassifier

    model, texts, target = case("multiclass")
    counts = model[:-1].transform(texts)
    z = np.random.default_rng(1).normal(40.0, 2.0, (len(texts), 2))
    fitted = FocusedTopicClassifier(3, max_epochs=4, random_state=0)
    fitted.fit(counts, target, covariates=z)
    explorer = Explorer(fitted, counts=counts[:20], target=target[:20], covariates=z[:20])
    page = open_page(explorer.html)
    found = page.evaluate("Array.from({length: 20}, (_, d) => topicfocus.predictDocument(d))")
    wanted = fitted.explain(counts[:20], covariates=z[:20])
    near = {"rtol": 0, "atol": 1e-6}
    np.testing.assert_allclose([r["predictor"] for r in found], wanted.predictor, **near)
    np.testing.assert_allclose([r["base"] for r in found], wanted.base, **near)
    for l in range(3):
        beside = [[row[l] for row in r["byCovariate"]] for r in found]
        np.testing.assert_allclose(beside, wanted.covariates[l], **near)
        topics = [[row[l] for row in r["topics"]] for r in found]
        np.testing.assert_allclose(topics, wanted.topics[l].toarray(), **near)


def test_typed_text_is_predicted_as_it_is_typed(open_page):
    model, texts, target = case("regression")
    page = open_page(Explorer(model, texts=texts[:40], target=target[:40]).html, "#view=try")
    box = page.locator("#try-text")
    assert len(box.input_value()) > 20  # an example
    box.fill("")
    box.press_sequentially("brilliant but dull")
    result = page.locator("#try-result .figure strong")
    wanted, std = model.predict(["brilliant but dull"], return_std=True)
    assert float(result.get_attribute("data-value")) == pytest.approx(wanted[0], abs=1e-6)
    shown = page.locator("#try-result [data-std]").get_attribute("data-std")
    assert float(shown) == pytest.approx(std[0], abs=1e-6)
    assert box.input_value() == "brilliant but dull"
    assert page.locator("#try-words button.word").count() == 2
    assert "text=brilliant" in page.evaluate("location.hash")


def test_the_example_has_its_covariate(open_page):
    """Also a single one, of which an address without covariates must not make a zero."""
    from topicfocus import FocusedTopicRegressor

    model, texts, target = case("regression")
    counts, age = model[:-1].transform(texts), np.linspace(20, 80, len(texts))[:, None]
    fitted = FocusedTopicRegressor(2, max_epochs=2, random_state=0)
    fitted.fit(counts, target, covariates=age)
    made = Explorer(fitted, counts=counts[:20], target=target[:20], covariates=age[:20])
    page = open_page(made.html, "#view=try")
    shown = page.locator("#try-result strong[data-value]").get_attribute("data-value")
    d = made.summary["documents"]["example"]
    wanted = fitted.predict(counts[[d]], covariates=age[[d]])[0]
    assert float(shown) == pytest.approx(wanted, abs=1e-6)


@pytest.mark.parametrize(
    ("kind", "budget", "part"),
    [("joint", "TABLE_BUDGET", "table"), ("remainder of classes", "COEF_BUDGET", "remainder")],
)
def test_large_models_say_how_far_they_are_rounded(open_page, monkeypatch, kind, budget, part):
    from topicfocus.report import words

    model, texts, target = case(kind)
    given = {"texts": texts[:30], "target": target[:30]}
    assert Explorer(model, **given).summary[part]["error"] == 0
    monkeypatch.setattr(words, budget, 2000)
    made = Explorer(model, **given)
    error = made.summary[part]["error"]
    assert 0 < error < 0.5
    page = open_page(made.html, "#view=try")
    found = page.evaluate("texts => texts.map(t => topicfocus.predict(t).scores)", texts[:30])
    wanted = model.decision_function(texts[:30])
    assert np.abs(np.array(found) - wanted).max() == pytest.approx(error, rel=1e-3)
    assert "rounded" in page.locator("#rounded").inner_text()
    assert Explorer(model, exact=True, **given).summary[part]["error"] == 0


def test_words_and_phrases_of_any_text_are_those_of_python(open_page):
    """Function words, elisions and phrases that no model of `report_cases` has."""
    from sklearn.pipeline import make_pipeline

    from topicfocus import FocusedTopicRegressor, TokenCounter

    _, texts, target = case("regression")
    phrases = ["not good", "don't go", "4.5 stars", "not awful", "no side effects", "x y"]
    words = TokenCounter(max_df=1.0).fit(texts).get_feature_names_out()
    counter = TokenCounter(stop_words="french", vocabulary=[*words, *phrases, "homme"])
    options = {"max_epochs": 2, "random_state": 0, "inclusion_prior": 0.9}
    model = make_pipeline(counter, FocusedTopicRegressor(2, **options)).fit(texts, target)
    page = open_page(Explorer(model, texts=texts[:20], target=target[:20]).html)
    asked = [*TEXTS, "L’homme n'est pas qu'un homme. No side effects; no side, effects x-y x - y"]
    found = page.evaluate(
        "texts => texts.map(t => topicfocus.predict(t).terms.map(w => w.v))", asked
    )
    counts = counter.transform(asked).toarray()
    for row, terms in zip(counts, found, strict=True):
        assert np.bincount(terms, minlength=len(row)).tolist() == row.tolist()
