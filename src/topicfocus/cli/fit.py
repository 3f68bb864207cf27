"""`topicfocus fit`: from a file to a fitted, judged, saved model."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from topicfocus.cli import output
from topicfocus.cli.columns import ColumnNames, named_for_fit, reading
from topicfocus.cli.console import Remarks, one_line_warnings, print_json
from topicfocus.cli.models import check_options


def run(args: argparse.Namespace) -> int:
    """Check what can be checked, read, fit, show, write."""
    remarks = Remarks(args.quiet)
    check_options(args.model, args.inclusion_prior)
    names = named_for_fit(args)
    folder = Path(args.out) if args.out else output.default_folder(args.file)
    output.check_free(folder, args.overwrite)
    with one_line_warnings(remarks):
        outcome, partial = _fit(args, _open(args, names, remarks), names, folder, remarks)
        try:
            written = write_folder(folder, outcome, remarks)
        except (OSError, KeyboardInterrupt):
            # A full disk, say: the fit is not lost with it.
            if partial.any_finished:
                remarks.say(f"The fit is in {partial.folder}: the same command with --resume.")
            else:
                partial.remove()
            raise
        partial.remove()
    show_result(outcome.result, args.json)
    remarks.say(f"Wrote {folder}/: {', '.join(written)}.")
    return 0


def _open(args: argparse.Namespace, names: ColumnNames, remarks: Remarks) -> Any:
    """FILE, with its columns checked."""
    from topicfocus.text import read_table

    remarks.say(f"Reading {'standard input' if args.file == '-' else args.file} ...")
    return read_table(
        args.file,
        args.text,
        args.target,
        numbers=names.every,
        **reading(args),
    )


def _fit(
    args: argparse.Namespace, table: Any, names: ColumnNames, folder: Path, remarks: Remarks
) -> tuple[Any, Any]:
    # Here, so that a mistake in the arguments does not wait for scikit-learn and numba.
    from topicfocus.cli.checkpoints import FolderStore
    from topicfocus.cli.fitting import ModelOptions, fit_source
    from topicfocus.cli.reading import count_options, read_source

    counting = count_options(args)
    source = read_source(table, args, counting, remarks, names)
    options = ModelOptions(
        args.model, args.topics, args.inclusion_prior, args.test_share, args.seed, args.jobs
    )
    partial = folder.with_name(f"{folder.name}.partial")
    outcome = fit_source(
        source,
        options,
        counting,
        remarks,
        partial=partial,
        resume=args.resume,
        every=args.checkpoint_every,
        columns={
            "text": args.text,
            "target": args.target,
            "covariates": list(names.covariates),
            "weight": names.weight,
            "exposure": names.exposure,
        },
    )
    return outcome, FolderStore(partial, args.checkpoint_every, remarks)


def write_folder(folder: Path, outcome: Any, remarks: Remarks) -> list[str]:
    """Write everything; returns the names of the files."""
    from topicfocus.cli import explorer

    with output.writing(folder) as temporary:
        output.write_model(temporary, outcome.pipeline)
        output.write_metrics(temporary, outcome.result)
        output.write_predictions(temporary, outcome.predictions)
        if outcome.shown["texts"] and explorer.available():
            try:
                page = temporary / output.EXPLORER_FILE
                explorer.write(page, outcome.pipeline, **outcome.shown)
            except (ValueError, TypeError, ImportError) as error:
                # The model is what was asked for; a page can be made from it later.
                remarks.warn(f"no explorer page: {' '.join(str(error).split())}")
        names = sorted(path.name for path in temporary.iterdir())
    return names


def show_result(result: dict[str, Any], as_json: bool) -> None:
    """Print the result for a person, or for a machine."""
    if as_json:
        print_json(result)
    else:
        from topicfocus.cli.show import show

        show(result)
    sys.stdout.flush()
