"""The frontier of a search as a picture: held-out score by words kept, a line for each K."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from topicfocus.report.axes import axes_for

#: Of numbers of topics, from few to many; told apart by every kind of colour vision.
_COLOURS = ("#0a5fae", "#b34700", "#2e7d4f", "#7a4fa3", "#8a6d00", "#b3315f", "#37474f")
_MARKS = ("o", "s", "^", "D", "v", "P", "X")


def plot_search(source: Any, score: str = "score", ax: Any = None) -> Any:
    """Held-out score with its standard error over the words kept, one line a number of topics.

    The ring is the setting that was taken; the dotted line is the best score (of settings whose
    topics are distinct) less its standard error, above which a setting counts as good as the best.

    Parameters
    ----------
    source : TopicSearchCV that was fitted, or the rows of its frontier
    score : str, default="score"
        What to call the score.
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib axes

    Raises
    ------
    ValueError
        If no setting has a score.
    ImportError
        If matplotlib is not installed: the extra ``plots``.

    Examples
    --------
    >>> from topicfocus.report import plot_search
    >>> rows = [{"n_topics": 3, "words": w, "score": s, "score_se": 0.01, "chosen": w == 90}
    ...         for w, s in ((40, 0.40), (90, 0.45), (300, 0.46))]
    >>> plot_search(rows).get_xlabel()
    'words kept'
    """
    rows = _rows(source)
    if not rows:
        raise ValueError("no setting of this search has a score to draw.")
    axes = axes_for(ax, (6.0, 4.0))
    by_topics: dict[float, list[Mapping[str, Any]]] = {}
    for row in sorted(rows, key=lambda row: row["words"]):
        by_topics.setdefault(row["n_topics"], []).append(row)
    for i, (topics, own) in enumerate(sorted(by_topics.items())):
        axes.errorbar(
            [row["words"] for row in own],
            [row["score"] for row in own],
            yerr=[row.get("score_se") or 0.0 for row in own],
            color=_COLOURS[i % len(_COLOURS)],
            marker=_MARKS[i % len(_MARKS)],
            markersize=4,
            linewidth=1.2,
            capsize=2,
            label=f"{topics:g} topics",
        )
    best = max(rows, key=lambda row: (row.get("best", False), row["score"]))
    axes.axhline(
        best["score"] - (best.get("score_se") or 0.0), color="#8a93a3", linestyle=":", linewidth=1
    )
    for row in rows:
        if row.get("chosen"):
            place = ([row["words"]], [row["score"]])
            axes.plot(*place, "o", markersize=13, fillstyle="none", color="black", label="taken")
    axes.set_xscale("log")
    ticks = _ticks(sorted(row["words"] for row in rows))
    axes.set_xticks(ticks, [f"{tick:,.0f}" for tick in ticks])
    axes.set_xticks([], minor=True)
    axes.set_xlabel("words kept")
    axes.set_ylabel(f"held-out {score} (mean of folds ± standard error)")
    axes.legend(frameon=False, fontsize=8)
    axes.spines[["top", "right"]].set_visible(False)
    return axes


def _rows(source: Any) -> list[Mapping[str, Any]]:
    """Rows that have a score."""
    given: Any = getattr(source, "frontier_rows_", source)
    if hasattr(given, "to_dict"):
        given = given.to_dict("records")
    assert isinstance(given, Sequence)
    return [row for row in given if _is_number(row.get("score")) and _is_number(row.get("words"))]


def _ticks(words: Sequence[float]) -> list[float]:
    """Numbers of words to write below the axis: those not too near to the one before."""
    ticks = [words[0]]
    for n in words:
        if n > 1.25 * ticks[-1]:
            ticks.append(n)
    return ticks


def _is_number(value: Any) -> bool:
    return value is not None and math.isfinite(value)
