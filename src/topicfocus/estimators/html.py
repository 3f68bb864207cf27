"""What a notebook shows: the table of topics of a fitted model, and the words of an explanation.

Words and labels come from texts of unknown origin, so everything is escaped. Colours are legible on
light and dark backgrounds, and amounts stand beside the words for readers who do not see them.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from topicfocus.estimators.effects import default_quantiles, training_effects

if TYPE_CHECKING:
    from topicfocus.estimators.explain import Explanation

#: Largest numbers of top words, dropped words and columns of effects.
N_WORDS, N_CONTEXT, MOST_COLUMNS = 8, 4, 8
#: Documents and words of each that are shown.
N_DOCUMENTS, N_DOCUMENT_WORDS = 5, 40
#: Red, green and blue of a word that raises the prediction, and of one that lowers it.
_UP, _DOWN = "46, 160, 67", "218, 54, 51"
#: Opacity of the strongest word.
_OPACITY = 0.55


# ---- the table of topics ---------------------------------------------------------------------


def topics_html(model: Any) -> str:
    """A table of topics with their effects and top words, below scikit-learn's diagram.

    Predicted differences in the training documents come first, coefficients last. It is empty
    before `fit`.
    """
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
    caption = f"<caption>{escape(_caption(model, coef, found is not None))}</caption>"
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


# ---- explanations ----------------------------------------------------------------------------


def explanation_html(explanation: Explanation) -> str:
    """HTML of the first documents of an explanation."""
    n = len(explanation)
    parts = [_document(explanation, d, n > 1) for d in range(min(n, N_DOCUMENTS))]
    if n > N_DOCUMENTS:
        parts.append(f"<p>{n - N_DOCUMENTS:,} more documents: explanation[{N_DOCUMENTS}:]</p>")
    return "<div class='topicfocus-explanation'>" + "".join(parts) + "</div>"


def _document(explanation: Explanation, d: int, numbered: bool) -> str:
    found = explanation[d]
    title = f"<p><em>Document {d}</em></p>" if numbered else ""
    return title + "".join(_predictor(found, int(l)) for l in found.chosen[0])


def _predictor(found: Explanation, l: int) -> str:
    """One target of one document."""
    total = found.predictor[0, l] + found.limit[0, l]
    before, after = found.before[0, l], found.after[0, l]
    head = f"<strong>{escape(found.predictor_names[l])}: {after:.4g}</strong>"
    head += f" ({before:.4g} without words)"
    words = [(word, amount) for word, amount in found.top_words(0, l) if amount != 0]
    largest = max((abs(amount) for _, amount in words), default=1.0)
    shown = " ".join(_word(word, amount, largest) for word, amount in words[:N_DOCUMENT_WORDS])
    rows = [("without words", found.base[0, l])]
    if found.covariates[l].shape[1]:
        rows.append(("covariates", found.covariates[l][0].sum()))
    topics = found.topics[l][[0]].toarray()[0]
    about = found.topic_words or ("",) * len(topics)
    for k in np.argsort(-np.abs(topics), kind="stable"):
        rows.append((f"{found.topic_names[k]}: {about[k]}".rstrip(": "), topics[k]))
    if found.remainder:
        rows.append(("remainder of the text", found.remainder_amounts(l)[0]))
    if found.limit[0, l]:
        rows.append(("end of the scale", found.limit[0, l]))
    scale = "total" if np.isclose(total, after) else "total, on the scale of the linear predictor"
    rows.append((scale, total))
    cells = "".join(
        f"<tr><td style='text-align:left'>{escape(str(name))}</td>"
        f"<td style='text-align:right'>{amount:+.3g}</td></tr>"
        for name, amount in rows
    )
    rest = len(words) - N_DOCUMENT_WORDS
    more = f" and {rest} more words" if rest > 0 else ""
    return f"<p>{head}</p><p>{shown or 'no word is in the topics'}{more}</p><table>{cells}</table>"


def _word(word: str, amount: float, largest: float) -> str:
    """A word on a green or red ground, the stronger the more it contributes."""
    colour = _UP if amount > 0 else _DOWN
    opacity = _OPACITY * abs(amount) / largest
    return (
        f"<span style='background: rgba({colour}, {opacity:.2f}); border-radius: 3px; "
        f"padding: 0 3px' title='{amount:+.3g}'>{escape(word)} <small>{amount:+.2g}</small></span>"
    )
