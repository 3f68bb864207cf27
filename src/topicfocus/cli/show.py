"""The result of a fit for a person. Words and labels come from strangers: never as markup."""

from __future__ import annotations

from typing import Any

import numpy as np

from topicfocus.cli.console import result_console

#: Figures: name, how it is printed, and whether more is better.
FIGURES = {
    "rmse": ("RMSE", False),
    "r2": ("R²", True),
    "deviance": ("deviance", False),
    "auc": ("AUC", True),
    "accuracy": ("accuracy", True),
    "log_loss": ("log loss", False),
}
#: What the linear predictor is, by the kind of target.
_SCALES = {
    "real": "target",
    "count": "log of the count",
    "ordinal": "position of the level",
    "binary": "log odds",
    "classes": "score of a class",
}


#: With more topics than this each gets a line or two; metrics.json has all words.
_MANY_TOPICS = 8
#: Above words, by their order.
_ORDERS = {
    "probability": "words, most probable first",
    "relevance": "words, most relevant first",
    "frex": "words, most frequent and exclusive first",
}
#: Before the dropped words that a topic goes with.
_WITH = "with: "
#: Longest name of a class, twice that from _WIDE columns on.
_CLASS_WIDTH, _WIDE = 24, 100


def show(result: dict[str, Any]) -> None:
    """Topics, words, held-out figures."""
    console = result_console()
    documents, words = result["documents"], result["words"]
    how = f", {result['rung']} topics" if "rung" in result else ""
    console.print()
    console.print(
        f"[bold]{result['model']}[/] on {documents['train']:,} documents, {words['words']:,} words"
        f": {result['steps']} steps in {result['seconds']:.1f} s{how}\n"
    )
    if "tuning" in result or "stability" in result:
        from topicfocus.cli.show_choice import show_stability, show_tuning

        show_tuning(console, result.get("tuning"))
    _topics(console, result)
    if "stability" in result:
        show_stability(console, result["stability"])
    _covariates(console, result)
    _words(console, words)
    _figures(console, result)


def _table(title: str) -> Any:
    from rich import box
    from rich.table import Table

    return Table(title=title, box=box.SIMPLE_HEAD, title_justify="left", title_style="italic")


def _topics(console: Any, result: dict[str, Any]) -> None:
    from rich.text import Text

    rows = result["topics"]
    title, effect = _topics_title(result)
    table = _table("")
    table.add_column(Text(effect), justify="right", style="bold", no_wrap=True)
    if effect == "class":
        table.add_column("P", justify="right", no_wrap=True)
    table.add_column("share", justify="right", no_wrap=True)
    table.add_column("topic", justify="right", style="dim", no_wrap=True)
    table.add_column(_ORDERS[result.get("word_order", "probability")])
    longest = _CLASS_WIDTH if console.width < _WIDE else 2 * _CLASS_WIDTH
    lines = [_topic_cells(row, effect, longest) for row in rows]
    many, line = len(rows) > _MANY_TOPICS, _room(console.width, effect, lines)
    # Two lines, where one would hold two or three words.
    room = (line if console.width >= _WIDE else 2 * line - 10) if many else None
    if many and console.width < _WIDE:
        line = 0
    for row, before, cells in zip(rows, [None, *rows], lines, strict=False):
        if before is not None and effect == "class" and row["class"] == before["class"]:
            cells = ["", *cells[1:]]  # the class is the one above
        words = row["words"] if room is None else _fitting(row["words"], room)
        table.add_row(*map(Text, cells), _words_cell(words, row.get("context"), line))
    console.print(Text(title, style="italic"))
    console.print(table)
    if effect == "class":
        own = {str(row["class"]) for row in rows}
        others = [str(c) for c in result["target"]["classes"] if str(c) not in own]
        if others:
            # Told apart by mixes of topics, if at all.
            console.print(Text(f"Without a topic of their own: {', '.join(others)}.\n"))


def _topics_title(result: dict[str, Any]) -> tuple[str, str]:
    """Above the table of topics, and above the effects in it."""
    first = result["topics"][0]
    if "log_odds" in first:
        title = (
            f"Topics, by the log odds of {first['class']} that a document of one topic would have"
        )
        effect = "log odds"
    elif result["target"]["kind"] == "classes":
        title, effect = "Topics, by the class that a document of one topic would have", "class"
    else:
        title, effect = "Topics, by the target that a document of one topic would have", "target"
    if result.get("covariates"):
        title += ", covariates average"
    if result["settings"].get("exposure"):
        title += ", exposure 1"
    return title, effect


