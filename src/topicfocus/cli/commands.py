"""The commands: call the workflow with a configuration, print the result."""

from __future__ import annotations

import argparse
import logging
import sys
from dataclasses import replace
from typing import Any

from topicfocus.cli.console import ResultStream, print_json
from topicfocus.cli.parser import make_config
from topicfocus.workflow.errors import SettingError

log = logging.getLogger(__name__)


def fit(args: argparse.Namespace) -> None:
    from topicfocus.workflow.fit import run
    from topicfocus.workflow.write import default_folder

    config = make_config(args, progress=not args.quiet, **_stop_words(args))
    if not config.paths:
        raise SettingError("name a file to read: topicfocus fit FILE, or file in the --config.")
    if config.out is None:
        config = replace(config, out=default_folder(config.paths[0]))
    outcome = run(config)
    _show_fit(outcome.result, args.json)
    _say_written(outcome)


tune = fit


def _stop_words(args: argparse.Namespace) -> dict[str, Any]:
    """The words of a file that --stop-words names; a file of --config cannot name one."""
    if "stop_words" not in args:
        return {}
    from topicfocus.workflow.read import read_stop_words

    return {"stop_words": read_stop_words(args.stop_words, getattr(args, "encoding", "utf-8"))}


def _show_fit(result: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print_json(result)
    else:
        from topicfocus.cli.show import show

        show(result)
    sys.stdout.flush()


def _say_written(outcome: Any) -> None:
    from topicfocus.workflow.write import EXPLORER_FILE

    names = [f"{n} (for a browser)" if n == EXPLORER_FILE else n for n in outcome.written]
    log.info(f"Wrote {outcome.folder}/: {', '.join(names)}.")


def demo(args: argparse.Namespace) -> None:
    """Real reviews if they are installed, simulated ones otherwise."""
    from topicfocus.workflow.demo import find_reviews, fit_reviews, fit_synthetic

    config = make_config(args, progress=not args.quiet)
    file = find_reviews() if config.data != "synthetic" else None
    if file is None and config.data == "imdb":
        raise ImportError(
            "the reviews are not installed. Install them: pip install 'topicfocus[demo]'."
        )
    if file is not None:
        outcome = fit_reviews(file, config)
        _show_fit(outcome.result, args.json)
        if outcome.folder is not None:
            _say_written(outcome)
            return
        log.info(
            "Nothing was written. With --out DIR the model is kept for predict and explain, with "
            "its metrics, predictions and the explorer page."
        )
        return
    if config.out:
        raise SettingError("--out is for real reviews: pip install 'topicfocus[demo]'.")
    if config.data == "auto":
        log.info("For 25,000 real reviews: pip install 'topicfocus[demo]'.")
    result = fit_synthetic(config)
    if args.json:
        print_json(result)
    else:
        from topicfocus.cli.synthetic import show

        show(result)
    log.info("Nothing was written: a model of real reviews can be kept, with --out DIR.")


def predict(args: argparse.Namespace) -> None:
    config = make_config(args)
    from topicfocus.workflow.models import model_files
    from topicfocus.workflow.predict import run_predict
    from topicfocus.workflow.tables import write_tables
    from topicfocus.workflow.write import check_file, whole_file

    if config.out == "-":
        write_tables(run_predict(config), ResultStream(args.json), as_json=args.json)
        return
    inputs = (*config.paths, config.vocabulary, *model_files(config.model))
    check_file(config.out, config.overwrite, inputs)
    blocks = run_predict(config)
    with whole_file(config.out, overwrite=config.overwrite) as stream:
        n = write_tables(blocks, stream, as_json=args.json)
    log.info(f"Wrote {config.out}: {n:,} predictions.")


def explain(args: argparse.Namespace) -> None:
    config = make_config(args)
    text = sys.stdin.read() if config.text in (None, "-") else config.text
    if not text.strip():
        raise SettingError('there is no text to explain: --text "...".')
    from topicfocus.workflow import explain_text, load_model

    saved = load_model(config.model, jobs=config.jobs)
    result = explain_text(
        saved, text, label=config.label, covariates=config.covariates, exposure=config.exposure
    )
    if args.json:
        print_json(result)
    else:
        from topicfocus.cli.show_explanation import show

        show(result, saved.settings.get("target") or "prediction")


def report(args: argparse.Namespace) -> None:
    config = make_config(args)
    from topicfocus.workflow.report import run_report

    written = run_report(config)
    if args.json:
        print_json(written)
    log.info(f"Wrote {written['page']}, {written['documents']:,} documents.")
