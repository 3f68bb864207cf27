"""The chain on documents that have been read: split -> count -> fit -> judge -> outcome."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np

from topicfocus.workflow.copies import say_copies
from topicfocus.workflow.count import choose_words
from topicfocus.workflow.fit import fit_model, keeping_finished, open_store
from topicfocus.workflow.judge import judge
from topicfocus.workflow.models import target_values
from topicfocus.workflow.options import CountOptions, ModelOptions
from topicfocus.workflow.outcome import Outcome, make_outcome
from topicfocus.workflow.read import Source
from topicfocus.workflow.remarks import Remarks
from topicfocus.workflow.split import split

#: Figures of fewer held-out groups are those of these groups.
FEW_GROUPS = 5


def fit_source(
    source: Source,
    options: ModelOptions,
    counting: CountOptions,
    remarks: Remarks,
    *,
    columns: dict[str, Any],
    progress: bool = False,
    partial: Path | None = None,
    resume: bool = False,
    every: float = 5.0,
) -> Outcome:
    """Fit to a part of the documents and judge on the others.

    With `partial`, a folder for checkpoints, an interrupted fit can be taken up again. `columns`
    (of text and target) are remembered with the result.
    """
    target = source.target
    remarks.say(f"Target: {target.sentence}")
    group = source.columns.group
    parts = split(target, options.test_share, options.seed, source.path, group)
    train, test = parts
    if group is not None:
        _say_groups(source, group, train, test, remarks)
    say_copies(source, train, test, remarks)
    counted = choose_words(source, train, counting, remarks)
    y = target_values(target)
    store = None
    if partial is not None:
        store = open_store(partial, every, resume, source, counted, train, options, remarks)
    with keeping_finished(store):
        began = time.perf_counter()
        counts, mine = counted.counts[train], source.columns.of(train)
        model = fit_model(
            counts, y[train], mine, target.kind, options, remarks, progress=progress, store=store
        )
        seconds = time.perf_counter() - began
        remarks.say("Comparing with a regression on all words ...")
        model.n_jobs = options.jobs
        judged = judge(model, source, counted, y, parts, options.seed)
        return make_outcome(
            source,
            counted,
            model,
            judged,
            parts,
            y,
            options=options,
            columns=columns,
            seconds=seconds,
        )


def _say_groups(
    source: Source, group: np.ndarray, train: np.ndarray, test: np.ndarray, remarks: Remarks
) -> None:
    held, n = len(np.unique(group[test])), len(np.unique(group))
    remarks.say(f"Held out: {len(test):,} documents, {held:,} of {n:,} groups as a whole.")
    if held < FEW_GROUPS:
        remarks.warn(
            f"only {held} of {n} groups {'is' if held == 1 else 'are'} held out: figures may be "
            "quite different for others."
        )
    neither = source.n_docs - len(train) - len(test)
    if neither:
        remarks.say(f"{neither:,} documents without a target are of held-out groups: not used.")
