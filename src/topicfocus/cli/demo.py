"""`topicfocus demo`: the main job on reviews that are at hand."""

from __future__ import annotations

import argparse
from pathlib import Path

from topicfocus.cli.console import Remarks, one_line_warnings
from topicfocus.workflow.demo import REVIEWS, find_reviews, fit_reviews
from topicfocus.workflow.errors import SettingError
from topicfocus.workflow.options import ModelOptions


def run(args: argparse.Namespace) -> int:
    """On real reviews if they are installed, on synthetic ones otherwise."""
    remarks = Remarks(args.quiet)
    file = find_reviews() if args.data != "synthetic" else None
    if file is None and args.data == "imdb":
        raise ImportError(
            "the reviews are not installed. Install them: pip install 'topicfocus[demo]'."
        )
    if file is None:
        from topicfocus.cli import synthetic

        if args.out:
            raise SettingError("--out is for real reviews: pip install 'topicfocus[demo]'.")
        if args.data == "auto":
            remarks.say("For 25,000 real reviews: pip install 'topicfocus[demo]'.")
        code = synthetic.run(args)
        remarks.say("Nothing was written: a model of real reviews can be kept, with --out DIR.")
        return code
    return _run_reviews(args, file, remarks)


def _run_reviews(args: argparse.Namespace, file: Path, remarks: Remarks) -> int:
    from topicfocus.cli.fit import say_written, show_result

    options = ModelOptions(
        topics=args.topics, inclusion_prior=args.inclusion_prior, seed=args.seed, jobs=args.jobs
    )
    with one_line_warnings(remarks):
        outcome = fit_reviews(
            file,
            args.docs or REVIEWS,
            options,
            remarks,
            out=args.out,
            overwrite=args.overwrite,
            progress=not args.quiet,
        )
    show_result(outcome.result, args.json)
    if outcome.folder is not None:
        say_written(outcome, remarks)
    else:
        remarks.say(
            "Nothing was written. With --out DIR the model is kept for predict and explain, with "
            "its figures, predictions and the explorer page."
        )
    return 0
