"""The page in a browser: every view draws, and what is chosen in one changes the others."""

import copy
from dataclasses import replace

import numpy as np
import pytest
from report_cases import KINDS, case, explorer

from topicfocus.estimators.words import ORDERS, has_distinctive, usual_order
from topicfocus.report import Explorer

VIEWS = ("topics", "words", "documents", "try", "fit")
FRONTIER = [{"inclusion_prior": p, "rmse": 2 - p, "words": 100 * p} for p in (0.05, 0.1, 0.3)]


def packed(shares):
    """As the page has them, in steps of 1/65535."""
    return np.round(shares * 65535)


@pytest.mark.parametrize("kind", [k for k in KINDS if k != "pairs"])
def test_every_view_draws(open_page, kind):
    page = open_page(explorer(kind, frontier=FRONTIER, names={1: "Mine"}).html)
    for view in VIEWS:
        page.click(f"#tab-{view}")
        panel = page.locator(f"#panel-{view}")
        assert panel.is_visible()
        assert panel.locator(".card").count() >= 2
        assert page.locator("[role=tabpanel]:visible").count() == 1
        assert f"view={view}" in page.evaluate("location.hash")
        text = panel.inner_text()
        assert "NaN" not in text and "undefined" not in text and "Infinity" not in text
        marks = panel.evaluate("n => [...n.querySelectorAll('svg *')].map(m => m.outerHTML).join()")
        assert "NaN" not in marks
    assert page.locator("#tab-fit").get_attribute("aria-selected") == "true"
    page.click("#tab-topics")
    assert page.locator("[data-topic='1'] .name strong").inner_text() == "Mine"
    if kind in ("multiclass", "several", "joint"):
        before = page.locator(".forest").inner_html()
        page.get_by_label("Outcome").select_option("1")
        assert page.locator(".forest").inner_html() != before


@pytest.mark.parametrize("kind", ["regression", "joint"])
def test_words_stand_in_the_order_of_python(open_page, kind):
    model = case(kind).model
    usual = usual_order(model[-1].fitted_)
    page = open_page(explorer(kind).html)
    choice = page.get_by_label("Words by")
    assert choice.input_value() == usual
    for order in ORDERS:
        if order == "distinctive" and not has_distinctive(model[-1].fitted_):
            assert choice.locator("option[value=distinctive]").count() == 0
            continue
        best = model[-1].top_words(20, model[0].get_feature_names_out(), order)
        choice.select_option(order)
        for k in range(3):
            page.click(f"[data-topic='{k}']")
            assert page.locator(".word-bar .name").all_inner_texts() == best[k]
        assert ("by=" in page.evaluate("location.hash")) == (order != usual)


def test_a_topic_stands_beside_the_dropped_words_it_goes_with(open_page):
    model = case("regression").model
    names = model[0].get_feature_names_out()
    wanted = model[-1].context_words(12, names)
    page = open_page(explorer("regression").html)
    for k in range(3):
        page.click(f"[data-topic='{k}']")
        assert page.locator(".context .chip").all_inner_texts() == wanted[k]
    page.locator(".context .chip").first.click()
    assert page.locator("#panel-words .card").nth(1).locator("h2").inner_text() == wanted[2][0]
    # A model that keeps every word, or that did not count them, has no such list.
    assert open_page(explorer("joint").html).locator(".context").count() == 0
    old = replace(model[-1].fitted_, context=None)
    estimator = copy.copy(model[-1])
    estimator.fitted_ = old
    counts = model[0].transform(case("regression").texts[:20])
    page = open_page(Explorer(estimator, counts=counts, vocabulary=names).html)
    assert page.locator(".word-bar").count() > 0 and page.locator(".context").count() == 0


def test_a_topic_filters_words_and_documents(open_page):
    page = open_page(explorer("regression").html)
    page.click("#tab-words")
    everything = page.locator("#panel-words [role=status]").inner_text()
    page.click("#tab-topics")
    page.click("[data-topic='2']")
    number = explorer("regression").summary["topics"]["number"][2]
    assert page.locator(".selection .chip").inner_text().startswith(f"topic {number}:")
    page.click("#tab-words")
    assert page.locator("#panel-words [role=status]").inner_text() != everything
    page.click("#tab-documents")
    shown = page.locator(".docs [data-doc]").first.get_attribute("data-doc")
    model, texts, _ = case("regression")
    made_of = packed(model[-1].token_proportions(model[:-1].transform(texts[:60])))
    assert int(shown) == int(made_of[:, 2].argmax())
    page.click(".selection .chip")
    assert "topic=" not in page.evaluate("location.hash")


