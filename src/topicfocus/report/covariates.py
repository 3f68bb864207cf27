"""Columns beside the text: what they are called, and what they change in a typical document."""

from __future__ import annotations

from typing import Any

import numpy as np

from topicfocus.estimators.effects import QUANTILES
from topicfocus.estimators.fitted import Fitted
from topicfocus.report.labels import Labels, listed


def describe_covariates(
    fitted: Fitted, values: np.ndarray | None, predictor: np.ndarray, labels: Labels
) -> dict[str, Any] | None:
    """Everything the page has about covariates, None for a model without.

    Parameters
    ----------
    fitted : Fitted
    values : array (documents, covariates) or None
    predictor : array (documents, predictors)
        f of the documents; their average is the typical document, as for topics.
    labels : Labels

    Returns
    -------
    dict or None
        "names", "coef", "average" of the training part, from which classes are explained,
        "typical" of these documents, and "effects", None without documents: the "values" at the
        10th and the 90th percentile, and what is predicted "low" and "high" there.
    """
    state = fitted.state
    if state.covariate_coef is None:
        return None
    n, targets = state.covariate_coef.shape[0], fitted.target_model
    names = listed("covariate_names", labels.covariates, targets.n_covariates)
    names = names or [f"covariate {j}" for j in range(targets.n_covariates)]
    if values is not None and not len(values):
        values = None
    return {
        "names": targets.column_names(names),
        "coef": state.covariate_coef,
        "average": targets.covariate_scaling.centre,
        "typical": np.zeros(n) if values is None else values.mean(axis=0),
        "effects": None if values is None else _effects(fitted, values, predictor),
    }


def _effects(fitted: Fitted, values: np.ndarray, predictor: np.ndarray) -> dict[str, Any]:
    """The typical document with little and with much of each covariate, all else as it is."""
    state = fitted.state
    assert state.covariate_coef is not None
    ends = np.quantile(values, QUANTILES, axis=0, method="hazen").T
    # Few documents lack a value, say: 0 and 1 then, which the percentiles do not tell apart.
    same = ends[:, 0] == ends[:, 1]
    ends[same] = np.column_stack([values.min(axis=0), values.max(axis=0)])[same]
    moved = ends - values.mean(axis=0)[:, None]
    f = predictor.mean(axis=0) + moved[:, :, None] * state.covariate_coef[:, None, :]
    response = fitted.target_model.responses(state.family, f.reshape(-1, state.n_predictors))
    for part in fitted.parts:
        limits = part.coding.bounds(part.family)
        response[:, part.where] = np.clip(response[:, part.where], *limits)
    response = response.reshape(len(ends), 2, -1)
    return {"values": ends, "low": response[:, 0], "high": response[:, 1]}
