"""`detect_target`: from values as they are in a file to the kind of target a model needs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from topicfocus.text.errors import ReadError, nearest, shown
from topicfocus.text.numbers import (
    NO_NUMBER,
    advice,
    decimal_commas,
    is_missing,
    parse_number,
    why_no_number,
)

Kind = Literal["real", "binary", "classes", "count", "ordinal"]
KINDS = ("real", "binary", "classes", "count", "ordinal")
#: Kinds whose values are numbers.
NUMBERS = ("real", "count", "ordinal")

#: Most levels of a rating: whole numbers without gaps.
MOST_LEVELS = 10
#: Most labels that are detected as classes.
MOST_CLASSES = 50
#: Largest fraction of values of a numeric column that may be skipped as mistyped.
FEW = 0.1
_SHOWN_ERRORS = 5

#: Negative and positive labels whose alphabetical order is the other one.
_NEGATIVE_POSITIVE = (
    ("inactive", "active"),
    ("incorrect", "correct"),
    ("rejected", "accepted"),
    ("rotten", "fresh"),
    ("unhappy", "happy"),
    ("unhelpful", "helpful"),
    ("without", "with"),
    ("wrong", "right"),
    ("-", "+"),
)


@dataclass(frozen=True)
class Target:
    """A target as a model needs it.

    Attributes
    ----------
    kind : {"real", "binary", "classes", "count", "ordinal"}
    values : array of float
        NaN where missing. For classes (two or more), the index of the class in `classes`.
    classes : tuple of str, or None
        The labels, for "binary" and "classes"; the second one of a binary target is positive.
    sentence : str
        The kind that was chosen, and why.
    n_missing : int
        Number of NaN, including skipped values.
    bad : tuple of (int, str)
        Values that were skipped (``skip_bad``): their index from 0, and what was wrong.

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
        """The target of some documents.

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
    """Determine the kind of a target, and convert its values.

    Empty values are missing. "NA", "None", "-" and the like are missing in a column of numbers, and
    labels elsewhere. The rules, in this order, over the values that are not missing:

    1. Most are dates, or numbers written otherwise than with digits and a point: an error. Decimal
       commas (3,5) are read if no number of the column has a point and at least one cannot be
       thousands (1,234).
    2. Numbers with exceptions (up to a tenth of the values; up to half of them among three or more
       different numbers): an error that names the rows. With ``skip_bad``, up to a tenth are
       skipped instead.
    3. One value only: an error, there is nothing to predict.
    4. Two different values, numbers or not: "binary". The larger number, or the later label in the
       alphabet, is positive (1 and 0, "yes" and "no", "pos" and "neg"), except in a few well-known
       pairs such as "fresh" and "rotten".
    5. All are numbers: "real". The sentence mentions "ordinal" for whole numbers without gaps, at
       most ten, as in ratings; "count" for whole numbers that are not negative and begin at zero or
       have more than ten values; and "classes" for few numbers with gaps.
    6. Not all are numbers, 3 to 50 different values: "classes".
    7. Otherwise an error: a column of free text or of names cannot be predicted.

    Labels are compared as texts: with ``kind="classes"``, "1.10" and "1.1" are two classes. The
    sentence mentions labels that differ only in case or in how a number is written.

    Parameters
    ----------
    values : iterable
        Strings as read from a file, or numbers, booleans, None.
    kind : {"real", "binary", "classes", "count", "ordinal"}, optional
        Convert to this kind, or raise an error if the values do not fit it.
    name : str
        The name of the target in messages.
    where : callable, optional
        The name of the place of a value in messages, such as "row 17", by its index from 0.
    skip_bad : bool, default=False
        Skip values that should be numbers (`Target.bad`) instead of raising an error.

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
        close = nearest(kind, KINDS)
        raise ReadError(f"kind must be one of {', '.join(KINDS)}; got {kind!r}.{close}")
    column = _read_column(values, kind, name, where or (lambda i: f"value {i + 1}"))
    if kind is None:
        _check_writing(column)
    bad: tuple[tuple[int, str], ...] = ()
    if column.n_odd and (_are_errors(column) if kind is None else kind in NUMBERS):
        few = column.n_odd <= column.n_values * FEW
        if not (skip_bad and (few or kind is not None)):
            raise ReadError(_errors_message(column, kind))
        bad, column = _without_odd(column)
    as_text = kind == "classes" or column.n_odd > 0 or column.loses_digits
    _check_varied(column, as_text)
    chosen, why = _choose(column, as_text) if kind is None else (kind, "as requested")
    if column.n_commas:
        why += f", {column.n_commas:,} of them with a decimal comma"
    n_missing = int(np.sum(column.codes < 0))
    more = f"; {n_missing - len(bad)} missing" if n_missing > len(bad) else ""
    more += f"; {len(bad)} left out" if bad else ""
    if chosen in ("binary", "classes"):
        codes, labels = _classes(chosen, column, as_text)
        sentence = _class_sentence(chosen, why, labels, column) + _joined(column, as_text) + more
    else:
        _check_numbers(chosen, column)
        codes, labels, sentence = column.values, None, f"{chosen}: {why}{more}"
    return Target(chosen, codes, labels, f"{sentence}.", n_missing, bad)  # type: ignore[arg-type]


