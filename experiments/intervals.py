"""How often held-out targets fall into the intervals of predict_interval.

    TOPICFOCUS_DATA=... python experiments/intervals.py [--fits N]

Stars of Pang & Lee and Yelp, random splits, 5 topics, defaults. δ comes from the validation part,
the rest of the variance from what the words leave open of θ. Beside them, intervals by split
conformal prediction (MAPIE), calibrated on the validation part of a model that made its choices on
the training part alone.

Counts and levels have whole numbers for ends. Counts are drawn for made reviews (a new draw and a
new corpus for each seed), and votes that reviews of Yelp got ("useful"); levels are Yelp's stars.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
from pathlib import Path

import numpy as np
from scipy.special import expit
from scipy.stats import nbinom, norm, poisson

import topicfocus
from topicfocus import FocusedTopicRegressor, datasets
from topicfocus.metrics import coverage

FOLDER = Path(__file__).parent
LEVELS = (0.5, 0.8, 0.95)
#: Models of stars, and how many splits of each.
MODELS = {"FocusedTopicRegressor": 5, "PFSLDARegressor": 3, "SLDARegressor": 3}
LOADERS = {"pang_lee": datasets.load_pang_lee, "yelp": datasets.load_yelp}
#: Made counts: log of the rate of an average review, variance of rates besides (gamma), exposure.
MADE = {
    "few, Poisson": (0.3, 0.0, False),
    "few, overdispersed": (0.3, 0.5, False),
    "many, Poisson": (3.0, 0.0, False),
    "many, overdispersed": (3.0, 0.5, False),
    "Poisson, with exposure": (0.3, 0.0, True),
    "overdispersed, with exposure": (0.3, 0.5, True),
}
SEEDS = 5
YELP_SPLITS = 2


# ---- stars ---------------------------------------------------------------------------------------


def gaussian_row(model, part) -> dict:
    mean, std = model.predict(part.counts, return_std=True)
    inside = {
        str(level): float(np.mean(np.abs(part.target - mean) <= norm.ppf(0.5 + level / 2) * std))
        for level in LEVELS
    }
    return {"coverage": inside, "width": float(2 * norm.ppf(0.9) * std.mean())}


def conformal_row(model, calibration, part) -> dict:
    from mapie.regression import SplitConformalRegressor

    wrapped = SplitConformalRegressor(model, confidence_level=list(LEVELS), prefit=True)
    wrapped.conformalize(calibration.counts, calibration.target)
    _, intervals = wrapped.predict_interval(part.counts)
    inside = {
        str(level): float(
            np.mean((part.target >= intervals[:, 0, i]) & (part.target <= intervals[:, 1, i]))
        )
        for i, level in enumerate(LEVELS)
    }
    return {"coverage": inside, "width": float((intervals[:, 1, 1] - intervals[:, 0, 1]).mean())}


def star_row(data, model_name: str, split: int, conformal: bool) -> dict:
    """A fit, and how often its intervals hold the targets of the test part."""
    model = getattr(topicfocus, model_name)(5, random_state=split)
    extra = {}
    if "Focused" in model_name and not conformal:
        extra = {"X_val": data.valid.counts, "y_val": data.valid.target}
    model.fit(data.train.counts, data.train.target, **extra)
    if conformal:
        return conformal_row(model, data.valid, data.test)
    return gaussian_row(model, data.test)


# ---- counts and levels ---------------------------------------------------------------------------


def whole_row(model, counts, truth, below, **more) -> dict:
    """Coverage of intervals with whole ends, and of the same with ends that are drawn.

    `below`: P(y < truth) and P(y <= truth). Where u, uniform between the two, is between the levels
    of both ends, the target is inside: a right distribution has this as often as it says, however
    coarse its values are.
    """
    u = np.random.default_rng(0).uniform(*below)
    inside, drawn, width = {}, {}, 0.0
    for level in LEVELS:
        low, high = model.predict_interval(counts, level, **more)
        assert np.all(low == np.round(low)) and np.all(high == np.round(high))
        inside[str(level)] = coverage(truth, low, high)
        drawn[str(level)] = float(np.mean(np.abs(u - 0.5) <= level / 2))
        if level == 0.8:
            width = float(np.mean(high - low))
    return {"coverage": inside, "drawn": drawn, "width": width, "mean": float(np.mean(truth))}


def chances(model, counts, truth, **more) -> tuple[np.ndarray, np.ndarray]:
    """P(y < truth) and P(y <= truth) of a count by its predicted distribution."""
    mean, std = model.predict(counts, return_std=True, **more)
    spread = np.maximum((std**2 - mean) / mean**2, 0.0)
    size = 1 / np.maximum(spread, 1e-9)
    ends = []
    for k in (truth - 1, truth):
        varies = nbinom.cdf(k, size, size / (size + mean))
        ends.append(np.where(spread > 1e-9, varies, poisson.cdf(k, mean)))
    return ends[0], ends[1]


def level_chances(model, part) -> tuple[np.ndarray, np.ndarray]:
    """The same of levels: P(y <= c) = σ((τ_c - f)/√(1 + π Var f/8)), as their intervals have it."""
    f, spread = model.fitted_.outlook(model.fitted_.documents(part.counts))
    up_to = expit((model.thresholds_ - f) / np.sqrt(1 + np.pi * spread / 8))
    up_to = np.column_stack([np.zeros(len(f)), up_to, np.ones(len(f))])
    rows, place = np.arange(len(f)), np.searchsorted(model.levels_, part.target)
    return up_to[rows, place], up_to[rows, place + 1]


def made_row(name: str, seed: int) -> dict:
    """Counts of 3,000 made reviews, 2,000 of them to fit; rates follow the review's true stars."""
    level, excess, exposed = MADE[name]
    reviews, rng = datasets.make_reviews(3000, random_state=seed), np.random.default_rng(seed)
    rate = np.exp(level + (reviews.target - reviews.target.mean()) / 3)
    exposure = rng.uniform(0.2, 5.0, 3000) if exposed else np.ones(3000)
    varied = rng.gamma(1 / excess, excess, 3000) if excess else 1.0
    y = rng.poisson(rate * exposure * varied)
    fit, new = slice(0, 2000), slice(2000, None)
    more = [{"exposure": exposure[part]} if exposed else {} for part in (fit, new)]
    model = FocusedTopicRegressor(5, family="poisson", random_state=seed)
    model.fit(reviews.counts[fit], y[fit], **more[0])
    below = chances(model, reviews.counts[new], y[new], **more[1])
    return whole_row(model, reviews.counts[new], y[new], below, **more[1])


