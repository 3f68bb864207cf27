"""Codes with a hierarchy as a person reads them: the labels of the explorer page, in the terminal.

Files and ``--json`` have the codes as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

#: Entries of a result that hold words, in lists, in records, or as the keys of a dict.
_HOLD_WORDS = frozenset(
    ("words", "word", "context", "kept_examples", "dropped_examples", "raises", "lowers")
)
#: Parts of a result that have such entries.
_PARTS = ("topics", "words", "stability")
#: What a code with levels looks like ("dx:renal|failure"); `report.labels` says what it is.
_LEVELS = re.compile(r"\||\S/\S.*\S/\S")


def with_labels(result: dict[str, Any]) -> dict[str, Any]:
    """A result with the words of its topics as labels; itself where no word is such a code."""
    parts: dict[str, Any] = {name: result[name] for name in _PARTS if name in result}
    # Of an explanation, `words` is a dict of them.
    own = [] if "kept" in (parts.get("words") or {}) else list(parts.get("words") or {})
    names = list(dict.fromkeys([*own, *_words(parts, False)]))
    if not any(_LEVELS.search(name) for name in names):
        return result
    from topicfocus.report.labels import readable

    labels = dict(zip(names, readable(names), strict=True))
    out = {name: _relabelled(part, labels, False) for name, part in parts.items()}
    if own:
        out["words"] = {labels[word]: amount for word, amount in parts["words"].items()}
    return {**result, **out}


def _words(value: Any, inside: bool) -> Iterator[str]:
    """Every word of a part of a result; `inside`: it stands where words do."""
    if isinstance(value, dict):
        for name, one in value.items():
            # Records of words have numbers beside them, and other texts ("class") are no words.
            yield from _words(one, name in _HOLD_WORDS)
    elif isinstance(value, list):
        for one in value:
            yield from _words(one, inside)
    elif inside and isinstance(value, str):
        yield value


def _relabelled(value: Any, labels: dict[str, str], inside: bool) -> Any:
    if isinstance(value, dict):
        return {name: _relabelled(v, labels, name in _HOLD_WORDS) for name, v in value.items()}
    if isinstance(value, list):
        return [_relabelled(one, labels, inside) for one in value]
    return labels.get(value, value) if inside and isinstance(value, str) else value
