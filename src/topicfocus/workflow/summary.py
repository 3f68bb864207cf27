"""What a fitted model has found, as plain data: topics and words by effect, words dropped."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from topicfocus.estimators.effects import (
    TopicEffects,
    WordEffects,
    topic_effects,
    word_effects,
)
from topicfocus.estimators.targets import TargetPart
from topicfocus.workflow.columns import Columns
from topicfocus.workflow.count import word_frequencies
from topicfocus.workflow.tables import joined

_LISTED = 12
#: Documents that a word should be in to be shown for what it changes.
_COMMON = 5
#: Words of a topic, and words that it goes with.
_WORDS = 10
#: Of topics.csv, as metrics.json calls them: predictions with little and much of the topic, their
#: difference with its interval, the topic's part of an average document, and at both ends.
_TOPIC_COLUMNS = (
    *("topic", "class", "low", "high", "change", "lower", "upper"),
    *("share", "proportion_low", "proportion_high"),
)


@dataclass(frozen=True)
class Effects:
    """What topics and words change on the target's own scale, and documents are made of.

    `composition` is documents x topics.
    """

    topics: TopicEffects
    words: WordEffects
    composition: np.ndarray


def effects(model: Any, counts: Any, columns: Columns, jobs: int | None) -> Effects:
    """Of the documents given, with what goes with them."""
    fitted = model.fitted_
    documents = fitted.documents(counts, **columns.for_predict())
    documents = replace(documents, weight=columns.weight)
    mixes = fitted.mixes(documents.corpus, jobs)
    return Effects(
        topic_effects(fitted, documents, mixes=mixes, n_jobs=jobs),
        word_effects(fitted, documents, mixes=mixes, n_jobs=jobs),
        fitted.token_proportions(documents.corpus, mixes, jobs),
    )


def topics(model: Any, words: Any, found: Effects, positive: Any = None) -> list[dict[str, Any]]:
    """Topics from what raises the target most to what lowers it; of more classes, class by class.

    "low" and "high" are the predictions of a typical document in which the topic's share is at its
    10th and its 90th percentile (of many classes a higher one, `scale`), "change" their difference
    with its interval: numbers, or probabilities of the "class", the positive one of two and else
    the one that the topic raises most ("changes" has those of all). "share" is that of the
    relevant words of an average document. Topics of models that drop words have those that they
    go with, their "context".
    """
    share = found.composition.mean(axis=0)
    names = model.top_words(_WORDS, words)
    context = model.context_words(_WORDS, words) if hasattr(model, "context_words") else None
    coef = found.topics.coef
    rows = []
    for k in range(len(coef)):
        own = {"coef": coef[k, 0] if coef.shape[1] == 1 else coef[k], "words": names[k]}
        if context is not None:
            own["context"] = context[k]
        effect, order = _effect(model.fitted_.parts[0], found.topics, k, positive)
        rows.append((order, {"topic": k, "share": share[k], **effect, **own}))
    rows.sort(key=lambda item: item[0])
    return [row for _, row in rows]


def _effect(
    part: TargetPart, found: TopicEffects, k: int, positive: Any
) -> tuple[dict[str, Any], tuple[int, float]]:
    """What topic k changes, and where that stands in the order."""
    names = ("low", "high", "change", "lower", "upper")
    shares = {
        "proportion_low": found.proportion_low[k],
        "proportion_high": found.proportion_high[k],
    }
    coding = part.coding
    if not coding.is_class:
        row = {name: getattr(found, name)[k, 0] for name in names}
        return row | shares, (0, -row["change"])
    labels = np.asarray(coding.labels)
    if len(labels) > 2:
        best = int(np.argmax(found.change[k]))
        row = {name: getattr(found, name)[k, best] for name in names}
        changes = {str(label): found.change[k, c] for c, label in enumerate(labels)}
        row = {"class": labels[best], **row, **shares, "changes": changes}
        return row, (best, -row["change"])
    row = {name: getattr(found, name)[k, 0] for name in names}
    shown = labels[1] if positive is None else positive
    if shown == labels[0]:  # of the first class: what it gains the second loses
        row = {
            "low": 1 - row["low"],
            "high": 1 - row["high"],
            "change": -row["change"],
            "lower": -row["upper"],
            "upper": -row["lower"],
        }
    return {"class": shown, **row, **shares}, (0, -row["change"])


def scale(model: Any, found: Effects) -> dict[str, Any]:
    """How effects are to be read: percentiles, confidence, and what the target can be."""
    of = found.topics
    return {
        "percentiles": [100 * q for q in of.quantiles],
        "confidence": 0.95,
        "typical": of.typical if len(of.typical) > 1 else of.typical[0],
        "limits": of.limits[0],
        "observed": of.observed[0],
        "sample_for_words": found.words.sample,
    }


def topic_table(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Topics as columns of topics.csv, in the order of `topics`; words as `joined` has them."""
    names = [n for n in _TOPIC_COLUMNS if n in rows[0]]
    table: dict[str, Any] = {name: [row[name] for row in rows] for name in names}
    for name in ("words", "context"):
        if name in rows[0]:
            table[name] = [joined(map(str, row[name])) for row in rows]
    return table