def votes() -> dict[str, int]:
    """Votes "useful" of the reviews of Yelp, by their text."""
    with gzip.open(datasets.find_data("yelp") / "yelp.csv.gz", "rt", encoding="utf-8") as file:
        return {row["text"]: int(row["useful"]) for row in csv.DictReader(file)}


def yelp_row(name: str, split: int) -> dict:
    """Votes as counts, or stars as levels."""
    data = datasets.load_yelp(split=split)
    if name == "yelp, levels":
        model = FocusedTopicRegressor(5, family="ordinal", random_state=split)
        model.fit(data.train.counts, data.train.target)
        return whole_row(model, data.test.counts, data.test.target, level_chances(model, data.test))
    known = votes()
    fit, new = (np.array([known[text] for text in part.texts]) for part in (data.train, data.test))
    model = FocusedTopicRegressor(5, family="poisson", random_state=split)
    model.fit(data.train.counts, fit)
    return whole_row(model, data.test.counts, new, chances(model, data.test.counts, new))


# ---- all of it -----------------------------------------------------------------------------------


def fits():
    """What is to be run: data, model, split, and a function that does it."""
    for split in range(SEEDS):
        for name in MADE:
            yield name, "counts", split, lambda name=name, split=split: made_row(name, split)
    for split in range(YELP_SPLITS):
        for name in ("yelp, votes", "yelp, levels"):
            yield name, "counts", split, lambda name=name, split=split: yelp_row(name, split)
    for model, splits in MODELS.items():
        for conformal in (False, True) if "Focused" in model else (False,):
            for split in range(splits):
                for name, load in LOADERS.items():

                    def run_one(load=load, model=model, split=split, conformal=conformal):
                        return star_row(load(split=split), model, split, conformal)

                    yield name, model + (", conformal" if conformal else ""), split, run_one


