"""Intervals of effects: how often they exclude zero under noise, and their coverage.

    python experiments/effect_intervals.py [CASE ...] [--splits 4]        # writes COVERAGE.md

Intervals are those of `topic_effects` (level 0.95) with 100 documents that had no part in the fit
to 400 others.

Noise: documents are simulated reviews, targets have nothing to do with them. Counted are intervals
that exclude zero, of 200 fits of each kind.

Coverage: for each seed a large corpus is drawn; disjoint samples of it are what users would have.
The truth is the same difference with coefficients of a linear regression of the target on the topic
proportions of documents of the corpus.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from runner import Record, Task, experiment, finished, markdown
from sklearn.base import clone
from sklearn.linear_model import LinearRegression

from topicfocus import FocusedTopicClassifier, FocusedTopicRegressor
from topicfocus.datasets import make_pfslda, make_reviews
from topicfocus.estimators.effects import proportion_differences

SEEDS, SAMPLES, TRAIN, TEST = (410, 420, 430, 440), 40, 400, 100
#: Documents of the corpus by which the true difference is computed.
JUDGED = 10_000


class Case(NamedTuple):
    """A corpus and a model."""

    counts: Any
    target: Any
    model: Any


def simulated(seed: int, family: str, **settings: Any) -> Case:
    """Documents of a pf-sLDA with 3 topics on 50 words."""
    numbers = family == "gaussian"
    other = 50 if numbers else 150
    data = make_pfslda(20_000, 100, 3, 50, other, family=family, random_state=seed)
    cls = FocusedTopicRegressor if numbers else FocusedTopicClassifier
    return Case(data.counts, data.target, cls(n_topics=3, random_state=0, n_jobs=1, **settings))


def reviews(seed: int, n_themes: int, n_topics: int) -> Case:
    data = make_reviews(20_000, n_themes=n_themes, random_state=seed)
    model = FocusedTopicRegressor(n_topics=n_topics, random_state=0, n_jobs=1)
    return Case(data.counts, np.asarray(data.target, dtype=float), model)


CASES = {
    "pf-sLDA, numbers, inclusion given": lambda s: simulated(s, "gaussian", inclusion_prior=0.25),
    "pf-sLDA, two classes, inclusion given": lambda s: simulated(
        s + 1, "bernoulli", inclusion_prior=0.25
    ),
    "pf-sLDA, numbers, automatic inclusion": lambda s: simulated(s + 2, "gaussian"),
    "pf-sLDA, two classes, automatic inclusion": lambda s: simulated(s + 3, "bernoulli"),
    "reviews, automatic inclusion": lambda s: reviews(s + 4, 1, 3),
    "reviews of 3 themes, automatic inclusion": lambda s: reviews(s + 5, 3, 6),
}
#: Fits to a target of noise of each number of classes, 0 for numbers.
NOISE, NOISE_FITS = {"numbers": 0, "two classes": 2, "three classes": 3}, 200


@lru_cache(maxsize=1)
def _case(name: str, seed: int) -> Case:
    return CASES[name](seed)


def in_corpus(model: Any, case: Case, test: np.ndarray) -> np.ndarray:
    """The difference of each topic of the model between the proportions of the test documents."""
    target = np.asarray(case.target[:JUDGED], dtype=float)
    # Proportions sum to one: the last topic is the reference, whose coefficient is 0.
    proportions = model.transform(case.counts[:JUDGED])[:, :-1]
    coef = np.append(LinearRegression().fit(proportions, target).coef_, 0.0)
    theirs = model.transform(case.counts[test])
    return proportion_differences(model.fitted_, theirs, np.ones(len(test))) @ coef


def noise(task: Task) -> dict[str, Any]:
    """Intervals of one fit to a target of noise that exclude zero."""
    corpus, rng = _noise_corpus(), np.random.default_rng(task["sample"])
    rows = rng.choice(corpus.shape[0], TRAIN + TEST, replace=False)
    n_classes = NOISE[task["case"]]
    size = TRAIN + TEST
    target = rng.integers(0, n_classes, size) if n_classes else rng.normal(size=size)
    cls = FocusedTopicClassifier if n_classes else FocusedTopicRegressor
    model = cls(5, random_state=0, n_jobs=1).fit(corpus[rows[:TRAIN]], target[:TRAIN])
    table = model.topic_effects(corpus[rows[TRAIN:]], target[TRAIN:])
    excluded = (table["lower"] > 0) | (table["upper"] < 0)
    return {"excluded": int(excluded.sum()), "intervals": len(table)}


@lru_cache(maxsize=1)
def _noise_corpus() -> Any:
    return make_reviews(20_000, n_themes=3, random_state=1).counts


def work(task: Task) -> dict[str, Any]:
    """Of one sample: the number of intervals, and of those that contain the truth."""
    if task["case"] in NOISE:
        return noise(task)
    case, s = _case(task["case"], task["seed"]), task["sample"]
    order = np.random.default_rng(0).permutation(case.counts.shape[0])
    rows = order[s * (TRAIN + TEST) : (s + 1) * (TRAIN + TEST)]
    train, test = rows[:TRAIN], rows[TRAIN:]
    model = clone(case.model).fit(case.counts[train], case.target[train])
    table = model.topic_effects(case.counts[test], case.target[test])
    truth = in_corpus(model, case, test)
    inside = (table["lower"] <= truth) & (truth <= table["upper"])
    return {"inside": int(inside.sum()), "intervals": len(table)}


def rate(records: list[Record], name: str) -> list[Any]:
    """Fits, intervals, and the fraction of these with its standard error over fits."""
    total = sum(r["intervals"] for r in records)
    rates = np.array([r[name] for r in records]) / total * len(records)
    error = rates.std(ddof=1) / np.sqrt(len(rates))
    return [len(records), total, f"{rates.mean():.3f} ({error:.3f})"]


def page() -> list[str]:
    done = finished("effect_intervals")
    by_case = {name: [r for r in done if r["case"] == name] for name in (*NOISE, *CASES)}

    def table(names: Sequence[str], what: str, name: str) -> str:
        rows = [[n, *rate(by_case[n], name)] for n in names if len(by_case[n]) > 1]
        return markdown(["documents", "fits", "intervals", what], rows)

    return [
        "# Intervals of predicted differences",
        "Generated by `python experiments/effect_intervals.py`: 95% intervals of `topic_effects`, "
        f"{TRAIN} documents of the fit, {TEST} others (standard errors over fits).",
        "## Noise",
        table(list(NOISE), "exclude zero", "excluded"),
        "## Coverage",
        table(list(CASES), "contain the truth", "inside"),
    ]


def tasks(cases: Sequence[str], splits: range) -> list[Task]:
    return [
        {"case": name, "seed": seed, "sample": sample}
        for name in cases
        for seed in (SEEDS[: len(splits)] if name in CASES else (0,))
        for sample in range(NOISE_FITS if name in NOISE else SAMPLES)
    ]


if __name__ == "__main__":
    experiment(
        "effect_intervals",
        __doc__,
        [*CASES, *NOISE],
        len(SEEDS),
        tasks,
        work,
        page,
        file="COVERAGE.md",
    )
