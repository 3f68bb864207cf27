"""What a fitted model of a comparison has to offer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

#: Of every topic model of a comparison; the paper's number.
N_TOPICS = 5


@dataclass(frozen=True)
class Fit:
    """A fitted model.

    Attributes
    ----------
    predict : callable
        Counts -> a number for each document: the expected target, or a score that is higher for
        the second of two classes.
    components : array (topics, words), optional
    coef : array (topics,), optional
        The expected target (log odds) of a document of one topic.
    inclusion : array (words,), optional
    n_iter : int, optional
        Epochs, where they were chosen.
    also : dict of Fit
        What else the same fit gives, by the name of a model.
    figures : dict
        Measures that only the fitted model can give.
    """

    predict: Callable[[Any], np.ndarray]
    components: np.ndarray | None = None
    coef: np.ndarray | None = None
    inclusion: np.ndarray | None = None
    n_iter: int | None = None
    also: Mapping[str, Fit] = field(default_factory=dict)
    figures: Mapping[str, float] = field(default_factory=dict)
