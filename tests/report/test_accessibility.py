"""axe-core finds nothing to complain about, in any view, light or dark, wide or narrow."""

from importlib import resources

import pytest
from report_cases import case

from topicfocus.report import Explorer

#: All rules, but only what they complain about: to name and describe every node that is as it
#: should be takes three quarters of the time, and is thrown away.
RUN = "axe.run({resultTypes: ['violations'], selectors: false}).then(found => found.violations)"


@pytest.mark.parametrize(("kind", "scheme"), [("regression", "light"), ("multiclass", "dark")])
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
        found = [
            (v["id"], v["nodes"][0]["html"][:200], v["nodes"][0]["failureSummary"])
            for v in page.evaluate(RUN)
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
    page.get_by_label("Words by").select_option("relevance")
    page.focus("#relevance")
    page.keyboard.press("ArrowLeft")
    assert page.evaluate("document.activeElement.id") == "relevance"
    assert page.evaluate("topicfocus.state.relevance") == 0.35


def test_a_screen_reader_is_told_what_is_there(open_page):
    model, texts, target = case("binary")
    page = open_page(Explorer(model, texts=texts[:60], target=target[:60]).html)
    assert page.get_by_role("heading", level=1).count() == 1
    assert page.get_by_role("tablist", name="Views").get_by_role("tab").count() == 5
    for name in ("Topics", "Words", "Documents", "Try it", "Fit"):
        page.get_by_role("tab", name=name).click()
        assert page.get_by_role("tab", name=name, selected=True).count() == 1
        panel = page.get_by_role("tabpanel", name=name)
        assert panel.get_by_role("heading", level=2).count() >= 1
        # Whatever can be worked has a name, and every picture says what it shows.
        unnamed = panel.evaluate(
            "root => [...root.querySelectorAll('button, input, select, textarea, svg.chart')]"
            ".filter(n => !(n.ariaLabel || n.textContent.trim() || n.labels?.length)).length"
        )
        assert unnamed == 0, name
        hidden = panel.locator("svg:not(.chart):not([aria-hidden=true])").count()
        assert hidden == 0, name
    page.get_by_role("tab", name="Try it").click()
    live = page.locator("[aria-live=polite]")
    before = live.inner_text()
    page.get_by_role("textbox", name="Your text").fill("a brilliant masterpiece")
    assert live.inner_text() != before
