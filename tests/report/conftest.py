"""One headless browser for all tests of the page; they are skipped where there is none."""

import shutil

import pytest
from report_cases import large

from topicfocus import FocusedTopicRegressor
from topicfocus.report import Explorer

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@pytest.fixture(scope="session")
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    # The shell is the same engine without the windows of a browser: it costs less than half.
    names = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
    found = next(filter(None, map(shutil.which, names)), None)
    if found is None:
        pytest.skip("there is no Chromium on this machine")
    # Playwright gives every browser an empty profile directory of its own.
    with playwright.sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=found, args=list(FLAGS))
        yield running
        running.close()


@pytest.fixture(scope="session")
def largest():
    """A page of 50 topics and 10,000 words, and its texts (benchmarks/explorer.py has figures)."""
    model, given = large(50, 10_000, 0.1, FocusedTopicRegressor)
    return Explorer(model, **given), given["texts"]


@pytest.fixture
def open_page(browser, tmp_path):
    """A function that opens a report; afterwards, nothing may have complained or been fetched."""
    troubles, contexts = [], []

    def show(html, address="", **options):
        path = tmp_path / f"page{len(contexts)}.html"
        path.write_text(html, encoding="utf-8")
        options.setdefault("viewport", {"width": 1280, "height": 800})
        context = browser.new_context(accept_downloads=True, **options)
        contexts.append(context)
        page = context.new_page()
        page.on(
            "console",
            lambda m: troubles.append(m.text) if m.type in ("error", "warning") else None,
        )
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on(
            "request",
            lambda r: None if r.url.startswith(("file:", "blob:")) else troubles.append(r.url),
        )
        page.goto(f"file://{path}{address}")
        page.wait_for_selector("html[data-ready]", state="attached", timeout=60_000)
        return page

    show.troubles = troubles
    yield show
    for context in contexts:
        context.close()
    assert troubles == []
