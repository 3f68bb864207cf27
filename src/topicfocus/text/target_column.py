"""Values of a target as a file has them: which are numbers, which stand there by mistake."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
from topicfocus.text.values import Values

#: As large a share of a column of numbers may be mistyped and left out.
FEW = 0.1
_SHOWN_ERRORS = 5
#: Different values whose numbers are remembered, at most.
_MOST_KNOWN = 10_000


@dataclass(frozen=True)
class Column:
    """Values as texts, None where missing, and as numbers, NaN where missing or no number.

    `odd` are those that are no numbers, in the order of the file, and how often each occurs.
    """

    name: str
    where: Callable[[int], str]
    texts: Values
    numbers: NDArray[np.float64]
    odd: dict[str, int]
    n_missing: int
    n_commas: int = 0

    @property
    def n_values(self) -> int:
        return len(self.texts) - self.n_missing

    @property
    def n_odd(self) -> int:
        return sum(self.odd.values())

    @cached_property
    def distinct(self) -> NDArray[np.float64]:
        """The different numbers, ascending."""
        # Zero once, whatever its sign.
        return np.unique(self.numbers[~np.isnan(self.numbers)] + 0.0)

    def place(self, text: str) -> str:
        """Where a value stands first."""
        return self.where(self.texts.index(text))

    def first(self, of: NDArray[np.bool_]) -> tuple[str, str]:
        """The first value of some, and where it stands."""
        i = int(np.argmax(of))
        return str(self.texts[i]), self.where(i)


def read_column(
    values: Iterable[Any], kind: str | None, name: str, where: Callable[[int], str]
) -> Column:
    texts = Values(map(_clean, values))
    numbers, odd, has_point = _parsed(texts)
    n_missing = int(np.isnan(numbers).sum()) - sum(odd.values())
    if n_missing == len(texts):
        raise ReadError(f"{name} has no values: all {len(texts)} are missing. Name another column.")
    commas: dict[str, float] = {}
    if kind not in ("binary", "classes") and not has_point:
        commas = with_point(list(odd))
    n_commas = sum(odd.pop(text) for text in commas)
    if commas:
        for i, text in enumerate(texts):
            if text in commas:
                numbers[i] = commas[text]
    return Column(name, where, texts, numbers, odd, n_missing, n_commas)


def _parsed(texts: Values) -> tuple[NDArray[np.float64], dict[str, int], bool]:
    """Numbers, NaN where there is none; what is no number, how often; whether one has a point."""
    numbers, odd, has_point = np.full(len(texts), np.nan), dict[str, int](), False
    known: dict[str, float | None] = {}
    for i, text in enumerate(texts):
        if text is None:
            continue
        number = known[text] if text in known else parse_number(text)
        if len(known) < _MOST_KNOWN:
            known[text] = number
        if number is None:
            odd[text] = odd.get(text, 0) + 1
        else:
            numbers[i] = number
            has_point = has_point or "." in text
    return numbers, odd, has_point


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
    if sum(column.odd[text] for text in strange) <= column.n_values / 2:
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
    n, wrong = column.n_odd, ((i, t) for i, t in enumerate(column.texts) if t in column.odd)
    rows = list(islice(wrong, _SHOWN_ERRORS))
    listed = [f"{shown(text)} ({column.where(i)})" for i, text in rows]
    first = str(rows[0][1])
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
    bad = tuple(
        (i, f"{column.name} is {shown(text)}, {odd[text]}")
        for i, text in enumerate(column.texts)
        if text is not None and text in odd
    )
    if len(bad) == column.n_values:
        raise ReadError(f"no value of {column.name} is a number. Name another column.")
    texts = Values(None if text in odd else text for text in column.texts)
    n_missing = column.n_missing + len(bad)
    return bad, replace(column, texts=texts, odd={}, n_missing=n_missing)


def check_varied(column: Column) -> None:
    if len(column.distinct) + len(column.odd) == 1:
        only = next(text for text in column.texts if text is not None)
        raise ReadError(
            f"{column.name} has only one value, {shown(only)}: there is nothing to predict. Name "
            "another column."
        )
