"""Readable labels of words: of a code with a hierarchy its end, with as much as tells it apart.

"ad:admission diagnosis|Non-operative Organ Systems|Cardiovascular|Sepsis, pulmonary" is shown as
"ad: Sepsis, pulmonary"; the hierarchy is in the tooltip. No two labels are the same.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

#: Characters of a label, unless its end alone has more.
LONGEST = 40
#: An end as short as this ("IV", "multiple") says little without what is above it.
_LITTLE = 10
_KIND = re.compile(r"\w{1,6}:(?=.)")
#: What is explained in brackets behind an end: "Cardiac arrest (with or without ...)".
_REMARK = re.compile(r"\s*\([^()]*\)$")
#: An end that answers the level above it: "Elective: Yes", not "Yes (Elective)".
_ANSWERS = {"yes", "no", "none", "other", "unknown", "true", "false"}


def levels(name: str) -> tuple[str, list[str]]:
    """The kind of a code ("dx:", or "") and its levels, the broadest first; of a word, itself.

    Levels stand between "|", or between slashes where there are two at least without blanks
    beside them ("and/or" is a word).
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
    cleaned = [" ".join(part.split()) for part in parts]
    out: list[str] = []
    for part in cleaned:
        if part and (not out or part.lower() != out[-1].lower()):
            out.append(part)
    return kind, out or [name]


def readable(names: Sequence[str]) -> list[str]:
    """A short label for each name, all of them different where the names are.

    Parameters
    ----------
    names : sequence of str
        Words or codes.

    Returns
    -------
    list of str

    Examples
    --------
    >>> from topicfocus.report.codes import readable
    >>> readable(["film", "dx:renal|failure|acute", "tx:lung|shock|acute", "dx:lung|failure|acute"])
    ['film', 'dx: acute (renal)', 'tx: acute (shock)', 'dx: acute (lung)']
    """
    parts = [levels(name) for name in names]
    if any(len(own) > 1 for _, own in parts):  # codes: those without levels look like the others
        parts = [
            _spaced(name) if len(own) == 1 else (kind, own)
            for name, (kind, own) in zip(names, parts, strict=True)
        ]
    alike: dict[tuple[str, str], list[int]] = {}
    for i, (kind, own) in enumerate(parts):
        alike.setdefault((kind, own[-1].lower()), []).append(i)
    labels = [""] * len(names)
    for same in alike.values():
        for i in same:
            kind, own = parts[i]
            others = [parts[j][1] for j in same if j != i]
            labels[i] = _label(kind, own[-1], _above(own, others))
    return _unique(labels, names)


def spoken(name: str) -> str:
    """The end of a code alone, for names of topics: it need not tell codes apart."""
    _, parts = levels(name)
    end = parts[-1] if len(parts) > 1 else _KIND.sub("", parts[-1], count=1)
    short = _REMARK.sub("", end)
    end = short if len(short) >= _LITTLE else end
    if len(parts) > 1 and end.lower() in _ANSWERS:
        return f"{parts[-2]}: {end}"
    return f"{end} ({parts[-2]})" if len(parts) > 1 and len(end) < _LITTLE else end


def _spaced(name: str) -> tuple[str, list[str]]:
    """The kind and the rest of a code of one level."""
    found = _KIND.match(name)
    kind = found.group() if found else ""
    return kind, [name[len(kind) :].strip() or name]


def _above(own: list[str], others: list[list[str]]) -> str:
    """The nearest level above the end that no code of the same end has, or what comes closest."""
    if len(own) == 1 or (not others and len(own[-1]) >= _LITTLE):
        return ""
    higher = own[-2::-1]
    for level in higher:
        if all(level not in other[:-1] for other in others):
            return level
    return higher[0]


def _label(kind: str, end: str, above: str) -> str:
    shown = f"{kind} {end}" if kind else end
    if above and end.lower() in _ANSWERS:
        room = max(LONGEST - len(shown), 24)
        above = above if len(above) <= room else above[: room - 1].rstrip() + "…"
        shown = f"{kind} {above}: {end}" if kind else f"{above}: {end}"
    elif above:
        room = max(LONGEST - len(shown) - 3, 12)
        shown += f" ({above if len(above) <= room else above[: room - 1] + '…'})"
    return shown if len(shown) <= 2 * LONGEST else f"{shown[: 2 * LONGEST - 1]}…"


def _unique(labels: list[str], names: Sequence[str]) -> list[str]:
    """Labels that are still the same get a number; names that are the same stay so."""
    owner: dict[str, str] = {}  # of a label: the name that has it
    chosen: dict[str, str] = {}
    for label, name in zip(labels, names, strict=True):
        if name in chosen:
            continue
        shown, number = label, 1
        while shown in owner:
            number += 1
            shown = f"{label} {number}"
        owner[shown] = name
        chosen[name] = shown
    return [chosen[name] for name in names]
