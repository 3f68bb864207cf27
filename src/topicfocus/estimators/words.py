"""The words of each topic in their order, and the table of topics that a notebook shows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from html import escape
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from topicfocus.estimators.arguments import check_choice
from topicfocus.estimators.effects import default_quantiles, training_effects
from topicfocus.estimators.fitted import Fitted

#: Orders of a topic's words.
ORDERS = ("distinctive", "probability", "relevance", "frex")
#: λ of the relevance, and the weight of exclusivity in FREX.
RELEVANCE = 0.4
EXCLUSIVITY = 0.5
#: Pseudo-count added to the occurrences of dropped words.
CONTEXT_SHRINKAGE = 5.0
#: Smaller differences of occurrences, relative to all of a word, are rounding.
_ROUNDING = 1e-5
#: A topic whose coefficients are closer to the average than this fraction of the usual distance has
#: no sign.
_NO_SIGN = 0.1
#: Largest numbers of top words, dropped words and columns of effects.
N_WORDS, N_CONTEXT, MOST_COLUMNS = 8, 4, 8


def word_names(given: Any, n_words: int) -> np.ndarray:
    """Names of the columns, in their order.

    Parameters
    ----------
    given : list of str, dict of word to column, or a fitted vectoriser
        `TokenCounter().fit(texts)`, its `vocabulary_`, or `get_feature_names_out()`.
    n_words : int
        Columns of the model.

    Returns
    -------
    array of str objects

    Raises
    ------
    TypeError
        If it is a single string.
    ValueError
        If the number of names differs from `n_words`.
    """
    if hasattr(given, "get_feature_names_out"):
        given = given.get_feature_names_out()
    if isinstance(given, (str, bytes)):
        raise TypeError("vocabulary must have a name for each column, got one string.")
    if isinstance(given, Mapping):
        # The order of a dict is that of insertion, not of the columns.
        given = sorted(given, key=given.__getitem__)
    names = np.array([str(word) for word in given], dtype=object)
    if len(names) != n_words:
        raise ValueError(f"vocabulary has {len(names)} words, but the model has {n_words}.")
    return names


def has_distinctive(fitted: Fitted) -> bool:
    """Whether the distinctive words of the topics can be computed."""
    return fitted.context is not None and fitted.association is not None


def usual_order(fitted: Fitted) -> str:
    """The default order: distinctive words for focused models with subjects, else probability."""
    return (
        "distinctive" if fitted.shaping == "themes" and has_distinctive(fitted) else "probability"
    )


def naming_order(fitted: Fitted) -> str:
    """The order of the few words that name a topic; probable words often name several topics."""
    order = usual_order(fitted)
    return "relevance" if order == "probability" else order


def topic_scores(
    fitted: Fitted, order: str | None = None, relevance: float = RELEVANCE
) -> np.ndarray:
    """Scores, topics x words; words are listed from the largest, -inf are not listed."""
    order = check_choice("order", usual_order(fitted) if order is None else order, ORDERS)
    if order == "distinctive":
        if not has_distinctive(fitted):
            raise ValueError(
                'order="distinctive" is for focused models: choose another order, such as '
                '"probability".'
            )
        return distinctive_scores(fitted)
    return word_scores(fitted.components, fitted.word_share, order, relevance)


def distinctive_scores(fitted: Fitted) -> np.ndarray:
    """Scores of distinctive words, topics x words.

        (C_vk - E_vk)₊ · √r_vk · t_vk,   r_vk = β_vk / Σ_j β_vj,   t_vk = l/(1 + l), l = (u_v·e_k)₊

    C_vk counts occurrences of word v beside the *other* words of topic k, E_vk = C_v· C_·k / C_··
    is its expectation under independence, r is the exclusivity of the word, and l its association
    with the target in the direction of the topic: u are the slopes of the words against the
    targets, scaled to mean square one per predictor, and e_k is the unit vector of the topic's
    coefficients minus those of an average topic. Words with a score of zero follow in the order of
    their probability if the topic has more than its part of them (r_vk ≥ 1/K).
    """
    assert fitted.context is not None and fitted.association is not None
    beta = fitted.components
    kept = np.flatnonzero(beta.max(axis=0) > 0)
    own = beta[:, kept] / beta[:, kept].sum(axis=0)
    beside = fitted.context[kept].T.astype(float)
    often = beside.sum(axis=0)
    expected = np.outer(beside.sum(axis=1), often) / max(beside.sum(), 1e-300)
    excess = beside - expected
    excess[excess <= _ROUNDING * often] = 0.0
    toward = sign_agreement(fitted.association[kept], fitted.state.coef_rows)
    distinctive = excess * np.sqrt(own) * toward
    out = np.full(beta.shape, -np.inf)
    others = np.where(own >= (1 - _ROUNDING) / len(beta), beta[:, kept] - 1.0, -np.inf)
    out[:, kept] = np.where(distinctive > 0, distinctive, others)
    return out


def sign_agreement(association: np.ndarray, coef: np.ndarray) -> np.ndarray:
    """t, topics x words, from 0 to 1: whether word and topic have the same sign.

    Parameters
    ----------
    association : array (words, predictors)
    coef : array (predictors, topics)
    """
    away = coef - coef.mean(axis=1, keepdims=True)
    away = away / _size(away, axis=1)
    size = np.linalg.norm(away, axis=0)
    unit = association / _size(association, axis=0)
    along = np.maximum(unit @ (away / np.maximum(size, 1e-300)), 0.0).T
    toward = along / (1 + along)
    toward[size <= _NO_SIGN * _size(size, axis=0)] = 1.0
    return toward


def _size(values: np.ndarray, axis: int) -> np.ndarray:
    """Root mean square; one where all are zero."""
    size = np.sqrt(np.mean(values**2, axis=axis, keepdims=True))
    return np.where(size > 0, size, 1.0)


def word_scores(
    components: np.ndarray, share: np.ndarray, order: str, relevance: float = RELEVANCE
) -> np.ndarray:
    """Scores, topics x words; -inf for words that a topic does not contain.

    Parameters
    ----------
    components : array (topics, words)
        β, rows sum to one.
    share : array (words,)
        p_v, above zero where a topic contains the word.
    order : {"probability", "relevance", "frex"}
        log β_vk; λ log β_vk + (1-λ) log(β_vk / p_v); or 1 / (ω / E_vk + (1-ω) / F_vk), with E and F
        the ranks of β_vk / Σ_j β_vj and of β_vk among the words of topic k, as shares of them.
    relevance : float
        λ.
    """
    with np.errstate(divide="ignore"):
        log = np.log(components)
    if order == "probability":
        return log
    if order == "relevance":
        return log - (1 - relevance) * np.log(np.where(share > 0, share, 1.0))
    total = components.sum(axis=0)
    out = np.full(components.shape, -np.inf)
    for k, beta in enumerate(components):
        words = np.flatnonzero(beta)
        often = rankdata(beta[words]) / len(words)
        # Rounded, so that words of one topic only are ties.
        own = rankdata(np.round(beta[words] / total[words], 12)) / len(words)
        out[k, words] = 1 / (EXCLUSIVITY / own + (1 - EXCLUSIVITY) / often)
    return out


def context_scores(context: np.ndarray, dropped: np.ndarray) -> np.ndarray:
    """Scores of dropped words, topics x words; positive for words associated with the topic.

    √C_vk · log((C_vk + s) / (E_vk + s)): the log lift over E_vk = C_v· C_·k / C_··, shrunk by
    s = 5 occurrences, times the root of the occurrences, which makes it a z score for small lifts.
    Sums are over the `dropped` words.
    """
    counts = np.where(dropped[:, None], context, 0.0)
    total = max(counts.sum(), 1e-30)  # float32 has no smaller numbers
    expected = counts.sum(axis=1, keepdims=True) * (counts.sum(axis=0) / total)
    lift = np.log((counts + CONTEXT_SHRINKAGE) / (expected + CONTEXT_SHRINKAGE))
    return (np.sqrt(counts) * lift).T


def first_words(
    scores: np.ndarray, n: int, names: Any, listed: Callable[[np.ndarray], np.ndarray]
) -> list[list[str]]:
    """The n words of each topic with the largest scores, of those that are `listed`."""
    best = np.argsort(-scores, axis=1, kind="stable")[:, :n]
    return [
        [str(names[v]) for v in words[listed(scores[k, words])]] for k, words in enumerate(best)
    ]


def reciprocal_ranks(scores: np.ndarray) -> np.ndarray:
    """1/rank of each word in each topic; 0 for words that are not listed."""
    out = np.zeros(scores.shape)
    for k, row in enumerate(scores):
        words = np.argsort(-row, kind="stable")[: int(np.sum(row > -np.inf))]
        out[k, words] = 1 / np.arange(1, len(words) + 1)
    return out


# ---- the table of topics -----------------------------------------------------------------------


def topics_html(model: Any) -> str:
    """A table of topics with their effects and top words, empty before `fit`.

    Predicted differences in the training documents come first, coefficients last. Words and labels
    come from texts of unknown origin, so everything is escaped.
    """
    if not hasattr(model, "components_"):
        return ""
    fitted = model.fitted_
    columns: dict[str, list[str]] = {}
    if any(fitted.names):
        columns["name"] = [name or "" for name in fitted.names]
    order, found = np.arange(len(fitted.components)), training_effects(fitted)
    if found is not None:
        columns |= _effects(fitted, found)
    if fitted.targets is not None and fitted.state.n_predictors == 1:
        coef = fitted.coef.ravel()
        columns["coef"] = [f"{c:.3g}" for c in coef]
        by = coef if found is None else found[:, 1, 0] - found[:, 0, 0]
        order = np.argsort(-by, kind="stable")
    columns["words"] = [", ".join(words) for words in model.top_words(N_WORDS)]
    if fitted.context is not None:
        columns["occurs with"] = [", ".join(words) for words in model.context_words(N_CONTEXT)]
    table = pd.DataFrame(columns).iloc[order].rename_axis("topic").reset_index()
    with pd.option_context("display.max_colwidth", None):
        text = table.to_html(classes="topicfocus", index=False, border=0, justify="left")
    caption = f"<caption>{escape(_caption(model, found))}</caption>"
    return text.replace("<thead>", f"{caption}<thead>", 1)


def _effects(fitted: Any, found: np.ndarray) -> dict[str, list[str]]:
    """Both predictions and their difference; for several predictors the differences."""
    classes = [part.coding.is_class for part in fitted.parts for _ in range(part.width)]
    names = fitted.target_model.predictor_names()
    change = found[:, 1] - found[:, 0]
    if len(names) > 1:
        shown = list(zip(names, classes, change.T, strict=True))
        return {
            f"{name}, points" if is_class else name: [
                f"{100 * x:+.1f}" if is_class else f"{x:+.3g}" for x in column
            ]
            for name, is_class, column in shown[:MOST_COLUMNS]
        }
    title, ends, change = f"{names[0]}: little → much", found[:, :, 0].tolist(), change[:, 0]
    if classes[0]:
        title = f"P({names[0]}): little → much"
        return {
            title: [f"{low:.1%} → {high:.1%}" for low, high in ends],
            "change": [f"{100 * x:+.1f}" for x in change],
        }
    largest = max(float(np.abs(change).max()), 1e-6)
    digits = int(np.clip(2 - np.floor(np.log10(largest)), 0, 6))  # the largest has three digits
    return {
        title: [f"{low:.{digits}f} → {high:.{digits}f}" for low, high in ends],
        "change": [f"{x:+.{digits}f}" for x in change],
    }


def _caption(model: Any, found: np.ndarray | None) -> str:
    n_topics, n_words = model.components_.shape
    parts = [f"{n_topics} topics of {n_words} words"]
    if hasattr(model, "selected_words_"):
        parts.append(f"{int(np.sum(model.selected_words_))} kept")
    if found is not None and found.shape[2] > MOST_COLUMNS:
        parts.append(f"{MOST_COLUMNS} of {found.shape[2]} effects shown")
    if not hasattr(model, "feature_names_in_"):
        parts.append("words are column numbers, because X had no names")
    if found is None:
        return ", ".join(parts)
    low, high = (f"{100 * q:g}th" for q in default_quantiles(model.fitted_))
    return (
        f"{', '.join(parts)}. Effects: the prediction of a typical training document as its "
        f"proportion of the topic goes from the {low} to the {high} percentile"
    )
