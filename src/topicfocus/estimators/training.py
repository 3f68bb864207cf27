"""What the trainers of joint and focused models share: options, history, warnings."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import entr

from topicfocus.estimators.documents import Documents
from topicfocus.estimators.effects import default_quantiles, found_shares, training_effects
from topicfocus.estimators.fitted import Fitted
from topicfocus.focused import SharedStages
from topicfocus.joint.solver import Progress, StepInfo
from topicfocus.model import ModelState
from topicfocus.progress import show_progress
from topicfocus.token_proportions import context_counts

#: Largest number of documents that `partial_fit` keeps in memory.
RESERVOIR_SIZE = 20_000


@dataclass(frozen=True, kw_only=True)
class FitOptions:
    """Options of one call of `fit` that are not parameters of the model.

    Attributes
    ----------
    low_fidelity, fixed_inclusion
        As for `FocusSettings`; for focused models.
    shared : SharedStages, optional
        Stages that other fits to the same documents have computed (see `screening_key`).
    progress : callable, optional
        Called when a stage begins and after every step; replaces the display of `verbose`.
    remainder : bool
        Whether a model that has a remainder is fitted with it. A fit of low fidelity has none.
    """

    low_fidelity: bool = False
    fixed_inclusion: float | None = None
    shared: SharedStages | None = None
    progress: Progress | None = None
    remainder: bool = True


def fit_with(model: Any, options: FitOptions, X: Any, y: Any = None, **arrays: Any) -> Any:
    """Fit a topic model with options that are not its parameters."""
    return model._fit(X, y, options, **arrays)


def no_progress(
    stage: str, done: int = 0, total: int | None = None, info: StepInfo | None = None
) -> None:
    """Show nothing."""


@contextmanager
def show_fit(model: Any, options: FitOptions) -> Iterator[Progress]:
    """The callback of the options, or the display of `verbose`."""
    verbose = model.verbose and options.progress is None
    with show_progress(type(model).__name__, verbose) as shown:
        yield options.progress or shown or no_progress


def generator(random_state: Any) -> np.random.Generator:
    """A NumPy generator from whatever scikit-learn takes as random_state."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31 - 1))
    return np.random.default_rng(random_state)


def scaled_state(fitted: Fitted) -> ModelState:
    """The state of a fitted model for scaled covariates and targets, to continue fitting."""
    if fitted.targets is None:
        return fitted.state
    return fitted.targets.apply(fitted.state, into_coef=fitted.is_joint)


def in_data_units(fitted: Fitted) -> Fitted:
    """The result of a trainer, which is for scaled data, in the units of the data."""
    if fitted.targets is None:
        return fitted
    rest = fitted.remainder
    if rest is not None:
        rest = rest.times(fitted.targets.scaling.per_predictor(fitted.state)[1])
    state = fitted.targets.restore(fitted.state, into_coef=fitted.is_joint)
    return replace(fitted, state=state, remainder=rest)


def history_of(steps: Sequence[StepInfo], *more: str) -> dict[str, Any]:
    """`n_iter` and `history` of a fit; `more` are other fields of the steps."""
    fields = {"epoch": "epoch", "objective": "objective", "kept_words": "kept"}
    fields |= {name: name for name in more}
    history = {name: [getattr(step, field) for step in steps] for name, field in fields.items()}
    return {"n_iter": len(steps), "history": history}


def append_history(before: Fitted | None, **entry: Any) -> dict[str, Any]:
    """`n_iter` and `history` after a batch."""
    n_iter, history = (0, {}) if before is None else (before.n_iter, before.history)
    entry = {"epoch": n_iter + 1, **entry}
    more = {key: [*history.get(key, []), value] for key, value in entry.items()}
    return {"n_iter": n_iter + 1, "history": more}


def count_documents(documents: Documents, before: Fitted | None = None) -> dict[str, Any]:
    """`n_samples_seen` and `word_count` after these documents."""
    problem = documents.problem(1.0, None)
    size, words = problem.size, problem.word_counts
    if before is not None:
        size, words = size + before.n_samples_seen, words + before.word_count
    return {"n_samples_seen": size, "word_count": words}