@dataclass(frozen=True)
class _Column:
    """The values of a target: `texts` are the different ones in the order of the file.

    `codes` has the index of each value in `texts`, -1 where missing; `numbers` the texts as
    numbers, NaN if they are not; `n_commas` counts values with a decimal comma.
    """

    name: str
    where: Callable[[int], str]
    texts: tuple[str, ...]
    codes: NDArray[np.intp]
    numbers: NDArray[np.float64]
    n_commas: int = 0

    @property
    def counts(self) -> NDArray[np.intp]:
        """How often each text occurs."""
        return np.bincount(self.codes[self.codes >= 0], minlength=len(self.texts))

    @property
    def n_values(self) -> int:
        return int(np.sum(self.codes >= 0))

    @property
    def odd(self) -> list[str]:
        """The texts that are not numbers and occur."""
        no_number = np.isnan(self.numbers) & (self.counts > 0)
        return [self.texts[i] for i in np.flatnonzero(no_number)]

    @property
    def n_odd(self) -> int:
        return int(self.counts[np.isnan(self.numbers)].sum())

    @property
    def distinct(self) -> NDArray[np.float64]:
        """The different numbers, ascending; 0 and -0 are one."""
        known = self.numbers[(self.counts > 0) & ~np.isnan(self.numbers)]
        return np.unique(known + 0.0)

    @property
    def loses_digits(self) -> bool:
        """Whether one or two numbers stand for more, as ids of 17 digits do in floating point."""
        if self.n_odd or self.n_commas or len(self.distinct) > 2:
            return False
        used = [text for text, n in zip(self.texts, self.counts, strict=True) if n]
        return len({Decimal(text) for text in used}) > len(self.distinct)

    @property
    def values(self) -> NDArray[np.float64]:
        """The number of each value, NaN where missing."""
        return np.append(self.numbers, np.nan)[self.codes]

    def place(self, i: int) -> str:
        """Where a text occurs first."""
        return self.where(int(np.argmax(self.codes == i)))


def _read_column(
    values: Iterable[Any], kind: str | None, name: str, where: Callable[[int], str]
) -> _Column:
    cleaned = [_clean(value) for value in values]
    found = np.empty(len(cleaned), dtype=object)
    found[:] = cleaned
    codes, texts = pd.factorize(found)
    parsed = [parse_number(text) for text in texts]
    numbers = np.array([np.nan if n is None else n for n in parsed], dtype=np.float64)
    column = _Column(name, where, tuple(texts), codes.astype(np.intp), numbers)
    column = _without_missing(column, kind)
    if not column.n_values:
        raise ReadError(f"{name} has no values: all {len(codes)} are missing. Name another column.")
    has_point = any("." in text for text, n in zip(texts, parsed, strict=True) if n is not None)
    commas = {} if kind in ("binary", "classes") or has_point else decimal_commas(column.odd)
    if not commas:
        return column
    is_comma = np.array([text in commas for text in column.texts])
    numbers = np.where(is_comma, [commas.get(text, 0.0) for text in column.texts], numbers)
    return replace(column, numbers=numbers, n_commas=int(column.counts[is_comma].sum()))


def _clean(value: Any) -> str | None:
    """A value as text without spaces around it, None where missing."""
    if value is None:
        return None
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (float, np.floating)):
        number = float(value)
        if np.isnan(number):
            return None
        return str(int(number)) if number.is_integer() and abs(number) < 1e15 else str(number)
    try:
        return str(value).strip() or None
    except ValueError:  # Python does not write integers that long
        return "a whole number of thousands of digits"


def _without_missing(column: _Column, kind: str | None) -> _Column:
    """NA, None and the like as missing values, if the other values are numbers."""
    words = np.array([is_missing(text) for text in column.texts], dtype=bool)
    is_number = ~np.isnan(column.numbers)
    n_numbers = column.counts[is_number].sum()
    n_labels = column.counts[~is_number & ~words].sum()
    numeric = kind in NUMBERS or (kind != "classes" and n_numbers >= n_labels)
    if not (numeric and words.any()):
        return column
    gone = np.append(words, False)[column.codes]
    return replace(column, codes=np.where(gone, -1, column.codes))


