"""One pair of complementary halves: both fitted, their topics matched to those of the model."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone

from topicfocus.estimators.documents import read_weight
from topicfocus.metrics.topics import top_words
from topicfocus.metrics.words import match_topics
from topicfocus.selection.documents import Data
from topicfocus.selection.figures import TOP, kept_words, shown_topics
from topicfocus.selection.folds import halves
from topicfocus.selection.parallel import refusing_interrupts
from topicfocus.solvers.focus.held import HeldShare, holding_share
from topicfocus.solvers.linear import fit_linear, target_columns

#: Ridge of the regression on documents that had no part in a model: what it says is to be without
#: bias, also of topics whose parts hardly vary, and yet finite where classes are parted exactly.
_SMALL = 1e-4
#: And on the model's own documents, where it is a weak prior: without one, coefficients of classes
#: vary far more in half of the documents than twice as much, and intervals are too wide (two
#: classes: 100% of 90% intervals hold the truth with 0.01, 61 to 75% with 1).
OWN_PENALTY = 0.1


def topic_effects(model: Any, counts: Any) -> np.ndarray:
    """What a topic moves within its reach, on the scale of the linear predictor.

    Δ_k = (q90_k - q10_k) (η_k - Σ_{j≠k} m_j η_j / Σ_{j≠k} m_j): the part of topic k goes from the
    10th to the 90th percentile of the documents, the other topics making room in proportion to
    their mean parts m. Topics x predictors. The coefficients alone are those of documents of one
    topic, which nobody has seen.
    """
    fitted = model.fitted_
    if fitted.targets is None:
        return np.zeros((fitted.state.n_topics, 0))
    mixes = fitted.mixes(fitted.corpus(counts), model.n_jobs)
    return _within_reach(mixes, np.atleast_2d(fitted.coef).T)


def _within_reach(mixes: np.ndarray, coef: np.ndarray) -> np.ndarray:
    """Δ of topics with these coefficients (topics x predictors), `mixes` being the documents'."""
    low, high = np.quantile(mixes, [0.1, 0.9], axis=0)
    weighted = mixes.mean(axis=0)[:, None] * coef
    rest = np.maximum(1 - mixes.mean(axis=0)[:, None], 1e-300)
    others = (weighted.sum(axis=0) - weighted) / rest
    return (high - low)[:, None] * (coef - others)


def covariate_effects(model: Any) -> np.ndarray:
    """ζ, covariates x predictors."""
    coef = getattr(model.fitted_, "covariate_coef", None)
    return np.zeros((0, 0)) if coef is None else np.atleast_2d(coef).T


def regressed_effects(
    model: Any, data: Data, penalty: float = _SMALL
) -> tuple[np.ndarray, np.ndarray]:
    """Effects of a model's topics and of covariates, as `data` have them: η, ζ and the reach.

    By a regression of these documents' targets on the mixes that the model gives them. Of documents
    that took no part in choosing words and shaping topics, what they say of the very same topics is
    honest. That goes for the topics' reach as well: the parts of topics in documents that they were
    shaped on are too far apart. The model's own coefficients are drawn to the directions of the
    topics and shrunken, which predicts better and is a bias here.
    """
    fitted = model.fitted_
    if fitted.targets is None:
        return topic_effects(model, counted(data)), covariate_effects(model)
    beside = {k: v for k, v in data.beside.items() if k in ("covariates", "exposure")}
    documents = fitted.documents(data.X, data.y, **beside)
    weight = read_weight(data.beside.get("sample_weight"), documents.corpus.n_docs)
    problem = replace(documents, weight=weight).problem(1.0, model.n_jobs)
    design = problem.beside(fitted.mixes(documents.corpus, model.n_jobs))
    columns = target_columns(problem, fitted.state.family)
    coef = np.hstack([fit_linear(column, column.of(design), penalty).coef for column in columns])
    n_topics = fitted.state.n_topics
    mixes = fitted.mixes(fitted.corpus(counted(data)), model.n_jobs)
    zeta = coef[n_topics:] if problem.covariates is not None else np.zeros((0, 0))
    return _within_reach(mixes, coef[:n_topics]), zeta


