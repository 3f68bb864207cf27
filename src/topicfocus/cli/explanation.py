"""The explanation of one text as tables in the terminal."""

from __future__ import annotations

from typing import Any

import numpy as np
from rich import box
from rich.table import Table
from rich.text import Text

from topicfocus.cli.console import printable, printable_values, result_console, with_labels
from topicfocus.cli.show import percentage
from topicfocus.workflow.write import joined

_LISTED = 10
#: Terms of the remainder.
_TERMS = 6
#: Most probable classes that are shown, of more than two.
_CLASSES = 3


def show(result: dict[str, Any], name: str) -> None:
    """For a person: the text with its words coloured (or marked), then amounts that add up."""
    console = result_console()
    result, name = with_labels(printable_values(result)), printable(name)
    console.print(_first_line(result, name))
    if result["few_words"]:
        n = result["relevant_words"]
        known = (
            "none of its words is"
            if n == 0
            else f"{n} of its words is"
            if n == 1
            else (f"only {n} of its words are")
        )
        remark = f"Few known words: {known} in the topics, so it is near a text without words."
        console.print(Text(remark, style="yellow"))
    console.print()
    console.print(coloured(result, console.is_terminal and not console.no_color))
    console.print()
    console.print(_amounts(result))


def _first_line(result: dict[str, Any], name: str) -> Any:
    """The prediction: a number with its interval, or the likeliest classes."""
    prediction = result["prediction"]
    line = Text(f"{name}: ")
    line.append(_value(prediction["prediction"]), style="bold")
    if "low" in prediction:
        low, high = _value(prediction["low"]), _value(prediction["high"])
        where = f"from {low} to {high}" if low != high else low
        line.append(f", probably (80%) {where}", style="dim")
        return line
    likely = sorted(
        (
            (p, key.removeprefix("probability_"))
            for key, p in prediction.items()
            if key.startswith("probability_")
        ),
        reverse=True,
    )
    shown = likely if len(likely) == 2 else likely[:_CLASSES]
    for p, label in shown:
        line.append(f"   P({label}) = {percentage(p)}", style="dim")
    return line


def coloured(result: dict[str, Any], colours: bool) -> Any:
    """The text: green words raise the prediction and red ones lower it, the more the stronger.

    Without a terminal, or with NO_COLOR, the amounts stand behind the words instead.
    """
    text, out, end = result["text"].rstrip(), Text(), 0
    largest = max((abs(s["amount"]) for s in result["spans"]), default=1.0) or 1.0
    for span in result["spans"]:
        if span["stop"] > len(text):
            break
        out.append(text[end : span["start"]])
        word = text[span["start"] : span["stop"]]
        amount, end = span["amount"], span["stop"]
        if not colours:
            out.append(f"{word}[{amount:+.2g}]")
            continue
        colour = "green" if amount > 0 else "red"
        strong = abs(amount) / largest
        # Underlined as well, for those who do not tell red from green.
        style = f"bold reverse {colour}" if strong > 0.66 else f"bold {colour}"
        style = style if strong > 0.25 else colour
        out.append(word, style=f"{style} underline" if amount < 0 else style)
    out.append(text[end:])
    return out


def _amounts(result: dict[str, Any]) -> Any:

    table = Table(
        title=Text(f"What adds to the {result['explained']}"),
        box=box.SIMPLE_HEAD,
        show_header=False,
        title_justify="left",
        title_style="italic",
    )
    table.add_column("")
    table.add_column("", justify="right", no_wrap=True)
    mean = ", average covariates" if result["covariates"] else ""
    table.add_row(f"a text without words{mean}", f"{result['base']:+.3f}")
    for row in result["covariates"]:
        amount = Text(f"{row['amount']:+.3f}", style=_sign(row["amount"]))
        known = "not known" if row["value"] is None else f"{row['value']:g}"
        table.add_row(Text(f"  {row['name']} = {known}"), amount)
    _rows(table, list(result["words"].items()), "words")
    if not result["words"]:
        table.add_row("  no word of this text is known to the model", "")
    _remainder(table, result.get("remainder"))
    table.add_section()
    table.add_row("together", f"{result['total']:+.3f}", style="bold")
    if not np.isclose(result["total"], result["after"]):  # on another scale than the target
        what, shown = ("probability", percentage) if result["probability"] else ("expected", _value)
        ends = f"{shown(result['before'])} → {shown(result['after'])}"
        table.add_row(f"{what}, without words and with them", ends, style="bold")
    table.add_section()
    table.add_row("what the words add, by topic", "")
    topics = sorted(result["topics"], key=lambda row: -abs(row["amount"]))
    named = [(f"{row['topic']}: {joined(row['words'])}", row["amount"]) for row in topics]
    _rows(table, named, "topics")
    return table


def _remainder(table: Any, found: dict[str, Any] | None) -> None:
    """What all words and pairs of words add beyond the topics: one line, and its strongest terms."""
    if found is None:
        return
    amount = Text(f"{found['amount']:+.3f}", style=_sign(found["amount"]))
    table.add_row("the remainder of the text", amount)
    terms = [f"{term} {value:+.3f}" for term, value in list(found["terms"].items())[:_TERMS]]
    if terms:
        table.add_row(Text(f"  mostly {', '.join(terms)}", style="dim"), "")


def _rows(table: Any, parts: list[tuple[str, float]], what: str) -> None:
    """The strongest parts, from what adds most, and the sum of the others."""
    for name, amount in sorted(parts[:_LISTED], key=lambda part: -part[1]):
        table.add_row(Text(f"  {name}"), Text(f"{amount:+.3f}", style=_sign(amount)))
    rest = [amount for _, amount in parts[_LISTED:]]
    if rest:
        table.add_row(f"  {len(rest)} more {what}", f"{np.sum(rest):+.3f}")


def _sign(amount: float) -> str:
    return "green" if amount > 0 else "red"


def _value(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, (float, np.floating)) else str(value)
