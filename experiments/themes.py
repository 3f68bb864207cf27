"""The bar of themes: topics about something, each with a direction, beside what was before.

    TOPICFOCUS_DATA=... python experiments/themes.py yelp --splits 1       # one data set, quickly
    TOPICFOCUS_DATA=... python experiments/themes.py                       # everything, 5 splits
    python experiments/themes.py --table                                   # only write THEMES.md
    python experiments/themes.py yelp --part valid --models themes         # to choose settings by

"today" is the model before themes, run with the code of the folder TOPICFOCUS_BASE (a checkout of
commit f571341) in a process of its own. Every model is fitted to the training part, with choices on
the validation part, and scored on the test part; with `--part valid` the test part is not looked
at: models make their choices on a tenth of the training part and are scored on the validation
part. npmi, log ratio and diversity are of the ten words that a model shows first, on training
documents, agreement of twenty, on the documents scored (`by_probability` in the file: of the most
probable words). A line of experiments/results/themes.jsonl for each finished fit, so that an
interrupted experiment goes on where it stopped.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import roc_auc_score

import topicfocus
from topicfocus import datasets, metrics

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "themes.jsonl"
MODELS = ("themes", "today", "lda", "linear")
#: Data set: number of topics.
TOPICS = {
    "yelp": 10,
    "pang_lee": 10,
    "eicu": 6,
    "poliblog": 10,
    "diabetes": 6,
    "imdb": 10,
    "newsgroups": 20,
    "yelp_imdb": 8,
}
_LARGEST = {"diabetes": 20_000, "imdb": 10_000}


class Data:
    """Counts and targets of the three parts, and the words. `domain`: which corpus a row is of."""

    def __init__(self, parts: list, vocabulary: Any, task: str, domain: Any = None) -> None:
        self.train, self.valid, self.test = parts
        self.vocabulary, self.task, self.domain = vocabulary, task, domain


def _first(part: Any, n: int) -> tuple:
    return part.counts[:n], part.target[:n]


def load(name: str, split: int) -> Data:
    """A data set of the table, at most as many documents of each part as it says."""
    if name == "yelp_imdb":
        return _yelp_and_imdb(split)
    loader = getattr(datasets, f"load_{name}")
    data = loader(split, own_test=False) if name == "imdb" else loader(split)
    n = _LARGEST.get(name, 10**9)
    parts = [_first(part, n) for part in (data.train, data.valid, data.test)]
    return Data(parts, data.vocabulary, data.task)


def _yelp_and_imdb(split: int) -> Data:
    """As many reviews of restaurants as of films, liked or not (stars above the mean)."""
    yelp, imdb = datasets.load_yelp(split), datasets.load_imdb(split, own_test=False)
    texts, targets, domains = [], [], []
    middle = float(np.mean(yelp.train.target))
    for part, other in zip(
        (yelp.train, yelp.valid, yelp.test), (imdb.train, imdb.valid, imdb.test), strict=True
    ):
        n = min(len(part.target), 4000)
        order = np.random.default_rng(split).permutation(2 * n)
        both = part.texts[:n] + other.texts[:n]
        target = np.concatenate([part.target[:n] > middle, other.target[:n] > 0]).astype(float)
        texts.append([both[i] for i in order])
        targets.append(target[order])
        domains.append(np.repeat([0, 1], n)[order])
    counts, vocabulary = datasets.preprocessing.paper_counts(*texts)
    parts = list(zip(counts, targets, strict=True))
    return Data(parts, vocabulary, "binary", domains[0])


# ---- figures -------------------------------------------------------------------------------------


def score(target: np.ndarray, prediction: np.ndarray, task: str) -> float:
    """AUC for two classes, accuracy for more, root mean squared error for numbers."""
    if task == "binary":
        return float(roc_auc_score(target, prediction))
    if task == "multiclass":
        return float(np.mean(prediction == target))
    return metrics.rmse(target, prediction)


def _predict(model: Any, counts: Any, task: str) -> np.ndarray:
    return model.decision_function(counts) if task == "binary" else model.predict(counts)


def _penalties(data: Data, part: str) -> dict[str, Any]:
    """Ridge or logistic regression on roots of counts, the penalty chosen on validation."""
    train, valid = data.train[0].sqrt(), data.valid[0].sqrt()
    best, chosen = None, None
    for penalty in np.logspace(-1, 4.5, 12):
        model: Any = Ridge(penalty, solver="sparse_cg", tol=1e-5)
        if data.task != "regression":
            model = LogisticRegression(C=1 / penalty, max_iter=300, tol=1e-3)
        model.fit(train, data.train[1])
        value = score(data.valid[1], _predict(model, valid, data.task), data.task)
        if best is None or (value < best if data.task == "regression" else value > best):
            best, chosen = value, model
    assert chosen is not None and best is not None
    if part == "valid":
        return {"score": best}
    both = sparse.vstack([train, valid], format="csr")
    chosen.fit(both, np.concatenate([data.train[1], data.valid[1]]))
    prediction = _predict(chosen, data.test[0].sqrt(), data.task)
    return {"score": score(data.test[1], prediction, data.task)}


def _purity(topics: np.ndarray, data: Data, top_n: int = 20) -> float:
    """Mean over topics of the largest mean share of a domain among the top words."""
    counts = data.train[0]
    uses = np.array([np.asarray(counts[data.domain == d].sum(axis=0)).ravel() for d in (0, 1)])
    uses = uses / uses.sum(axis=1, keepdims=True)
    share = uses / np.maximum(uses.sum(axis=0), 1e-300)
    tops = np.argsort(-topics, axis=1, kind="stable")[:, :top_n]
    return float(np.mean([share[:, words].mean(axis=1).max() for words in tops]))


def _topic_figures(topics: np.ndarray, data: Data) -> dict[str, Any]:
    counts = data.train[0]
    row: dict[str, Any] = {
        "npmi10": metrics.coherence(topics, counts, "npmi", 10),
        "log_ratio10": metrics.coherence(topics, counts, "log_ratio", 10),
        "diversity10": metrics.topic_diversity(topics, 10),
    }
    if data.domain is not None:
        row["purity20"] = _purity(topics, data)
    return row


def fit(data: Data, name: str, split: int, n_topics: int, part: str, **settings: Any) -> dict:
    """One model fitted and looked at."""
    if name == "linear":
        return _penalties(data, part)
    began = time.perf_counter()
    if name == "lda":
        model: Any = topicfocus.LDA(n_topics, random_state=split).fit(data.train[0])
        seconds = time.perf_counter() - began
        return {"seconds": seconds, **_topic_figures(model.components_, data)}
    scored = data.valid if part == "valid" else data.test
    regression = data.task == "regression"
    cls = topicfocus.FocusedTopicRegressor if regression else topicfocus.FocusedTopicClassifier
    model = cls(n_topics, random_state=split, **settings)
    extra = {} if part == "valid" else {"X_val": data.valid[0], "y_val": data.valid[1]}
    model.fit(*data.train, **extra)
    row: dict[str, Any] = {"seconds": time.perf_counter() - began}
    row["score"] = score(scored[1], _predict(model, scored[0], data.task), data.task)
    # The words that a reader sees; versions before 0.3 show the most probable ones.
    shown = model.word_ranks() if hasattr(model, "word_ranks") else model.components_
    row |= _topic_figures(shown, data)
    row["by_probability"] = _topic_figures(model.components_, data)
    row["kept"] = float(np.mean(model.selected_words_))
    row["share"] = float(model.inclusion_prior_)
    mixes = model.transform(scored[0])
    row["mix_sd"] = float(mixes.std(axis=0).mean())
    words = model.top_words(10, data.vocabulary)
    row["topics"] = [["", " ".join(w)] for w in words]
    if data.task != "multiclass":
        coef = model.coef_
        row["agreement"] = metrics.target_agreement(shown, coef, *scored)
        probable = metrics.target_agreement(model.components_, coef, *scored)
        row["by_probability"]["agreement"] = probable
        order = np.argsort(-coef)
        row["topics"] = [[float(coef[k] + model.intercept_), " ".join(words[k])] for k in order]
    return row


# ---- runs ----------------------------------------------------------------------------------------


def finished() -> dict[tuple, dict[str, Any]]:
    if not RESULTS.exists():
        return {}
    rows = (json.loads(line) for line in RESULTS.read_text(encoding="utf-8").splitlines() if line)
    return {(r["data"], r["model"], r["split"], r["part"]): r for r in rows}


def _of_base(name: str, split: int, part: str) -> dict[str, Any]:
    base = os.environ.get("TOPICFOCUS_BASE")
    if not base:
        raise SystemExit("TOPICFOCUS_BASE must name a checkout of commit f571341.")
    env = {**os.environ, "PYTHONPATH": str(Path(base) / "src")}
    command = [sys.executable, __file__, name, "--one", str(split), "--part", part]
    out = subprocess.run(command, env=env, check=True, capture_output=True, text=True).stdout
    return json.loads(out.splitlines()[-1])


def run(names: list[str], models: list[str], splits: int, part: str, again: bool) -> None:
    RESULTS.parent.mkdir(exist_ok=True)
    done = {} if again else finished()
    for name, split in ((d, s) for d in names for s in range(splits)):
        missing = [m for m in models if (name, m, split, part) not in done]
        data = load(name, split) if set(missing) - {"today"} else None
        for model in missing:
            if model == "today":
                row = _of_base(name, split, part)
            else:
                assert data is not None
                row = fit(data, model, split, TOPICS[name], part)
            row = {"data": name, "model": model, "split": split, "part": part, **row}
            with RESULTS.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
            print(_line(row), flush=True)


COLUMNS = (
    ("score", "RMSE, AUC or accuracy", "{:.4f}"),
    ("npmi10", "npmi@10", "{:.3f}"),
    ("log_ratio10", "log ratio@10", "{:.3f}"),
    ("diversity10", "diversity@10", "{:.2f}"),
    ("agreement", "agreement", "{:.3f}"),
    ("purity20", "purity@20", "{:.3f}"),
    ("mix_sd", "sd of mixes", "{:.3f}"),
    ("kept", "words kept", "{:.1%}"),
    ("seconds", "seconds", "{:.1f}"),
)


def _line(row: dict[str, Any]) -> str:
    cells = [f"{title} {form.format(row[key])}" for key, title, form in COLUMNS if key in row]
    return f"{row['data']} {row['split']} {row['model']}: " + ", ".join(cells)


def table() -> str:
    """Markdown: mean (standard deviation) over splits, a block a data set."""
    done = [r for r in finished().values() if r["part"] == "test"]
    lines = [
        "# Themes: topics that are about something, each with a direction",
        "",
        "Made by `python experiments/themes.py`. Mean (standard deviation) over random splits;",
        "defaults everywhere; the test part is used for these figures only. RMSE for yelp and",
        "pang_lee (lower is better), accuracy for newsgroups, AUC otherwise. today: the model at",
        "commit f571341, the same number of topics. linear: ridge or logistic regression on roots",
        "of counts. imdb has 10,000 training documents, diabetes 20,000.",
    ]
    for name, n_topics in TOPICS.items():
        rows = [r for r in done if r["data"] == name]
        if not rows:
            continue
        lines += ["", f"## {name}, {n_topics} topics", ""]
        lines += ["| model | splits | " + " | ".join(c[1] for c in COLUMNS) + " |"]
        lines += ["|---" * (len(COLUMNS) + 2) + "|"]
        for model in MODELS:
            mine = [r for r in rows if r["model"] == model]
            if mine:
                lines.append("| " + " | ".join(_cells(model, mine)) + " |")
        first = next((r for r in rows if r["model"] == "themes" and r["split"] == 0), None)
        if first:
            lines += ["", "Topics of split 0:", ""]
            for coef, words in first["topics"]:
                lines.append(f"    {coef:7.2f}  {words}" if coef != "" else f"    {words}")
    return "\n".join(lines) + "\n"


def _cells(model: str, rows: list[dict[str, Any]]) -> list[str]:
    cells = [model, str(len(rows))]
    for key, _, form in COLUMNS:
        values = [r[key] for r in rows if r.get(key) is not None]
        text = "-" if not values else form.format(float(np.mean(values)))
        if len(values) > 1 and key != "seconds":
            text += f" ({form.format(float(np.std(values, ddof=1)))})"
        cells.append(text)
    return cells


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", nargs="*", default=list(TOPICS), help=", ".join(TOPICS))
    parser.add_argument("--models", nargs="+", default=list(MODELS), choices=MODELS)
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--part", default="test", choices=("test", "valid"))
    parser.add_argument("--again", action="store_true", help="fit what is finished once more")
    parser.add_argument("--table", action="store_true", help="only write the table")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    args = parser.parse_args()
    unknown = set(args.data) - set(TOPICS)
    if unknown:
        parser.error(f"unknown data {', '.join(sorted(unknown))}; known: {', '.join(TOPICS)}")
    if args.one is not None:
        name = args.data[0]
        print(json.dumps(fit(load(name, args.one), "today", args.one, TOPICS[name], args.part)))
        return
    if not args.table:
        run(args.data, args.models, args.splits, args.part, args.again)
    (HERE / "THEMES.md").write_text(table(), encoding="utf-8")


if __name__ == "__main__":
    main()
