"""Adam on a dictionary of global parameters, uphill."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from topicfocus.kernels.uncollapsed import AdamStep, adam_move_array

BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8


def adam_step(rate: float, t: int) -> AdamStep:
    """The constants of step number t (from 1)."""
    return AdamStep(float(rate), 1.0 - BETA1**t, 1.0 - BETA2**t, EPSILON)


class Adam:
    """Moments of each parameter block; `step` moves the blocks in place."""

    def __init__(self, parameters: Mapping[str, np.ndarray]) -> None:
        # Row-major: `step` works on flat views, and a flattened column-major array would be a copy.
        self.parameters = {k: np.array(v, dtype=float, order="C") for k, v in parameters.items()}
        self._m = {k: np.zeros_like(v) for k, v in self.parameters.items()}
        self._v = {k: np.zeros_like(v) for k, v in self.parameters.items()}
        self.t = 0

    def step(self, gradients: Mapping[str, np.ndarray], rate: float) -> None:
        """One step along `gradients` for every block named there."""
        self.t += 1
        constants = adam_step(rate, self.t)
        for name, gradient in gradients.items():
            adam_move_array(
                self.parameters[name].reshape(-1),
                np.ascontiguousarray(gradient, dtype=float).reshape(-1),
                self._m[name].reshape(-1),
                self._v[name].reshape(-1),
                constants,
            )
