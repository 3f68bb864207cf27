"""Do explanations have the sign of what really changes?

    TOPICFOCUS_DATA=... python experiments/explanations.py [--documents 300]

Focused models with defaults on the training part of split 0, documents of the test part (a fixed
random choice). *Pairs* are of a document and a class (of every class, or the one predictor of
another target): what its words add in all, beside the change of the prediction from a document
without words. *Words* are of the predictor that is shown (the likeliest class): the amount of a
word, beside what taking the word out of the document changes, really computed. Counted are amounts
above a tenth, in the units of the linear predictor.
"""

from __future__ import annotations

import argparse

import numpy as np
from scipy import sparse

from topicfocus import FocusedTopicClassifier, FocusedTopicRegressor, datasets
from topicfocus.inference.contrasts import log_odds

#: Loader, model, topics, documents to train on at most.
CASES = (
    ("yelp", datasets.load_yelp, FocusedTopicRegressor, 5, None),
    ("pang_lee", datasets.load_pang_lee, FocusedTopicRegressor, 8, None),
    ("eicu", datasets.load_eicu, FocusedTopicClassifier, 6, None),
    ("newsgroups", datasets.load_newsgroups, FocusedTopicClassifier, 20, 4000),
)
LEAST = 0.1


def some(part, n, seed):
    rows = np.arange(part.counts.shape[0])
    if n is not None and n < len(rows):
        rows = np.random.default_rng(seed).choice(rows, n, replace=False)
    return sparse.csr_array(part.counts[rows]), np.asarray(part.target)[rows]


def log_odds_of(fitted, counts):
    f = fitted.predictors(fitted.documents(counts))
    return log_odds(f) if f.shape[1] > 1 else f


def agreement(amounts, changes):
    clear = np.abs(amounts) > LEAST
    same = np.sign(amounts[clear]) == np.sign(changes[clear])
    return f"{same.mean():.4f} of {clear.sum():,}"


def words_of(model, counts, found):
    """Amounts of single words of the predictor shown, and what taking them out changes."""
    changed, owner, amounts = [], [], []
    for d in range(counts.shape[0]):
        row = found.words[found.chosen[d, 0]][[d]]
        for v, amount in zip(row.indices, row.data, strict=True):
            without = counts[[d]].tolil()
            without[0, v] = 0
            changed.append(without.tocsr())
            owner.append(d)
            amounts.append(amount)
    owner, shown = np.array(owner), found.chosen[np.array(owner), 0]
    before = log_odds_of(model.fitted_, sparse.csr_array(sparse.vstack(changed)))
    whole = log_odds_of(model.fitted_, counts)
    every = np.arange(len(owner))
    return np.array(amounts), whole[owner, shown] - before[every, shown]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--documents", type=int, default=300)
    wanted = parser.parse_args().documents
    for name, load, kind, n_topics, most in CASES:
        data = load() if name == "newsgroups" else load(split=0)
        model = kind(n_topics, random_state=0).fit(*some(data.train, most, 0))
        counts, _ = some(data.test, wanted, 1)
        found = model.explain(counts)
        added = np.column_stack([np.asarray(w.sum(axis=1)).ravel() for w in found.words])
        pairs = agreement(added.ravel(), (found.after - found.before).ravel())
        words = agreement(*words_of(model, counts, found))
        print(f"{name:<12} pairs {pairs:<20} words {words}", flush=True)


if __name__ == "__main__":
    main()
