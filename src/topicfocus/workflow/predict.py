"""Predict: a fitted model on documents of a file, in blocks, which may be larger than memory."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from topicfocus.families import target_kind
from topicfocus.metrics.baselines import Predicted
from topicfocus.text import ReadError
from topicfocus.workflow.columns import NO_COLUMNS, Columns
from topicfocus.workflow.gaps import Gaps
from topicfocus.workflow.models import Saved, as_saved
from topicfocus.workflow.options import ReadOptions
from topicfocus.workflow.read import Paths, open_new
from topicfocus.workflow.remarks import Listener, Remarks, as_remarks
from topicfocus.workflow.tables import cells, plain

#: Share of the targets that the intervals of predictions are to contain.
COVERAGE = 0.8
#: Below it a float is a whole number that an integer can be.
_WHOLE = 2.0**53
#: Rows that are made strings at a time.
_ROWS = 1 << 14
#: Columns of a table, by name, all of the same length.
Table = dict[str, Any]


def predict(model: Any, counts: Any, columns: Columns = NO_COLUMNS) -> Predicted:
    """Predictions with what a model knows of their uncertainty."""
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
        if target_kind(family) == "count" and np.all(high < _WHOLE):
            low, high = low.astype(np.int64), high.astype(np.int64)
        out["low"], out["high"] = low, high
    if predicted.probabilities is not None:
        labels = model.classes_ if hasattr(model, "classes_") else model.levels_
        for c, label in enumerate(labels):
            text = f"{label:g}" if isinstance(label, (float, np.floating)) else str(label)
            out[f"probability_{text}"] = predicted.probabilities[:, c]
    return out


def predict_blocks(
    model: Saved | str | os.PathLike[str],
    path: Paths,
    *,
    text: str | None = None,
    covariates: Sequence[str] = (),
    exposure: str | None = None,
    reading: ReadOptions = ReadOptions(),  # noqa: B008 - frozen
    jobs: int | None = None,
    remarks: Listener = None,
) -> Iterator[Table]:
    """Predict every row of a file, block by block: the file may be larger than memory.

    The model is loaded and the file opened at once, so that mistakes are told before the first
    block is asked for.

    Parameters
    ----------
    model, path, text, covariates, exposure, reading, jobs, remarks
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
    saved = as_saved(model, jobs)
    names, table = open_new(
        path, saved, text=text, covariates=covariates, exposure=exposure, reading=reading
    )
    estimator, counter, said = saved.estimator, saved.counter, as_remarks(remarks)
    if hasattr(table, "corpus"):
        counts = same_columns(table.corpus, counter, estimator)
        rows = np.arange(1, counts.shape[0] + 1)
        found = _table(estimator, {"row": rows}, counts, NO_COLUMNS)
        _say_few(estimator, [found["relevant_words"]], said)
        return iter([found])
    if counter is None:
        raise ReadError(
            f"{saved.path} has no vocabulary of its own, so it cannot read texts. Give it a count "
            "matrix with the columns it was fitted to."
        )

    def blocks() -> Iterator[Table]:
        known, gaps = [], Gaps(names)
        for block in table:
            columns = Columns.read(names, block)
            gaps.add(columns)
            rows = {"row": block.rows}
            if len(table.files) > 1:
                rows = {"file": np.full(len(block), block.path, dtype=object), **rows}
            found = _table(estimator, rows, counter.transform(block.strings), columns)
            known.append(found["relevant_words"])
            yield found
        _say_few(estimator, known, said)
        gaps.say("the median of the fit stands there", said)
        if table.n_skipped:
            said.say(f"{table.n_skipped} unreadable rows were left out: {table.skipped[0]} ...")

    return blocks()


