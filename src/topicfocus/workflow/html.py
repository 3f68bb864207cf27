"""Results and explanations as HTML for notebooks.

Words, labels and texts are of unknown origin, so everything that comes from data is escaped. Styles
are inline, because notebooks remove style sheets; colours work on light and dark pages.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Any

from topicfocus.text.codes import joined
from topicfocus.text.errors import printable
from topicfocus.workflow.sentences import (
    completeness_lines,
    explanation_number,
    explanation_rows,
    headline,
    main_sentences,
    metric_cells,
    quality_sentence,
    reliability_line,
    signed,
    topic_cells,
    topic_remarks,
    topics_title,
    with_labels,
)

#: Higher and lower: told apart by people who do not tell red from green, on light and on dark.
_UP, _DOWN = "#c2590c", "#2f78c4"
#: Words that add a smaller fraction of the largest amount have no colour.
_COLOURED = 0.02
_CELL = "padding:3px 10px;vertical-align:top;text-align:{};border-bottom:1px solid #8884;{}"


def result_html(summary: dict[str, Any]) -> str:
    """Topics with bars of their differences, held-out metrics, warnings."""
    summary = with_labels(summary)
    n_test = summary["documents"]["test"]
    parts = [f"<p><b>{_text(headline(summary))}</b></p>"]
    parts += [_box(message) for message in summary["warnings"]]
    first = [*map(_sentence, main_sentences(summary)), _text(quality_sentence(summary))]
    parts.append(_list(filter(None, first)))
    parts.append(_topics(summary))
    parts.append(_list(map(_text, topic_remarks(summary))))
    cells = metric_cells(summary)
    if cells:
        head, *rows = [[_text(cell) for cell in row] for row in cells]
        rows[0] = [f"<b>{cell}</b>" for cell in rows[0]]
        parts.append(f"<p>On {n_test:,} held-out documents</p>{_table(head, rows, left=(0,))}")
        last = [*completeness_lines(summary), reliability_line(summary)]
        parts += [f"<p>{_text(line)}</p>" for line in last if line]
    return f'<div style="max-width:1000px;line-height:1.45">{"".join(parts)}</div>'


def _text(value: Any) -> str:
    return escape(printable(str(value)))


def _sentence(sentence: Any) -> str:
    return f"{_text(sentence.before)}<b>{_text(sentence.words)}</b>{_text(sentence.after)}"


def _list(items: Iterable[str]) -> str:
    inside = "".join(f"<li>{item}</li>" for item in items)
    return f'<ul style="margin:6px 0;padding-left:20px">{inside}</ul>' if inside else ""


def _box(message: str) -> str:
    style = f"border-left:4px solid {_UP};padding:4px 10px;margin:6px 0"
    return f'<div style="{style}"><b>Warning:</b> {_text(message)}</div>'


def _table(head: list[str], rows: list[list[str]], left: tuple[int, ...]) -> str:
    def line(tag: str, cells: list[str]) -> str:
        out = []
        for i, cell in enumerate(cells):
            side, wrap = ("left", "") if i in left else ("right", "white-space:nowrap")
            out.append(f'<{tag} style="{_CELL.format(side, wrap)}">{cell}</{tag}>')
        return f"<tr>{''.join(out)}</tr>"

    body = "".join(line("td", row) for row in rows)
    return (
        '<table style="border-collapse:collapse;margin:6px 0;background:none">'
        f"<thead>{line('th', head)}</thead><tbody>{body}</tbody></table>"
    )


def _topics(summary: dict[str, Any]) -> str:
    rows = summary["topics"]
    largest = max(abs(row["change"]) for row in rows) or 1.0
    multiclass = "changes" in rows[0]
    at = 2 if multiclass else 1
    head, *table = [[_text(cell) for cell in row] for row in topic_cells(summary)]
    head = [*head[: at + 1], "", *head[at + 1 :], "words"]
    body = []
    for row, cells in zip(rows, table, strict=True):
        name = f"<b>{_text(row['name'])}</b>: " if row.get("name") else ""
        words = name + _text(joined(row["words"]) or "no words")
        bar = _bar(row["change"] / largest)
        body.append([*cells[: at + 1], bar, *cells[at + 1 :], words])
    left = (1, len(head) - 1) if multiclass else (len(head) - 1,)
    caption = f'<p style="opacity:.75">{_text(topics_title(summary))}</p>'
    return caption + _table(head, body, left)


def _bar(fraction: float) -> str:
    """A bar to the right or left of the middle."""
    colour, width = (_UP if fraction > 0 else _DOWN), 45 * abs(fraction)
    place = f"left:50%;width:{width:.1f}%" if fraction > 0 else f"right:50%;width:{width:.1f}%"
    return (
        '<div style="position:relative;width:110px;height:14px;margin-top:3px">'
        '<div style="position:absolute;left:50%;top:0;bottom:0;border-left:1px solid #888"></div>'
        f'<div style="position:absolute;top:2px;bottom:2px;{place};background:{colour}"></div>'
        "</div>"
    )


# ---- explanations --------------------------------------------------------------------------------


def explanation_html(found: dict[str, Any]) -> str:
    """The text with its words coloured, and tables of what words and topics add."""
    shown = found["prediction"]
    value = shown["prediction"]
    first = f"{value:.3g}" if isinstance(value, float) else value
    line = f"<p><b>Prediction: {_text(first)}</b>"
    if "low" in shown:
        line += f" (80% interval: {shown['low']:.3g} to {shown['high']:.3g})"
    line += f". What adds to the {_text(found['explained'])}:</p>"
    rows, topics = explanation_rows(found)
    number = explanation_number(found)
    amounts = [amount for _, amount in (*rows[1:], *topics) if amount is not None]
    largest = max(map(abs, amounts), default=0) or 1.0

    def cells(name: str, amount: float | None, bar: bool = True) -> list[str]:
        if amount is None:
            return [_text(name), "", ""]
        return [_text(name), signed(number(amount)), _bar(amount / largest) if bar else ""]

    words = [cells(*rows[0], bar=False), *(cells(*row) for row in rows[1:])]
    words.append(cells("together", found["total"], bar=False))
    tables = "".join(
        f'<div style="flex:1;min-width:260px">{_table([title, "adds", ""], body, left=(0,))}</div>'
        for title, body in (("words", words), ("words, by topic", [cells(*row) for row in topics]))
    )
    return (
        f'<div style="max-width:1000px;line-height:1.6">{line}<p>{_coloured(found)}</p>'
        f'<div style="display:flex;flex-wrap:wrap;gap:24px">{tables}</div></div>'
    )


def _coloured(found: dict[str, Any]) -> str:
    """The text; words that raise the prediction and words that lower it, stronger ones darker."""
    text, out, end = found["text"], [], 0
    largest = max((abs(span["amount"]) for span in found["spans"]), default=0) or 1.0
    for span in found["spans"]:
        colour, strength = _UP if span["amount"] > 0 else _DOWN, abs(span["amount"]) / largest
        opacity = round(40 + 140 * strength) if strength >= _COLOURED else 0
        style = f"background:{colour}{opacity:02x};border-radius:3px;padding:0 2px"
        word = _text(text[span["start"] : span["stop"]])
        out.append(_text(text[end : span["start"]]))
        out.append(f'<span style="{style}" title="{span["amount"]:+.3g}">{word}</span>')
        end = span["stop"]
    return "".join([*out, _text(text[end:])])
