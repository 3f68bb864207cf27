"""Convert texts to numbers, and describe what is wrong with those that are not numbers."""

from __future__ import annotations

import math
import re

#: How files write a missing value, in lower case.
MISSING = frozenset(("", "na", "n/a", "nan", "null", "none", "nil", "?", "-", ".", "<na>", "#n/a"))
#: Sums of squares of larger numbers overflow.
LARGEST = 1e100

_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+\Z")
#: One comma with three digits after it: a decimal comma, or thousands.
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
_UNIT = re.compile(r"([€$£¥₹]\s?[+-]?\d+([.,]\d+)*|[+-]?\d+([.,]\d+)*\s?[%‰€$£¥₹])\Z")
#: Results of `why_no_number`.
NO_NUMBER, DATE, NOT_FINITE, TOO_LARGE = "not a number", "a date or time", "not finite", "too large"


def is_missing(text: str) -> bool:
    """Whether a text is how files write a missing number."""
    return text.strip().lower() in MISSING


def parse_number(text: str) -> float | None:
    """The number that a text is, None if it is not one that a model can use."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if abs(number) <= LARGEST and "_" not in text else None


def decimal_commas(texts: list[str]) -> dict[str, float]:
    """Numbers with a decimal comma, unless every comma of the column may separate thousands.

    Parameters
    ----------
    texts : list of str
        Values of a column in which no number has a decimal point.
    """
    commas = [text for text in texts if _DECIMAL_COMMA.match(text)]
    if all(_EITHER.match(text) for text in commas):
        return {}
    found = {text: parse_number(text.replace(",", ".")) for text in commas}
    return {text: number for text, number in found.items() if number is not None}


def why_no_number(text: str) -> str:
    """What is wrong with a text where a number is expected, as the end of "'3,5' is"."""
    try:
        number = float(text)
    except ValueError:
        number = None
    if number is not None and "_" not in text:
        return NOT_FINITE if math.isinf(number) and "inf" in text.lower() else TOO_LARGE
    for pattern, reason in (
        (_EITHER, "a number with a comma, decimal or between thousands"),
        (_DECIMAL_COMMA, "a number with a decimal comma"),
        (_THOUSANDS, "a number with marks between thousands"),
        (_DATE, DATE),
        (_UNIT, "a number with a unit"),
    ):
        if pattern.match(text):
            return reason
    return NO_NUMBER


def advice(reason: str) -> str:
    """What to do about a value for which `why_no_number` has this reason."""
    if reason == NO_NUMBER:
        return "Turn categories into columns of 0 and 1"
    if reason == DATE:
        return "Turn it into a number, such as days since a reference date"
    if reason in (NOT_FINITE, TOO_LARGE):
        return "Correct or empty it"
    return "Write digits and a decimal point only"
