"""Plots for papers, from the same summary as the page: topics, words, frontier, calibration.

They need matplotlib (``pip install 'topicfocus[plots]'``), which is imported when a plot is drawn.
Each draws on the axes given, or on those of a new pyplot figure, and returns them.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping
from typing import Any

import numpy as np

from topicfocus.report.facts import SEARCHED, frontier_axis, read_frontier
from topicfocus.report.labels import brief
from topicfocus.report.render import unpack, unpack_texts

#: Units of linear predictors that are not those of the target.
_UNITS = {
    "poisson": "log counts",
    "ordinal": "log odds of a higher level",
    "bernoulli": "log odds",
    "categorical": "score",
}
_CLASSES = ("bernoulli", "categorical")
_SMALL = 7
#: The colours of the page, distinct for colour-blind readers and in print.
UP, DOWN, NEUTRAL = "#b34700", "#0a5fae", "#8a93a3"
#: Colours and markers of numbers of topics, from few to many.
_COLOURS = (DOWN, UP, "#2e7d4f", "#7a4fa3", "#8a6d00", "#b3315f", "#37474f")
_MARKERS = "os^DvPX"


def _summary(source: Any) -> Mapping[str, Any]:
    """The summary of an Explorer, or the summary itself."""
    return source if isinstance(source, Mapping) else source.summary


def _predictor(summary: Mapping[str, Any], predictor: int) -> Mapping[str, Any]:
    n = len(summary["predictors"])
    if not 0 <= predictor < n:
        raise ValueError(f"predictor must be 0 to {n - 1}, got {predictor}.")
    return summary["predictors"][predictor]


def _axes(ax: Any, size: tuple[float, float]) -> Any:
    """The axes given, else those of a new pyplot figure.

    A program that draws many figures closes each with `plt.close(ax.figure)`.
    """
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            "Figures need matplotlib: pip install 'topicfocus[plots]', or matplotlib itself."
        ) from error
    return plt.figure(figsize=size, layout="constrained").add_subplot()


def _tidy(ax: Any) -> None:
    ax.spines[["top", "right"]].set_visible(False)


def plot_topics(
    source: Any,
    predictor: int = 0,
    ax: Any = None,
    level: float = 1.96,
    coefficients: bool = False,
) -> Any:
    """Predicted differences of topics, the largest on top, as in the first plot of the page.

    The hollow and the full marker are the predictions of a typical document at the 10th and the
    90th percentile of its proportion of the topic (`topic_effects`); the thin line is the 95%
    interval of this difference in held-out documents, if the page has some. With `coefficients`, or
    if the page has no documents, b + η_k instead, the linear predictor of a document of topic k
    alone.

    Parameters
    ----------
    source : Explorer or its summary
    predictor : int, default=0
        Number of the linear predictor, if there are several (classes, targets).
    ax : matplotlib axes, optional
    level : float, default=1.96
        Half-width of the interval of a coefficient, in standard errors.
    coefficients : bool, default=False
        Draw coefficients instead of predicted differences.

    Returns
    -------
    matplotlib axes

    Raises
    ------
    ValueError
        If there is no such ``predictor``.
    ImportError
        If matplotlib is not installed: the extra ``plots``.

    Examples
    --------
    >>> from topicfocus import FocusedTopicRegressor
    >>> from topicfocus.datasets import make_reviews
    >>> from topicfocus.report import Explorer, plot_topics
    >>> reviews = make_reviews(300, random_state=0)
    >>> model = FocusedTopicRegressor(3, random_state=0).fit(reviews.counts, reviews.target)
    >>> page = Explorer(model, counts=reviews.counts, target=reviews.target, target_name="stars")
    >>> plot_topics(page).get_xlabel()
    'predicted stars, from little to much of the topic'
    """
    summary = _summary(source)
    name = _predictor(summary, predictor)["name"]
    topics = summary["topics"]
    ax = _axes(ax, (6.4, 0.9 + 0.34 * len(topics["coef"])))
    about = summary["targets"][summary["predictors"][predictor]["target"]]
    if coefficients or summary["effects"] is None:
        order = _draw_coefficients(ax, summary, predictor, level)
        unit = f"{_UNITS[about['kind']]} of " if about["kind"] in _UNITS else ""
        ax.set_xlabel(f"{unit}{_plain(name)}, for a document of this topic alone")
    else:
        order = _draw_effects(ax, summary["effects"], predictor)
        ax.set_xlabel(f"{_predicted(about, name)}, from little to much of the topic")
        if about["kind"] in _CLASSES:
            ax.xaxis.set_major_formatter(lambda p, _: f"{100 * p:.3g}%")
    names = [
        textwrap.fill(_plain(topics["names"][k]), 34, max_lines=2, placeholder=" …") for k in order
    ]
    ax.set_yticks(range(len(order)), names)
    _tidy(ax)
    return ax


def _predicted(about: Mapping[str, Any], name: str) -> str:
    """The quantity whose differences are drawn."""
    if about["kind"] in _CLASSES:
        return f"probability of {_plain(name)}"
    return f"{'expected' if about['kind'] == 'poisson' else 'predicted'} {_plain(name)}"


def _draw_effects(ax: Any, effects: Mapping[str, Any], predictor: int) -> np.ndarray:
    """Draw predicted differences; returns the order of topics from the bottom up."""
    low, high, change = (
        np.array(effects[key], dtype=float)[:, predictor] for key in ("low", "high", "change")
    )
    order = np.argsort(change)
    ax.axvline(effects["typical"][predictor], color=NEUTRAL, linestyle="--", linewidth=1, zorder=0)
    for place, k in enumerate(order):
        colour = UP if change[k] >= 0 else DOWN
        if effects["lower"] is not None:
            ends = [low[k] + effects[end][k][predictor] for end in ("lower", "upper")]
            ax.plot(ends, [place, place], color=colour, linewidth=1)
        ax.plot([low[k], high[k]], [place, place], color=colour, linewidth=2.4)
        ax.plot(low[k], place, "o", color=colour, markerfacecolor="white", markersize=5)
        ax.plot(high[k], place, "o", color=colour, markersize=6)
    return order


def _draw_coefficients(
    ax: Any, summary: Mapping[str, Any], predictor: int, level: float
) -> np.ndarray:
    """Draw b + η_k ± `level` standard errors; returns the order of topics from the bottom up."""
    topics = summary["topics"]
    effect = np.array([row[predictor] for row in topics["coef"]]) + summary["intercept"][predictor]
    order = np.argsort(effect)
    prior = np.array(topics["prior"])
    base = float(effect @ prior / prior.sum())
    ax.axvline(base, color=NEUTRAL, linestyle="--", linewidth=1, zorder=0)
    for place, k in enumerate(order):
        colour = UP if effect[k] >= base else DOWN
        error = topics["error"][k][predictor] if topics["error"] is not None else None
        if error is not None:
            ends = [effect[k] - level * error, effect[k] + level * error]
            ax.plot(ends, [place, place], color=colour, linewidth=1.8)
        ax.plot(effect[k], place, "o", color=colour, markersize=6)
    return order


def plot_words(source: Any, predictor: int = 0, ax: Any = None, labels: int = 20) -> Any:
    """Words by association with the target (z) and screening statistic, or inclusion.

    Kept words are coloured by the sign of their association, dropped ones are grey.

    Parameters
    ----------
    source : Explorer or its summary
    predictor : int, default=0
        Number of the linear predictor, if there are several (classes, targets).
    ax : matplotlib axes, optional
    labels : int, default=20
        Number of kept words with a name, the outermost ones.

    Returns
    -------
    matplotlib axes

    Raises
    ------
    ValueError
        If the page has no targets.
    ImportError
        If matplotlib is not installed: the extra ``plots``.

    Examples
    --------
    >>> from topicfocus import FocusedTopicRegressor
    >>> from topicfocus.datasets import make_reviews
    >>> from topicfocus.report import Explorer, plot_words
    >>> reviews = make_reviews(300, random_state=0)
    >>> model = FocusedTopicRegressor(3, random_state=0).fit(reviews.counts, reviews.target)
    >>> page = Explorer(model, counts=reviews.counts, target=reviews.target)
    >>> plot_words(page, labels=5).get_ylabel()
    'evidence'
    """
    summary = _summary(source)
    name = _predictor(summary, predictor)["name"]
    words = summary["words"]
    if "association" not in words:
        raise ValueError("Words are drawn by their association with the target: give a target.")
    n_predictors = len(summary["predictors"])
    x = unpack(words["association"]).reshape(-1, n_predictors)[:, predictor]
    inclusion = unpack(words["inclusion"])
    kept = (inclusion > 0.5) & (unpack(words["trained"]) > 0)
    if words["graded"]:
        y, label = inclusion, "inclusion"
    else:
        y, label = unpack(words["why"]["as_prediction"]), "evidence"
    ax = _axes(ax, (6.4, 4.4))
    groups = ((~kept, NEUTRAL, 4), (kept & (x < 0), DOWN, 14), (kept & (x >= 0), UP, 14))
    for mask, colour, area in groups:
        ax.scatter(x[mask], y[mask], s=area, color=colour, linewidths=0, alpha=0.7)
    if label == "evidence":
        ax.set_yscale("symlog", linthresh=1.0)
        ax.axhline(words["why"]["prediction_cost"], color=NEUTRAL, linestyle="--", linewidth=1)
        ax.yaxis.set_major_formatter("{x:g}")
    strength = np.where(kept, np.abs(x) * np.log1p(np.maximum(y, 0)), -1.0)
    best = np.argsort(-strength)[: 10 * labels]
    _name_points(ax, unpack_texts(words["names"]), x, y, best[strength[best] > 0], labels)
    ax.set_xlabel(f"association with {_plain(name)} (z)")
    ax.set_ylabel(label)
    _tidy(ax)
    return ax


def _name_points(
    ax: Any, names: list[str], x: np.ndarray, y: np.ndarray, order: np.ndarray, most: int
) -> None:
    """Write the first names in `order` that do not overlap, towards the middle."""
    places = ax.transData.transform(np.column_stack([x, y]))
    dot = ax.figure.dpi / 72  # pixels per point
    taken: list[tuple[float, float, float]] = []
    for v in order:
        if len(taken) >= most:
            return
        text = brief(names[v], 24)
        side = -1 if x[v] >= 0 else 1
        width, height = 0.65 * _SMALL * len(text) * dot, 1.2 * _SMALL * dot
        left = places[v, 0] + side * 4 * dot - (width if side < 0 else 0)
        middle = places[v, 1]
        if any(left < b and left + width > a and abs(middle - m) < height for a, b, m in taken):
            continue
        taken.append((left, left + width, middle))
        ax.annotate(
            _plain(text),
            (x[v], y[v]),
            xytext=(side * 4, 0),
            textcoords="offset points",
            fontsize=_SMALL,
            ha="right" if side < 0 else "left",
            va="center",
        )


def plot_frontier(source: Any, figure: str | None = None, ax: Any = None) -> Any:
    """A metric over inclusion priors, one line per number of topics.

    If each number of topics has one inclusion prior, the metric over numbers of topics.

    Parameters
    ----------
    source : Explorer made with `frontier`, or such rows themselves
    figure : str, optional
        The name of a metric, by default the first one.
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib axes

    Raises
    ------
    ValueError
        If there is no frontier, or no such metric in it.
    ImportError
        If matplotlib is not installed: the extra ``plots``.

    Examples
    --------
    >>> from topicfocus.report import plot_frontier
    >>> rows = [{"inclusion_prior": 0.1, "RMSE": 1.3}, {"inclusion_prior": 0.2, "RMSE": 1.2}]
    >>> plot_frontier(rows).get_ylabel()
    'RMSE'
    """
    explorer = hasattr(source, "summary")
    rows = source.summary["fit"]["frontier"] if explorer else read_frontier(source)
    if not rows:
        raise ValueError("There is no frontier: run a path over inclusion priors first.")
    names = list(dict.fromkeys(n for row in rows for n in row if n not in SEARCHED))
    figure = names[0] if figure is None else figure
    if figure not in names:
        raise ValueError(f"figure must be one of {', '.join(names)}; got {figure!r}.")
    ax = _axes(ax, (5.0, 3.4))
    by = frontier_axis(rows)
    rows = [row for row in rows if by in row and figure in row]
    lines = {row.get("n_topics") if by != "n_topics" else None: None for row in rows}
    for i, topics in enumerate(lines):
        own = [row for row in rows if by == "n_topics" or row.get("n_topics") == topics]
        ax.plot(
            [row[by] for row in own],
            [row[figure] for row in own],
            "o-",
            color=DOWN if len(lines) == 1 else f"C{i}",
            label=None if topics is None else f"{topics:g} topics",
        )
    if len(lines) > 1:
        ax.legend(frameon=False, fontsize=8)
    ax.set_xlabel("topics" if by == "n_topics" else "inclusion prior")
    ax.set_ylabel(_plain(figure))
    _tidy(ax)
    return ax


def plot_calibration(source: Any, target: int = 0, label: int | None = None, ax: Any = None) -> Any:
    """Mean target by deciles of the predictions, with 95% intervals; the dashed line is ideal.

    Parameters
    ----------
    source : Explorer or its summary
    target : int, default=0
        Number of the target, if there are several.
    label : int, optional
        The number of a class, by default the last.
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib axes

    Raises
    ------
    ValueError
        If the page has no targets to compare with.
    ImportError
        If matplotlib is not installed: the extra ``plots``.

    Examples
    --------
    >>> from topicfocus import FocusedTopicRegressor
    >>> from topicfocus.datasets import make_reviews
    >>> from topicfocus.report import Explorer, plot_calibration
    >>> reviews = make_reviews(300, random_state=0)
    >>> model = FocusedTopicRegressor(3, random_state=0).fit(reviews.counts, reviews.target)
    >>> page = Explorer(model, counts=reviews.counts, target=reviews.target)
    >>> plot_calibration(page).get_xlabel()
    'mean prediction'
    """
    summary = _summary(source)
    found = summary["evaluation"][target]
    if found is None:
        raise ValueError("Calibration compares predictions with targets: give a target.")
    curve = found["calibration"][-1 if label is None else label]
    x, y, *ends = (np.array(curve[key], dtype=float) for key in ("x", "y", "low", "high"))
    ax = _axes(ax, (4.2, 4.0))
    low, high = min(x.min(), y.min()), max(x.max(), y.max())
    ax.plot([low, high], [low, high], color=NEUTRAL, linestyle="--", linewidth=1)
    # Rounding in the summary may move an end of a short interval past its centre.
    reach = np.maximum([y - ends[0], ends[1] - y], 0.0)
    ax.errorbar(x, y, yerr=reach, fmt="o", color=DOWN, ecolor=DOWN, elinewidth=1.5)
    ax.set_xlabel("mean prediction")
    about = summary["targets"][target]
    if about["kind"] in _CLASSES:
        ax.set_ylabel(f"share of {_plain(about['labels'][-1 if label is None else label])}")
    else:
        ax.set_ylabel(f"mean {_plain(about['name'])}")
    _tidy(ax)
    return ax


def _plain(text: str) -> str:
    """Escape dollar signs, which start formulas in matplotlib."""
    return text.replace("$", r"\$")


def plot_search(source: Any, score: str = "score", ax: Any = None) -> Any:
    """Test score with its standard error over the words kept, one line per number of topics.

    The ring is the selected setting. The dotted line is the best score (of settings with distinct
    topics) less its standard error: settings above it are within one standard error of the best.

    Parameters
    ----------
    source : TopicSearchCV that was fitted, or the rows of its frontier
    score : str, default="score"
        Name of the score.
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
    axes = _axes(ax, (6.0, 4.0))
    by_topics: dict[float, list[Mapping[str, Any]]] = {}
    for row in sorted(rows, key=lambda row: row["words"]):
        by_topics.setdefault(row["n_topics"], []).append(row)
    for i, (topics, own) in enumerate(sorted(by_topics.items())):
        axes.errorbar(
            [row["words"] for row in own],
            [row["score"] for row in own],
            yerr=[row.get("score_se") or 0.0 for row in own],
            color=_COLOURS[i % len(_COLOURS)],
            marker=_MARKERS[i % len(_MARKERS)],
            markersize=4,
            linewidth=1.2,
            capsize=2,
            label=f"{topics:g} topics",
        )
    best = max(rows, key=lambda row: (row.get("best", False), row["score"]))
    axes.axhline(
        best["score"] - (best.get("score_se") or 0.0), color=NEUTRAL, linestyle=":", linewidth=1
    )
    for row in rows:
        if row.get("chosen"):
            place = ([row["words"]], [row["score"]])
            axes.plot(*place, "o", markersize=13, fillstyle="none", color="black", label="selected")
    axes.set_xscale("log")
    ticks = _ticks(sorted(row["words"] for row in rows))
    axes.set_xticks(ticks, [f"{tick:,.0f}" for tick in ticks])
    axes.set_xticks([], minor=True)
    axes.set_xlabel("words kept")
    axes.set_ylabel(f"test {score} (mean of folds ± standard error)")
    axes.legend(frameon=False, fontsize=8)
    _tidy(axes)
    return axes


def _rows(source: Any) -> list[Mapping[str, Any]]:
    """The rows with a score."""
    given: Any = getattr(source, "frontier_rows_", source)
    if hasattr(given, "to_dict"):
        given = given.to_dict("records")
    known = lambda value: value is not None and math.isfinite(value)  # noqa: E731
    return [row for row in given if known(row.get("score")) and known(row.get("words"))]


def _ticks(words: list[float]) -> list[float]:
    """Numbers of words below the axis, at least 25% apart."""
    ticks = [words[0]]
    for n in words:
        if n > 1.25 * ticks[-1]:
            ticks.append(n)
    return ticks
