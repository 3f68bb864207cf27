"""Which way of choosing words gives the same words in another sample, and what does it cost?

    TOPICFOCUS_DATA=... python experiments/stable_selection.py [SPLITS]

The documents that are not test documents are halved; words are chosen in each half by the same rule
and the same (automatic) share of tokens, and a model of 5 topics is fitted to each half with its
words, and to both halves together. Rules, fixed beforehand, none tuned on a test part:

- per token: evidence beyond its cost per token, (E - c)/n, as the model does;
- per token^0.75: (E - c)/n^0.75, which prefers frequent words;
- marginal: the same as the first with E = z² alone. Of words that say the same the ridge
  regression's part of E prefers one, and which one depends on the sample;
- bagged: the mean of (E - c)/n over 10 random halves of the documents at hand (selection
  frequencies, without a threshold).

Jaccard by words and by tokens of the two halves' words; correlation of the two halves' predictions
on test documents; test RMSE of the model of both halves.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from topicfocus import FocusedTopicRegressor
from topicfocus.corpus import make_corpus
from topicfocus.datasets import load_pang_lee, load_yelp
from topicfocus.families import Gaussian
from topicfocus.inference.focused.evidence import description_cost
from topicfocus.inference.state import make_problem
from topicfocus.metrics import rmse
from topicfocus.solvers.focus.cut import automatic_inclusion
from topicfocus.solvers.focus.data import FocusData
from topicfocus.solvers.focus.evidence import gather_evidence

HERE = Path(__file__).parent
MARGINAL_SHARE, BAGS = 2 / 3, 10


def evidence_of(counts: Any, target: np.ndarray, marginal: float) -> tuple[np.ndarray, np.ndarray]:
    """E and n of every word, as a fit gathers them: penalties on a tenth, then all documents."""
    order = np.random.default_rng(0).permutation(len(target))
    held, train = np.split(order, [len(order) // 10])
    parts = [
        make_problem(make_corpus(counts[np.sort(p)]), target[np.sort(p)]) for p in (train, held)
    ]
    data = FocusData.of(*parts, Gaussian(float(np.var(target))))
    penalties = gather_evidence(data).penalties
    found = gather_evidence(data.joined(), penalties)
    return found.evidence.combined(marginal), data.joined().word_counts


def score_of(counts: Any, target: np.ndarray, marginal: float, power: float, share: float) -> Any:
    """max(E - c, 0) / n^power."""
    evidence, often = evidence_of(counts, target, marginal)
    gain = np.maximum(evidence - description_cost(evidence, share), 0.0)
    return gain / np.maximum(often, 1.0) ** power


def bagged(counts: Any, target: np.ndarray, share: float) -> np.ndarray:
    """The mean score over random halves."""
    rng, n = np.random.default_rng(0), len(target)
    total = np.zeros(counts.shape[1])
    for _ in range(BAGS):
        rows = np.sort(rng.choice(n, n // 2, replace=False))
        total += score_of(counts[rows], target[rows], MARGINAL_SHARE, 1.0, share)
    return total / BAGS


RULES: dict[str, Callable[[Any, np.ndarray, float], np.ndarray]] = {
    "per token": lambda X, y, share: score_of(X, y, MARGINAL_SHARE, 1.0, share),
    "per token^0.75": lambda X, y, share: score_of(X, y, MARGINAL_SHARE, 0.75, share),
    "marginal": lambda X, y, share: score_of(X, y, 1.0, 1.0, share),
    "bagged": bagged,
}


def words_of(rule: str, counts: Any, target: np.ndarray, share: float) -> np.ndarray:
    """Mask of the words with the highest scores, up to a share of the tokens."""
    score = RULES[rule](counts, target, share)
    often = np.asarray(counts.sum(axis=0)).ravel()
    order = np.argsort(-score, kind="stable")
    reached = np.cumsum(often[order]) / often.sum()
    kept = np.zeros(len(score), dtype=bool)
    kept[order[(score[order] > 0) & (reached <= share)]] = True
    return kept


def fit(counts: Any, target: np.ndarray, kept: np.ndarray) -> FocusedTopicRegressor:
    forced = {"keep_words": np.flatnonzero(kept), "drop_words": np.flatnonzero(~kept)}
    return FocusedTopicRegressor(5, random_state=0, n_jobs=1, **forced).fit(counts, target)


def judge(rule: str, data: Any, split: int) -> list[float]:
    """Jaccard by words, by tokens, correlation of predictions, RMSE, words kept."""
    counts = sparse.csr_array(sparse.vstack([data.train.counts, data.valid.counts], format="csr"))
    target = np.concatenate([data.train.target, data.valid.target])
    share = automatic_inclusion(make_problem(make_corpus(counts), target))
    order = np.random.default_rng(split).permutation(len(target))
    halves = [np.sort(part) for part in np.array_split(order, 2)]
    sets = [words_of(rule, counts[half], target[half], share) for half in halves]
    often = np.asarray(counts.sum(axis=0)).ravel()
    both, either = sets[0] & sets[1], sets[0] | sets[1]
    models = [fit(counts[h], target[h], kept) for h, kept in zip(halves, sets, strict=True)]
    predicted = [model.predict(data.test.counts) for model in models]
    kept = words_of(rule, counts, target, share)
    error = rmse(data.test.target, fit(counts, target, kept).predict(data.test.counts))
    return [
        both.sum() / either.sum(),
        often[both].sum() / often[either].sum(),
        float(np.corrcoef(*predicted)[0, 1]),
        error,
        float(kept.sum()),
    ]


def main() -> None:
    splits = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    title = ("Jaccard, words", "Jaccard, tokens", "correlation", "test RMSE", "words kept")
    lines = [
        "# Words that come back: rules of selection",
        "",
        f"Made by `python experiments/stable_selection.py {splits}`: means (standard deviations) "
        f"over {splits} splits;",
        "disjoint halves, automatic share, 5 topics. The script says what the rules are.",
        "",
        f"| data | rule | {' | '.join(title)} |",
        "|---" * 7 + "|",
    ]
    for name, load in (("yelp", load_yelp), ("pang_lee", load_pang_lee)):
        for rule in RULES:
            found = np.array([judge(rule, load(split), split) for split in range(splits)])
            form = ("{:.3f} ({:.3f})",) * 4 + ("{:.0f} ({:.0f})",)
            pairs = zip(form, found.mean(axis=0), found.std(axis=0), strict=True)
            cells = [f.format(m, s) for f, m, s in pairs]
            lines.append(f"| {name} | {rule} | {' | '.join(cells)} |")
            print(lines[-1], flush=True)
            (HERE / "STABLE_SELECTION.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
