"""What a notebook shows of a fitted model below scikit-learn's diagram: its topics, as a table.

Words and labels come from strangers' texts: everything that is not written here is escaped. There
are no colours of our own, so the table reads in light and in dark notebooks.
"""

from __future__ import annotations

import html
from typing import Any

import numpy as np

#: Words a topic is shown by, and coefficients at most (a model may have hundreds of classes).
N_WORDS = 8
MOST_COLUMNS = 8


def topics_html(model: Any) -> str:
    """A table of topics with their coefficients and top words; nothing before `fit`."""
    if not hasattr(model, "components_"):
        return ""
    coef = np.atleast_2d(getattr(model, "coef_", np.zeros((0, len(model.components_)))))
    names = _predictors(model, len(coef))
    order = np.argsort(-coef[0], kind="stable") if len(coef) == 1 else np.arange(coef.shape[1])
    words = model.top_words(N_WORDS)
    head = "".join(f"<th>{_text(name)}</th>" for name in ["topic", *names, "words"])
    rows = "".join(
        f"<tr><td>{k}</td>"
        + "".join(f'<td style="text-align:right">{c:.3g}</td>' for c in coef[: len(names), k])
        + f'<td style="text-align:left">{_text(", ".join(words[k]))}</td></tr>'
        for k in order
    )
    return (
        '<table class="topicfocus" style="border-collapse:collapse;margin-top:.5em">'
        f'<caption style="text-align:left">{_text(_summary(model, len(coef), len(names)))}'
        f"</caption><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    )


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


def _summary(model: Any, n: int, n_shown: int) -> str:
    n_topics, n_words = model.components_.shape
    parts = [f"{n_topics} topics of {n_words} words"]
    if hasattr(model, "selected_words_"):
        parts.append(f"{int(np.sum(model.selected_words_))} kept")
    if n_shown < n:
        parts.append(f"{n_shown} of {n} coefficients shown")
    if not hasattr(model, "feature_names_in_"):
        parts.append("words are numbers of columns: X had no names")
    return ", ".join(parts)
