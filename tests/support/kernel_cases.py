"""Documents and corpora for the tests of kernels: hypothesis strategies and plain random ones."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st

import topicfocus
from topicfocus.families import (
    Bernoulli,
    Categorical,
    Gaussian,
    Multiple,
    Ordinal,
    Poisson,
)
from topicfocus.kernels.compile import kernel
from topicfocus.kernels.local import LocalTarget


def entry(helper: Any) -> Any:
    """A helper of kernels, compiled so that Python can call it."""
    return kernel(getattr(helper, "py_func", helper))


#: The directory that `import topicfocus` finds the package in.
SOURCE_ROOT = Path(topicfocus.__file__).resolve().parents[1]


@dataclass(frozen=True)
class Document:
    """One document as kernels see it, but words x topics, as `reference` wants it."""

    rows: np.ndarray
    weight: np.ndarray
    prior: np.ndarray
    start: np.ndarray
    family: Any
    target: LocalTarget

    @property
    def supervised(self) -> bool:
        return bool(np.any(self.target.weight > 0))

    @property
    def n(self) -> int:
        return len(self.weight)

    @property
    def n_topics(self) -> int:
        return len(self.prior)

    def kernel_rows(self, dtype=np.float64) -> tuple[np.ndarray, np.ndarray]:
        """Rows topics x words and weights, with room for a longer document, as in the kernels."""
        rows = np.full((self.n_topics, self.n + 3), np.nan, dtype=dtype)
        weight = np.full(self.n + 3, np.nan, dtype=dtype)
        rows[:, : self.n] = self.rows.T
        weight[: self.n] = self.weight
        return rows, weight


def random_rows(rng: np.random.Generator, n: int, n_topics: int, zeros: float) -> np.ndarray:
    """Rows of a word table: spread over several magnitudes, some zeros, largest entry one."""
    rows = np.exp(-2.0 * rng.exponential(size=(n, n_topics)))
    rows[rng.random((n, n_topics)) < zeros] = 0.0
    if n:
        rows[np.arange(n), rng.integers(n_topics, size=n)] += 0.5
        rows /= rows.max(axis=1, keepdims=True)
    return rows


#: One family of every kind that kernels compile for.
EXAMPLES = {
    "gaussian": Gaussian(0.7),
    "bernoulli": Bernoulli(),
    "poisson": Poisson(),
    "ordinal": Ordinal(np.array([-0.8, 0.3, 1.4])),
    "categorical": Categorical(3),
}
EXAMPLES["several"] = Multiple.of(list(EXAMPLES.values()))
FAMILY_NAMES = tuple(EXAMPLES)


def random_target(rng: np.random.Generator, family: Any, size: float = 1.0) -> np.ndarray:
    """A row of targets that need not agree with the coefficients."""
    row = []
    for own, _ in family.split():
        if isinstance(own, Gaussian):
            row.append(size * rng.normal())
        elif isinstance(own, Poisson):
            row.append(rng.poisson(2.0))
        else:
            levels = own.n_classes if isinstance(own, Categorical) else 2
            levels = len(own.thresholds) + 1 if isinstance(own, Ordinal) else levels
            row.append(rng.integers(levels))
    return np.array(row, dtype=float)


def random_weights(rng: np.random.Generator, n_targets: int, weight: float) -> np.ndarray:
    """`weight` for a target; of several, others have other weights and some are not known."""
    row = np.full(n_targets, weight)
    if n_targets > 1:
        row[1:] *= rng.choice([0.0, 1.0, 0.6], size=n_targets - 1)
    return row


def random_local_target(
    rng: np.random.Generator, family: Any, n_topics: int, scale: float, weight: float
) -> LocalTarget:
    """Targets of a document, coefficients of about `scale`, and (half of the time) offsets."""
    width = family.n_predictors
    coef = scale * rng.normal(size=(width, n_topics))
    offset = rng.choice([0.0, 0.5]) * rng.normal(size=width)
    value = random_target(rng, family, 1.0 + np.abs(coef).max())
    return LocalTarget(value, random_weights(rng, len(value), weight), offset, coef)


@st.composite
def documents(
    draw,
    families: tuple[str, ...] = FAMILY_NAMES,
    most_topics: int = 9,
    least_topics: int = 1,
    most_words: int = 12,
    largest_count: float = 1e4,
    coef_scale: float = 3.0,
    smallest_prior: float = 0.05,
    smallest_noise: float = 0.1,
    supervised: bool | None = None,
) -> Document:
    """Documents of 0 or more words, 1 or more topics, counts from 1 to large, m_v in (0, 1]."""
    n_topics = draw(st.integers(least_topics, most_topics), label="topics")
    n = draw(st.integers(0, most_words), label="words")
    many = draw(st.sampled_from([0.0, 0.3, 1.0]), label="share of large counts")
    whole = draw(st.booleans(), label="multiplicity one")
    zeros = draw(st.sampled_from([0.0, 0.3, 1.0]), label="share of zeros")
    prior_size = draw(st.floats(smallest_prior, 5.0), label="prior")
    scale = draw(st.floats(0.0, coef_scale), label="size of coef")
    noise = draw(st.floats(smallest_noise, 10.0), label="noise")
    name = draw(st.sampled_from(families), label="family")
    if supervised is None:
        target_weight = draw(st.sampled_from([0.0, 1.0, 0.3, 5.0]), label="target weight")
    else:
        target_weight = draw(st.floats(0.1, 10.0), label="target weight") if supervised else 0.0
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1), label="seed"))
    rows = random_rows(rng, n, n_topics, zeros)
    # By the seed, not one by one: to draw each of them takes longer than most tests do with it.
    power = np.where(rng.random(n) < 0.3, 1.0, rng.random(n))  # some are as large as can be
    large = np.floor(largest_count**power)
    counts = np.where(rng.random(n) < many, large, rng.integers(1, 6, size=n))
    weight = counts * (np.ones(n) if whole else rng.uniform(0.01, 1.0, size=n))
    prior = prior_size * rng.uniform(0.5, 1.5, size=n_topics)
    start = prior + (weight.sum() / n_topics if draw(st.booleans(), label="usual start") else 1.0)
    family = Gaussian(noise) if name == "gaussian" else EXAMPLES[name]
    target = random_local_target(rng, family, n_topics, scale, target_weight)
    return Document(rows, weight, prior, start, family, target)


def numerical_gradient(function, x: np.ndarray, step: float = 1e-5) -> np.ndarray:
    """Central differences with steps relative to each coordinate, one Richardson extrapolation."""
    x = np.asarray(x, dtype=float)
    gradient = np.empty_like(x)
    for i in np.ndindex(x.shape):
        h = step * max(1.0, abs(x[i]))
        slopes = []
        for width in (h, 2.0 * h):
            up, down = x.copy(), x.copy()
            up[i] += width
            down[i] -= width
            slopes.append((function(up) - function(down)) / (2.0 * width))
        gradient[i] = (4.0 * slopes[0] - slopes[1]) / 3.0
    return gradient


def run_script(
    script: str,
    *arguments: str,
    source: Path = SOURCE_ROOT,
    timeout: float = 300.0,
    **environment: str,
) -> str:
    """Run Python source in a new process with `source` first on its path; what it printed."""
    env = {**os.environ, "PYTHONPATH": str(source), "PYTHONDONTWRITEBYTECODE": "1", **environment}
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        env=env,
        capture_output=True,
        text=True,
        timeout=timeout,
    )
    assert done.returncode == 0, f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout
