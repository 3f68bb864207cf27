"""Regressions on words, the baselines of every evaluation.

One strong regression serves everywhere: ridge, logistic or Poisson regression on TF-IDF of all
words and pairs of words (of the given columns, where there are no texts), with logarithms of
counts. Covariates are standardised; missing ones are replaced by the training median, with an
indicator column. The penalty is chosen on validation documents, a fifth of the training documents,
or of a sample of these where it would take longer than the fit of a topic model (see `note`).
Counts with an exposure are modelled as rates weighted by the exposure, which has the same
likelihood.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from topicfocus.estimators.scaling import CovariateScaling

#: Validation documents are one of this number of parts.
PARTS = 5
#: Largest number of documents for choosing a penalty: more do not choose better, and the comparison
#: should be cheaper than the fit.
CHOOSING_DOCUMENTS = 10_000
#: Largest number of nonzero features of these documents times the number of classes.
CHOOSING_SIZE = 20_000_000
#: Smallest number of documents of each class for choosing a penalty.
_LEAST_OF_CLASS = 3


@dataclass(frozen=True)
class Predicted:
    """Predictions of a model: means or labels, and probabilities of classes or levels.

    `linear` has f and its variance, documents x 2, for prediction intervals of numbers. `note`
    states how a regression was tuned if not on all training documents.
    """

    name: str
    values: np.ndarray
    probabilities: np.ndarray | None = None
    std: np.ndarray | None = None
    linear: np.ndarray | None = None
    note: str = ""

    def of(self, documents: np.ndarray) -> Predicted:
        """Predictions of some documents."""
        names = ("values", "probabilities", "std", "linear")
        parts = {name: getattr(self, name) for name in names}
        return replace(self, **{k: v[documents] for k, v in parts.items() if v is not None})


@dataclass(frozen=True, kw_only=True)
class Inputs:
    """Counts of words, covariates, weights and exposures of documents.

    `pairs` states that the words are all words and pairs of words.
    """

    words: Any = None
    pairs: bool = False
    covariates: np.ndarray | None = None
    weight: np.ndarray | None = None
    exposure: np.ndarray | None = None


def regression(kind: str, train: Inputs, y: np.ndarray, test: Inputs, seed: int = 0) -> Predicted:
    """Ridge, Poisson or logistic regression, with a penalty chosen on the training part.

    Parameters
    ----------
    kind : {"real", "count", "ordinal", "binary", "classes"}
        Kind of target; ordinal levels are treated as numbers.
    train, test : Inputs
        Without words the regression uses covariates alone.
    y : array
        Targets of the training part, without missing values.
    seed : int, default=0

    Returns
    -------
    Predicted
    """
    from sklearn.exceptions import ConvergenceWarning

    train, test = _impute(train, test)
    weight = train.weight
    if train.exposure is not None:
        y = y / train.exposure
        weight = train.exposure if weight is None else weight * train.exposure
    design, inputs = _designs(train, test)
    name, model, grid, scoring = _regression(kind, y, seed)
    rows = choosing_rows(design, y, kind, seed)
    with warnings.catch_warnings():
        # Stopping the optimiser early does not change which penalty is selected.
        warnings.simplefilter("ignore", ConvergenceWarning)
        if grid:
            of_rows = None if weight is None else weight[rows]
            chosen = _best(model, grid, scoring, design[rows], y[rows], of_rows, seed)
            model.set_params(**chosen)
        model.fit(design, y, sample_weight=weight)
    probabilities = model.predict_proba(inputs) if hasattr(model, "predict_proba") else None
    values = model.predict(inputs)
    if test.exposure is not None:
        values = values * test.exposure
    on = "covariates alone"
    if train.words is not None:
        on = "words and pairs of words" if train.pairs else "all words"
        on += (
            ("," if train.pairs else "") + " and covariates" if train.covariates is not None else ""
        )
    note = ""
    if grid and len(rows) < len(y):
        note = f"The penalty of {name} was chosen on {len(rows):,} of {len(y):,} documents."
    return Predicted(f"{name} on {on}", values, probabilities, note=note)


def _regression(kind: str, y: np.ndarray, seed: int) -> tuple[str, Any, dict[str, Any], str]:
    """Name, regression, grid of penalties, and scoring of the cross-validation."""
    from sklearn.compose import TransformedTargetRegressor
    from sklearn.linear_model import LogisticRegression, PoissonRegressor, Ridge
    from sklearn.preprocessing import StandardScaler

    if kind in ("binary", "classes"):
        # On reviews saga takes a tenth of the time of lbfgs. liblinear is faster still, but for two
        # classes only; with many documents lbfgs is 8 times as fast.
        if len(np.unique(y)) == 2 and len(y) <= CHOOSING_DOCUMENTS:
            last: Any = LogisticRegression(solver="liblinear", random_state=seed)
        elif len(np.unique(y)) == 2:
            last = LogisticRegression(tol=1e-3, max_iter=50)
        else:
            # An epoch of saga has one step per document: with many of them, few epochs suffice.
            epochs = int(np.clip(100 * CHOOSING_DOCUMENTS / len(y), 10, 100))
            last = LogisticRegression(solver="saga", tol=1e-3, max_iter=epochs, random_state=seed)
        rarest = int(np.unique(y, return_counts=True)[1].min())
        grid: dict[str, Any] = {} if rarest < 2 else {"C": [0.3, 1.0, 3.0, 10.0, 30.0]}
        return "logistic regression", last, grid, "neg_log_loss"
    if kind == "count":
        grid = {"alpha": list(np.logspace(-5, -1, 5))}
        poisson = PoissonRegressor(max_iter=200)
        return "Poisson regression", poisson, grid, "neg_mean_poisson_deviance"
    grid = {"regressor__alpha": list(np.logspace(-1, 2, 10))}
    ridge = TransformedTargetRegressor(
        Ridge(solver="sparse_cg", tol=1e-4), transformer=StandardScaler(), check_inverse=False
    )
    return "ridge", ridge, grid, "neg_mean_squared_error"


def _best(
    model: Any,
    grid: dict[str, Any],
    scoring: str,
    design: Any,
    y: np.ndarray,
    weight: np.ndarray | None,
    seed: int,
) -> dict[str, Any]:
    """The penalty with the best score on a fifth of these documents, fitted to the others.

    A penalty is a prior on coefficients, which does not change with the number of documents.
    """
    from sklearn.base import is_classifier
    from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold

    least = np.unique(y, return_counts=True)[1].min() if is_classifier(model) else len(y)
    folds = StratifiedKFold if is_classifier(model) else KFold
    split = folds(min(PARTS, int(least)), shuffle=True, random_state=seed).split(design, y)
    search = GridSearchCV(model, grid, scoring=scoring, cv=[next(split)], refit=False)
    return search.fit(design, y, sample_weight=weight).best_params_


def choosing_rows(design: Any, y: np.ndarray, kind: str, seed: int) -> np.ndarray:
    """Documents for choosing a penalty: all, or a sample, stratified by class."""
    classes = kind in ("binary", "classes")
    width = len(np.unique(y)) if kind == "classes" else 1
    each = max(getattr(design, "nnz", np.size(design)) * width / max(len(y), 1), 1.0)
    most = min(CHOOSING_DOCUMENTS, int(CHOOSING_SIZE / each))
    if len(y) <= most:
        return np.arange(len(y))
    order, share = np.random.default_rng(seed).permutation(len(y)), most / len(y)
    if not classes:
        return np.sort(order[:most])
    groups = (order[y[order] == label] for label in np.unique(y))
    least = _LEAST_OF_CLASS
    return np.sort(np.concatenate([g[: max(least, round(share * len(g)))] for g in groups]))


def _impute(train: Inputs, test: Inputs) -> tuple[Inputs, Inputs]:
    """Replace missing covariates by the training median, with an indicator, as topic models do."""
    if train.covariates is None or test.covariates is None:
        return train, test
    weight = np.ones(len(train.covariates)) if train.weight is None else train.weight
    imputation = CovariateScaling.estimate(train.covariates, weight)
    mine, theirs = imputation.impute(train.covariates), imputation.impute(test.covariates)
    return replace(train, covariates=mine), replace(test, covariates=theirs)


def _designs(train: Inputs, test: Inputs) -> tuple[Any, Any]:
    """Design matrices of both parts: words by TF-IDF, then standardised covariates."""
    from sklearn.feature_extraction.text import TfidfTransformer
    from sklearn.preprocessing import StandardScaler

    scaled: tuple[Any, Any] = (None, None)
    if train.covariates is not None:
        scaler = StandardScaler()
        scaled = scaler.fit_transform(train.covariates), scaler.transform(test.covariates)
        if train.words is None:
            return scaled
    tfidf = TfidfTransformer(sublinear_tf=True)
    words = tfidf.fit_transform(train.words), tfidf.transform(test.words)
    mine, theirs = (
        part if beside is None else sparse.hstack([part, sparse.csr_array(beside)], format="csr")
        for part, beside in zip(words, scaled, strict=True)
    )
    return mine, theirs


def constant(kind: str, train: Inputs, y: np.ndarray, test: Inputs, n: int) -> Predicted:
    """The best constant prediction for n documents, times their exposure."""
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
