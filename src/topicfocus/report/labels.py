"""Labels of the page: title, targets and predictors."""

from __future__ import annotations

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
