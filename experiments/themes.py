"""Prediction and topics of the focused model with its defaults, beside LDA and a regression.

    python experiments/themes.py [yelp ...] [--splits 5]        # writes THEMES.md

Every model is fitted to the training part, chooses on the validation part, and is scored on the
test part. npmi, smoothed PMI and diversity are of the ten words that a model lists first, on
training documents; agreement is of twenty words, on test documents. The rows "today" are of the
model before subjects (commit f571341) and are not run again.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from data import Dataset, load
from measures import higher_is_better, score
from runner import Task, experiment, finished, frame, grid, markdown, mean_sd
from scipy import sparse
from sklearn.linear_model import LogisticRegression, Ridge

import topicfocus
from topicfocus import metrics

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
MODELS = ("themes", "lda", "linear")
COLUMNS = (
    ("score", "RMSE, AUC or accuracy", "{:.4f}"),
    ("npmi10", "npmi@10", "{:.3f}"),
    ("log_ratio10", "smoothed PMI@10", "{:.3f}"),
    ("diversity10", "diversity@10", "{:.2f}"),
    ("agreement", "agreement", "{:.3f}"),
    ("purity20", "purity@20", "{:.3f}"),
    ("mix_sd", "sd of proportions", "{:.3f}"),
    ("kept", "words kept", "{:.1%}"),
)


def load_data(name: str, split: int) -> Dataset:
    """A split, with 20,000 training documents of diabetes and 10,000 of imdb."""
    return load(name, split, max_docs={"diabetes": 20_000, "imdb": 10_000}.get(name))


def fit_focused(data: Dataset, n_topics: int, seed: int, **settings: Any) -> Any:
    """A focused model that chooses on the validation part."""
    kind = "Regressor" if data.task == "regression" else "Classifier"
    model = getattr(topicfocus, f"FocusedTopic{kind}")(n_topics, random_state=seed, **settings)
    valid = {"X_val": data.valid.counts, "y_val": data.valid.target}
    return model.fit(data.train.counts, data.train.target, **valid)


def predict(model: Any, counts: Any, task: str) -> np.ndarray:
    return model.decision_function(counts) if task == "binary" else model.predict(counts)


def best_regression(data: Dataset) -> float:
    """Score of ridge or logistic regression on roots of counts; validation chooses its penalty."""
    train, valid = data.train.counts.sqrt(), data.valid.counts.sqrt()
    sign = 1.0 if higher_is_better(data.name) else -1.0
    found = []
    for penalty in np.logspace(-1, 4.5, 12):
        model: Any = Ridge(penalty, solver="sparse_cg", tol=1e-5)
        if data.task != "regression":
            model = LogisticRegression(C=1 / penalty, max_iter=300, tol=1e-3)
        model.fit(train, data.train.target)
        value = score(data.task, data.valid.target, predict(model, valid, data.task))
        found.append((sign * value, model))
    best = max(found, key=lambda pair: pair[0])[1]
    target = np.concatenate([data.train.target, data.valid.target])
    best.fit(sparse.vstack([train, valid], format="csr"), target)
    predicted = predict(best, data.test.counts.sqrt(), data.task)
    return score(data.task, data.test.target, predicted)


def topic_metrics(topics: np.ndarray, data: Dataset) -> dict[str, float]:
    counts = data.train.counts
    row = {
        "npmi10": metrics.coherence(topics, counts, "npmi", 10),
        "log_ratio10": metrics.coherence(topics, counts, "smoothed_pmi", 10),
        "diversity10": metrics.topic_diversity(topics, 10),
    }
    if data.name == "yelp_imdb":
        row["purity20"] = _purity(topics, data)
    return row


def _purity(topics: np.ndarray, data: Dataset, top_n: int = 20) -> float:
    """Mean over topics of the largest mean fraction of a domain among the top words."""
    domain = data.train.groups
    uses = np.array([data.train.counts[domain == d].sum(axis=0) for d in (0, 1)])
    uses = uses / uses.sum(axis=1, keepdims=True)
    fraction = uses / np.maximum(uses.sum(axis=0), 1e-300)
    tops = np.argsort(-topics, axis=1, kind="stable")[:, :top_n]
    return float(np.mean([fraction[:, words].mean(axis=1).max() for words in tops]))


def focused_metrics(data: Dataset, n_topics: int, seed: int, **settings: Any) -> dict[str, Any]:
    """Metrics of a focused model on the test part."""
    began = time.perf_counter()
    model = fit_focused(data, n_topics, seed, n_jobs=1, **settings)
    row: dict[str, Any] = {"seconds": time.perf_counter() - began}
    test, shown = data.test, model.word_ranks()
    row["score"] = score(data.task, test.target, predict(model, test.counts, data.task))
    row |= topic_metrics(shown, data)
    row["kept"] = float(np.mean(model.selected_words_))
    row["share"] = float(model.inclusion_prior_)
    row["mix_sd"] = float(model.transform(test.counts).std(axis=0).mean())
    words = model.top_words(10, data.vocabulary)
    row["topics"] = [["", " ".join(w)] for w in words]
    if data.task != "multiclass":
        row["agreement"] = metrics.target_agreement(shown, model.coef_, test.counts, test.target)
        order = np.argsort(-model.coef_)
        coef = model.coef_ + model.intercept_
        row["topics"] = [[float(coef[k]), " ".join(words[k])] for k in order]
    return row


def work(task: Task) -> dict[str, Any]:
    name, split = task["data"], task["split"]
    data = load_data(name, split)
    if task["model"] == "linear":
        return {"score": best_regression(data)}
    if task["model"] == "lda":
        model = topicfocus.LDA(TOPICS[name], random_state=split, n_jobs=1).fit(data.train.counts)
        return topic_metrics(model.components_, data)
    return focused_metrics(data, TOPICS[name], split)


def page() -> list[str]:
    table = frame(finished("themes")).query("part == 'test'")
    table = table.drop_duplicates(["data", "model", "split"], keep="last")
    parts = [
        "# Topics about subjects, each with a sign",
        "Generated by `python experiments/themes.py`. Mean (standard deviation) over random "
        "splits; defaults everywhere; the test part is used for these metrics only. RMSE for yelp "
        "and pang_lee (lower is better), accuracy for newsgroups, AUC otherwise. themes: the "
        "focused model. today: the model at commit f571341, the same number of topics. linear: "
        "ridge or logistic regression on roots of counts. imdb has 10,000 training documents, "
        "diabetes 20,000.",
    ]
    for name in (n for n in TOPICS if n in table["data"].values):
        lines = []
        for model in ("themes", "today", "lda", "linear"):
            rows = table[(table["data"] == name) & (table["model"] == model)]
            if len(rows):
                cells = [mean_sd(rows[field], form) for field, _, form in COLUMNS]
                seconds = mean_sd(rows["seconds"], "{:.1f}", sd=False)
                lines.append([model, len(rows), *cells, seconds])
        header = ["model", "splits", *(title for _, title, _ in COLUMNS), "seconds"]
        parts += [f"## {name}, {TOPICS[name]} topics", markdown(header, lines)]
        first = table[
            (table["data"] == name) & (table["model"] == "themes") & (table["split"] == 0)
        ]
        if len(first):
            topics = first["topics"].iloc[0]
            shown = [f"    {c:7.2f}  {w}" if c != "" else f"    {w}" for c, w in topics]
            parts += ["Topics of split 0:", "\n".join(shown)]
    return parts


def tasks(data: Sequence[str], splits: range) -> list[Task]:
    return grid(data=data, split=splits, model=MODELS, part=["test"])


if __name__ == "__main__":
    experiment("themes", __doc__, list(TOPICS), 5, tasks, work, page)
