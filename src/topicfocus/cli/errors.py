"""What commands raise, beside the errors of the library."""

from __future__ import annotations


class UsageError(ValueError):
    """Arguments that do not go together: exit code 2."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C, with what to do next."""
