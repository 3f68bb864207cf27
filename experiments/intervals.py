"""How often test targets are inside the intervals of `predict_interval`.

    python experiments/intervals.py [pang_lee yelp simulated]        # writes INTERVALS.md

Stars of Pang & Lee and Yelp: 5 topics, defaults; beside them intervals by split conformal
prediction (MAPIE), calibrated on the validation part. Counts and levels, whose intervals have whole
numbers as ends: counts drawn for simulated reviews, the votes "useful" of Yelp's reviews, and
Yelp's stars as levels.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from data import find_data, load, read_columns
from runner import Task, experiment, finished, grid, markdown, mean_sd
from scipy.special import expit
from scipy.stats import nbinom, norm, poisson

import topicfocus
from topicfocus import FocusedTopicRegressor
from topicfocus.datasets import make_reviews
from topicfocus.metrics import coverage

LEVELS = (0.5, 0.8, 0.95)
#: Models of stars and their numbers of splits.
STARS = {
    "FocusedTopicRegressor": 5,
    "FocusedTopicRegressor, conformal": 5,
    "PFSLDARegressor": 3,
    "SLDARegressor": 3,
}
#: Simulated counts: log rate of an average review, variance of a gamma factor, exposure.
SIMULATED = {
    "few, Poisson": (0.3, 0.0, False),
    "few, overdispersed": (0.3, 0.5, False),
    "many, Poisson": (3.0, 0.0, False),
    "many, overdispersed": (3.0, 0.5, False),
    "Poisson, with exposure": (0.3, 0.0, True),
    "overdispersed, with exposure": (0.3, 0.5, True),
}
YELP = ("yelp, votes", "yelp, levels")


def work(task: Task) -> dict[str, Any]:
    name, split = task["data"], task["split"]
    if task["model"] != "counts":
        return stars(name, task["model"], split)
    if name in SIMULATED:
        return simulated_counts(name, split)
    return votes(split) if name == "yelp, votes" else levels(split)


def stars(name: str, model_name: str, split: int) -> dict[str, Any]:
    data = load(name, split)
    cls, _, conformal = model_name.partition(", ")
    model = getattr(topicfocus, cls)(5, random_state=split)
    extra = {}
    if cls.startswith("Focused") and not conformal:
        extra = {"X_val": data.valid.counts, "y_val": data.valid.target}
    model.fit(data.train.counts, data.train.target, **extra)
    if conformal:
        from mapie.regression import SplitConformalRegressor

        wrapped = SplitConformalRegressor(model, confidence_level=list(LEVELS), prefit=True)
        wrapped.conformalize(data.valid.counts, data.valid.target)
        _, found = wrapped.predict_interval(data.test.counts)
        ends = {level: (found[:, 0, i], found[:, 1, i]) for i, level in enumerate(LEVELS)}
    else:
        mean, std = model.predict(data.test.counts, return_std=True)
        reach = {level: norm.ppf(0.5 + level / 2) * std for level in LEVELS}
        ends = {level: (mean - reach[level], mean + reach[level]) for level in LEVELS}
    low, high = ends[0.8]
    inside = {str(level): coverage(data.test.target, *ends[level]) for level in LEVELS}
    return {"coverage": inside, "width": float(np.mean(high - low))}


def whole_ends(model: Any, counts: Any, truth: np.ndarray, below: Any, **more: Any) -> dict:
    """Coverage of intervals with whole ends, and of the same with randomised ends.

    `below` is P(y < truth) and P(y <= truth). The target is inside where u, uniform between the
    two, is between the levels of both ends: a correct distribution has exact coverage by this,
    however coarse its values are.
    """
    u = np.random.default_rng(0).uniform(*below)
    inside, drawn, width = {}, {}, 0.0
    for level in LEVELS:
        low, high = model.predict_interval(counts, level, **more)
        inside[str(level)] = coverage(truth, low, high)
        drawn[str(level)] = float(np.mean(np.abs(u - 0.5) <= level / 2))
        if level == 0.8:
            width = float(np.mean(high - low))
    return {"coverage": inside, "drawn": drawn, "width": width, "mean": float(np.mean(truth))}


def count_probabilities(model: Any, counts: Any, truth: np.ndarray, **more: Any) -> list:
    """P(y < truth) and P(y <= truth) of a count by its predicted distribution."""
    mean, std = model.predict(counts, return_std=True, **more)
    spread = np.maximum((std**2 - mean) / mean**2, 0.0)
    size = 1 / np.maximum(spread, 1e-9)
    ends = []
    for k in (truth - 1, truth):
        varies = nbinom.cdf(k, size, size / (size + mean))
        ends.append(np.where(spread > 1e-9, varies, poisson.cdf(k, mean)))
    return ends


def simulated_counts(name: str, seed: int) -> dict[str, Any]:
    """Counts of 3,000 simulated reviews, 2,000 of them to fit; rates follow the true stars."""
    level, extra, exposed = SIMULATED[name]
    reviews, rng = make_reviews(3000, random_state=seed), np.random.default_rng(seed)
    rate = np.exp(level + (reviews.target - reviews.target.mean()) / 3)
    exposure = rng.uniform(0.2, 5.0, 3000) if exposed else np.ones(3000)
    varied = rng.gamma(1 / extra, extra, 3000) if extra else 1.0
    y = rng.poisson(rate * exposure * varied)
    fit, new = slice(0, 2000), slice(2000, None)
    more = [{"exposure": exposure[part]} if exposed else {} for part in (fit, new)]
    model = FocusedTopicRegressor(5, family="poisson", random_state=seed)
    model.fit(reviews.counts[fit], y[fit], **more[0])
    below = count_probabilities(model, reviews.counts[new], y[new], **more[1])
    return whole_ends(model, reviews.counts[new], y[new], below, **more[1])


def votes(split: int) -> dict[str, Any]:
    """Votes "useful" of Yelp's reviews as counts."""
    table = read_columns(find_data("yelp") / "yelp.csv.gz", "text", "useful")
    known = dict(zip(table["text"], table["useful"].astype(int), strict=True))
    data = load("yelp", split)
    fit, new = (np.array([known[text] for text in part.texts]) for part in (data.train, data.test))
    model = FocusedTopicRegressor(5, family="poisson", random_state=split)
    model.fit(data.train.counts, fit)
    below = count_probabilities(model, data.test.counts, new)
    return whole_ends(model, data.test.counts, new, below)


