"""The chain on documents that have been read: split -> count -> fit -> judge -> outcome."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from topicfocus.counts import ChunkedCounts, take_rows
from topicfocus.estimators.progress import Lines
from topicfocus.text import ReadError
from topicfocus.workflow.class_weights import check_class_weight, class_factors, said
from topicfocus.workflow.copies import say_copies
from topicfocus.workflow.count import choose_words
from topicfocus.workflow.fit import (
    Keeping,
    fingerprint_of,
    finished_before,
    fit_model,
)
from topicfocus.workflow.gaps import say_gaps
from topicfocus.workflow.judge import judge
from topicfocus.workflow.models import target_values
from topicfocus.workflow.options import CountOptions, ModelOptions
from topicfocus.workflow.outcome import Outcome, make_outcome
from topicfocus.workflow.read import Source
from topicfocus.workflow.remarks import Remarks
from topicfocus.workflow.split import Parts, split
from topicfocus.workflow.tune import (
    Training,
    check_stability,
    most_topics,
    tune_model,
    with_choice,
)
from topicfocus.workflow.wording import setting

#: Figures of fewer held-out groups are those of these groups.
FEW_GROUPS = 5
COMPARING = "Comparing with a regression on all words"


def fit_source(
    source: Source,
    options: ModelOptions,
    counting: CountOptions,
    remarks: Remarks,
    *,
    columns: dict[str, Any],
    progress: bool = False,
    keeping: Keeping | None = None,
    baseline: bool = True,
    client: Any = None,
) -> Outcome:
    """Fit to a part of the documents and judge on the others.

    With `keeping`, which has a store of checkpoints, an interrupted fit can be taken up again, and
    one that is finished is read back; whoever calls keeps what was finished (`keeping_finished`).
    `columns` (of text and target) are remembered with the result. `baseline`: also regress on all
    words. `client`: of a cluster that the model is fitted on.
    """
    target = source.target
    remarks.say(f"Target: {target.sentence}")
    _say_class_weight(options, target, remarks)
    parts = _parts(source, options, remarks)
    train, _ = parts
    counted = choose_words(source, train, counting, remarks)
    y, counts = target_values(target), take_rows(counted.counts, train)
    say_gaps(source.columns, train, remarks)
    _check_topics(most_topics(options), len(train))
    store = mark = None
    if keeping is not None:
        settings, mark = fingerprint_of(source, counted, train, options)
        before = finished_before(keeping, mark, remarks)
        if before is not None:
            return before
        store = keeping.store
        store.open(mark, settings, keeping.resume)
    held = counts if client is None else _on_cluster(counts, client)
    mine, partial = source.columns.of(train), None if store is None else store.folder
    factor = class_factors(options.class_weight, target, train, source.columns.weight)
    own = None if factor is None else factor[train]
    training = Training(
        held, y[train], mine, target.kind, counted.words, remarks, progress, partial, own
    )
    options, tuned = tune_model(training, options)
    began = time.perf_counter()
    model = fit_model(
        held, y[train], mine, target.kind, options, remarks, progress=progress, store=store
    )
    seconds = time.perf_counter() - began
    model.n_jobs = options.jobs
    more: dict[str, Any] = {"baseline": baseline, "factor": factor}
    with _comparing(baseline, isinstance(counted.counts, ChunkedCounts), remarks):
        judged = judge(model, source, counted, y, parts, options.seed, **more)
    found = check_stability(training, model, options)
    more = {"options": options, "columns": columns, "seconds": seconds}
    outcome = make_outcome(source, counted, model, judged, parts, y, **more)
    _say_warnings(outcome, remarks)
    outcome = with_choice(outcome, tuned, found)
    return replace(outcome, fingerprint=mark)


@contextmanager
def _comparing(baseline: bool, stored: bool, remarks: Remarks) -> Iterator[None]:
    if baseline and stored:
        remarks.say("No comparison with a regression on all words: counts are not in memory.")
    elif baseline:
        remarks.say(f"{COMPARING} ...")
    with Lines(COMPARING, remarks.say):
        yield


def _say_class_weight(options: ModelOptions, target: Any, remarks: Remarks) -> None:
    check_class_weight(options.class_weight, target)
    if options.class_weight is not None:
        remarks.say(said(options.class_weight))


def _check_topics(n_topics: int, n_docs: int) -> None:
    if n_topics > n_docs:
        raise ReadError(
            f"{n_topics:,} topics are more than the {n_docs:,} training documents. Ask for fewer: "
            f"{setting('topics')}."
        )


def _on_cluster(counts: Any, client: Any) -> Any:
    """The training documents on the workers, which get those that were counted here."""
    from topicfocus.distributed import DaskCounts

    return counts if isinstance(counts, DaskCounts) else DaskCounts(counts, client)


def _say_warnings(outcome: Outcome, remarks: Remarks) -> None:
    for message in outcome.result["warnings"]:
        remarks.warn(message)


def _parts(source: Source, options: ModelOptions, remarks: Remarks) -> Parts:
    """What is trained on and what is held out, with what a user should know about that."""
    group = source.columns.group
    train, test = split(source.target, options.test_share, options.seed, source.path, group)
    if group is not None:
        _say_groups(source, group, train, test, remarks)
    say_copies(source, train, test, remarks)
    return train, test


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
