"""Explain the prediction of one text by its words, topics and covariates."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from topicfocus.config import ExplainConfig, SettingError, setting
from topicfocus.workflow.columns import Columns, shown_components, value_of_one
from topicfocus.workflow.html import explanation_html
from topicfocus.workflow.predict import predict, prediction_columns
from topicfocus.workflow.saved import Saved, as_saved
from topicfocus.workflow.write import plain

#: What the linear predictor of a number is, by its coding.
_SUBJECTS = {"gaussian": "target", "poisson": "log of the expected count"}


class TextExplanation(dict):
    """What `explain_text` returns; in a notebook it shows the text with its words coloured."""

    def _repr_html_(self) -> str:
        return explanation_html(self)


def explain_text(
    model: Saved | str | os.PathLike[str], text: str, **settings: Any
) -> TextExplanation:
    """Predict one text, and what its words and topics add: ``topicfocus explain --json``.

    The amounts add up to the prediction exactly (to its log odds or logarithm, where it has one). A
    covariate adds what its distance from the mean of the training part does; so ``base`` is that
    of a text without words and with average covariates.

    Parameters
    ----------
    model : path-like or Saved
        A model file, a folder of `fit_file`, or what `load_model` has loaded.
    text : str
    **settings
        Fields of `ExplainConfig`: ``label``, ``covariates``, ``exposure``, ``jobs``.

    Returns
    -------
    TextExplanation
        A dict: "text", "prediction", "explained" (what the amounts add up to), "total", "base",
        "remainder" (what all words and pairs add beyond the topics: "amount" and, by "terms", its
        parts; None without a remainder),
        "before" and "after" (the expected target, or the probability of the class, without words
        and with them), "probability" (whether they are probabilities), "relevant_words" (different
        words of the text that topics contain), "few_words" (whether these are too few to say
        much), "dropped_words" (known words that no topic contains), "covariates", "words",
        "topics" (numbered as the fit shows them), and "spans": what each place of the text adds.

    Raises
    ------
    SettingError
        If the covariates or the label are not those of the model, or there is no text.
    ValueError
        If the model has no vocabulary, as one of a count matrix.

    Examples
    --------
    With the folder that the example of `fit_file` has written:

    >>> from topicfocus.workflow import explain_text
    >>> found = explain_text("reviews-topics", "a superb film")
    >>> {word: round(amount, 1) for word, amount in found["words"].items()}
    {'superb': 0.5}
    >>> f"{found['before']:.1f} stars without words, {found['after']:.1f} with them"
    '5.5 stars without words, 6.0 with them'
    """
    config = ExplainConfig(model=model, text=text, **settings)
    if not text.strip():
        raise SettingError(f"there is no text to explain: {setting('text')}.")
    saved = as_saved(model, config.jobs)
    if saved.counter is None:
        raise ValueError(f"{saved.path} has no vocabulary, so it cannot read texts.")
    columns = value_of_one(saved.estimator, config.covariates or {}, config.exposure, saved.path)
    found = _explained(saved.counter, saved.estimator, text, config.label, columns)
    return TextExplanation(plain(found))


def _explained(counter: Any, model: Any, text: str, label: Any, columns: Columns) -> dict[str, Any]:
    counts = counter.transform([text])
    explanation = model.explain(counts, **columns.for_predict())
    predicted = predict(model, counts, columns)
    l, subject = _predictor(model, predicted, None if label is None else str(label))
    vocabulary = counter.get_feature_names_out()
    words = _word_amounts(explanation.words[l][[0]], vocabulary)
    average = explanation.average[l][0]
    shown = prediction_columns(model, predicted)
    return {
        "text": text,
        "prediction": {name: value[0] for name, value in shown.items()},
        "explained": subject,
        "total": explanation.predictor[0, l],
        "before": explanation.before[0, l],
        "after": explanation.after[0, l],
        "probability": model.fitted_.parts[0].coding.is_class,
        "relevant_words": explanation.relevant[0],
        "few_words": explanation.relevant[0] < model.FEW_WORDS,
        "dropped_words": _dropped(model, counts, vocabulary),
        "base": explanation.base[0, l] + average.sum(),
        "covariates": _covariates(explanation.covariates[l][0] - average, model, columns),
        "words": words,
        "remainder": _remainder(explanation, l),
        "topics": _topics(explanation.topics[l][[0]].toarray()[0], model, vocabulary),
        "spans": _spans(counter, text, words),
    }


def _word_amounts(row: Any, vocabulary: np.ndarray) -> dict[str, float]:
    """What each word adds, the largest amount first."""
    row = row.tocoo()
    words = {str(vocabulary[v]): float(a) for v, a in zip(row.col, row.data, strict=True)}
    return dict(sorted(words.items(), key=lambda item: -abs(item[1])))


def _remainder(explanation: Any, l: int) -> dict[str, Any] | None:
    if not explanation.remainder:
        return None
    terms = dict(explanation.top_terms(0, l))
    return {"amount": explanation.remainder_amounts(l)[0], "terms": terms}


def _dropped(model: Any, counts: Any, vocabulary: np.ndarray) -> list[str]:
    """Words of the text that are in the vocabulary but in no topic."""
    if not hasattr(model, "selected_words_"):
        return []
    return [str(vocabulary[v]) for v in counts.indices if not model.selected_words_[v]]


def _topics(amounts: np.ndarray, model: Any, vocabulary: np.ndarray) -> list[dict[str, Any]]:
    top, names = model.top_words(5, vocabulary), getattr(model, "topic_names_", None) or []
    return [
        {"topic": number, "component": k, "amount": amounts[k], "words": top[k]}
        | ({"name": names[k]} if any(names) else {})
        for number, k in enumerate(shown_components(model), start=1)
    ]


def _covariates(amounts: np.ndarray, model: Any, columns: Columns) -> list[dict[str, Any]]:
    if columns.covariates is None:
        return []
    rows = zip(
        columns.names.covariates, columns.covariates[0], _with_missing(amounts, model), strict=True
    )
    return [{"name": name, "value": value, "amount": amount} for name, value, amount in rows]


def _with_missing(amounts: np.ndarray, model: Any) -> np.ndarray:
    """What each covariate adds; that it is not known is part of it."""
    targets = model.fitted_.target_model
    own, more = np.split(amounts, [targets.n_covariates])
    if targets.imputation is not None:
        np.add.at(own, targets.imputation.indicated, more)
    return own


def _predictor(model: Any, predicted: Any, label: str | None) -> tuple[int, str]:
    """Which linear predictor is explained, and what it is."""
    coding, option = model.fitted_.parts[0].coding, setting("label")
    if not coding.is_class:
        if label is not None:
            raise SettingError(f"{option} is for models of classes.")
        return 0, _SUBJECTS.get(coding.kind, "position on the scale of the levels")
    labels = [str(c) for c in model.classes_]
    if label is not None and label not in labels:
        raise SettingError(f"{setting('label', label)}: the classes are {', '.join(labels)}.")
    if len(labels) == 2:
        if label == labels[0]:
            raise SettingError(
                f"of two classes the second, {labels[1]}, is explained; what adds to it takes "
                f"from {labels[0]}."
            )
        return 0, f"log odds of {labels[1]}"
    chosen = label if label is not None else str(predicted.values[0])
    return labels.index(chosen), f"log odds of {chosen} against the others"


def _spans(counter: Any, text: str, words: dict[str, float]) -> list[dict[str, Any]]:
    """Places of words that add something, each with its share of what the word adds in all."""
    if not hasattr(counter, "spans"):
        return []
    found = [(a, b, word) for a, b, word in counter.spans(text) if word in words]
    times: dict[str, int] = {}
    for _, _, word in found:
        times[word] = times.get(word, 0) + 1
    return [
        {"start": a, "stop": b, "word": word, "amount": words[word] / times[word]}
        for a, b, word in found
    ]
