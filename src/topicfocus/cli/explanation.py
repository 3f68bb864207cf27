"""The explanation of one text as tables in the terminal."""

from __future__ import annotations

from typing import Any

import numpy as np
from rich import box
from rich.table import Table
from rich.text import Text

from topicfocus.cli.console import printable, printable_values, result_console, with_labels
from topicfocus.workflow.sentences import percentage, same_decimals, signed, topic_label

_LISTED = 10
#: Smaller amounts are rounding.
_NOTHING = 1e-9
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
        console.print(Text(_few_words(result), style="yellow"))
    console.print()
    console.print(coloured(result, console.is_terminal and not console.no_color))
    console.print()
    console.print(_amounts(result))


def _few_words(result: dict[str, Any]) -> str:
    n = result["relevant_words"]
    verb = "is" if n == 1 else "are"
    which = "none of its words is" if n == 0 else f"only {n} of its words {verb}"
    dropped = result["dropped_words"]
    known = ""
    if dropped:
        shown = ", ".join(dropped[:_LISTED]) + (", ..." if len(dropped) > _LISTED else "")
        known = f" Known, but not relevant to the target: {shown}."
    return (
        f"Few relevant words: {which} in the topics, so the prediction is near that of a document "
        f"without words.{known}"
    )


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
    amounts = list(result["words"].values())
    number = same_decimals([result["base"], result["total"], *amounts], 4)
    table.add_row(f"a text without words{mean}", signed(number(result["base"])))
    for row in result["covariates"]:
        known = "not known" if row["value"] is None else f"{row['value']:g}"
        table.add_row(Text(f"  {row['name']} = {known}"), _amount(row["amount"], number))
    _rows(table, list(result["words"].items()), "words", number)
    if not result["words"]:
        table.add_row("  no word of this text is in the topics", "")
    _remainder(table, result.get("remainder"), number)
    table.add_section()
    table.add_row("together", signed(number(result["total"])), style="bold")
    if not np.isclose(result["total"], result["after"]):  # on another scale than the target
        what, shown = ("probability", percentage) if result["probability"] else ("expected", _value)
        ends = f"{shown(result['before'])} → {shown(result['after'])}"
        table.add_row(f"{what}, without words and with them", ends, style="bold")
    table.add_section()
    table.add_row("what the words add, by topic", "")
    topics = [row for row in result["topics"] if abs(row["amount"]) > _NOTHING]
    topics.sort(key=lambda row: -abs(row["amount"]))
    named = [(topic_label(row), row["amount"]) for row in topics]
    _rows(table, named, "topics", number)
    return table


def _remainder(table: Any, found: dict[str, Any] | None, number: Any) -> None:
    """What all words and pairs add beyond the topics: one line, and its strongest terms."""
    if found is None:
        return
    table.add_row("the remainder of the text", _amount(found["amount"], number))
    strongest = list(found["terms"].items())[:_TERMS]
    terms = [f"{term} {signed(number(value))}" for term, value in strongest]
    if terms:
        table.add_row(Text(f"  mostly {', '.join(terms)}", style="dim"), "")


def _rows(table: Any, parts: list[tuple[str, float]], what: str, number: Any) -> None:
    """The strongest parts, from what adds most, and the sum of the others."""
    for name, amount in sorted(parts[:_LISTED], key=lambda part: -part[1]):
        table.add_row(Text(f"  {name}"), _amount(amount, number))
    rest = [amount for _, amount in parts[_LISTED:]]
    if rest:
        table.add_row(f"  {len(rest)} more {what}", signed(number(float(np.sum(rest)))))


def _amount(amount: float, number: Any) -> Text:
    return Text(signed(number(amount)), style=_sign(amount))


def _sign(amount: float) -> str:
    return "green" if amount > 0 else "red"


def _value(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, (float, np.floating)) else str(value)
