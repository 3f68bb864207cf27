"""What a fit has found, as plain data: topics, words, covariates, their effects, and metrics.

`summarise` makes what metrics.json holds. Topics are numbered from 1 in the order in which every
command shows them; `component` is the model's own index, from 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from topicfocus.config import FitConfig, setting
from topicfocus.counts import take_rows
from topicfocus.estimators import effects as model_effects
from topicfocus.estimators.effects import TopicEffects, WordEffects
from topicfocus.estimators.targets import TargetPart
from topicfocus.estimators.training import useless_fit_messages
from topicfocus.estimators.words import usual_order
from topicfocus.passes import transposed_dot
from topicfocus.persistence import plain
from topicfocus.text.codes import joined
from topicfocus.workflow.evaluate import Evaluation
from topicfocus.workflow.giveaways import find_giveaways, giveaway_messages
from topicfocus.workflow.read import Documents
from topicfocus.workflow.split import Parts, n_empty, word_frequencies

#: Settings that metrics.json records.
_SETTINGS = (
    *("model", "topics", "inclusion_prior", "selection", "class_weight", "stability"),
    *("drop_words", "keep_words", "remainder", "test_share", "seed", "jobs"),
)


@dataclass(frozen=True)
class FittedModel:
    """A model with all documents, and those of them that it was fitted to and evaluated on."""

    documents: Documents
    parts: Parts
    training: Documents
    model: Any
    config: FitConfig
    evaluation: Evaluation | None = None
    seconds: float = 0.0

    @cached_property
    def on_page(self) -> np.ndarray:
        """Held-out documents, or all; those with a text in memory, if any has."""
        train, test = self.parts
        known = np.isfinite(self.documents.target.values[train])
        shown = test if len(test) else train[known]
        with_text = shown < len(self.documents.texts)
        return shown[with_text] if with_text.any() else shown

    @property
    def positive(self) -> Any:
        """The class of two that topics are shown for."""
        classes = self.documents.target.classes
        if classes is None or len(self.model.classes_) != 2:
            return None
        return next(c for c in self.model.classes_ if str(c) == classes[1])

    def effects(self) -> Effects:
        """Effects in the documents of the page; intervals if these had no part in the fit."""
        shown, jobs, fitted = self.on_page, self.config.jobs, self.model.fitted_
        columns = self.documents.columns.with_class_weights().of(shown)
        held_out = self.documents.y[shown] if len(self.parts[1]) else None
        counts = take_rows(self.documents.counts, shown)
        documents = fitted.documents(counts, held_out, **columns.for_predict())
        documents = replace(documents, weight=columns.weight)
        mixes = fitted.mixes(documents.corpus, jobs)
        known = None if held_out is None else documents
        return Effects(
            model_effects.topic_effects(fitted, documents, known, mixes=mixes, n_jobs=jobs),
            model_effects.word_effects(fitted, documents, mixes=mixes, n_jobs=jobs),
            fitted.token_proportions(documents.corpus, mixes, jobs).mean(axis=0),
        )


class Effects(NamedTuple):
    """What topics and words change on the target's own scale.

    `share` is the proportion of each topic in the relevant tokens of an average document.
    """

    topics: TopicEffects
    words: WordEffects
    share: np.ndarray


def summarise(fitted: FittedModel, effects: Effects) -> dict[str, Any]:
    """The content of metrics.json, in Python's own numbers and lists."""
    model, documents, found = fitted.model, fitted.documents, fitted.evaluation
    assert found is not None
    target, (train, test) = documents.target, fitted.parts
    result = {
        "model": type(model).__name__,
        "settings": _settings(fitted),
        "target": {
            "kind": target.kind,
            "sentence": target.sentence,
            "classes": target.classes,
            "missing": target.n_missing,
        },
        "documents": {
            "all": documents.n_docs,
            "train": len(train),
            "test": len(test),
            "skipped": documents.n_skipped,
            "empty": n_empty(documents.counts),
        },
        "seconds": round(fitted.seconds, 3),
        "steps": model.n_iter_,
        "topics": topic_rows(fitted, effects),
        "effects": effect_scale(effects),
        "word_order": usual_order(model.fitted_),
        "covariates": covariate_rows(model, documents.columns.names.covariates),
        "words": word_rows(fitted, effects.words),
        "held_out": found.held_out,
        "completeness": None,
        "warnings": [
            *useless_fit_messages(model),
            *found.warnings(target.kind),
            *_giveaways(fitted),
        ],
        "reliability": found.reliability,
    }
    if found.completeness is not None:
        result["completeness"] = {
            **found.completeness._asdict(),
            "documents": "test" if len(test) else "validation",
            "remainder": model.fitted_.remainder is not None,
        }
    for name in ("shaping_", "inclusion_prior_"):
        if hasattr(model, name):
            result[name.rstrip("_")] = getattr(model, name)
    return plain(result)


