"""Values of a target as a file has them: which are numbers, which stand there by mistake."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from topicfocus.text.errors import ReadError
from topicfocus.text.numbers import (
    NO_NUMBER,
    advice,
    is_missing,
    parse_number,
    shown,
    why_no_number,
    with_point,
)

#: As large a share of a column of numbers may be mistyped and left out.
FEW = 0.1
_SHOWN_ERRORS = 5


@dataclass(frozen=True)
class Column:
    """Values as texts, None where missing; each different one with its number, if it is one."""

    name: str
    where: Callable[[int], str]
    texts: list[str | None]
    known: Counter[str]
    numbers: dict[str, float | None]
    n_commas: int = 0

    @property
    def n_values(self) -> int:
        return sum(self.known.values())

    @property
    def n_missing(self) -> int:
        return len(self.texts) - self.n_values

    @property
    def odd(self) -> list[str]:
        """What is no number, in the order of the file."""
        return [text for text, number in self.numbers.items() if number is None]

    @property
    def n_odd(self) -> int:
        return sum(self.known[text] for text in self.odd)

    @property
    def distinct(self) -> list[float]:
        return sorted({number for number in self.numbers.values() if number is not None})

    def place(self, text: str) -> str:
        """Where a value stands first."""
        return self.where(self.texts.index(text))


def read_column(
    values: Iterable[Any], kind: str | None, name: str, where: Callable[[int], str]
) -> Column:
    texts = [_clean(value) for value in values]
    known = Counter(text for text in texts if text is not None)
    if not known:
        raise ReadError(f"{name} has no values: all {len(texts)} are missing. Name another column.")
    numbers = {text: parse_number(text) for text in known}
    commas: dict[str, float | None] = {}
    if kind not in ("binary", "classes"):
        odd = [text for text, number in numbers.items() if number is None]
        commas |= with_point(odd, [text for text in known if numbers[text] is not None])
    n_commas = sum(known[text] for text in commas)
    return Column(name, where, texts, known, numbers | commas, n_commas)


def _clean(value: Any) -> str | None:
    if value is None:
        return None
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, float) and value != value:
        return None
    try:
        text = str(value).strip()
    except ValueError:  # Python does not write integers that long
        text = "a whole number of thousands of digits"
    return None if is_missing(text) else text


def check_writing(column: Column) -> None:
    """Refuse dates by name, and numbers that are written so that they may be misread."""
    reasons = {text: why_no_number(text) for text in column.odd}
    strange = [text for text, reason in reasons.items() if reason != NO_NUMBER]
    if sum(column.known[text] for text in strange) <= column.n_values / 2:
        return
    first = strange[0]
    raise ReadError(
        f"{column.name} cannot be predicted as it is: {shown(first)} ({column.place(first)}) is "
        f"{reasons[first]}. {advice(reasons[first])}, or name another column; if these are labels: "
        "kind='classes' (--kind classes)."
    )


def are_errors(column: Column) -> bool:
    """Whether what is no number stands among numbers by mistake."""
    n, different = column.n_values, len(column.distinct)
    few = column.n_odd <= n * FEW and different >= 2
    return few or (column.n_odd < n / 2 and different >= 3)


def errors_message(column: Column, kind: str | None) -> str:
    n, odd = column.n_odd, set(column.odd)
    rows = [i for i, text in enumerate(column.texts) if text in odd][:_SHOWN_ERRORS]
    listed = [f"{shown(column.texts[i])} ({column.where(i)})" for i in rows]
    first = str(column.texts[rows[0]])
    reason = why_no_number(first)
    more = ", ..." if n > len(rows) else ""
    if kind is not None:
        said = f"{column.name} cannot be {kind!r}: {listed[0]} is {reason}"
        said += f", and {n - 1:,} more: {', '.join(listed[1:])}{more}" if n > 1 else ""
        labels = ""
    else:
        are = "is" if n == 1 else "are"
        detail = f"; the first is {reason}" if reason != NO_NUMBER else ""
        said = f"{column.name} is numbers, but {n:,} of {column.n_values:,} values {are} not: "
        said += f"{', '.join(listed)}{more}{detail}"
        labels = " If these are labels: kind='classes' (--kind classes)."
    skip = ", or leave such rows out: skip_bad=True (--skip-bad)"
    if kind is None and n > column.n_values * FEW:
        skip = ""  # too many for mistakes that may go unseen
    return f"{said}. Correct or empty them{skip}.{labels}"


def without_odd(column: Column) -> tuple[tuple[tuple[int, str], ...], Column]:
    """What was left out, by number and with what is wrong; and the column without it."""
    odd = {text: why_no_number(text) for text in column.odd}
    bad, texts = [], list(column.texts)
    for i, text in enumerate(column.texts):
        if text in odd:
            bad.append((i, f"{column.name} is {shown(text)}, {odd[text]}"))
            texts[i] = None
    known = Counter({text: n for text, n in column.known.items() if text not in odd})
    numbers = {text: column.numbers[text] for text in known}
    if not known:
        raise ReadError(f"no value of {column.name} is a number. Name another column.")
    return tuple(bad), replace(column, texts=texts, known=known, numbers=numbers)


def check_varied(column: Column) -> None:
    if len(column.distinct) + len(column.odd) == 1:
        only = next(iter(column.known))
        raise ReadError(
            f"{column.name} has only one value, {shown(only)}: there is nothing to predict. Name "
            "another column."
        )