def noise_elsewhere(
    model: Any, others: Data, classes: bool, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Var(a′) of `regressed_effects` given the topics: (a′₁ - a′₂)²/4 of the halves of `others`.

    Each of the two has twice the variance of a′, and their difference four times. Zero, which makes
    intervals wider, where `others` cannot be halved.
    """
    parts = halves(others, classes, rng)
    try:
        first, second = (regressed_effects(model, others.rows(part)) for part in parts)
    except (ValueError, ArithmeticError, np.linalg.LinAlgError):  # a part lacks a class, or all
        first = second = regressed_effects(model, others)
    topics, covariates = ((a - b) ** 2 / 4 for a, b in zip(first, second, strict=True))
    return topics, covariates


def counted(data: Data) -> Any:
    """The documents that are there: those whose weight is not zero."""
    weight = data.beside.get("sample_weight")
    return data.X if weight is None else data.rows(np.flatnonzero(np.asarray(weight) > 0)).X


def chosen_share(model: Any) -> HeldShare | None:
    """What an automatic share of words came to; None for models that choose none."""
    if getattr(model, "inclusion_prior", None) != "auto":
        return None
    return HeldShare(float(model.inclusion_prior_), model.fitted_.discoveries)


def fit_pair(
    name: str,
    model: Any,
    data: Data,
    reference: np.ndarray,
    classes: bool,
    seed: int,
    share: HeldShare | None = None,
) -> dict[str, Any]:
    """The record of a pair: of each half what it kept, and its topics beside the model's.

    `reference` has the model's topics; effects are within the reach of the half's documents, and
    "elsewhere" of the other half's. An automatic share is `share` in both halves, or, if that is
    None, chosen by each.
    """
    rng = np.random.default_rng([seed, int(name.rpartition("-")[2])])
    parts = halves(data, classes, rng)
    try:
        with holding_share(share):
            pair = [_fit(model, data.rows(part)) for part in parts]
        own = [
            regressed_effects(h, data.rows(part), OWN_PENALTY)
            for h, part in zip(pair, parts, strict=True)
        ]
        crossed = [(h, data.rows(part)) for h, part in zip(pair, parts[::-1], strict=True)]
        honest = [regressed_effects(half, others) for half, others in crossed]
        noise = [noise_elsewhere(half, others, classes, rng) for half, others in crossed]
    except OSError:  # a full disk, a cluster that is gone: not this pair's doing
        raise
    except Exception as error:
        message = " ".join(str(error).split())
        return {"name": name, "error": f"{type(error).__name__}: {message}"}
    matches = [match_topics(half.components_, reference) for half in pair]
    topics = [half.components_[match] for half, (match, _) in zip(pair, matches, strict=True)]
    found: dict[str, Any] = {
        "name": name,
        "error": None,
        "kept": [np.flatnonzero(kept_words(half)).tolist() for half in pair],
        "cosine": [cosine.tolist() for _, cosine in matches],
        "between": _cosines(*topics).tolist(),
        "top": [
            [words.tolist() for words in top_words(shown_topics(half)[match], TOP)]
            for half, (match, _) in zip(pair, matches, strict=True)
        ],
        "effects": [
            effects[match].tolist() for (effects, _), (match, _) in zip(own, matches, strict=True)
        ],
        "elsewhere": [
            effects[match].tolist()
            for (effects, _), (match, _) in zip(honest, matches, strict=True)
        ],
        "noise": [
            effects[match].tolist() for (effects, _), (match, _) in zip(noise, matches, strict=True)
        ],
        "covariates": [zeta.tolist() for _, zeta in own],
        "covariates_elsewhere": [zeta.tolist() for _, zeta in honest],
        "covariates_noise": [zeta.tolist() for _, zeta in noise],
        "correlation": _correlation(pair, data),
    }
    return found


def _fit(model: Any, data: Data) -> Any:
    with refusing_interrupts():
        half = clone(model)
        return (
            half.fit(data.X, **data.beside)
            if data.y is None
            else half.fit(data.X, data.y, **data.beside)
        )


def _cosines(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Of each row of one with the same row of the other."""
    sizes = np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1)
    return np.sum(first * second, axis=1) / np.maximum(sizes, 1e-300)


def _correlation(pair: list[Any], data: Data) -> float | None:
    """Of the two halves' linear predictors over all documents, the mean over predictors."""
    if pair[0].fitted_.targets is None:
        return None
    beside = {k: v for k, v in data.beside.items() if k in ("covariates", "exposure")}
    predictors = [
        half.fitted_.predictors(half.fitted_.documents(data.X, **beside)) for half in pair
    ]
    each = [_correlate(a, b) for a, b in zip(*(p.T for p in predictors), strict=True)]
    return float(np.mean(each))


def _correlate(a: np.ndarray, b: np.ndarray) -> float:
    """0 where one of them does not vary."""
    return float(np.corrcoef(a, b)[0, 1]) if np.ptp(a) > 0 and np.ptp(b) > 0 else 0.0
