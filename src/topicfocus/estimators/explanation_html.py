"""The picture of an explanation in a notebook: coloured words, topics, and the total.

Words come from texts of unknown origin, so everything is escaped. Colours are legible on light and
dark backgrounds, and amounts stand beside the words for readers who do not see them.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from topicfocus.estimators.explain import Explanation

#: Documents and words of each that are shown.
N_DOCUMENTS, N_WORDS = 5, 40
#: Red, green and blue of a word that raises the prediction, and of one that lowers it.
_UP, _DOWN = "46, 160, 67", "218, 54, 51"
#: Opacity of the strongest word.
_OPACITY = 0.55


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
    shown = " ".join(_word(word, amount, largest) for word, amount in words[:N_WORDS])
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
    rest = len(words) - N_WORDS
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
