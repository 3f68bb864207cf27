"""The table of topics that a notebook shows below scikit-learn's diagram of a fitted model.

Predicted differences in the training documents (`effects.training_effects`) come first,
coefficients last. Words and labels come from texts of unknown origin, so all cells are escaped.
"""

from __future__ import annotations

import html
from typing import Any

import numpy as np
import pandas as pd

from topicfocus.estimators.effects import default_quantiles, training_effects

#: Largest numbers of top words, dropped words and columns of effects.
N_WORDS, N_CONTEXT, MOST_COLUMNS = 8, 4, 8


def topics_html(model: Any) -> str:
    """A table of topics with their effects and top words; empty before `fit`."""
    if not hasattr(model, "components_"):
        return ""
    fitted = model.fitted_
    columns: dict[str, list[str]] = {}
    named = {"name": [name or "" for name in fitted.names]} if any(fitted.names) else {}
    order = np.arange(len(fitted.components))
    found = training_effects(fitted)
    if found is not None:
        columns = _effects(model, found)
    coef = np.atleast_2d(fitted.coef) if fitted.targets is not None else np.zeros((0, len(order)))
    if len(coef) == 1:
        columns["coef"] = [f"{c:.3g}" for c in coef[0]]
        by = coef[0] if found is None else found[:, 1, 0] - found[:, 0, 0]
        order = np.argsort(-by, kind="stable")
    columns["words"] = [", ".join(words) for words in model.top_words(N_WORDS)]
    if fitted.context is not None:
        columns["occurs with"] = [", ".join(words) for words in model.context_words(N_CONTEXT)]
    table = pd.DataFrame({**named, **columns}).iloc[order].rename_axis("topic").reset_index()
    with pd.option_context("display.max_colwidth", None):
        text = table.to_html(classes="topicfocus", index=False, border=0, justify="left")
    caption = f"<caption>{html.escape(_caption(model, coef, found is not None))}</caption>"
    return text.replace("<thead>", f"{caption}<thead>", 1)


def _effects(model: Any, found: np.ndarray) -> dict[str, list[str]]:
    """Both predictions and their difference; for several predictors the differences."""
    names = model.fitted_.target_model.predictor_names()
    classes = [p.coding.is_class for p in model.fitted_.parts for _ in range(p.width)]
    change = found[:, 1] - found[:, 0]
    if len(names) > 1:
        return {
            f"{name}, points" if is_class else name: [
                f"{100 * x:+.1f}" if is_class else f"{x:+.3g}" for x in column
            ]
            for name, is_class, column in list(zip(names, classes, change.T, strict=True))[
                :MOST_COLUMNS
            ]
        }
    ends = zip(found[:, 0, 0], found[:, 1, 0], strict=True)
    if classes[0]:
        return {
            f"P({names[0]}): little → much": [f"{a:.1%} → {b:.1%}" for a, b in ends],
            "change": [f"{100 * x:+.1f}" for x in change[:, 0]],
        }
    largest = max(float(np.abs(change).max()), 1e-6)
    digits = int(np.clip(2 - np.floor(np.log10(largest)), 0, 6))  # the largest has three digits
    return {
        f"{names[0]}: little → much": [f"{a:.{digits}f} → {b:.{digits}f}" for a, b in ends],
        "change": [f"{x:+.{digits}f}" for x in change[:, 0]],
    }


def _caption(model: Any, coef: np.ndarray, effects: bool) -> str:
    n_topics, n_words = model.components_.shape
    parts = [f"{n_topics} topics of {n_words} words"]
    if hasattr(model, "selected_words_"):
        parts.append(f"{int(np.sum(model.selected_words_))} kept")
    if len(coef) > MOST_COLUMNS:
        parts.append(f"{MOST_COLUMNS} of {len(coef)} effects shown")
    if not hasattr(model, "feature_names_in_"):
        parts.append("words are column numbers, because X had no names")
    text = ", ".join(parts)
    if effects:
        low, high = (f"{100 * q:g}th" for q in default_quantiles(model.fitted_))
        text += (
            ". Effects: the prediction of a typical training document as its proportion of the "
            f"topic goes from the {low} to the {high} percentile"
        )
    return text
