"""Effects that real documents reach (`estimators.effects`), as the page has them."""

from __future__ import annotations

from typing import Any

import numpy as np

from topicfocus.estimators.effects import topic_effects, word_effects
from topicfocus.report.inputs import Inputs
from topicfocus.report.packing import pack

#: Numbers of words x predictors beyond which word effects are stored in steps, not as floats.
_MANY = 4_000
#: Significant digits of the effects of topics.
_DIGITS = 8


def reachable_effects(
    inputs: Inputs, mixes: np.ndarray, exposure: Any = None, covariates: Any = None
) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
    """Effects of topics, and of the words that topics contain, packed; None without documents.

    `mixes` are the documents' θ̂.
    """
    if not inputs.n_docs:
        return None, None
    fitted, n_jobs = inputs.fitted, inputs.model.n_jobs
    documents = fitted.documents(inputs.counts, None, exposure, covariates)
    topics = topic_effects(fitted, documents, mixes=mixes, n_jobs=n_jobs)
    named = (
        "proportion_low",
        "proportion_high",
        "low",
        "high",
        "change",
        "lower",
        "upper",
        "typical",
    )
    out = {name: _short(getattr(topics, name)) for name in named}
    found = word_effects(fitted, documents, mixes=mixes, n_jobs=n_jobs)
    words = found.change
    kind, step = "f4", None
    if words.size > _MANY:
        kind, step = "i2", max(float(np.abs(words).max()), 1e-12) / 32767
    more: dict[str, Any] = {"limits": topics.limits, "observed": topics.observed}
    more |= {"sample": found.sample, "quantiles": topics.quantiles}
    return out | more, pack(words, kind, step)


def _short(values: np.ndarray) -> Any:
    """Nested lists of floats of so many digits."""
    shown = np.array([float(f"{v:.{_DIGITS}g}") for v in np.ravel(values)])
    return shown.reshape(np.shape(values)).tolist()
