"""Regressions on words: what a topic model is measured against, everywhere.

`regression` is what a user's model is compared with. Words are weighed by tf-idf with logarithms of
counts, which is what makes such regressions strong; covariates, where there are some, stand beside
them in standard deviations. The penalty is chosen by cross-validation on the training part. Counts
with an exposure are regressed as rates, weighted by the exposure, which is the same likelihood.
`linear` is the regression of one given penalty of the paper's comparison.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

FOLDS = 3


@dataclass(frozen=True)
class Predicted:
    """Predictions of a model: a mean or a label each, and probabilities of classes or levels."""

    name: str
    values: np.ndarray
    probabilities: np.ndarray | None = None
    std: np.ndarray | None = None

    def of(self, documents: np.ndarray) -> Predicted:
        """Those of some documents."""
        more = (
            None if part is None else part[documents] for part in (self.probabilities, self.std)
        )
        return Predicted(self.name, self.values[documents], *more)


@dataclass(frozen=True, kw_only=True)
class Inputs:
    """What a regression sees of documents: counts of words, covariates, weights and exposures."""

    words: Any = None
    covariates: np.ndarray | None = None
    weight: np.ndarray | None = None
    exposure: np.ndarray | None = None


def regression(kind: str, train: Inputs, y: np.ndarray, test: Inputs, seed: int = 0) -> Predicted:
    """Ridge, Poisson or logistic regression, with a penalty chosen on the training part.

    Parameters
    ----------
    kind : {"real", "count", "ordinal", "binary", "classes"}
        Of target; levels of an ordinal one are numbers here.
    train, test : Inputs
        Without words it is a regression on the covariates alone.
    y : array
        The target of the training part, without missing values.
    seed : int, default=0

    Returns
    -------
    Predicted
    """
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import Pipeline

    exposure, weight = train.exposure, train.weight
    if exposure is not None:
        y = y / exposure
        weight = exposure if weight is None else weight * exposure
    name, last, grid, scoring, folds = _regression(kind, y, seed)
    n_words = 0 if train.words is None else train.words.shape[1]
    model: Any = Pipeline([("inputs", _inputs(n_words)), ("last", last)])
    if grid:
        grid = {f"last__{key}": values for key, values in grid.items()}
        model = GridSearchCV(model, grid, scoring=scoring, cv=folds)
    with stopping_early():
        model.fit(_side_by_side(train, train), y, last__sample_weight=weight)
    inputs = _side_by_side(test, train)
    probabilities = model.predict_proba(inputs) if hasattr(model, "predict_proba") else None
    values = model.predict(inputs)
    if test.exposure is not None:
        values = values * test.exposure
    on = "on all words" if n_words else "on covariates alone"
    if n_words and train.covariates is not None:
        on = "on all words and covariates"
    return Predicted(f"{name} {on}", values, probabilities)


@contextmanager
def stopping_early() -> Iterator[None]:
    """An optimiser that stops a little early makes no difference to a penalty that is chosen."""
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield


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


def _side_by_side(inputs: Inputs, train: Inputs) -> Any:
    """Words, then covariates in standard deviations from the mean of the training part."""
    if inputs.covariates is None or train.covariates is None:
        return inputs.words
    size = np.std(train.covariates, axis=0)
    centre = np.mean(train.covariates, axis=0)
    scaled = (inputs.covariates - centre) / np.where(size > 0, size, 1)
    if inputs.words is None:
        return scaled
    return sparse.csr_array(sparse.hstack([inputs.words, sparse.csr_array(scaled)]))


def constant(kind: str, train: Inputs, y: np.ndarray, test: Inputs, n: int) -> Predicted:
    """The best prediction for n documents that looks at nothing but the exposure."""
    weight = np.ones(len(y)) if train.weight is None else train.weight
    if kind not in ("binary", "classes"):
        exposure = np.ones(len(y)) if train.exposure is None else train.exposure
        rate = float(weight @ y) / float(weight @ exposure)
        values = np.full(n, rate)
        if test.exposure is not None:
            values = values * test.exposure
        return Predicted("mean of the training part", values)
    labels, codes = np.unique(y, return_inverse=True)
    counts = np.bincount(codes, weights=weight)
    share = counts / counts.sum()
    values = np.full(n, labels[np.argmax(share)])
    return Predicted("shares of the training part", values, np.tile(share, (n, 1)))


def linear(design: Any, target: np.ndarray, binary: bool, penalty: float) -> Any:
    """Ridge, or logistic regression with the same penalty: argmin loss + penalty/2 |coef|²."""
    from sklearn.linear_model import LogisticRegression, Ridge

    with stopping_early():
        if binary:
            return LogisticRegression(C=1 / penalty, max_iter=300, tol=1e-3).fit(design, target)
        solver = "sparse_cg" if sparse.issparse(design) else "auto"
        return Ridge(penalty, solver=solver, tol=1e-5).fit(design, target)


def ridge(design: Any, target: np.ndarray) -> Any:
    """Ridge on counts as they are, its penalty chosen by leaving one document out."""
    from sklearn.linear_model import RidgeCV

    return RidgeCV(np.logspace(-1, 4, 11)).fit(design, target)
