"""The fits behind the tables of Ren, Kunes and Doshi-Velez (2020), and what the paper published.

A plan has the data sets, splits and settings; a fit is one task of the runner.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from compared import LAST_EPOCH, MODELS, PAPER_MODEL, Fit
from data import Dataset, load
from measures import higher_is_better, measure
from runner import Record, Task, key

#: The paper's data sets; the two public health records replace its private ones.
TITLES = {
    "pang_lee": "Pang & Lee movie reviews",
    "yelp": "Yelp reviews",
    "eicu": "eICU demo (codes of the first day, death in hospital)",
    "diabetes": "Diabetes, 130 hospitals (codes, readmission)",
}
#: The paper's vocabulary sizes, where its stated rule gives more words.
PAPER_WORDS = {"pang_lee": 4596, "yelp": 4142}
FIELDS = ("data", "split", "model", "setting", "seed")

Run = Callable[[str, list[Task], Callable[[Task], dict[str, Any]]], list[Record]]


class Claim(NamedTuple):
    """A statement of the paper, whether it held, and the numbers."""

    text: str
    held: bool
    evidence: str


class Published(NamedTuple):
    """A mean of the paper and its standard deviation."""

    mean: float
    sd: float

    def __str__(self) -> str:
        return f"{self.mean:.3f} ({self.sd:.3f})"


#: (data, model) -> coherence@50, RMSE or AUC
MAIN = {
    ("pang_lee", "sLDA"): (Published(0.362, 0.101), Published(1.682, 0.021)),
    ("pang_lee", "pc-sLDA"): (Published(0.492, 0.130), Published(1.298, 0.015)),
    ("pang_lee", "pf-sLDA"): (Published(1.987, 0.092), Published(1.305, 0.024)),
    ("yelp", "sLDA"): (Published(0.848, 0.086), Published(1.162, 0.017)),
    ("yelp", "pc-sLDA"): (Published(1.080, 0.213), Published(0.953, 0.004)),
    ("yelp", "pf-sLDA"): (Published(3.258, 0.102), Published(0.952, 0.011)),
    ("asd", "sLDA"): (Published(1.412, 0.113), Published(0.590, 0.013)),
    ("asd", "pc-sLDA"): (Published(2.178, 0.141), Published(0.701, 0.015)),
    ("asd", "pf-sLDA"): (Published(2.639, 0.091), Published(0.748, 0.013)),
}
#: (p, filter) -> coherence@50, RMSE of sLDA on the words that are left, Pang & Lee
FILTERING = {
    (0.10, "pf-sLDA"): (Published(1.916, 0.105), Published(1.418, 0.024)),
    (0.10, "correlation"): (Published(1.115, 0.092), Published(1.729, 0.031)),
    (0.15, "pf-sLDA"): (Published(1.509, 0.077), Published(1.313, 0.008)),
    (0.15, "correlation"): (Published(0.875, 0.088), Published(1.694, 0.017)),
}
#: assumed p -> precision, recall; the true p is 0.25
SYNTHETIC = {
    0.15: (Published(1.000, 0.000), Published(0.430, 0.013)),
    0.25: (Published(0.981, 0.006), Published(0.962, 0.006)),
    0.35: (Published(0.885, 0.008), Published(0.982, 0.006)),
}
#: N -> coherence of pc-sLDA and pf-sLDA, Pang & Lee
TOP_WORDS = {
    10: (0.42, 1.52),
    20: (0.44, 1.69),
    30: (0.44, 1.76),
    40: (0.46, 1.92),
    50: (0.49, 1.99),
}
#: The original code on our 4,596 words, 500 epochs, one split: p -> RMSE, coherence
RERUN = {0.10: (1.299, 1.803), 0.15: (1.313, 1.627)}


@dataclass(frozen=True)
class Plan:
    """The full reproduction, or a quick one: three splits, fewer data sets and models.

    The quick one has one setting of the paper's algorithm, which takes its full number of steps in
    both: with fewer or larger steps it does not leave the plateau at its start.
    """

    quick: bool = False

    @property
    def splits(self) -> range:
        return range(3 if self.quick else 5)

    @property
    def starts(self) -> range:
        """Starts of the paper's algorithm on split 0."""
        return range(1 if self.quick else 5)

    @property
    def data(self) -> tuple[str, ...]:
        return tuple(TITLES)[: 3 if self.quick else 4]

    @property
    def models(self) -> list[str]:
        """Models to fit; those of packages that are not installed are left out."""
        if self.quick:
            return ["sLDA", "pc-sLDA", PAPER_MODEL, "focused", "roots of words"]
        return [name for name, model in MODELS.items() if model.available]

    @property
    def shown(self) -> list[str]:
        """Names of the tables: the last epoch of the paper's algorithm is a model of its own."""
        return [n for m in self.models for n in ((m, LAST_EPOCH) if m == PAPER_MODEL else (m,))]

    @property
    def curve_priors(self) -> tuple[float, ...]:
        return (0.10, 0.25, 0.50) if self.quick else (0.05, 0.10, 0.15, 0.25, 0.50)

    def grid(self, model: str) -> tuple[dict[str, Any], ...]:
        """Settings among which the validation part chooses."""
        grid = MODELS[PAPER_MODEL if model == LAST_EPOCH else model].grid
        return grid[:1] if self.quick and model in (PAPER_MODEL, LAST_EPOCH) else grid

    def load(self, data: str, split: int) -> Dataset:
        return _load(data, split)


