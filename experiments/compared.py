"""The models that experiments compare: ours, regressions on words, and other packages' sLDA.

The rule is the same for all. Parameters are fitted to the training part. Each setting of a model's
grid is a fit, and the validation part chooses among them. Models fitted in epochs keep the epoch
that predicts the validation part best. The test part is used for metrics only.
"""

from __future__ import annotations

import importlib.util
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np
from data import Dataset, Part
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, Ridge

import topicfocus

#: Number of topics in the paper, of every topic model here.
N_TOPICS = 5
#: The paper's algorithm takes as many steps on every data set as 500 epochs on Pang & Lee.
GRADIENT_STEPS, GRADIENT_BATCH = 19_000, 100

Settings = Mapping[str, Any]


@dataclass(frozen=True)
class Fit:
    """A fitted model.

    `predict` maps counts to the expected target, or to a score that is higher for the second class.
    `coef` is the expected target (log odds) of a document of one topic, `last` the same model at
    its last epoch, where the epoch was chosen.
    """

    predict: Callable[[Any], np.ndarray]
    components: np.ndarray | None = None
    coef: np.ndarray | None = None
    inclusion: np.ndarray | None = None
    background: np.ndarray | None = None
    n_iter: int | None = None
    last: Fit | None = None
    metrics: Mapping[str, float] = field(default_factory=dict)


FitFunction = Callable[[Dataset, Settings, int], Fit]


@dataclass(frozen=True)
class Model:
    """A model, the grid of its settings, and the optional package that it needs."""

    fit: FitFunction
    note: str
    grid: tuple[dict[str, Any], ...] = ({},)
    package: str | None = None
    topics: bool = True

    @property
    def available(self) -> bool:
        return self.package is None or importlib.util.find_spec(self.package) is not None


# ---- estimators of this package ------------------------------------------------------------------


def estimator(
    name: str, *, watches: bool = False, with_bound: bool = False, **fixed: Any
) -> FitFunction:
    """`{name}Regressor` or `{name}Classifier`.

    `watches`: the epoch is chosen on the validation part; such models have the units of the target,
    as the starts and step sizes of the paper do. `with_bound`: compute the bound per token.
    """

    def fit(data: Dataset, settings: Settings, seed: int) -> Fit:
        binary = data.task == "binary"
        cls = getattr(topicfocus, f"{name}{'Classifier' if binary else 'Regressor'}")
        options = {**fixed, **settings}
        if watches and not binary:
            options.setdefault("standardize", False)
        if options.get("solver") == "gradient":
            options.setdefault("max_epochs", gradient_epochs(data.train.counts.shape[0]))
        model = cls(N_TOPICS, random_state=seed, n_jobs=1, **options)
        held = {"X_val": data.valid.counts, "y_val": data.valid.target} if watches else {}
        began = time.perf_counter()
        model.fit(data.train.counts, data.train.target, **held)
        seconds = time.perf_counter() - began
        fitted = _read(model, data, seconds, with_bound)
        if not watches:
            return fitted
        n_iter = int(np.nanargmax(model.history_["validation"])) + 1
        last = _read(model.at_last_epoch(), data, seconds, with_bound)
        return replace(fitted, n_iter=n_iter, last=last)

    return fit


def _read(model: Any, data: Dataset, seconds: float, with_bound: bool) -> Fit:
    found = {"seconds": seconds}
    if with_bound and data.task == "regression":
        counts, target = data.train.counts, data.train.target
        found["bound"] = model.elbo(counts, target)["bound"] / counts.sum()
    return Fit(
        model.decision_function if data.task == "binary" else model.predict,
        model.components_,
        model.coef_ + model.intercept_,
        getattr(model, "inclusion_", None),
        getattr(model, "background_", None),
        model.n_iter_,
        metrics=found,
    )


