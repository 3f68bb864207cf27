"""`topicfocus predict`: a saved model on new texts, in blocks."""

from __future__ import annotations

import argparse
import csv
import io
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from topicfocus.cli.console import Remarks, one_line_warnings, plain


def run(args: argparse.Namespace) -> int:
    """Predict every row of FILE."""
    remarks = Remarks(args.quiet)
    with one_line_warnings(remarks):
        from topicfocus.cli.models import load_model

        saved = load_model(args.model, args.jobs)
        blocks = new_documents(args, saved, remarks)
        n = 0
        with destination(args.out) as stream:
            for rows, counts, columns in blocks:
                _write(stream, rows, counts, columns, saved.estimator, args.json, header=n == 0)
                n += len(rows)
    if args.out != "-":
        remarks.say(f"Wrote {args.out}: {n:,} predictions.")
    return 0


def new_documents(
    args: argparse.Namespace, saved: Any, remarks: Remarks
) -> Iterator[tuple[np.ndarray, Any, Any]]:
    """Rows, counts in the columns of the model, and other columns of a file, block by block."""
    from topicfocus.cli.columns import Columns, read_new
    from topicfocus.text import ReadError

    names, table = read_new(args, saved)
    if hasattr(table, "corpus"):
        counts = same_columns(table.corpus, saved.counter, saved.estimator)
        return iter([(np.arange(1, counts.shape[0] + 1), counts, Columns())])
    if saved.counter is None:
        raise ReadError(
            f"{args.model} has no vocabulary of its own, so it cannot read texts. Give it a count "
            "matrix with the columns it was fitted to."
        )

    def blocks() -> Iterator[tuple[np.ndarray, Any, Any]]:
        for block in table:
            columns = Columns.read(names, block)
            yield block.rows, saved.counter.transform(block.strings), columns
        if table.n_skipped:
            remarks.say(f"{table.n_skipped} unreadable rows were left out: {table.skipped[0]} ...")

    return blocks()


def same_columns(corpus: Any, counter: Any, model: Any) -> Any:
    """A count matrix with its columns put where the model has these words; others are left out."""
    from scipy import sparse

    if counter is None:
        return corpus.counts
    place = counter.vocabulary_
    columns = np.array([place.get(str(word), -1) for word in corpus.vocabulary])
    known = np.flatnonzero(columns >= 0)
    moved = sparse.csr_array(
        (np.ones(len(known)), (known, columns[known])), shape=(len(columns), model.n_features_in_)
    )
    return sparse.csr_array(corpus.counts @ moved)


@contextmanager
def destination(path: str) -> Iterator[Any]:
    """Standard output, or a file that appears when it is whole."""
    if path == "-":
        yield sys.stdout
        return
    from topicfocus.persistence.atomic import replacing

    with replacing(path) as raw:
        text = io.TextIOWrapper(raw, encoding="utf-8", newline="", write_through=True)
        yield text
        text.detach()  # flushed; the file below is closed by whoever opened it


def _write(
    stream: Any,
    rows: np.ndarray,
    counts: Any,
    more: Any,
    model: Any,
    as_json: bool,
    *,
    header: bool,
) -> None:
    from topicfocus.cli.fitting import predict, prediction_columns
    from topicfocus.cli.output import cell

    columns = {"row": rows, **prediction_columns(model, predict(model, counts, more))}
    if as_json:
        names = list(columns)
        for values in zip(*(plain(np.asarray(c)) for c in columns.values()), strict=True):
            line = json.dumps(dict(zip(names, values, strict=True)), ensure_ascii=False)
            stream.write(line + "\n")
        return
    writer = csv.writer(stream, lineterminator="\n")
    if header:
        writer.writerow(columns)
    writer.writerows(zip(*(map(cell, column) for column in columns.values()), strict=True))
