"""`topicfocus report`: the explorer page of a saved model."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from topicfocus.cli import explorer
from topicfocus.cli.console import Remarks, one_line_warnings, print_json


def run(args: argparse.Namespace) -> int:
    """Write the page for documents of FILE."""
    if not explorer.available():
        raise ImportError(
            "this version of topicfocus cannot write the explorer page (it has no "
            "topicfocus.report). Upgrade it: pip install -U topicfocus."
        )
    remarks = Remarks(args.quiet)
    page = Path(args.out)
    if page.exists() and not args.overwrite:
        raise FileExistsError(f"{page} exists. Choose another --out, or replace it: --overwrite.")
    with one_line_warnings(remarks):
        from topicfocus.cli.columns import Columns, read_new
        from topicfocus.cli.models import load_model, target_values
        from topicfocus.text import detect_target

        saved = load_model(args.model, args.jobs)
        settings = saved.settings
        target = args.target or settings.get("target")
        names, table = read_new(args, saved, target=target)
        if hasattr(table, "corpus"):
            raise ValueError(f"{args.file} is a count matrix; the page needs texts.")
        texts: list[str] = []
        for block in table:
            texts += block.strings
            if len(texts) >= args.docs:
                break
        values = None
        if table.target is not None:
            found = detect_target(table.target[: args.docs], settings.get("kind"))
            values = target_values(found)
        columns = Columns.read(names, table).of(np.arange(min(len(texts), args.docs)))
        shown = columns.for_predict()
        if names.covariates:
            shown["covariate_names"] = list(names.covariates)
        explorer.write(
            page,
            saved.whole,
            texts=texts[: args.docs],
            target=values,
            target_name=target,
            **shown,
        )
    if args.json:
        print_json({"page": str(page), "documents": min(len(texts), args.docs)})
    remarks.say(f"Wrote {page}, {min(len(texts), args.docs):,} documents.")
    return 0
