"""Numbers as people write them into files, and what is wrong where they are none."""

from __future__ import annotations

import math
import re

#: What files write where a value is not known, in lower case.
MISSING = frozenset(("", "na", "n/a", "nan", "null", "none", "nil", "?", "-", ".", "<na>", "#n/a"))
#: Squares of larger numbers, added up over documents, are no numbers any more.
LARGEST = 1e100
_SHOWN = 40

_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+\Z")
#: One comma and three digits behind it: a decimal comma, or thousands.
_EITHER = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}\Z")
_THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d*)?\Z|[+-]?\d{1,3}(\.\d{3})+,\d+\Z")
_DATE = re.compile(
    r"""\d{4}[-/.]\d{1,2}[-/.]\d{1,2}([T\ ]\d{1,2}:\d{2}.*)?\Z  # 2024-03-01, also with a time
    | \d{1,2}[-/.]\d{1,2}[-/.](\d{4}|\d{2})([T\ ]\d{1,2}:\d{2}.*)?\Z  # 1.3.2024, 03/01/24
    | \d{1,2}[\ -]?[A-Za-z]{3,9}\.?[\ ,-]*\d{4}\Z  # 1 March 2024
    | [A-Za-z]{3,9}\.?\ \d{1,2},?\ \d{4}\Z  # March 1, 2024
    | \d{1,2}:\d{2}(:\d{2})?\Z  # 12:30""",
    re.VERBOSE,
)
_BESIDE = re.compile(r"([€$£¥₹]\s?[+-]?\d+([.,]\d+)*|[+-]?\d+([.,]\d+)*\s?[%‰€$£¥₹])\Z")
#: What `why_no_number` says where nothing better is known.
NO_NUMBER = "not a number"
DATE, NOT_FINITE, TOO_LARGE = "a date or time", "not finite", "too large"


def is_missing(text: str) -> bool:
    """Whether this is how a file says that a value is not known."""
    return text.strip().lower() in MISSING


def parse_number(text: str) -> float | None:
    """The number that a text is, None if it is none that a model could work with."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if abs(number) <= LARGEST and "_" not in text else None


def has_decimal_comma(text: str) -> bool:
    """3,5, and also 1,234, which may be meant otherwise."""
    return bool(_DECIMAL_COMMA.match(text))


def with_point(texts: list[str]) -> dict[str, float]:
    """Numbers with a decimal comma as numbers, if that is beyond doubt in a column; else nothing.

    Doubtful: all commas may stand between thousands; or another number of the column has a point,
    which is for the caller to know.

    Parameters
    ----------
    texts : list of str
        Values of the column that are no numbers.
    """
    commas = [text for text in texts if has_decimal_comma(text)]
    if all(_EITHER.match(text) for text in commas):
        return {}
    found = {text: parse_number(text.replace(",", ".")) for text in commas}
    return {text: number for text, number in found.items() if number is not None}


def is_date(text: str) -> bool:
    """Whether a text looks like a date or a time of day."""
    return bool(_DATE.match(text))


def shown(value: object) -> str:
    """A value in a message, however long it is."""
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 4]}...{text[-1]}"


def advice(reason: str) -> str:
    """What to do about a value for which `why_no_number` has this reason."""
    if reason == NO_NUMBER:
        return "Turn categories into columns of 0 and 1"
    if reason == DATE:
        return "Turn it into a number, such as days since a day"
    if reason in (NOT_FINITE, TOO_LARGE):
        return "Correct or empty it"
    return "Write digits and a decimal point, nothing else"


def why_no_number(text: str) -> str:
    """What is wrong with a text where a number is due, as the end of "'3,5' is"."""
    try:
        number = float(text)
    except ValueError:
        number = None
    if number is not None and "_" not in text:
        return NOT_FINITE if math.isinf(number) and "inf" in text.lower() else TOO_LARGE
    if _EITHER.match(text):
        return "a number with a comma, decimal or between thousands"
    if has_decimal_comma(text):
        return "a number with a decimal comma"
    if _THOUSANDS.match(text):
        return "a number with marks between thousands"
    if is_date(text):
        return DATE
    if _BESIDE.match(text):
        return "a number with a sign beside it"
    return NO_NUMBER
