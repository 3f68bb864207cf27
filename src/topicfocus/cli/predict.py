"""`topicfocus predict`: a saved model on new texts, in blocks."""

from __future__ import annotations

import argparse

from topicfocus.cli import options
from topicfocus.cli.console import Remarks, one_line_warnings
from topicfocus.cli.encodings import result_stream, warn_of_degraded


def run(args: argparse.Namespace) -> int:
    """Predict every row of FILE."""
    remarks = Remarks(args.quiet)
    with one_line_warnings(remarks):
        from topicfocus.workflow.models import model_files
        from topicfocus.workflow.outputs import check_output, whole_file
        from topicfocus.workflow.predict import predict_blocks, write_tables

        if args.out != "-":
            inputs = (*args.file, args.vocabulary, *model_files(args.model))
            check_output(args.out, args.overwrite, inputs, remarks)
        blocks = predict_blocks(
            args.model,
            args.file,
            **options.new_columns(args),
            reading=options.reading(args),
            jobs=args.jobs,
            remarks=remarks,
        )
        if args.out == "-":
            write_tables(blocks, result_stream(as_json=args.json), as_json=args.json)
            warn_of_degraded(remarks)
            return 0
        with whole_file(args.out, overwrite=args.overwrite) as stream:
            n = write_tables(blocks, stream, as_json=args.json)
    remarks.say(f"Wrote {args.out}: {n:,} predictions.")
    return 0
