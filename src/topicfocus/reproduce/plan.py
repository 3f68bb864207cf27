"""What a reproduction consists of: data, splits, settings; in full, or quickly to look around."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from topicfocus.reproduce.models import MODELS
from topicfocus.reproduce.tasks import PAPER_WORDS, DataKey, Task

#: The paper's three data sets; the two public health records stand in for its private ones.
DATA = ("pang_lee", "yelp", "eicu", "diabetes")
TITLES = {
    "pang_lee": "Pang & Lee movie reviews",
    "yelp": "Yelp reviews",
    "eicu": "eICU demo (codes of the first day, death in hospital)",
    "diabetes": "Diabetes, 130 hospitals (codes, readmission)",
}
#: p of the paper's filtering table.
FILTER_PRIORS = (0.10, 0.15)
#: p = 1/λ of the two curves.
CURVE_PRIORS = (0.05, 0.10, 0.15, 0.25, 0.50)
SYNTHETIC_PRIORS = (0.15, 0.25, 0.35)

_QUICK_SETTINGS: dict[str, dict[str, Any]] = {
    # Larger steps pass the plateau at the start in a tenth of the time.
    "pf-sLDA": {"max_epochs": 500, "learning_rate": 0.1},
    "tomotopy SLDA": {"sweeps": 100},
    "topica SupervisedLDA": {"iters": 5},
}


@dataclass(frozen=True)
class Plan:
    """The full reproduction, or a quick one on fewer documents, words and splits."""

    quick: bool = False

    @property
    def splits(self) -> range:
        return range(2 if self.quick else 5)

    @property
    def data(self) -> tuple[str, ...]:
        return DATA[:3] if self.quick else DATA

    @property
    def synthetic(self) -> tuple[range, range]:
        """Data sets and starts of each."""
        return (range(1), range(1)) if self.quick else (range(5), range(10))

    @property
    def synthetic_docs(self) -> int | None:
        return 200 if self.quick else None

    @property
    def curve_priors(self) -> tuple[float, ...]:
        return CURVE_PRIORS[1::3] if self.quick else CURVE_PRIORS

    def key(self, name: str, split: int) -> DataKey:
        """A split of a data set as this plan uses it."""
        words = PAPER_WORDS.get(name)
        if self.quick:
            return DataKey(name, split, None if words is None else 1500, 800)
        # All 74,000 encounters would take longer than everything else together.
        return DataKey(name, split, words, 20_000 if name == "diabetes" else None)

    def models(self) -> list[str]:
        """Models that can be run here: those of packages that are not installed are left out."""
        return [name for name, model in MODELS.items() if model.available]

    def missing(self) -> list[str]:
        return [name for name, model in MODELS.items() if not model.available]

    def task(self, data: str, split: int, model: str, **settings: Any) -> Task:
        """One fit; the seed is the split."""
        if self.quick:
            base = MODELS[model].comes_with or model
            settings |= _QUICK_SETTINGS.get(base, {})
        return Task(self.key(data, split), model, tuple(sorted(settings.items())), split)

    def grid(self, data: str, split: int, model: str) -> list[Task]:
        """The fits of a model among which the validation part chooses."""
        # A quick look has one setting of each: there is nothing to choose well from so little.
        grid = MODELS[model].grid[:1] if self.quick else MODELS[model].grid
        tasks = [self.task(data, split, model, **settings) for settings in grid]
        return list(dict.fromkeys(tasks))

    def describe(self) -> str:
        if not self.quick:
            return "Full reproduction."
        return (
            "QUICK LOOK, not the reproduction: 800 training documents, 1,500 words, 2 splits, "
            "larger steps and fewer epochs. Its figures say that everything runs, no more."
        )
