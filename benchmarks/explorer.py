"""The largest page of the explorer: its size, how long a browser needs to open it, and for a key.

Time to open is from the start of the navigation until the first view is drawn and answers, in a
headless Chromium that has just been started or has opened the page before. A key costs what runs
between the input and the page drawn anew, in *Try it* with a document of 400 words. Needs
playwright and Chromium.

python benchmarks/explorer.py [--loads 15]
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

from topicfocus import FocusedTopicRegressor, SLDARegressor
from topicfocus.report import Explorer

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))
from report_cases import large

READY = "performance.getEntriesByName('topicfocus-ready')[0].startTime"
#: Topics, share of the 10,000 words that topics contain, model.
PAGES = (
    (5, 0.1, FocusedTopicRegressor),
    (50, 0.1, FocusedTopicRegressor),
    (50, 1.0, SLDARegressor),
)


#: A key: the text is another, and the page is drawn anew.
TYPE = """text => {
  const area = document.getElementById("try-text");
  area.focus();
  area.value = text;
  const start = performance.now();
  area.dispatchEvent(new Event("input"));
  document.body.getBoundingClientRect();
  return performance.now() - start;
}"""
DRAWN = "() => new Promise(done => requestAnimationFrame(() => setTimeout(done, 0)))"


def launch(driver: Any) -> Any:
    """A browser with an empty profile."""
    names = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
    found = next(filter(None, map(shutil.which, names)), None)
    args = ["--headless", "--no-sandbox", "--disable-gpu"]
    return driver.chromium.launch(executable_path=found, args=args)


def busy_time(session: Any) -> float:
    """Milliseconds that the thread of a page was busy since `Performance.enable`."""
    found = session.send("Performance.getMetrics")["metrics"]
    return 1000 * next(m["value"] for m in found if m["name"] == "TaskDuration")


def watched(page: Any) -> Any:
    """A session that counts processor time of the page's thread."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    return session


def key_times(address: str, keys: int = 30) -> tuple[list[float], list[float]]:
    """Milliseconds that keys take in *Try it*, by the clock and of the page's processor.

    The second is what the thread of the page was busy for, script, layout and drawing, until the
    key was to be seen: it does not depend on what else the machine does.
    """
    from playwright.sync_api import sync_playwright

    clock, busy = [], []
    with sync_playwright() as driver:
        running = launch(driver)
        page = running.new_page(viewport={"width": 1440, "height": 900})
        page.goto(address)
        page.wait_for_selector("html[data-ready]")
        session = watched(page)
        text = page.evaluate("document.getElementById('try-text').value")
        for i in range(1, keys + 1):
            before = busy_time(session)
            clock.append(page.evaluate(TYPE, text + " " + text[: 5 * i]))
            page.evaluate(DRAWN)
            busy.append(busy_time(session) - before)
        running.close()
    return clock, busy


def load_times(address: str, loads: int) -> tuple[list[float], list[float], list[float]]:
    """Milliseconds of `loads` first loads, each in a browser of its own, by the clock and of the
    page's processor, and of as many others."""
    from playwright.sync_api import sync_playwright

    first, busy, again = [], [], []
    with sync_playwright() as driver:
        for _ in range(loads):
            running = launch(driver)
            page = running.new_page(viewport={"width": 1440, "height": 900})
            session = watched(page)
            for times in (first, again):
                page.goto("about:blank")
                page.goto(address)
                page.wait_for_selector("html[data-ready]")
                times.append(float(page.evaluate(READY)))
                if times is first:
                    busy.append(busy_time(session))
            running.close()
    return first, busy, again


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--loads", type=int, default=15)
    loads = parser.parse_args().loads
    with tempfile.TemporaryDirectory() as folder:
        for n_topics, share, model in PAGES:
            fitted, given = large(n_topics, 10_000, share, model)
            page = Explorer(fitted, **given).save(Path(folder) / "page.html")
            size = page.stat().st_size / 1e6
            print(
                f"{model.__name__}, {n_topics} topics, 10,000 words, 500 documents: {size:.2f} MB"
            )
            for view in ("topics", "words"):
                names = ("new browser", "processor", "opened again")
                found = load_times(f"file://{page}#view={view}", loads)
                load = os.getloadavg()[0]
                for name, times in zip(names, found, strict=True):
                    print(
                        f"  {view:<6} {name:<12} best {min(times):4.0f} ms, median "
                        f"{statistics.median(times):4.0f} ms (load {load:.1f})"
                    )
            for name, keys in zip(
                ("by the clock", "processor"), key_times(f"file://{page}#view=try"), strict=True
            ):
                print(
                    f"  a key  {name:<12} best {min(keys):4.0f} ms, median "
                    f"{statistics.median(keys):4.0f} ms, most {max(keys):4.0f} ms "
                    f"(load {os.getloadavg()[0]:.1f})"
                )


if __name__ == "__main__":
    main()