def levels(split: int) -> dict[str, Any]:
    """Yelp's stars as levels: P(y <= c) = σ((τ_c - f)/√(1 + π Var f/8))."""
    data = load("yelp", split)
    model = FocusedTopicRegressor(5, family="ordinal", random_state=split)
    model.fit(data.train.counts, data.train.target)
    f, spread = model.fitted_.outlook(model.fitted_.documents(data.test.counts))
    up_to = expit((model.thresholds_ - f) / np.sqrt(1 + np.pi * spread / 8))
    up_to = np.column_stack([np.zeros(len(f)), up_to, np.ones(len(f))])
    rows, place = np.arange(len(f)), np.searchsorted(model.levels_, data.test.target)
    below = (up_to[rows, place], up_to[rows, place + 1])
    return whole_ends(model, data.test.counts, data.test.target, below)


def cells(records: list[dict[str, Any]], field: str) -> list[str]:
    return [mean_sd([r[field][str(level)] for r in records]) for level in LEVELS]


def page() -> list[str]:
    done = finished("intervals")
    first, second = [], []
    for data, model in ((d, m) for d in ("pang_lee", "yelp") for m in STARS):
        rows = [r for r in done if r["data"] == data and r["model"] == model]
        if rows:
            width = mean_sd([r["width"] for r in rows], "{:.2f}", sd=False)
            first.append([data, model, len(rows), *cells(rows, "coverage"), width])
    for data in (*SIMULATED, *YELP):
        rows = [r for r in done if r["data"] == data]
        if rows:
            mean, width = (
                mean_sd([r[k] for r in rows], "{:.2f}", sd=False) for k in ("mean", "width")
            )
            both = [*cells(rows, "coverage"), *cells(rows, "drawn")]
            second.append([data, mean, len(rows), *both, width])
    shown = [f"{level:.0%}" for level in LEVELS]
    return [
        "# Coverage of intervals on test documents",
        "Generated by `python experiments/intervals.py`: fraction of test targets inside the "
        "interval, mean (standard deviation) over random splits; 5 topics, defaults. Width is that "
        "of the 80% interval.",
        "## Stars",
        markdown(["data", "model", "splits", *shown, "width"], first),
        "## Counts and levels",
        '`FocusedTopicRegressor` with `family="poisson"` or `"ordinal"`. Both ends are whole '
        "numbers (or levels) and belong to the interval, so it contains more than its level where "
        "counts are small. *Randomised*: the ends are randomised such that a correct distribution "
        "has coverage of exactly 50, 80 and 95%. Simulated counts: 2,000 reviews to fit, 1,000 to "
        "test, rates by the true stars; overdispersed ones times a gamma of variance 0.5.",
        markdown(
            ["data", "mean", "seeds", *shown, *(f"randomised {s}" for s in shown), "width"], second
        ),
    ]


def tasks(data: Sequence[str], splits: range) -> list[Task]:
    counts = {"simulated": (SIMULATED, 5), "yelp": (YELP, 2)}
    found: list[Task] = []
    for name in data:
        if name != "simulated":
            for model, n in STARS.items():
                found += grid(data=[name], model=[model], split=splits[:n])
        if name in counts:
            kinds, n = counts[name]
            found += grid(data=kinds, model=["counts"], split=splits[:n])
    return found


if __name__ == "__main__":
    data = ("pang_lee", "yelp", "simulated")
    experiment("intervals", __doc__, data, 5, tasks, work, page)
