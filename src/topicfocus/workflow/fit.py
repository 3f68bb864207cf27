"""Fit: the model on the training part, with checkpoints, to be taken up again after Ctrl-C."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from topicfocus.estimators.usefulness import UselessFitWarning
from topicfocus.solvers.checkpoints import checkpointing
from topicfocus.solvers.interrupts import is_interrupt
from topicfocus.workflow.checkpoints import FolderStore, fingerprint
from topicfocus.workflow.columns import Columns, remember
from topicfocus.workflow.count import Counted
from topicfocus.workflow.errors import Interrupted
from topicfocus.workflow.interrupts import noting_interrupts
from topicfocus.workflow.models import make_estimator
from topicfocus.workflow.options import ModelOptions
from topicfocus.workflow.read import Source
from topicfocus.workflow.remarks import Remarks
from topicfocus.workflow.wording import setting, spoken


def fit_model(
    counts: Any,
    y: np.ndarray,
    columns: Columns,
    kind: str,
    options: ModelOptions,
    remarks: Remarks,
    *,
    progress: bool = False,
    store: FolderStore | None = None,
) -> Any:
    """A fitted estimator, which remembers the names of its columns."""
    model = make_estimator(options, kind)
    model.set_params(n_jobs=options.jobs, verbose=progress)
    remarks.say(f"Fitting {type(model).__name__}, {options.topics} topics ...")
    # What is wrong with the result is said once it was judged.
    keeping = checkpointing(store) if store else nullcontext()
    with warnings.catch_warnings(), noting_interrupts(), keeping:
        warnings.simplefilter("ignore", UselessFitWarning)
        model.fit(counts, y, **columns.for_fit())
    remember(model, columns.names)
    # Of this run and this machine, not of the model.
    return model.set_params(n_jobs=None, verbose=False)


def open_store(
    folder: Path,
    every: float,
    resume: bool,
    source: Source,
    counted: Counted,
    train: np.ndarray,
    options: ModelOptions,
    remarks: Remarks,
) -> FolderStore:
    """The checkpoints of exactly this fit."""
    store = FolderStore(folder, every, remarks)
    settings = {**asdict(options), **asdict(source.columns.names), "kind": source.target.kind}
    del settings["jobs"]  # changes nothing
    counts = counted.counts
    arrays = (counts.data, counts.indices, counts.indptr, counted.words, train)
    mark = fingerprint(settings, *arrays, source.target.values, *source.columns.known())
    store.open(mark, settings, resume)
    return store


@contextmanager
def keeping_finished(store: FolderStore | None) -> Iterator[None]:
    """On Ctrl-C what was finished stays, and it is said how to go on; after an error it goes."""
    try:
        yield
    except BaseException as error:
        if is_interrupt(error):
            raise _interrupted(store) from None
        # An error comes again with --resume, too: nothing is worth keeping.
        if store is not None:
            store.remove()
        raise


def _interrupted(store: FolderStore | None) -> Interrupted:
    if store is None:
        return Interrupted()
    if not store.any_finished:
        store.remove()
        return Interrupted("Nothing was finished yet; start anew.")
    return Interrupted(
        f"What was finished is in {store.folder}; go on with the same {spoken('command', 'call')} "
        f"and {setting('resume', True)}."
    )
