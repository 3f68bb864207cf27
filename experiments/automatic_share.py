"""Is the automatic share of words as good as the best one on its path? Seven data sets.

    TOPICFOCUS_DATA=... python experiments/automatic_share.py [DATA ...] [--splits 5] [--part test]
    python experiments/automatic_share.py --table                       # only write the page

A model is fitted with ``inclusion_prior="auto"``, and one with every share of the path, given (a
given share is reached, an automatic one is a limit: with the same share it may keep fewer words).
All are scored on documents that took no part: the test part, with choices made on the validation
part and folds of the training part; or, with `--part valid`, by which rules may be compared, the
validation part, with choices made on a tenth of the training part. The loss of a document is the
squared error, or minus the log of its class's probability. The automatic choice is *within* if its
mean loss is at most the best share's and one standard error of that (over documents). A line of
experiments/results/automatic_share.jsonl for each finished split; an interrupted run goes on.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
from themes import TOPICS, Data, load, score

import topicfocus
from topicfocus import metrics
from topicfocus.solvers.focus.cut import RELEVANT_TOKENS
from topicfocus.solvers.focus.settings import THEMED

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "automatic_share.jsonl"
DATA = ("pang_lee", "yelp", "imdb", "eicu", "diabetes", "poliblog", "newsgroups")


def losses(model: Any, counts: Any, target: np.ndarray, task: str) -> np.ndarray:
    """Of each document."""
    if task == "regression":
        return (model.predict(counts) - target) ** 2
    chance = model.predict_proba(counts)[np.arange(len(target)), _places(model, target)]
    return -np.log(np.maximum(chance, 1e-12))


def _places(model: Any, target: np.ndarray) -> np.ndarray:
    return np.searchsorted(model.classes_, target)


def fit(data: Data, name: str, split: int, share: Any, part: str) -> tuple[Any, dict[str, Any]]:
    """A model with a share of words, and how it does."""
    regression = data.task == "regression"
    cls = topicfocus.FocusedTopicRegressor if regression else topicfocus.FocusedTopicClassifier
    model = cls(TOPICS[name], random_state=split, inclusion_prior=share, n_jobs=1)
    extra = {} if part == "valid" else {"X_val": data.valid[0], "y_val": data.valid[1]}
    began = time.process_time()
    model.fit(*data.train, **extra)
    seconds = time.process_time() - began
    counts, target = data.valid if part == "valid" else data.test
    loss = losses(model, counts, target, data.task)
    binary = data.task == "binary"
    predicted = model.decision_function(counts) if binary else model.predict(counts)
    return model, {
        "share": float(model.inclusion_prior_),
        "loss": float(loss.mean()),
        "error": float(loss.std(ddof=1) / np.sqrt(len(loss))),
        "score": score(target, predicted, data.task),
        "diversity": metrics.topic_diversity(model.components_, 10),
        "words": int(np.sum(model.selected_words_)),
        "seconds": seconds,
    }


def one_split(name: str, split: int, part: str) -> dict[str, Any]:
    """The automatic choice and every share of its path, given."""
    data = load(name, split)
    model, auto = fit(data, name, split, "auto", part)
    # Where half of the tokens are fewer than ten a document there is one share on the path.
    path = [tuple(t) for t in getattr(model, "inclusion_path_", ((auto["share"], 0.0, 0.0),))]
    # Those of 10, 20 and 40 tokens a document, also where no further word says more than noise.
    least = np.clip(RELEVANT_TOKENS * data.train[0].shape[0] / data.train[0].sum(), 0.05, 0.8)
    shares = {min(float(least) * step, THEMED.largest_share) for step in (1.0, 2.0, 4.0)}
    rows = [fit(data, name, split, share, part)[1] for share in sorted(shares)]
    return {"data": name, "split": split, "part": part, "auto": auto, "path": path, "rows": rows}


# ---- runs and the page ---------------------------------------------------------------------------


def finished() -> dict[tuple[str, int, str], dict[str, Any]]:
    if not RESULTS.exists():
        return {}
    rows = (json.loads(line) for line in RESULTS.read_text(encoding="utf-8").splitlines() if line)
    return {(r["data"], r["split"], r["part"]): r for r in rows}


def run(names: list[str], splits: int, part: str) -> None:
    RESULTS.parent.mkdir(exist_ok=True)
    done = finished()
    for split, name in ((s, n) for s in range(splits) for n in names):
        if (name, split, part) not in done:
            row = one_split(name, split, part)
            with RESULTS.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
            print(name, split, row["auto"], "best", least(row), flush=True)


def above(row: dict[str, Any]) -> float:
    """The automatic choice's loss above the best share's, in standard errors of the latter."""
    best = least(row)
    return (row["auto"]["loss"] - best["loss"]) / best["error"]


def least(row: dict[str, Any]) -> dict[str, Any]:
    """The share of least loss: the automatic one, or one that was given."""
    return min([row["auto"], *row["rows"]], key=lambda r: r["loss"])


def table(part: str) -> list[str]:
    """A row a data set, in Markdown."""
    titles = (
        "data, topics",
        "splits",
        "shares of the path",
        "score: automatic",
        "score: least loss",
        "loss above it, standard errors: mean, most",
        "within one",
        "diversity@10: mean, least",
        "words",
    )
    lines = ["| " + " | ".join(titles) + " |", "|---" * len(titles) + "|"]
    for name in DATA:
        rows = [r for (d, _, p), r in sorted(finished().items()) if d == name and p == part]
        if rows:
            lines.append("| " + " | ".join(_cells(name, rows)) + " |")
    return lines


def _cells(name: str, rows: list[dict[str, Any]]) -> list[str]:
    away = [above(r) for r in rows]
    best = [least(r)["score"] for r in rows]
    diversity = [r["auto"]["diversity"] for r in rows]
    path = " ".join(f"{row['share']:.2f}" for row in rows[0]["rows"])
    taken = " ".join(f"{r['auto']['share']:.2f}" for r in rows)
    return [
        f"{name}, {TOPICS[name]}",
        str(len(rows)),
        f"{path}; taken {taken}",
        f"{np.mean([r['auto']['score'] for r in rows]):.3f}",
        f"{np.mean(best):.3f}",
        f"{np.mean(away):.2f}, {max(away):.2f}",
        f"{sum(a <= 1 for a in away)} of {len(away)}",
        f"{np.mean(diversity):.2f}, {min(diversity):.2f}",
        f"{np.mean([r['auto']['words'] for r in rows]):.0f}",
    ]


def page() -> str:
    lines = [
        "# The automatic share of words beside the other shares of its path",
        "",
        "Made by `python experiments/automatic_share.py`, which says what is measured. Score: RMSE",
        "for pang_lee and yelp, accuracy for newsgroups, AUC otherwise; the share of least loss is",
        "taken with hindsight, from the very documents scored. imdb has 10,000 training documents,",
        "diabetes 20,000. The rule is the default: not worse than the best share by more than one",
        "standard error of the difference, on four folds of the training part; on the validation",
        "part for those two, which have enough documents there. Within one: the loss is above the",
        "least by no more than one standard error of the latter (not of the difference). Where the",
        "automatic share is a limit that is not reached, the same share given, which is, stands",
        "among those it is compared with.",
        "",
        "Test parts:",
        "",
        *table("test"),
    ]
    valid = table("valid")
    if len(valid) > 2:
        lines += ["", "Validation parts, by which rules may be compared:", "", *valid]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", nargs="*", default=list(DATA), help=", ".join(DATA))
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--part", default="test", choices=("test", "valid"))
    parser.add_argument("--table", action="store_true", help="only write the page")
    args = parser.parse_args()
    if not args.table:
        run(args.data, args.splits, args.part)
    (HERE / "AUTOMATIC_SHARE.md").write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
