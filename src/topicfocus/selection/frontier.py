"""The frontier of a search: metrics of every setting, and the one-standard-error rule."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from topicfocus.estimators.words import reciprocal_ranks, topic_scores
from topicfocus.metrics import target_agreement, topic_diversity
from topicfocus.metrics.coherence import document_coherences
from topicfocus.selection.documents import CountedFold, Data
from topicfocus.selection.runner import Record
from topicfocus.selection.word_stability import masks, mean_jaccard, nogueira_index

#: Number of top words of a topic that metrics use.
TOP = 10
METRICS = ("npmi", "log_ratio", "agreement", "diversity", "words", "token_share")
RULES = ("one-standard-error", "best")

# ---- one model -----------------------------------------------------------------------------------


def topic_metrics(model: Any, fold: CountedFold) -> dict[str, float]:
    """Coherence and diversity on training documents, target agreement on test documents.

    NaN where a metric is not defined, and for models that are no topic models.
    """
    fitted = getattr(model, "fitted_", None)
    if fitted is None:
        return dict.fromkeys(METRICS, math.nan)
    topics, counts, kept = shown_topics(model), fold.train.X, kept_words(model)
    tokens = fitted.corpus(counts).word_counts
    try:
        npmi, log_ratio = document_coherences(topics, counts, ("npmi", "log_ratio"), TOP)
    except ValueError:  # topics of one word have no pairs of words
        npmi = log_ratio = math.nan
    return {
        "npmi": npmi,
        "log_ratio": log_ratio,
        "agreement": _or_nan(lambda: _agreement(fitted, topics, fold.test)),
        "diversity": _or_nan(lambda: topic_diversity(topics, TOP)),
        "words": float(kept.sum()),
        "token_share": float(tokens[kept].sum() / max(tokens.sum(), 1.0)),
    }


def shown_topics(model: Any) -> np.ndarray:
    """Topics x words, larger for words that are shown first."""
    return reciprocal_ranks(topic_scores(model.fitted_))


def kept_words(model: Any) -> np.ndarray:
    """Mask of the words that topics contain: the selected ones, or all."""
    chosen = model.fitted_.selected_words
    return np.ones(model.fitted_.state.n_words, dtype=bool) if chosen is None else chosen


def _agreement(fitted: Any, topics: np.ndarray, test: Data) -> float:
    """`target_agreement`, the mean over linear predictors (of classes and of several targets)."""
    if fitted.targets is None or test.y is None:
        return math.nan
    codes = fitted.targets.encode(test.y, n_docs=test.n_docs)
    coef = np.atleast_2d(fitted.coef)
    found = []
    for t, part in enumerate(fitted.parts):
        known = np.flatnonzero(np.isfinite(codes[:, t]))
        counts = test.rows(known).X
        rows = range(part.where.start, part.where.stop)
        for label, row in enumerate(rows):
            target = codes[known, t] if len(rows) == 1 else codes[known, t] == label
            target = np.asarray(target, dtype=float)
            found.append(target_agreement(topics, coef[row], counts, target))
    return float(np.mean(found))


def _or_nan(metric: Callable[[], float]) -> float:
    try:
        return float(metric())
    except ValueError:
        return math.nan


# ---- all settings --------------------------------------------------------------------------------


def frontier_row(setting: Mapping[str, Any], records: Sequence[Record]) -> Record:
    """Means over the folds of a setting; NaN if a fit failed."""
    scores = np.array([r["score"] for r in records], dtype=float)
    n = len(scores)
    errors = [r["error"] for r in records if r["error"]]

    def mean(name: str) -> float:
        return float(np.mean([r[name] for r in records]))

    row: Record = dict(setting)
    for name in ("n_topics", "inclusion_prior"):  # for "auto", the value that was chosen
        if not isinstance(row.get(name), (int, float)):
            row[name] = mean(name)
    row["score"] = float(scores.mean())
    row["score_se"] = float(scores.std(ddof=1) / math.sqrt(n)) if n > 1 else math.nan
    row |= {name: mean(name) for name in METRICS}
    row["jaccard"] = row["nogueira"] = math.nan
    sets = [r["kept"] for r in records]
    if not errors and any(sets):
        chosen = masks(sets)
        row["jaccard"] = mean_jaccard(chosen)
        # Words that no fold keeps are part of the vocabulary, too.
        missing = max(max(int(r["vocabulary"]) for r in records) - chosen.shape[1], 0)
        everything = np.pad(chosen, ((0, 0), (0, missing)))
        row["nogueira"] = float(nogueira_index(everything).value)
    row["seconds"] = mean("seconds")
    row["error"] = errors[0] if errors else None
    return row


def cv_results(
    settings: list[dict[str, Any]], by_setting: list[list[Record]], rows: list[Record]
) -> dict[str, Any]:
    """The results in the format of scikit-learn's GridSearchCV."""

    def table(name: str) -> np.ndarray:
        return np.array([[r[name] for r in records] for records in by_setting], dtype=float)

    results: dict[str, Any] = {}
    for ours, theirs in (("seconds", "fit_time"), ("score_seconds", "score_time")):
        results[f"mean_{theirs}"] = table(ours).mean(axis=1)
        results[f"std_{theirs}"] = table(ours).std(axis=1)
    for name in sorted({name for setting in settings for name in setting}):
        values = np.empty(len(settings), dtype=object)
        values[:] = [setting.get(name) for setting in settings]
        mask = [name not in setting for setting in settings]
        results[f"param_{name}"] = np.ma.MaskedArray(values, mask=mask)
    results["params"] = settings
    scores = table("score")
    for fold, column in enumerate(scores.T):
        results[f"split{fold}_test_score"] = column
    means = results["mean_test_score"] = scores.mean(axis=1)
    results["std_test_score"] = scores.std(axis=1)
    results["se_test_score"] = np.array([row["score_se"] for row in rows])
    ordered = np.where(np.isnan(means), -np.inf, means)
    ranks = [1 + int(np.sum(ordered > mean)) for mean in ordered]
    results["rank_test_score"] = np.array(ranks, dtype=np.int32)
    results["error"] = [row["error"] for row in rows]
    return results


class Choice(NamedTuple):
    """Index of the chosen row, of the best one, and of all within one standard error of it."""

    chosen: int
    best: int
    within: tuple[int, ...]


def choose(rows: Sequence[Mapping[str, Any]], rule: str, least_diversity: float) -> Choice:
    """Choose a row of the frontier.

    The best row has the highest mean score. By the one-standard-error rule, we choose among all
    rows whose mean score is at least that of the best row minus its standard error: the fewest
    topics, then the fewest words, then the highest score. Rows whose topics have too many top words
    in common are excluded, unless all are.
    """
    fitted = [i for i, row in enumerate(rows) if math.isfinite(row["score"])]
    distinct = [i for i in fitted if not rows[i]["diversity"] < least_diversity]
    allowed = distinct or fitted
    best = max(allowed, key=lambda i: rows[i]["score"])
    error = rows[best]["score_se"]
    least = rows[best]["score"] - (error if math.isfinite(error) else 0.0)
    within = [i for i in allowed if rows[i]["score"] >= least]

    def complexity(i: int) -> tuple[float, float, float]:
        row = rows[i]
        topics, words = (v if math.isfinite(v) else 0.0 for v in (row["n_topics"], row["words"]))
        return topics, words, -row["score"]

    chosen = best if rule == "best" else min(within, key=complexity)
    return Choice(chosen, best, tuple(within))
