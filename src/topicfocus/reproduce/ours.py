"""The estimators of this package as models of a comparison."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from topicfocus.datasets import Dataset
from topicfocus.estimators.usefulness import UselessFitWarning
from topicfocus.reproduce.fits import N_TOPICS, Fit

Settings = Mapping[str, Any]
FitFunction = Callable[[Dataset, Settings, int], Fit]

#: The paper's algorithm takes as many steps everywhere as 500 epochs of Pang & Lee are.
GRADIENT_STEPS = 19_000
GRADIENT_BATCH = 100
#: Real reviews, where a higher bound and a better model part ways.
BOUND_DATA = ("pang_lee", "yelp")


def estimator(
    regressor: str,
    classifier: str,
    *,
    watches: bool,
    also: str | None = None,
    real: Settings | None = None,
    **fixed: Any,
) -> FitFunction:
    """An estimator of this package; joint ones choose their epoch on the validation part.

    `also` is the name under which the model of the last epoch is given, too; `real` are parameters
    of the regressor alone.
    """

    def fit(data: Dataset, settings: Settings, seed: int) -> Fit:
        import topicfocus

        binary = data.task == "binary"
        make = getattr(topicfocus, classifier if binary else regressor)
        options = {**fixed, **({} if binary else real or {}), **settings}
        if options.get("solver") == "gradient":
            options.setdefault("max_epochs", gradient_epochs(data.train.counts.shape[0]))
        model = make(N_TOPICS, random_state=seed, n_jobs=1, **options)
        held = {"X_val": data.valid.counts, "y_val": data.valid.target} if watches else {}
        began = time.perf_counter()
        with warnings.catch_warnings():
            # A comparison has figures for it.
            warnings.simplefilter("ignore", UselessFitWarning)
            model.fit(data.train.counts, data.train.target, **held)
        seconds = time.perf_counter() - began
        fitted = _read(model, data, seconds)
        if not watches:
            return fitted
        last = {} if also is None else {also: _read(model.at_last_epoch(), data, seconds)}
        n_iter = int(np.nanargmax(model.history_["validation"])) + 1
        return replace(fitted, n_iter=n_iter, also=last)

    return fit


def _read(model: Any, data: Dataset, seconds: float) -> Fit:
    figures = {"seconds": seconds}  # without the bound, which the fit of others does not compute
    # As long as a fit, so only where the page has a use for it.
    if data.name in BOUND_DATA and hasattr(model, "elbo") and hasattr(model, "inclusion_"):
        train = data.train
        figures["bound"] = model.elbo(train.counts, train.target)["bound"] / train.counts.sum()
    return Fit(
        model.decision_function if data.task == "binary" else model.predict,
        model.components_,
        model.coef_ + model.intercept_,
        getattr(model, "inclusion_", None),
        n_iter=model.n_iter_,
        figures=figures,
    )


def gradient_epochs(n_docs: int) -> int:
    """Epochs of the paper's algorithm, for the same number of steps on every data set."""
    batches = -(-n_docs // GRADIENT_BATCH)
    return max(1, round(GRADIENT_STEPS / batches))
