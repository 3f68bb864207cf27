"""Do the intervals of `stability` cover as often as they say? Synthetic documents, the truth known.

    python experiments/effect_intervals.py [CASE ...] [--samples 10] [--seeds 410 420 ...] [--quick]
    python experiments/effect_intervals.py --table                  # only write COVERAGE.md

For each seed a large corpus is drawn; disjoint samples of it are what users would have. Each is
given to `stability` (10 pairs of halves, level 0.9). The interval is about "this topic": what the
very topic that was found, its words as they are, moves in the corpus, the target being regressed on
the mixes that the sample's model gives to documents of the corpus. Beside it, what else one may
want to know, which the interval does *not* promise to contain, since other documents give other
topics:

- "this size": the mean of the effects that fits to all the samples come to, with the same share.
- "all, share held": the effect in a fit to the whole corpus, 50 times as many documents, with the
  share of words that the sample came to.
- "all, share chosen": the same with the share that the whole corpus chooses.

Topics are matched to those of the whole corpus by their words; "this topic" needs no matching, and
no fit to the whole corpus: `--quick` has this one only. A line of
experiments/results/effect_intervals.jsonl for each sample; an interrupted run goes on.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import t as student
from sklearn.base import clone, is_classifier
from sklearn.linear_model import LinearRegression, LogisticRegression

from topicfocus import FocusedTopicClassifier, FocusedTopicRegressor, stability
from topicfocus.datasets import make_pfslda, make_reviews
from topicfocus.metrics.words import match_topics
from topicfocus.estimators.training import FitOptions, fit_with
from topicfocus.selection.effect_intervals import effects_of
from topicfocus.solvers.focus import FixedInclusion

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "effect_intervals.jsonl"
PAIRS, LEVEL = 10, 0.9
#: Standard errors from the middle to the ends, as `stability` has it.
REACH = float(student.ppf(0.5 + LEVEL / 2, PAIRS - 1))
#: Documents of the corpus that "this topic" is judged on.
JUDGED = 10_000
TRUTHS = ("topic", "size", "held", "chosen")
NAMES = ("this topic", "this size", "all, share held", "all, share chosen")


class Case(NamedTuple):
    """A corpus, a model, and how many documents a sample has."""

    counts: Any
    target: Any
    model: Any
    size: int


def planted(seed: int, n_docs: int, family: str, **settings: Any) -> Case:
    """Documents of a pf-sLDA with 3 topics on 50 of 100 words."""
    length = 50 if family == "gaussian" else 150
    data = make_pfslda(n_docs, 100, 3, 50, length, family=family, random_state=seed)
    cls = FocusedTopicRegressor if family == "gaussian" else FocusedTopicClassifier
    model = cls(n_topics=3, random_state=0, n_jobs=1, **settings)
    return Case(data.counts, data.target, model, 400 if family == "gaussian" else 600)


def reviews(seed: int, n_docs: int, n_themes: int, n_topics: int, **settings: Any) -> Case:
    data = make_reviews(n_docs, n_themes=n_themes, random_state=seed)
    model = FocusedTopicRegressor(n_topics=n_topics, random_state=0, n_jobs=1, **settings)
    return Case(data.counts, np.asarray(data.target, dtype=float), model, 400)


CASES = {
    "planted, numbers, share given": lambda s: planted(s, 20_000, "gaussian", inclusion_prior=0.25),
    "planted, two classes, share given": lambda s: planted(
        s + 1, 30_000, "bernoulli", inclusion_prior=0.25
    ),
    "planted, numbers, automatic share": lambda s: planted(s + 2, 20_000, "gaussian"),
    "planted, two classes, automatic share": lambda s: planted(s + 3, 30_000, "bernoulli"),
    "reviews, automatic share": lambda s: reviews(s + 4, 20_000, 1, 3),
    "reviews of 3 themes, automatic share": lambda s: reviews(s + 5, 20_000, 3, 6),
    "planted, numbers, stable": lambda s: planted(s + 6, 20_000, "gaussian", selection="stable"),
    "planted, two classes, stable": lambda s: planted(
        s + 7, 30_000, "bernoulli", selection="stable"
    ),
    "reviews of 3 themes, stable": lambda s: reviews(s + 8, 20_000, 3, 6, selection="stable"),
}


def topic_effects(model: Any, counts: Any) -> np.ndarray:
    """Predicted differences by the coefficients of the model itself, topics x predictors."""
    return effects_of(model.transform(counts), np.atleast_2d(model.coef_).T)


class Whole:
    """Fits to the whole corpus, one for each share that samples come to."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.chosen = clone(case.model).fit(case.counts, case.target)
        path = getattr(self.chosen, "inclusion_path_", ())
        taken, alone = self.chosen.inclusion_prior_, self.chosen.fitted_.discoveries
        self.shares = [FixedInclusion(s, alone and s == taken) for s, *_ in path]
        self.shares = self.shares or [FixedInclusion(taken, alone)]
        self._held: dict[int, Any] = {}

    def place(self, share: float) -> int:
        """Which of the whole corpus's shares it is: they differ a little, as mean lengths do."""
        return int(np.argmin(np.abs(np.log(np.array([s.inclusion for s in self.shares]) / share))))

    def held(self, place: int) -> Any:
        if place not in self._held:
            options = FitOptions(fixed_inclusion=self.shares[place])
            model = clone(self.case.model)
            self._held[place] = fit_with(model, options, self.case.counts, self.case.target)
        return self._held[place]

    def effects(self, model: Any) -> np.ndarray:
        return topic_effects(model, self.case.counts)[:, 0]


