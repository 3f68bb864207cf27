"""The whole workflow in one call: read -> split -> count -> fit -> judge -> write.

Settings are checked and the file's columns looked at before anything heavy is imported: a mistake
in them waits for nothing.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from topicfocus.workflow.errors import SettingError
from topicfocus.workflow.lock import holding
from topicfocus.workflow.options import (
    ColumnNames,
    CountOptions,
    ModelOptions,
    ReadOptions,
    Roles,
    TuneOptions,
)
from topicfocus.workflow.remarks import Listener, Remarks, as_remarks
from topicfocus.workflow.wording import setting, spoken
from topicfocus.workflow.write import check_free, write_outcome

if TYPE_CHECKING:
    from topicfocus.workflow.outcome import Outcome


def fit_file(
    path: str | os.PathLike[str],
    *,
    text: str | None = None,
    target: str | None = None,
    kind: str | None = None,
    covariates: Sequence[str] = (),
    weight: str | None = None,
    exposure: str | None = None,
    model: str = "focused",
    topics: int | str = 5,
    inclusion_prior: float | str | None = None,
    tuning: TuneOptions | None = None,
    stability: int = 0,
    test_share: float = 0.2,
    seed: int = 0,
    jobs: int | None = None,
    reading: ReadOptions = ReadOptions(),  # noqa: B008 - frozen
    counting: CountOptions = CountOptions(),  # noqa: B008 - frozen
    out: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    resume: bool = False,
    checkpoint_every: float = 5.0,
    remarks: Listener = None,
    progress: bool = False,
) -> Outcome:
    """Fit a model to a file of texts and a target: what ``topicfocus fit FILE`` does.

    Reads the file, holds a part out, counts words on the other, fits, and judges the model on the
    held-out part beside a regression on all words.

    Parameters
    ----------
    path : path-like
        CSV, TSV, JSON lines (also .gz), Parquet, a folder of text files (its subfolders are the
        classes), a count matrix (.npz, .mtx), or "-" for standard input.
    text, target : str, optional
        Columns of the texts and of the target (for a count matrix: a file of it).
    kind : {"real", "count", "ordinal", "classes"}, optional
        Kind of target; by default detected.
    covariates : sequence of str, optional
        Columns of numbers that predict beside the topics.
    weight : str, optional
        Column of weights: 2 counts like two copies of a document.
    exposure : str, optional
        Column that counts are proportional to, with ``kind="count"``.
    model : {"focused", "pf-slda", "pc-slda", "slda"}, default="focused"
    topics : int or "auto", default=5
        "auto" chooses among 3, 5 and 10 on folds of the training part.
    inclusion_prior : float or "auto", optional
        Expected share of relevant tokens; by default focused chooses it, pf-slda takes 0.1.
    tuning : TuneOptions, optional
        With ``topics="auto"``: what is tried; see `tune_file`.
    stability : int, default=0
        Fit to so many pairs of halves once more, to see which words, topics and effects come back.
    test_share : float, default=0.2
        Share of documents held out.
    seed : int, default=0
    jobs : int, optional
        Threads; all cores by default.
    reading : ReadOptions, optional
        How the file is read.
    counting : CountOptions, optional
        Which words are counted.
    out : path-like, optional
        A folder to write: model.topicfocus, metrics.json, predictions.csv and explorer.html, whole
        or not at all. By default nothing is written.
    overwrite : bool, default=False
        Replace the folder if it exists and was written by this function.
    resume : bool, default=False
        Go on with an interrupted call, to the same result. Checkpoints are in ``out`` + ".partial".
    checkpoint_every : float, default=5.0
        Seconds between checkpoints of models that are fitted in epochs.
    remarks : callable, optional
        Called with each remark on what is being done, for example ``print``; or an object with
        methods ``say`` and ``warn``. By default nothing is said, and warnings are Python's.
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
    >>> import csv, tempfile
    >>> from pathlib import Path
    >>> from topicfocus.datasets import make_reviews
    >>> from topicfocus.workflow import explain_text, fit_file, predict_file
    >>> reviews = make_reviews(120, random_state=0)
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = Path(folder.name) / "reviews.csv"
    >>> with path.open("w", newline="") as stream:
    ...     writer = csv.writer(stream)
    ...     _ = writer.writerow(["text", "stars"])
    ...     writer.writerows(zip(reviews.texts, reviews.target))
    >>> out = Path(folder.name) / "reviews-topics"
    >>> outcome = fit_file(path, text="text", target="stars", topics=2, out=out)
    >>> outcome.result["documents"]["test"]
    24
    >>> list(outcome.result["held_out"])
    ['FocusedTopicRegressor', 'ridge on all words', 'mean of the training part']
    >>> good, bad = outcome.pipeline.predict(["a superb masterpiece", "an awful mess"])
    >>> bool(good > bad)
    True
    >>> outcome.written
    ('explorer.html', 'metrics.json', 'model.topicfocus', 'predictions.csv')
    >>> len(predict_file(out, path)["prediction"])
    120
    >>> explain_text(out, "an awful mess")["explained"]
    'target'
    >>> folder.cleanup()
    """
    said, path = as_remarks(remarks), os.fspath(path)
    options = ModelOptions(
        model=model,
        topics=topics,
        inclusion_prior=inclusion_prior,
        tuning=tuning,
        stability=stability,
        test_share=test_share,
        seed=seed,
        jobs=jobs,
    )
    more = ColumnNames(covariates=tuple(covariates), weight=weight, exposure=exposure)
    roles = Roles(text=text, target=target, kind=kind, more=more)
    folder = _folder(out, resume, overwrite)
    with holding(folder):
        source = _read(path, roles, reading, counting, said, jobs)
        from topicfocus.workflow.chain import fit_source

        partial = None if folder is None else folder.with_name(f"{folder.name}.partial")
        outcome = fit_source(
            source,
            options,
            counting,
            said,
            columns=roles.said,
            progress=progress,
            partial=partial,
            resume=resume,
            every=checkpoint_every,
        )
        return write(outcome, folder, said, partial)


def _folder(out: Any, resume: bool, overwrite: bool) -> Path | None:
    """Where the result goes, free to be written."""
    if out is not None:
        check_free(Path(out), overwrite)
        return Path(out)
    if resume or overwrite:
        option = setting("resume" if resume else "overwrite", True)
        raise SettingError(f"{option} is for a folder: name it with {setting('out')}.")
    return None


def _read(
    path: str,
    roles: Roles,
    reading: ReadOptions,
    counting: CountOptions,
    remarks: Remarks,
    jobs: int | None,
) -> Any:
    from topicfocus.workflow.read import open_file, read_source

    table = open_file(path, roles, reading, remarks)
    return read_source(path, table, roles, counting, remarks, jobs)


def write(
    outcome: Outcome, folder: Path | None, remarks: Remarks, partial: Path | None = None
) -> Outcome:
    """The outcome, written where there is a folder; then its checkpoints go."""
    if folder is None:
        return outcome
    if partial is None:
        written = write_outcome(folder, outcome, remarks)
        return replace(outcome, folder=folder, written=tuple(written))
    from topicfocus.workflow.checkpoints import FolderStore

    store = FolderStore(partial, 0.0, remarks)
    try:
        written = write_outcome(folder, outcome, remarks)
    except (OSError, KeyboardInterrupt):
        # A full disk, say: the fit is not lost with it.
        if store.any_finished:
            again = f"the same {spoken('command', 'call')} with {setting('resume', True)}"
            remarks.say(f"The fit is in {partial}: {again}.")
        else:
            store.remove()
        raise
    store.remove()
    return replace(outcome, folder=folder, written=tuple(written))