# ---- what is wrong with a column -----------------------------------------------------------------


def _check_writing(column: _Column) -> None:
    """Refuse dates, and numbers whose writing is ambiguous, if most values are such."""
    reasons = {text: why_no_number(text) for text in column.odd}
    strange = [
        i for i, text in enumerate(column.texts) if reasons.get(text, NO_NUMBER) != NO_NUMBER
    ]
    if column.counts[strange].sum() <= column.n_values / 2:
        return
    first = column.texts[strange[0]]
    raise ReadError(
        f"{column.name} cannot be predicted as it is: {shown(first)} ({column.place(strange[0])}) "
        f"is {reasons[first]}. {advice(reasons[first])}, or name another column; if these are "
        "labels: kind='classes' (--kind classes)."
    )


def _are_errors(column: _Column) -> bool:
    """Whether the values that are not numbers are mistakes in a column of numbers."""
    n, different = column.n_values, len(column.distinct)
    few = column.n_odd <= n * FEW and different >= 2
    return few or (column.n_odd < n / 2 and different >= 3)


def _odd_values(column: _Column) -> NDArray[np.intp]:
    """The indices of the values that are not numbers."""
    return np.flatnonzero(np.append(np.isnan(column.numbers), False)[column.codes])


def _errors_message(column: _Column, kind: str | None) -> str:
    n, wrong = column.n_odd, _odd_values(column)[:_SHOWN_ERRORS]
    listed = [f"{shown(column.texts[column.codes[i]])} ({column.where(int(i))})" for i in wrong]
    reason = why_no_number(column.texts[column.codes[wrong[0]]])
    more = ", ..." if n > len(wrong) else ""
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
        skip = ""  # too many to be mistakes
    return f"{said}. Correct or empty them{skip}.{labels}"


def _without_odd(column: _Column) -> tuple[tuple[tuple[int, str], ...], _Column]:
    """The values that are not numbers, with what is wrong; and the column without them."""
    wrong = _odd_values(column)
    if len(wrong) == column.n_values:
        raise ReadError(f"no value of {column.name} is a number. Name another column.")
    said = {text: f"{column.name} is {shown(text)}, {why_no_number(text)}" for text in column.odd}
    bad = tuple((int(i), said[column.texts[column.codes[i]]]) for i in wrong)
    codes = column.codes.copy()
    codes[wrong] = -1
    return bad, replace(column, codes=codes)


def _check_varied(column: _Column, as_text: bool) -> None:
    n = int(np.sum(column.counts > 0)) if as_text else len(column.distinct)
    if n == 1:
        used = [text for text, n in zip(column.texts, column.counts, strict=True) if n]
        advice = "Name another column."
        if len(used) > 1:
            advice = "If these are labels: kind='classes' (--kind classes)."
        raise ReadError(
            f"{column.name} has only one value, {' = '.join(map(shown, used[:3]))}: there is "
            f"nothing to predict. {advice}"
        )


def _check_numbers(kind: str, column: _Column) -> None:
    used = column.counts > 0
    fraction = used & (column.numbers != np.rint(column.numbers))
    if kind == "count":
        wrong, rule = fraction | (used & (column.numbers < 0)), "whole number from 0"
        advised = "Use kind 'real'."
    else:
        wrong, rule = fraction, "whole number"
        advised = "Use kind 'real', or number the levels."
    if kind in ("count", "ordinal") and wrong.any():
        i = int(np.argmax(wrong))
        what = "counts" if kind == "count" else "ordinal"
        raise ReadError(
            f"{column.name} cannot be {what}: {column.texts[i]} ({column.place(i)}) is not a "
            f"{rule}. {advised}"
        )


# ---- the kind, and its classes -------------------------------------------------------------------


def _choose(column: _Column, as_text: bool) -> tuple[str, str]:
    """The kind of a target, and why."""
    name, n_values = column.name, column.n_values
    n_distinct = int(np.sum(column.counts > 0)) if as_text else len(column.distinct)
    if n_distinct == 2:
        return "binary", "two different values"
    if not as_text:
        return "real", _numbers_sentence(column.distinct)
    if n_distinct <= MOST_CLASSES and n_distinct <= max(3, n_values / 2):
        return "classes", f"{n_distinct} different labels"
    if n_distinct > n_values / 2:
        example = (column.odd or column.texts)[0]
        raise ReadError(
            f"{name} looks like free text or names: {n_distinct} different values in "
            f"{n_values}, such as {shown(example)}. Name a column with numbers or with few labels."
        )
    raise ReadError(
        f"{name} has {n_distinct} different labels, more than {MOST_CLASSES}. Join rare ones, or "
        "request classes: kind='classes' (--kind classes)."
    )


