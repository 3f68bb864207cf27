"""What a fitted model has found, as plain data: topics by effect, words kept and dropped."""

from __future__ import annotations

from typing import Any

import numpy as np

_LISTED = 12


def topics(model: Any, words: Any, mixes: np.ndarray, positive: Any = None) -> list[dict[str, Any]]:
    """Topics from the highest to the lowest effect; of more classes, class by class.

    The effect is the expected target of a document of that topic alone, with average covariates
    and exposure 1: a number, or the probability of a class, the positive one of two and else the
    likeliest.
    """
    (coding, family, _), *_ = model._parts()
    coef = np.atleast_2d(model.coef_)
    predictors = coef.T + np.atleast_1d(model.intercept_)
    if model.n_covariates_:
        predictors = predictors + np.atleast_2d(model.covariate_coef_) @ model._scaling.centre
    share = mixes.mean(axis=0)
    names = model.top_words(10, words)
    out = []
    for k in range(coef.shape[1]):
        row = {"topic": k, "share": share[k], "coef": coef[:, k], "words": names[k]}
        one = predictors[[k]]
        if coding.kind in ("bernoulli", "categorical"):
            p = coding.probabilities(family, one)[0]
            best = int(np.argmax(p))
            if len(p) == 2 and positive is not None:
                best = int(np.flatnonzero(coding.labels == positive)[0])
            row["class"], row["effect"] = coding.labels[best], p[best]
            if len(p) == 2:
                row["log_odds"] = one[0, 0] if best == 1 else -one[0, 0]
            row["order"] = (0, -row["log_odds"]) if len(p) == 2 else (best, -p[best])
        else:
            row["effect"] = coding.mean(family, one)[0]
            row["order"] = (0, -row["effect"])
        out.append(row)
    out.sort(key=lambda row: row["order"])
    for row in out:
        del row["order"]
        row["coef"] = row["coef"][0] if len(row["coef"]) == 1 else row["coef"]
    return out


def covariates(model: Any, names: tuple[str, ...]) -> list[dict[str, Any]]:
    """Of each covariate its mean and spread in the training part, and what a unit of it adds."""
    if not names:
        return []
    coef, scaling = np.atleast_2d(model.covariate_coef_), model._scaling
    out = []
    for j, name in enumerate(names):
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
