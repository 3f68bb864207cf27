"""Finished parts of a fit, kept so that an interrupted one can be taken up again.

A fit is a chain of deterministic stages. Whoever runs it may offer a store; a stage that is in the
store is taken from there, one that is not is computed and put there. The result is the same to the
last bit either way, because every stage depends on nothing but its inputs.

The store travels in a context variable and not through the estimators: it is no parameter of a
model, and must not be in its `get_params`, its file, or its clones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol, TypeVar

T = TypeVar("T")


class Store(Protocol):
    """Where finished stages are kept, by name."""

    def get(self, name: str) -> Any:
        """What was put under a name, None if nothing was."""
        ...

    def put(self, name: str, value: Any) -> None:
        """Keep a stage: dataclasses, tuples, arrays and numbers."""
        ...

    def due(self) -> bool:
        """Whether a stage that goes on and on (epochs) should be put again now."""
        ...


_STORE: ContextVar[Store | None] = ContextVar("topicfocus_checkpoints", default=None)


@contextmanager
def checkpointing(store: Store | None) -> Iterator[None]:
    """Fits in this block use the store."""
    token = _STORE.set(store)
    try:
        yield
    finally:
        _STORE.reset(token)


def current_store() -> Store | None:
    """The store of the block this is called in."""
    return _STORE.get()


#: Who is told which stage begins.
_LISTENER: ContextVar[Callable[[str], None] | None] = ContextVar("topicfocus_stage", default=None)


@contextmanager
def telling(listener: Callable[[str], None]) -> Iterator[None]:
    """In this block `listener` is told the name of each stage that begins."""
    token = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(token)


def stage(name: str, work: Callable[[], T], finished: Callable[[T], bool] = lambda _: True) -> T:
    """The result of `work`, from the store if it is there; put there if it is `finished`."""
    listener = _LISTENER.get()
    if listener is not None:
        listener(name)
    store = _STORE.get()
    if store is None:
        return work()
    found = store.get(name)
    if found is None:
        found = work()
        if finished(found):
            store.put(name, found)
    return found
