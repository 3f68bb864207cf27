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


def topics_in_order(found: dict[str, Any]) -> list[tuple[float, float, list[str], list[str]]]:
    """Of each topic, lowest first: both ends of its effect, its words, and what it goes with."""
    topics, words = found["topics"], found["words"]
    effects = topics.topic_effects(found["counts"], vocabulary=words)
    tops, beside = topics.top_words(7, words), topics.context_words(5, words)
    order = effects["change"].to_numpy().argsort()
    return [(effects["low"][k], effects["high"][k], tops[k], beside[k]) for k in order]


def draw_arrow(ax: Any, low: float, high: float, place: float) -> None:
    """From little to much of a topic."""
    colour = UP if high > low else DOWN
    arrow = {"arrowstyle": "-|>", "color": colour, "linewidth": 2.2}
    ax.annotate("", (high, place), (low, place), arrowprops=arrow)
    ax.plot(low, place, "o", color=colour, markersize=4)


def finish(figure: Any, ax: Any, path: Path) -> None:
    """Percents below, nothing around, saved."""
    import matplotlib.pyplot as plt

    ax.set_xlim(0, 1)
    ax.set_yticks([])
    ax.xaxis.set_major_formatter(matplotlib.ticker.PercentFormatter(1))
    ax.spines[["top", "right", "left"]].set_visible(False)
    figure.savefig(path, facecolor="white")
    plt.close(figure)
    fewer_colours(path)


def draw_topics(found: dict[str, Any], path: Path) -> None:
    """Topics of film reviews by what they do: words, and the dropped words they go with."""
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots(figsize=(9.6, 4.8), dpi=110, layout="constrained")
    for place, (low, high, tops, beside) in enumerate(topics_in_order(found)):
        draw_arrow(ax, low, high, place)
        name = textwrap.shorten(" ".join(tops), 56, placeholder="")
        ax.text(-0.03, place + 0.14, name, ha="right", va="center", fontsize=9.5)
        goes = "goes with: " + " ".join(beside)
        ax.text(-0.03, place - 0.24, goes, ha="right", va="center", fontsize=7.5, color="#666")
    ax.set_xlabel("probability that a review is positive, from little to much of the topic")
    finish(figure, ax, path)


def draw_narrow(found: dict[str, Any], path: Path) -> None:
    """The same for a phone: words above each arrow, in letters that can be read there."""
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots(figsize=(3.6, 5.6), dpi=200, layout="constrained")
    for place, (low, high, tops, beside) in enumerate(topics_in_order(found)):
        draw_arrow(ax, low, high, place - 0.28)
        name = textwrap.shorten(" ".join(tops), 40, placeholder="")
        ax.text(0, place + 0.3, name, va="center", fontsize=9)
        goes = textwrap.shorten("with " + " ".join(beside), 48, placeholder="")
        ax.text(0, place + 0.02, goes, va="center", fontsize=7.5, color="#555")
    ax.set_ylim(-0.6, place + 0.6)
    ax.tick_params(labelsize=8)
    ax.set_xlabel("a review is positive, with little and much of a topic", fontsize=8)
    finish(figure, ax, path)


def fewer_colours(path: Path) -> None:
    """These pictures have few: with a palette the file is a third of the size."""
    from PIL import Image

    Image.open(path).convert("RGB").quantize(128).save(path, optimize=True)


def photograph(page: Path, path: Path, size: tuple[int, int], scale: int = 1) -> None:
    """The first view of an explorer page."""
    from playwright.sync_api import sync_playwright

    sys.path.insert(0, str(HERE.parent))
    from look import launch

    with sync_playwright() as driver:
        running = launch(driver)
        if running is None:
            raise SystemExit("there is no Chromium on this machine")
        width, height = size
        view = running.new_page(
            viewport={"width": width, "height": height}, device_scale_factor=scale
        )
        view.goto(page.as_uri())
        view.wait_for_selector("html[data-ready]")
        view.screenshot(path=path)
        running.close()
    fewer_colours(path)


def main() -> None:
    """Fit once, draw twice, and both for a phone."""
    found = runpy.run_path(str(EXAMPLE))
    draw_topics(found, HERE / "film-topics.png")
    draw_narrow(found, HERE / "film-topics-narrow.png")
    with tempfile.TemporaryDirectory() as folder:
        page = found["explorer"].save(Path(folder) / "page.html")
        photograph(page, HERE / "explorer.png", (1180, 780))
        photograph(page, HERE / "explorer-narrow.png", (390, 600), scale=2)
    for name in ("film-topics", "film-topics-narrow", "explorer", "explorer-narrow"):
        print(f"{name}.png: {(HERE / f'{name}.png').stat().st_size // 1024} KB")


if __name__ == "__main__":
    main()
