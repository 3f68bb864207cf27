"""What a fitted model has found, as plain data: topics by effect, words kept and dropped."""

from __future__ import annotations

from typing import Any

import numpy as np

from topicfocus.estimators.targets import TargetPart

_LISTED = 12
#: Words of a topic, and words that it goes with.
_WORDS = 10


def topics(
    model: Any, words: Any, composition: np.ndarray, positive: Any = None
) -> list[dict[str, Any]]:
    """Topics from the highest to the lowest effect; of more classes, class by class.

    The share is that of the relevant words of an average document (`composition`, documents x
    topics). Topics of models that drop words have those that they go with, their "context".

    The effect is the expected target of a document of that topic alone, with average covariates
    and exposure 1: a number, or the probability of a class, the positive one of two and else the
    likeliest.
    """
    (part, *_), targets = model.fitted_.parts, model.fitted_.target_model
    coef = np.atleast_2d(model.coef_)
    predictors = coef.T + np.atleast_1d(model.intercept_)
    if model.n_covariates_:
        predictors = predictors + np.atleast_2d(model.covariate_coef_) @ targets.scaling.centre
    share = composition.mean(axis=0)
    names = model.top_words(_WORDS, words)
    context = model.context_words(_WORDS, words) if hasattr(model, "context_words") else None
    found = []
    for k in range(coef.shape[1]):
        own = coef[0, k] if len(coef) == 1 else coef[:, k]
        row = {"topic": k, "share": share[k], "coef": own, "words": names[k]}
        if context is not None:
            row["context"] = context[k]
        effect, order = _effect(part, predictors[[k]], positive)
        found.append((order, row | effect))
    found.sort(key=lambda item: item[0])
    return [row for _, row in found]


def _effect(
    part: TargetPart, predictor: np.ndarray, positive: Any
) -> tuple[dict[str, Any], tuple[int, float]]:
    """What a document of one topic is expected to be, and where that stands in the order."""
    coding = part.coding
    if not coding.is_class:
        effect = coding.mean(part.family, predictor)[0]
        return {"effect": effect}, (0, -effect)
    labels = np.asarray(coding.labels)
    p = coding.probabilities(part.family, predictor)[0]
    best = int(np.argmax(p))
    if len(p) > 2:
        return {"class": labels[best], "effect": p[best]}, (best, -p[best])
    if positive is not None:
        best = int(np.flatnonzero(labels == positive)[0])
    log_odds = predictor[0, 0] if best == 1 else -predictor[0, 0]
    return {"class": labels[best], "effect": p[best], "log_odds": log_odds}, (0, -log_odds)


def topic_table(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Topics as columns of topics.csv, in the order of `topics`; words with spaces between them."""
    names = [n for n in ("topic", "class", "effect", "log_odds", "share") if n in rows[0]]
    table: dict[str, Any] = {name: [row[name] for row in rows] for name in names}
    for name in ("words", "context"):
        if name in rows[0]:
            table[name] = [" ".join(map(str, row[name])) for row in rows]
    return table


def word_table(model: Any, words: np.ndarray, counts: Any) -> dict[str, Any]:
    """Every word as columns of words.csv: how often it is in the training part, whether it was
    kept and by how much it counts, its evidence where there is one, and p(word | topic).
    """
    table = {
        "word": [str(word) for word in words],
        "documents": np.bincount(counts.indices, minlength=counts.shape[1]),
        "tokens": np.asarray(counts.sum(axis=0)).ravel(),
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
    """Of each covariate its mean and spread in the training part, and what a unit of it adds."""
    if not names:
        return []
    targets = model.fitted_.target_model
    coef, scaling = np.atleast_2d(model.covariate_coef_), targets.scaling
    out = []
    for j, name in enumerate(targets.column_names(names)):
        row = {"name": name, "mean": scaling.centre[j], "std": scaling.size[j]}
        if len(coef) == 1:
            row["coef"] = coef[0, j]
        else:  # of several classes, with the one that it speaks for
            row["coef"] = coef[:, j]
            row["class"] = model.classes_[np.argmax(coef[:, j])]
        out.append(row)
    return out


def selection(model: Any, words: np.ndarray, counts: Any) -> dict[str, Any]:
    """How many words and tokens the topics use, and the most frequent of both kinds.

    Words that tell most come first among the kept ones, where the model has such evidence.
    """
    frequency = np.asarray(counts.sum(axis=0)).ravel()
    kept = getattr(model, "selected_words_", np.ones(len(words), dtype=bool))
    telling = getattr(model, "evidence_", None)
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
        "kept_examples": listed(kept, frequency if telling is None else telling),
        "dropped_examples": listed(~kept, frequency),
    }