def in_corpus(model: Any, case: Case) -> np.ndarray:
    """What each topic of the model moves in documents of the corpus, its words as they are."""
    counts, target = case.counts[:JUDGED], case.target[:JUDGED]
    fitted = model.fitted_
    mixes = fitted.mixes(fitted.corpus(counts), 1)
    # Mixes sum to one: the last topic is the reference, whose coefficient is 0.
    if is_classifier(model):
        fit = LogisticRegression(C=1e6, max_iter=1000).fit(mixes[:, :-1], target)
        coef = np.append(fit.coef_[0], 0.0)
    else:
        coef = np.append(LinearRegression().fit(mixes[:, :-1], target).coef_, 0.0)
    low, high = np.quantile(mixes, [0.1, 0.9], axis=0)
    mean = mixes.mean(axis=0)
    others = (mean @ coef - mean * coef) / (1 - mean)
    return (high - low) * (coef - others)


def one_sample(case: Case, whole: Whole | None, s: int, order: np.ndarray) -> dict[str, Any]:
    """The intervals of a sample, and what each truth says, topics in the order of the sample's."""
    rows = np.sort(order[s * case.size : (s + 1) * case.size])
    counts, target = case.counts[rows], case.target[rows]
    mine = clone(case.model).fit(counts, target)
    found = stability(mine, counts, target, n_resamples=PAIRS, random_state=s, n_jobs=1).effects
    row: dict[str, Any] = {"sample": s, "share": mine.inclusion_prior_}
    row["own"], row["centre"] = found.estimate[:, 0].tolist(), found.centre[:, 0].tolist()
    row["error"] = found.error[:, 0].tolist()
    row["topic"] = in_corpus(mine, case).tolist()
    if whole is not None:
        row |= other_truths(case, whole, mine, counts, target)
    return row


def other_truths(case: Case, whole: Whole, mine: Any, counts: Any, target: Any) -> dict[str, Any]:
    """What fits to the whole corpus, and to this sample with the other shares, come to."""
    place = whole.place(mine.inclusion_prior_)
    row: dict[str, Any] = {"place": place}
    for name, model in (("held", whole.held(place)), ("chosen", whole.chosen)):
        match, _ = match_topics(model.components_, mine.components_)
        row[name] = whole.effects(model)[match].tolist()
        row[f"{name}_match"] = np.argsort(match).tolist()
    # What fits with the other shares come to, for the mean over samples of each share.
    row["fits"] = {}
    for other in range(len(whole.shares)):
        model = mine
        if other != place:
            options = FitOptions(fixed_inclusion=whole.shares[other])
            model = fit_with(clone(case.model), options, counts, target)
        match, _ = match_topics(model.components_, whole.held(other).components_)
        row["fits"][str(other)] = topic_effects(model, counts)[match, 0].tolist()
    return row


# ---- runs and the page ---------------------------------------------------------------------------


