"""Any models on any data sets, on the same splits and by the same rule.

    python experiments/compare.py yelp --splits 2 --models focused words "tomotopy SLDA"

Each setting of a model's grid is a fit; the validation part chooses among them, and the test part
gives the metrics. Finished comparisons are kept in experiments/results/compare.jsonl.
"""

from __future__ import annotations

import sys
from typing import Any

from compared import MODELS
from data import SOURCES, load
from measures import higher_is_better, measure
from runner import Task, arguments, frame, run, summary

COLUMNS = (
    ("test", "RMSE or AUC", "{:.3f}"),
    ("pmi50", "paper's coherence@50", "{:.3f}"),
    ("npmi10", "npmi@10", "{:.3f}"),
    ("agreement", "target agreement", "{:.3f}"),
    ("kept", "words kept", "{:.1%}"),
    ("cpu_seconds", "seconds", "{:.1f}"),
)


def work(task: Task) -> dict[str, Any]:
    """Metrics of the setting that predicts the validation part best."""
    data = load(task["data"], task["split"])
    if data.task not in ("regression", "binary"):
        raise ValueError(f"{task['data']}: a number or two classes are needed, not {data.task}")
    sign = 1.0 if higher_is_better(task["data"]) else -1.0
    model = MODELS[task["model"]]
    if not model.available:
        raise ImportError(f"{task['model']} needs the package {model.package}")
    found = [
        {"setting": setting} | measure(model.fit(data, setting, task["split"]), data)
        for setting in model.grid
    ]
    return max(found, key=lambda row: sign * row["valid"])


def main() -> None:
    names, models = sys.argv, list(MODELS)
    if "--models" in names:
        place = names.index("--models")
        models, sys.argv = names[place + 1 :], names[:place]
    unknown = sorted(set(models) - set(MODELS))
    if unknown:
        raise SystemExit(f"unknown models {unknown}; there are {', '.join(MODELS)}")
    args = arguments(__doc__, list(SOURCES), 5)
    tasks = [
        {"data": name, "model": model, "split": split}
        for name in args.data
        for split in range(args.splits)
        for model in models
    ]
    print(summary(frame(run("compare", tasks, work, jobs=args.jobs)), ["data", "model"], COLUMNS))


if __name__ == "__main__":
    main()
