"""What a notebook shows."""

import html
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from model_files import REVIEWS, fitted, fitted_kind
from sklearn import config_context

from topicfocus import LDA, FocusedTopicClassifier, FocusedTopicRegressor, SLDAClassifier
from topicfocus.estimators.effects import training_effects

FRAME = pd.DataFrame(REVIEWS.counts.toarray(), columns=list(REVIEWS.vocabulary))


class Table(HTMLParser):
    """The cells of our table, and the names of all elements."""

    def __init__(self, text):
        super().__init__()
        self.rows, self.tags, self.caption, self._inside, self._cell = [], [], "", False, None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self._inside |= tag == "table" and "topicfocus" in dict(attrs).get("class", "")
        if self._inside and tag == "tr":
            self.rows.append([])
        if self._inside and tag in ("td", "th"):
            self.rows[-1].append("")
        self._cell = tag

    def handle_endtag(self, tag):
        self._inside &= tag != "table"
        self._cell = None

    def handle_data(self, data):
        if self._inside and self._cell in ("td", "th"):
            self.rows[-1][-1] += data
        if self._inside and self._cell == "caption":
            self.caption += data


def test_the_diagram_alone_before_fit():
    shown = FocusedTopicRegressor()._repr_html_()
    assert "sk-top-container" in shown
    assert "topicfocus" not in Table(shown).caption
    assert Table(shown).rows == []


def test_effects_first_then_coefficients():
    model = fitted("FocusedTopicRegressor", FRAME)
    effects = model.topic_effects(FRAME)
    for shown in (model._repr_html_(), model._repr_mimebundle_()["text/html"]):
        assert "sk-top-container" in shown
        table = Table(shown)
        assert table.rows[0] == [
            "topic",
            "y: little → much",
            "change",
            "coef",
            "words",
            "occurs with",
        ]
        assert len(table.rows) == 4
        # The topics that raise the target most come first, by what `topic_effects` says of the
        # documents of the training.
        order = np.argsort(-effects["change"].to_numpy())
        assert [row[0] for row in table.rows[1:]] == [str(k) for k in order]
        first = effects.iloc[order[0]]
        digits = len(table.rows[1][2].partition(".")[2])
        assert table.rows[1][1] == f"{first['low']:.{digits}f} → {first['high']:.{digits}f}"
        assert table.rows[1][2] == f"{first['change']:+.{digits}f}"
        assert table.rows[1][3] == f"{model.coef_[order[0]]:.3g}"
        assert table.rows[1][4] == ", ".join(model.top_words(8)[order[0]])
        assert table.rows[1][5] == ", ".join(model.context_words(4)[order[0]])
        kept = int(model.selected_words_.sum())
        assert table.caption.startswith(f"3 topics of {FRAME.shape[1]} words, {kept} kept. Effects")
        assert "from the 10th to the 90th percentile" in table.caption


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
    table = Table(fitted("LDA")._repr_html_())
    assert table.rows[0] == ["topic", "words"]
    assert "words are column numbers" in table.caption
    two = Table(fitted("SLDAClassifier")._repr_html_()).rows
    assert two[0][1:4] == ["P(y is good): little → much", "change", "coef"]
    assert "%" in two[1][1]
    named = [f"y is {c}, points" for c in range(5)]
    assert Table(fitted_kind("classes")._repr_html_()).rows[0][1:6] == named
    assert Table(fitted_kind("several classes")._repr_html_()).rows[0][1].endswith("points")


def test_many_classes_do_not_fill_the_screen():
    labels = np.arange(60) % 12
    model = SLDAClassifier(2, max_epochs=2).fit(REVIEWS.counts, labels)
    table = Table(model._repr_html_())
    assert len(table.rows[0]) == 10
    assert "8 of 12 effects shown" in table.caption


@pytest.mark.parametrize("evil", ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>'])
def test_words_and_labels_from_strangers_are_text(evil):
    columns = [f"{evil}{i}" for i in range(FRAME.shape[1])]
    X = pd.DataFrame(REVIEWS.counts.toarray(), columns=columns)
    plain = Table(SLDAClassifier(2, max_epochs=2).fit(FRAME, REVIEWS.target > 5)._repr_html_())
    model = SLDAClassifier(2, max_epochs=2, random_state=0)
    model.fit(X, np.where(REVIEWS.target > 5, evil, "!"))
    shown = model._repr_html_()
    assert evil not in shown
    table = Table(shown)
    assert table.tags.count("script") == plain.tags.count("script")
    assert "img" not in table.tags
    assert evil in table.rows[1][-1]
    assert table.rows[0][1] == f"P(y is {evil}): little → much"


def test_no_diagram_where_the_user_wants_none():
    with config_context(display="text"):
        assert not hasattr(LDA(), "_repr_html_")
        assert "text/html" not in fitted("LDA")._repr_mimebundle_()


def test_an_explanation_has_words_topics_and_total():
    names = [f"<b>{word}&" for word in REVIEWS.vocabulary]
    model = fitted("FocusedTopicRegressor", FRAME)
    found = model.explain(FRAME.iloc[:8], vocabulary=names)
    shown = found[0]._repr_html_()
    word, amount = found[0].top_words()[0]
    assert html.escape(word) in shown and "<b>" not in shown
    assert f"{amount:+.2g}" in shown and f"{found.after[0, 0]:.4g}" in shown
    total = (found.predictor + found.limit)[0, 0]
    assert f">{total:+.3g}</td>" in shown
    assert all(f"topic{k}: " in shown for k in range(len(model.components_)))
    several = found._repr_html_()
    assert several.count("<table>") == 5 and "3 more documents" in several


def test_an_explanation_of_an_empty_document_and_of_classes():
    model = FocusedTopicClassifier(3, max_epochs=2, inclusion_prior=0.3, random_state=0)
    model.fit(FRAME, np.where(REVIEWS.target > 5, "<up>", "down"))
    shown = model.explain(0 * FRAME[:1])._repr_html_()
    assert "no word is in the topics" in shown
    assert "on the scale of the linear predictor" in shown and "<up>" not in shown
