"""Fit: the model on the training part, with checkpoints, to be taken up again after Ctrl-C."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from topicfocus.estimators.progress import progress_lines
from topicfocus.estimators.usefulness import UselessFitWarning
from topicfocus.inference.marks import marks
from topicfocus.interrupts import is_interrupt
from topicfocus.solvers.checkpoints import checkpointing
from topicfocus.text import ReadError
from topicfocus.workflow.checkpoints import FolderStore, fingerprint
from topicfocus.workflow.columns import Columns, remember
from topicfocus.workflow.count import Counted
from topicfocus.workflow.errors import Interrupted
from topicfocus.workflow.interrupts import noting_interrupts, uninterrupted
from topicfocus.workflow.manifest import read_manifest
from topicfocus.workflow.models import make_estimator
from topicfocus.workflow.options import ModelOptions
from topicfocus.workflow.outcome import Outcome, read_outcome
from topicfocus.workflow.read import Source
from topicfocus.workflow.remarks import Remarks
from topicfocus.workflow.wording import setting, spoken


def lines_of(remarks: Remarks) -> AbstractContextManager[None]:
    """Plain lines of fits in a block go to whom remarks go."""
    note = getattr(remarks, "note", None)  # of a log, which has lines also beside a bar
    return progress_lines(remarks.say, note and partial(note, "info"))


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
    model = make_estimator(options, kind, y)
    model.set_params(n_jobs=options.jobs, verbose=progress)
    remarks.say(f"Fitting {type(model).__name__}, {options.topics} topics ...")
    lines = lines_of(remarks)
    keeping = checkpointing(store) if store else nullcontext()
    with warnings.catch_warnings(), noting_interrupts(), keeping, lines:
        # What is wrong with the result is said once it was judged.
        warnings.simplefilter("ignore", UselessFitWarning)
        try:
            model.fit(counts, y, **columns.for_fit())
        except ValueError as error:
            raise _reworded(error) from error
    remember(model, columns.names)
    # Of this run and this machine, not of the model.
    return model.set_params(n_jobs=None, verbose=False)


def _reworded(error: ValueError) -> ValueError:
    """Advice on a parameter that only the estimators have, for whoever has options."""
    if "keep_words" not in str(error):
        return error
    every = setting("model", "pc-slda")
    return ReadError(
        "no word says anything about the target beyond noise, so none is kept. Check that texts "
        f"and targets belong together; {every} keeps every word."
    )


@dataclass(frozen=True)
class Keeping:
    """Where a fit is kept while it goes on, and what is known of an earlier one.

    `finished` is a result that may be of this very fit; `expected` the fingerprint that a config
    file wants it to have.
    """

    store: FolderStore
    resume: bool = False
    finished: Path | None = None
    expected: str | None = None


def fingerprint_of(
    source: Source, counted: Counted, train: np.ndarray, options: ModelOptions
) -> tuple[dict[str, Any], str]:
    """The settings that the fit depends on, and a mark of them, of the data and of the version."""
    settings = {**asdict(options), **asdict(source.columns.names), "kind": source.target.kind}
    del settings["jobs"]  # changes nothing
    counts = counted.counts
    arrays = (*content_of(counts), counted.words, train)
    mark = fingerprint(settings, *arrays, source.target.values, *source.columns.known())
    return settings, mark


def content_of(counts: Any) -> tuple[np.ndarray, ...]:
    """Arrays that tell counts from others, the same however counts are held.

    A fit that was begun on a cluster may be continued elsewhere.
    """
    return (*marks(counts), counts.indptr.astype(np.int64))


def finished_before(keeping: Keeping, mark: str, remarks: Remarks) -> Outcome | None:
    """The result of this very fit, if it came to its end before; else it has to be made."""
    if keeping.expected not in (None, mark):
        remarks.warn(
            "data, settings or version are not those of the config's fit: the result will differ."
        )
    folder = keeping.finished
    if folder is None:
        return None
    manifest = read_manifest(folder)
    if manifest is None or manifest.fingerprint != mark:
        raise FileExistsError(
            f"{folder} exists and is of another fit. Choose another folder with {setting('out')}, "
            f"or replace it with {setting('overwrite', True)}."
        )
    remarks.say(f"{folder} has this fit already: there is nothing to go on with.")
    keeping.store.remove()
    return read_outcome(folder, manifest)


@contextmanager
def keeping_finished(store: FolderStore | None) -> Iterator[None]:
    """On Ctrl-C what was finished stays, and it is said how to go on; after an error it goes."""
    try:
        yield
    except BaseException as error:
        with uninterrupted():
            hint = keep_for_later(store, error)
        if is_interrupt(error):
            raise Interrupted(*hint) from None
        raise


def keep_for_later(store: FolderStore | None, error: BaseException) -> list[str]:
    """Keep what was finished if that is worth it; how to go on, which an error gets as a note.

    A full disk or too little memory is not the fit's fault, so it is not lost with it. Any other
    error comes again with --resume, too: nothing is worth keeping.
    """
    if store is None or not store.ours:
        return []
    if not store.needed:
        store.remove()
        return []
    worth = is_interrupt(error) or isinstance(error, (OSError, MemoryError))
    if not (worth and store.any_finished):
        store.remove()
        return ["Nothing was finished yet; start anew."]
    again = f"go on with the same {spoken('command', 'call')} and {setting('resume', True)}"
    hint = f"What was finished is in {store.folder}; {again}."
    error.add_note(hint)
    return [hint]
