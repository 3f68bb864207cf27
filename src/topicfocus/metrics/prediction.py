"""Metrics of predictions; a document of weight 2 counts like two copies of it.

RMSE, AUC, ROC curves, log loss and deviance are those of scikit-learn, imported when called.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

#: Half-width of a 95% interval of a normal distribution, in standard deviations.
_Z95 = 1.959963984540054
#: Smallest mean in the deviance, which is infinite for a positive count predicted as 0.
_LEAST_MEAN = 1e-12


def rmse(target: ArrayLike, prediction: ArrayLike, weight: Any = None) -> float:
    """Root of the mean squared error, √(mean over d of (y_d - ŷ_d)²).

    Parameters
    ----------
    target, prediction : array-like of shape (n_docs,) or (n_docs, 1)
    weight : array-like of shape (n_docs,), optional

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If lengths differ, or there are no values.

    Examples
    --------
    >>> from topicfocus.metrics import rmse
    >>> rmse([1, 2, 3, 4], [1, 2, 3, 8])
    2.0
    """
    from sklearn.metrics import root_mean_squared_error

    return float(root_mean_squared_error(target, prediction, sample_weight=weight))


def r2(target: ArrayLike, prediction: ArrayLike, weight: Any = None) -> float:
    """Fraction of the variance of the target that is explained, 1 - MSE / variance.

    NaN where the target does not vary.

    Parameters
    ----------
    target, prediction : array-like of shape (n_docs,)
    weight : array-like of shape (n_docs,), optional

    Returns
    -------
    float

    Examples
    --------
    >>> from topicfocus.metrics import r2
    >>> r2([1, 2, 3, 6], [1, 2, 3, 6]), r2([1, 5], [3, 3])
    (1.0, 0.0)
    """
    y = np.asarray(target)
    spread = np.average((y - np.average(y, weights=weight)) ** 2, weights=weight)
    error = np.average((y - np.asarray(prediction)) ** 2, weights=weight)
    return float(1.0 - error / spread) if spread > 0 else float("nan")


def accuracy(target: ArrayLike, label: ArrayLike, weight: Any = None) -> float:
    """Fraction of documents whose class was predicted correctly.

    Parameters
    ----------
    target, label : array-like of shape (n_docs,)
    weight : array-like of shape (n_docs,), optional

    Returns
    -------
    float

    Examples
    --------
    >>> from topicfocus.metrics import accuracy
    >>> accuracy(["a", "b"], ["a", "a"])
    0.5
    """
    return float(np.average(np.asarray(target) == np.asarray(label), weights=weight))


def auc(
    target: ArrayLike,
    score: ArrayLike,
    *,
    labels: Any = None,
    weight: Any = None,
    undefined: float = float("nan"),
) -> float:
    """Area under the ROC curve; for more than two classes the mean of one-against-rest areas.

    Parameters
    ----------
    target : array-like of shape (n_docs,)
        Two values, of which the larger is positive; or labels.
    score : array-like of shape (n_docs,) or (n_docs, n_classes)
        Higher for the positive class; or probabilities of `labels`.
    labels : sequence, optional
        The classes in the order of the columns of `score`.
    weight : array-like of shape (n_docs,), optional
    undefined : float, default=nan
        Value if one of the two classes has no documents. With more classes, a class without
        documents is left out of the mean, and this is the value if none is left.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If a score of several columns comes without ``labels``.

    Examples
    --------
    >>> from topicfocus.metrics import auc
    >>> auc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.75
    """
    from sklearn.metrics import roc_auc_score

    truth, scores = np.asarray(target), np.asarray(score)
    if scores.ndim == 1:
        if len(np.unique(truth)) < 2:
            return undefined
        return float(roc_auc_score(truth, scores, sample_weight=weight))
    if labels is None:
        raise ValueError("auc needs labels= to know which class a column of score is for")
    areas = []
    for c in [1] if len(labels) == 2 else range(len(labels)):
        positive = truth == labels[c]
        if positive.any() and not positive.all():
            areas.append(roc_auc_score(positive, scores[:, c], sample_weight=weight))
    return float(np.mean(areas)) if areas else undefined


def log_loss(target: ArrayLike, probabilities: ArrayLike, labels: Any, weight: Any = None) -> float:
    """Mean of -log of the predicted probability of the actual class.

    Parameters
    ----------
    target : array-like of shape (n_docs,)
    probabilities : array-like of shape (n_docs, n_classes)
    labels : sequence
        The classes in the order of the columns.
    weight : array-like of shape (n_docs,), optional

    Returns
    -------
    float

    Examples
    --------
    >>> from topicfocus.metrics import log_loss
    >>> round(log_loss([0, 1], [[0.5, 0.5], [0.5, 0.5]], [0, 1]), 4)
    0.6931
    """
    from sklearn import metrics

    return float(metrics.log_loss(target, probabilities, labels=labels, sample_weight=weight))


def poisson_deviance(target: ArrayLike, mean: ArrayLike, weight: Any = None) -> float:
    """Mean over documents of 2 (y log(y / μ) - y + μ), with μ at least 1e-12.

    Parameters
    ----------
    target, mean : array-like of shape (n_docs,)
    weight : array-like of shape (n_docs,), optional

    Returns
    -------
    float

    Examples
    --------
    >>> from topicfocus.metrics import poisson_deviance
    >>> poisson_deviance([0, 2], [0, 2])
    1e-12
    """
    from sklearn.metrics import mean_poisson_deviance

    positive = np.maximum(np.asarray(mean, dtype=float), _LEAST_MEAN)
    return float(mean_poisson_deviance(target, positive, sample_weight=weight))


def roc_curve(
    target: ArrayLike, score: ArrayLike, weight: Any = None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """False and true positive rates at every score, from (0, 0) on.

    Parameters
    ----------
    target : array-like of bool of shape (n_docs,)
    score : array-like of shape (n_docs,)
        Documents with the same score enter together.
    weight : array-like of shape (n_docs,), optional

    Returns
    -------
    false_positive, true_positive : arrays

    Examples
    --------
    >>> from topicfocus.metrics import roc_curve
    >>> x, y = roc_curve([False, True], [0.2, 0.9])
    >>> x.tolist(), y.tolist()
    ([0.0, 0.0, 1.0], [0.0, 1.0, 1.0])
    """
    from sklearn import metrics

    positive = np.asarray(target, dtype=bool)
    x, y, _ = metrics.roc_curve(
        positive, np.asarray(score), sample_weight=weight, drop_intermediate=False
    )
    return x, y


class Calibration(NamedTuple):
    """Groups of documents by their prediction.

    Attributes
    ----------
    predicted, observed : arrays of shape (n_groups,)
        Mean prediction and mean target.
    low, high : arrays of shape (n_groups,)
        Ends of a 95% interval of the mean target.
    n : array of shape (n_groups,)
        Documents.
    """

    predicted: NDArray[np.float64]
    observed: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    n: NDArray[np.intp]


def calibration(
    target: ArrayLike, prediction: ArrayLike, *, shares: bool, n_groups: int = 10
) -> Calibration:
    """Mean prediction and mean target by deciles of the prediction.

    Intervals are Wilson's for `shares` (targets 0 and 1), which have a positive width even if a
    decile has one class only; mean ± 1.96 standard errors otherwise.

    Parameters
    ----------
    target, prediction : array-like of shape (n_docs,)
    shares : bool
        Whether targets are 0 and 1.
    n_groups : int, default=10
        Largest number of groups; each has at least five documents.

    Returns
    -------
    Calibration

    Examples
    --------
    >>> from topicfocus.metrics import calibration
    >>> calibration([1, 1, 2, 2, 2, 3, 3, 4, 4, 4], range(10), shares=False).observed.tolist()
    [1.6, 3.6]
    """
    truth, predicted = np.asarray(target), np.asarray(prediction)
    order = np.argsort(predicted, kind="stable")
    parts = np.array_split(order, min(n_groups, max(1, len(order) // 5)))
    parts = [part for part in parts if len(part)]
    n = np.array([len(part) for part in parts])
    mean = np.array([truth[part].mean() for part in parts])
    if shares:
        middle = (mean + _Z95**2 / (2 * n)) / (1 + _Z95**2 / n)
        reach = np.sqrt(mean * (1 - mean) / n + (_Z95 / (2 * n)) ** 2) * _Z95 / (1 + _Z95**2 / n)
    else:
        middle = mean
        reach = _Z95 * np.array([truth[part].std() for part in parts]) / np.sqrt(n)
    centre = np.array([predicted[part].mean() for part in parts])
    return Calibration(centre, mean, middle - reach, middle + reach, n)


def calibration_error(
    target: ArrayLike,
    probabilities: ArrayLike,
    labels: Any,
    weight: Any = None,
    *,
    n_groups: int = 10,
) -> float:
    """Expected calibration error, Σ_g n_g |p̄_g - ȳ_g| / Σ_g n_g.

    For two classes p is the probability of the second, for more that of the most probable one (ȳ
    is then its accuracy), in deciles of p. 0.02 means that probabilities are off by two percentage
    points on average. A decile with n documents deviates by about √(p(1-p)/n) by chance.

    Parameters
    ----------
    target : array-like of shape (n_docs,)
    probabilities : array-like of shape (n_docs, n_classes)
    labels : sequence
        The classes in the order of the columns.
    weight : array-like of shape (n_docs,), optional
    n_groups : int, default=10
        Largest number of groups; each has at least five documents.

    Returns
    -------
    float

    Examples
    --------
    >>> from topicfocus.metrics import calibration_error
    >>> p = [[0.2, 0.8]] * 10
    >>> round(calibration_error([1] * 6 + [0] * 4, p, [0, 1]), 6)
    0.2
    """
    stated, happened = stated_and_happened(target, probabilities, labels)
    each = np.ones(len(stated)) if weight is None else np.asarray(weight, dtype=float)
    n_groups = min(n_groups, max(1, len(stated) // 5))
    # Documents with the same probability belong to one group, whatever their order.
    _, place = np.unique(stated, return_inverse=True)
    total = np.bincount(place, each)
    middle = (np.cumsum(total) - 0.5 * total) / total.sum()
    group = np.minimum((middle * n_groups).astype(int), n_groups - 1)[place]
    gap = np.bincount(group, each * (stated - happened), n_groups)
    return float(np.abs(gap).sum() / each.sum())


def stated_and_happened(
    target: ArrayLike, probabilities: ArrayLike, labels: Any
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """A predicted probability of each document, and whether the event happened.

    The event is the second of two classes, or the most probable of more classes.
    """
    p, truth, names = np.asarray(probabilities), np.asarray(target), np.asarray(labels)
    if p.shape[1] == 2:
        return p[:, 1], (truth == names[1]).astype(float)
    best = p.argmax(axis=1)
    return p[np.arange(len(p)), best], (truth == names[best]).astype(float)


def coverage(target: ArrayLike, low: ArrayLike, high: ArrayLike, weight: Any = None) -> float:
    """Fraction of targets inside their intervals, ends included.

    Parameters
    ----------
    target, low, high : array-like of shape (n_docs,)
    weight : array-like of shape (n_docs,), optional

    Returns
    -------
    float

    Examples
    --------
    >>> from topicfocus.metrics import coverage
    >>> coverage([1, 2, 3, 4], [0, 0, 0, 0], [3, 3, 3, 3])
    0.75
    """
    truth = np.asarray(target)
    inside = (np.asarray(low) <= truth) & (truth <= np.asarray(high))
    return float(np.average(inside, weights=weight))
