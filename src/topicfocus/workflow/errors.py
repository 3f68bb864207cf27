"""Errors of the workflow, and how messages name a setting."""

from __future__ import annotations


class SettingError(ValueError):
    """Settings that are wrong or contradict each other; exit code 2 of the command line."""


def setting(name: str, value: object = None) -> str:
    """A setting in a message: ```min_df``` or ```kind='count'```.

    The command line prints ``--min-df`` and ``--kind count`` instead (`topicfocus.cli.console`).
    """
    return f"`{name}`" if value is None else f"`{name}={value!r}`"
