"""`detect_target`: from values as they are in a file to the kind of target a model needs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from topicfocus.text.errors import ReadError
from topicfocus.text.files import nearest
from topicfocus.text.numbers import shown
from topicfocus.text.target_column import (
    FEW,
    Column,
    are_errors,
    check_varied,
    check_writing,
    errors_message,
    read_column,
    without_odd,
)

Kind = Literal["real", "binary", "classes", "count", "ordinal"]
KINDS = ("real", "binary", "classes", "count", "ordinal")
#: Kinds whose values are numbers.
NUMBERS = ("real", "count", "ordinal")

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
    column = read_column(values, kind, name, where or (lambda i: f"value {i + 1}"))
    if kind is None:
        check_writing(column)
    bad: tuple[tuple[int, str], ...] = ()
    if column.odd and (are_errors(column) if kind is None else kind in NUMBERS):
        few = column.n_odd <= column.n_values * FEW
        if not (skip_bad and (few or kind is not None)):
            raise ReadError(errors_message(column, kind))
        bad, column = without_odd(column)
    check_varied(column)
    chosen, why = _choose(column) if kind is None else (kind, "as you asked")
    why += _commas(column)
    more = _missing(column.n_missing - len(bad)) + (f"; {len(bad)} left out" if bad else "")
    if chosen in ("binary", "classes"):
        return _labelled(chosen, column, why, more, bad)
    _check_numbers(chosen, column)
    sentence = f"{chosen}: {why}{more}."
    return Target(chosen, column.numbers, None, sentence, column.n_missing, bad)  # type: ignore[arg-type]


def _choose(column: Column) -> tuple[str, str]:
    name, odd = column.name, list(column.odd)
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


def _numbers_sentence(distinct: NDArray[np.float64]) -> str:
    low, high = float(distinct[0]), float(distinct[-1])
    n = len(distinct)
    if np.any(distinct != np.rint(distinct)):
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


def _check_numbers(kind: str, column: Column) -> None:
    numbers = column.numbers
    fraction = ~np.isnan(numbers) & (numbers != np.rint(numbers))
    if kind == "count":
        wrong = fraction | (numbers < 0)
        if wrong.any():
            text, place = column.first(wrong)
            raise ReadError(
                f"{column.name} cannot be counts: {text} ({place}) is not a whole "
                "number from 0. Use kind 'real'."
            )
    if kind == "ordinal" and fraction.any():
        text, place = column.first(fraction)
        raise ReadError(
            f"{column.name} cannot be ordinal: {text} ({place}) is not a whole "
            "number. Use kind 'real', or number the levels."
        )


def _labelled(
    kind: str, column: Column, why: str, more: str, bad: tuple[tuple[int, str], ...]
) -> Target:
    """Classes: the numbers in order, then the other labels in order."""
    # "1" and "1.0" are one class, named as the number is written shortest.
    keys: list[float | str] = [*column.distinct.tolist(), *sorted(column.odd)]
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
    codes = np.full(len(column.texts), math.nan)
    for i, (text, number) in enumerate(zip(column.texts, column.numbers, strict=True)):
        if text is not None:
            codes[i] = place[text if math.isnan(number) else number]
    if kind == "binary":
        mark = "" if str(labels[1]).lower() == "positive" else " (positive)"
        both = f"{labels[1]}{mark} and {labels[0]}"
        sentence = f"binary: {why}, {both}{_single(column)}{more}."
    else:
        names = ", ".join(labels[:10]) + (", ..." if len(labels) > 10 else "")
        sentence = f"classes: {why} ({names}){_single(column)}{more}."
    return Target(kind, codes, tuple(labels), sentence, column.n_missing, bad)  # type: ignore[arg-type]


def _single(column: Column) -> str:
    """Labels that occur once among many are perhaps mistyped."""
    once = [text for text in column.odd if column.odd[text] == 1]
    if not once or column.n_values < 20 * len(once):
        return ""
    return f"; only once: {', '.join(map(shown, once[:3]))}" + (", ..." if len(once) > 3 else "")


def _commas(column: Column) -> str:
    return f", {column.n_commas:,} of them with a decimal comma" if column.n_commas else ""


def _missing(n: int) -> str:
    return f"; {n} missing" if n else ""
