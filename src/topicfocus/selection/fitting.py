"""Fits of a search: settings on a fold, held-out scores and figures, or why they failed."""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np

from topicfocus.selection.documents import Data, Fold
from topicfocus.selection.figures import FIGURES, figures_of, kept_words
from topicfocus.selection.parallel import SharedStages, refusing_interrupts
from topicfocus.selection.plan import Group
from topicfocus.selection.scoring import held_out_score
from topicfocus.solvers.checkpoints import checkpointing
from topicfocus.solvers.focus.draft import drafting

#: Of a setting that failed.
_NOTHING: dict[str, Any] = {
    "score": math.nan,
    "seconds": math.nan,
    "score_seconds": math.nan,
    "n_topics": math.nan,
    "inclusion_prior": math.nan,
    "kept": [],
    "vocabulary": 0,
    **dict.fromkeys(FIGURES, math.nan),
}


def failed(name: str, error: BaseException) -> dict[str, Any]:
    """The record of a fit that ended in an error."""
    message = " ".join(str(error).split())
    return {**_NOTHING, "name": name, "error": f"{type(error).__name__}: {message}"}


def fit_group(group: Group, scorer: Any) -> list[dict[str, Any]]:
    """The records of a group of settings, one after the other."""
    if isinstance(group.fold, Exception):
        return [failed(name, group.fold) for name, _ in group.models]
    with drafting(group.drafts):
        return [
            fit_setting(name, model, group.fold, scorer, group.documents)
            for name, model in group.models
        ]


def fit_setting(name: str, model: Any, fold: Fold, scorer: Any, documents: str) -> dict[str, Any]:
    """Fit, score, measure. `documents` is the mark of the fold's documents, for what is shared.

    A setting that fails is a record with an error; other settings go on. A full disk or a cluster
    that is gone is not the setting's doing, and would be every other's.
    """
    try:
        train, test = fold.parts()
        began = time.perf_counter()
        fit_shared(model, train, documents)
        fitted = time.perf_counter()
        score = held_out_score(model, test, scorer)
        scored = time.perf_counter()
        kept = _kept_names(model, fold)
        figures = figures_of(model, train, test)
    except OSError:
        raise
    except Exception as error:
        return failed(name, error)
    return {
        "name": name,
        "error": None,
        "score": score,
        "seconds": fitted - began,
        "score_seconds": scored - fitted,
        "n_topics": float(getattr(model, "n_topics", math.nan)),
        "inclusion_prior": float(getattr(model, "inclusion_prior_", math.nan)),
        "kept": kept,
        "vocabulary": int(getattr(model, "n_features_in_", 0)),
        **figures,
    }


def fit_shared(model: Any, train: Data, documents: str) -> Any:
    """Fit, with what other fits of this process to the same documents have found already."""
    with refusing_interrupts(), checkpointing(SharedStages(documents, model)):
        if train.y is None:
            return model.fit(train.X, **train.beside)
        return model.fit(train.X, train.y, **train.beside)


def _kept_names(model: Any, fold: Fold) -> list[Any]:
    """Words kept, by name where folds count words of their own, else by column."""
    if not hasattr(model, "fitted_"):
        return []
    columns = np.flatnonzero(kept_words(model))
    return (columns if fold.words is None else fold.words[columns]).tolist()
