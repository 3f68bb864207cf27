"""`topicfocus fit`: from a file to a fitted, judged, saved model."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from topicfocus.cli import options
from topicfocus.cli.console import Remarks, one_line_warnings, print_json
from topicfocus.workflow import CountOptions, SettingError, fit_file, read_stop_words
from topicfocus.workflow.manifest import EXPLORER_FILE
from topicfocus.workflow.write import default_folder


def run(args: argparse.Namespace) -> int:
    """Fit, write, show."""
    return fit_and_show(args, fit_file, topics=args.topics, inclusion_prior=args.inclusion_prior)


def fit_and_show(args: argparse.Namespace, fit: Any, **chosen: Any) -> int:
    """What `fit` and `tune` have in common; `chosen` is what they do not."""
    if not args.file:
        raise SettingError("say what is read: topicfocus fit FILE, or file in the --config.")
    remarks = Remarks(args.quiet)
    files = [args.file] if isinstance(args.file, str) else args.file  # a config may have one
    with one_line_warnings(remarks):
        outcome = fit(
            files,
            text=args.text,
            target=args.target,
            kind=args.kind,
            covariates=args.covariates,
            weight=args.weight,
            exposure=args.exposure,
            group=args.group,
            model=args.model,
            selection=args.selection,
            class_weight=args.class_weight,
            stability=args.stability,
            test_share=args.test_share,
            baseline=not args.no_baseline,
            seed=args.seed,
            jobs=args.jobs,
            out_of_core=args.out_of_core,
            cluster=args.cluster,
            reading=options.reading(args),
            counting=_counting(args),
            out=args.out or default_folder(files[0]),
            overwrite=args.overwrite,
            resume=args.resume,
            checkpoint_every=args.checkpoint_every,
            log=args.log,
            fingerprint=getattr(args, "fingerprint", None),
            remarks=remarks,
            progress=not args.quiet,
            **chosen,
        )
    show_result(outcome.result, args.json)
    say_written(outcome, remarks)
    return 0


def _counting(args: argparse.Namespace) -> CountOptions:
    words = args.stop_words  # a list in the config of a fit with words of a file
    return CountOptions(
        stop_words=words if isinstance(words, list) else read_stop_words(words, args.encoding),
        min_df=args.min_df,
        max_df=args.max_df,
        max_features=args.max_features,
        ngrams=args.ngrams,
        min_length=args.min_length,
        lowercase=not args.keep_case,
        separator=args.separator,
    )


def show_result(result: dict[str, Any], as_json: bool) -> None:
    """Print the result for a person, or for a machine."""
    if as_json:
        print_json(result)
    else:
        from topicfocus.cli.show import show

        show(result)
    sys.stdout.flush()


def say_written(outcome: Any, remarks: Remarks) -> None:
    """Where it is, after the result itself."""
    names = [f"{n} (for a browser)" if n == EXPLORER_FILE else n for n in outcome.written]
    remarks.say(f"Wrote {outcome.folder}/: {', '.join(names)}.")