def run(most: int) -> list[dict]:
    """All rows, of which so many are fitted now; the others are those of earlier runs."""
    path = FOLDER / "results" / "intervals.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    done = {(r["data"], r["model"], r["split"]) for r in rows}
    for name, model, split, row_of in fits():
        if (name, model, split) in done:
            continue
        if most == 0:
            break
        most -= 1
        row = {"data": name, "model": model, "split": split} | row_of()
        rows.append(row)
        with path.open("a") as file:
            file.write(json.dumps(row) + "\n")
        print(name, model, split, row["coverage"], row.get("drawn", ""), flush=True)
    return rows


def cells(rows: list[dict], key: str) -> str:
    out = []
    for level in LEVELS:
        values = [r[key][str(level)] for r in rows]
        spread = f"{np.std(values, ddof=1):.3f}" if len(values) > 1 else "-"
        out.append(f"{np.mean(values):.3f} ({spread})")
    return " | ".join(out)


def page(rows: list[dict]) -> str:
    lines = [
        "# Coverage of intervals on held-out documents",
        "",
        "Made by `python experiments/intervals.py`: share of test targets inside the interval,",
        "mean (standard deviation) over random splits, which are the first ones of the data set;",
        "5 topics, defaults. Width is that of the 80% interval.",
        "",
        "## Stars",
        "",
        "| data | model | splits | 50% | 80% | 95% | width |",
        "|---|---|---|---|---|---|---|",
    ]
    for data in LOADERS:
        names = dict.fromkeys(r["model"] for r in rows if r["data"] == data)
        for model in names:
            mine = [r for r in rows if r["data"] == data and r["model"] == model]
            width = np.mean([r["width"] for r in mine])
            shares = cells(mine, "coverage")
            lines.append(f"| {data} | {model} | {len(mine)} | {shares} | {width:.2f} |")
    lines += [
        "",
        "## Counts and levels",
        "",
        '`FocusedTopicRegressor` with `family="poisson"` or `"ordinal"`. Both ends are whole',
        "numbers (or levels) and belong to the interval, so it holds more than its share where",
        "counts are small: an interval from 0 to 1 has all that is 0 or 1. *Drawn* has the ends",
        "drawn with the chance that makes a right distribution hold exactly 50, 80 and 95%: it",
        "can be seen there whether the distribution is right. Made counts: 2,000 reviews to fit,",
        "1,000 to test, rates by the true stars; overdispersed ones times a gamma of variance 0.5.",
        "",
        "| data | mean | seeds | 50% | 80% | 95% | drawn 50% | 80% | 95% | width |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for data in (*MADE, "yelp, votes", "yelp, levels"):
        mine = [r for r in rows if r["data"] == data]
        if not mine:
            continue
        mean, width = (np.mean([r[key] for r in mine]) for key in ("mean", "width"))
        shares = f"{cells(mine, 'coverage')} | {cells(mine, 'drawn')}"
        lines.append(f"| {data} | {mean:.2f} | {len(mine)} | {shares} | {width:.2f} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fits", type=int, default=-1, help="fit at most so many now")
    (FOLDER / "INTERVALS.md").write_text(page(run(parser.parse_args().fits)))
