"""Refit: coefficients of each target on the topic mixes of the shaped topics, and covariates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from topicfocus.inference.mixes import topic_mixes
from topicfocus.inference.state import ModelState
from topicfocus.solvers.focus.data import FocusData
from topicfocus.solvers.focus.start import Start
from topicfocus.solvers.linear import Linear, fit_linear

#: Of θ̂: Newton's last step squares it, so that ten digits are right.
_FINE = 1e-5


@dataclass(frozen=True, kw_only=True)
class Refit:
    """A regression for each target, and the topic mixes θ̂ of the held-out documents."""

    fits: tuple[Linear, ...]
    held_mixes: np.ndarray


def refit_targets(
    data: FocusData, start: Start, state: ModelState, near: np.ndarray | None = None
) -> Refit:
    """η, b and ζ of each target given the topics; thresholds with them.

    θ̂ is found from mixes `near` it, if there are any.
    """
    n_jobs = data.train.n_jobs
    mixes = topic_mixes(start.train.corpus, state, tolerance=_FINE, n_jobs=n_jobs, start=near)
    held_mixes = topic_mixes(start.held_out.corpus, state, tolerance=_FINE, n_jobs=n_jobs)
    design = start.train.beside(mixes)
    fits = tuple(fit_linear(column, column.of(design)) for column in data.columns)
    return Refit(fits=fits, held_mixes=held_mixes)
