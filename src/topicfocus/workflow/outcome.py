"""The outcome of a fit: a pipeline, the result as plain data, tables, and inputs of the page."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from topicfocus.config import FitConfig, setting
from topicfocus.counts import in_memory, take_rows
from topicfocus.estimators.effects import TopicEffects, WordEffects, topic_effects, word_effects
from topicfocus.estimators.targets import TargetPart
from topicfocus.estimators.training import useless_fit_messages
from topicfocus.estimators.words import usual_order
from topicfocus.workflow.columns import Columns, remember
from topicfocus.workflow.evaluate import Evaluation
from topicfocus.workflow.giveaways import find_giveaways, giveaway_messages
from topicfocus.workflow.predict import prediction_columns
from topicfocus.workflow.read import Source
from topicfocus.workflow.split import Counted, Parts, word_frequencies
from topicfocus.workflow.write import TOPICS_FILE, WORDS_FILE, Table, joined, plain


@dataclass(frozen=True)
class Outcome:
    """What `fit_file` returns.

    Attributes
    ----------
    pipeline : Pipeline
        The counter of words and the fitted model; takes texts.
    result : dict
        What ``topicfocus fit --json`` prints and metrics.json holds: settings, target, topics,
        words, held-out metrics. Python's own numbers and lists; None for NaN.
    predictions : dict
        Columns of predictions.csv: row of the file, part, target, prediction, ...
    shown : dict
        Inputs of the explorer page: held-out documents (all documents without a held-out part),
        with texts where these are in memory, else as counts; their targets, and predictions of the
        regression on all words.
    folder : pathlib.Path or None
        Where it was written.
    written : tuple of str
        The names of the files there.
    config : FitConfig or None
        The settings with everything that was chosen during the fit, as in config.toml.
    tables : dict
        Columns of topics.csv and words.csv, by these names.
    """

    pipeline: Any
    result: dict[str, Any]
    predictions: Table
    shown: dict[str, Any] = field(repr=False)
    folder: Path | None = None
    written: tuple[str, ...] = ()
    config: FitConfig | None = None
    tables: dict[str, Table] = field(default_factory=dict, repr=False)


def make_outcome(
    source: Source,
    counted: Counted,
    model: Any,
    found: Evaluation,
    parts: Parts,
    y: np.ndarray,
    config: FitConfig,
    seconds: float,
) -> Outcome:
    """The outcome of a fit with these settings, which took so many seconds."""
    from sklearn.pipeline import make_pipeline

    remember(model, config.columns)
    result = _result(source, counted, model, found, parts, y, config, seconds)
    part = np.full(source.n_docs, "unused", dtype=object)
    part[parts[0]], part[parts[1]] = "train", "test"
    file = {} if source.files is None else {"file": source.files}
    predictions: Table = {**file, "row": source.rows, "part": part, "target": y}
    seen = counted.counts
    if found.documents is not None:
        predictions = {name: column[found.documents] for name, column in predictions.items()}
        seen = take_rows(seen, found.documents)
    predictions["target"] = _as_written(predictions["target"])
    predictions |= prediction_columns(model, found.predicted)
    predictions["relevant_words"] = model.relevant_words(seen)
    kind = config.kind if source.target.kind == "binary" else source.target.kind
    return Outcome(
        make_pipeline(counted.counter, model),
        plain(result),
        predictions,
        _shown(source, counted, found, parts, y, config.target),
        config=replace(config, kind=kind, min_df=counted.min_df, max_df=counted.max_df),
        tables={
            TOPICS_FILE: topic_table(plain(result["topics"])),
            WORDS_FILE: word_table(model, counted.words, take_rows(counted.counts, parts[0])),
        },
    )


def completeness_record(model: Any, found: Evaluation, tested: bool) -> dict[str, Any] | None:
    """How much of what the text tells the topics capture, and the terms of the remainder."""
    if found.completeness is None:
        return None
    return {
        **found.completeness._asdict(),
        "documents": "test" if tested else "validation",
        "remainder": model.fitted_.remainder is not None,
    }


#: Settings that metrics.json records.
_SETTINGS = (
    *("model", "topics", "inclusion_prior", "selection", "class_weight", "stability"),
    "remainder",
    *("test_share", "seed", "jobs"),
)


def _result(
    source: Source,
    counted: Counted,
    model: Any,
    found: Evaluation,
    parts: Parts,
    y: np.ndarray,
    config: FitConfig,
    seconds: float,
) -> dict[str, Any]:
    train, test = parts
    target, counts = source.target, take_rows(counted.counts, train)
    positive = _positive(model, target)
    # The documents of the page, so that the effects there are the same.
    shown = _on_page(source, parts)
    some = take_rows(counted.counts, shown)
    # Intervals need targets of documents that had no part in the fit.
    held_out = y[shown] if len(test) else None
    effects = find_effects(model, some, source.columns.of(shown), config.jobs, held_out)
    model.n_jobs = None
    result = {
        "model": type(model).__name__,
        "settings": {
            **{name: getattr(config, name) for name in _SETTINGS},
            "file": config.file,
            **config.columns,
            "kind": target.kind,
            "min_df": counted.min_df,
            "max_df": counted.max_df,
            "separator": counted.counter.separator,
        },
        "target": {
            "kind": target.kind,
            "sentence": target.sentence,
            "classes": target.classes,
            "missing": target.n_missing,
        },
        "documents": {
            "all": source.n_docs,
            "train": len(train),
            "test": len(test),
            "skipped": source.n_skipped,
            "empty": counted.n_empty,
        },
        "seconds": round(seconds, 3),
        "steps": model.n_iter_,
        "topics": topic_rows(model, counted.words, effects, positive),
        "effects": effect_scale(model, effects),
        "word_order": usual_order(model.fitted_),
        "covariates": covariate_rows(model, source.columns.names.covariates),
        "words": word_rows(model, counted.words, counts, effects.words, positive),
        "held_out": found.held_out,
        "completeness": completeness_record(model, found, len(test) > 0),
        "warnings": [
            *useless_fit_messages(model),
            *found.warnings(target.kind),
            *_giveaways(source, counted, counts, train, config),
        ],
        "reliability": found.reliability,
    }
    for name in ("shaping_", "inclusion_prior_"):
        if hasattr(model, name):
            result[name.rstrip("_")] = getattr(model, name)
    return result


def _giveaways(
    source: Source, counted: Counted, counts: Any, train: np.ndarray, config: FitConfig
) -> list[str]:
    """Warnings of terms that may give the target away in the training documents."""
    target, group = source.target, source.columns.group
    found = find_giveaways(
        counts,
        counted.words,
        target.values[train],
        target.classes,
        None if group is None else group[train],
    )
    remedy = "remove their columns from the matrix"
    if source.is_text:
        which = "FILE" if config.separator else "english+FILE"
        remedy = f"add them to {setting('stop_words')} (on the command line, {which})"
    return giveaway_messages(found, remedy)


def _positive(model: Any, target: Any) -> Any:
    """The class of two that topics are shown for."""
    if target.classes is None or len(model.classes_) != 2:
        return None
    return next(c for c in model.classes_ if str(c) == target.classes[1])


def _as_written(y: np.ndarray) -> list[Any]:
    """Targets as they were, without the decimals of whole numbers."""
    return [int(v) if isinstance(v, float) and v.is_integer() else v for v in y.tolist()]


def _on_page(source: Source, parts: Parts) -> np.ndarray:
    """Documents of the page: held-out ones, or all; those with a text in memory, if any has."""
    train, test = parts
    documents = test if len(test) else train[np.isfinite(source.target.values[train])]
    with_text = documents < len(source.texts)
    return documents[with_text] if with_text.any() else documents


def _shown(
    source: Source,
    counted: Counted,
    found: Evaluation,
    parts: Parts,
    y: np.ndarray,
    target_name: str | None,
) -> dict[str, Any]:
    documents, words, test = _on_page(source, parts), found.words, parts[1]
    if documents[0] < len(source.texts):
        given: dict[str, Any] = {"texts": [source.texts[i] for i in documents]}
    else:
        some = in_memory(take_rows(counted.counts, documents))
        given = {"counts": some, "vocabulary": counted.words.tolist()}
    baselines = {}
    if words is not None:
        other = words.values if words.probabilities is None else words.probabilities
        baselines[words.name] = other[np.searchsorted(test, documents)]
    shown = {
        **given,
        "target": y[documents],
        "baselines": baselines,
        "held_out": len(test) > 0,
        "target_name": target_name if source.is_text or not target_name else Path(target_name).stem,
        "document_names": [source.where(i) for i in documents],
        **source.columns.of(documents).for_predict(),
    }
    names = source.columns.names.covariates
    if names:
        shown["covariate_names"] = list(names)
    return shown


# ---- what a model has found ----------------------------------------------------------------------


_LISTED = 12
#: Documents that a word should be in to be shown for what it changes.
_COMMON = 5
#: Words of a topic, and words that it goes with.
_WORDS = 10
#: Of topics.csv, as metrics.json calls them: predictions with little and much of the topic, their
#: difference, this difference in held-out documents with its interval, the topic's part of an
#: average document, and at both ends.
_TOPIC_COLUMNS = (
    *("topic", "class", "low", "high", "change", "estimate", "lower", "upper"),
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


def find_effects(
    model: Any, counts: Any, columns: Columns, jobs: int | None, held_out: Any = None
) -> Effects:
    """Effects in these documents; `held_out` are their targets if they had no part in the fit."""
    fitted = model.fitted_
    documents = fitted.documents(counts, held_out, **columns.for_predict())
    documents = replace(documents, weight=columns.weight)
    mixes = fitted.mixes(documents.corpus, jobs)
    return Effects(
        topic_effects(
            fitted,
            documents,
            None if held_out is None else documents,
            mixes=mixes,
            n_jobs=jobs,
        ),
        word_effects(fitted, documents, mixes=mixes, n_jobs=jobs),
        fitted.token_proportions(documents.corpus, mixes, jobs),
    )


def topic_rows(
    model: Any, words: Any, found: Effects, positive: Any = None
) -> list[dict[str, Any]]:
    """One record per topic, from the largest positive change of the target to the most negative.

    "low" and "high" are the predictions for a typical document whose proportion of the topic is at
    its 10th and its 90th percentile (`effect_scale`), "change" is their difference; "estimate" is
    the difference in held-out documents, with the interval from "lower" to "upper", if there are
    any. All are numbers, or probabilities of "class", which is the positive one of two classes, and
    else the one with the largest change ("changes" has all). "share" is the topic's proportion of
    the relevant tokens of an average document. Models that select words also have "context", the
    dropped words that occur with the topic.
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
    names = ("low", "high", "change", "estimate", "lower", "upper")
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
            "estimate": -row["estimate"],
            "lower": -row["upper"],
            "upper": -row["lower"],
        }
    return {"class": shown, **row, **shares}, (0, -row["change"])


def effect_scale(model: Any, found: Effects) -> dict[str, Any]:
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
    """Topics as columns of topics.csv, in the order of `topic_rows`; words as `joined` has them."""
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


def covariate_rows(model: Any, names: tuple[str, ...]) -> list[dict[str, Any]]:
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


def word_rows(
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