def _settings(fitted: FittedModel) -> dict[str, Any]:
    config, counter = fitted.config, fitted.documents.counter
    return {
        **{name: getattr(config, name) for name in _SETTINGS},
        "file": config.file or None,
        **config.columns,
        "kind": fitted.documents.target.kind,
        "min_df": config.min_df,
        "max_df": config.max_df,
        "separator": counter.separator,
    }


def _giveaways(fitted: FittedModel) -> list[str]:
    """Warnings of terms that may give the target away in the training documents."""
    training = fitted.training
    target, group = training.target, training.columns.group
    found = find_giveaways(training.counts, training.words, target.values, target.classes, group)
    found = [one for one in found if one.word not in fitted.config.drop_words]
    return giveaway_messages(found, f"name them in {setting('drop_words')}")


# ---- topics --------------------------------------------------------------------------------------


_LISTED = 12
#: Documents that a word should be in to be shown for what it changes.
_COMMON = 5
#: Words of a topic, and words that it goes with.
_WORDS = 10
#: Of topics.csv, as metrics.json calls them: predictions with little and much of the topic, their
#: difference, this difference in held-out documents with its interval, the topic's part of an
#: average document, and at both ends.
_TOPIC_COLUMNS = (
    *("topic", "component", "name", "class", "low", "high", "change", "estimate", "lower"),
    *("upper", "share", "proportion_low", "proportion_high"),
)


def topic_rows(fitted: FittedModel, found: Effects) -> list[dict[str, Any]]:
    """One record per topic, from the largest positive change of the target to the most negative.

    "topic" is its number in this order, from 1, and "component" the model's index, from 0. "low"
    and "high" are the predictions for a typical document whose proportion of the topic is at its
    10th and its 90th percentile (`effect_scale`), "change" is their difference; "estimate" is the
    difference in held-out documents, with the interval from "lower" to "upper", if there are any.
    All are numbers, or probabilities of "class", which is the positive one of two classes, and else
    the one with the largest change ("changes" has all). "share" is the topic's proportion of the
    relevant tokens of an average document. Models that select words also have "context", the
    dropped words that occur with the topic. "name" is there if any topic has been named.
    """
    model, words = fitted.model, fitted.documents.words
    names = model.top_words(_WORDS, words)
    context = model.context_words(_WORDS, words) if hasattr(model, "context_words") else None
    given = getattr(model, "topic_names_", None) or []
    coef = found.topics.coef
    rows = []
    for k in range(len(coef)):
        own = {"coef": coef[k, 0] if coef.shape[1] == 1 else coef[k], "words": names[k]}
        if any(given):
            own["name"] = given[k]
        if context is not None:
            own["context"] = context[k]
        effect, order = _effect(model.fitted_.parts[0], found.topics, k, fitted.positive)
        rows.append((order, {"component": k, "share": found.share[k], **effect, **own}))
    rows.sort(key=lambda item: item[0])
    return [{"topic": number, **row} for number, (_, row) in enumerate(rows, start=1)]


def _effect(
    part: TargetPart, found: TopicEffects, k: int, positive: Any
) -> tuple[dict[str, Any], tuple[int, float]]:
    """What topic k changes, and where that stands in the order."""
    coding = part.coding
    labels = np.asarray(coding.labels) if coding.is_class else np.empty(0)
    best = int(np.argmax(found.change[k])) if len(labels) > 2 else 0
    names = ("low", "high", "change", "estimate", "lower", "upper")
    row = {name: getattr(found, name)[k, best] for name in names}
    shares = {
        "proportion_low": found.proportion_low[k],
        "proportion_high": found.proportion_high[k],
    }
    if not coding.is_class:
        return row | shares, (0, -row["change"])
    if len(labels) > 2:
        changes = {str(label): found.change[k, c] for c, label in enumerate(labels)}
        row = {"class": labels[best], **row, **shares, "changes": changes}
        return row, (best, -row["change"])
    shown = labels[1] if positive is None else positive
    if shown == labels[0]:  # of the first class: what it gains the second loses
        row = {
            "low": 1 - row["low"],
            "high": 1 - row["high"],
            "change": -row["change"],
            "estimate": -row["estimate"],
            "lower": -row["upper"],
            "upper": -row["lower"],
        }
    return {"class": shown, **row, **shares}, (0, -row["change"])


