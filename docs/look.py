"""Open the built site in a headless Chromium, from files, as a reader without a network would.

    python docs/look.py docs/_build/html [--pictures FOLDER] [--all]

Fails if a page asks for anything but files, complains, or is wider than a phone, or if the search
finds nothing. With a folder, pages are photographed at two sizes, light and dark. These are some
pages; with --all they are all but those of the reference, of which there is one.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync")
PAGES = (
    "docs/index",
    "docs/start",
    "docs/reading",
    "docs/covariates",
    "docs/paper",
    "docs/compare",
    "docs/focused",
    "docs/gallery/index",
    "docs/gallery/plot_1_film_reviews",
    "docs/api/index",
    "docs/api/generated/topicfocus.FocusedTopicRegressor",
)
SIZES = {"wide": (1440, 900), "phone": (390, 844)}


def launch(driver: Any) -> Any:
    """A headless Chromium of this machine; None if there is none."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    return found and driver.chromium.launch(executable_path=found, args=list(FLAGS))


def watched_page(browser: Any, scheme: str, troubles: list[str]) -> Any:
    """A page that notes what it should not do, whatever it shows."""
    page = browser.new_context(color_scheme=scheme, offline=True).new_page()

    def name() -> str:
        return page.url.rsplit("/", 1)[-1]

    def asked(request: Any) -> None:
        if not request.url.startswith(("file:", "data:", "blob:", "about:")):
            troubles.append(f"{name()} asks for {request.url}")

    page.on("request", asked)
    page.on("pageerror", lambda error: troubles.append(f"{name()}: {error}"))
    return page


def pages_to_look_at(root: Path, every: bool) -> list[str]:
    """Names of pages below the site's folder, without the ending."""
    if not every:
        return list(PAGES)
    found = (path.relative_to(root).with_suffix("").as_posix() for path in root.rglob("*.html"))
    # Pages of the reference are of one kind; explorers stand in frames of the gallery.
    left_out = ("/generated/", "_static/", "explorers/", "genindex", "search")
    return sorted({*PAGES, *(name for name in found if not any(part in name for part in left_out))})


def set_size(page: Any, size: str) -> None:
    """As wide and high as a screen of that name."""
    width, height = SIZES[size]
    page.set_viewport_size({"width": width, "height": height})


def look(browser: Any, root: Path, pictures: Path | None, pages: Sequence[str]) -> list[str]:
    """What is wrong with the pages, a line each."""
    troubles: list[str] = []
    for scheme in ("light", "dark") if pictures else ("light",):
        page = watched_page(browser, scheme, troubles)
        for name in pages:
            page.goto((root / f"{name}.html").as_uri())
            for size in SIZES:
                set_size(page, size)
                width = page.evaluate("document.documentElement.scrollWidth")
                if width > SIZES[size][0]:
                    troubles.append(f"{name}: {width} pixels wide on a {size}")
                if pictures:
                    page.wait_for_timeout(300)
                    file = f"{name.replace('/', '-')}-{size}-{scheme}.png"
                    page.screenshot(path=pictures / file)
        page.context.close()
    page = watched_page(browser, "light", troubles)
    set_size(page, "wide")
    page.goto((root / "search.html").as_uri() + "?q=covariates")
    page.wait_for_selector("#search-results li a", timeout=20_000)
    found = page.locator("#search-results li").count()
    print(f"search: {found} pages about covariates")
    if pictures:
        page.screenshot(path=pictures / "search.png")
    page.context.close()
    return troubles


def main() -> int:
    """Look, and say what was seen."""
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("site", type=Path)
    parser.add_argument("--pictures", type=Path)
    parser.add_argument("--all", action="store_true", help="every page, not a choice of them")
    arguments = parser.parse_args()
    if arguments.pictures:
        arguments.pictures.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as driver:
        browser = launch(driver)
        if browser is None:
            print("There is no Chromium on this machine: nothing looked at.")
            return 0
        root = arguments.site.resolve()
        pages = pages_to_look_at(root, arguments.all)
        troubles = look(browser, root, arguments.pictures, pages)
        browser.close()
    print("\n".join(troubles) or f"{len(pages)} pages can be read offline.")
    return int(bool(troubles))


if __name__ == "__main__":
    sys.exit(main())
