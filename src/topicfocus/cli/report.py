"""`topicfocus report`: the explorer page of a saved model."""

from __future__ import annotations

import argparse

from topicfocus.cli import options
from topicfocus.cli.console import Remarks, one_line_warnings, print_json


def run(args: argparse.Namespace) -> int:
    """Write the page for documents of FILE."""
    remarks = Remarks(args.quiet)
    with one_line_warnings(remarks):
        from topicfocus.workflow import report_file

        written = report_file(
            args.model,
            args.file,
            **options.new_columns(args),
            target=args.target,
            by=args.by,
            time=args.time,
            out=args.out,
            overwrite=args.overwrite,
            docs=args.docs,
            reading=options.reading(args),
            jobs=args.jobs,
        )
    if args.json:
        print_json(written)
    remarks.say(f"Wrote {written['page']}, {written['documents']:,} documents.")
    return 0