def effect_scale(found: Effects) -> dict[str, Any]:
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


def topic_table(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """Topics as rows of topics.csv, in the order of `topic_rows`; words as `joined` has them."""
    table = pd.DataFrame(rows)
    lists = [name for name in ("words", "context") if name in rows[0]]
    for name in lists:
        table[name] = [joined(map(str, row[name])) for row in rows]
    return table[[*(name for name in _TOPIC_COLUMNS if name in rows[0]), *lists]]


def effect_table(model: Any, found: Effects, rows: list[dict[str, Any]]) -> pd.DataFrame:
    """One row per topic (and class, of more than two), in the order of `topic_rows`."""
    words = [""] * len(rows)
    for row in rows:
        words[row["component"]] = joined(map(str, row["words"][:5]))
    table = model_effects.topic_table(model.fitted_, found.topics, words)
    table = table.rename(columns={"topic": "component"}).drop(columns=["limit_low", "limit_high"])
    numbers = {row["component"]: row["topic"] for row in rows}
    table.insert(0, "topic", table["component"].map(numbers))
    return table.sort_values("topic", kind="stable", ignore_index=True)


# ---- words and covariates ------------------------------------------------------------------------


def word_table(fitted: FittedModel, components: Sequence[int]) -> pd.DataFrame:
    """Every word as a row of words.csv: how often it is in the training part, whether it was kept
    and by how much it counts, its screening statistic where there is one, and p(word | topic) for
    the topics as they are numbered.
    """
    model, counts, words = fitted.model, fitted.training.counts, fitted.documents.words
    documents, tokens = word_frequencies(counts, np.arange(counts.shape[0]))
    table: dict[str, Any] = {
        "word": [str(word) for word in words],
        "documents": documents,
        "tokens": tokens,
    }
    if hasattr(model, "selected_words_"):
        table["kept"] = ["yes" if kept else "no" for kept in model.selected_words_]
    for name in ("inclusion", "screening_statistic"):
        if getattr(model, f"{name}_", None) is not None:
            table[name] = np.asarray(getattr(model, f"{name}_"))
    topics = np.asarray(model.components_)
    for number, k in enumerate(components, start=1):
        table[f"topic_{number}"] = topics[k]
    return pd.DataFrame(table)


def covariate_rows(model: Any, names: tuple[str, ...]) -> list[dict[str, Any]]:
    """Of each covariate its mean and spread in the training part, and what a unit of it adds.

    Where some documents lack it, "filled_with" is the median that stands there, and "NAME is
    missing" a covariate of its own.
    """
    if not names:
        return []
    targets = model.fitted_.target_model
    coef, scaling = np.atleast_2d(model.covariate_coef_), targets.covariates
    out = []
    for j, name in enumerate(targets.column_names(names)):
        row = {"name": name, "mean": scaling.centre[j], "std": scaling.size[j]}
        if j in targets.covariates.indicated:
            row["filled_with"] = targets.covariates.median[j]
        if len(coef) == 1:
            row["coef"] = coef[0, j]
        else:  # of several classes, with the one that it speaks for
            row["coef"] = coef[:, j]
            row["class"] = model.classes_[np.argmax(coef[:, j])]
        out.append(row)
    return out


def word_rows(fitted: FittedModel, found: WordEffects) -> dict[str, Any]:
    """How many words and tokens the topics use, and the most frequent of both kinds.

    The most predictive words come first among the kept ones, where the model has statistics. Of a
    number, or two classes, also the words whose first occurrence "raises" and "lowers" it most.
    """
    model, words = fitted.model, fitted.documents.words
    frequency = transposed_dot(fitted.training.counts, np.ones(fitted.training.n_docs), 1)
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
        **_strongest(words, found, getattr(model, "classes_", None), fitted.positive),
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
