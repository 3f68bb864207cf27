"""What a notebook shows."""

import html
import re

import numpy as np
import pandas as pd
import pytest
from model_files import REVIEWS, fitted, fitted_kind
from sklearn import config_context

from topicfocus import LDA, FocusedTopicClassifier, FocusedTopicRegressor, SLDAClassifier
from topicfocus.estimators.effects import training_effects

FRAME = pd.DataFrame(REVIEWS.counts.toarray(), columns=list(REVIEWS.vocabulary))


def shown(model):
    """The caption, the rows and the HTML of the table of topics."""
    text = model._repr_html_()
    table = text[text.index('class="dataframe topicfocus"') :]
    rows = [
        [html.unescape(cell) for cell in re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row)]
        for row in re.findall(r"<tr.*?</tr>", table, re.S)
    ]
    return re.search("<caption>(.*)</caption>", table)[1], rows, table


def test_effects_first_then_coefficients():
    model = fitted("FocusedTopicRegressor", FRAME)
    effects = model.topic_effects(FRAME)
    assert "topicfocus" not in FocusedTopicRegressor()._repr_html_()
    assert "sk-top-container" in model._repr_mimebundle_()["text/html"]
    caption, rows, _ = shown(model)
    assert rows[0] == ["topic", "y: little → much", "change", "coef", "words", "occurs with"]
    # The topics that raise the target most come first, in the documents of the training.
    order = np.argsort(-effects["change"].to_numpy())
    assert [row[0] for row in rows[1:]] == [str(k) for k in order]
    first = effects.iloc[order[0]]
    ends = [float(end) for end in rows[1][1].split(" → ")]
    assert ends == pytest.approx([first["low"], first["high"]], abs=0.01)
    assert float(rows[1][2]) == pytest.approx(first["change"], abs=0.01)
    assert rows[1][4] == ", ".join(model.top_words(8)[order[0]])
    assert rows[1][5] == ", ".join(model.context_words(4)[order[0]])
    kept = int(model.selected_words_.sum())
    assert caption.startswith(f"3 topics of {FRAME.shape[1]} words, {kept} kept. Effects")


def test_what_is_stored_is_what_effects_of_the_training_are():
    rng = np.random.default_rng(0)
    z = rng.normal(50.0, 3.0, (len(FRAME), 2))
    for y in (REVIEWS.target + z[:, 0], np.digitize(REVIEWS.target, [4, 6])):
        kind = FocusedTopicRegressor if y.dtype == float else FocusedTopicClassifier
        model = kind(3, max_epochs=5, random_state=0).fit(FRAME, y, covariates=z)
        wanted = model.topic_effects(FRAME, covariates=z)
        low, high = np.moveaxis(training_effects(model.fitted_), 1, 0)
        np.testing.assert_allclose(low.ravel(), wanted["low"], rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(high.ravel(), wanted["high"], rtol=1e-9, atol=1e-9)


def test_models_of_other_kinds():
    caption, rows, _ = shown(fitted("LDA"))
    assert rows[0] == ["topic", "words"] and "words are column numbers" in caption
    rows = shown(fitted("SLDAClassifier"))[1]
    assert rows[0][1:4] == ["P(y is good): little → much", "change", "coef"] and "%" in rows[1][1]
    rows = shown(fitted_kind("classes"))[1]
    assert rows[0][1:6] == [f"y is {c}, points" for c in range(5)]
    many = SLDAClassifier(2, max_epochs=2).fit(REVIEWS.counts, np.arange(60) % 12)
    caption, rows, _ = shown(many)
    assert len(rows[0]) == 10 and "8 of 12 effects shown" in caption
    with config_context(display="text"):
        assert not hasattr(LDA(), "_repr_html_")


@pytest.mark.parametrize("evil", ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>'])
def test_words_and_labels_from_strangers_are_text(evil):
    X = FRAME.set_axis([f"{evil}{i}" for i in range(FRAME.shape[1])], axis=1)
    model = SLDAClassifier(2, max_epochs=2, random_state=0)
    model.fit(X, np.where(REVIEWS.target > 5, evil, "!"))
    assert evil not in model._repr_html_()
    _, rows, table = shown(model)
    assert "<script" not in table and "<img" not in table
    assert evil in rows[1][-1] and rows[0][1] == f"P(y is {evil}): little → much"


def test_an_explanation_has_words_topics_and_total():
    names = [f"<b>{word}&" for word in REVIEWS.vocabulary]
    model = fitted("FocusedTopicRegressor", FRAME)
    found = model.explain(FRAME.iloc[:8], vocabulary=names)
    text = found[0]._repr_html_()
    word, amount = found[0].top_words()[0]
    assert html.escape(word) in text and "<b>" not in text
    assert f"{amount:+.2g}" in text and f"{found.after[0, 0]:.4g}" in text
    assert f">{(found.predictor + found.limit)[0, 0]:+.3g}</td>" in text
    assert all(f"topic{k}: " in text for k in range(len(model.components_)))
    several = found._repr_html_()
    assert several.count("<table>") == 5 and "3 more documents" in several


def test_an_explanation_of_an_empty_document_and_of_classes():
    model = FocusedTopicClassifier(3, max_epochs=2, inclusion_prior=0.3, random_state=0)
    model.fit(FRAME, np.where(REVIEWS.target > 5, "<up>", "down"))
    text = model.explain(0 * FRAME[:1])._repr_html_()
    assert "no word is in the topics" in text
    assert "on the scale of the linear predictor" in text and "<up>" not in text
