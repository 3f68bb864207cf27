"""A share of words that is held: what an automatic share came to, for fits that are to be compared.

Whoever fits a model again to a part of its documents may want to see what other documents change,
and not that fewer of them choose another share by themselves. In a block of `holding_share` an
automatic share has one value. It stays a limit: unlike a share that a user gives, it is not filled
up with words that have no evidence of their own (`cut`). If discoveries alone were kept, they are
what is kept again, unless they were to last: then it is the share.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple


class HeldShare(NamedTuple):
    """A share of the tokens, and whether words are kept by it or discoveries alone."""

    share: float
    discoveries: bool = False


_HELD: ContextVar[HeldShare | None] = ContextVar("topicfocus_held_share", default=None)


@contextmanager
def holding_share(share: HeldShare | None) -> Iterator[None]:
    """Automatic shares of fits in this block are this one, or, with None, chosen as always."""
    token = _HELD.set(share)
    try:
        yield
    finally:
        _HELD.reset(token)


def held_share() -> HeldShare | None:
    """The share of the block this is called in."""
    return _HELD.get()
