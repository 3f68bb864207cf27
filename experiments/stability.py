"""How stable are the kept words? Pang & Lee, 5 seeds, and 5 halves of the documents.

    TOPICFOCUS_DATA=... python experiments/stability.py

The seed only decides which documents are set aside for choices; what is chosen is fitted to all, so
over seeds the words hardly change. Halves of the documents, drawn at random, are the harder
question: how much of the selection is the data's, how much the sample's.
"""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
from scipy import sparse

from topicfocus import FocusedTopicRegressor
from topicfocus.datasets import load_pang_lee

HERE = Path(__file__).parent


def jaccard(sets: list[set[int]]) -> tuple[float, float]:
    values = [len(a & b) / len(a | b) for a, b in combinations(sets, 2)]
    return float(np.mean(values)), float(np.min(values))


def main() -> None:
    data = load_pang_lee()
    counts = sparse.csr_array(sparse.vstack([data.train.counts, data.valid.counts], format="csr"))
    target = np.concatenate([data.train.target, data.valid.target])

    def kept(rows: np.ndarray, seed: int) -> set[int]:
        model = FocusedTopicRegressor(5, random_state=seed).fit(counts[rows], target[rows])
        return set(np.flatnonzero(model.selected_words_).tolist())

    everything = np.arange(len(target))
    seeds = jaccard([kept(everything, seed) for seed in range(5)])
    rng = np.random.default_rng(0)
    halves = jaccard(
        [kept(rng.choice(len(target), len(target) // 2, replace=False), 0) for _ in range(5)]
    )
    lines = [
        "# Stability of the kept words, Pang & Lee",
        "",
        "Made by `python experiments/stability.py`. Jaccard index of the sets of kept words, over",
        "the ten pairs of five fits.",
        "",
        "| fits differ in | mean | smallest |",
        "|---|---|---|",
        f"| the seed (who is set aside for choices) | {seeds[0]:.3f} | {seeds[1]:.3f} |",
        f"| the documents (random halves) | {halves[0]:.3f} | {halves[1]:.3f} |",
    ]
    (HERE / "STABILITY.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
