"""Which way of choosing words gives the same words in another sample, and what does it cost?

    TOPICFOCUS_DATA=... python experiments/stable_selection.py [DATA ...] [--splits N] [--rules ...]

The documents that are not test documents are halved, and a model of 5 topics is fitted to each half
and to both together. Ways of choosing words, none tuned on a test part (the stable ones were found
on training and validation parts, where what else was tried was compared; docs/choosing.md):

- predictive: as the model does by default, evidence E beyond its cost per token, (E - c)/n, the
  share of tokens chosen by the model;
- predictive, half: the same with half of the tokens, to tell the share from the rule;
- stable: the option ``selection="stable"``: E is what halves of the documents find on average, luck
  taken off, as many words of most E as say more than noise (`lasting_evidence`);
- stable, 0.3: of these, the most E per token, up to a share of the tokens;
- frequent: half of the tokens, frequency in the description length: (E - c)/(n + 50);
- often: half of the tokens, the words kept most often by 10 random halves of the documents at hand
  (selection frequencies, stability selection).

Jaccard by words and by tokens of the two halves' words, and Nogueira's index, which is corrected
for chance (the more words, the more are common by chance); correlation of the two halves'
predictions on test documents; test RMSE of the model of both halves. A line of
experiments/results/stable_selection.jsonl for each rule and split; an interrupted run goes on.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from topicfocus import FocusedTopicRegressor
from topicfocus.corpus import make_corpus
from topicfocus.datasets import load_pang_lee, load_yelp
from topicfocus.families import Gaussian
from topicfocus.inference.focused.cutting import cut, description_cost
from topicfocus.inference.state import make_problem
from topicfocus.metrics import rmse
from topicfocus.selection import nogueira_index
from topicfocus.solvers.focus.data import FocusData
from topicfocus.solvers.focus.evidence import gather_evidence

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "stable_selection.jsonl"
DATA = {"yelp": load_yelp, "pang_lee": load_pang_lee}
MARGINAL_SHARE, SHARE, BAGS, ADDED = 2 / 3, 0.5, 10, 50.0
RULES: dict[str, dict[str, Any] | None] = {
    "predictive": {},
    "predictive, half": {"inclusion_prior": SHARE},
    "stable": {"selection": "stable"},
    "stable, 0.3": {"selection": "stable", "inclusion_prior": 0.3},
    "frequent": None,
    "often": None,
}
TITLES = ("Jaccard, words", "tokens", "Nogueira", "correlation", "test RMSE", "words kept")


def evidence_of(counts: Any, target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """E and n of every word, as a fit gathers them: penalties on a tenth, then all documents."""
    order = np.random.default_rng(0).permutation(len(target))
    held, train = np.split(order, [len(order) // 10])
    parts = [
        make_problem(make_corpus(counts[np.sort(p)]), target[np.sort(p)]) for p in (train, held)
    ]
    data = FocusData.of(*parts, Gaussian(float(np.var(target))))
    found = gather_evidence(data.joined(), gather_evidence(data).penalties)
    return found.amount(MARGINAL_SHARE), data.joined().word_counts


def frequent(counts: Any, target: np.ndarray) -> np.ndarray:
    """Scores with so many tokens added to the frequency of every word."""
    evidence, often = evidence_of(counts, target)
    gain = np.maximum(evidence - description_cost(evidence[often > 0], SHARE), 0.0)
    return gain / (often + ADDED)


def kept_often(counts: Any, target: np.ndarray) -> np.ndarray:
    """Shares of random halves that keep a word; more evidence first where they are equal."""
    rng, n = np.random.default_rng(0), len(target)
    total = np.zeros(counts.shape[1])
    for _ in range(BAGS):
        rows = np.sort(rng.choice(n, n // 2, replace=False))
        evidence, often = evidence_of(counts[rows], target[rows])
        total[cut(evidence, often, SHARE)] += 1 / BAGS
    evidence, often = evidence_of(counts, target)
    rank = evidence / np.maximum(often, 1.0)
    return total + (total > 0) * 1e-3 * rank / rank.max()


def words_of(score: np.ndarray, counts: Any) -> np.ndarray:
    """Mask of the words with the highest scores, up to a share of the tokens."""
    often = np.asarray(counts.sum(axis=0)).ravel()
    order = np.argsort(-score, kind="stable")
    reached = np.cumsum(often[order]) / often.sum()
    kept = np.zeros(len(score), dtype=bool)
    kept[order[(score[order] > 0) & (reached <= SHARE)]] = True
    return kept


def fit(rule: str, counts: Any, target: np.ndarray) -> FocusedTopicRegressor:
    """A model whose words are chosen by a rule."""
    settings = RULES[rule]
    if settings is None:
        score = (frequent if rule == "frequent" else kept_often)(counts, target)
        # All words but those that are dropped are kept.
        dropped = np.flatnonzero(~words_of(score, counts))
        settings = {"drop_words": dropped, "inclusion_prior": 0.9999}
    model = FocusedTopicRegressor(5, random_state=0, n_jobs=1, **settings)
    return model.fit(counts, target)


def judge(rule: str, data: Any, split: int) -> list[float]:
    """The figures of TITLES."""
    counts = sparse.csr_array(sparse.vstack([data.train.counts, data.valid.counts], format="csr"))
    target = np.concatenate([data.train.target, data.valid.target])
    order = np.random.default_rng(split).permutation(len(target))
    halves = [np.sort(part) for part in np.array_split(order, 2)]
    models = [fit(rule, counts[half], target[half]) for half in halves]
    sets = np.array([model.selected_words_ for model in models])
    often = np.asarray(counts.sum(axis=0)).ravel()
    both, either = sets.all(axis=0), sets.any(axis=0)
    predicted = [model.predict(data.test.counts) for model in models]
    whole = fit(rule, counts, target)
    return [
        both.sum() / either.sum(),
        often[both].sum() / often[either].sum(),
        float(nogueira_index(sets).value),
        float(np.corrcoef(*predicted)[0, 1]),
        rmse(data.test.target, whole.predict(data.test.counts)),
        float(whole.selected_words_.sum()),
    ]


def finished() -> dict[tuple[str, str, int], list[float]]:
    if not RESULTS.exists():
        return {}
    rows = (json.loads(line) for line in RESULTS.read_text(encoding="utf-8").splitlines())
    return {(r["data"], r["rule"], r["split"]): r["figures"] for r in rows}


def page() -> str:
    """Means and standard deviations over splits, in Markdown."""
    lines = [
        "# Words that come back: rules of selection",
        "",
        "Made by `python experiments/stable_selection.py`: means (standard deviations) over",
        "splits; disjoint halves, 5 topics. The script says what the rules are.",
        "",
        f"| data | rule | splits | {' | '.join(TITLES)} |",
        "|---" * (len(TITLES) + 3) + "|",
    ]
    done = finished()
    for name, rule in ((n, r) for n in DATA for r in RULES):
        found = np.array([f for (d, r, _), f in sorted(done.items()) if (d, r) == (name, rule)])
        if len(found):
            form = ("{:.3f} ({:.3f})",) * 5 + ("{:.0f} ({:.0f})",)
            pairs = zip(form, found.mean(axis=0), found.std(axis=0), strict=True)
            cells = [f.format(m, s) for f, m, s in pairs]
            lines.append(f"| {name} | {rule} | {len(found)} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", nargs="*", default=list(DATA), help=", ".join(DATA))
    parser.add_argument("--splits", type=int, default=15)
    parser.add_argument("--rules", nargs="+", default=list(RULES), choices=list(RULES))
    args = parser.parse_args()
    RESULTS.parent.mkdir(exist_ok=True)
    for name, rule in ((n, r) for n in args.data for r in args.rules):
        for split in range(args.splits):
            if (name, rule, split) in finished():
                continue
            figures = judge(rule, DATA[name](split), split)
            row = {"data": name, "rule": rule, "split": split, "figures": figures}
            with RESULTS.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
            print(name, rule, split, figures, flush=True)
    (HERE / "STABLE_SELECTION.md").write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
