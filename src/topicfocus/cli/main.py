"""`topicfocus`: parse arguments, call a command, turn errors into exit codes.

Nothing heavy is imported before a command is known to run, so `--help` and usage errors
are instant.
Exit codes: 0 done, 1 the run failed, 2 bad usage, 130 interrupted.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import traceback
from collections.abc import Sequence

from topicfocus.cli.encodings import degrade_streams
from topicfocus.cli.parser import build_parser
from topicfocus.cli.streams import check_stdout, fill_streams
from topicfocus.interrupts import is_interrupt
from topicfocus.workflow.config import read_flat
from topicfocus.workflow.errors import Interrupted, SettingError
from topicfocus.workflow.interrupts import all_is_said, cleaning_up, end_in_time
from topicfocus.workflow.printable import printable
from topicfocus.workflow.wording import command_line

INTERRUPTED = 130
#: Characters of a message; what is longer quotes a file.
_LONGEST = 2000


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code (argparse itself exits with 2 on bad usage).

    Without `argv` it is the process itself, which ends with the command.
    """
    alone = argv is None
    try:
        with cleaning_up(ends=alone):
            missing = fill_streams()
            degrade_streams()
            code = _code(build_parser().parse_args(argv), argv, missing)
    except KeyboardInterrupt as error:
        code = _interrupted(error)
    if alone:
        end_in_time(code)
    return code


def _code(args: argparse.Namespace, argv: Sequence[str] | None, missing: tuple[str, ...]) -> int:
    """Run a command; what it raises as an exit code, and what there is to say."""
    debug = getattr(args, "debug", False)
    try:
        check_stdout(args, missing)
        code = _run(_with_config(args, argv))
        # Here and not at exit: a full disk or a reader that went away is still ours to tell.
        sys.stdout.flush()
        return code
    except KeyboardInterrupt as error:
        return _interrupted(error)
    except BrokenPipeError:
        _abandon_stdout()  # the reader (head, less) went away: not our error, nothing more to say
        return 0
    except SettingError as error:
        return _fail(error, 2)
    except MemoryError as error:
        short = ValueError(f"out of memory. {error}".strip())
        short.__notes__ = getattr(error, "__notes__", [])
        return _fail(short, 1, debug)
    except (ValueError, TypeError, OSError, ImportError, ArithmeticError, SystemError) as error:
        if is_interrupt(error):  # in an import, or in compiled code
            return _interrupted(error)
        if isinstance(error, SystemError):
            raise
        if isinstance(error, OSError):
            _abandon_stdout()  # what is left in its buffer would fail once more at exit
        return _fail(error, 1, debug)


def _with_config(args: argparse.Namespace, argv: Sequence[str] | None) -> argparse.Namespace:
    """The arguments once more, with the settings of a config file in the place of defaults."""
    if getattr(args, "config", None) is None:
        return args
    with command_line():
        settings = read_flat(args.config)
    if "lowercase" in settings:
        settings["keep_case"] = not settings.pop("lowercase")
    if "baseline" in settings:
        settings["no_baseline"] = not settings.pop("baseline")
    return build_parser(settings).parse_args(argv)


def _run(args: argparse.Namespace) -> int:
    with command_line():
        return importlib.import_module(f"topicfocus.cli.{args.command}").run(args)


def _interrupted(error: BaseException) -> int:
    """Ctrl-C, or what came of it: one line, with how to go on where the workflow knows."""
    hints = [str(error)] if isinstance(error, Interrupted) and str(error) else []
    hint = "".join(f". {hint}" for hint in hints or getattr(error, "__notes__", []))
    all_is_said()
    print(f"topicfocus: interrupted{printable(hint)}", file=sys.stderr)
    return INTERRUPTED


def _fail(error: BaseException, code: int, debug: bool = False) -> int:
    """One line, whatever the error looks like; before it where it came from, if that is asked."""
    if debug:
        print(printable(traceback.format_exc()), file=sys.stderr)
    message = " ".join(str(error).split()) or type(error).__name__
    if isinstance(error, OSError) and error.strerror:
        where = f" ({error.filename})" if error.filename else ""
        message = f"{error.strerror}{where}."
    message = " ".join([message, *getattr(error, "__notes__", ())])
    if len(message) > _LONGEST:  # a value of thousands of digits, say
        message = f"{message[: _LONGEST // 2]} ... {message[-_LONGEST // 2 :]}"
    print(f"topicfocus: error: {printable(message)}", file=sys.stderr)
    return code


def _abandon_stdout() -> None:
    """Let go of standard output without another attempt to write what is in its buffer."""
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), sys.stdout.fileno())