def predict_file(
    model: Saved | str | os.PathLike[str],
    path: Paths,
    *,
    text: str | None = None,
    covariates: Sequence[str] = (),
    exposure: str | None = None,
    reading: ReadOptions = ReadOptions(),  # noqa: B008 - frozen
    jobs: int | None = None,
    remarks: Listener = None,
) -> Table:
    """Predict every row of a file: what ``topicfocus predict MODEL FILE`` prints, as arrays.

    Parameters
    ----------
    model : path-like or Saved
        A model file, a folder of `fit_file`, or what `load_model` has loaded.
    path : path-like
        As for `fit_file`; "-" is standard input.
    text : str, optional
        Column of the texts; by default as in the fit.
    covariates : sequence of str, optional
        Columns of the covariates in the order of the fit; by default as in the fit.
    exposure : str, optional
        Column of the exposure; by default as in the fit.
    reading : ReadOptions, optional
    jobs : int, optional
        Threads; all cores by default.
    remarks : callable, optional
        Called with remarks, such as on rows that were left out.

    Returns
    -------
    dict of arrays
        "row", "prediction"; of numbers "std", "low" and "high" (an 80% interval), of classes
        "probability_LABEL" for each; "relevant_words", different words that the topics contain;
        before them "file", where there are several.

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
    [4.5, 8.9, 9.6]
    """
    blocks = predict_blocks(
        model,
        path,
        text=text,
        covariates=covariates,
        exposure=exposure,
        reading=reading,
        jobs=jobs,
        remarks=remarks,
    )
    tables = list(blocks)
    return {name: np.concatenate([table[name] for table in tables]) for name in tables[0]}


def _table(model: Any, rows: Table, counts: Any, columns: Columns) -> Table:
    shown = prediction_columns(model, predict(model, counts, columns))
    return {**rows, **shown, "relevant_words": model.relevant_words(counts)}


def _say_few(model: Any, known: list[np.ndarray], remarks: Remarks) -> None:
    """Predictions that say little, since the model knows hardly a word of the document."""
    few = sum(int(np.sum(words < model.FEW_WORDS)) for words in known)
    if few:
        n = sum(map(len, known))
        remarks.say(
            f"{few:,} of {n:,} documents have fewer than {model.FEW_WORDS} words that the topics "
            "contain (relevant_words): their predictions are near that of a document without words."
        )


def same_columns(corpus: Any, counter: Any, model: Any) -> Any:
    """A count matrix with its columns put where the model has these words; others are left out."""
    if counter is None:
        return corpus.counts
    place = counter.vocabulary_
    columns = np.array([place.get(str(word), -1) for word in corpus.vocabulary])
    known = np.flatnonzero(columns >= 0)
    moved = sparse.csr_array(
        (np.ones(len(known)), (known, columns[known])), shape=(len(columns), model.n_features_in_)
    )
    return sparse.csr_array(corpus.counts @ moved)


# ---- writing ----------------------------------------------------------------------------------


def write_tables(tables: Iterable[Table], stream: Any, *, as_json: bool = False) -> int:
    """Tables one below the other as CSV, or as lines of JSON; returns the number of rows."""
    n = 0
    for table in tables:
        (write_json_lines if as_json else write_csv)(table, stream, header=n == 0)
        n += len(table["row"])
    return n


def write_csv(table: Table, stream: Any, *, header: bool = True) -> None:
    """Numbers with six digits, empty where nothing is known."""
    writer = csv.writer(stream, lineterminator="\n")
    if header:
        writer.writerow(table)
    n = len(next(iter(table.values()), ()))
    for first in range(0, n, _ROWS):  # strings of all rows would take more room than the numbers
        block = (cells(column[first : first + _ROWS]) for column in table.values())
        writer.writerows(zip(*block, strict=True))


def write_json_lines(table: Table, stream: Any, *, header: bool = True) -> None:
    """One object a row, which needs no header."""
    names = list(table)
    for values in zip(*(plain(np.asarray(c)) for c in table.values()), strict=True):
        line = json.dumps(dict(zip(names, values, strict=True)), ensure_ascii=False)
        stream.write(line + "\n")
