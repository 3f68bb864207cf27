"""What a notebook shows of a fitted model below scikit-learn's diagram: its topics, as a table.

First what each topic does to the prediction, in the documents of the training
(`effects.training_effects`); coefficients last. Words and labels come from strangers' texts:
everything that is not written here is escaped. There are no colours of our own, so the table reads
in light and in dark notebooks.
"""

from __future__ import annotations

import html
from typing import Any

import numpy as np

from topicfocus.estimators.effects import default_quantiles, training_effects

#: Words a topic is shown by, dropped words it goes with, and classes at most.
N_WORDS = 8
N_CONTEXT = 4
MOST_COLUMNS = 8


def topics_html(model: Any) -> str:
    """A table of topics with their effects and top words; nothing before `fit`."""
    if not hasattr(model, "components_"):
        return ""
    n_topics = len(model.components_)
    coef = np.atleast_2d(getattr(model, "coef_", np.zeros((0, n_topics))))
    found = training_effects(model.fitted_)
    columns = _effects(model, found) if found is not None else {}
    if len(coef) <= 1 or found is None:
        columns |= _coefficients(model, coef, found is not None)
    first = coef[0] if found is None and len(coef) else None
    if found is not None:
        first = found[:, 1, 0] - found[:, 0, 0]
    order = (
        np.arange(n_topics) if first is None or len(coef) > 1 else np.argsort(-first, kind="stable")
    )
    words = {"words": [", ".join(chosen) for chosen in model.top_words(N_WORDS)]}
    if getattr(model.fitted_, "context", None) is not None:
        words["goes with"] = [", ".join(w) for w in model.context_words(N_CONTEXT)]
    head = "".join(f"<th>{_text(name)}</th>" for name in ["topic", *columns, *words])
    rows = "".join(
        f"<tr><td>{k}</td>"
        + "".join(f'<td style="text-align:right">{_text(c[k])}</td>' for c in columns.values())
        + "".join(f'<td style="text-align:left">{_text(c[k])}</td>' for c in words.values())
        + "</tr>"
        for k in order
    )
    said = _summary(model, len(coef), found is not None)
    return (
        '<table class="topicfocus" style="border-collapse:collapse;margin-top:.5em">'
        f'<caption style="text-align:left">{_text(said)}'
        f"</caption><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    )


def _effects(model: Any, found: np.ndarray) -> dict[str, list[str]]:
    """Of one predictor both ends and the change; of several the change of each."""
    names = model.fitted_.target_model.predictor_names()
    classes = [p.coding.is_class for p in model.fitted_.parts for _ in range(p.width)]
    change = found[:, 1] - found[:, 0]
    if len(names) > 1:
        return {
            f"{names[l]}{', points' if classes[l] else ''}": [
                _change(x, classes[l]) for x in change[:, l]
            ]
            for l in range(min(len(names), MOST_COLUMNS))
        }
    digits = _decimals(change)
    level = (lambda x: f"{x:.1%}") if classes[0] else (lambda x: f"{x:.{digits}f}")
    low, high = found[:, 0, 0], found[:, 1, 0]
    named = f"{names[0]}: little → much" if not classes[0] else f"P({names[0]}): little → much"
    return {
        named: [f"{level(a)} → {level(b)}" for a, b in zip(low, high, strict=True)],
        "change": [_change(x, classes[0], digits) for x in change[:, 0]],
    }


def _change(x: float, is_class: bool, digits: int | None = None) -> str:
    if is_class:
        return f"{100 * x:+.1f}"
    return f"{x:+.3g}" if digits is None else f"{x:+.{digits}f}"


def _decimals(values: np.ndarray) -> int:
    """With which the largest has three digits."""
    largest = float(np.max(np.abs(values), initial=0.0))
    return int(np.clip(2 - np.floor(np.log10(largest)), 0, 6)) if largest > 0 else 0


def _coefficients(model: Any, coef: np.ndarray, beside: bool) -> dict[str, list[str]]:
    names = ["coef"] if beside else _predictors(model, len(coef))
    return {n: [f"{c:.3g}" for c in row] for n, row in zip(names, coef, strict=False)}


def _text(value: Any) -> str:
    return html.escape(str(value), quote=True)


def _predictors(model: Any, n: int) -> list[str]:
    """What each row of coefficients is about."""
    classes = getattr(model, "classes_", None)
    if n == 1:
        return ["coef" if classes is None else f"log odds of {classes[1]}"]
    if isinstance(classes, np.ndarray):
        names = [str(c) for c in classes]
    else:
        names = [f"coef {i}" for i in range(n)]
    return names[:MOST_COLUMNS]


def _summary(model: Any, n: int, effects: bool) -> str:
    n_topics, n_words = model.components_.shape
    parts = [f"{n_topics} topics of {n_words} words"]
    if hasattr(model, "selected_words_"):
        parts.append(f"{int(np.sum(model.selected_words_))} kept")
    if n > MOST_COLUMNS:
        parts.append(f"{MOST_COLUMNS} of {n} {'effects' if effects else 'coefficients'} shown")
    if not hasattr(model, "feature_names_in_"):
        parts.append("words are numbers of columns: X had no names")
    said = ", ".join(parts)
    if effects:
        low, high = (f"{100 * q:g}th" for q in default_quantiles(model.fitted_))
        said += (
            f". Effects: the prediction of a typical training document as its share of the topic "
            f"goes from the {low} to the {high} percentile"
        )
    return said
