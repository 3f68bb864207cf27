"""Units that fitting uses: real targets in standard deviations from their median.

    z = (y - c)/s,   c the (weighted, lower) median,   s² = Σ w (y - ȳ)² / Σ w.

Starts, penalties and step lengths of the solvers are numbers, and a number means something in given
units only. So that prices in cents and in thousands give the same model, fitting sees z, and what
it found is turned back: η → sη, b → c + sb, ζ → sζ, δ → s²δ.

An optimiser makes a large difference of a small one. Therefore z is rounded to 2⁻²⁴, far below the
least noise there is: targets that differ by their units, and so in their last digits, are then the
same to the last bit. The median serves because it is one of the values: y - c is exact, where y - ȳ
is not if y is a rating + 1e6.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from topicfocus.families import (
    is_quadratic,
    noise_variance,
    rejoined,
    split,
    with_noise_variance,
)
from topicfocus.inference.state import ModelState

#: Standard deviations are squared: outside of these, variances would not be ordinary numbers.
SMALLEST, LARGEST = 1e-151, 1e152
#: Targets are rounded to this many standard deviations, and to a fit are the same below it.
RESOLUTION = 2.0**-24
#: A target of a later batch is no further from the mean of the first one, in its deviations.
_FARTHEST = 1e8


def rounded(z: np.ndarray) -> np.ndarray:
    """Numbers in standard deviations, to the resolution of a fit."""
    return np.round(z / RESOLUTION) * RESOLUTION


def median(values: np.ndarray, weight: np.ndarray) -> float:
    """The weighted median, of two the lower one."""
    order = np.argsort(values, kind="stable")
    total = np.cumsum(weight[order])
    return float(values[order[np.searchsorted(total, 0.5 * total[-1])]])


def mean_and_size(values: np.ndarray, weight: np.ndarray) -> tuple[float, float]:
    """Weighted mean and standard deviation, also of numbers whose squares would overflow."""
    largest = float(np.max(np.abs(values), initial=0.0))
    power = int(np.frexp(largest)[1])
    small = np.ldexp(values, -power)  # a power of two: exact
    mean = float(np.average(small, weights=weight))
    size = float(np.sqrt(np.average((small - mean) ** 2, weights=weight)))
    return float(np.ldexp(mean, power)), float(np.ldexp(size, power))


def _halved_difference(values: np.ndarray, centre: float) -> np.ndarray:
    """(y - c)/2, which is finite for all finite y and c."""
    return 0.5 * values - 0.5 * centre


def has_units(family: Any) -> bool:
    """Whether y may be centred and scaled: log p = c - (y - f)²/(2δ), and δ is known."""
    return is_quadratic(family) and noise_variance(family) is not None


@dataclass(frozen=True)
class TargetUnits:
    """c and s of every linear predictor; 0 and 1 where the target is taken as it is.

    Attributes
    ----------
    centre, size : arrays (targets,)
    """

    centre: np.ndarray
    size: np.ndarray

    @staticmethod
    def own(n_targets: int) -> TargetUnits:
        """Targets as they are."""
        return TargetUnits(np.zeros(n_targets), np.ones(n_targets))

    @staticmethod
    def standard(
        families: Sequence[Any], codes: np.ndarray, weight: np.ndarray, name: str = "y"
    ) -> TargetUnits:
        """Those in which real targets have median 0 and variance 1; `codes` documents x targets."""
        centre, size = np.zeros(len(families)), np.ones(len(families))
        for t, family in enumerate(families):
            seen = np.isfinite(codes[:, t]) & (weight > 0)
            if not has_units(family) or not seen.any():
                continue
            values, own = codes[seen, t], weight[seen]
            centre[t] = median(values, own)
            size[t] = 2 * mean_and_size(_halved_difference(values, centre[t]), own)[1]
            _check_lost(values, own, np.flatnonzero(seen), size[t], name)
            check_size(size[t], name)
        return TargetUnits(centre, size)

    def scale(self, codes: np.ndarray) -> np.ndarray:
        """Targets as fitting sees them, documents x targets."""
        return np.where(self.scaled, rounded((codes - self.centre) / self.size), codes)

    def check_near(self, codes: np.ndarray, name: str) -> None:
        """Targets that come later, beside those that the units are of."""
        if not len(codes):
            return
        far = np.abs(np.nan_to_num(codes / self.size - self.centre / self.size)) > _FARTHEST
        far &= self.scaled
        if far.any():
            row, t = (int(i[0]) for i in np.nonzero(far))
            raise ValueError(
                f"row {row} of {name} is {codes[row, t]:g}, but targets seen before lie about "
                f"{self.centre[t]:.3g}, {self.size[t]:.3g} to either side. Correct it or leave it "
                "out."
            )

    @property
    def scaled(self) -> np.ndarray:
        """Which targets are not taken as they are."""
        return (self.size != 1) | (self.centre != 0)

    def log_density(self, weights: np.ndarray) -> np.ndarray:
        """Σ_t w_t log s_t of documents: what log p(z) is above log p(y). Documents x targets in."""
        return weights @ np.log(self.size)

    # ---- a model --------------------------------------------------------------------------------

    def restore(self, model: ModelState, into_coef: bool) -> ModelState:
        """A model of z as one of y. c goes to b, or to every η where b is none (`into_coef`)."""
        return model if not self.scaled.any() else self._moved(model, into_coef, back=True)

    def apply(self, model: ModelState, into_coef: bool) -> ModelState:
        """The other way round, to go on fitting from a model."""
        return model if not self.scaled.any() else self._moved(model, into_coef, back=False)

    def _moved(self, model: ModelState, into_coef: bool, *, back: bool) -> ModelState:
        parts = split(model.family)
        width = [where.stop - where.start for _, where in parts]
        centre, size = np.repeat(self.centre, width), np.repeat(self.size, width)
        coef = model.coef.reshape(model.n_topics, -1)
        b = np.broadcast_to(np.asarray(model.intercept, dtype=float), size.shape)
        to_coef, to_b = (centre, 0.0) if into_coef else (0.0, centre)
        if back:
            coef, b = coef * size + to_coef, b * size + to_b
        else:
            coef, b = (coef - to_coef) / size, (b - to_b) / size
            size = 1 / size
        each = size[[where.start for _, where in parts]]
        zeta = model.covariate_coef
        return replace(
            model,
            coef=np.ascontiguousarray(coef.reshape(model.coef.shape)),
            intercept=float(b[0]) if np.ndim(model.intercept) == 0 and len(b) == 1 else b,
            covariate_coef=None if zeta is None else zeta * size,
            family=rejoined(
                model.family, [_rescaled(own, s) for (own, _), s in zip(parts, each, strict=True)]
            ),
        )


def _rescaled(family: Any, size: float) -> Any:
    noise = noise_variance(family)
    return family if noise is None else with_noise_variance(family, float(noise * size * size))


def check_size(size: float, name: str) -> None:
    """A spread of which the square is an ordinary number."""
    if not SMALLEST <= size <= LARGEST:
        what = "large" if size > LARGEST else "small"
        raise ValueError(
            f"{name} has a standard deviation of {size:.3g}, which is too {what} to compute with. "
            "Check it for values that are wrong, or measure it in other units."
        )


def _check_lost(
    values: np.ndarray, weight: np.ndarray, rows: np.ndarray, size: float, name: str
) -> None:
    """A value so far out that the others are the same beside it is an error that names its row."""
    far = int(np.argmax(np.abs(_halved_difference(values, median(values, weight)))))
    others = values != values[far]
    mean, spread = mean_and_size(values[others], weight[others])
    # Less than that is the rounding of numbers that are meant to be the same.
    if 1e-12 * abs(mean) < spread < RESOLUTION * size:
        raise ValueError(
            f"row {int(rows[far])} of {name} is {values[far]:g}, so far from the others that they "
            "cannot be told apart beside it. Correct it or leave it out."
        )