def _numbers_sentence(distinct: NDArray[np.float64]) -> str:
    low, high = float(distinct[0]), float(distinct[-1])
    n = len(distinct)
    if np.any(distinct != np.rint(distinct)):
        return f"numbers from {low:g} to {high:g}"
    span = f"whole numbers from {low:g} to {high:g}"
    if high - low + 1 == n and n <= MOST_LEVELS and low > 0:
        return f"{span}, modelled as a numeric rating (kind 'ordinal' uses only their order)"
    if low >= 0 and (low == 0 or n > MOST_LEVELS):
        return f"{span} (kind 'count' is for how often something happened)"
    if n <= MOST_LEVELS:
        return f"{span}, {n} different ones (kind 'classes' if they are codes)"
    return span


def _classes(
    kind: str, column: _Column, as_text: bool
) -> tuple[NDArray[np.float64], tuple[str, ...]]:
    """The class of each value, and the labels: numbers in their order, then other labels.

    Two numbers that were detected are named in their shortest form, so that "1" and "1.0" are one.
    """
    used = np.flatnonzero(column.counts > 0)
    if as_text:
        texts = {int(i): column.texts[i] for i in used}
    else:
        texts = {int(i): f"{column.numbers[i] + 0.0:.15g}" for i in used}
    number = {texts[i]: column.numbers[i] for i in texts}

    def order(label: str) -> tuple[bool, float, str]:
        is_text = bool(np.isnan(number[label]))
        return is_text, 0.0 if is_text else float(number[label]), label

    labels = sorted(set(texts.values()), key=order)
    if kind == "binary" and len(labels) != 2:
        raise ReadError(
            f"{column.name} cannot be binary: it has {len(labels)} different values. Use kind "
            "'classes'."
        )
    if (labels[-1].lower(), labels[0].lower()) in _NEGATIVE_POSITIVE:
        labels.reverse()
    index = {label: float(i) for i, label in enumerate(labels)}
    of_text = np.full(len(column.texts) + 1, np.nan)
    of_text[list(texts)] = [index[label] for label in texts.values()]
    return of_text[column.codes], tuple(labels)


def _class_sentence(kind: str, why: str, labels: tuple[str, ...], column: _Column) -> str:
    if kind == "binary":
        mark = "" if labels[1].lower() == "positive" else " (positive)"
        sentence = f"binary: {why}, {labels[1]}{mark} and {labels[0]}"
    else:
        names = ", ".join(labels[:10]) + (", ..." if len(labels) > 10 else "")
        sentence = f"classes: {why} ({names})"
    counts = dict(zip(column.texts, column.counts.tolist(), strict=True))
    once = [text for text in column.odd if counts[text] == 1]
    if once and column.n_values >= 20 * len(once):
        sentence += f"; only once: {_listed(once)}"
    return sentence + "".join(f"; {remark}" for remark in _doubts(labels))


def _joined(column: _Column, as_text: bool) -> str:
    """A remark on numbers that are written in several ways and taken as one class."""
    used = np.flatnonzero(column.counts > 0)
    if as_text or len(used) == len(column.distinct):
        return ""
    numbers = column.numbers[used]
    same = [column.texts[i] for i in used if np.sum(numbers == column.numbers[i]) > 1]
    return f"; {_listed(same)} are the same numbers (kind 'classes' keeps them apart)"


def _doubts(labels: Sequence[str]) -> list[str]:
    """Labels that may be meant as one class, or as a missing value."""
    remarks = []
    for what, key in (
        ("differ only in case", str.lower),
        ("are the same number", _exact_number),
    ):
        alike: dict[Any, list[str]] = {}
        for label in labels:
            alike.setdefault(key(label), []).append(label)
        alike.pop(None, None)
        for same in alike.values():
            if len(same) > 1:
                remarks.append(f"{_listed(same)} {what} but are different classes")
    truths = [label for label in labels if label.lower() in ("true", "false")]
    digits = [label for label in labels if label in ("0", "1")]
    if truths and digits:
        remarks.append(f"{_listed([*digits, *truths])} are different classes")
    missing = [label for label in labels if is_missing(label) and "+" not in labels]
    if missing:
        remarks.append(f"taken as labels: {_listed(missing)} (only empty values are missing)")
    return remarks


def _exact_number(label: str) -> Decimal | None:
    return None if parse_number(label) is None else Decimal(label)


def _listed(labels: Sequence[str]) -> str:
    return ", ".join(map(shown, labels[:3])) + (", ..." if len(labels) > 3 else "")
