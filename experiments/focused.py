"""The bar of the focused model: prediction and readable topics, on six data sets, beside baselines.

    TOPICFOCUS_DATA=... python experiments/focused.py            # everything, 5 splits
    TOPICFOCUS_DATA=... python experiments/focused.py pang_lee --splits 2 --models focused words
    python experiments/focused.py --table                        # only write experiments/FOCUSED.md

All models get the training part to fit and the validation part for their choices (the focused
model, pc-sLDA and the linear baselines then fit what was chosen to both); the test part is looked
at once, here, for the figures. Settings are the defaults, the same for every data set; 5 topics.
Every finished run is a line of experiments/results/focused.jsonl, so that an interrupted
experiment goes on where it stopped.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path
from typing import Any

import numpy as np
from rich.progress import track
from scipy import sparse
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import roc_auc_score

import topicfocus
from topicfocus import datasets, metrics
from topicfocus.reproduce import opinion_lexicon

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "focused.jsonl"
N_TOPICS = 5

LOADERS = {
    "pang_lee": datasets.load_pang_lee,
    "yelp": datasets.load_yelp,
    "imdb": lambda split: datasets.load_imdb(split, own_test=False),
    "eicu": datasets.load_eicu,
    "diabetes": datasets.load_diabetes,
    "poliblog": datasets.load_poliblog,
}
REVIEWS = ("pang_lee", "yelp", "imdb")
TOPIC_MODELS = {
    "focused": ("FocusedTopicRegressor", "FocusedTopicClassifier", {}),
    "pc-sLDA": ("PCSLDARegressor", "PCSLDAClassifier", {}),
    "pf-sLDA": ("PFSLDARegressor", "PFSLDAClassifier", {"inclusion_prior": 0.1}),
    "sLDA": ("SLDARegressor", "SLDAClassifier", {}),
}
MODELS = (*TOPIC_MODELS, "words", "sqrt words")


def score(target: np.ndarray, prediction: np.ndarray, binary: bool) -> float:
    """AUC for two classes, root mean squared error otherwise."""
    if binary:
        return float(roc_auc_score(target, prediction))
    return metrics.rmse(target, prediction)


def linear_baseline(data: datasets.Dataset, binary: bool, root: bool) -> dict[str, float]:
    """Ridge or L2 logistic regression on counts or their roots, penalty chosen on validation."""

    def prepare(part: datasets.Part):
        return part.counts.sqrt() if root else part.counts

    train, valid, test = (prepare(p) for p in (data.train, data.valid, data.test))
    best, chosen = None, None
    began = time.perf_counter()
    for penalty in np.logspace(-1, 4.5, 12):
        if binary:
            model = LogisticRegression(C=1 / penalty, max_iter=300, tol=1e-3)
        else:
            model = Ridge(penalty, solver="sparse_cg", tol=1e-5)
        model.fit(train, data.train.target)
        predict = model.decision_function if binary else model.predict
        value = score(data.valid.target, predict(valid), binary)
        if best is None or (value > best if binary else value < best):
            best, chosen = value, model
    both = sparse.vstack([train, valid], format="csr")
    chosen.fit(both, np.concatenate([data.train.target, data.valid.target]))
    predict = chosen.decision_function if binary else chosen.predict
    return {
        "score": score(data.test.target, predict(test), binary),
        "seconds": time.perf_counter() - began,
    }


def topic_model(data, name: str, binary: bool, split: int, lexicon: Any) -> dict[str, Any]:
    regressor, classifier, settings = TOPIC_MODELS[name]
    cls = getattr(topicfocus, classifier if binary else regressor)
    model = cls(N_TOPICS, random_state=split, **settings)
    train, valid, test = data.train, data.valid, data.test
    extra = {}
    if name in ("focused", "pc-sLDA"):
        extra = {"X_val": valid.counts, "y_val": valid.target}
    began = time.perf_counter()
    model.fit(train.counts, train.target, **extra)
    seconds = time.perf_counter() - began
    predict = model.decision_function if binary else model.predict
    topics = model.components_
    row: dict[str, Any] = {
        "score": score(test.target, predict(test.counts), binary),
        "seconds": seconds,
        "agreement": metrics.target_agreement(topics, model.coef_, test.counts, test.target),
        "npmi10": metrics.coherence(topics, train.counts, "npmi", 10),
        "log_ratio10": metrics.coherence(topics, train.counts, "log_ratio", 10),
        "pmi50": metrics.coherence(topics, train.counts, "pmi", 50),
        "shaping": getattr(model, "shaping_", None),
    }
    if hasattr(model, "inclusion_"):
        kept = model.inclusion_ > 0.5
        tokens = np.asarray(train.counts.sum(axis=0)).ravel()
        row["kept"] = float(kept.mean())
        row["kept_tokens"] = float(tokens[kept].sum() / tokens.sum())
        row["rare"] = float(np.mean(tokens[kept] < 20)) if kept.any() else float("nan")
        row["overlap"] = metrics.channel_overlap(topics, model.background_)
    if lexicon is not None and data.name in REVIEWS:
        found = metrics.lexicon_agreement(topics, model.coef_, data.vocabulary, lexicon.signs)
        row["lexicon_right"], row["lexicon_wrong"] = found.right, found.wrong
    order = np.argsort(-model.coef_)
    words = model.top_words(10, data.vocabulary)
    row["topics"] = [[float(model.coef_[k] + model.intercept_), " ".join(words[k])] for k in order]
    return row


def finished() -> dict[tuple[str, str, int], dict[str, Any]]:
    if not RESULTS.exists():
        return {}
    rows = (json.loads(line) for line in RESULTS.read_text(encoding="utf-8").splitlines() if line)
    return {(r["data"], r["model"], r["split"]): r for r in rows}


def run(names: list[str], models: list[str], splits: int) -> None:
    RESULTS.parent.mkdir(exist_ok=True)
    lexicon = opinion_lexicon()
    done = finished()
    todo = [(d, s) for d in names for s in range(splits)]
    for name, split in track(todo, description="data sets x splits"):
        missing = [m for m in models if (name, m, split) not in done]
        if not missing:
            continue
        data = LOADERS[name](split)
        binary = data.task == "binary"
        for model in missing:
            if model in TOPIC_MODELS:
                row = topic_model(data, model, binary, split, lexicon)
            else:
                row = linear_baseline(data, binary, root=model == "sqrt words")
            row = {"data": name, "model": model, "split": split, **row}
            # One write a line, so that an interrupt leaves whole lines behind.
            with RESULTS.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
            print(name, split, model, f"{row['score']:.4f}", f"{row['seconds']:.1f} s", flush=True)


COLUMNS = (
    ("score", "RMSE or AUC", "{:.3f}"),
    ("agreement", "target agreement", "{:.3f}"),
    ("npmi10", "npmi@10", "{:.3f}"),
    ("log_ratio10", "log ratio@10", "{:.3f}"),
    ("lexicon_right", "lexicon right", "{:.1f}"),
    ("lexicon_wrong", "wrong", "{:.1f}"),
    ("kept", "words kept", "{:.1%}"),
    ("rare", "of them < 20 times", "{:.1%}"),
    ("pmi50", "paper's coherence@50", "{:.2f}"),
)


def table() -> str:
    """Markdown: mean (standard deviation) over splits, a block a data set."""
    done = list(finished().values())
    lines = [
        "# The focused model beside its baselines",
        "",
        "Made by `python experiments/focused.py`. Mean (standard deviation) over random splits; 5",
        "topics; defaults everywhere, the same for every data set; the test part is used for these",
        'figures only. "words" and "sqrt words" are ridge or L2 logistic regression on (roots of)',
        "counts. Choices are made on the validation part; focused, pc-sLDA and the linear",
        "baselines then fit what was chosen to both parts. RMSE for pang_lee and yelp (lower is",
        "better), AUC otherwise. The paper's coherence mostly rewards rare words (docs/models.md):",
        "shown, never chosen by.",
    ]
    for name in LOADERS:
        rows = [r for r in done if r["data"] == name]
        if not rows:
            continue
        lines += ["", f"## {name}", ""]
        lines += ["| model | splits | " + " | ".join(c[1] for c in COLUMNS) + " |"]
        lines += ["|---" * (len(COLUMNS) + 2) + "|"]
        for model in MODELS:
            mine = [r for r in rows if r["model"] == model]
            if not mine:
                continue
            cells = [model, str(len(mine))]
            for key, _, shape in COLUMNS:
                values = [r[key] for r in mine if r.get(key) is not None]
                if not values:
                    cells.append("-")
                    continue
                text = shape.format(float(np.mean(values)))
                if len(values) > 1:
                    text += f" ({shape.format(float(np.std(values, ddof=1)))})"
                cells.append(text)
            lines.append("| " + " | ".join(cells) + " |")
        first = next((r for r in rows if r["model"] == "focused" and r["split"] == 0), None)
        if first:
            lines += ["", "Focused topics, split 0:", ""]
            lines += [f"    {coef:7.2f}  {words}" for coef, words in first["topics"]]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", nargs="*", default=list(LOADERS), help=", ".join(LOADERS))
    parser.add_argument("--models", nargs="+", default=list(MODELS), choices=MODELS)
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--table", action="store_true", help="only write the table")
    args = parser.parse_args()
    unknown = set(args.data) - set(LOADERS)
    if unknown:
        parser.error(f"unknown data {', '.join(sorted(unknown))}; known: {', '.join(LOADERS)}")
    if not args.table:
        if not os.environ.get("TOPICFOCUS_DATA"):
            parser.error("set TOPICFOCUS_DATA to the folder with the data sets")
        run(args.data, args.models, args.splits)
    (HERE / "FOCUSED.md").write_text(table(), encoding="utf-8")


if __name__ == "__main__":
    main()
