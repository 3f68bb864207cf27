"""Warn when a fitted model keeps no words or predicts worse than a constant."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from topicfocus.estimators.documents import Documents
from topicfocus.estimators.fitted import Fitted


class UselessFitWarning(UserWarning):
    """The model is likely of little use."""


#: No warnings for fits of fewer documents, or of fewer epochs in a joint model.
_FEW_DOCUMENTS, _FEW_EPOCHS = 200, 30


def no_words_kept(model: Any) -> list[str]:
    """A message if the model selects words and keeps none."""
    kept = model.fitted_.selected_words
    if kept is None or kept.any():
        return []
    return [
        "no word is kept: the topics predict almost nothing. Increase inclusion_prior, or check "
        "that documents and targets belong together."
    ]


def warn_of_empty(documents: Documents, name: str) -> None:
    """Warn if most documents have no words."""
    n_docs = documents.corpus.n_docs
    n_empty = int(np.sum(np.diff(documents.corpus.counts.indptr) == 0))
    if n_docs >= _FEW_DOCUMENTS and 2 * n_empty > n_docs:
        warnings.warn(
            f"{name}: {n_empty:,} of {n_docs:,} documents have no words, and get the average "
            "prediction; check the vocabulary.",
            UselessFitWarning,
            stacklevel=4,
        )


def validation_explained(fitted: Fitted) -> float:
    """Largest fraction of the validation deviance explained; NaN without validation."""
    shares = fitted.explained
    if shares is None:
        shares = tuple(fitted.history.get("validation", ()))
    known = [share for share in shares if np.isfinite(share)]
    return max(known) if known else float("nan")


def warn_if_useless(model: Any) -> None:
    """Warn if no word is kept, or predictions are worse than a constant."""
    fitted = model.fitted_
    few_epochs = fitted.is_joint and fitted.n_iter < _FEW_EPOCHS
    if few_epochs or fitted.n_samples_seen < _FEW_DOCUMENTS:
        return
    messages = no_words_kept(model)
    share = validation_explained(fitted)
    if share < 0:
        messages.append(
            f"on the validation documents the model is worse than a constant (fraction explained "
            f"{share:.3g}): do not use its predictions. Check that documents and targets belong "
            "together, or try another model."
        )
    for message in messages:
        warnings.warn(f"{type(model).__name__}: {message}", UselessFitWarning, stacklevel=4)