def test_a_word_is_found_explained_and_filters_documents(open_page):
    model, texts, _ = case("regression")
    names = model[0].get_feature_names_out()
    dropped = names[np.flatnonzero(~model[-1].selected_words_)[0]]
    page = open_page(explorer("regression").html, "#view=words")
    page.locator("#query").press_sequentially(dropped)
    assert page.locator("#query").input_value() == dropped  # typing is not interrupted
    page.locator("[data-word]").first.click()
    card = page.locator("#panel-words .card").nth(1)
    assert card.locator("h2").inner_text() == dropped
    assert "Why it was dropped" in card.inner_text()
    assert page.locator("#why").inner_text() != ""
    assert page.locator("#by-target tr").count() >= 2
    page.get_by_role("button", name="Documents with this word").click()
    counts = model[:-1].transform(texts[:60])
    wanted = int((counts[:, [names.tolist().index(dropped)]] > 0).sum())
    assert page.locator("#found").inner_text().startswith(f"{wanted} of 60")


@pytest.mark.parametrize("kind", ["regression", "binary"])
def test_brushing_lists_documents(open_page, kind):
    page = open_page(explorer(kind).html, "#view=documents")
    assert page.locator("#found").inner_text().startswith("60 of 60")
    box = page.locator("#panel-documents .surface").first.bounding_box()
    page.mouse.move(box["x"] + 2, box["y"] + 2)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] - 2, steps=4)
    page.mouse.up()
    model, texts, _ = case(kind)
    low, high, *_ = page.evaluate("topicfocus.state.box")
    counts = model[:-1].transform(texts[:60])
    estimator = model[-1]
    x = estimator.predict(counts) if kind == "regression" else estimator.predict_proba(counts)[:, 1]
    wanted = int(((x >= low) & (x <= high)).sum())
    assert 0 < wanted < 60
    assert page.locator("#found").inner_text().startswith(f"{wanted} of 60")
    assert page.locator(".doc-dot.out").count() == 60 - wanted
    assert page.locator(".brush").first.get_attribute("visibility") == "visible"
    if kind == "binary":
        assert page.locator("#roc").get_attribute("d").startswith("M")
    # The same by keyboard, and back.
    page.get_by_role("button", name="All documents").click()
    assert page.locator("#found").inner_text().startswith("60 of 60")
    field = page.get_by_label("predicted from")
    field.fill(str(float(np.median(x))))
    field.press("Enter")
    assert page.locator("#found").inner_text().startswith(f"{int((x >= np.median(x)).sum())} of 60")


def test_a_document_is_shaded_and_its_waterfall_adds_up(open_page):
    page = open_page(explorer("regression").html, "#view=documents&doc=7")
    model, texts, _ = case("regression")
    card = page.locator("#document")
    found = model[-1].explain(model[:-1].transform([texts[7]]))
    assert card.locator(".text mark").count() > 0
    assert (
        card.locator(".shaded").evaluate(
            "n => { const c = n.cloneNode(true);"
            " c.querySelectorAll('.hidden').forEach(h => h.remove()); return c.textContent; }"
        )
        == texts[7]
    )

    def amounts():
        cells = card.locator(".waterfall td.number").all_inner_texts()
        return [float(c.replace("−", "-")) for c in cells]

    for parts in ("By words", "By topics"):
        card.get_by_role("button", name=parts).click()
        base, *steps, total = amounts()
        assert base + sum(steps) == pytest.approx(total, abs=0.02)
        assert total == pytest.approx(found.predictor[0, 0], abs=0.005)


def test_an_address_brings_back_the_state(open_page):
    html = explorer("regression").html
    page = open_page(html, "#view=documents&topic=1&doc=3&relevance=0.3&box=1,9,1,9&parts=topics")
    state = page.evaluate("topicfocus.state")
    assert (state["view"], state["topic"], state["doc"]) == ("documents", 1, 3)
    assert (state["relevance"], state["box"], state["parts"]) == (0.3, [1, 9, 1, 9], "topics")
    assert page.locator("#document h2").inner_text() == "Document 3"
    page.click("#tab-fit")
    page.go_back()
    assert page.locator("#panel-documents").is_visible()
    # Nonsense is passed over.
    page = open_page(html, "#view=evil&topic=99&word=-1&doc=x&relevance=7&box=a,b&codes=1.z")
    state = page.evaluate("topicfocus.state")
    assert (state["view"], state["topic"], state["word"], state["doc"]) == (
        "topics",
        None,
        None,
        None,
    )


