"""What reading raises."""

from __future__ import annotations


class ReadError(ValueError):
    """Something is wrong with a file. One line: what, where, and what to do."""


class BadRows:
    """Rows that cannot be read: the first is an error, or all are left out and counted."""

    #: Messages kept to be shown; all are counted.
    SHOWN = 10

    def __init__(self, skip: bool) -> None:
        self.skip = skip
        self.n = 0
        self.messages: list[str] = []

    def report(self, message: str) -> None:
        """Count a bad row, or raise."""
        if not self.skip:
            raise ReadError(f"{message} Or leave such rows out: skip_bad=True (--skip-bad).")
        self.n += 1
        if len(self.messages) < self.SHOWN:
            self.messages.append(message)
