"""`topicfocus tune`: topics and words chosen on folds, then what fit does."""

from __future__ import annotations

import argparse

from topicfocus.cli.fit import fit_and_show
from topicfocus.workflow import TuneOptions, tune_file


def run(args: argparse.Namespace) -> int:
    """Tune, fit, write, show."""
    tuning = TuneOptions(topics=args.topics, shares=args.shares, folds=args.folds, rule=args.rule)
    return fit_and_show(args, tune_file, tuning=tuning)
