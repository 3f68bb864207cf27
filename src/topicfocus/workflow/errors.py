"""What the workflow raises, beside the errors of the library."""

from __future__ import annotations


class SettingError(ValueError):
    """Settings that are wrong or do not go together; the command line's exit code 2."""


class FolderInUse(OSError):
    """Another process is writing the same folder."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C, with what to do next."""
