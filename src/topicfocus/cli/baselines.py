"""What a regression on all words predicts, on the same split: the figure to compare with.

Words are weighed by tf-idf with logarithms of counts, which is what makes such regressions strong;
the penalty is chosen by cross-validation on the training part.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

FOLDS = 3


@dataclass(frozen=True)
class Predicted:
    """Predictions of a model: a mean or a label each, and probabilities of classes or levels."""

    name: str
    values: np.ndarray
    probabilities: np.ndarray | None = None
    std: np.ndarray | None = None


def regression_on_words(kind: str, train: Any, y: np.ndarray, test: Any, seed: int) -> Predicted:
    """Ridge, Poisson or logistic regression; y has no missing values."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.feature_extraction.text import TfidfTransformer
    from sklearn.linear_model import LogisticRegression, PoissonRegressor, Ridge
    from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold
    from sklearn.pipeline import make_pipeline

    if kind in ("binary", "classes"):
        # On reviews saga finds what lbfgs does in a tenth of the time; liblinear, which is faster
        # still, knows two classes only.
        if len(np.unique(y)) == 2:
            last: Any = LogisticRegression(solver="liblinear", random_state=seed)
        else:
            last = LogisticRegression(solver="saga", tol=1e-3, max_iter=100, random_state=seed)
        name, scoring = "logistic regression on all words", "neg_log_loss"
        grid = {"logisticregression__C": [0.3, 1.0, 3.0, 10.0, 30.0]}
        rarest = int(np.unique(y, return_counts=True)[1].min())
        folds: Any = StratifiedKFold(min(FOLDS, rarest), shuffle=True, random_state=seed)
        if rarest < 2:
            folds, grid = None, {}
    else:
        folds = KFold(min(FOLDS, len(y)), shuffle=True, random_state=seed)
        if kind == "count":
            last = PoissonRegressor(max_iter=200)
            name, scoring = "Poisson regression on all words", "neg_mean_poisson_deviance"
            grid = {"poissonregressor__alpha": list(np.logspace(-5, -1, 5))}
        else:
            last = Ridge(solver="sparse_cg", tol=1e-4)
            name, scoring = "ridge on all words", "neg_mean_squared_error"
            grid = {"ridge__alpha": list(np.logspace(-1, 2, 7))}
    model = make_pipeline(TfidfTransformer(sublinear_tf=True), last)
    if grid:
        model = GridSearchCV(model, grid, scoring=scoring, cv=folds)
    with warnings.catch_warnings():
        # An optimiser that stops a little early makes no difference to a penalty that is chosen.
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(train, y)
    probabilities = model.predict_proba(test) if hasattr(model, "predict_proba") else None
    return Predicted(name, model.predict(test), probabilities)


def constant(kind: str, y: np.ndarray, n: int) -> Predicted:
    """The best prediction that looks at no word."""
    if kind not in ("binary", "classes"):
        return Predicted("mean of the training part", np.full(n, y.mean()))
    labels, counts = np.unique(y, return_counts=True)
    share = counts / counts.sum()
    values = np.full(n, labels[np.argmax(share)])
    return Predicted("shares of the training part", values, np.tile(share, (n, 1)))
