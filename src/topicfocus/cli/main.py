"""`topicfocus`: parse arguments, run a command, turn errors into exit codes.

Nothing heavy is imported before a command runs, so `--help` and usage errors are instant.
Exit codes: 0 done, 1 the run failed, 2 bad usage, 130 interrupted.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence

from topicfocus.cli import commands
from topicfocus.cli.console import as_options, messages, open_streams, printable
from topicfocus.cli.parser import parse
from topicfocus.workflow.errors import SettingError

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
        with messages(args.quiet):
            getattr(commands, args.command)(args)
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
    except SystemError as error:
        # Numba raises it for a signal that arrives while compiled code calls Python.
        if isinstance(error.__cause__ or error.__context__, KeyboardInterrupt):
            return _interrupted()
        raise
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
