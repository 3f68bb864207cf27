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


class Shared:
    """One page for the tests without special options, because a context costs CPU time.

    Storage, media, size and mouse are reset between tests.
    """

    def __init__(self, browser):
        self._browser, self._page = browser, None
        self.troubles, self.free = [], True

    def take(self):
        self.free = False
        if self._page is None:
            self._page = self._browser.new_context(**USUAL).new_page()
            # The `troubles` of the test that uses the page then.
            watch(self._page, lambda what: self.troubles.append(what))
        return self._page

    def give_back(self, troubles):
        """Reset the page for the next test; a page that cannot be reset is closed."""
        page, self.free, self.troubles = self._page, True, troubles
        try:
            page.evaluate("localStorage.clear(), sessionStorage.clear()")
            page.mouse.up()
            page.goto("about:blank")
            page.mouse.move(0, 0)
            page.emulate_media(media="null")
            page.set_viewport_size(USUAL["viewport"])
        except Exception:
            page.context.close()
            self._page = None


USUAL = {"accept_downloads": True, "viewport": {"width": 1280, "height": 800}}


def watch(page, trouble):
    """Call `trouble` with every error and warning, and with every request to another host."""
    page.on("console", lambda m: trouble(m.text) if m.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: trouble(str(error)))
    page.on(
        "request",
        lambda r: None if r.url.startswith(("file:", "blob:", "about:")) else trouble(r.url),
    )


@pytest.fixture(scope="session")
def shared(browser):
    return Shared(browser)


@pytest.fixture
def open_page(browser, shared, tmp_path):
    """A function that opens a report; fails on errors, warnings and requests."""
    troubles, contexts, opened = [], [], []
    shared.troubles = troubles

    def show(html, address="", **options):
        path = tmp_path / f"page{len(opened)}.html"
        path.write_text(html, encoding="utf-8")
        if shared.free and not options:
            page = shared.take()
        else:
            context = browser.new_context(**{**USUAL, **options})
            contexts.append(context)
            page = context.new_page()
            watch(page, troubles.append)
        opened.append(page)
        page.goto(f"file://{path}{address}")
        page.wait_for_selector("html[data-ready]", state="attached", timeout=60_000)
        return page

    show.troubles = troubles
    yield show
    for context in contexts:
        context.close()
    if not shared.free:
        shared.give_back([])
    assert troubles == []
