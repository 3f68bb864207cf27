"""Predict the documents of a file or a DataFrame, block by block, and explain one text."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from topicfocus.config import ExplainConfig, PredictConfig, SettingError, setting
from topicfocus.metrics.baselines import Predicted
from topicfocus.persistence import plain
from topicfocus.text import ReadError
from topicfocus.text.codes import joined
from topicfocus.workflow.columns import (
    NO_COLUMNS,
    Columns,
    log_missing,
    shown_components,
    value_of_one,
)
from topicfocus.workflow.html import explanation_html
from topicfocus.workflow.read import Paths, open_new
from topicfocus.workflow.saved import Saved, as_saved

log = logging.getLogger(__name__)

#: Share of the targets that the intervals of predictions are to contain.
COVERAGE = 0.8
#: Words of a document with the largest contributions, in a table.
_STRONGEST = 5
#: What the linear predictor of a number is, by its coding.
_SUBJECTS = {"gaussian": "target", "poisson": "log of the expected count"}
#: Below it a float is a whole number that an integer can be.
_WHOLE = 2.0**53


def predict(model: Any, counts: Any, columns: Columns = NO_COLUMNS) -> Predicted:
    """Predictions with their uncertainty."""
    name, more = type(model).__name__, columns.for_predict()
    if hasattr(model, "classes_"):
        p = model.predict_proba(counts, **more)
        return Predicted(name, model.classes_[np.argmax(p, axis=1)], p)
    fitted = model.fitted_
    predictor, spread = fitted.outlook(fitted.documents(counts, **more), model.n_jobs)
    mean = fitted.mean(predictor)[:, 0]
    std = np.sqrt(fitted.variance(predictor, spread)[:, 0])
    levels = fitted.parts[0].probabilities(predictor) if fitted.levels is not None else None
    return Predicted(name, mean, levels, std, np.column_stack([predictor, spread]))


def interval(
    model: Any, predicted: Predicted, coverage: float = COVERAGE
) -> tuple[np.ndarray, np.ndarray]:
    """Where the targets of a number are expected, within what it can be."""
    assert predicted.linear is not None
    predictor, spread = predicted.linear[:, :1], predicted.linear[:, 1:]
    fitted = model.fitted_
    low, high = fitted.intervals(predictor, spread, coverage)
    return low[:, 0], high[:, 0]


#: Columns of a table by name, all of the same length.
Table = dict[str, Any]


def prediction_columns(model: Any, predicted: Predicted) -> Table:
    """Predictions as columns of a table; "low" and "high" are an 80% interval of the target.

    Of counts they are whole numbers, and no digit of them is rounded away in a file.
    """
    out: Table = {"prediction": predicted.values}
    if predicted.std is not None:
        out["std"] = predicted.std
        low, high = interval(model, predicted)
        family = model.fitted_.parts[0].family
        if family.kind == "count" and np.all(high < _WHOLE):
            low, high = low.astype(np.int64), high.astype(np.int64)
        out["low"], out["high"] = low, high
    if predicted.probabilities is not None:
        labels = model.classes_ if hasattr(model, "classes_") else model.levels_
        for c, label in enumerate(labels):
            text = f"{label:g}" if isinstance(label, (float, np.floating)) else str(label)
            out[f"probability_{text}"] = predicted.probabilities[:, c]
    return out


def predict_blocks(
    model: Saved | str | os.PathLike[str], file: Paths, **settings: Any
) -> Iterator[pd.DataFrame]:
    """Predict every row of a file, block by block: the file may be larger than memory.

    The model is loaded and the file opened at once, so that mistakes are found before the first
    block is read.

    Parameters
    ----------
    model, file, **settings
        As for `predict_file`.

    Returns
    -------
    iterator of pandas.DataFrame
        With the columns of `predict_file`.

    Raises
    ------
    ReadError
        If the model has no vocabulary and is given texts.

    Examples
    --------
    With the folder that the example of `fit_file` has written:

    >>> from topicfocus.workflow import predict_blocks
    >>> blocks = predict_blocks("reviews-topics", "reviews.csv")
    >>> sum(len(block["prediction"]) for block in blocks)
    120
    """
    return run_predict(PredictConfig(model=model, file=file, **settings))  # type: ignore[arg-type]


def run_predict(config: PredictConfig, frame: Any = None) -> Iterator[pd.DataFrame]:
    """Predictions with these settings, block by block; of a DataFrame if one is given."""
    saved = as_saved(config.model, config.jobs)
    names, table = open_new(config, saved, frame)
    estimator, counter = saved.estimator, saved.counter
    if hasattr(table, "corpus"):
        counts = same_columns(table.corpus, counter, estimator)
        rows = np.arange(1, counts.shape[0] + 1)
        found = _table(saved, {"row": rows}, counts, NO_COLUMNS, config.topics)
        _say_few(estimator, [found["relevant_words"]])
        return iter([found])
    if counter is None:
        raise ReadError(
            f"{saved.path} has no vocabulary of its own, so it cannot read texts. Give it a count "
            "matrix with the columns it was fitted to."
        )

    def blocks() -> Iterator[pd.DataFrame]:
        known, missing = [], np.zeros(len(names.covariates), dtype=int)
        for block in table:
            columns = Columns.read(names, block)
            if columns.covariates is not None:
                missing += np.isnan(columns.covariates).sum(axis=0)
            rows = {"row": block.rows}
            if len(table.files) > 1:
                rows = {"file": np.full(len(block), block.path, dtype=object), **rows}
            counts = counter.transform(block.texts)
            found = _table(saved, rows, counts, columns, config.topics)
            known.append(found["relevant_words"])
            yield found
        _say_few(estimator, known)
        replaced = ["replaced by the median of the training set"] * len(missing)
        log_missing(names.covariates, missing, sum(map(len, known)), replaced)
        if table.n_skipped:
            log.info(f"{table.n_skipped} unreadable rows were left out: {table.skipped[0]} ...")

    return blocks()


def predict_file(model: Saved | str | os.PathLike[str], file: Any, **settings: Any) -> pd.DataFrame:
    """Predict every row of a file or DataFrame: what ``topicfocus predict MODEL FILE`` prints.

    Parameters
    ----------
    model : path-like or Saved
        A model file, a folder of `fit_file`, or what `load_model` has loaded.
    file : path-like, DataFrame, or list or Series of texts
        As for `topicfocus.fit`; "-" is standard input.
    **settings
        Fields of `PredictConfig`, such as ``text``, ``covariates``, ``topics`` or ``skip_bad``.

    Returns
    -------
    pandas.DataFrame
        "row" (of a DataFrame or Series, its index instead), "prediction"; for numbers "std", "low"
        and "high" (an 80% interval), for classes "probability_LABEL" for each; "relevant_words",
        the number of different words that the topics contain; before them "file", if there are
        several. With ``topics``, the proportion of each topic and the strongest words.

    Raises
    ------
    ReadError
        If the file cannot be read, or lacks a column that the model needs.
    SettingError
        If the settings do not fit the model.

    Examples
    --------
    With the folder that the example of `fit_file` has written:

    >>> from topicfocus.workflow import predict_file
    >>> table = predict_file("reviews-topics", "reviews.csv")
    >>> list(table)
    ['row', 'prediction', 'std', 'low', 'high', 'relevant_words']
    >>> len(table)
    120
    """
    saved = as_saved(model, settings.get("jobs"))
    named = settings.get("text") or saved.columns.get("text") or "text"
    if isinstance(file, (str, os.PathLike)):
        return pd.concat(predict_blocks(saved, file, **settings), ignore_index=True)
    frame = file if isinstance(file, pd.DataFrame) else as_frame({named: file})
    config = PredictConfig(model=saved, **{**settings, "text": named})
    table = pd.concat(run_predict(config, frame), ignore_index=True)
    return table.set_index(frame.index[table.pop("row") - 1])


def as_frame(columns: dict[str, Any]) -> pd.DataFrame:
    """Texts, and other columns, as a DataFrame with the index of the texts, if they have one."""
    texts = next(iter(columns.values()))
    index = texts.index if isinstance(texts, pd.Series) else None
    # Python's own values, where NumPy and pandas have their own.
    values = {
        name: column.tolist() if hasattr(column, "tolist") else list(column)
        for name, column in columns.items()
    }
    return pd.DataFrame(values, index=index, dtype=object)


def _table(
    saved: Saved, rows: Table, counts: Any, columns: Columns, with_topics: bool
) -> pd.DataFrame:
    model = saved.estimator
    shown = prediction_columns(model, predict(model, counts, columns))
    table = {**rows, **shown, "relevant_words": model.relevant_words(counts)}
    if with_topics:
        table |= _topic_columns(saved, counts, columns)
    return pd.DataFrame(table)


def _topic_columns(saved: Saved, counts: Any, columns: Columns) -> Table:
    """The proportion of each topic, as topics are numbered, and the strongest words of each row."""
    model = saved.estimator
    proportions = model.transform(counts)
    out = {
        f"topic_{number}": proportions[:, k]
        for number, k in enumerate(shown_components(model), start=1)
    }
    names = None if saved.counter is None else saved.counter.get_feature_names_out()
    found = model.explain(counts, vocabulary=names, **columns.for_predict())
    out["top_words"] = [
        joined(word for word, amount in found.top_words(i)[:_STRONGEST] if amount)
        for i in range(len(found))
    ]
    return out


def _say_few(model: Any, known: list[np.ndarray]) -> None:
    """Log how many documents have hardly a word that the topics contain."""
    few = sum(int(np.sum(words < model.FEW_WORDS)) for words in known)
    if few:
        n = sum(map(len, known))
        log.info(
            f"{few:,} of {n:,} documents have fewer than {model.FEW_WORDS} words that the topics "
            "contain (relevant_words): their topics are uncertain."
        )


def same_columns(corpus: Any, counter: Any, model: Any) -> Any:
    """A count matrix with the columns of the model, in its order."""
    if counter is None:
        return corpus.counts
    place = counter.vocabulary_
    columns = np.array([place.get(str(word), -1) for word in corpus.vocabulary])
    known = np.flatnonzero(columns >= 0)
    moved = sparse.csr_array(
        (np.ones(len(known)), (known, columns[known])), shape=(len(columns), model.n_features_in_)
    )
    return sparse.csr_array(corpus.counts @ moved)


# ---- one text ------------------------------------------------------------------------------------


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
    '5.5 stars without words, 5.8 with them'
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
    np.add.at(own, targets.covariates.indicated, more)
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