def gradient_epochs(n_docs: int) -> int:
    """Epochs of the paper's algorithm, for the same number of steps on every data set."""
    return max(1, round(GRADIENT_STEPS / -(-n_docs // GRADIENT_BATCH)))


# ---- baselines -----------------------------------------------------------------------------------


def linear(design: Any, target: np.ndarray, binary: bool, penalty: float) -> Any:
    """Ridge, or logistic regression with the same penalty: argmin loss + penalty/2 |coef|²."""
    with warnings.catch_warnings():
        # Early stopping does not matter for a penalty that is chosen on the validation part.
        warnings.simplefilter("ignore", ConvergenceWarning)
        if binary:
            return LogisticRegression(C=1 / penalty, max_iter=300, tol=1e-3).fit(design, target)
        solver = "sparse_cg" if sparse.issparse(design) else "auto"
        return Ridge(penalty, solver=solver, tol=1e-5).fit(design, target)


def on_words(root: bool) -> FitFunction:
    """Ridge or logistic regression on counts, or on their roots."""

    def fit(data: Dataset, settings: Settings, seed: int) -> Fit:
        def prepare(counts: Any) -> Any:
            return counts.sqrt() if root else counts

        binary = data.task == "binary"
        model = linear(prepare(data.train.counts), data.train.target, binary, settings["penalty"])
        predict = model.decision_function if binary else model.predict
        return Fit(lambda counts: predict(prepare(counts)))

    return fit


def lda_regression(data: Dataset, settings: Settings, seed: int) -> Fit:
    """LDA on the words alone, then a regression on the topic proportions."""
    topics = topicfocus.LDA(N_TOPICS, random_state=seed, n_jobs=1).fit(data.train.counts)
    binary = data.task == "binary"
    proportions = topics.transform(data.train.counts)
    model = linear(proportions, data.train.target, binary, settings["penalty"])
    predict = model.decision_function if binary else model.predict
    coef = np.ravel(model.coef_) + float(np.ravel(model.intercept_)[0])
    return Fit(lambda counts: predict(topics.transform(counts)), topics.components_, coef)


def target_correlation(counts: Any, target: np.ndarray) -> np.ndarray:
    """Pearson correlation of each word's counts with the target; 0 for a word that never varies."""
    counts = sparse.csr_array(counts, dtype=np.float64)
    y = np.asarray(target, dtype=np.float64)
    mean = np.asarray(counts.mean(axis=0)).ravel()
    square = np.asarray(counts.multiply(counts).mean(axis=0)).ravel()
    scale = len(y) * np.sqrt(np.maximum(square - mean**2, 0.0)) * y.std()
    together = counts.T @ (y - y.mean())
    return np.divide(together, scale, out=np.zeros(len(mean)), where=scale > 1e-12)


def most_correlated(data: Dataset, n_words: int, *, signed: bool = False) -> np.ndarray:
    """Columns of the words with the largest absolute (or signed) correlation with the target."""
    strength = target_correlation(data.train.counts, data.train.target)
    strength = strength if signed else np.abs(strength)
    return np.sort(np.argsort(-strength, kind="stable")[:n_words])


def on_columns(data: Dataset, columns: np.ndarray) -> Dataset:
    """The data set with some of its words only."""

    def part(old: Part) -> Part:
        return replace(old, counts=old.counts[:, columns])

    words = tuple(data.vocabulary[v] for v in columns)
    parts = (part(data.train), part(data.valid), part(data.test))
    return Dataset(data.name, *parts, words, data.task, data.target_names)


def fit_on_columns(
    fit: FitFunction, data: Dataset, columns: np.ndarray, settings: Settings, seed: int
) -> Fit:
    """A fit on some columns as one on all words: zero elsewhere, other words are ignored."""
    found = fit(on_columns(data, columns), settings, seed)
    n_words = len(data.vocabulary)
    components = None
    if found.components is not None:
        components = np.zeros((len(found.components), n_words))
        components[:, columns] = found.components
    inclusion = np.zeros(n_words)
    inclusion[columns] = 1.0 if found.inclusion is None else found.inclusion
    return replace(
        found,
        predict=lambda counts: found.predict(counts[:, columns]),
        components=components,
        inclusion=inclusion,
        background=None,
        last=None,
    )


slda = estimator("SLDA", watches=True)


def correlation_slda(data: Dataset, settings: Settings, seed: int) -> Fit:
    """sLDA on the words that correlate most with the target."""
    n_words = max(2, round(settings["share"] * len(data.vocabulary)))
    return fit_on_columns(slda, data, most_correlated(data, n_words), {}, seed)


# ---- other packages ------------------------------------------------------------------------------


def token_lists(counts: Any) -> list[list[str]]:
    """Documents as lists of column numbers, each as often as it occurs."""
    rows = sparse.csr_array(counts)
    names = np.arange(rows.shape[1]).astype(str).astype(object)
    times = rows.data.astype(np.int64)
    tokens = np.repeat(names[rows.indices], times)
    edges = np.concatenate([[0], np.cumsum(times)])[rows.indptr]
    return [tokens[a:b].tolist() for a, b in pairwise(edges)]


def _peer(
    data: Dataset,
    topic_word: Any,
    vocabulary: Any,
    coef: Any,
    predict_lists: Callable[[list[list[str]]], Any],
) -> Fit:
    """A fit of a package that has its own vocabulary and cannot predict empty documents."""
    components = np.zeros((len(topic_word), len(data.vocabulary)))
    components[:, [int(v) for v in vocabulary]] = topic_word
    known, empty = set(vocabulary), float(np.mean(data.train.target))

    def predict(counts: Any) -> np.ndarray:
        lists = [[w for w in tokens if w in known] for tokens in token_lists(counts)]
        found = iter(np.ravel(predict_lists([tokens for tokens in lists if tokens])))
        return np.array([float(next(found)) if tokens else empty for tokens in lists])

    return Fit(predict, components, np.ravel(coef))


def tomotopy_slda(data: Dataset, settings: Settings, seed: int) -> Fit:
    """tomotopy's SLDAModel, by Gibbs sampling; new documents by its own inference."""
    import tomotopy

    kind = "b" if data.task == "binary" else "l"
    model = tomotopy.SLDAModel(k=N_TOPICS, vars=kind, seed=seed + 1)
    for tokens, y in zip(token_lists(data.train.counts), data.train.target, strict=True):
        if tokens:
            model.add_doc(tokens, y=[float(y)])
    # One worker: with more of them the result depends on their number.
    model.train(settings["sweeps"], workers=1, show_progress=False)
    topic_word = np.array([model.get_topic_word_dist(k) for k in range(N_TOPICS)])

    def predict(lists: list[list[str]]) -> Any:
        docs = [model.make_doc(tokens) for tokens in lists]
        model.infer(docs, workers=1)
        return model.estimate(docs)

    return _peer(data, topic_word, model.used_vocabs, model.get_regression_coef(0), predict)


def topica_slda(data: Dataset, settings: Settings, seed: int) -> Fit:
    """topica's SupervisedLDA, by variational EM; classes are fitted as the numbers 0 and 1."""
    import topica

    lists = token_lists(data.train.counts)
    full = [d for d, tokens in enumerate(lists) if tokens]
    target = np.asarray(data.train.target, dtype=float)[full].tolist()
    model = topica.SupervisedLDA(N_TOPICS, seed=seed)
    options = {"iters": settings["iters"], "keep_theta_draws": False, "num_threads": 1}
    model.fit([lists[d] for d in full], target, **options)
    topic_word = np.asarray(model.topic_word)
    return _peer(data, topic_word, model.vocabulary, model.coefficients, model.predict)


# ---- the list ------------------------------------------------------------------------------------


def _grid(name: str, *values: Any) -> tuple[dict[str, Any], ...]:
    return tuple({name: value} for value in values)


_PRIORS = _grid("inclusion_prior", 0.10, 0.15)
_PENALTIES = _grid("penalty", *(float(c) for c in np.logspace(0, 4, 9)))
#: The model of which "pf-sLDA, all epochs" is the last epoch.
PAPER_MODEL, LAST_EPOCH = "pf-sLDA", "pf-sLDA, all epochs"

MODELS: dict[str, Model] = {
    "sLDA": Model(slda, "coordinate ascent"),
    "pc-sLDA": Model(
        estimator("PCSLDA"),
        "λ of auto, 10, 100",
        _grid("supervision_weight", "auto", 10.0, 100.0),
    ),
    PAPER_MODEL: Model(
        estimator("PFSLDA", watches=True, with_bound=True, solver="gradient"),
        "the paper's algorithm, p of 0.10, 0.15",
        _PRIORS,
    ),
    "pf-sLDA, coordinate ascent": Model(
        estimator("PFSLDA", watches=True, with_bound=True, solver="coordinate"),
        "the paper's bound, optimised by coordinate ascent; p of 0.10, 0.15",
        _PRIORS,
    ),
    "pf-sLDA, tight bound": Model(
        estimator("PFSLDA", watches=True, with_bound=True, solver="coordinate", bound="tight"),
        "a higher bound, sort and cut; p of 0.10, 0.15",
        _PRIORS,
    ),
    "focused": Model(
        estimator("FocusedTopic"),
        "ours; p of auto, 0.1, 0.2",
        _grid("inclusion_prior", "auto", 0.1, 0.2),
    ),
    "correlation + sLDA": Model(
        correlation_slda,
        "sLDA on the 5, 10 or 20% of words most correlated with the target",
        _grid("share", 0.05, 0.10, 0.20),
    ),
    "LDA + regression": Model(
        lda_regression,
        "topics without the target, then ridge or logistic regression on the proportions",
        _grid("penalty", 0.01, 1.0, 100.0),
    ),
    "tomotopy SLDA": Model(
        tomotopy_slda, "Gibbs, 200 or 1,000 sweeps", _grid("sweeps", 200, 1000), "tomotopy"
    ),
    "topica SupervisedLDA": Model(
        topica_slda,
        "variational EM, 25 iterations (its default), a class as 0 or 1",
        _grid("iters", 25),
        "topica",
    ),
    "words": Model(
        on_words(root=False), "ridge or logistic regression on counts", _PENALTIES, topics=False
    ),
    "roots of words": Model(
        on_words(root=True),
        "ridge or logistic regression on roots of counts",
        _PENALTIES,
        topics=False,
    ),
}
