"""Types of arguments and groups of options that commands share. Imports nothing heavy."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from typing import Any

from topicfocus.workflow.options import FORMATS, ReadOptions


def share(text: str) -> float:
    """A number between 0 and 1, both excluded."""
    value = float(text)
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError(f"must lie between 0 and 1, got {text}")
    return value


def count(minimum: int) -> Callable[[str], int]:
    """A whole number of at least `minimum`."""

    def parse(text: str) -> int:
        value = int(text)
        if value < minimum:
            raise argparse.ArgumentTypeError(f"must be at least {minimum}, got {text}")
        return value

    parse.__name__ = "whole number"  # named in argparse's message for "abc"
    return parse


def seconds(text: str) -> float:
    """A time of 0 or more."""
    value = float(text)
    if not value >= 0:
        raise argparse.ArgumentTypeError(f"must be at least 0, got {text}")
    return value


def frequency(text: str) -> int | float:
    """A number of documents (10) or a share of them (0.5); "1.0" is all of them, "1" is one."""
    try:
        value: int | float = int(text)
    except ValueError:
        value = float(text)
        if not 0 <= value <= 1:
            raise argparse.ArgumentTypeError(
                f"must be a whole number of documents or a share between 0.0 and 1.0, got {text}"
            ) from None
        return value
    if value < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1 document, got {text}")
    return value


def ngrams(text: str) -> tuple[int, int]:
    """ "2" is words and pairs; "2-3" is pairs and triples only."""
    low, dash, high = text.partition("-")
    span = (int(low), int(high)) if dash else (1, int(low))
    if not 1 <= span[0] <= span[1]:
        raise argparse.ArgumentTypeError(f"must be a number such as 2, or 2-3, got {text}")
    return span


def columns(text: str) -> list[str]:
    """Names of columns with commas between them, each once."""
    names = [name.strip() for name in text.split(",")]
    if not all(names):
        raise argparse.ArgumentTypeError(f"must be names with commas between them, got {text!r}")
    if len(set(names)) < len(names):
        raise argparse.ArgumentTypeError(f"names a column twice: {text}")
    return names


def values(text: str) -> dict[str, float]:
    """ "year=1999,length=NA": a number for each name, NaN where it is not known."""
    from topicfocus.text.numbers import is_missing

    out = {}
    for part in text.split(","):
        name, sign, number = part.partition("=")
        try:
            value = math.nan if is_missing(number) else float(number)
        except ValueError:
            value = math.inf
        if not sign or not name.strip() or math.isinf(value):
            raise argparse.ArgumentTypeError(f"must be NAME=NUMBER,NAME=NUMBER, got {text!r}")
        out[name.strip()] = value
    return out


def class_weight(text: str) -> str | dict[str, float]:
    """ "balanced", or "spam=5,ham=1"."""
    if text == "balanced":
        return text
    out: dict[str, float] = {}
    for part in text.split(","):
        name, sign, number = part.rpartition("=")
        try:
            out[name.strip()] = float(number)
        except ValueError:
            sign = ""
        if not sign or not name.strip():
            raise argparse.ArgumentTypeError(f"must be balanced or CLASS=X,CLASS=X, got {text!r}")
    return out


def exposure(text: str) -> float:
    """A finite number above 0."""
    value = float(text)
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"must be above 0, got {text}")
    return value


def inclusion(text: str) -> float | str:
    """A share, or "auto"."""
    return text if text == "auto" else share(text)


def topics(text: str) -> int | str:
    """A number of topics, or "auto"."""
    return text if text == "auto" else count(1)(text)


def counts(text: str) -> tuple[int, ...]:
    """ "3,5,10": numbers of at least 1, each once."""
    return tuple(dict.fromkeys(count(1)(part) for part in text.split(",")))


def shares(text: str) -> tuple[float, ...]:
    """ "0.05,0.1": shares, each once."""
    return tuple(dict.fromkeys(share(part) for part in text.split(",")))


for _parse, _name in (
    (share, "share"),
    (seconds, "number"),
    (frequency, "number"),
    (exposure, "number"),
):
    _parse.__name__ = _name  # what argparse calls them: "invalid share value"
ngrams.__name__ = "n-gram"
inclusion.__name__ = "share"
topics.__name__ = "whole number"
counts.__name__ = "whole number"
shares.__name__ = "share"


def add_reading(parser: argparse.ArgumentParser) -> None:
    """How a file is read."""
    group = parser.add_argument_group("reading")
    group.add_argument("--format", choices=FORMATS, help="what FILE is; by default by its name")
    group.add_argument("--delimiter", metavar="C", help="between columns; by default noticed")
    group.add_argument("--encoding", default="utf-8", help="of text files (default utf-8)")
    group.add_argument(
        "--skip-bad",
        action="store_true",
        help="leave out rows that are unreadable, or whose target should be a number and is not, "
        "and count them",
    )
    group.add_argument(
        "--vocabulary", metavar="FILE", help="words of a count matrix, one a line, in column order"
    )
    group.add_argument("--sheet", metavar="NAME", help="of an Excel file that has several")


def reading(args: argparse.Namespace) -> ReadOptions:
    """What `add_reading` has added."""
    return ReadOptions(
        format=args.format,
        delimiter=args.delimiter,
        encoding=args.encoding,
        skip_bad=args.skip_bad,
        vocabulary=args.vocabulary,
        sheet=args.sheet,
    )


def new_columns(args: argparse.Namespace) -> dict[str, Any]:
    """Columns of new documents, as predict and report have them."""
    return {"text": args.text, "covariates": args.covariates, "exposure": args.exposure}


def add_common(parser: argparse.ArgumentParser, *, jobs: bool = True) -> None:
    """What every command has."""
    group = parser.add_argument_group("output")
    group.add_argument("--json", action="store_true", help="print the result as JSON")
    group.add_argument("--quiet", action="store_true", help="no progress, no remarks")
    group.add_argument("--debug", action="store_true", help="show where an error came from")
    if jobs:
        group.add_argument(
            "--jobs", type=count(1), default=None, metavar="N", help="threads (default: all cores)"
        )