def word_table(model: Any, words: np.ndarray, counts: Any) -> dict[str, Any]:
    """Every word as columns of words.csv: how often it is in the training part, whether it was
    kept and by how much it counts, its evidence where there is one, and p(word | topic).
    """
    documents, tokens = word_frequencies(counts, np.arange(counts.shape[0]))
    table = {
        "word": [str(word) for word in words],
        "documents": documents,
        "tokens": tokens,
    }
    if hasattr(model, "selected_words_"):
        table["kept"] = ["yes" if kept else "no" for kept in model.selected_words_]
    for name in ("inclusion", "evidence"):
        if getattr(model, f"{name}_", None) is not None:
            table[name] = np.asarray(getattr(model, f"{name}_"))
    for k, row in enumerate(np.asarray(model.components_)):
        table[f"topic_{k}"] = row
    return table


def covariates(model: Any, names: tuple[str, ...]) -> list[dict[str, Any]]:
    """Of each covariate its mean and spread in the training part, and what a unit of it adds.

    Where some documents lack it, "filled_with" is the median that stands there, and "NAME is
    missing" a covariate of its own.
    """
    if not names:
        return []
    targets = model.fitted_.target_model
    coef, scaling = np.atleast_2d(model.covariate_coef_), targets.covariate_scaling
    out = []
    for j, name in enumerate(targets.column_names(names)):
        row = {"name": name, "mean": scaling.centre[j], "std": scaling.size[j]}
        if targets.imputation is not None and j in targets.imputation.indicated:
            row["filled_with"] = targets.imputation.median[j]
        if len(coef) == 1:
            row["coef"] = coef[0, j]
        else:  # of several classes, with the one that it speaks for
            row["coef"] = coef[:, j]
            row["class"] = model.classes_[np.argmax(coef[:, j])]
        out.append(row)
    return out


def selection(
    model: Any, words: np.ndarray, counts: Any, found: WordEffects, positive: Any = None
) -> dict[str, Any]:
    """How many words and tokens the topics use, and the most frequent of both kinds.

    Words that tell most come first among the kept ones, where the model has such evidence. Of a
    number, or two classes, also the words whose first occurrence "raises" and "lowers" it most.
    """
    frequency = word_frequencies(counts, np.arange(counts.shape[0]))[1]
    kept = getattr(model, "selected_words_", np.ones(len(words), dtype=bool))
    statistic = getattr(model, "screening_statistic_", None)
    total = max(float(frequency.sum()), 1.0)

    def listed(mask: np.ndarray, by: np.ndarray) -> list[str]:
        chosen = np.flatnonzero(mask)
        order = np.argsort(-by[chosen], kind="stable")[:_LISTED]
        return [str(words[v]) for v in chosen[order]]

    return {
        "selects": hasattr(model, "selected_words_"),
        "words": len(words),
        "kept": int(kept.sum()),
        "dropped": int((~kept).sum()),
        "kept_token_share": float(frequency[kept].sum()) / total,
        "kept_examples": listed(kept, frequency if statistic is None else statistic),
        "dropped_examples": listed(~kept, frequency),
        **_strongest(words, found, getattr(model, "classes_", None), positive),
    }


def _strongest(
    words: np.ndarray, found: WordEffects, classes: Any, positive: Any
) -> dict[str, list[dict[str, Any]]]:
    """Words that a fair number of documents has, by what their first occurrence changes."""
    if found.change.shape[1] > 1:
        return {}
    change = found.change[:, 0]
    if positive is not None and positive == classes[0]:
        change = -change
    common = found.documents >= min(_COMMON, found.documents.max(initial=0))
    order = np.argsort(np.where(common, -change, 0.0), kind="stable")
    rows = [{"word": str(words[found.words[i]]), "change": change[i]} for i in order]
    return {
        "raises": [row for row in rows[:_LISTED] if row["change"] > 0],
        "lowers": [row for row in rows[: -_LISTED - 1 : -1] if row["change"] < 0],
    }
