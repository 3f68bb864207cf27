"""`topicfocus completion`: scripts for shells, made from the parser, so never behind it.

Scripts are static: completing starts no Python. Files are completed by the shell itself.
"""

from __future__ import annotations

import argparse
import shlex
from dataclasses import dataclass

from topicfocus.cli.parser import build_parser


@dataclass(frozen=True)
class Option:
    """One option of a command, or a positional argument (no flags)."""

    flags: tuple[str, ...]
    help: str
    takes_value: bool
    choices: tuple[str, ...]
    is_file: bool


@dataclass(frozen=True)
class Command:
    name: str
    help: str
    options: tuple[Option, ...]

    @property
    def flags(self) -> list[str]:
        return [flag for option in self.options for flag in option.flags]

    @property
    def positionals(self) -> list[Option]:
        return [option for option in self.options if not option.flags]


def run(args: argparse.Namespace) -> int:
    """Print the script."""
    write = {"bash": bash, "zsh": zsh, "fish": fish}[args.shell]
    print(write(read_commands(build_parser())), end="")
    return 0


def read_commands(parser: argparse.ArgumentParser) -> list[Command]:
    """Commands and their options, as the parser has them."""
    (commands,) = (a for a in parser._actions if isinstance(a, argparse._SubParsersAction))
    helps = {action.dest: action.help or "" for action in commands._choices_actions}
    return [
        Command(name, helps.get(name, ""), tuple(_option(a) for a in sub._actions))
        for name, sub in commands.choices.items()
    ]


def _option(action: argparse.Action) -> Option:
    text = "" if action.help is None else action.help.replace("%%", "%")
    return Option(
        tuple(action.option_strings),
        " ".join(text.split()),
        action.nargs != 0,
        tuple(map(str, action.choices or ())),
        action.metavar in ("FILE", "DIR", "MODEL", "WHICH"),
    )


def bash(commands: list[Command]) -> str:
    """A function for `complete -F`."""
    names = " ".join(command.name for command in commands)
    lines = [
        "# topicfocus: source <(topicfocus completion bash)",
        "_topicfocus() {",
        '    local word="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}"',
        "    COMPREPLY=()",
        "    if [[ $COMP_CWORD -eq 1 ]]; then",
        f'        COMPREPLY=($(compgen -W "{names} --help --version" -- "$word"))',
        "        return",
        "    fi",
        '    case "${COMP_WORDS[1]} $before" in',
    ]
    for command in commands:
        for option in command.options:
            if not option.flags or not option.takes_value:
                continue
            pattern = "|".join(shlex.quote(f"{command.name} {flag}") for flag in option.flags)
            if option.choices:
                reply = f'COMPREPLY=($(compgen -W "{" ".join(option.choices)}" -- "$word"))'
            elif option.is_file:
                reply = 'COMPREPLY=($(compgen -f -- "$word"))'
            else:
                reply = ":"
            lines.append(f"        {pattern}) {reply}; return ;;")
    lines += ["    esac", '    case "${COMP_WORDS[1]}" in']
    for command in commands:
        words = [*command.flags, *(c for p in command.positionals for c in p.choices)]
        reply = f'COMPREPLY=($(compgen -W "{" ".join(words)}" -- "$word"))'
        if any(option.is_file for option in command.positionals):
            reply += '; [[ $word != -* ]] && COMPREPLY+=($(compgen -f -- "$word"))'
        lines.append(f"        {command.name}) {reply} ;;")
    lines += ["    esac", "}", "complete -o filenames -F _topicfocus topicfocus"]
    return "\n".join(lines) + "\n"


def _files(command: Command) -> bool:
    return any(option.is_file for option in command.positionals)


def zsh(commands: list[Command]) -> str:
    """A completer with descriptions, for a folder of $fpath or for eval."""
    lines = ["#compdef topicfocus", "_topicfocus() {", "    local -a commands", "    commands=("]
    lines += [f"        {_quoted(f'{c.name}:{_colons(c.help)}')}" for c in commands]
    lines += [
        "    )",
        "    if (( CURRENT == 2 )); then",
        "        _describe command commands",
        "        return",
        "    fi",
        "    local command=$words[2]",
        "    shift words; (( CURRENT-- ))",
        "    case $command in",
    ]
    for command in commands:
        lines.append(f"        {command.name}) _arguments -s \\")
        specs = [_zsh_option(option) for option in command.options]
        lines += [f"            {spec} \\" for spec in specs[:-1]] + [f"            {specs[-1]}"]
        lines.append("            ;;")
    lines += [
        "    esac",
        "}",
        # In a file of $fpath the file is the function's body; with eval it has to be registered.
        'if [[ "$funcstack[1]" == "_topicfocus" ]]; then _topicfocus "$@"; '
        "else compdef _topicfocus topicfocus; fi",
    ]
    return "\n".join(lines) + "\n"


def _zsh_option(option: Option) -> str:
    values = ""
    if option.takes_value:
        what = "_files" if option.is_file else f"({' '.join(option.choices)})"
        values = f":value:{what if option.is_file or option.choices else ' '}"
    if not option.flags:
        return _quoted(values or ":value:_files")
    brackets = _colons(option.help).replace("[", "\\[").replace("]", "\\]")
    return " ".join(_quoted(f"{flag}[{brackets}]{values}") for flag in option.flags)


def _colons(text: str) -> str:
    return text.replace(":", "\\:")


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def fish(commands: list[Command]) -> str:
    """`complete` lines with descriptions."""
    lines = ["# topicfocus: topicfocus completion fish | source"]
    for command in commands:
        lines.append(
            "complete -c topicfocus -f -n __fish_use_subcommand "
            f"-a {command.name} -d {_fish(command.help)}"
        )
    for command in commands:
        seen = f'"__fish_seen_subcommand_from {command.name}"'
        if _files(command):
            lines.append(f"complete -c topicfocus -n {seen} -F")
        for option in command.options:
            line = f"complete -c topicfocus -n {seen}"
            if option.flags:
                for flag in option.flags:
                    line += f" -l {flag[2:]}" if flag.startswith("--") else f" -s {flag[1:]}"
                if option.takes_value:
                    line += " -r" + (" -F" if option.is_file else " -f")
            elif not option.choices:
                continue
            if option.choices:
                line += f" -f -a {_fish(' '.join(option.choices))}"
            lines.append(f"{line} -d {_fish(option.help)}")
    return "\n".join(lines) + "\n"


def _fish(text: str) -> str:
    """In quotes, where fish knows two escapes."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
