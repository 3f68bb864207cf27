"""The chain on documents that have been read: split -> count -> fit -> judge -> outcome."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from topicfocus.workflow.count import choose_words
from topicfocus.workflow.fit import fit_model, keeping_finished, open_store
from topicfocus.workflow.judge import judge
from topicfocus.workflow.models import target_values
from topicfocus.workflow.options import CountOptions, ModelOptions
from topicfocus.workflow.outcome import Outcome, make_outcome
from topicfocus.workflow.read import Source
from topicfocus.workflow.remarks import Remarks
from topicfocus.workflow.split import split
from topicfocus.workflow.tune import Training, check_stability, tune_model, with_choice


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
    parts = split(target, options.test_share, options.seed, source.path)
    train, _ = parts
    counted = choose_words(source, train, counting, remarks)
    y = target_values(target)
    store = None
    if partial is not None:
        store = open_store(partial, every, resume, source, counted, train, options, remarks)
    with keeping_finished(store):
        counts, mine = counted.counts[train], source.columns.of(train)
        training = Training(
            counts, y[train], mine, target.kind, counted.words, remarks, progress, partial
        )
        options, tuned = tune_model(training, options)
        began = time.perf_counter()
        model = fit_model(
            counts, y[train], mine, target.kind, options, remarks, progress=progress, store=store
        )
        seconds = time.perf_counter() - began
        remarks.say("Comparing with a regression on all words ...")
        model.n_jobs = options.jobs
        judged = judge(model, source, counted, y, parts, options.seed)
        found = check_stability(training, model, options)
        outcome = make_outcome(
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
        return with_choice(outcome, tuned, found)
