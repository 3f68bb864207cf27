"""How often held-out targets fall into the intervals of predict(return_std=True).

    TOPICFOCUS_DATA=... python experiments/intervals.py [--fits N]

Pang & Lee and Yelp, 5 random splits, 5 topics, defaults. Intervals are mean ± z·std; δ comes from
the validation part, the rest of the variance from what the words leave open of θ. Beside them,
intervals by split conformal prediction (MAPIE), calibrated on the validation part of a model that
made its choices on the training part alone.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
from scipy.stats import norm

import topicfocus
from topicfocus import datasets

FOLDER = Path(__file__).parent
LEVELS = (0.5, 0.8, 0.95)
MODELS = ("FocusedTopicRegressor", "PFSLDARegressor", "SLDARegressor")


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


def fits():
    """What is to be run, the focused model first: data, its loader, split, model, conformal."""
    loaders = {"pang_lee": datasets.load_pang_lee, "yelp": datasets.load_yelp}
    for model in MODELS:
        for conformal in (False, True) if "Focused" in model else (False,):
            for name, load in loaders.items():
                for split in range(5):
                    yield name, load, split, model, conformal


def one(data, model_name: str, split: int, conformal: bool) -> dict:
    """A fit, and how often its intervals hold the targets of the test part."""
    model = getattr(topicfocus, model_name)(5, random_state=split)
    extra = {}
    if "Focused" in model_name and not conformal:
        extra = {"X_val": data.valid.counts, "y_val": data.valid.target}
    model.fit(data.train.counts, data.train.target, **extra)
    if conformal:
        return conformal_row(model, data.valid, data.test)
    return gaussian_row(model, data.test)


def run(most: int) -> list[dict]:
    """All rows, of which so many are fitted now; the others are those of earlier runs."""
    path = FOLDER / "results" / "intervals.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    done = {(r["data"], r["model"], r["split"]) for r in rows}
    for name, load, split, model_name, conformal in fits():
        key = model_name + (", conformal" if conformal else "")
        if (name, key, split) in done:
            continue
        if most == 0:
            break
        most -= 1
        found = one(load(split=split), model_name, split, conformal)
        row = {"data": name, "model": key, "split": split} | found
        rows.append(row)
        with path.open("a") as file:
            file.write(json.dumps(row) + "\n")
        print(name, key, split, row["coverage"], flush=True)
    return rows


def page(rows: list[dict]) -> str:
    lines = [
        "# Coverage of intervals on held-out documents",
        "",
        "Made by `python experiments/intervals.py`: share of test targets inside the interval,",
        "mean (standard deviation) over random splits; 5 topics, defaults. Width is that of the",
        "80% interval, in stars.",
        "",
        "| data | model | splits | 50% | 80% | 95% | width |",
        "|---|---|---|---|---|---|---|",
    ]
    for data in ("pang_lee", "yelp"):
        names = dict.fromkeys(r["model"] for r in rows if r["data"] == data)
        for model in names:
            mine = [r for r in rows if r["data"] == data and r["model"] == model]
            cells = []
            for level in LEVELS:
                values = [r["coverage"][str(level)] for r in mine]
                spread = f"{np.std(values, ddof=1):.3f}" if len(values) > 1 else "-"
                cells.append(f"{np.mean(values):.3f} ({spread})")
            width = np.mean([r["width"] for r in mine])
            lines.append(f"| {data} | {model} | {len(mine)} | {' | '.join(cells)} | {width:.2f} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fits", type=int, default=-1, help="fit at most so many now")
    (FOLDER / "INTERVALS.md").write_text(page(run(parser.parse_args().fits)))
