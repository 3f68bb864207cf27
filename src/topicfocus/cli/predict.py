"""`topicfocus predict`: a saved model on new texts, in blocks."""

from __future__ import annotations

import argparse
import sys

from topicfocus.cli import options
from topicfocus.cli.console import Remarks, one_line_warnings


def run(args: argparse.Namespace) -> int:
    """Predict every row of FILE."""
    remarks = Remarks(args.quiet)
    with one_line_warnings(remarks):
        from topicfocus.workflow.predict import predict_blocks, whole_file, write_tables

        blocks = predict_blocks(
            args.model,
            args.file,
            **options.new_columns(args),
            reading=options.reading(args),
            jobs=args.jobs,
            remarks=remarks,
        )
        if args.out == "-":
            write_tables(blocks, sys.stdout, as_json=args.json)
            return 0
        with whole_file(args.out) as stream:
            n = write_tables(blocks, stream, as_json=args.json)
    remarks.say(f"Wrote {args.out}: {n:,} predictions.")
    return 0
