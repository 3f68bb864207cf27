"""axe-core finds nothing to complain about, in any view, light or dark, wide or narrow."""

from importlib import resources

import pytest
from report_cases import case

from topicfocus.report import Explorer


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("kind", ["regression", "multiclass"])
def test_axe(open_page, kind, scheme):
    axe = pytest.importorskip("axe_playwright_python", reason="axe-core is not installed")
    script = (resources.files(axe) / "axe.min.js").read_text(encoding="utf-8")
    model, texts, target = case(kind)
    width = 1280 if scheme == "light" else 390
    page = open_page(
        Explorer(model, texts=texts[:60], target=target[:60]).html,
        "#topic=1&word=5&doc=3&text=a+brilliant+but+dull+masterpiece",
        color_scheme=scheme,
        viewport={"width": width, "height": 800},
    )
    page.evaluate(script)
    for view in ("topics", "words", "documents", "try", "fit"):
        page.click(f"#tab-{view}")
        result = page.evaluate("axe.run()")
        found = [
            (v["id"], v["nodes"][0]["html"][:200], v["nodes"][0]["failureSummary"])
            for v in result["violations"]
        ]
        assert found == [], view


def test_the_keyboard_reaches_everything(open_page):
    model, texts, target = case("regression")
    page = open_page(Explorer(model, texts=texts[:60], target=target[:60]).html)
    page.focus("#tab-topics")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.id") == "tab-words"
    assert page.locator("#panel-words").is_visible()
    page.keyboard.press("End")
    assert page.locator("#panel-fit").is_visible()
    page.keyboard.press("Home")
    page.focus("[data-topic='0']")
    page.keyboard.press("Enter")
    assert page.locator("[data-topic='0']").get_attribute("aria-pressed") == "true"
    assert page.evaluate("document.activeElement.dataset.topic") == "0"  # drawn anew, focus kept
    page.focus("#relevance")
    page.keyboard.press("ArrowLeft")
    assert page.evaluate("document.activeElement.id") == "relevance"
    assert page.evaluate("topicfocus.state.relevance") == 0.55
