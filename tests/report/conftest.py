"""One headless browser for all tests of the page, which are skipped without one."""

import shutil

import pytest

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
    # The shell is the same engine without windows, for less than half of the CPU time.
    names = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
    found = next(filter(None, map(shutil.which, names)), None)
    if found is None:
        pytest.skip("there is no Chromium on this machine")
    # Playwright gives every browser an empty profile directory of its own.
    with playwright.sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=found, args=list(FLAGS))
        yield running
        running.close()


def watch(page, trouble):
    """Call `trouble` with every error and warning, and with every request to another host."""
    page.on("console", lambda m: trouble(m.text) if m.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: trouble(str(error)))
    page.on(
        "request",
        lambda r: None if r.url.startswith(("file:", "blob:", "about:")) else trouble(r.url),
    )


@pytest.fixture
def open_page(browser, tmp_path):
    """A function that opens a report; fails on errors, warnings and requests."""
    troubles, contexts = [], []

    def show(html, address="", **options):
        path = tmp_path / f"page{len(contexts)}.html"
        path.write_text(html, encoding="utf-8")
        usual = {"accept_downloads": True, "viewport": {"width": 1280, "height": 800}}
        contexts.append(browser.new_context(**{**usual, **options}))
        page = contexts[-1].new_page()
        watch(page, troubles.append)
        page.goto(f"file://{path}{address}")
        page.wait_for_selector("html[data-ready]", state="attached", timeout=60_000)
        return page

    show.troubles = troubles
    yield show
    for context in contexts:
        context.close()
    assert troubles == []
