"""Standard streams that whoever started us has closed (`<&-`, `>&-`)."""

from __future__ import annotations

import argparse
import os
import sys

from topicfocus.workflow.errors import SettingError

_STREAMS = (("stdin", os.O_RDONLY, "r"), ("stdout", os.O_WRONLY, "w"), ("stderr", os.O_WRONLY, "w"))
#: Commands whose result is written to a file, too, or can be.
_WRITING = ("demo", "fit", "report")


def fill_streams() -> tuple[str, ...]:
    """Open what is closed, as if it were empty and went nowhere; returns its names.

    A number that is free would be given to the next file that is opened, and whoever writes to
    standard output or error would write into it.
    """
    missing = tuple(name for name, _, _ in _STREAMS if getattr(sys, name) is None)
    for number, (name, flag, mode) in enumerate(_STREAMS):
        if name not in missing:
            continue
        try:
            os.fstat(number)
        except OSError:
            opened = os.open(os.devnull, flag)
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)
        setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115
    return missing


def check_stdout(args: argparse.Namespace, missing: tuple[str, ...]) -> None:
    """Before any work: a result that would go nowhere is not worth it."""
    if "stdout" not in missing or args.command in _WRITING:
        return
    out = getattr(args, "out", "-")
    if out == "-":
        instead = "; name a file with --out" if hasattr(args, "out") else ""
        raise SettingError(f"standard output is closed{instead}.")
