"""One task, from data to figures."""

from __future__ import annotations

import platform
import time
from dataclasses import replace
from functools import lru_cache
from importlib import metadata
from typing import Any

import numpy as np

from topicfocus import datasets, metrics
from topicfocus.datasets import Dataset
from topicfocus.reproduce.baselines import most_correlated, on_columns, widen
from topicfocus.reproduce.fits import Fit
from topicfocus.reproduce.lexicon import opinion_lexicon
from topicfocus.reproduce.models import MODELS
from topicfocus.reproduce.rarity import rarity_coherence
from topicfocus.reproduce.store import Run, RunStore
from topicfocus.reproduce.tasks import Task, load

#: Inclusion above which the paper counts a word as kept.
KEPT = 0.99
#: Numbers of top words of the paper's coherence.
TOP_N = (10, 20, 30, 40, 50)
REVIEWS = ("pang_lee", "yelp", "imdb")
SYNTHETIC = "synthetic"
#: Documents and tokens a document of the synthetic data; the paper does not state its own.
SYNTHETIC_DOCS, SYNTHETIC_TOKENS = 5000, 200

_PACKAGES = ("topicfocus", "numpy", "scipy", "numba", "scikit-learn", "tomotopy", "topica")


def execute(task: Task, store: RunStore) -> dict[Task, Run]:
    """Fit, predict, measure. Reads the store for the words that another run kept.

    The result of the task, and of tasks that come with it.
    """
    if task.data.name == SYNTHETIC:
        return {task: _synthetic(task)}
    data = load(task.data)
    columns = _columns(task, data, store)
    seen = data if columns is None else on_columns(data, columns)
    began = time.perf_counter()
    fit = MODELS[task.model].fit(seen, dict(task.settings), task.seed)
    seconds = time.perf_counter() - began
    runs = {}
    for model, one in {task.model: fit, **fit.also}.items():
        whole = one if columns is None else widen(one, columns, data.train.counts.shape[1])
        mine = replace(task, model=model)
        runs[mine] = _measure(mine, whole, data, seconds)
    return runs


def _measure(task: Task, fit: Fit, data: Dataset, seconds: float) -> Run:
    valid, test = fit.predict(data.valid.counts), fit.predict(data.test.counts)
    figures: dict[str, Any] = {
        "seconds": seconds,
        "valid": score(data, data.valid.target, valid),
        "test": score(data, data.test.target, test),
        "n_words": data.train.counts.shape[1],
        "n_iter": fit.n_iter,
        **fit.figures,
    }
    figures |= topic_figures(fit, data)
    return Run(figures, fit.components, fit.coef, fit.inclusion, valid, test, about(task))


def score(data: Dataset, target: np.ndarray, prediction: np.ndarray) -> float:
    """AUC for two classes, root mean squared error otherwise."""
    return (metrics.auc if data.task == "binary" else metrics.rmse)(target, prediction)


def topic_figures(fit: Fit, data: Dataset) -> dict[str, Any]:
    """Measures of topics and of kept words; the paper's coherence is on training documents."""
    if fit.components is None or fit.coef is None:
        return {}
    topics, train = fit.components, data.train.counts
    out: dict[str, Any] = {
        "npmi10": metrics.coherence(topics, train, "npmi", 10),
        "log_ratio10": metrics.coherence(topics, train, "log_ratio", 10),
        "agreement": metrics.target_agreement(topics, fit.coef, data.test.counts, data.test.target),
        "pmi50_valid": metrics.coherence(topics, data.valid.counts, "pmi", 50),
    }
    for n in TOP_N:
        out[f"pmi{n}"] = metrics.coherence(topics, train, "pmi", n)
    out["pmi50_rarity"] = rarity_coherence(topics, train, 50)
    lexicon = opinion_lexicon() if data.name in REVIEWS else None
    if lexicon is not None:
        found = metrics.lexicon_agreement(topics, fit.coef, data.vocabulary, lexicon.signs)
        out["lexicon_right"], out["lexicon_wrong"] = found.right, found.wrong
    if fit.inclusion is not None:
        out["kept"] = float(np.mean(fit.inclusion > KEPT))
        out["kept_words"] = int(np.sum(fit.inclusion > KEPT))
    return out


def _columns(task: Task, data: Dataset, store: RunStore) -> np.ndarray | None:
    """The words to fit on, None for all."""
    if task.words is None or task.words.of is None:
        return None
    selector = task.words.of
    kept = np.flatnonzero(store[selector].inclusion > KEPT)
    if len(kept) < 2:
        raise ValueError(f"{selector.title} kept {len(kept)} words: too few to fit on")
    if task.words.by == "inclusion":
        return kept
    return most_correlated(data, len(kept), signed=task.words.by == "signed correlation")


@lru_cache(maxsize=1)
def _corpus(seed: int, n_docs: int) -> datasets.SyntheticCorpus:
    return datasets.make_pfslda(n_docs, SYNTHETIC_TOKENS, random_state=seed)


def _synthetic(task: Task) -> Run:
    """Precision and recall of the kept words where the truth is known."""
    from topicfocus import FocusedTopicRegressor, PFSLDARegressor

    settings = dict(task.settings)
    data = _corpus(task.data.split, task.data.docs or SYNTHETIC_DOCS)
    make = {
        "pf-sLDA, tight bound": lambda: PFSLDARegressor(
            5, bound="tight", standardize=False, random_state=task.seed, n_jobs=1, **settings
        ),
        "pf-sLDA": lambda: PFSLDARegressor(
            5, solver="gradient", standardize=False, random_state=task.seed, n_jobs=1, **settings
        ),
        "focused": lambda: FocusedTopicRegressor(5, random_state=task.seed, n_jobs=1, **settings),
    }
    began = time.perf_counter()
    model = make[task.model]().fit(data.counts, data.target)
    seconds = time.perf_counter() - began
    found = metrics.selection_scores(model.inclusion_, data.relevant, KEPT)
    figures = {"seconds": seconds, "precision": found.precision, "recall": found.recall}
    return Run(figures, inclusion=model.inclusion_, about=about(task))


@lru_cache(maxsize=1)
def versions() -> dict[str, str]:
    """Versions of Python and of every package that may play a part."""
    out = {"python": platform.python_version()}
    for name in _PACKAGES:
        try:
            out[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return out


def about(task: Task) -> dict[str, Any]:
    return {"task": task.describe(), "versions": versions()}