def with_context(
    fitted: Fitted,
    documents: Documents,
    n_jobs: int | None,
    before: Fitted | None = None,
    tolerance: float = 1e-5,
) -> Fitted:
    """Add co-occurrences of words and topics, and typical topic proportions, of these documents.

    Co-occurrences are added to those of `before`, if topics continue from there.
    """
    if not fitted.selects and fitted.targets is None:
        return fitted
    corpus, weight = documents.corpus, documents.weights
    # Newton's last step squares the tolerance: ten digits suffice here.
    mixes = fitted.mixes(corpus, n_jobs, tolerance=tolerance)
    context = None
    if fitted.selects:
        tokens = fitted.tokens(corpus, mixes)
        context = context_counts(corpus, fitted.state, mixes, tokens, weight, fitted.sees_roots)
        context = context.astype(np.float32)
        if before is not None and before.context is not None:
            context = context + before.context
    shares = None
    if fitted.targets is not None and weight.sum() > 0:
        shares = found_shares(mixes, weight, default_quantiles(fitted))
    return replace(fitted, context=context, typical_shares=shares)


# ---- warnings ------------------------------------------------------------------------------------


class UselessFitWarning(UserWarning):
    """The model is likely of little use."""


#: No warning of empty documents for fewer documents, nor of no words kept for joint models of fewer
#: epochs.
_FEW_DOCUMENTS, _FEW_EPOCHS = 200, 30
#: A topic has no effect below this fraction of the largest one, and one word if the exponential of
#: the entropy of its words is below that number.
_SMALL_EFFECT, _SINGLE_WORD = 0.001, 1.5


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


def useless_fit_messages(model: Any) -> list[str]:
    """Why the model may be of little use: no words, no better than a constant, empty topics."""
    fitted = model.fitted_
    few_epochs = fitted.is_joint and fitted.n_iter < _FEW_EPOCHS
    messages, kept = [], fitted.selected_words
    if not few_epochs and kept is not None and not kept.any():
        messages.append(
            "no word is kept: the topics predict almost nothing. Increase inclusion_prior, or "
            "check that documents and targets belong together."
        )
    explained, error = validation_explained(fitted), fitted.explained_error or 0.0
    if explained < max(error, 1e-9):  # without an effect there is rounding
        spread = f" ± {error:.2g}" if error else ""
        reason = "The words may be unrelated to the target, or the documents too few."
        if fitted.state.n_topics == 1:
            reason = "All documents have the same proportion of a single topic: fit two or more."
        messages.append(
            "on the validation documents the model predicts no better than a constant by one "
            f"standard error (fraction explained {explained:.2g}{spread}): do not interpret its "
            f"topics. {reason}"
        )
    empty = [] if messages else empty_topics(fitted)
    if empty:
        listed = ", ".join(map(str, empty))
        messages.append(
            f"topics without an effect, or of one word: {listed} (counted from 0). Fit fewer "
            f"topics than {fitted.state.n_topics}."
        )
    return messages


def empty_topics(fitted: Fitted) -> list[int]:
    """Topics of a focused model with hardly any predicted difference, or of a single word.

    Topics with a name are what the user wants them to be, and there are no fewer than two topics.
    """
    effects = training_effects(fitted) if fitted.selects and not fitted.is_joint else None
    if effects is None or fitted.state.n_topics <= 2:
        return []
    size = np.abs(effects[:, 1] - effects[:, 0]).max(axis=1)
    small = size < _SMALL_EFFECT * size.max()
    single = np.exp(entr(fitted.components).sum(axis=1)) < _SINGLE_WORD
    unnamed = np.array([name is None for name in fitted.names])
    return np.flatnonzero((small | single) & unnamed).tolist()


def warn_if_useless(model: Any) -> None:
    """Warn if no word is kept, predictions are hardly better than a constant, or topics empty."""
    for message in useless_fit_messages(model):
        warnings.warn(f"{type(model).__name__}: {message}", UselessFitWarning, stacklevel=4)