def task(data: str, split: int, model: str, seed: int | None = None, **setting: Any) -> Task:
    """One fit; the seed is the split unless it is given."""
    model = PAPER_MODEL if model == LAST_EPOCH else model
    seed = split if seed is None else seed
    return dict(zip(FIELDS, (data, split, model, setting, seed), strict=True))


@lru_cache(maxsize=2)
def _load(data: str, split: int) -> Dataset:
    # All 74,000 training encounters would take longer than everything else together.
    max_docs = 20_000 if data == "diabetes" else None
    return load(data, split, max_features=PAPER_WORDS.get(data), max_docs=max_docs)


def fit(task: Task) -> dict[str, Any]:
    """Fit and measure one task, the work of the runner."""
    data = _load(task["data"], task["split"])
    found = MODELS[task["model"]].fit(data, task["setting"], task["seed"])
    out = describe(found, data)
    if found.last is not None and task["model"] == PAPER_MODEL:
        out["last"] = describe(found.last, data)
    return out


def describe(found: Fit, data: Dataset) -> dict[str, Any]:
    """Metrics of a fit, its inclusion, and the top words of its topics as column numbers."""
    out = measure(found, data)
    if found.components is not None and found.coef is not None:
        tops = np.argsort(-found.components, axis=1, kind="stable")[:, :50]
        positive = [[v for v in row if found.components[k, v] > 0] for k, row in enumerate(tops)]
        out["coef"] = np.asarray(found.coef, dtype=float).tolist()
        out["tops"] = [[int(v) for v in row] for row in positive]
    if found.inclusion is not None:
        out["inclusion"] = np.round(found.inclusion, 5).tolist()
    return out


class Fits:
    """Finished fits, found by what was fitted."""

    def __init__(self, records: Iterable[Record]) -> None:
        self._records = {key(record, FIELDS): record for record in records}

    def find(self, data: str, split: int, model: str, seed: int | None = None, **setting: Any):
        """The record of a fit; of "all epochs", that of the last epoch."""
        record = self._records[key(task(data, split, model, seed, **setting), FIELDS)]
        return record["last"] if model == LAST_EPOCH else record

    def chosen(self, plan: Plan, data: str, split: int, model: str) -> tuple[dict, Record]:
        """The setting with the best validation score, and its record."""
        sign = 1.0 if higher_is_better(data) else -1.0
        grid = [(s, self.find(data, split, model, **s)) for s in plan.grid(model)]
        return max(grid, key=lambda pair: sign * pair[1]["valid"])


def metrics_of(record: Record) -> dict[str, Any]:
    """The numbers of a record, for a row of a table."""
    fields = (*FIELDS, "last", "coef", "tops", "inclusion", "cpu_seconds")
    return {k: v for k, v in record.items() if k not in fields and v is not None}
