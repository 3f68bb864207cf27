"""What training is to an estimator, whatever the objective: fit, or learn from batches."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from topicfocus.corpus import Corpus
from topicfocus.estimators.documents import Documents
from topicfocus.estimators.effects import default_quantiles, found_shares
from topicfocus.estimators.fitted import Fitted
from topicfocus.estimators.targets import TargetModel
from topicfocus.focused import FixedInclusion, SharedStages
from topicfocus.joint.solver import Progress

#: Documents kept for `partial_fit`, at most; memory does not grow beyond them.
RESERVOIR_SIZE = 20_000


@dataclass(frozen=True, kw_only=True)
class FitOptions:
    """How one call of `fit` is run, beyond the parameters of the model.

    Attributes
    ----------
    low_fidelity, fixed_inclusion
        As for `FocusSettings`; for focused models.
    shared : SharedStages, optional
        Stages that other fits to the same documents have computed (see `screening_key`).
    progress : callable, optional
        Called when a stage begins and after every step; replaces the display of `verbose`.
    """

    low_fidelity: bool = False
    fixed_inclusion: FixedInclusion | None = None
    shared: SharedStages | None = None
    progress: Progress | None = None


def fit_with(model: Any, options: FitOptions, X: Any, y: Any = None, **arrays: Any) -> Any:
    """Call ``model.fit`` with options that are not parameters of the model.

    Models other than those of this package are fitted without them.
    """
    targets = () if y is None else (y,)
    if not hasattr(type(model), "_fit_options"):
        return model.fit(X, *targets, **arrays)
    model._fit_options = options
    try:
        return model.fit(X, *targets, **arrays)
    finally:
        del model._fit_options


@dataclass(frozen=True)
class Training:
    """What a call to a trainer ended with.

    Attributes
    ----------
    fitted : Fitted
        In the units that fitting uses: covariates and real targets are scaled (`in_data_units`
        brings them back).
    last : Fitted or None
        The model of the last epoch, where another one was chosen on held-out documents.
    """

    fitted: Fitted
    last: Fitted | None = None


class Trainer(Protocol):
    """How a model is trained: the parameters of an estimator, checked, as an object of its own."""

    def fit(
        self,
        documents: Documents,
        targets: TargetModel | None,
        held_out: Documents | None = None,
        options: FitOptions = FitOptions(),
    ) -> Training:
        """Fit to documents, with choices made on others where they are given."""
        ...

    def begin(self, documents: Documents, targets: TargetModel | None) -> Any:
        """A stream before its first batch, which `documents` show the like of."""
        ...

    def inherit(self, fitted: Fitted, documents: Documents) -> Any:
        """A stream that goes on from a fitted model whose documents are gone."""
        ...

    def advance(
        self, stream: Any, documents: Documents, before: Fitted | None, targets: TargetModel | None
    ) -> tuple[Any, Training]:
        """One batch: the stream after it, and the model it has come to."""
        ...


def generator(random_state: Any) -> np.random.Generator:
    """A NumPy generator from whatever scikit-learn takes as random_state."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31 - 1))
    return np.random.default_rng(random_state)


def in_fitting_units(fitted: Fitted) -> Any:
    """The state of a fitted model with covariates and targets scaled, as fitting has it."""
    if fitted.targets is None:
        return fitted.state
    return fitted.targets.apply(fitted.state, into_coef=fitted.is_joint)


def in_data_units(fitted: Fitted) -> Fitted:
    """What training found, in the units of the data."""
    if fitted.targets is None:
        return fitted
    return replace(fitted, state=fitted.targets.restore(fitted.state, into_coef=fitted.is_joint))


def one_more(before: Fitted | None, entry: dict[str, Any]) -> tuple[int, dict[str, list]]:
    """n_iter and history after a batch: one line more than before it."""
    n_iter, history = (0, {}) if before is None else (before.n_iter, before.history)
    entry = {"epoch": n_iter + 1, **entry}
    return n_iter + 1, {key: [*history.get(key, []), value] for key, value in entry.items()}


def counted(documents: Documents, before: Fitted | None = None) -> dict[str, Any]:
    """n_samples_seen and word_count, after these documents."""
    problem = documents.problem(1.0, None)
    size, words = problem.size, problem.word_counts
    if before is not None:
        size, words = size + before.n_samples_seen, words + before.word_count
    return {"n_samples_seen": size, "word_count": words}


def with_context(
    fitted: Fitted,
    corpus: Corpus,
    weight: np.ndarray,
    n_jobs: int | None,
    before: Fitted | None = None,
    tolerance: float = 1e-5,
) -> Fitted:
    """With what these documents show of the topics: words beside them, typical shares.

    Words are added to what was counted `before`, for topics that go on from those.
    """
    if not fitted.selects and fitted.targets is None:
        return fitted
    # Newton's last step squares it: ten digits will do for counts of words, and shares.
    mixes = fitted.mixes(corpus, n_jobs, tolerance=tolerance)
    context = fitted.context_of(corpus, weight, mixes)
    if context is not None and before is not None and before.context is not None:
        context = context + before.context
    shares = None
    if fitted.targets is not None and weight.sum() > 0:
        shares = found_shares(mixes, weight, default_quantiles(fitted))
    return replace(fitted, context=context, typical_shares=shares)
