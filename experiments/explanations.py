"""Do explanations have the sign of the change that they explain?

    python experiments/explanations.py        # prints two tables

Focused models with defaults on the training part of split 0, 300 documents of the test part.
*Pairs* are of a document and a class: the sum of its words' amounts beside the change of the
prediction from a document without words. *Words*: the amount of a word, of the predictor that is
shown, beside the change when the word is removed from the document. Only amounts above a tenth are
counted, in the units of the linear predictor.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from data import Part, load
from runner import Task, arguments, markdown, run
from scipy import sparse

import topicfocus
from topicfocus.contributions import log_odds

#: Topics, and the largest number of training documents.
CASES = {"yelp": (5, None), "pang_lee": (8, None), "eicu": (6, None), "newsgroups": (20, 4000)}
LEAST, DOCUMENTS = 0.1, 300


def some(part: Part, n: int | None, seed: int) -> tuple[Any, np.ndarray]:
    rows = np.arange(part.counts.shape[0])
    if n is not None and n < len(rows):
        rows = np.random.default_rng(seed).choice(rows, n, replace=False)
    return sparse.csr_array(part.counts[rows]), np.asarray(part.target)[rows]


def agreement(amounts: np.ndarray, changes: np.ndarray) -> list[float]:
    """Fraction of equal signs among clear amounts, and their number."""
    clear = np.abs(amounts) > LEAST
    return [float(np.mean(np.sign(amounts[clear]) == np.sign(changes[clear]))), int(clear.sum())]


def removals(model: Any, counts: Any, found: Any) -> tuple[np.ndarray, np.ndarray]:
    """Amounts of single words of the predictor shown, and the changes when they are removed."""
    changed, owner, amounts = [], [], []
    for d in range(counts.shape[0]):
        row = found.words[found.chosen[d, 0]][[d]]
        for v, amount in zip(row.indices, row.data, strict=True):
            without = counts[[d]].tolil()
            without[0, v] = 0
            changed.append(without.tocsr())
            owner.append(d)
            amounts.append(amount)

    def predictors(documents: Any) -> np.ndarray:
        f = model.fitted_.predictors(model.fitted_.documents(documents))
        return log_odds(f) if f.shape[1] > 1 else f

    rows, shown = np.array(owner), found.chosen[np.array(owner), 0]
    without = predictors(sparse.csr_array(sparse.vstack(changed)))
    change = predictors(counts)[rows, shown] - without[np.arange(len(rows)), shown]
    return np.array(amounts), change


def work(task: Task) -> dict[str, Any]:
    data = load(task["data"], 0)
    n_topics, most = CASES[task["data"]]
    kind = "Regressor" if data.task == "regression" else "Classifier"
    model = getattr(topicfocus, f"FocusedTopic{kind}")(n_topics, random_state=0, n_jobs=1)
    model.fit(*some(data.train, most, 0))
    counts, _ = some(data.test, DOCUMENTS, 1)
    found = model.explain(counts)
    added = np.column_stack([np.asarray(w.sum(axis=1)).ravel() for w in found.words])
    pairs = agreement(added.ravel(), (found.after - found.before).ravel())
    return {"pairs": pairs, "words": agreement(*removals(model, counts, found))}


def main() -> None:
    args = arguments(__doc__, list(CASES), 1)
    done = run("explanations", [{"data": name} for name in args.data], work, jobs=args.jobs)
    rows = [
        [r["data"], *("{:.1%} of {:,}".format(*r[k]) for k in ("pairs", "words"))] for r in done
    ]
    print(markdown(["data", "pairs", "single words"], rows))


if __name__ == "__main__":
    main()
