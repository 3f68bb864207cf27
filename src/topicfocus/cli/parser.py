"""The argument parser, made from the fields of the configuration classes."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import Field
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
    about_command,
    converted,
    help_of,
    options_of,
    read_config,
)

#: The configuration of each command, whose docstring is its help.
COMMANDS: dict[str, type[Any]] = {
    "demo": DemoConfig,
    "fit": FitConfig,
    "tune": TuneConfig,
    "show": ShowConfig,
    "predict": PredictConfig,
    "explain": ExplainConfig,
    "report": ReportConfig,
}


class _Parser(argparse.ArgumentParser):
    """A parser whose messages are safe to print: arguments may be names of strangers' files."""

    def error(self, message: str) -> NoReturn:
        super().error(printable(message))


def build_parser(full: bool = False) -> argparse.ArgumentParser:
    """The parser of every command; its help shows all options if `full`."""
    parser = _Parser(
        prog="topicfocus",
        description="Topic models that explain an outcome.",
        epilog="Exit codes: 0 done, 1 the run failed, 2 bad usage, 130 interrupted. Results go to "
        "standard output, messages to standard error.",
    )
    parser.add_argument("--version", action="version", version=f"topicfocus {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, config in COMMANDS.items():
        _add_command(commands, name, config, full)
    return parser


def _add_command(commands: Any, name: str, config: type[Any], full: bool) -> None:
    listed, known = options_of(config), help_of(config)
    title, description, example = about_command(config)
    arguments = [one for one in listed if one.metadata["positional"] is not None]
    shown = " ".join(_shown(one) for one in arguments)
    more = "" if full else f" All options: topicfocus {name} --help-all."
    parser = commands.add_parser(
        name,
        help=title,
        description=description,
        epilog=f"Example: {example}.{more}",
        usage=f"topicfocus {name} {shown} [options]".replace("  ", " "),
    )
    parser.add_argument("--help-all", action="help", help="show all options and exit")
    groups: dict[str, Any] = {"": parser}
    for one in (*arguments, *(one for one in listed if one not in arguments)):
        group = _group(parser, groups, one.metadata["group"] if full else "")
        text = known[one.name]
        first = text.split()[0]
        if len(first) == 1 or not first.isupper():  # no abbreviation
            text = text[0].lower() + text[1:]
        _add_option(group, one, text, full)
    output = _group(parser, groups, "output" if full else "")

    def add(flag: str, text: str, **more: Any) -> None:
        output.add_argument(flag, help=text if full else argparse.SUPPRESS, **more)

    if config in (FitConfig, TuneConfig):
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
    kind = COMMANDS[args.command]
    given = {one.name: getattr(args, one.name) for one in options_of(kind) if one.name in args}
    settings: dict[str, Any] = {}
    if getattr(args, "config", None) is not None:
        settings = read_config(args.config)
        if kind is TuneConfig:  # what is chosen here is not taken from a file
            settings = {k: v for k, v in settings.items() if k not in ("topics", "inclusion_prior")}
    return kind(**{**settings, **given, **more})
