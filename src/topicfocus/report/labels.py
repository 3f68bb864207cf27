"""Labels of the page: title, targets, predictors, and readable forms of codes.

A code with a hierarchy is shown by its last level, with as much as distinguishes it from others:
"ad:admission diagnosis|Non-operative Organ Systems|Cardiovascular|Sepsis, pulmonary" as
"ad: Sepsis, pulmonary"; the hierarchy is in the tooltip. No two labels are the same.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from topicfocus.estimators.fitted import Fitted
from topicfocus.estimators.targets import TargetPart
from topicfocus.families import FAMILIES

#: Families whose inverse link the page computes itself; it gets a curve of any other.
_KNOWN = {*FAMILIES, "categorical"}
#: Points of such a curve. Between them the page uses cubics with the same slopes.
_POINTS = 401
#: Characters of a label, unless its last level alone has more.
_LONGEST = 40
#: A last level as short as this ("IV", "multiple") needs the level above it.
_SHORT = 10
#: The kind of a code ("dx:"); a time ("5:30") has none.
_KIND = re.compile(r"[^\W\d]\w{0,5}:(?=.)")
#: An explanation in brackets at the end: "Cardiac arrest (with or without ...)".
_REMARK = re.compile(r"\s*\([^()]*\)$")
#: Last levels that answer the level above: "Elective: Yes", not "Yes (Elective)".
_ANSWERS = {"yes", "no", "none", "other", "unknown", "true", "false"}


@dataclass(frozen=True)
class Labels:
    """Names given by the user; None where the page makes its own.

    Attributes
    ----------
    title : str or None
    topics : list of str, or dict of row of `components_` to str
    targets : list of str, one per target
    classes : list of str in the order of `classes_`; a list of lists for several targets
    documents : list of str, one per document
    covariates : list of str
    """

    title: str | None = None
    topics: Any = None
    targets: Any = None
    classes: Any = None
    documents: Any = None
    covariates: Any = None

    def page_title(self, model: Any, targets: list[dict[str, Any]]) -> str:
        """The user's title, else one with the names of the targets."""
        if self.title:
            return self.title
        if self.targets is None:
            return f"Topics of a {type(model).__name__}"
        names = [t["name"] for t in targets]
        if len(names) > 3:
            names = [*names[:2], f"{len(names) - 2} more"]
        joined = ", ".join(names[:-1]) + " and " + names[-1] if len(names) > 1 else names[0]
        return f"Topics that predict {joined}"


def target_names_of(name: Any, names: Any, target: Any) -> list[str] | None:
    """The names given, else those of a pandas Series or DataFrame."""
    if name is not None and names is not None:
        raise ValueError("give target_name for one target or target_names for several, not both.")
    if name is not None:
        return [str(name)]
    if names is not None:
        return [names] if isinstance(names, str) else [str(v) for v in names]
    if hasattr(target, "columns"):
        return [str(v) for v in target.columns]
    own = getattr(target, "name", None)
    return None if own is None else [str(own)]


def listed(name: str, given: Any, size: int) -> list[str] | None:
    """A list of `size` names, None if none were given."""
    if given is None:
        return None
    values = [str(v) for v in given]
    if len(values) != size:
        raise ValueError(f"{name} has {len(values)} entries, but there are {size}.")
    return values


# ---- targets -------------------------------------------------------------------------------------


def describe_targets(fitted: Fitted, labels: Labels, predictor: np.ndarray) -> list[dict[str, Any]]:
    """Name, family, labels and range of predictors of each target."""
    parts = fitted.parts
    names = listed("target_names", labels.targets, len(parts))
    if names is None:
        names = ["target"] if len(parts) == 1 else [f"target {t}" for t in range(len(parts))]
    classes = labels.classes
    if classes is not None and len(parts) == 1:
        classes = [classes]
    out = []
    for t, part in enumerate(parts):
        family, where, coding = part.family, part.where, part.coding
        about = {
            "name": names[t],
            "kind": coding.kind,
            "first": where.start,
            "width": where.stop - where.start,
            "labels": _label_names(part, None if classes is None else classes[t]),
            "levels": np.asarray(coding.labels, dtype=float) if coding.is_rating else None,
            "limits": coding.bounds(family),
            "noise": family.noise_variance,
            "open": float(fitted.variance_factors[where.start]),
            "excess": float(fitted.extra_variances[where.start]),
            "whole": family.kind == "count",
            "thresholds": getattr(family, "thresholds", None),
        }
        if family.name not in _KNOWN:
            about["scale"] = family.scale_name
            about["curve"] = _link_curve(family, predictor[:, where.start])
        out.append(about)
    return out


def _link_curve(family: Any, predictor: np.ndarray) -> dict[str, list[float]]:
    """E[y | f], its slope and Var(y | f) on a grid twice as wide as the documents' f.

    Beyond the grid the page extrapolates linearly.
    """
    low, high = (-3.0, 3.0) if not len(predictor) else (predictor.min(), predictor.max())
    width = max(high - low, 1.0)
    grid = np.linspace(low - 0.5 * width, high + 0.5 * width, _POINTS)
    return {
        "f": grid.tolist(),
        "mean": family.mean(grid).tolist(),
        "slope": family.mean_slope(grid).tolist(),
        "variance": family.variance(grid).tolist(),
    }


def _label_names(part: TargetPart, given: Any) -> list[str] | None:
    """Names of classes, levels as numbers; None for a number."""
    coding = part.coding
    if not coding.is_class:
        return None if coding.labels is None else [f"{v:g}" for v in coding.labels]
    own = ["0", "1"] if coding.labels is None else [str(v) for v in coding.labels]
    return own if given is None else listed("class_names", given, len(own))


def describe_predictors(targets: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What increases with each linear predictor: a target, or the probability of a class."""
    several = len(targets) > 1
    out = []
    for t, target in enumerate(targets):
        for l in range(target["width"]):
            name = target["name"]
            if target["kind"] == "categorical":
                name = f"{name}: {target['labels'][l]}" if several else target["labels"][l]
            elif target["kind"] == "bernoulli":
                # A class called 1 needs the name of the target.
                alone = not several and target["labels"][1] not in ("1", "1.0", "True")
                name = target["labels"][1] if alone else f"{name}: {target['labels'][1]}"
            out.append({"name": name, "target": t})
    return out


# ---- codes ---------------------------------------------------------------------------------------


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
    >>> from topicfocus.report.labels import readable
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
