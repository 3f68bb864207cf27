"""What hands do: drag, brush, click words, turn a phone; and what must not get lost by it."""

import numpy as np
import pytest
from report_cases import case, explorer


def drag(page, surface, start, stop, steps=4):
    """Over a picture, from and to in shares of its box."""
    surface.scroll_into_view_if_needed()
    box = surface.bounding_box()
    at = lambda x, y: (box["x"] + x * box["width"], box["y"] + y * box["height"])  # noqa: E731
    page.mouse.move(*at(*start))
    page.mouse.down()
    page.mouse.move(*at(*stop), steps=steps)
    page.mouse.up()


def test_the_relevance_slider_can_be_dragged(open_page):
    page = open_page(explorer("graded").html, "#by=relevance&relevance=1")
    slider = page.locator("#relevance")
    slider.evaluate("node => { window.dragged = node; }")
    first = page.locator(".word-bar .name").all_inner_texts()
    slider.scroll_into_view_if_needed()
    drag(page, slider, (0.98, 0.5), (0.03, 0.5), steps=15)
    assert page.evaluate("topicfocus.state.relevance") <= 0.05
    assert "λ = 0" in page.locator("#relevance-value").inner_text()
    assert page.locator(".word-bar .name").all_inner_texts() != first
    # The same element all the way: a new one would have let go of the pointer.
    assert page.evaluate("document.getElementById('relevance') === window.dragged")


def test_the_theme_is_remembered(open_page):
    page = open_page(explorer("regression").html, color_scheme="light")
    ground = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(ground)
    page.click("#theme")
    dark = page.evaluate(ground)
    assert dark != light
    page.reload()
    page.wait_for_selector("html[data-ready]")
    assert page.evaluate(ground) == dark
    page.click("#theme")
    assert page.evaluate(ground) == light


# ---- documents and words -----------------------------------------------------------------------


def test_a_click_on_a_word_takes_it_out(open_page):
    model = case("regression").model
    text = "brilliant but dull, brilliant again"
    page = open_page(explorer("regression").html, "#view=try&text=" + text.replace(" ", "+"))
    value = lambda: float(  # noqa: E731
        page.locator("#try-result .figure strong").get_attribute("data-value")
    )
    assert value() == pytest.approx(model.predict([text])[0], abs=1e-6)
    words = page.locator("#try-words button.word")
    words.first.click()
    without = "but dull, brilliant again"
    assert value() == pytest.approx(model.predict([without])[0], abs=1e-6)
    assert words.first.get_attribute("aria-pressed") == "false"
    assert "differs by" in page.locator("#moved").inner_text()
    # Where the words are, the prediction is in view as well.
    assert float(page.locator("#try-words .now strong").inner_text()) == pytest.approx(
        value(), rel=0.01
    )
    assert page.evaluate("document.activeElement.dataset.span") == "0"  # the keyboard stays there
    again = open_page(explorer("regression").html, page.evaluate("location.hash"))
    shown = again.locator("#try-result .figure strong").get_attribute("data-value")
    assert float(shown) == value()
    page.keyboard.press("Enter")
    assert value() == pytest.approx(model.predict([text])[0], abs=1e-6)
    words.nth(1).click()
    page.locator("#try-text").press_sequentially("!")  # another text: nothing is out of it
    assert page.evaluate("topicfocus.state.off") == []


@pytest.mark.parametrize("kind", ["pairs", "multiclass"])
def test_taking_words_out_is_what_python_would_predict(open_page, kind):
    model, texts, _ = case(kind)
    page = open_page(explorer(kind).html)
    text = texts[45]
    spans = page.evaluate("t => topicfocus.predict(t).spans", text)
    off = [1, 4, 5, len(spans) - 1]
    left = " ".join(span["word"] for i, span in enumerate(spans) if i not in off)
    found = page.evaluate("([t, off]) => topicfocus.predict(t, off).scores", [text, off])
    counts = model[:-1].transform([left])
    if kind == "multiclass":
        wanted = model[-1].decision_function(counts)[0]
    else:
        wanted = model[-1].predict(counts)
    np.testing.assert_allclose(found, wanted, atol=1e-6)


def test_the_nearest_documents_stand_beside_it(open_page):
    model, texts, target = case("regression")
    page = open_page(explorer("regression").html, "#view=try")
    page.locator("#try-text").fill(texts[50])
    made_of = np.sqrt(model[-1].token_proportions(model[:-1].transform(texts[:60])))
    known = model[:-1].transform(texts[:60])[:, model[-1].selected_words_].sum(axis=1)
    near = np.where(np.asarray(known).ravel() > 0, made_of @ made_of[50], 0)
    shown = page.locator("#nearest [data-doc]").evaluate_all("n => n.map(d => +d.dataset.doc)")
    assert shown[0] == 50 and len(shown) == 5
    np.testing.assert_allclose(near[shown], np.sort(near)[::-1][:5], atol=1e-4)
    said = page.locator("#nearest [data-doc='50'] small").inner_text()
    assert float(said.split()[1].strip(",")) == pytest.approx(target[50], rel=1e-3)
