"""The table of topics that a notebook shows below the diagram of a fitted estimator.

Words and labels come from texts of unknown origin, so everything is escaped.
"""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np
import pandas as pd

from topicfocus.estimators.effects import default_quantiles, training_effects

#: Largest numbers of top words, dropped words and columns of effects.
N_WORDS, N_CONTEXT, MOST_COLUMNS = 8, 4, 8


def topics_html(model: Any) -> str:
    """A table of topics with their effects and top words, empty before `fit`.

    Predicted differences in the training documents come first, coefficients last.
    """
    if not hasattr(model, "components_"):
        return ""
    fitted = model.fitted_
    columns: dict[str, list[str]] = {}
    if any(fitted.names):
        columns["name"] = [name or "" for name in fitted.names]
    order, found = np.arange(len(fitted.components)), training_effects(fitted)
    if found is not None:
        columns |= _effects(fitted, found)
    if fitted.targets is not None and fitted.state.n_predictors == 1:
        coef = fitted.coef.ravel()
        columns["coef"] = [f"{c:.3g}" for c in coef]
        by = coef if found is None else found[:, 1, 0] - found[:, 0, 0]
        order = np.argsort(-by, kind="stable")
    columns["words"] = [", ".join(words) for words in model.top_words(N_WORDS)]
    if fitted.context is not None:
        columns["occurs with"] = [", ".join(words) for words in model.context_words(N_CONTEXT)]
    table = pd.DataFrame(columns).iloc[order].rename_axis("topic").reset_index()
    with pd.option_context("display.max_colwidth", None):
        text = table.to_html(classes="topicfocus", index=False, border=0, justify="left")
    caption = f"<caption>{escape(_caption(model, found))}</caption>"
    return text.replace("<thead>", f"{caption}<thead>", 1)


def _effects(fitted: Any, found: np.ndarray) -> dict[str, list[str]]:
    """Both predictions and their difference; for several predictors the differences."""
    classes = [part.coding.is_class for part in fitted.parts for _ in range(part.width)]
    names = fitted.target_model.predictor_names()
    change = found[:, 1] - found[:, 0]
    if len(names) > 1:
        shown = list(zip(names, classes, change.T, strict=True))
        return {
            f"{name}, points" if is_class else name: [
                f"{100 * x:+.1f}" if is_class else f"{x:+.3g}" for x in column
            ]
            for name, is_class, column in shown[:MOST_COLUMNS]
        }
    title, ends, change = f"{names[0]}: little → much", found[:, :, 0].tolist(), change[:, 0]
    if classes[0]:
        title = f"P({names[0]}): little → much"
        return {
            title: [f"{low:.1%} → {high:.1%}" for low, high in ends],
            "change": [f"{100 * x:+.1f}" for x in change],
        }
    largest = max(float(np.abs(change).max()), 1e-6)
    digits = int(np.clip(2 - np.floor(np.log10(largest)), 0, 6))  # the largest has three digits
    return {
        title: [f"{low:.{digits}f} → {high:.{digits}f}" for low, high in ends],
        "change": [f"{x:+.{digits}f}" for x in change],
    }


def _caption(model: Any, found: np.ndarray | None) -> str:
    n_topics, n_words = model.components_.shape
    parts = [f"{n_topics} topics of {n_words} words"]
    if hasattr(model, "selected_words_"):
        parts.append(f"{int(np.sum(model.selected_words_))} kept")
    if found is not None and found.shape[2] > MOST_COLUMNS:
        parts.append(f"{MOST_COLUMNS} of {found.shape[2]} effects shown")
    if not hasattr(model, "feature_names_in_"):
        parts.append("words are column numbers, because X had no names")
    if found is None:
        return ", ".join(parts)
    low, high = (f"{100 * q:g}th" for q in default_quantiles(model.fitted_))
    return (
        f"{', '.join(parts)}. Effects: the prediction of a typical training document as its "
        f"proportion of the topic goes from the {low} to the {high} percentile"
    )
