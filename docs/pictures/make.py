"""Make the pictures of the README and of the start page from the first example of the gallery.

    pip install -e '.[docs,dev]' && python docs/pictures/make.py

The explorer's needs a Chromium on the machine.
"""

from __future__ import annotations

import runpy
import sys
import tempfile
import textwrap
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

HERE = Path(__file__).resolve().parent
EXAMPLE = HERE.parents[1] / "examples" / "plot_1_film_reviews.py"
UP, DOWN = "#1b7a5a", "#b8452f"


def draw_topics(found: dict[str, Any], path: Path) -> None:
    """Topics of film reviews by what they do: words, and the dropped words they go with."""
    import matplotlib.pyplot as plt

    topics, words = found["topics"], found["words"]
    effects = topics.topic_effects(found["counts"], vocabulary=words)
    tops = topics.top_words(7, words)
    beside = topics.context_words(5, words)
    order = effects["change"].to_numpy().argsort()
    figure, ax = plt.subplots(figsize=(9.6, 4.8), layout="constrained")
    for place, k in enumerate(order):
        low, high = effects["low"][k], effects["high"][k]
        colour = UP if high > low else DOWN
        arrow = {"arrowstyle": "-|>", "color": colour, "linewidth": 2.2}
        ax.annotate("", (high, place), (low, place), arrowprops=arrow)
        ax.plot(low, place, "o", color=colour, markersize=4)
        name = textwrap.shorten(" ".join(tops[k]), 56, placeholder="")
        ax.text(-0.03, place + 0.14, name, ha="right", va="center", fontsize=9.5)
        goes = "goes with: " + " ".join(beside[k])
        ax.text(-0.03, place - 0.24, goes, ha="right", va="center", fontsize=7.5, color="#666")
    ax.set_xlim(0, 1)
    ax.set_yticks([])
    ax.xaxis.set_major_formatter(matplotlib.ticker.PercentFormatter(1))
    ax.set_xlabel("probability that a review is positive, from little to much of the topic")
    ax.spines[["top", "right", "left"]].set_visible(False)
    figure.savefig(path, dpi=110, facecolor="white")
    plt.close(figure)


def photograph(page: Path, path: Path) -> None:
    """The first view of an explorer page."""
    from playwright.sync_api import sync_playwright

    sys.path.insert(0, str(HERE.parent))
    from look import launch

    with sync_playwright() as driver:
        running = launch(driver)
        if running is None:
            raise SystemExit("there is no Chromium on this machine")
        view = running.new_page(viewport={"width": 1180, "height": 780})
        view.goto(page.as_uri())
        view.wait_for_selector("html[data-ready]")
        view.screenshot(path=path)
        running.close()
    # A page has few colours: with a palette the file is a third of the size.
    from PIL import Image

    Image.open(path).convert("RGB").quantize(128).save(path, optimize=True)


def main() -> None:
    """Fit once, draw twice."""
    found = runpy.run_path(str(EXAMPLE))
    draw_topics(found, HERE / "film-topics.png")
    with tempfile.TemporaryDirectory() as folder:
        page = found["explorer"].save(Path(folder) / "page.html")
        photograph(page, HERE / "explorer.png")
    for name in ("film-topics.png", "explorer.png"):
        print(f"{name}: {(HERE / name).stat().st_size // 1024} KB")


if __name__ == "__main__":
    main()