def _room(width: int, effect: str, lines: list[list[str]]) -> int:
    """Columns that are left for words."""
    titles = (effect, "P", "share", "topic") if effect == "class" else (effect, "share", "topic")
    widths = [max(map(len, column)) for column in zip(titles, *lines, strict=True)]
    # Of its width a table takes two for every column, one between them, and its two ends.
    return width - sum(one + 3 for one in widths) - 4


def _topic_cells(row: dict[str, Any], effect: str, longest: int) -> list[str]:
    """All cells of a topic but its words."""
    cells = ["-" if row["effect"] is None else f"{row['effect']:.3g}"]
    if effect == "class":
        name = str(row["class"])
        name = name if len(name) <= longest else f"{name[: longest - 1]}…"
        cells = [name, f"{row['effect']:.2f}"]
    if "log_odds" in row:
        cells = [f"{row['log_odds']:+.1f}"]
    return [*cells, f"{row['share']:.0%}", str(row["topic"])]


def _words_cell(words: list[str], context: list[str] | None, line: int) -> Any:
    """A topic's own words and, dim on a line below, those that it goes with, as many as fit."""
    from rich.text import Text

    cell = Text(" ".join(words))
    if context and line:
        cell.append(f"\n{_WITH}{' '.join(_fitting(context, line - len(_WITH)))}", style="dim")
    return cell


def _fitting(words: list[str], room: int) -> list[str]:
    """The first words that fit into so many columns, two at least."""
    n = 0
    while n < len(words) and (n < 2 or len(" ".join(words[: n + 1])) <= room):
        n += 1
    return words[:n]


def _covariates(console: Any, result: dict[str, Any]) -> None:
    """What a standard deviation more of each adds; of more classes, to which it adds most."""
    from rich.text import Text

    rows = result.get("covariates")
    if not rows:
        return
    console.print(Text("Covariates, by what one standard deviation more adds", style="italic"))
    table = _table("")
    table.add_column("covariate")
    table.add_column("mean", justify="right", no_wrap=True)
    table.add_column("std", justify="right", no_wrap=True)
    table.add_column(_SCALES[result["target"]["kind"]], justify="right")
    for row in sorted(rows, key=lambda row: -np.max(np.abs(row["coef"])) * row["std"]):
        cell = Text(f"{np.max(row['coef']) * row['std']:+.3g}")
        if "class" in row:
            cell.append(f" {row['class']}")
        table.add_row(Text(row["name"]), f"{row['mean']:.4g}", f"{row['std']:.4g}", cell)
    console.print(table)


def _words(console: Any, words: dict[str, Any]) -> None:
    from rich.text import Text

    if not words["selects"]:
        console.print(f"Words: all {words['words']:,} are in the topics.\n")
        return
    table = _table("Words")
    table.add_column("")
    table.add_column("words", justify="right", no_wrap=True)
    table.add_column("tokens", justify="right", no_wrap=True)
    table.add_column("")
    share = words["kept_token_share"]
    kept, dropped = (" ".join(words[f"{which}_examples"]) for which in ("kept", "dropped"))
    table.add_row("kept", f"{words['kept']:,}", f"{share:.1%}", Text(f"most telling: {kept}"))
    table.add_row(
        "dropped", f"{words['dropped']:,}", f"{1 - share:.1%}", Text(f"most frequent: {dropped}")
    )
    console.print(table)


def _figures(console: Any, result: dict[str, Any]) -> None:
    held_out = result["held_out"]
    table = _table(f"On {result['documents']['test']:,} held-out documents")
    table.add_column("model")
    names = list(next(iter(held_out.values())))
    for name in names:
        title, more = FIGURES[name]
        table.add_column(f"{title} {'↑' if more else '↓'}", justify="right", no_wrap=True)
    for i, (model, values) in enumerate(held_out.items()):
        style = "bold" if i == 0 else None
        table.add_row(model, *(_number(values[name]) for name in names), style=style)
    console.print(table)


def _number(value: float | None) -> str:
    if value is None:  # not a number
        return "-"
    return f"{round(value, 3) + 0.0:.3f}" if abs(value) < 1000 else f"{value:.4g}"  # no -0.000
