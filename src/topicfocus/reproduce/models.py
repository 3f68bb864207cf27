"""The models of a comparison, each as one function: training and validation documents in, fit out.

The rule is the same for all of them. Parameters are fitted to the training part alone. What has to
be chosen (p, λ, a penalty, a number of words or sweeps) has a grid; each setting is a fit of its
own, and the one that predicts the validation part best is taken. Models fitted in epochs keep the
epoch that predicts the validation part best. The test part is used for figures only.
"""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from typing import Any

import numpy as np

from topicfocus.datasets import Dataset
from topicfocus.reproduce import baselines, peers
from topicfocus.reproduce.fits import Fit
from topicfocus.reproduce.ours import FitFunction, Settings, estimator


@dataclass(frozen=True)
class Model:
    """A model, the grid of its settings, and the package it needs.

    Attributes
    ----------
    fit : callable
        (data, settings, seed) -> Fit.
    grid : tuple of settings
    note : str
        What it is, in a few words.
    package : str, optional
        An optional dependency.
    cost : float
        Seconds a fit on Pang & Lee takes, roughly: to show how much is left.
    topics : bool
        Whether it has any.
    comes_with : str, optional
        The model of which it is a by-product.
    """

    fit: FitFunction
    grid: tuple[dict[str, Any], ...] = ({},)
    note: str = ""
    package: str | None = None
    cost: float = 2.0
    topics: bool = True
    comes_with: str | None = None

    @property
    def available(self) -> bool:
        return self.package is None or importlib.util.find_spec(self.package) is not None


def _priors(*values: Any) -> tuple[dict[str, Any], ...]:
    return tuple({"inclusion_prior": p} for p in values)


def _not_by_itself(data: Dataset, settings: Settings, seed: int) -> Fit:
    raise RuntimeError("this model comes with the fit of another one")


_PF = ("PFSLDARegressor", "PFSLDAClassifier")
#: Joint models see ratings as the paper's do: its starts and steps are of these units.
_OWN_UNITS = {"standardize": False}

MODELS: dict[str, Model] = {
    "sLDA": Model(
        estimator("SLDARegressor", "SLDAClassifier", watches=True, real=_OWN_UNITS),
        note="coordinate ascent",
    ),
    "pc-sLDA": Model(
        estimator("PCSLDARegressor", "PCSLDAClassifier", watches=False),
        tuple({"supervision_weight": w} for w in ("auto", 10.0, 100.0)),
        note="λ of auto, 10, 100",
    ),
    "pf-sLDA": Model(
        estimator(
            *_PF, watches=True, solver="gradient", also="pf-sLDA, all epochs", real=_OWN_UNITS
        ),
        _priors(0.10, 0.15),
        note="the paper's algorithm, p of 0.10, 0.15",
        cost=70.0,
    ),
    "pf-sLDA, all epochs": Model(
        _not_by_itself,
        _priors(0.10, 0.15),
        note="the same fits at their last epoch",
        cost=0.0,
        comes_with="pf-sLDA",
    ),
    "pf-sLDA, coordinate ascent": Model(
        estimator(*_PF, watches=True, solver="coordinate", real=_OWN_UNITS),
        _priors(0.10, 0.15),
        note="the paper's bound, optimised better; p of 0.10, 0.15",
        cost=8.0,
    ),
    "pf-sLDA, tight bound": Model(
        estimator(*_PF, watches=True, solver="coordinate", bound="tight", real=_OWN_UNITS),
        _priors(0.10, 0.15),
        note="a higher bound, sort and cut; p of 0.10, 0.15",
        cost=8.0,
    ),
    "focused": Model(
        estimator("FocusedTopicRegressor", "FocusedTopicClassifier", watches=False),
        _priors("auto", 0.1, 0.2),
        note="ours; p of auto, 0.1, 0.2",
    ),
    "correlation + sLDA": Model(
        baselines.correlation_slda,
        tuple({"share": s} for s in (0.05, 0.10, 0.20)),
        note="sLDA on the 5, 10 or 20% of words most correlated with the target",
    ),
    "LDA + regression": Model(
        baselines.lda_regression,
        tuple({"penalty": c} for c in (0.01, 1.0, 100.0)),
        note="topics without the target, then ridge or logistic regression on the mixes",
    ),
    "tomotopy SLDA": Model(
        peers.tomotopy_slda,
        tuple({"sweeps": n} for n in (200, 1000)),
        note="Gibbs, 200 or 1,000 sweeps",
        package="tomotopy",
        cost=40.0,
    ),
    "topica SupervisedLDA": Model(
        peers.topica_slda,
        tuple({"iters": n} for n in (25,)),
        note="variational EM, 25 iterations (its default), a class as 0 or 1",
        package="topica",
        cost=200.0,
    ),
    "words": Model(
        baselines.linear_on_words,
        tuple({"penalty": float(c)} for c in np.logspace(0, 4, 9)),
        note="ridge or logistic regression on counts",
        cost=0.5,
        topics=False,
    ),
    "roots of words": Model(
        baselines.linear_on_roots,
        tuple({"penalty": float(c)} for c in np.logspace(0, 4, 9)),
        note="ridge or logistic regression on roots of counts",
        cost=0.5,
        topics=False,
    ),
}
