"""`detect_target`: from values as they are in a file to the kind of target a model needs."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from topicfocus.text.errors import ReadError
from topicfocus.text.files import nearest
from topicfocus.text.records import MISSING

Kind = Literal["real", "binary", "classes", "count", "ordinal"]
KINDS = ("real", "binary", "classes", "count", "ordinal")

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

    def labels(self) -> NDArray[np.object_]:
        """The label of each document, None where missing; for "binary" and "classes".

        Returns
        -------
        array of object

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
    values: Iterable[Any], kind: str | None = None, *, name: str = "the target"
) -> Target:
    """Find out what kind of target values are, and convert them.

    The rules, in this order, over the values that are not missing:

    1. One value only: an error, there is nothing to predict.
    2. Two different values, numbers or not: "binary". The larger number, or the later label in the
       alphabet, is positive (1 and 0, "yes" and "no", "pos" and "neg"), a few well-known pairs such
       as "fresh" and "rotten" apart.
    3. All are numbers: "real". The sentence mentions "ordinal" if they are whole numbers in a row,
       at most ten, as ratings are; "count" if they are whole, not negative, and begin at zero or
       spread over more than ten values; and "classes" if they are few with gaps.
    4. Not all are numbers, 3 to 50 different values: "classes".
    5. Else an error: a column of free text or of names cannot be predicted. Some values that are no
       numbers among many that are: an error that shows one of them.

    Parameters
    ----------
    values : iterable
        Strings as read from a file, or numbers, booleans, None.
    kind : {"real", "binary", "classes", "count", "ordinal"}, optional
        Do not choose: convert to this kind, or say why it does not fit.
    name : str
        What messages call the target.

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
    texts = [_clean(value) for value in values]
    known = Counter(text for text in texts if text is not None)
    n_missing = len(texts) - sum(known.values())
    if kind is not None and kind not in KINDS:
        close = nearest(kind, list(KINDS))
        raise ReadError(f"kind must be one of {', '.join(KINDS)}; got {kind!r}.{close}")
    if not known:
        raise ReadError(f"{name} has no values: all {len(texts)} are missing. Name another column.")
    numbers = {text: _number(text) for text in known}
    odd = [text for text, number in numbers.items() if number is None]
    distinct = sorted({n for n in numbers.values() if n is not None})
    n_distinct = len(distinct) + len(odd)
    if n_distinct == 1:
        only = next(iter(known))
        raise ReadError(
            f"{name} has only one value, {only!r}: there is nothing to predict. Name another "
            "column."
        )
    chosen, why = _choose(known, distinct, odd, name) if kind is None else (kind, "as you asked")
    if chosen in ("binary", "classes"):
        return _labelled(chosen, texts, numbers, distinct, odd, why, n_missing, name)
    if odd:
        rows = [i for i, text in enumerate(texts, start=1) if text in odd]
        raise ReadError(
            f"{name} cannot be {chosen!r}: {odd[0]!r} (value {rows[0]}) is not a number. "
            "Correct it, or leave it empty if it is not known."
        )
    floats = np.array([math.nan if t is None else numbers[t] for t in texts], dtype=np.float64)
    _check_numbers(chosen, distinct, name)
    sentence = f"{chosen}: {why}{_missing(n_missing)}."
    return Target(chosen, floats, None, sentence, n_missing)  # type: ignore[arg-type]


def _clean(value: Any) -> str | None:
    if value is None:
        return None
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, float) and value != value:
        return None
    text = str(value).strip()
    return None if text.lower() in MISSING else text


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) and "_" not in text else None


def _choose(
    known: Counter[str], distinct: list[float], odd: list[str], name: str
) -> tuple[str, str]:
    n_distinct = len(distinct) + len(odd)
    n_values = sum(known.values())
    if n_distinct == 2:
        return "binary", "two different values"
    if not odd:
        return "real", _numbers_sentence(known, distinct)
    n_odd = sum(known[text] for text in odd)
    if len(distinct) > MOST_LEVELS and n_odd < n_values / 10:
        raise ReadError(
            f"{name} is numbers, but {n_odd} of {n_values} values are not, such as "
            f"{odd[0]!r}. Correct them, or leave them empty if they are not known."
        )
    if n_distinct <= MOST_CLASSES and n_distinct <= max(3, n_values / 2):
        return "classes", f"{n_distinct} different labels"
    if n_distinct > n_values / 2:
        raise ReadError(
            f"{name} looks like free text or names: {n_distinct} different values in "
            f"{n_values}, such as {odd[0]!r:.60}. Name a column with numbers or with few labels."
        )
    raise ReadError(
        f"{name} has {n_distinct} different labels; up to {MOST_CLASSES} can be told apart. "
        "Join rare ones, or ask for classes: kind='classes' (--kind classes)."
    )


def _numbers_sentence(known: Counter[str], distinct: list[float]) -> str:
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


def _check_numbers(kind: str, distinct: list[float], name: str) -> None:
    whole = all(value == int(value) for value in distinct)
    if kind == "count" and not (whole and distinct[0] >= 0):
        wrong = next(v for v in distinct if v < 0 or v != int(v))
        raise ReadError(
            f"{name} cannot be counts: {wrong:g} is not a whole number from 0. Use kind 'real'."
        )
    if kind == "ordinal" and not whole:
        wrong = next(v for v in distinct if v != int(v))
        raise ReadError(
            f"{name} cannot be ordinal: {wrong:g} is not a whole number. Use kind 'real', or "
            "number the levels."
        )


def _labelled(
    kind: str,
    texts: list[str | None],
    numbers: dict[str, float | None],
    distinct: list[float],
    odd: list[str],
    why: str,
    n_missing: int,
    name: str,
) -> Target:
    """Classes: the numbers in order, then the other labels in order."""
    # "1" and "1.0" are one class, named as the number is written shortest.
    keys: list[float | str] = [*distinct, *sorted(odd)]
    labels = [key if isinstance(key, str) else f"{key:.15g}" for key in keys]
    if kind == "binary" and len(keys) != 2:
        raise ReadError(
            f"{name} cannot be binary: it has {len(keys)} different values. Use kind 'classes'."
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
        number = numbers[text]
        return place[text if number is None else number]

    codes = np.array([code(text) for text in texts], dtype=np.float64)
    if kind == "binary":
        sentence = f"binary: {why}, {labels[1]} (positive) and {labels[0]}{_missing(n_missing)}."
    else:
        shown = ", ".join(labels[:10]) + (", ..." if len(labels) > 10 else "")
        sentence = f"classes: {why} ({shown}){_missing(n_missing)}."
    return Target(kind, codes, tuple(labels), sentence, n_missing)  # type: ignore[arg-type]


def _missing(n: int) -> str:
    return f"; {n} missing" if n else ""
