"""The whole workflow in one call: read -> split -> count -> fit -> judge -> write.

Settings are checked and the file's columns looked at before anything heavy is imported: a mistake
in them waits for nothing.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from topicfocus.workflow.ahead import help_of_another
from topicfocus.workflow.config import as_config
from topicfocus.workflow.errors import SettingError
from topicfocus.workflow.interrupts import uninterrupted
from topicfocus.workflow.lock import holding
from topicfocus.workflow.logs import check_log, logging_to
from topicfocus.workflow.manifest import read_manifest
from topicfocus.workflow.options import (
    ColumnNames,
    CountOptions,
    ModelOptions,
    ReadOptions,
    Roles,
    TuneOptions,
)
from topicfocus.workflow.remarks import Listener, Remarks, as_remarks
from topicfocus.workflow.wording import setting
from topicfocus.workflow.write import check_free, check_place, named, write_outcome

if TYPE_CHECKING:
    from topicfocus.workflow.checkpoints import FolderStore
    from topicfocus.workflow.outcome import Outcome


@dataclass(frozen=True, kw_only=True)
class _Job:
    """What `fit_file` was asked for, checked."""

    paths: tuple[str, ...]
    roles: Roles
    options: ModelOptions
    reading: ReadOptions
    counting: CountOptions
    folder: Path | None
    overwrite: bool
    resume: bool
    every: float
    fingerprint: str | None
    progress: bool
    baseline: bool
    out_of_core: bool | None = None
    cluster: str | None = None

    @property
    def given(self) -> str | list[str]:
        """What is read, as it was said: one file, or several."""
        return self.paths[0] if len(self.paths) == 1 else list(self.paths)


def fit_file(
    path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    text: str | None = None,
    target: str | None = None,
    kind: str | None = None,
    covariates: Sequence[str] = (),
    weight: str | None = None,
    exposure: str | None = None,
    group: str | None = None,
    model: str = "focused",
    topics: int | str = 5,
    inclusion_prior: float | str | None = None,
    selection: str = "predictive",
    tuning: TuneOptions | None = None,
    class_weight: str | dict[str, float] | None = None,
    stability: int = 0,
    test_share: float = 0.2,
    baseline: bool = True,
    seed: int = 0,
    jobs: int | None = None,
    out_of_core: bool | None = None,
    cluster: str | None = None,
    reading: ReadOptions = ReadOptions(),  # noqa: B008 - frozen
    counting: CountOptions = CountOptions(),  # noqa: B008 - frozen
    out: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    resume: bool = False,
    checkpoint_every: float = 5.0,
    log: str | os.PathLike[str] | None = None,
    fingerprint: str | None = None,
    remarks: Listener = None,
    progress: bool = False,
) -> Outcome:
    """Fit a model to a file of texts and a target: what ``topicfocus fit FILE`` does.

    Reads the file, holds a part out, counts words on the other, fits, and judges the model on the
    held-out part beside a regression on all words.

    Parameters
    ----------
    path : path-like, or sequence of them
        CSV, TSV, JSON (lines or an array), Excel, Parquet, a folder of text files (its subfolders
        are the classes), a count matrix (.npz, .mtx), or "-" for standard input. Several files with
        the same columns: a list, a pattern such as "parts/*.csv", or a folder of such files. Text
        formats may be compressed (.gz, .bz2, .xz, .zip).
    text, target : str, optional
        Columns of the texts and of the target (for a count matrix: a file of it).
    kind : {"real", "count", "ordinal", "classes"}, optional
        Kind of target; by default detected.
    covariates : sequence of str, optional
        Columns of numbers that predict beside the topics. Where one is missing its median of the
        training part stands there, beside a column that says so.
    weight : str, optional
        Column of weights: 2 counts like two copies of a document.
    exposure : str, optional
        Column that counts are proportional to, with ``kind="count"``.
    group : str, optional
        Column that says what documents belong to, such as patients or authors: no group is both
        trained on and held out, nor split where the fit itself sets documents aside for choices.
    model : {"focused", "pf-slda", "pc-slda", "slda"}, default="focused"
    topics : int or "auto", default=5
        "auto" chooses among 3, 5 and 10 on folds of the training part.
    inclusion_prior : float or "auto", optional
        Expected share of relevant tokens; by default focused chooses it, pf-slda takes 0.1.
    selection : {"predictive", "stable"}, default="predictive"
        "stable": words that other samples would keep, too, for a little of the prediction
        (docs/choosing.md); for focused.
    tuning : TuneOptions, optional
        With ``topics="auto"``: what is tried; see `tune_file`.
    class_weight : "balanced" or dict of str to float, optional
        What documents of a class count for, by its name in the file; "balanced": every class weighs
        the same. Regressions to compare with and held-out figures are weighted alike.
    stability : int, default=0
        Fit to so many pairs of halves once more, to see which words, topics and effects come back.
    test_share : float, default=0.2
        Share of documents held out.
    baseline : bool, default=True
        Compare with a regression on all words.
    seed : int, default=0
    jobs : int, optional
        Threads; all cores by default.
    out_of_core : bool, optional
        Keep counts in a temporary folder on disk and read them in chunks (docs/scale.md). By
        default this is done when the files are large for the memory that is free.
    cluster : str, optional
        Address of a Dask scheduler, or "local" for processes of this machine: its workers read
        and count the files, which they have to see under the same names, and fit the model.
    reading : ReadOptions, optional
        How the file is read.
    counting : CountOptions, optional
        Which words are counted.
    out : path-like, optional
        A folder to write: model.topicfocus, metrics.json, predictions.csv, topics.csv, words.csv,
        config.toml and explorer.html, whole or not at all. By default nothing is written.
    overwrite : bool, default=False
        Replace the files of an earlier result in the folder; what else is there stays. A folder
        that was not written by this function, or a file that was changed since, is an error.
    resume : bool, default=False
        Go on with an interrupted call, to the same result. Checkpoints are in ``out`` + ".partial".
        If the folder has this very fit already, it is read back.
    checkpoint_every : float, default=5.0
        Seconds between checkpoints of models that are fitted in epochs.
    log : path-like, optional
        A file to which every remark, warning and error is added, with the time.
    fingerprint : str, optional
        That of an earlier fit, as in its config.toml; if data, settings or version are others now,
        it is a warning.
    remarks : callable, optional
        Called with each remark on what is being done, for example ``print``; or an object with
        methods ``say`` and ``warn``. How far long work is comes from another thread. By default
        nothing is said, and warnings are Python's.
    progress : bool, default=False
        Draw a bar on a terminal.

    Returns
    -------
    Outcome
        ``pipeline``, ``result`` (what ``--json`` prints), ``predictions``, ``folder``, ``written``.

    Raises
    ------
    SettingError
        If settings are wrong or do not go together.
    ReadError
        If the file cannot be read, or lacks a column.
    OSError
        If the folder is taken (FileExistsError), being written by another process (FolderInUse) or
        cannot be written.
    Interrupted
        On Ctrl-C (a KeyboardInterrupt), with how to go on.

    Examples
    --------
    >>> import csv
    >>> from topicfocus.datasets import make_reviews
    >>> from topicfocus.workflow import fit_file
    >>> reviews = make_reviews(120, random_state=0)
    >>> with open("reviews.csv", "w", newline="") as stream:
    ...     writer = csv.writer(stream)
    ...     _ = writer.writerow(["text", "stars"])
    ...     writer.writerows(zip(reviews.texts, reviews.target))
    >>> outcome = fit_file(
    ...     "reviews.csv", text="text", target="stars", topics=2, out="reviews-topics"
    ... )
    >>> outcome.result["documents"]["test"]
    24
    >>> list(outcome.result["held_out"])
    ['FocusedTopicRegressor', 'ridge on all words', 'mean of the training part']
    >>> good, bad = outcome.pipeline.predict(["a superb masterpiece", "an awful mess"])
    >>> bool(good > bad)
    True
    >>> outcome.written[:3]
    ('config.toml', 'explorer.html', 'manifest.json')

    The folder is what `predict_file`, `explain_text`, `report_file` and `load_model` take.
    """
    options = ModelOptions(
        model=model,
        topics=topics,
        inclusion_prior=inclusion_prior,
        selection=selection,
        tuning=tuning,
        class_weight=class_weight,
        stability=stability,
        test_share=test_share,
        seed=seed,
        jobs=jobs,
    )
    more = ColumnNames(covariates=tuple(covariates), weight=weight, exposure=exposure, group=group)
    how: dict[str, Any] = {"overwrite": overwrite, "resume": resume, "every": checkpoint_every}
    how |= {"progress": progress, "baseline": baseline, "fingerprint": fingerprint}
    job = _Job(
        paths=_paths(path),
        roles=Roles(text=text, target=target, kind=kind, more=more),
        options=options,
        reading=reading,
        counting=counting,
        folder=_checked_folder(out, resume, overwrite),
        **how,
        out_of_core=out_of_core,
        cluster=_checked_cluster(cluster),
    )
    return _logged(job, log, as_remarks(remarks))


def _checked_cluster(cluster: str | None) -> str | None:
    """The address of a cluster; an error before long work if Dask is not installed."""
    if cluster is not None:
        from topicfocus.distributed import dask

        dask()
    return cluster


def _paths(path: Any) -> tuple[str, ...]:
    given = [path] if isinstance(path, (str, os.PathLike)) else path
    return tuple(os.fspath(one) for one in given)


def _checked_folder(out: Any, resume: bool, overwrite: bool) -> Path | None:
    if out is None and (resume or overwrite):
        option = setting("resume" if resume else "overwrite", True)
        raise SettingError(f"{option} is for a folder: name it with {setting('out')}.")
    return None if out is None else named(out)


def _logged(job: _Job, log: str | os.PathLike[str] | None, remarks: Remarks) -> Outcome:
    """The job under its lock, with what is said in the log as well."""
    if job.folder is not None:
        check_place(job.folder)
    if log is not None:
        for source in job.paths:
            check_log(log, source)
    title = f"fit {' '.join(job.paths)}"
    with logging_to(log, remarks, title) as said, holding(job.folder, said):
        return _fit(job, said)


def _fit(job: _Job, remarks: Remarks) -> Outcome:
    """Read, fit, write; the folder is ours as long as it takes."""
    folder, partial, finished = job.folder, None, None
    if folder is not None:
        partial = folder.with_name(f"{folder.name}.partial")
        found = read_manifest(folder) if job.resume else None
        # A job that is put in line again may have come to its end before.
        if found is not None and found.whole and found.fingerprint and not job.overwrite:
            finished = folder
        else:
            check_free(folder, job.overwrite, job.paths)
    table = _open(job, remarks)  # before anything heavy is imported
    return _kept(job, table, remarks, partial, finished)


def _kept(
    job: _Job, table: Any, remarks: Remarks, partial: Path | None, finished: Path | None
) -> Outcome:
    """The outcome, written where there is a folder; until then checkpoints are in `partial`."""
    if partial is None:
        return _fitted(job, table, remarks, None)
    from topicfocus.workflow.checkpoints import FolderStore
    from topicfocus.workflow.fit import Keeping, keeping_finished

    store = FolderStore(partial, job.every, remarks)
    keeping = Keeping(store, job.resume, finished, job.fingerprint)
    with keeping_finished(store):  # until the result is there, whatever comes between
        outcome = _fitted(job, table, remarks, keeping)
        return outcome if outcome.folder else write(outcome, job.folder, remarks, store)


def _fitted(job: _Job, table: Any, remarks: Remarks, keeping: Any) -> Outcome:
    """The outcome with the settings that repeat it; or that of an earlier call."""
    from topicfocus.workflow.chain import fit_source

    with (
        help_of_another(),
        _client(job, remarks) as client,
        _counts_folder(job, client, remarks) as place,
    ):
        outcome = fit_source(
            _read(job, table, remarks, client, place),
            job.options,
            job.counting,
            remarks,
            columns=job.roles.said,
            progress=job.progress,
            keeping=keeping,
            baseline=job.baseline,
            client=client,
        )
    if outcome.folder is not None:
        return outcome
    settings = outcome.result["settings"]
    found_on_the_way: dict[str, Any] = {
        key: settings[key] for key in ("min_df", "max_df", "topics")
    }
    if "tuning" in outcome.result:  # what was chosen is repeated, not the choice
        found_on_the_way["inclusion_prior"] = settings["inclusion_prior"]
    if not job.baseline:
        found_on_the_way["baseline"] = False
    if settings["kind"] != "binary":
        found_on_the_way["kind"] = settings["kind"]
    if outcome.fingerprint is not None and "tuning" not in outcome.result:
        found_on_the_way["fingerprint"] = outcome.fingerprint
    config = as_config(
        job.given, job.roles, job.options, job.reading, job.counting, **found_on_the_way
    )
    return replace(outcome, config=config)


def _client(job: _Job, remarks: Remarks) -> AbstractContextManager[Any]:
    """A client of the cluster, where one is asked for."""
    if job.cluster is None:
        return nullcontext()
    from topicfocus.distributed import connected

    remarks.say(f"Connecting to the cluster ({job.cluster}) ...")
    return connected(job.cluster, job.options.jobs)


@contextmanager
def _counts_folder(job: _Job, client: Any, remarks: Remarks) -> Iterator[Path | None]:
    """A temporary folder for counts where they may not fit into memory, else None."""
    from topicfocus.counts import counts_folder_needed

    needed = job.out_of_core
    if needed is None:
        needed = client is None and counts_folder_needed(job.paths)
    if not needed:
        yield None
        return
    beside = None if job.folder is None else job.folder.parent
    with tempfile.TemporaryDirectory(
        prefix=".topicfocus-", dir=beside, ignore_cleanup_errors=True
    ) as place:
        remarks.say(f"Counts are kept in a temporary folder, {place}.")
        yield Path(place) / "counts"


def _open(job: _Job, remarks: Remarks) -> Any:
    from topicfocus.workflow.read import open_file

    return open_file(list(job.paths), job.roles, job.reading, job.counting, remarks)


def _read(job: _Job, table: Any, remarks: Remarks, client: Any, place: Path | None) -> Any:
    from topicfocus.estimators.progress import Lines
    from topicfocus.workflow.read import read_source

    how = (job.options.jobs, job.reading, place, client)
    with Lines(f"Reading {table.path}", remarks.say):
        source = read_source(table, job.roles, job.counting, remarks, *how)
    return replace(source, given=job.given)


def write(
    outcome: Outcome, folder: Path | None, remarks: Remarks, store: FolderStore | None = None
) -> Outcome:
    """The outcome, written where there is a folder; then its checkpoints go."""
    if folder is None:
        return outcome
    gone = True
    # Once the result takes its place, Ctrl-C waits until checkpoints are gone: both at once would
    # say that there is something to go on with.
    with uninterrupted(at_once=False) as wait:
        written = write_outcome(folder, outcome, remarks, wait)
        if store is not None:
            store.needed = False
            gone = store.remove()
    if store is not None and not gone:
        remarks.warn(f"{store.folder} has files that are none of ours: it stays.")
    return replace(outcome, folder=folder, written=tuple(written))
