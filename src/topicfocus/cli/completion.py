"""`topicfocus completion`: scripts for shells, made from the parser by shtab, so never behind it.

Scripts are static: completing starts no Python. Files are completed by the shell itself.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from topicfocus.cli.parser import build_parser

#: Arguments that are called so in the help are files.
_FILES = ("FILE", "DIR", "MODEL", "WHICH")


def run(args: argparse.Namespace) -> int:
    """Print the script."""
    import shtab

    parser = build_parser()
    for action in _actions(parser):
        if action.metavar in _FILES:
            action.complete = shtab.FILE  # type: ignore[attr-defined]
    print(shtab.complete(parser, shell=args.shell))
    return 0


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """Of the parser and of every command."""
    for action in parser._actions:
        yield action
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield from _actions(command)
