"""What is lost by learning from batches: `partial_fit` beside `fit` on the same documents.

    TOPICFOCUS_DATA=... python experiments/streaming.py             # everything
    TOPICFOCUS_DATA=... python experiments/streaming.py pang_lee --splits 1 --models focused
    python experiments/streaming.py --table                         # only write STREAMING.md

Documents are put in random order (seed: the split) and come in batches of 500. Models have their
defaults, 5 topics and the split as random_state; all are given the training part and the test part
is looked at once, for the figures. "sample of 1,000" is one pass with room for 1,000 documents only
(`reservoir_size`), "fit to 1,000" is `fit` on the first 1,000 documents, to compare that with.
Every finished run is a line of experiments/results/streaming.jsonl; an interrupted experiment goes
on where it stopped.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score

import topicfocus
from topicfocus import datasets, metrics

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "streaming.jsonl"
BATCH, SMALL = 500, 1000
LOADERS = {
    "pang_lee": datasets.load_pang_lee,
    "yelp": datasets.load_yelp,
    "imdb": lambda split: datasets.load_imdb(split, own_test=False),
}
MODELS = {
    "focused": ("FocusedTopicRegressor", "FocusedTopicClassifier"),
    "pc-sLDA": ("PCSLDARegressor", "PCSLDAClassifier"),
    "sLDA": ("SLDARegressor", "SLDAClassifier"),
    "pf-sLDA": ("PFSLDARegressor", "PFSLDAClassifier"),
}
WAYS = {
    "fit": "fit",
    "one": "one pass",
    "five": "five passes",
    "small": "one pass, sample of 1,000",
    "first": "fit to 1,000",
}


def score(model: Any, part: Any, binary: bool) -> float:
    """AUC for two classes, root mean squared error otherwise."""
    if binary:
        return float(roc_auc_score(part.target, model.decision_function(part.counts)))
    return metrics.rmse(part.target, model.predict(part.counts))


def run(data: Any, name: str, split: int, ways: list[str]):
    """One line for each way of learning; five passes go on from the one."""
    binary = data.task == "binary"
    cls = getattr(topicfocus, MODELS[name][binary])
    order = np.random.default_rng(split).permutation(data.train.counts.shape[0])
    X, y = data.train.counts[order], data.train.target[order]
    first = {"classes": np.unique(y)} if binary else {}

    def stream(model, extra):
        slowest = 0.0
        for a in range(0, X.shape[0], BATCH):
            began = time.perf_counter()
            model.partial_fit(X[a : a + BATCH], y[a : a + BATCH], **(extra if a == 0 else {}))
            slowest = max(slowest, time.perf_counter() - began)
        return model, slowest

    streamed = None
    for way in ways:
        began = time.perf_counter()
        slowest = None
        model = cls(5, random_state=split)
        if way == "fit":
            model.fit(X, y)
        elif way == "first":
            model.fit(X[:SMALL], y[:SMALL])
        elif way == "five" and streamed is not None:
            model = streamed
            for _ in range(4):
                model, slowest = stream(model, {})
        else:
            if way == "small":
                model.reservoir_size = SMALL
            model, slowest = stream(model, first)
            if way == "one":
                streamed = model
        seconds = time.perf_counter() - began
        yield {
            "way": way,
            "score": score(model, data.test, binary),
            "seconds": seconds,
            "slowest": slowest,
            "documents": X.shape[0],
            "kept": float(np.mean(model.selected_words_))
            if name != "sLDA" and hasattr(model, "selected_words_")
            else None,
        }


def read() -> list[dict[str, Any]]:
    if not RESULTS.exists():
        return []
    return [json.loads(line) for line in RESULTS.read_text().splitlines()]


def mean_sd(values: list[float], digits: int = 3) -> str:
    if not values:
        return "-"
    sd = f" ({np.std(values, ddof=1):.{digits}f})" if len(values) > 1 else ""
    return f"{np.mean(values):.{digits}f}{sd}"


def write_table() -> None:
    rows = read()
    lines = ["# Learning from batches", ""]
    lines += [
        "Made by `python experiments/streaming.py`; defaults, 5 topics, batches of 500 in random",
        "order, the training part of each split. Mean (standard deviation) over the splits of the",
        "test part's RMSE (pang_lee, yelp: lower is better) or AUC (imdb). The gap is the mean",
        "over splits of the difference to `fit` on the same split, with its standard deviation;",
        "positive is worse. Where one split is given, there is one run: no more than an example.",
        "Seconds are means on two cores shared with other work, so rough; those of five passes are",
        "of the last four. Epochs after a fresh start and the factor of replay were chosen on the",
        "validation part of pang_lee, split 0; nothing was chosen on a test part.",
        "",
    ]
    for data in LOADERS:
        mine = [r for r in rows if r["data"] == data]
        if not mine:
            continue
        lines += [f"## {data} ({mine[0]['documents']:,} documents)", ""]
        lines += ["| model | learned by | splits | RMSE or AUC | gap to fit | seconds |"]
        lines += ["|---|---|---|---|---|---|"]
        for name in MODELS:
            fits = {
                r["split"]: r["score"] for r in mine if r["model"] == name and r["way"] == "fit"
            }
            for way, words in WAYS.items():
                some = [r for r in mine if r["model"] == name and r["way"] == way]
                if not some:
                    continue
                sign = -1 if data == "imdb" else 1
                gaps = [sign * (r["score"] - fits[r["split"]]) for r in some if r["split"] in fits]
                lines.append(
                    f"| {name} | {words} | {len(some)} | {mean_sd([r['score'] for r in some])} | "
                    f"{mean_sd(gaps) if way != 'fit' else '-'} | "
                    f"{np.mean([r['seconds'] for r in some]):.0f} |"
                )
        lines.append("")
    (HERE / "STREAMING.md").write_text("\n".join(lines), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", nargs="*", default=list(LOADERS))
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=list(WAYS))
    parser.add_argument("--table", action="store_true", help="only write STREAMING.md")
    args = parser.parse_args()
    if not args.table:
        RESULTS.parent.mkdir(exist_ok=True)
        for split in range(args.splits):
            for source in args.data:
                done = {(r["data"], r["model"], r["split"], r["way"]) for r in read()}
                data = LOADERS[source](split)
                for name in args.models:
                    ways = [w for w in args.ways if (source, name, split, w) not in done]
                    if "five" in ways and "one" not in ways and "one" in args.ways:
                        ways.insert(ways.index("five"), "one")
                    for row in run(data, name, split, ways):
                        row = {"data": source, "model": name, "split": split, **row}
                        with RESULTS.open("a", encoding="utf-8") as file:
                            file.write(json.dumps(row) + os.linesep)
                        print(source, name, split, row["way"], round(row["score"], 4), flush=True)
    write_table()


if __name__ == "__main__":
    main()
