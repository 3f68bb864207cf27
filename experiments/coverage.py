"""Do the intervals of `stability` cover as often as they say? Synthetic documents, the truth known.

    python experiments/coverage.py

A large corpus is drawn; disjoint samples of it are what users would have. Each is given to
`stability` (10 pairs of halves, level 0.9). An interval of a topic's effect is right if it contains

- "this size": the mean of the effects that fits to all the samples come to, what the same fit finds
  on average in samples of this size; or
- "all": the effect in a fit to the whole corpus, 33 times as many documents.

Topics are matched to those of the whole corpus. Intervals around the one fit, with the same
standard error, and those around the mean of the halves stand beside the ones of `stability`, whose
middle is between the two.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from topicfocus import FocusedTopicClassifier, FocusedTopicRegressor, stability
from topicfocus.datasets import make_pfslda, make_reviews
from topicfocus.metrics.words import match_topics
from topicfocus.selection.resampling import topic_effects

HERE = Path(__file__).parent
TOPICS, PAIRS, SAMPLES, SIZE = 3, 10, 30, 600


def cases() -> dict[str, tuple[Any, Any, Any]]:
    """Name: counts, targets, model."""
    same: dict[str, Any] = {"n_topics": TOPICS, "random_state": 0, "n_jobs": 1}
    numbers = make_pfslda(20_000, 100, TOPICS, 50, 50, random_state=11)
    classes = make_pfslda(20_000, 100, TOPICS, 50, 150, family="bernoulli", random_state=12)
    reviews = make_reviews(20_000, random_state=13)
    planted = {"inclusion_prior": 0.25, **same}
    return {
        "planted topics, numbers": (
            numbers.counts,
            numbers.target,
            FocusedTopicRegressor(**planted),
        ),
        "planted topics, two classes": (
            classes.counts,
            classes.target,
            FocusedTopicClassifier(**planted),
        ),
        "reviews, automatic share": (
            reviews.counts,
            reviews.target,
            FocusedTopicRegressor(**same),
        ),
    }


def coverage(counts: Any, target: Any, model: Any) -> list[float]:
    """Shares of intervals that contain the truth: of this size and of all, three kinds."""
    model.fit(counts, target)
    topics, every = model.components_, topic_effects(model, counts)[:, 0]
    order = np.random.default_rng(0).permutation(counts.shape[0])
    own, centre, error = [], [], []
    for s in range(SAMPLES):
        rows = np.sort(order[s * SIZE : (s + 1) * SIZE])
        mine = type(model)(**model.get_params()).fit(counts[rows], target[rows])
        found = stability(mine, counts[rows], target[rows], n_resamples=PAIRS, n_jobs=1)
        match, _ = match_topics(mine.components_, topics)
        for values, new in zip(
            (own, centre, error),
            (found.effects.estimate, found.effects.centre, found.effects.error),
            strict=True,
        ):
            values.append(new[match, 0])
        print(s, np.round(own[-1], 2), np.round(centre[-1], 2), np.round(error[-1], 2), flush=True)
    truths = (np.mean(own, axis=0), every)
    reach = 1.6449 * np.array(error)
    middle, alone = np.array(centre), np.array(own)
    return [
        float(np.mean(np.abs(place - truth) <= reach))
        for place in (middle, alone, 2 * middle - alone)
        for truth in truths
    ]


def main() -> None:
    lines = [
        "# Coverage of the intervals of effects",
        "",
        "Made by `python experiments/coverage.py`, which says what the two truths are: share of",
        f"90% intervals that contain the truth; {TOPICS} topics, {SAMPLES} disjoint samples of "
        f"{SIZE} documents, {PAIRS} pairs of",
        "halves each. The standard error of a coverage of 0.90 is 0.03 or more: topics of a",
        "sample go together.",
        "",
        "| documents | `stability`: this size | all | one fit: this size | all "
        "| halves: this size | all |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, case in cases().items():
        figures = " | ".join(f"{value:.2f}" for value in coverage(*case))
        lines.append(f"| {name} | {figures} |")
        (HERE / "COVERAGE.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
