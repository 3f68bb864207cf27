"""Models from files: predict the documents of a file, and explain a text."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from topicfocus.config import ExplainConfig, PredictConfig, SettingError, setting
from topicfocus.metrics.baselines import Predicted
from topicfocus.text import ReadError
from topicfocus.text.errors import nearest
from topicfocus.workflow.columns import (
    NO_COLUMNS,
    Columns,
    MissingCovariates,
    remembered,
    value_of_one,
)
from topicfocus.workflow.read import Paths, open_new
from topicfocus.workflow.write import METRICS_FILE, MODEL_FILE, Table, plain

log = logging.getLogger(__name__)

# ---- saved models ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Saved:
    """A model from a file: whole, in its two parts, and the settings of its fit where known.

    Attributes
    ----------
    path : str
        Where it was asked for.
    whole : Pipeline or estimator
    counter : TokenCounter, CountVectorizer or None
    estimator : estimator of topicfocus
    settings : dict
        Of the fit, from metrics.json beside the file; of a file alone the columns of text and
        target.
    """

    path: str
    whole: Any
    counter: Any
    estimator: Any
    settings: dict[str, Any]


def load_model(
    path: str | os.PathLike[str], *, jobs: int | None = None, tokenizer: Any = None
) -> Saved:
    """Load the model of a file, or of a folder that `fit_file` has written.

    Parameters
    ----------
    path : path-like
        A model file, also one saved from Python (a model, or a pipeline of a vectoriser and a
        model), or a folder.
    jobs : int, optional
        Threads; all cores by default.
    tokenizer : callable, optional
        The function that the model was fitted with, of which its file has the name only.

    Returns
    -------
    Saved

    Raises
    ------
    FileNotFoundError
        If there is no such file, or no model in the folder.
    ModelFileError
        If it is no model file, or a damaged one.
    ValueError
        If its model predicts no target, or several.

    Examples
    --------
    With the folder that the example of `fit_file` has written:

    >>> from topicfocus.workflow import load_model
    >>> saved = load_model("reviews-topics")
    >>> saved.estimator.top_words(3, saved.counter.get_feature_names_out())
    [['masterpiece', 'brilliant', 'enjoyable'], ['awful', 'worst', 'terrible']]
    >>> saved.whole.predict(["a superb masterpiece"]).shape
    (1,)
    """
    import topicfocus

    place, path = Path(path), str(path)
    if not place.exists():
        names = [p.name for p in place.parent.iterdir()] if place.parent.is_dir() else []
        raise FileNotFoundError(
            f"there is no model {path}.{nearest(place.name, names)} Name a model file, or the "
            "folder that a fit has written."
        )
    if place.is_dir():
        place = place / MODEL_FILE
        if not place.is_file():
            raise FileNotFoundError(
                f"{path} has no {MODEL_FILE}, so it is not a folder that a fit has written."
            )
    model = topicfocus.load(place, tokenizer=tokenizer)
    counter, estimator = None, model
    if hasattr(model, "steps"):
        if len(model.steps) != 2:
            raise ValueError(f"{path}: a pipeline of a vectoriser and a model is needed.")
        counter, estimator = model[0], model[1]
        if hasattr(counter, "n_jobs"):
            counter.n_jobs = jobs
    if not hasattr(estimator, "predict"):
        raise ValueError(f"{path} holds a {type(estimator).__name__}, which predicts no target.")
    if estimator.fitted_.target_model.n_targets > 1:
        raise ValueError(
            f"{path} was fitted with several targets, which is for Python: topicfocus.load."
        )
    estimator.n_jobs = jobs
    settings = {**remembered(estimator), **_settings_beside(place)}
    return Saved(path, model, counter, estimator, settings)


def model_files(model: Saved | str | os.PathLike[str]) -> tuple[Path, ...]:
    """Files that a model is read from."""
    place = Path(model.path if isinstance(model, Saved) else model)
    if not place.is_dir():
        return (place,)
    return (place / MODEL_FILE, place / METRICS_FILE)


def as_saved(model: Saved | str | os.PathLike[str], jobs: int | None) -> Saved:
    """The model itself if it is loaded, else loaded now."""
    return model if isinstance(model, Saved) else load_model(model, jobs=jobs)


def _settings_beside(place: Path) -> dict[str, Any]:
    """Settings of the fit from metrics.json in the folder of a model; none without that file."""
    try:
        content = json.loads((place.parent / METRICS_FILE).read_text(encoding="utf-8"))
        settings = content["settings"]
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    return settings if isinstance(settings, dict) else {}


# ---- predictions ---------------------------------------------------------------------------------


#: Share of the targets that the intervals of predictions are to contain.
COVERAGE = 0.8
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
    targets, family = fitted.target_model, fitted.state.family
    mean = targets.mean(family, predictor)[:, 0]
    std = np.sqrt(targets.variance(family, predictor, spread)[:, 0])
    levels = targets.probabilities(family, predictor)[0] if fitted.levels is not None else None
    return Predicted(name, mean, levels, std, np.column_stack([predictor, spread]))


def interval(
    model: Any, predicted: Predicted, coverage: float = COVERAGE
) -> tuple[np.ndarray, np.ndarray]:
    """Where the targets of a number are expected, within what it can be."""
    assert predicted.linear is not None
    predictor, spread = predicted.linear[:, :1], predicted.linear[:, 1:]
    fitted = model.fitted_
    low, high = fitted.target_model.intervals(fitted.state.family, predictor, spread, coverage)
    return low[:, 0], high[:, 0]


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
) -> Iterator[Table]:
    """Predict every row of a file, block by block: the file may be larger than memory.

    The model is loaded and the file opened at once, so that mistakes are found before the first
    block is read.

    Parameters
    ----------
    model, file, **settings
        As for `predict_file`.

    Returns
    -------
    iterator of dict of arrays
        Tables with the columns of `predict_file`.

    Raises
    ------
    ReadError
        If the model has no vocabulary and is given texts.

    Examples
    --------
    With the folder that the example of `fit_file` has written:

    >>> from topicfocus.workflow import predict_blocks
    >>> for block in predict_blocks("reviews-topics", "reviews.csv"):
    ...     print(len(block["prediction"]), "predictions")
    120 predictions
    """
    return run_predict(PredictConfig(model=model, file=file, **settings))  # type: ignore[arg-type]


def run_predict(config: PredictConfig) -> Iterator[Table]:
    """Predictions with these settings, block by block."""
    saved = as_saved(config.model, config.jobs)
    names, table = open_new(
        config.file,
        saved,
        text=config.text,
        covariates=config.covariates,
        exposure=config.exposure,
        reading=config.reading,
    )
    estimator, counter = saved.estimator, saved.counter
    if hasattr(table, "corpus"):
        counts = same_columns(table.corpus, counter, estimator)
        rows = np.arange(1, counts.shape[0] + 1)
        found = _table(estimator, {"row": rows}, counts, NO_COLUMNS)
        _say_few(estimator, [found["relevant_words"]])
        return iter([found])
    if counter is None:
        raise ReadError(
            f"{saved.path} has no vocabulary of its own, so it cannot read texts. Give it a count "
            "matrix with the columns it was fitted to."
        )

    def blocks() -> Iterator[Table]:
        known, missing = [], MissingCovariates(names)
        for block in table:
            columns = Columns.read(names, block)
            missing.add(columns)
            rows = {"row": block.rows}
            if len(table.files) > 1:
                rows = {"file": np.full(len(block), block.path, dtype=object), **rows}
            found = _table(estimator, rows, counter.transform(block.texts), columns)
            known.append(found["relevant_words"])
            yield found
        _say_few(estimator, known)
        missing.report("replaced by the median of the training set")
        if table.n_skipped:
            log.info(f"{table.n_skipped} unreadable rows were left out: {table.skipped[0]} ...")

    return blocks()


def predict_file(model: Saved | str | os.PathLike[str], file: Paths, **settings: Any) -> Table:
    """Predict every row of a file: what ``topicfocus predict MODEL FILE`` prints, as arrays.

    Parameters
    ----------
    model : path-like or Saved
        A model file, a folder of `fit_file`, or what `load_model` has loaded.
    file : path-like
        As for `fit_file`; "-" is standard input.
    **settings
        Fields of `PredictConfig`, such as ``text``, ``covariates`` or ``skip_bad``.

    Returns
    -------
    dict of arrays
        "row", "prediction"; for numbers "std", "low" and "high" (an 80% interval), for classes
        "probability_LABEL" for each; "relevant_words", the number of different words that the
        topics contain; before them "file", if there are several.

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
    >>> table["prediction"][:3].round(1).tolist()
    [4.6, 8.9, 9.6]
    """
    tables = list(predict_blocks(model, file, **settings))
    return {name: np.concatenate([table[name] for table in tables]) for name in tables[0]}


def _table(model: Any, rows: Table, counts: Any, columns: Columns) -> Table:
    shown = prediction_columns(model, predict(model, counts, columns))
    return {**rows, **shown, "relevant_words": model.relevant_words(counts)}


def _say_few(model: Any, known: list[np.ndarray]) -> None:
    """Log how many documents have hardly a word that the topics contain."""
    few = sum(int(np.sum(words < model.FEW_WORDS)) for words in known)
    if few:
        n = sum(map(len, known))
        log.info(
            f"{few:,} of {n:,} documents have fewer than {model.FEW_WORDS} words that the topics "
            "contain (relevant_words): their predictions are near that of a document without words."
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


# ---- explanations --------------------------------------------------------------------------------


#: What the linear predictor of a number is, by its coding.
_SUBJECTS = {"gaussian": "target", "poisson": "log of the expected count"}


def explain_text(
    model: Saved | str | os.PathLike[str], text: str, **settings: Any
) -> dict[str, Any]:
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
    dict
        "text", "prediction", "explained" (what the amounts add up to), "total", "base",
        "remainder" (what all words and pairs add beyond the topics: "amount" and, by "terms", its
        parts; None without a remainder),
        "before" and "after" (the expected target, or the probability of the class, without words
        and with them), "probability" (whether they are probabilities), "relevant_words" (different
        words of the text that topics contain), "few_words" (whether these are too few to say
        much), "covariates", "words", "topics", and "spans": what each place of the text adds.

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
    return plain(_explained(saved.counter, saved.estimator, text, config.label, columns))


def _explained(counter: Any, model: Any, text: str, label: Any, columns: Columns) -> dict[str, Any]:
    counts = counter.transform([text])
    explanation = model.explain(counts, **columns.for_predict())
    predicted = predict(model, counts, columns)
    l, subject = _predictor(model, predicted, None if label is None else str(label))
    amounts = explanation.words[l][[0]].tocoo()
    vocabulary = counter.get_feature_names_out()
    words = {str(vocabulary[v]): float(a) for v, a in zip(amounts.col, amounts.data, strict=True)}
    topics = explanation.topics[l][[0]].toarray()[0]
    average = explanation.average[l][0]
    of_covariates = _with_missing(explanation.covariates[l][0] - average, model)
    values = None if columns.covariates is None else columns.covariates[0]
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
        "base": explanation.base[0, l] + average.sum(),
        "covariates": []
        if values is None
        else [
            {"name": name, "value": values[j], "amount": of_covariates[j]}
            for j, name in enumerate(columns.names.covariates)
        ],
        "words": dict(sorted(words.items(), key=lambda item: -abs(item[1]))),
        "topics": [
            {"topic": k, "amount": amount, "words": top}
            for k, (amount, top) in enumerate(
                zip(topics, model.top_words(5, vocabulary), strict=True)
            )
        ],
        "remainder": None
        if not explanation.remainder
        else {
            "amount": explanation.remainder_amounts(l)[0],
            "terms": dict(explanation.top_terms(0, l)),
        },
        "spans": _spans(counter, text, words),
    }


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
