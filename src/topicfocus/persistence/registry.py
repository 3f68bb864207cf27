"""Classes that may be in a model file. Only these are ever created by loading."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from topicfocus.persistence.errors import ModelFileError


@dataclass(frozen=True)
class Entry:
    """How the objects of a class are stored.

    Attributes
    ----------
    cls : type
    name : str
        What the file calls the class: a key of this table, never the name of an import.
    transient : frozenset of str
        Fitted attributes that are left out: they mean nothing in another process.
    check : callable, optional
        Takes an object and raises if it is not fitted or does not hold together.
    upgrade : callable, optional
        Takes the fitted attributes of a file and returns them as they are called today.
    functions : frozenset of str
        Parameters that may be functions, of which a file has the name only.
    """

    cls: type
    name: str
    transient: frozenset[str] = frozenset()
    check: Callable[[Any], None] | None = None
    upgrade: Callable[[dict[str, Any]], dict[str, Any]] | None = None
    functions: frozenset[str] = frozenset()

    def parameters(self) -> frozenset[str]:
        """Names of the constructor's parameters."""
        return frozenset(inspect.signature(self.cls).parameters)

    def may_have(self, attribute: str) -> bool:
        """Whether a fitted attribute may have this name: nothing that the class defines itself."""
        return (
            attribute.isidentifier()
            and not attribute.startswith("__")
            and not hasattr(self.cls, attribute)
        )


_ENTRIES: dict[str, Entry] = {}
_ENTRY_OF: dict[type, Entry] = {}
_RECORDS: dict[str, type] = {}
_RECORD_OF: dict[type, str] = {}
_RECORD_UPGRADES: dict[type, Callable[[dict[str, Any]], dict[str, Any]]] = {}


def register(
    cls: type,
    *,
    name: str | None = None,
    transient: tuple[str, ...] = (),
    check: Callable[[Any], None] | None = None,
    upgrade: Callable[[dict[str, Any]], dict[str, Any]] | None = None,
    functions: tuple[str, ...] = (),
) -> type:
    """Allow objects of a class in model files; also a class decorator.

    The class follows scikit-learn: `get_params(deep=False)` gives the parameters of its
    constructor, everything else in the object's `__dict__` is what fitting has found.

    Parameters
    ----------
    cls : type
        Exactly this class: a subclass may mean something else by the same attributes.
    name : str, optional
        Its name in files, which must never change; by default the package and the class,
        "topicfocus.LDA".
    transient : tuple of str
        Fitted attributes not to store.
    check : callable, optional
        Called with the object before it is written and after it is read. It raises
        NotFittedError, or ValueError where attributes do not fit together.
    upgrade : callable, optional
        Called with the fitted attributes of every file that is read; returns those of today. So a
        file of an older version still loads after attributes were renamed.
    functions : tuple of str
        Parameters that may be functions. A file has their names, which lead to no import: whoever
        loads it gives the function again, such as ``load(path, tokenizer=...)``.

    Returns
    -------
    type
        The class itself.

    Raises
    ------
    TypeError
        If the class has no ``get_params``.
    ValueError
        If the name is taken.

    Examples
    --------
    >>> from sklearn.base import BaseEstimator
    >>> from topicfocus.persistence import register
    >>> class Halved(BaseEstimator):
    ...     def fit(self, X, y=None):
    ...         return self
    >>> register(Halved, name="example.Halved").__name__
    'Halved'
    """
    if not callable(getattr(cls, "get_params", None)):
        raise TypeError(f"{cls.__name__} has no get_params: its parameters cannot be stored.")
    name = name or f"{cls.__module__.partition('.')[0]}.{cls.__name__}"
    if name in _ENTRIES or cls in _ENTRY_OF:
        raise ValueError(f"{name} is registered already.")
    _ENTRIES[name] = _ENTRY_OF[cls] = Entry(
        cls, name, frozenset(transient), check, upgrade, frozenset(functions)
    )
    return cls


def register_record(
    cls: type,
    *,
    name: str | None = None,
    upgrade: Callable[[dict[str, Any]], dict[str, Any]] | None = None,
) -> type:
    """Allow a NamedTuple or a dataclass as a value in model files, by its fields.

    Parameters
    ----------
    cls : type
        A family of targets of your own, for example.
    name : str, optional
        Its name in files, which must never change; by default the package and the class.
    upgrade : callable, optional
        Called with the fields of every such record that is read; returns those of today.

    Returns
    -------
    type
        The class itself.

    Raises
    ------
    TypeError
        If the class is neither a NamedTuple nor a dataclass.
    ValueError
        If the name is taken.

    Examples
    --------
    >>> from typing import NamedTuple
    >>> from topicfocus.persistence import register_record
    >>> class Waiting(NamedTuple):
    ...     rate: float = 1.0
    >>> register_record(Waiting, name="example.Waiting").__name__
    'Waiting'
    """
    if not (is_dataclass(cls) or (issubclass(cls, tuple) and hasattr(cls, "_fields"))):
        raise TypeError(f"{cls.__name__} is neither a NamedTuple nor a dataclass.")
    name = name or f"{cls.__module__.partition('.')[0]}.{cls.__name__}"
    if name in _RECORDS or cls in _RECORD_OF:
        raise ValueError(f"{name} is registered already.")
    _RECORDS[name] = cls
    _RECORD_OF[cls] = name
    if upgrade is not None:
        _RECORD_UPGRADES[cls] = upgrade
    return cls


def upgraded_fields(cls: type, fields: dict[str, Any]) -> dict[str, Any]:
    """The fields of a record as its class has them today."""
    upgrade = _RECORD_UPGRADES.get(cls)
    return fields if upgrade is None else upgrade(fields)


def record_fields(cls: type) -> tuple[str, ...]:
    """Names of the fields that the constructor takes."""
    if is_dataclass(cls):
        return tuple(field.name for field in fields(cls) if field.init)
    return cls._fields  # type: ignore[attr-defined]


def entry_of(cls: type) -> Entry | None:
    """The entry of a class, None if it has none."""
    return _ENTRY_OF.get(cls)


def entry_named(name: Any) -> Entry:
    """The entry that a file names."""
    if not isinstance(name, str) or name not in _ENTRIES:
        raise ModelFileError(
            f"it holds a {str(name)[:80]!r}, which this version of topicfocus does not know; "
            "upgrade topicfocus, or import the package that registers this class first"
        )
    return _ENTRIES[name]


def record_name(cls: type) -> str | None:
    """The name of a record's class in files, None if it is not registered."""
    return _RECORD_OF.get(cls)


def record_named(name: Any) -> type:
    """The class of a record that a file names."""
    if not isinstance(name, str) or name not in _RECORDS:
        raise ModelFileError(
            f"it holds a {str(name)[:80]!r}, which this version of topicfocus does not know; "
            "upgrade topicfocus, or import the package that registers this class first"
        )
    return _RECORDS[name]
