"""Intervals of effects: how often they exclude zero under noise, and their coverage.

    python experiments/effect_intervals.py [CASE ...] [--splits 4]        # writes COVERAGE.md

For each seed a large corpus is drawn; disjoint samples of it are what users would have. Each is
given to `stability` (10 pairs of halves, level 0.9). The interval is about the topic that was
found: the difference that this topic, with its words as they are, makes in the corpus, computed by
a linear regression of the target on the topic proportions of the corpus's documents.

Noise: documents are simulated reviews, targets have nothing to do with them. Counted are intervals
that exclude zero: of `topic_effects` with 100 documents that had no part in the fit to 400 others
(level 0.95), and of `stability` (level 0.9, 50 pairs); 200 fits of each kind.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from runner import Record, Task, experiment, finished, markdown
from scipy.stats import t as student
from sklearn.base import clone
from sklearn.linear_model import LinearRegression

from topicfocus import FocusedTopicClassifier, FocusedTopicRegressor, stability
from topicfocus.datasets import make_pfslda, make_reviews

PAIRS, LEVEL, SAMPLES = 10, 0.9, 10
#: Pairs of halves under noise, the default of `stability`: with fewer the intervals are wider.
NOISE_PAIRS = 50
SEEDS = (410, 420, 430, 440)
#: Standard errors from the middle of an interval to its ends.
REACH = float(student.ppf(0.5 + LEVEL / 2, PAIRS - 1))
#: Documents of the corpus by which the true difference is computed.
JUDGED = 10_000


class Case(NamedTuple):
    """A corpus, a model, and the number of documents of a sample."""

    counts: Any
    target: Any
    model: Any
    size: int


def simulated(seed: int, family: str, **settings: Any) -> Case:
    """Documents of a pf-sLDA with 3 topics on 50 words."""
    numbers = family == "gaussian"
    n_docs, other = (20_000, 50) if numbers else (30_000, 150)
    data = make_pfslda(n_docs, 100, 3, 50, other, family=family, random_state=seed)
    cls = FocusedTopicRegressor if numbers else FocusedTopicClassifier
    model = cls(n_topics=3, random_state=0, n_jobs=1, **settings)
    return Case(data.counts, data.target, model, 400 if numbers else 600)


def reviews(seed: int, n_themes: int, n_topics: int) -> Case:
    data = make_reviews(20_000, n_themes=n_themes, random_state=seed)
    model = FocusedTopicRegressor(n_topics=n_topics, random_state=0, n_jobs=1)
    return Case(data.counts, np.asarray(data.target, dtype=float), model, 400)


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


#: Fits of each kind to a target of noise.
NOISE = {
    f"{what}, {kind}": 200
    for what in ("topic_effects", "stability")
    for kind in ("numbers", "two classes", "three classes")
}


@lru_cache(maxsize=1)
def _case(name: str, seed: int) -> Case:
    return CASES[name](seed)


def in_corpus(model: Any, case: Case) -> np.ndarray:
    """The difference that each topic of the model makes in documents of the corpus."""
    target = np.asarray(case.target[:JUDGED], dtype=float)
    proportions = model.transform(case.counts[:JUDGED])
    # Proportions sum to one: the last topic is the reference, whose coefficient is 0.
    coef = np.append(LinearRegression().fit(proportions[:, :-1], target).coef_, 0.0)
    low, high = np.quantile(proportions, [0.1, 0.9], axis=0)
    mean = proportions.mean(axis=0)
    others = (mean @ coef - mean * coef) / (1 - mean)
    return (high - low) * (coef - others)


def noise(task: Task) -> dict[str, Any]:
    """Intervals of one fit to a target of noise that exclude zero."""
    kind, s = task["case"], task["sample"]
    corpus, rng = _noise_corpus(), np.random.default_rng(s)
    rows = rng.choice(corpus.shape[0], 500, replace=False)
    n_classes = {"numbers": 0, "two classes": 2, "three classes": 3}[kind.split(", ")[1]]
    target = rng.integers(0, n_classes, 500) if n_classes else rng.normal(size=500)
    model = FocusedTopicClassifier if n_classes else FocusedTopicRegressor
    made = model(5, random_state=0, n_jobs=1)
    if kind.startswith("stability"):
        found = stability(
            made, corpus[rows], target, n_resamples=NOISE_PAIRS, random_state=s, n_jobs=1
        ).effects
        low, high = found.low, found.high
    else:
        made.fit(corpus[rows[:400]], target[:400])
        table = made.topic_effects(corpus[rows[400:]], target[400:])
        low, high = table["lower"].to_numpy(), table["upper"].to_numpy()
    return {"excluded": int(np.sum((low > 0) | (high < 0))), "intervals": int(np.size(low))}


@lru_cache(maxsize=1)
def _noise_corpus() -> Any:
    return make_reviews(20_000, n_themes=3, random_state=1).counts


def work(task: Task) -> dict[str, Any]:
    """The intervals of one sample, and the truth."""
    if task["case"] in NOISE:
        return noise(task)
    case, s = _case(task["case"], task["seed"]), task["sample"]
    order = np.random.default_rng(0).permutation(case.counts.shape[0])
    rows = np.sort(order[s * case.size : (s + 1) * case.size])
    counts, target = case.counts[rows], case.target[rows]
    model = clone(case.model).fit(counts, target)
    found = stability(model, counts, target, n_resamples=PAIRS, random_state=s, n_jobs=1).effects
    row = {name: getattr(found, name)[:, 0].tolist() for name in ("centre", "error")}
    return row | {"share": model.inclusion_prior_, "topic": in_corpus(model, case).tolist()}


def cells(records: list[Record]) -> list[str]:
    """Coverage with its standard error, and the spread of errors in standard errors."""
    away = [(np.array(r["centre"]) - np.array(r["topic"])) / np.array(r["error"]) for r in records]
    inside = np.array([np.mean(np.abs(a) <= REACH) for a in away])
    spread = np.sqrt(np.mean(np.concatenate(away) ** 2))
    error = inside.std(ddof=1) / np.sqrt(len(inside))
    return [f"{inside.mean():.2f} ({error:.2f})", f"{spread:.2f}"]


def page() -> list[str]:
    return [
        "# Intervals of predicted differences",
        "Generated by `python experiments/effect_intervals.py`.",
        *_noise_page(),
        *_coverage_page(),
    ]


def _noise_page() -> list[str]:
    return [
        "## Noise",
        "Fraction of the intervals that exclude zero (standard error over fits), which should be "
        f"5% for `topic_effects` and 10% for `stability` ({NOISE_PAIRS} pairs of halves; with "
        "10 pairs, 168 fits each, it was .056, .058 and .034).",
        markdown(["interval, target", "fits", "intervals", "exclude zero"], _noise_lines()),
    ]


def _coverage_page() -> list[str]:
    lines, done = [], finished("effect_intervals")
    seeds = sorted({r["seed"] for r in done if r["case"] in CASES})
    for name in CASES:
        records = [r for r in done if r["case"] == name]
        if len(records) > 1:
            size = 600 if "classes" in name else 400
            lines.append([name, f"{len(records)} of {size}", *cells(records)])
    if not lines:
        return []
    return [
        "## Coverage",
        "Fraction of 90% intervals of `stability` that contain the difference in a large corpus "
        f"(standard error); {PAIRS} pairs of halves. The difference is that of the topics of the "
        "whole sample; those of a half, which the intervals are about, predict less, and several "
        "topics may be rotated. Spread: root mean square of (centre - truth) "
        "in standard errors, over topics and samples; it should be 1. Corpora of the seeds "
        f"{', '.join(map(str, seeds))}.",
        markdown(["documents", "samples", "contain the truth", "spread"], lines),
    ]


def _noise_lines() -> list[list[Any]]:
    done, lines = finished("effect_intervals"), []
    for name in NOISE:
        records = [r for r in done if r["case"] == name]
        if len(records) > 1:
            total = sum(r["intervals"] for r in records)
            rates = np.array([r["excluded"] for r in records]) / total * len(records)
            error = rates.std(ddof=1) / np.sqrt(len(rates))
            lines.append([name, len(records), total, f"{rates.mean():.3f} ({error:.3f})"])
    return lines


def tasks(cases: Sequence[str], splits: range) -> list[Task]:
    return [
        {"case": name, "seed": seed, "sample": sample}
        for name in cases
        for seed in (SEEDS[: len(splits)] if name in CASES else (0,))
        for sample in range(NOISE.get(name, SAMPLES))
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
