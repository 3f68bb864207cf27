"""Coverage of the intervals of `stability` on simulated documents.

    python experiments/effect_intervals.py [CASE ...] [--splits 4]        # writes COVERAGE.md

For each seed a large corpus is drawn; disjoint samples of it are what users would have. Each is
given to `stability` (10 pairs of halves, level 0.9). The interval is about the topic that was
found: the predicted difference that this topic, with its words as they are, makes in the corpus,
computed by a regression of the target on the topic proportions of the corpus's documents.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from runner import HERE, Record, Task, arguments, finished, markdown, run, write_page
from scipy.stats import t as student
from sklearn.base import clone, is_classifier
from sklearn.linear_model import LinearRegression, LogisticRegression

from topicfocus import FocusedTopicClassifier, FocusedTopicRegressor, stability
from topicfocus.datasets import make_pfslda, make_reviews

PAIRS, LEVEL, SAMPLES = 10, 0.9, 10
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


def planted(seed: int, family: str, **settings: Any) -> Case:
    """Documents of a pf-sLDA with 3 topics on 50 words."""
    numbers = family == "gaussian"
    n_docs, other = (20_000, 50) if numbers else (30_000, 150)
    data = make_pfslda(n_docs, 100, 3, 50, other, family=family, random_state=seed)
    cls = FocusedTopicRegressor if numbers else FocusedTopicClassifier
    model = cls(n_topics=3, random_state=0, n_jobs=1, **settings)
    return Case(data.counts, data.target, model, 400 if numbers else 600)


def reviews(seed: int, n_themes: int, n_topics: int, **settings: Any) -> Case:
    data = make_reviews(20_000, n_themes=n_themes, random_state=seed)
    model = FocusedTopicRegressor(n_topics=n_topics, random_state=0, n_jobs=1, **settings)
    return Case(data.counts, np.asarray(data.target, dtype=float), model, 400)


CASES = {
    "planted, numbers, share given": lambda s: planted(s, "gaussian", inclusion_prior=0.25),
    "planted, two classes, share given": lambda s: planted(
        s + 1, "bernoulli", inclusion_prior=0.25
    ),
    "planted, numbers, automatic share": lambda s: planted(s + 2, "gaussian"),
    "planted, two classes, automatic share": lambda s: planted(s + 3, "bernoulli"),
    "reviews, automatic share": lambda s: reviews(s + 4, 1, 3),
    "reviews of 3 themes, automatic share": lambda s: reviews(s + 5, 3, 6),
    "planted, numbers, stable": lambda s: planted(s + 6, "gaussian", selection="stable"),
    "planted, two classes, stable": lambda s: planted(s + 7, "bernoulli", selection="stable"),
    "reviews of 3 themes, stable": lambda s: reviews(s + 8, 3, 6, selection="stable"),
}


@lru_cache(maxsize=1)
def _case(name: str, seed: int) -> Case:
    return CASES[name](seed)


def in_corpus(model: Any, case: Case) -> np.ndarray:
    """The difference that each topic of the model makes in documents of the corpus."""
    target = case.target[:JUDGED]
    proportions = model.transform(case.counts[:JUDGED])
    # Proportions sum to one: the last topic is the reference, whose coefficient is 0.
    regression: Any = LinearRegression()
    if is_classifier(model):
        regression = LogisticRegression(C=1e6, max_iter=1000)
    coef = np.append(np.ravel(regression.fit(proportions[:, :-1], target).coef_), 0.0)
    low, high = np.quantile(proportions, [0.1, 0.9], axis=0)
    mean = proportions.mean(axis=0)
    others = (mean @ coef - mean * coef) / (1 - mean)
    return (high - low) * (coef - others)


def work(task: Task) -> dict[str, Any]:
    """The intervals of one sample, and the truth."""
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
    done = [r for r in finished("effect_intervals") if r["seed"] in SEEDS]
    lines = []
    for name in CASES:
        records = [r for r in done if r["case"] == name]
        if len(records) > 1:
            size = 600 if "classes" in name else 400
            lines.append([name, f"{len(records)} of {size}", *cells(records)])
    return [
        "# Coverage of the intervals of predicted differences",
        "Generated by `python experiments/effect_intervals.py`, which defines the truth: fraction "
        f"of 90% intervals of `stability` that contain it (standard error); {PAIRS} pairs of "
        "halves. Spread: root mean square of (centre - truth) in standard errors, over topics and "
        f"samples; it should be 1. Corpora of the seeds {', '.join(map(str, SEEDS))}.",
        markdown(["documents", "samples", "contain the truth", "spread"], lines),
    ]


def main() -> None:
    args = arguments(__doc__, list(CASES), len(SEEDS))
    tasks = [
        {"case": name, "seed": seed, "sample": sample}
        for name in args.data
        for seed in SEEDS[: args.splits]
        for sample in range(SAMPLES)
    ]
    if not args.page:
        run("effect_intervals", tasks, work, jobs=args.jobs)
    write_page(HERE / "COVERAGE.md", *page())


if __name__ == "__main__":
    main()
