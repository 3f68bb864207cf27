"""The frontier of two data sets: how many topics, how many words? For docs/choosing.md.

    TOPICFOCUS_DATA=... python experiments/choosing.py [FOLDER]

Training and validation documents of split 0 of Pang & Lee and of Yelp; 5 folds; the default model.
Writes experiments/CHOOSING.md and docs/pictures/choosing-*.png. The test part is used once, for
the line that says how well the chosen model does there. With FOLDER an interrupted run goes on.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from topicfocus import FocusedTopicRegressor, TopicSearchCV
from topicfocus.datasets import load_pang_lee, load_yelp
from topicfocus.metrics import rmse
from topicfocus.report import plot_search

HERE = Path(__file__).parent
PICTURES = HERE.parent / "docs" / "pictures"
GRID = {"n_topics": [3, 5, 10], "inclusion_prior": [0.05, 0.1, 0.2, 0.4]}
COLUMNS = (
    ("n_topics", "topics", "{:g}"),
    ("inclusion_prior", "share", "{:g}"),
    ("score", "R²", "{:.3f}"),
    ("score_se", "±", "{:.3f}"),
    ("words", "words", "{:.0f}"),
    ("npmi", "npmi@10", "{:.3f}"),
    ("log_ratio", "log ratio@10", "{:.2f}"),
    ("agreement", "agreement", "{:.2f}"),
    ("diversity", "diversity@10", "{:.2f}"),
    ("jaccard", "Jaccard of folds", "{:.2f}"),
    ("nogueira", "Nogueira of folds", "{:.2f}"),
)


def search(data: Any, checkpoint: Path | None) -> tuple[TopicSearchCV, float]:
    """The search on all but the test part, and the RMSE of its choice on that."""
    counts = sparse.csr_array(sparse.vstack([data.train.counts, data.valid.counts], format="csr"))
    target = np.concatenate([data.train.target, data.valid.target])
    found = TopicSearchCV(FocusedTopicRegressor(random_state=0), GRID, checkpoint=checkpoint)
    found.fit(counts, target)
    return found, rmse(data.test.target, found.predict(data.test.counts))


def table(rows: list[dict[str, Any]]) -> list[str]:
    """In Markdown; the setting that was taken is bold."""
    lines = [
        "| " + " | ".join(title for _, title, _ in COLUMNS) + " |",
        "|---" * len(COLUMNS) + "|",
    ]
    for row in rows:
        cells = [form.format(row[name]) for name, _, form in COLUMNS]
        cells = [f"**{cell}**" for cell in cells] if row["chosen"] else cells
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def main() -> None:
    PICTURES.mkdir(exist_ok=True)
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    lines = ["# The frontier of two data sets", "", "Made by `python experiments/choosing.py`."]
    for name, load in (("yelp", load_yelp), ("pang_lee", load_pang_lee)):
        found, error = search(load(), None if folder is None else folder / name)
        axes = plot_search(found, score="R²")
        axes.figure.savefig(PICTURES / f"choosing-{name}.png", dpi=100)
        lines += ["", f"## {name}", "", *table(found.frontier_rows_), ""]
        lines += [f"Taken: {found.best_params_}; test RMSE {error:.3f}."]
        (HERE / "CHOOSING.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
