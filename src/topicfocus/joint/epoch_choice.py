"""Which epoch's model is handed back, where documents were set aside to decide it."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from topicfocus.glm import explained_share, target_columns
from topicfocus.inference.mixes import topic_mixes
from topicfocus.inference.state import ModelState, Problem


class EpochChoice:
    """Scores the epochs of a joint model on held-out documents, for `run` to keep the best one.

    The score is the explained share of the held-out targets, 1 - deviance / null deviance, as they
    would be predicted now: θ̂ from the words alone, f = b + o + ζᵀz + ηᵀθ̂. It is looked at some
    fifty times in a fit, and after the last epoch that was planned.
    """

    looks = 50

    def __init__(self, held_out: Problem, family: Any) -> None:
        self._held_out = held_out
        self._columns = target_columns(held_out, family)
        self._theta: np.ndarray | None = None

    def __call__(self, model: ModelState, epoch: int, epochs: int) -> float:
        if epoch % max(1, epochs // self.looks) and epoch != epochs:
            return math.nan
        held = self._held_out
        self._theta = topic_mixes(
            held.corpus, model, tolerance=1e-4, n_jobs=held.n_jobs, start=self._theta
        )
        predictor = held.offsets(model) + self._theta @ model.coef_rows.T
        shares = []
        for column, (own, where) in zip(self._columns, model.family.split(), strict=True):
            # Thresholds are fitted with the rest; δ plays no part in the share.
            fitted = replace(column, family=own.with_noise_variance(1.0))
            shares.append(explained_share(fitted, fitted.of(predictor)[:, where]))
        return float(np.mean(shares))
