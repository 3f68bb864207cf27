"""Held-out error of topicfocus, of the strongest linear model, and of LDA with a regression.

    python experiments/held_out_comparison.py [yelp pang_lee imdb poliblog eicu]

Each split: the models get the training and the validation part, and the test part is used for the
metrics only. Linear model: TF-IDF of all words and pairs of words (no stop list) with ridge or
logistic regression; its penalty is chosen on the validation part, and it is then fitted to both
parts. LDA: 10 topics of the same counts as the focused model, then ridge or logistic regression on
the topic proportions, likewise. imdb has 10,000 training documents.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from data import load
from runner import HERE, Task, arguments, finished, markdown, mean_sd, run, write_page
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression, Ridge

from topicfocus import LDA, FocusedTopicClassifier, FocusedTopicRegressor, TokenCounter
from topicfocus.metrics import auc, rmse

DATA = {"yelp": 10, "pang_lee": 10, "poliblog": 10, "eicu": 6, "imdb": 10}
MODELS = ("topicfocus", "topicfocus with remainder", "linear", "LDA + linear")
PENALTIES = {"number": (0.1, 0.3, 1.0, 3.0, 10.0), "binary": (0.1, 0.3, 1.0, 3.0, 10.0, 30.0)}


def work(task: Task) -> dict[str, Any]:
    data = load(task["data"], task["split"], max_docs=10_000)
    parts = [data.train, data.valid, data.test]
    targets = [np.asarray(part.target) for part in parts]
    kind = "number" if data.task == "regression" else "binary"
    both = np.concatenate(targets[:2])
    if task["model"] == "linear":
        fitted, valid, test = _tfidf(parts)
        predicted = _linear(kind, [*fitted, valid, test], targets)
        return {"score": _score(kind, targets[2], predicted)}
    remainder = task["model"] == "topicfocus with remainder"
    counts = _counts(task["data"], parts, both, remainder)
    if task["model"].startswith("topicfocus"):
        estimator = FocusedTopicRegressor if kind == "number" else FocusedTopicClassifier
        model: Any = estimator(DATA[task["data"]], remainder=remainder, random_state=0)
        model.fit(counts[0], both)
        kept = float(model.selected_words_.mean())
        extra = {"kept": kept, "terms": counts[0].shape[1]}
        if kind == "number":
            predicted = model.predict(counts[1])
        else:
            predicted = model.predict_proba(counts[1])[:, 1]
        return {"score": _score(kind, targets[2], predicted), **extra}
    topics = LDA(DATA[task["data"]], random_state=0).fit(counts[0])
    n = len(targets[0])
    proportions = topics.transform(counts[0])
    matrices = [proportions[:n], proportions, proportions[n:], topics.transform(counts[1])]
    return {"score": _score(kind, targets[2], _linear(kind, matrices, targets))}


def _counts(name: str, parts: list[Any], target: np.ndarray, remainder: bool) -> list[Any]:
    """Counts of training and validation documents together, and of test documents."""
    if parts[0].texts is None or name in ("poliblog", "eicu"):
        first = sparse.vstack([parts[0].counts, parts[1].counts], format="csr")
        return [sparse.csr_array(first), parts[2].counts]
    counter = TokenCounter(remainder=remainder)
    texts = [*parts[0].texts, *parts[1].texts]
    return [counter.fit_transform(texts, target), counter.transform(parts[2].texts)]


def _tfidf(parts: list[Any]) -> tuple[list[Any], Any, Any]:
    """TF-IDF of training documents, of these with the validation documents, and of the others."""
    texts = [_texts(part) for part in parts]
    vectorizer = TfidfVectorizer(
        ngram_range=(1, 2), min_df=2, sublinear_tf=True, token_pattern=r"\b\w+\b"
    )
    both = vectorizer.fit_transform([*texts[0], *texts[1]])
    n = len(texts[0])
    return [both[:n], both], both[n:], vectorizer.transform(texts[2])


def _texts(part: Any) -> list[str]:
    if part.texts is not None:
        return list(part.texts)
    counts = sparse.csr_array(part.counts)
    return [
        " ".join(f"c{v}" for v in counts.indices[begin:end])
        for begin, end in zip(counts.indptr[:-1], counts.indptr[1:], strict=True)
    ]


def _linear(kind: str, matrices: list[Any], targets: list[np.ndarray]) -> np.ndarray:
    """Predictions of a linear model whose penalty is chosen on the validation part."""
    train, both, valid, test = matrices

    def fit(X: Any, y: np.ndarray, penalty: float) -> Any:
        if kind == "number":
            return Ridge(penalty, solver="lsqr", tol=1e-4).fit(X, y)
        return LogisticRegression(C=penalty, solver="liblinear").fit(X, y)

    def predict(model: Any, X: Any) -> np.ndarray:
        return model.predict(X) if kind == "number" else model.predict_proba(X)[:, 1]

    sign = 1 if kind == "number" else -1
    errors = [
        sign * _score(kind, targets[1], predict(fit(train, targets[0], penalty), valid))
        for penalty in PENALTIES[kind]
    ]
    best = PENALTIES[kind][int(np.argmin(errors))]
    return predict(fit(both, np.concatenate(targets[:2]), best), test)


def _score(kind: str, target: np.ndarray, predicted: np.ndarray) -> float:
    return float(rmse(target, predicted) if kind == "number" else auc(target, predicted))


def page() -> str:
    done, rows = finished("held_out_comparison"), []
    for name in DATA:
        cells = [
            mean_sd(r["score"] for r in done if r["data"] == name and r["model"] == model)
            for model in MODELS
        ]
        rows.append([name, *cells, *(_difference(done, name, model) for model in MODELS[:2])])
    differences = [f"{model} - linear" for model in MODELS[:2]]
    return markdown(["data", *MODELS, *differences], rows)


def _difference(done: list[Any], data: str, model: str) -> str:
    """Paired difference from the linear model, with its standard error."""
    ours, linear = (
        {r["split"]: r["score"] for r in done if (r["data"], r["model"]) == (data, name)}
        for name in (model, "linear")
    )
    gap = np.array([ours[split] - linear[split] for split in ours if split in linear])
    if len(gap) < 2:
        return "-"
    return f"{gap.mean():+.3f} ± {gap.std(ddof=1) / np.sqrt(len(gap)):.3f}"


def main() -> None:
    args = arguments(__doc__, list(DATA), 5)
    tasks = [
        {"data": name, "split": split, "model": model}
        for split in range(args.splits)
        for name in args.data
        for model in MODELS
    ]
    if not args.page:
        run("held_out_comparison", tasks, work, jobs=args.jobs)
    write_page(
        HERE / "HELD_OUT_COMPARISON.md",
        "# Held-out error beside the strongest linear model",
        "Generated by `python experiments/held_out_comparison.py`, which defines the models: RMSE "
        "of yelp and pang_lee, AUC otherwise; mean (standard deviation) over splits and the paired "
        "difference with its standard error.",
        page(),
    )


if __name__ == "__main__":
    main()
