"""What things are called: the page's title, targets, predictors and topics."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from topicfocus.estimators.fitted import Fitted
from topicfocus.estimators.targets import TargetPart
from topicfocus.estimators.words import first_words, naming_order, topic_scores
from topicfocus.families import FAMILIES
from topicfocus.report.codes import spoken
from topicfocus.report.curves import link_curve
from topicfocus.report.inputs import Inputs

_NAME_WORDS = 3
#: λ of the words that name a topic: readers knew topics best by it (Sievert and Shirley, 2014).
_NAME_RELEVANCE = 0.6
#: Of "wasn't", "I've" and "they'll".
_HALVES = frozenset(
    [
        "ain",
        "aren",
        "couldn",
        "didn",
        "doesn",
        "don",
        "hadn",
        "hasn",
        "haven",
        "isn",
        "ll",
        "mustn",
        "needn",
        "re",
        "shouldn",
        "ve",
        "wasn",
        "weren",
        "wouldn",
    ]
)


@dataclass(frozen=True)
class Labels:
    """What a person calls things; None where the model's own words have to do.

    Attributes
    ----------
    title : str or None
    topics : list of str, or dict of topic number to str
    targets : list of str, one a target
    classes : list of str in the order of `classes_`; a list of lists for several targets
    documents : list of str, one a document
    covariates : list of str
    """

    title: str | None = None
    topics: Any = None
    targets: Any = None
    classes: Any = None
    documents: Any = None
    covariates: Any = None

    def page_title(self, model: Any, targets: list[dict[str, Any]]) -> str:
        """The user's title, else one of the targets' names."""
        if self.title:
            return self.title
        if self.targets is None:
            return f"Topics of a {type(model).__name__}"
        names = [t["name"] for t in targets]
        if len(names) > 3:
            names = [*names[:2], f"{len(names) - 2} more"]
        listed = ", ".join(names[:-1]) + " and " + names[-1] if len(names) > 1 else names[0]
        return f"Topics that predict {listed}"


def target_names_of(name: Any, names: Any, target: Any) -> list[str] | None:
    """Names of the targets: those given, else those of a pandas series or dataframe."""
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
    """A list of so many names, None if none were given."""
    if given is None:
        return None
    values = [str(v) for v in given]
    if len(values) != size:
        raise ValueError(f"{name} has {len(values)} entries, but there are {size}.")
    return values


#: Families whose inverse link the page computes itself; it gets a curve of any other.
_KNOWN = {*FAMILIES, "categorical"}


def describe_targets(fitted: Fitted, labels: Labels, predictor: np.ndarray) -> list[dict[str, Any]]:
    """Name, family and labels of each target, and which predictors are its own."""
    parts = fitted.parts
    names = listed("target_names", labels.targets, len(parts))
    if names is None:
        names = ["target"] if len(parts) == 1 else [f"target {t}" for t in range(len(parts))]
    classes = labels.classes
    if classes is not None and len(parts) == 1:
        classes = [classes]
    out = []
    for t, part in enumerate(parts):
        own, where = part.family, part.where
        about = {
            "name": names[t],
            "kind": part.coding.kind,
            "first": where.start,
            "width": where.stop - where.start,
            "labels": _label_names(part, None if classes is None else classes[t]),
            "levels": np.asarray(part.coding.labels, dtype=float)
            if part.coding.is_rating
            else None,
            "limits": part.coding.bounds(own),
            "noise": own.noise_variance,
            "open": float(fitted.variance_factors[where.start]),
            "excess": float(fitted.extra_variances[where.start]),
            "whole": own.kind == "count",
            "thresholds": getattr(own, "thresholds", None),
        }
        if own.name not in _KNOWN:
            about["scale"] = own.scale_name
            about["curve"] = link_curve(own, predictor[:, where.start])
        out.append(about)
    return out


def _label_names(part: TargetPart, given: Any) -> list[str] | None:
    """Classes as the user calls them, levels as numbers; None for a number."""
    coding = part.coding
    if not coding.is_class:
        return None if coding.labels is None else [f"{v:g}" for v in coding.labels]
    own = ["0", "1"] if coding.labels is None else [str(v) for v in coding.labels]
    return own if given is None else listed("class_names", given, len(own))


def describe_predictors(targets: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What goes up with each linear predictor: a target, or the probability of a class."""
    several = len(targets) > 1
    out = []
    for t, target in enumerate(targets):
        for l in range(target["width"]):
            name = target["name"]
            if target["kind"] == "categorical":
                name = f"{name}: {target['labels'][l]}" if several else target["labels"][l]
            elif target["kind"] == "bernoulli":
                # A class called 1 says nothing by itself.
                alone = not several and target["labels"][1] not in ("1", "1.0", "True")
                name = target["labels"][1] if alone else f"{name}: {target['labels'][1]}"
            out.append({"name": name, "target": t})
    return out


def topic_names(inputs: Inputs, given: Any) -> list[str]:
    """The user's names, else the words that tell a topic from the others."""
    n_topics = inputs.fitted.state.n_topics
    if given is not None and not isinstance(given, Mapping):
        names = listed("names", given, n_topics)
        assert names is not None
        return names
    own = dict(given or {})
    unknown = [k for k in own if not (isinstance(k, (int, np.integer)) and 0 <= k < n_topics)]
    if unknown:
        raise ValueError(f"names has {unknown[0]!r}, but topics are numbered 0 to {n_topics - 1}.")
    order = naming_order(inputs.fitted)
    scores = topic_scores(inputs.fitted, order, _NAME_RELEVANCE)
    words = first_words(scores, 4 * _NAME_WORDS, inputs.vocabulary, lambda s: s > -np.inf)
    said = [", ".join(_named(word) for word in _telling(chosen)[:_NAME_WORDS]) for chosen in words]
    return [str(own.get(k, said[k])) for k in range(n_topics)]


def is_half(word: str) -> bool:
    """Whether it is what a tokeniser leaves of "didn't" or "I've", which says nothing alone."""
    return word in _HALVES


def _telling(words: list[str]) -> list[str]:
    """Words but for halves, unless these are all there is."""
    return [word for word in words if not is_half(word)] or words


def _named(word: str, longest: int = 28) -> str:
    """A word as a topic is called by it; of the end of a code, its beginning says what it is."""
    said = spoken(word)
    if said == word:
        return brief(word)
    if len(said) <= longest:
        return said
    cut = said[:longest].rsplit(" ", 1)[0] if " " in said[:longest] else said[: longest - 1]
    return cut.rstrip(" -,;:/(") + "…"


def brief(word: str, longest: int = 28) -> str:
    """A long code without its middle: its kind ("dx:") and its end, which tells codes apart.

    The page's own `brief` does the same.
    """
    if len(word) <= longest:
        return word
    kind = re.match(r"\w{1,6}:", word)
    head = kind.group() if kind else ""
    tail = word[len(word) - (longest - len(head) - 1) :]
    whole = re.search(r"[|/\s]", tail[: len(tail) // 2])
    if whole:
        return f"{head}…{tail[whole.end() :]}"
    head = head or word[: longest // 3]
    return f"{head}…{word[len(word) - (longest - len(head) - 1) :]}"
