"""Readable labels of codes: of a hierarchy the last level, with what distinguishes it from others.

"ad:admission diagnosis|Non-operative Organ Systems|Cardiovascular|Sepsis, pulmonary" becomes
"ad: Sepsis, pulmonary". No two labels are the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

#: Characters of a label, unless its last level alone has more.
_LONGEST = 40
#: A last level as short as this ("IV", "multiple") needs the level above it.
_SHORT = 10
#: The kind of a code ("dx:"); a time ("5:30") has none.
_KIND = re.compile(r"[^\W\d]\w{0,5}:(?=.)")
#: An explanation in brackets at the end, also one that was cut: "Cardiac arrest (with or wi…".
_REMARK = re.compile(r"\s*\([^()]*[)…]$")
#: Last levels that answer the level above: "Elective: Yes", not "Yes (Elective)".
_ANSWERS = {"yes", "no", "none", "other", "unknown", "true", "false"}


def joined(words: Iterable[str]) -> str:
    """Words in a row; with semicolons if some contain commas, as codes may."""
    words = list(words)
    return ("; " if any("," in word for word in words) else ", ").join(words)


def levels(name: str) -> tuple[str, list[str]]:
    """The kind of a code ("dx:", or "") and its levels, the broadest first; a word is one level.

    Levels are separated by "|", or by slashes if there are at least two without blanks beside
    them ("and/or" is a word).
    """
    found = _KIND.match(name)
    kind = found.group() if found else ""
    rest = name[len(kind) :]
    if "|" in rest:
        parts = rest.split("|")
    elif len(re.findall(r"\S/\S", rest)) >= 2:
        parts = rest.split("/")
    else:
        return "", [name]
    out: list[str] = []
    for part in (" ".join(part.split()) for part in parts):
        if part and (not out or part.lower() != out[-1].lower()):
            out.append(part)
    return kind, out or [name]


def readable(names: Sequence[str]) -> list[str]:
    """A short label for each name, all of them different where the names are.

    Examples
    --------
    >>> from topicfocus.text.codes import readable
    >>> readable(["film", "dx:renal|failure|acute", "tx:lung|shock|acute", "dx:lung|failure|acute"])
    ['film', 'dx: acute (renal)', 'tx: acute (shock)', 'dx: acute (lung)']
    """
    parts = [levels(name) for name in names]
    if any(len(own) > 1 for _, own in parts):  # codes of one level are written like the others
        parts = [
            _split_kind(name) if len(own) == 1 else (kind, own)
            for name, (kind, own) in zip(names, parts, strict=True)
        ]
    same_end: dict[tuple[str, str], list[list[str]]] = {}
    for kind, own in parts:
        same_end.setdefault((kind, own[-1].lower()), []).append(own)
    labels = []
    for kind, own in parts:
        others = [other for other in same_end[kind, own[-1].lower()] if other is not own]
        labels.append(_label(kind, own[-1], _distinguishing_level(own, others)))
    return _unique(labels, names)


def _split_kind(name: str) -> tuple[str, list[str]]:
    """The kind and the rest of a code of one level."""
    found = _KIND.match(name)
    kind = found.group() if found else ""
    return kind, [name[len(kind) :].strip() or name]


def _distinguishing_level(own: list[str], others: list[list[str]]) -> str:
    """The nearest level above the last that no other code with this last level has."""
    if len(own) == 1 or (not others and len(own[-1]) >= _SHORT):
        return ""
    higher = own[-2::-1]
    for level in higher:
        if all(level not in other[:-1] for other in others):
            return level
    return higher[0]


def _label(kind: str, end: str, above: str) -> str:
    shown = f"{kind} {end}" if kind else end
    if above and end.lower() in _ANSWERS:
        above = _cut(above, max(_LONGEST - len(shown), 24))
        shown = f"{kind} {above}: {end}" if kind else f"{above}: {end}"
    elif above:
        shown += f" ({_cut(above, max(_LONGEST - len(shown) - 3, 12))})"
    return _cut(shown, 2 * _LONGEST)


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1].rstrip()}…"


def _unique(labels: list[str], names: Sequence[str]) -> list[str]:
    """Number the labels of different names that are the same."""
    owner: dict[str, str] = {}  # label -> name
    out = []
    for label, name in zip(labels, names, strict=True):
        shown, number = label, 1
        while owner.setdefault(shown, name) != name:
            number += 1
            shown = f"{label} {number}"
        out.append(shown)
    return out


def short_names(words: Iterable[str], labels: Iterable[str], most: int) -> str:
    """The first short names that differ, as the name of a topic."""
    names: dict[str, str] = {}
    for word, label in zip(words, labels, strict=True):
        name = short_name(word, label)
        names.setdefault(name.casefold(), name)
    return joined(list(names.values())[:most])


def short_name(word: str, label: str, longest: int = 28) -> str:
    """A word as part of a topic's name: its label without the kind of a code and the remark."""
    kind = _KIND.match(word)
    name = label.removeprefix(kind.group()).strip() if kind else label
    without = _REMARK.sub("", name)
    name = without if len(without) >= _SHORT else name
    if len(name) <= longest:
        return name
    cut = name[:longest].rsplit(" ", 1)[0] if " " in name[:longest] else name[: longest - 1]
    return cut.rstrip(" -,;:/(") + "…"
