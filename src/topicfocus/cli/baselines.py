"""What regressions predict on the same split: the figures to compare with.

Words are weighed by tf-idf with logarithms of counts, which is what makes such regressions strong;
covariates, where there are some, stand beside them in standard deviations. The penalty is chosen by
cross-validation on the training part. Counts with an exposure are regressed as rates, weighted by
the exposure, which is the same likelihood.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from topicfocus.cli.columns import Columns

FOLDS = 3


@dataclass(frozen=True)
class Predicted:
    """Predictions of a model: a mean or a label each, and probabilities of classes or levels."""

    name: str
    values: np.ndarray
    probabilities: np.ndarray | None = None
    std: np.ndarray | None = None


def regression(
    kind: str,
    train: Any,
    columns: Columns,
    y: np.ndarray,
    test: Any,
    test_columns: Columns,
    seed: int,
) -> Predicted:
    """Ridge, Poisson or logistic regression; y has no missing values.

    On words and covariates, or with None for the words on covariates alone.
    """
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import Pipeline

    exposure, weight = columns.exposure, columns.weight
    if exposure is not None:
        y = y / exposure
        weight = exposure if weight is None else weight * exposure
    name, last, grid, scoring, folds = _regression(kind, y, seed)
    n_words = 0 if train is None else train.shape[1]
    model: Any = Pipeline([("inputs", _inputs(n_words)), ("last", last)])
    if grid:
        grid = {f"last__{key}": values for key, values in grid.items()}
        model = GridSearchCV(model, grid, scoring=scoring, cv=folds)
    with warnings.catch_warnings():
        # An optimiser that stops a little early makes no difference to a penalty that is chosen.
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(_side_by_side(train, columns, columns), y, last__sample_weight=weight)
    inputs = _side_by_side(test, test_columns, columns)
    probabilities = model.predict_proba(inputs) if hasattr(model, "predict_proba") else None
    values = model.predict(inputs)
    if test_columns.exposure is not None:
        values = values * test_columns.exposure
    on = "on all words" if n_words else "on covariates alone"
    if n_words and columns.covariates is not None:
        on = "on all words and covariates"
    return Predicted(f"{name} {on}", values, probabilities)


def _regression(kind: str, y: np.ndarray, seed: int) -> tuple[str, Any, dict[str, Any], str, Any]:
    """Name, regression, penalties to choose from, by what, on which folds."""
    from sklearn.linear_model import LogisticRegression, PoissonRegressor, Ridge
    from sklearn.model_selection import KFold, StratifiedKFold

    if kind in ("binary", "classes"):
        # On reviews saga finds what lbfgs does in a tenth of the time; liblinear, which is faster
        # still, knows two classes only.
        if len(np.unique(y)) == 2:
            last: Any = LogisticRegression(solver="liblinear", random_state=seed)
        else:
            last = LogisticRegression(solver="saga", tol=1e-3, max_iter=100, random_state=seed)
        grid: dict[str, Any] = {"C": [0.3, 1.0, 3.0, 10.0, 30.0]}
        rarest = int(np.unique(y, return_counts=True)[1].min())
        if rarest < 2:
            return "logistic regression", last, {}, "", None
        split = StratifiedKFold(min(FOLDS, rarest), shuffle=True, random_state=seed)
        return "logistic regression", last, grid, "neg_log_loss", split
    folds = KFold(min(FOLDS, len(y)), shuffle=True, random_state=seed)
    if kind == "count":
        grid = {"alpha": list(np.logspace(-5, -1, 5))}
        last = PoissonRegressor(max_iter=200)
        return "Poisson regression", last, grid, "neg_mean_poisson_deviance", folds
    grid = {"alpha": list(np.logspace(-1, 2, 7))}
    return "ridge", Ridge(solver="sparse_cg", tol=1e-4), grid, "neg_mean_squared_error", folds


def _inputs(n_words: int) -> Any:
    """Words by tf-idf, covariates as they are."""
    from sklearn.compose import ColumnTransformer
    from sklearn.feature_extraction.text import TfidfTransformer

    if not n_words:
        return "passthrough"
    words = TfidfTransformer(sublinear_tf=True)
    return ColumnTransformer(
        [("words", words, slice(0, n_words))], remainder="passthrough", sparse_threshold=1.0
    )


def _side_by_side(words: Any, columns: Columns, train: Columns) -> Any:
    """Words, then covariates in standard deviations from the mean of the training part."""
    if columns.covariates is None:
        return words
    size = np.std(train.covariates, axis=0)
    scaled = (columns.covariates - np.mean(train.covariates, axis=0)) / np.where(size > 0, size, 1)
    if words is None:
        return scaled
    return sparse.csr_array(sparse.hstack([words, sparse.csr_array(scaled)]))


def constant(
    kind: str, y: np.ndarray, columns: Columns, test_columns: Columns, n: int
) -> Predicted:
    """The best prediction that looks at nothing but the exposure."""
    weight = np.ones(len(y)) if columns.weight is None else columns.weight
    if kind not in ("binary", "classes"):
        exposure = np.ones(len(y)) if columns.exposure is None else columns.exposure
        rate = float(weight @ y) / float(weight @ exposure)
        values = np.full(n, rate)
        if test_columns.exposure is not None:
            values = values * test_columns.exposure
        return Predicted("mean of the training part", values)
    labels, codes = np.unique(y, return_inverse=True)
    counts = np.bincount(codes, weights=weight)
    share = counts / counts.sum()
    values = np.full(n, labels[np.argmax(share)])
    return Predicted("shares of the training part", values, np.tile(share, (n, 1)))
