"""What an experiment gives: text, tables as Markdown and CSV, figures."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from topicfocus.persistence.atomic import replacing

Rows = list[dict[str, Any]]


@dataclass
class Section:
    """One experiment on the page.

    Attributes
    ----------
    title : str
    body : list of str
        Markdown, paragraph by paragraph.
    tables : dict
        Name of a CSV file (without ending) -> its rows.
    figures : dict
        Name of a PNG file (without ending) -> a function that returns a matplotlib figure.
    """

    title: str
    body: list[str] = field(default_factory=list)
    tables: dict[str, Rows] = field(default_factory=dict)
    figures: dict[str, Callable[[], Any]] = field(default_factory=dict)


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A table; every cell is text already or becomes it."""
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def write_csv(path: Path, rows: Rows) -> None:
    """Rows with the union of their columns, in the order they come."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, columns, restval="")
    writer.writeheader()
    writer.writerows(rows)
    with replacing(path) as stream:
        stream.write(text.getvalue().encode("utf-8"))


def write_text(path: Path, text: str) -> None:
    with replacing(path) as stream:
        stream.write(text.encode("utf-8"))


def write_figure(path: Path, draw: Callable[[], Any]) -> None:
    """Without a display, whatever backend the user has set."""
    from matplotlib import pyplot

    figure = draw()
    with replacing(path) as stream:
        # No date and no version inside: the same result is the same file.
        figure.savefig(stream, format="png", dpi=150, metadata={"Software": None})
    pyplot.close(figure)
