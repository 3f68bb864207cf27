"""Plots with matplotlib: predicted differences and words of topics, calibration, the frontier.

Each takes the `Result` of `topicfocus.fit`, or an `Explorer`, which several plots can share; or a
fitted model or pipeline with documents. They need matplotlib (``pip install 'topicfocus[plots]'``),
draw on the axes given or on those of a new pyplot figure, and return them.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import Any

import numpy as np

from topicfocus.report.evaluation import SEARCHED, frontier_axis, read_frontier
from topicfocus.report.explorer import Explorer
from topicfocus.report.render import unpack, unpack_texts
from topicfocus.report.words import unpack_logarithms
from topicfocus.text.codes import short_name

_CLASSES = ("bernoulli", "categorical")
#: The colours of the page, distinct for colour-blind readers and in print.
UP, DOWN, NEUTRAL = "#b34700", "#0a5fae", "#8a93a3"
#: Colours and markers of numbers of topics, from few to many.
_COLOURS = (DOWN, UP, "#2e7d4f", "#7a4fa3", "#8a6d00", "#b3315f", "#37474f")
_MARKERS = "os^DvPX"


def _summary(source: Any, documents: Any = None, target: Any = None, **options: Any) -> Any:
    """The summary of a Result, an Explorer, or a model with documents: texts, or counts."""
    if callable(getattr(source, "explorer", None)):
        source = source.explorer()
    if isinstance(source, (Mapping, Explorer)):
        if documents is not None:
            raise ValueError("a Result or an Explorer has its documents: give none beside it.")
        return source if isinstance(source, Mapping) else source.summary
    texts = isinstance(documents, (list, tuple)) and documents and isinstance(documents[0], str)
    if hasattr(documents, "tolist") and getattr(documents, "ndim", 2) == 1:  # a Series of texts
        documents, texts = documents.tolist(), True
    given = {"texts" if texts else "counts": documents, "target": target, **options}
    return Explorer(source, held_out=target is not None, **given).summary


def _predictor(summary: Mapping[str, Any], predictor: int) -> str:
    """The name of a linear predictor."""
    n = len(summary["predictors"])
    if not 0 <= predictor < n:
        raise ValueError(f"predictor must be 0 to {n - 1}, got {predictor}.")
    return str(summary["predictors"][predictor]["name"])


def _pyplot() -> Any:
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            "Figures need matplotlib: pip install 'topicfocus[plots]', or matplotlib itself."
        ) from error
    return plt


def _axes(ax: Any, size: tuple[float, float]) -> Any:
    """The axes given, else those of a new pyplot figure.

    A program that draws many figures closes each with `plt.close(ax.figure)`.
    """
    return ax or _pyplot().figure(figsize=size, layout="constrained").add_subplot()


def _tidy(ax: Any) -> Any:
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def _plain(text: str) -> str:
    """Escape dollar signs, which start formulas in matplotlib."""
    return text.replace("$", r"\$")


def _topic_label(topics: Mapping[str, Any], k: int, width: int = 34) -> str:
    name = _plain(f"{topics['number'][k]}: {topics['names'][k]}")
    return textwrap.fill(name, width, max_lines=2, placeholder=" …")


# ---- topics --------------------------------------------------------------------------------------


def plot_effects(
    source: Any,
    documents: Any = None,
    target: Any = None,
    *,
    predictor: int = 0,
    ax: Any = None,
    **options: Any,
) -> Any:
    """Predicted differences of topics with intervals, in the order of the topics' numbers.

    The hollow and the full marker are the predictions of a typical document at the 10th and the
    90th percentile of its proportion of the topic (`topic_effects`); the thin line is the 95%
    interval of this difference in held-out documents.

    Parameters
    ----------
    source : Result of `topicfocus.fit`, Explorer, or fitted model or pipeline
    documents : list of str, or documents x words counts
        For a model or pipeline only; a Result and an Explorer have theirs.
    target : as for `fit`, optional
        Targets of these documents, which had no part in the fit: intervals come from them.
    predictor : int, default=0
        Number of the linear predictor, if there are several (classes, targets).
    ax : matplotlib axes, optional
    **options
        Other parameters of `Explorer`, such as ``target_name`` or ``vocabulary``.

    Returns
    -------
    matplotlib axes

    Raises
    ------
    ValueError
        If there are no documents, or no such ``predictor``.
    ImportError
        If matplotlib is not installed: the extra ``plots``.

    Examples
    --------
    >>> from topicfocus import FocusedTopicRegressor
    >>> from topicfocus.datasets import make_reviews
    >>> from topicfocus.report import plot_effects
    >>> reviews = make_reviews(300, random_state=0)
    >>> model = FocusedTopicRegressor(3, random_state=0).fit(reviews.counts, reviews.target)
    >>> plot_effects(model, reviews.counts, target_name="stars").get_xlabel().splitlines()[0]
    'predicted stars'
    """
    summary = _summary(source, documents, target, **options)
    name = _predictor(summary, predictor)
    topics, effects = summary["topics"], summary["effects"]
    if effects is None:
        raise ValueError("Predicted differences are those in documents: give texts or counts.")
    about = summary["targets"][summary["predictors"][predictor]["target"]]
    ax = _axes(ax, (6.4, 1.1 + 0.42 * len(topics["coef"])))
    order = _draw_effects(ax, effects, predictor)
    what = "expected" if about["kind"] == "poisson" else "predicted"
    what = "probability of" if about["kind"] in _CLASSES else what
    ax.set_xlabel(f"{what} {_plain(name)}\nhollow: little of the topic, full: much of it")
    if about["kind"] in _CLASSES:
        ax.xaxis.set_major_formatter(lambda p, _: f"{100 * p:.3g}%")
    ax.set_yticks(range(len(order)), [_topic_label(topics, k) for k in order])
    return _tidy(ax)


def _draw_effects(ax: Any, effects: Mapping[str, Any], predictor: int) -> np.ndarray:
    """Draw predicted differences; returns the order of topics from the bottom up."""
    low, high, change = (
        np.array(effects[key], dtype=float)[:, predictor] for key in ("low", "high", "change")
    )
    order = np.argsort(change)
    limits = effects["limits"][predictor]
    limits = [end if v is None else v for v, end in zip(limits, (-np.inf, np.inf), strict=True)]
    ax.axvline(effects["typical"][predictor], color=NEUTRAL, linestyle="--", linewidth=1, zorder=0)
    for place, k in enumerate(order):
        colour = UP if change[k] >= 0 else DOWN
        if effects["lower"] is not None:
            ends = [low[k] + effects[end][k][predictor] for end in ("lower", "upper")]
            ends = np.clip(ends, *limits)
            ax.plot(ends, [place, place], color=colour, linewidth=1)
        ax.plot([low[k], high[k]], [place, place], color=colour, linewidth=2.4)
        ax.plot(low[k], place, "o", color=colour, markerfacecolor="white", markersize=5)
        ax.plot(high[k], place, "o", color=colour, markersize=6)
    return order


def plot_topics(
    source: Any, documents: Any = None, *, n_words: int = 8, figure: Any = None, **options: Any
) -> Any:
    """The words of every topic with their probabilities, one panel per topic.

    Orange topics have a positive predicted difference, blue ones a negative one; with more than two
    classes all are grey.

    Parameters
    ----------
    source : Result of `topicfocus.fit`, Explorer, or fitted model or pipeline
    documents : list of str, or documents x words counts
        Documents for the order of the topics and the predicted differences; without them, topics
        are ordered by their coefficients.
    n_words : int, default=8
        Number of words, at most 20.
    figure : matplotlib figure, optional
    **options
        Other parameters of `Explorer`, such as ``vocabulary``.

    Returns
    -------
    array of matplotlib axes, one per topic in the order of their numbers

    Raises
    ------
    ImportError
        If matplotlib is not installed: the extra ``plots``.

    Examples
    --------
    >>> from topicfocus import FocusedTopicRegressor
    >>> from topicfocus.datasets import make_reviews
    >>> from topicfocus.report import plot_topics
    >>> reviews = make_reviews(300, random_state=0)
    >>> model = FocusedTopicRegressor(3, random_state=0).fit(reviews.counts, reviews.target)
    >>> len(plot_topics(model, reviews.counts, vocabulary=reviews.vocabulary))
    3
    """
    summary = _summary(source, documents, **options)
    topics, effects = summary["topics"], summary["effects"]
    n_topics = len(topics["coef"])
    rows = -(-n_topics // 4)
    columns = -(-n_topics // rows)
    if figure is None:
        size = (2.9 * columns, rows * (0.7 + 0.2 * n_words))
        figure = _pyplot().figure(figsize=size, layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False).ravel()
    single, packed = len(summary["predictors"]) == 1, summary["words"]
    names = unpack_texts(packed["names"])
    labels = names if packed["labels"] is None else unpack_texts(packed["labels"])
    change = np.array(topics["coef"] if effects is None else effects["change"], dtype=float)[:, 0]
    if effects is None:
        change = change - change.mean()
    kept, probability = _probabilities(summary)
    row_of = {int(v): i for i, v in enumerate(kept)}
    for ax, k in zip(axes, np.argsort(topics["number"]), strict=False):
        if topics["distinctive"] is None:
            shown = np.argsort(-probability[:, k])[:n_words]
        else:
            shown = np.array([row_of[v] for v in topics["distinctive"][k][:n_words]], dtype=int)
        colour = (UP if change[k] >= 0 else DOWN) if single else NEUTRAL
        ax.barh(range(len(shown)), probability[shown, k], color=colour)
        words = [_plain(short_name(names[kept[i]], labels[kept[i]], 26)) for i in shown]
        ax.set_yticks(range(len(shown)), words)
        ax.invert_yaxis()
        ax.set_title(_topic_label(topics, k, 28), fontsize=9, loc="left")
        ax.tick_params(labelsize=8)
        ax.xaxis.set_major_formatter(lambda p, _: f"{100 * p:.3g}%")
        ax.locator_params(axis="x", nbins=3)
        _tidy(ax)
    for ax in axes[n_topics:]:
        ax.remove()
    return axes[:n_topics]


def _probabilities(summary: Mapping[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """Columns of the words in topics, and their probabilities in each topic."""
    table, volume = summary["table"], np.array(summary["topics"]["volume"], dtype=float)
    kept = np.cumsum(unpack(table["words"]).astype(int))
    packed = table["rows"]
    rows = unpack_logarithms(packed) if "log" in packed else unpack(packed)
    rows = rows.reshape(len(kept), -1) * unpack(table["scale"])[:, None]
    return kept, rows / volume


# ---- calibration ---------------------------------------------------------------------------------


def plot_calibration(
    source: Any,
    documents: Any = None,
    target: Any = None,
    *,
    output: int = 0,
    label: int | None = None,
    ax: Any = None,
    **options: Any,
) -> Any:
    """Mean target by deciles of the predictions, with 95% intervals; the dashed line is ideal.

    Parameters
    ----------
    source : Result of `topicfocus.fit`, Explorer, or fitted model or pipeline
    documents : list of str, or documents x words counts
        Documents that had no part in the fit.
    target : as for `fit`
    output : int, default=0
        Number of the target, if there are several.
    label : int, optional
        The number of a class, by default the last.
    ax : matplotlib axes, optional
    **options
        Other parameters of `Explorer`, such as ``target_name``.

    Returns
    -------
    matplotlib axes

    Raises
    ------
    ValueError
        If there are no targets to compare with.
    ImportError
        If matplotlib is not installed: the extra ``plots``.

    Examples
    --------
    >>> from topicfocus import FocusedTopicRegressor
    >>> from topicfocus.datasets import make_reviews
    >>> from topicfocus.report import plot_calibration
    >>> reviews = make_reviews(300, random_state=0)
    >>> model = FocusedTopicRegressor(3, random_state=0)
    >>> model = model.fit(reviews.counts[:200], reviews.target[:200])
    >>> plot_calibration(model, reviews.counts[200:], reviews.target[200:]).get_xlabel()
    'mean prediction'
    """
    summary = _summary(source, documents, target, **options)
    found = summary["evaluation"][output]
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
    about = summary["targets"][output]
    ax.set_xlabel("mean prediction")
    if about["kind"] in _CLASSES:
        ax.set_ylabel(f"fraction of {_plain(about['labels'][-1 if label is None else label])}")
    else:
        ax.set_ylabel(f"mean {_plain(about['name'])}")
    return _tidy(ax)


# ---- searches ------------------------------------------------------------------------------------


def plot_frontier(
    source: Any, metric: str | None = None, *, score: str = "score", ax: Any = None
) -> Any:
    """A metric of the settings of a search, one line per number of topics.

    The horizontal axis is the number of words kept, if the rows have it; else the inclusion prior,
    or the number of topics if each has one setting. For the score, bars are one standard error; the
    dotted line is the best score (of settings with distinct topics) less its standard error, and
    the ring is the selected setting.

    Parameters
    ----------
    source : TopicSearchCV that was fitted, its frontier, or an Explorer made with one
    metric : str, optional
        A column of the frontier; by default "score", else the first one.
    score : str, default="score"
        What the score is, for the label of its axis: "R²", for example.
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
    >>> rows = [{"n_topics": 3, "words": w, "score": s, "score_se": 0.01, "chosen": w == 90}
    ...         for w, s in ((40, 0.40), (90, 0.45), (300, 0.46))]
    >>> plot_frontier(rows).get_xlabel()
    'words kept'
    """
    if isinstance(source, Explorer):
        source = source.summary["fit"]["frontier"]
    table = read_frontier(source)
    if table is None or table.empty:
        raise ValueError("There is no frontier: run TopicSearchCV, or topicfocus tune, first.")
    names = [n for n in table.select_dtypes("number") if n not in (*SEARCHED, "score_se")]
    if metric is None:
        metric = "score" if "score" in names or not names else names[0]
    if metric not in names:
        raise ValueError(f"metric must be one of {', '.join(names)}; got {metric!r}.")
    table = table.dropna(subset=metric)
    words = metric != "words" and "words" in table and table["words"].notna().all()
    by = "words" if words else frontier_axis(table)
    table = table.dropna(subset=by).sort_values(by)
    ax = _axes(ax, (6.0, 4.0))
    has_errors = metric == "score" and "score_se" in table
    _draw_lines(ax, table, by, metric, has_errors)
    if has_errors:
        order = [name for name in ("best", "score") if name in table]
        best = table.sort_values(order).iloc[-1]
        ax.axhline(best["score"] - best["score_se"], color=NEUTRAL, linestyle=":", linewidth=1)
    if "chosen" in table:
        own = table[table["chosen"]]
        style = {"markersize": 13, "fillstyle": "none", "color": "black"}
        ax.plot(own[by], own[metric], "o", label="selected", **style)
    if by == "words":
        ax.set_xscale("log")
        ticks = _ticks(table["words"].tolist())
        ax.set_xticks(ticks, [f"{tick:,.0f}" for tick in ticks])
        ax.set_xticks([], minor=True)
    if ax.get_legend_handles_labels()[0]:
        ax.legend(frameon=False, fontsize=8)
    axis = {"words": "words kept", "n_topics": "topics", "inclusion_prior": "inclusion prior"}
    ax.set_xlabel(axis[by])
    shown = f"test {score} (mean of folds ± standard error)" if metric == "score" else metric
    ax.set_ylabel(_plain(shown))
    return _tidy(ax)


def _draw_lines(ax: Any, table: Any, by: str, metric: str, has_errors: bool) -> None:
    """One line per number of topics, with standard errors of the score."""
    groups: list[tuple[Any, Any]] = [(None, table)]
    if by != "n_topics" and "n_topics" in table:
        groups = list(table.groupby("n_topics"))
    for i, (topics, own) in enumerate(groups):
        style = {"color": _COLOURS[i % len(_COLOURS)], "marker": _MARKERS[i % len(_MARKERS)]}
        label = None if topics is None else f"{topics:g} topics"
        ax.plot(own[by], own[metric], markersize=4, linewidth=1.2, label=label, **style)
        if has_errors:
            errors = own["score_se"].fillna(0.0)
            ax.errorbar(
                own[by], own[metric], yerr=errors, fmt="none", color=style["color"], capsize=2
            )


def _ticks(words: list[float]) -> list[float]:
    """Numbers of words below the axis, at least 25% apart."""
    ticks = [words[0]]
    for n in words:
        if n > 1.25 * ticks[-1]:
            ticks.append(n)
    return ticks
