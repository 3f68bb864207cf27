"""A fit that is of no use says so: no word kept, or worse than a constant where it was judged."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from topicfocus.estimators.documents import Documents
from topicfocus.estimators.fitted import Fitted


class UselessFitWarning(UserWarning):
    """The model is, or is bound to be, of little use."""


#: With fewer documents, or fewer epochs of a joint model, a fit is a trial: nobody expects much of
#: it, and a dozen documents held out say nothing.
_FEW_DOCUMENTS, _FEW_EPOCHS = 200, 30


def _is_trial(fitted: Fitted) -> bool:
    if fitted.n_samples_seen is not None and fitted.n_samples_seen < _FEW_DOCUMENTS:
        return True
    return fitted.is_joint and fitted.n_iter < _FEW_EPOCHS


def no_words_kept(model: Any) -> list[str]:
    """That no word is relevant, where it is so."""
    kept = model.fitted_.selected_words
    if kept is None or kept.any():
        return []
    return [
        "no word is kept: the topics say next to nothing about the target. Ask for a larger share "
        "of relevant tokens, or check that documents and targets belong together."
    ]


def warn_of_empty(documents: Documents, name: str) -> None:
    """Warn where most documents have no words: counts of something else, or the wrong words."""
    n_docs = documents.corpus.n_docs
    n_empty = int(np.sum(np.diff(documents.corpus.counts.indptr) == 0))
    if n_docs >= _FEW_DOCUMENTS and 2 * n_empty > n_docs:
        warnings.warn(
            f"{name}: {n_empty:,} of {n_docs:,} documents have no words. They are fitted as what "
            "is usual; check the vocabulary.",
            UselessFitWarning,
            stacklevel=4,
        )


def held_out_share(fitted: Fitted) -> float:
    """The best share of the held-out deviance explained; NaN where none was held out."""
    shares = fitted.explained
    if shares is None:
        shares = tuple(fitted.history.get("validation", ()))
    known = [share for share in shares if np.isfinite(share)]
    return max(known) if known else float("nan")


def warn_if_useless(model: Any) -> None:
    """Warn of a fit that must not be used."""
    if _is_trial(model.fitted_):
        return
    messages = no_words_kept(model)
    share = held_out_share(model.fitted_)
    if share < 0:
        messages.append(
            f"on the documents held out the model is worse than a constant (explained share "
            f"{share:.3g}): do not use its predictions. Check that documents and targets belong "
            "together, or try another model."
        )
    for message in messages:
        warnings.warn(f"{type(model).__name__}: {message}", UselessFitWarning, stacklevel=4)