def test_codes_are_picked_from_a_list(open_page):
    model, texts, target = case("binary")
    counts = model[:-1].transform(texts[:60])
    names = [f"code {i}: some, thing" for i in range(counts.shape[1])]
    made = Explorer(model[-1], counts=counts, target=target[:60], vocabulary=names)
    page = open_page(made.html, "#view=try")
    assert page.locator("#example").is_visible()  # something to begin with
    page.get_by_role("button", name="Clear").click()
    kept = np.flatnonzero(model[-1].selected_words_)[:2]
    for v in kept:
        page.locator("#try-code").fill(f"code {v}:")
        page.locator("#try-code").press("Enter")
    page.locator("#try-code").press("Enter")  # the last one twice
    row = np.zeros((1, counts.shape[1]))
    row[0, kept] = [1, 2]
    shown = page.locator("#try-result [data-value]").last.get_attribute("data-value")
    assert float(shown) == pytest.approx(model[-1].predict_proba(row)[0, 1], abs=1e-6)
    page.click("#tab-documents")
    assert page.locator(".codes mark").count() > 0


def test_without_documents_or_target_the_rest_still_works(open_page):
    model, texts, _ = case("multiclass")
    for made in (Explorer(model), Explorer(model, texts=texts[:10])):
        page = open_page(made.html)
        for view in VIEWS:
            page.click(f"#tab-{view}")
            assert "NaN" not in page.locator(f"#panel-{view}").inner_text()


def test_it_works_inside_a_notebook(open_page, tmp_path):
    made = explorer("regression")
    frame = made._repr_html_()
    path = tmp_path / "notebook.html"
    path.write_text(f"<!doctype html><title>n</title>{frame}", encoding="utf-8")
    page = open_page(made.html)
    page.goto(f"file://{path}")
    inside = page.frame_locator("iframe")
    inside.locator("#tab-words").click()
    assert inside.locator("#panel-words .card").count() == 2


def test_a_class_is_chosen_for_its_reasons(open_page):
    model, texts, _ = case("multiclass")
    page = open_page(explorer("multiclass").html, "#view=documents&doc=4")
    card = page.locator("#document")
    p = model.predict_proba([texts[4]])[0]
    classes = model[-1].classes_
    # Without a choice, the reasons are those of what is predicted.
    best = classes[p.argmax()]
    assert best in card.locator(".waterfall caption").inner_text()
    assert best in page.locator("[data-doc='4'] small").inner_text()
    found = model[-1].explain(model[:-1].transform([texts[4]]))
    for c, name in enumerate(classes):
        card.locator(".probabilities").get_by_role("button", name=name).click()
        assert f"predictor={c}" in page.evaluate("location.hash")
        assert page.get_by_label("Outcome").input_value() == str(c)
        total = card.locator(".waterfall .total .number").last.inner_text()
        assert float(total.replace("−", "-")) == pytest.approx(found.predictor[0, c], abs=0.006)


def test_the_frontier_has_a_line_for_each_number_of_topics(open_page):
    own = case("regression").model[-1].n_topics
    rows = [
        {"n_topics": k, "inclusion_prior": p, "score": k * p, "words": 100 * p}
        for k in (own, own + 4)
        for p in (0.1, 0.2, 0.3)
    ]
    page = open_page(explorer("regression", frontier=rows).html, "#view=fit")
    card = page.locator("#panel-fit .card").filter(has_text="Frontier")
    assert card.locator("path.line").count() == 2 and card.locator("path.line.faint").count() == 1
    assert card.locator("circle.point").count() == card.locator("circle.faint").count() == 3
    assert card.locator("tbody tr").count() == 6  # every setting, also for who sees no picture
    assert card.locator("tr.chosen").count() == 0
    # Along numbers of topics, with a bar of one standard error at each point.
    errors = [{**row, "score_se": 0.125} for row in rows[2:4]]
    page = open_page(explorer("regression", frontier=errors).html, "#view=fit")
    card = page.locator("#panel-fit .card").filter(has_text="Frontier")
    assert card.locator("path.line").get_attribute("d").count("V") == 2
    assert card.locator("circle.point").first.get_attribute("data-tip").endswith("± 0.125")
    assert card.locator("option").all_inner_texts() == ["score", "words"]
    assert card.locator("tr.chosen").inner_text().split()[0] == str(own)


@pytest.mark.parametrize("width", [360, 768, 1440])
def test_nothing_is_wider_than_the_page(open_page, width):
    model, texts, target = case("binary")
    counts = model[:-1].transform(texts[:60])
    names = [
        f"dx:organ system {i}|some failure/of a kind|{'x' * 50}" for i in range(counts.shape[1])
    ]
    made = Explorer(model[-1], counts=counts, target=target[:60], vocabulary=names)
    page = open_page(made.html, viewport={"width": width, "height": 800})
    for view in VIEWS:
        # Not with the mouse, which waits for frames that a browser on a busy machine may not draw.
        page.evaluate(f"document.querySelector('#tab-{view}').click()")
        assert page.evaluate("document.documentElement.scrollWidth") <= width, view
