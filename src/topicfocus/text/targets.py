"""`detect_target`: from values as they are in a file to the kind of target a model needs."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from topicfocus.text.errors import ReadError
from topicfocus.text.files import nearest
from topicfocus.text.numbers import (
    NO_NUMBER,
    advice,
    is_missing,
    parse_number,
    shown,
    why_no_number,
    with_point,
)

Kind = Literal["real", "binary", "classes", "count", "ordinal"]
KINDS = ("real", "binary", "classes", "count", "ordinal")
#: Kinds whose values are numbers.
NUMBERS = ("real", "count", "ordinal")
#: As large a share of a column of numbers may be mistyped and left out.
FEW = 0.1
_SHOWN_ERRORS = 5

#: As many different whole numbers in a row as a rating has at most.
MOST_LEVELS = 10
#: As many different labels as a model with classes is made for.
MOST_CLASSES = 50

#: Labels, negative and positive, that the alphabet puts the other way round.
_NEGATIVE_POSITIVE = (
    ("inactive", "active"),
    ("incorrect", "correct"),
    ("rejected", "accepted"),
    ("rotten", "fresh"),
    ("unhappy", "happy"),
    ("unhelpful", "helpful"),
    ("without", "with"),
    ("wrong", "right"),
)


@dataclass(frozen=True)
class Target:
    """A target ready for a model.

    Attributes
    ----------
    kind : {"real", "binary", "classes", "count", "ordinal"}
    values : array of float
        NaN where missing. Of classes (two or more), the number of the class in `classes`.
    classes : tuple of str, or None
        The labels, for "binary" and "classes"; of a binary target, the second is the positive one.
    sentence : str
        What was chosen and why, for a person.
    n_missing : int
        How many are NaN, those left out included.
    bad : tuple of (int, str)
        Values that were left out (``skip_bad``), by their number from 0 on, and what was wrong.

    Examples
    --------
    >>> from topicfocus.text import detect_target
    >>> detect_target(["no", "yes", "yes"]).classes
    ('no', 'yes')
    """

    kind: Kind
    values: NDArray[np.float64]
    classes: tuple[str, ...] | None
    sentence: str
    n_missing: int = 0
    bad: tuple[tuple[int, str], ...] = ()

    def of(self, documents: NDArray[np.intp]) -> Target:
        """That of some documents, with none left out.

        Parameters
        ----------
        documents : array of int

        Returns
        -------
        Target

        Examples
        --------
        >>> import numpy as np
        >>> from topicfocus.text import detect_target
        >>> detect_target(["no", "yes", None]).of(np.array([0, 2])).labels().tolist()
        ['no', None]
        """
        values = self.values[documents]
        return replace(self, values=values, n_missing=int(np.isnan(values).sum()), bad=())

    def labels(self) -> NDArray[np.object_]:
        """The label of each document, None where missing; for "binary" and "classes".

        Returns
        -------
        array of object

        Raises
        ------
        ValueError
            If the target is not one of classes.

        Examples
        --------
        >>> from topicfocus.text import detect_target
        >>> detect_target(["no", "yes", None]).labels().tolist()
        ['no', 'yes', None]
        """
        if self.classes is None:
            raise ValueError(f"a target of kind {self.kind!r} has no labels")
        names = np.array([*self.classes, None], dtype=object)
        return names[np.where(np.isnan(self.values), -1, self.values).astype(np.intp)]


def detect_target(
    values: Iterable[Any],
    kind: str | None = None,
    *,
    name: str = "the target",
    where: Callable[[int], str] | None = None,
    skip_bad: bool = False,
) -> Target:
    """Find out what kind of target values are, and convert them.

    The rules, in this order, over the values that are not missing:

    1. Most are dates, or numbers written otherwise than with digits and a point: an error. Decimal
       commas (3,5) are read if no number of the column has a point and one at least cannot be
       thousands (1,234).
    2. Numbers with exceptions (up to a tenth of the values; up to half of them among three or more
       different numbers): an error that names the rows. With ``skip_bad``, up to a tenth are left
       out instead.
    3. One value only: an error, there is nothing to predict.
    4. Two different values, numbers or not: "binary". The larger number, or the later label in the
       alphabet, is positive (1 and 0, "yes" and "no", "pos" and "neg"), a few well-known pairs such
       as "fresh" and "rotten" apart.
    5. All are numbers: "real". The sentence mentions "ordinal" if they are whole numbers in a row,
       at most ten, as ratings are; "count" if they are whole, not negative, and begin at zero or
       spread over more than ten values; and "classes" if they are few with gaps.
    6. Not all are numbers, 3 to 50 different values: "classes".
    7. Else an error: a column of free text or of names cannot be predicted.

    Parameters
    ----------
    values : iterable
        Strings as read from a file, or numbers, booleans, None.
    kind : {"real", "binary", "classes", "count", "ordinal"}, optional
        Do not choose: convert to this kind, or say why it does not fit.
    name : str
        What messages call the target.
    where : callable, optional
        What messages call the place of a value, by its number from 0 on: "row 17".
    skip_bad : bool, default=False
        Leave values that should be numbers out (`Target.bad`) instead of an error.

    Returns
    -------
    Target

    Raises
    ------
    ReadError

    Examples
    --------
    >>> from topicfocus.text import detect_target
    >>> target = detect_target(["yes", "no", "", "yes"])
    >>> target.kind
    'binary'
    """
    if kind is not None and kind not in KINDS:
        close = nearest(kind, list(KINDS))
        raise ReadError(f"kind must be one of {', '.join(KINDS)}; got {kind!r}.{close}")
    column = _column(values, kind, name, where or (lambda i: f"value {i + 1}"))
    if kind is None:
        _check_writing(column)
    bad: tuple[tuple[int, str], ...] = ()
    if column.odd and (_are_errors(column) if kind is None else kind in NUMBERS):
        few = column.n_odd <= column.n_values * FEW
        if not (skip_bad and (few or kind is not None)):
            raise ReadError(_errors_message(column, kind))
        bad, column = _without_odd(column)
    _check_varied(column)
    chosen, why = _choose(column) if kind is None else (kind, "as you asked")
    why += _commas(column)
    more = _missing(column.n_missing - len(bad)) + (f"; {len(bad)} left out" if bad else "")
    if chosen in ("binary", "classes"):
        return _labelled(chosen, column, why, more, bad)
    numbers = column.numbers
    floats = np.array([math.nan if t is None else numbers[t] for t in column.texts], np.float64)
    _check_numbers(chosen, column)
    sentence = f"{chosen}: {why}{more}."
    return Target(chosen, floats, None, sentence, column.n_missing, bad)  # type: ignore[arg-type]


@dataclass(frozen=True)
class _Column:
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


def _column(
    values: Iterable[Any], kind: str | None, name: str, where: Callable[[int], str]
) -> _Column:
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
    return _Column(name, where, texts, known, numbers | commas, n_commas)


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


def _check_writing(column: _Column) -> None:
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


def _are_errors(column: _Column) -> bool:
    """Whether what is no number stands among numbers by mistake."""
    n, different = column.n_values, len(column.distinct)
    few = column.n_odd <= n * FEW and different >= 2
    return few or (column.n_odd < n / 2 and different >= 3)


def _errors_message(column: _Column, kind: str | None) -> str:
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


def _without_odd(column: _Column) -> tuple[tuple[tuple[int, str], ...], _Column]:
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


def _check_varied(column: _Column) -> None:
    if len(column.distinct) + len(column.odd) == 1:
        only = next(iter(column.known))
        raise ReadError(
            f"{column.name} has only one value, {shown(only)}: there is nothing to predict. Name "
            "another column."
        )


def _choose(column: _Column) -> tuple[str, str]:
    name, odd = column.name, column.odd
    n_distinct, n_values = len(column.distinct) + len(odd), column.n_values
    if n_distinct == 2:
        return "binary", "two different values"
    if not odd:
        return "real", _numbers_sentence(column.distinct)
    if n_distinct <= MOST_CLASSES and n_distinct <= max(3, n_values / 2):
        return "classes", f"{n_distinct} different labels"
    if n_distinct > n_values / 2:
        raise ReadError(
            f"{name} looks like free text or names: {n_distinct} different values in "
            f"{n_values}, such as {shown(odd[0])}. Name a column with numbers or with few labels."
        )
    raise ReadError(
        f"{name} has {n_distinct} different labels; up to {MOST_CLASSES} can be told apart. "
        "Join rare ones, or ask for classes: kind='classes' (--kind classes)."
    )


def _numbers_sentence(distinct: list[float]) -> str:
    low, high = distinct[0], distinct[-1]
    n = len(distinct)
    if any(value != int(value) for value in distinct):
        return f"numbers from {low:g} to {high:g}"
    in_a_row = high - low + 1 == n
    span = f"whole numbers from {low:g} to {high:g}"
    if in_a_row and n <= MOST_LEVELS and low > 0:
        return f"{span}, taken as a rating on a scale (kind 'ordinal' uses only their order)"
    if low >= 0 and (low == 0 or n > MOST_LEVELS):
        return f"{span} (kind 'count' is for how often something happened)"
    if n <= MOST_LEVELS:
        return f"{span}, {n} different ones (kind 'classes' if they are codes)"
    return span


def _check_numbers(kind: str, column: _Column) -> None:
    numbers = ((text, number) for text, number in column.numbers.items() if number is not None)
    if kind == "count":
        wrong = next((t for t, n in numbers if n < 0 or n != int(n)), None)
        if wrong is not None:
            raise ReadError(
                f"{column.name} cannot be counts: {wrong} ({column.place(wrong)}) is not a whole "
                "number from 0. Use kind 'real'."
            )
    if kind == "ordinal":
        wrong = next((t for t, n in numbers if n != int(n)), None)
        if wrong is not None:
            raise ReadError(
                f"{column.name} cannot be ordinal: {wrong} ({column.place(wrong)}) is not a whole "
                "number. Use kind 'real', or number the levels."
            )


def _labelled(
    kind: str, column: _Column, why: str, more: str, bad: tuple[tuple[int, str], ...]
) -> Target:
    """Classes: the numbers in order, then the other labels in order."""
    # "1" and "1.0" are one class, named as the number is written shortest.
    keys: list[float | str] = [*column.distinct, *sorted(column.odd)]
    labels = [key if isinstance(key, str) else f"{key:.15g}" for key in keys]
    if kind == "binary" and len(keys) != 2:
        raise ReadError(
            f"{column.name} cannot be binary: it has {len(keys)} different values. Use kind "
            "'classes'."
        )
    if (
        labels[-1].lower(),
        labels[0].lower(),
    ) in _NEGATIVE_POSITIVE:  # fresh, rotten -> rotten, fresh
        keys, labels = keys[::-1], labels[::-1]
    place: dict[Any, float] = {key: float(i) for i, key in enumerate(keys)}

    def code(text: str | None) -> float:
        if text is None:
            return math.nan
        number = column.numbers[text]
        return place[text if number is None else number]

    codes = np.array([code(text) for text in column.texts], dtype=np.float64)
    if kind == "binary":
        both = f"{labels[1]} (positive) and {labels[0]}"
        sentence = f"binary: {why}, {both}{_single(column)}{more}."
    else:
        names = ", ".join(labels[:10]) + (", ..." if len(labels) > 10 else "")
        sentence = f"classes: {why} ({names}){_single(column)}{more}."
    return Target(kind, codes, tuple(labels), sentence, column.n_missing, bad)  # type: ignore[arg-type]


def _single(column: _Column) -> str:
    """Labels that occur once among many are perhaps mistyped."""
    once = [text for text in column.odd if column.known[text] == 1]
    if not once or column.n_values < 20 * len(once):
        return ""
    return f"; only once: {', '.join(map(shown, once[:3]))}" + (", ..." if len(once) > 3 else "")


def _commas(column: _Column) -> str:
    return f", {column.n_commas:,} of them with a decimal comma" if column.n_commas else ""


def _missing(n: int) -> str:
    return f"; {n} missing" if n else ""