def finished(seeds: Sequence[int]) -> dict[str, list[dict[str, Any]]]:
    """The rows of each case, of all these corpora."""
    out: dict[str, list[dict[str, Any]]] = {}
    if RESULTS.exists():
        for line in RESULTS.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            if row["seed"] in seeds:
                out.setdefault(row["case"], []).append(row)
    return out


def run(names: list[str], samples: int, seed: int, quick: bool) -> None:
    RESULTS.parent.mkdir(exist_ok=True)
    for name in names:
        done = {row["sample"] for row in finished([seed]).get(name, [])}
        left = [s for s in range(samples) if s not in done]
        if not left:
            continue
        case = CASES[name](seed)
        whole = None if quick else Whole(case)
        order = np.random.default_rng(0).permutation(case.counts.shape[0])
        for s in left:
            row = one_sample(case, whole, s, order)
            with RESULTS.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"case": name, "seed": seed, **row}) + "\n")
            print(name, s, flush=True)


def with_size(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows with the mean over all samples of the same corpus, fits with the row's share."""
    for seed in sorted({row["seed"] for row in rows}):
        _add_size([row for row in rows if row["seed"] == seed])
    return rows


def _add_size(rows: list[dict[str, Any]]) -> None:
    places = sorted(rows[0]["fits"])
    means = {p: np.mean([row["fits"][p] for row in rows], axis=0) for p in places}
    for row in rows:
        # Topic i of the whole corpus's is topic match[i] of the sample's.
        back = np.argsort(row["held_match"])
        row["size"] = means[str(row["place"])][back].tolist()


def cover(rows: list[dict[str, Any]], truth: str, centre: str = "centre") -> tuple[float, float]:
    """The share of intervals with the truth in them; its standard error, samples independent."""
    inside = np.array(
        [
            np.mean(
                np.abs(np.array(r[centre]) - np.array(r[truth])) <= REACH * np.array(r["error"])
            )
            for r in rows
        ]
    )
    return float(inside.mean()), float(inside.std(ddof=1) / np.sqrt(len(inside)))


def spread(rows: list[dict[str, Any]]) -> float:
    """Root mean square of the error of "this topic", in standard errors."""
    away = [(np.array(r["centre"]) - r["topic"]) / r["error"] for r in rows]
    return float(np.sqrt(np.mean(np.square(away))))


def page(seeds: Sequence[int]) -> str:
    lines = [
        "# Coverage of the intervals of effects",
        "",
        "Made by `python experiments/effect_intervals.py`, which says what the truths are: share",
        f"of 90% intervals of `stability` that contain the truth (standard error); {PAIRS} pairs "
        "of halves.",
        "",
        "The interval is about the first column. Spread: root mean square of (centre - truth) in",
        "standard errors, for the first column, over topics and samples; it should be 1.",
        f"Corpora of the seeds {', '.join(map(str, seeds))}; empty: not measured.",
        "",
        "| documents | samples | " + " | ".join([*NAMES[:1], "spread", *NAMES[1:]]) + " |",
        "|---" * 7 + "|",
    ]
    total = finished(seeds)
    for name in (n for n in CASES if n in total):
        rows, size = total[name], CASES_SIZE[name]
        cells = ["{:.2f} ({:.2f})".format(*cover(rows, "topic")), f"{spread(rows):.2f}"]
        both = [row for row in rows if "fits" in row]
        for truth in TRUTHS[1:]:
            found = cover(with_size(both), truth) if len(both) > 1 else None
            cells.append("" if found is None else "{:.2f} ({:.2f})".format(*found))
        lines.append(f"| {name} | {len(rows)} of {size} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


CASES_SIZE = {name: 600 if "classes" in name else 400 for name in CASES}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("case", nargs="*", default=list(CASES))
    parser.add_argument("--samples", type=int, default=10, help="of each corpus")
    parser.add_argument("--seeds", type=int, nargs="+", default=[410, 420, 430, 440])
    parser.add_argument("--quick", action="store_true", help='"this topic" only')
    parser.add_argument("--table", action="store_true", help="only write the page")
    args = parser.parse_args()
    names = [n for n in CASES if any(c in n for c in args.case)]
    for seed in () if args.table else args.seeds:
        run(names, args.samples, seed, args.quick)
    (HERE / "COVERAGE.md").write_text(page(args.seeds), encoding="utf-8")


if __name__ == "__main__":
    main()
