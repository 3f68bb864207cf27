"""`topicfocus`: parse arguments, call a command, turn errors into exit codes.

Nothing heavy is imported before a command is known to run, so `--help` and usage errors
are instant.
Exit codes: 0 done, 1 the run failed, 2 bad usage, 130 interrupted.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from topicfocus import __version__


def _share(text: str) -> float:
    value = float(text)
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError(f"must lie between 0 and 1, got {text}")
    return value


def _count(minimum: int):
    def parse(text: str) -> int:
        value = int(text)
        if value < minimum:
            raise argparse.ArgumentTypeError(f"must be at least {minimum}, got {text}")
        return value

    parse.__name__ = "whole number"  # named in argparse's message for "abc"
    return parse


def build_parser() -> argparse.ArgumentParser:
    """The parser of every command."""
    parser = argparse.ArgumentParser(
        prog="topicfocus",
        description="Supervised topic models that keep only the words that predict.",
    )
    parser.add_argument("--version", action="version", version=f"topicfocus {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)

    demo = commands.add_parser(
        "demo",
        help="fit a model to built-in reviews and show what it finds; needs no download",
        description="Fit pf-sLDA to synthetic, readable movie reviews whose relevant words are "
        "known, and show its topics, the words it kept beside the truth, and held-out figures.",
    )
    demo.add_argument("--docs", type=_count(200), default=3000, help="reviews (default 3000)")
    demo.add_argument("--topics", type=_count(2), default=5, help="topics (default 5)")
    demo.add_argument(
        "--inclusion-prior",
        type=_share,
        default=0.25,
        metavar="P",
        help="expected share of relevant tokens, between 0 and 1 (default 0.25)",
    )
    demo.add_argument("--seed", type=_count(0), default=0, help="random seed (default 0)")
    demo.add_argument("--jobs", type=_count(1), default=None, help="threads (default: all cores)")
    demo.add_argument("--json", action="store_true", help="print the results as JSON")
    demo.add_argument("--quiet", action="store_true", help="no progress bar")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code (argparse itself exits with 2 on bad usage)."""
    args = build_parser().parse_args(argv)
    try:
        from topicfocus.cli import demo

        return {"demo": demo.run}[args.command](args)
    except KeyboardInterrupt:
        print("topicfocus: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # The reader (head, less) went away: not our error, and nothing more to say.
        sys.stderr.close()
        return 0
    except (ValueError, TypeError, OSError, FloatingPointError) as error:
        print(f"topicfocus: error: {error}", file=sys.stderr)
        return 1
