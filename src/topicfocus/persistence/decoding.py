"""From JSON and arrays of a file, which may come from anyone, back to values.

Whatever a file says is looked at before something is made of it: a class by its name in the
registry, a field by the type that its class states, an index before compiled code follows it.
"""

from __future__ import annotations

import math
import typing
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from topicfocus.persistence.errors import ModelFileError
from topicfocus.persistence.registry import (
    entry_named,
    record_fields,
    record_named,
    upgraded_fields,
)
from topicfocus.persistence.values import (
    MAX_DEPTH,
    METHODS,
    NUMPY_NAMES,
    PYTHON_TYPES,
    REQUESTS,
    function_name,
)


class Decoder:
    """Turns JSON back into values, with the arrays of the same file."""

    def __init__(
        self, arrays: dict[str, np.ndarray], functions: dict[str, Any] | None = None
    ) -> None:
        self.arrays = arrays
        self.functions = functions or {}
        self.used: set[str] = set()
        self._taken: set[str] = set()

    def decode(self, node: Any, depth: int = 0) -> Any:
        if depth > MAX_DEPTH + 1:
            raise ModelFileError("its values are nested too deeply; save the model anew")
        if node is None or isinstance(node, (bool, int, float, str)):
            return node
        if isinstance(node, list):
            return [self.decode(v, depth + 1) for v in node]
        kind = node.get("kind")
        reader = _READERS.get(kind) if isinstance(kind, str) else None
        if reader is None:
            raise ModelFileError(
                f"it holds a value of kind {str(kind)[:80]!r}, which this version of topicfocus "
                "does not know; upgrade topicfocus"
            )
        return reader(self, node, depth + 1)

    def member(self, name: Any) -> np.ndarray:
        if not isinstance(name, str) or name not in self.arrays:
            raise ModelFileError(f"its array {str(name)[:80]!r} is missing; save the model anew")
        # Else a small file could ask for the same numbers as a list a million times.
        if name in self._taken:
            raise ModelFileError(f"its array {name[:80]!r} is there twice; save the model anew")
        self._taken.add(name)
        return self.arrays[name]

    def _values(self, node: dict[str, Any], depth: int, key: str = "values") -> list[Any]:
        values = self.decode(node[key], depth)
        if not isinstance(values, list):
            raise ModelFileError("it has one value where several are due; save the model anew")
        return values

    def _float(self, node: dict[str, Any], depth: int) -> float:
        return {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}[node["value"]]

    def _tuple(self, node: dict[str, Any], depth: int) -> tuple:
        return tuple(self._values(node, depth))

    def _set(self, node: dict[str, Any], depth: int) -> set:
        return set(self._values(node, depth))

    def _frozenset(self, node: dict[str, Any], depth: int) -> frozenset:
        return frozenset(self._values(node, depth))

    def _dict(self, node: dict[str, Any], depth: int) -> dict:
        keys, values = self._values(node, depth, "keys"), self._values(node, depth)
        return dict(zip(keys, values, strict=True))

    def _array(self, node: dict[str, Any], depth: int) -> np.ndarray:
        return self.member(node["array"])

    def _numbers(self, node: dict[str, Any], depth: int) -> list:
        return list(self.member(node["array"]).ravel())

    def _objects(self, node: dict[str, Any], depth: int) -> np.ndarray:
        values = self._values(node, depth)
        array = np.empty(len(values), dtype=object)
        array[:] = values
        return array.reshape(node["shape"])

    def _scalar(self, node: dict[str, Any], depth: int) -> np.generic:
        value = self.decode(node["value"], depth)
        if node["dtype"] == "str":
            return np.str_(value)
        dtype = _known_dtype(node["dtype"])
        # NumPy itself refuses a number that is too large only since version 2.
        if dtype.kind in "iu" and not np.iinfo(dtype).min <= value <= np.iinfo(dtype).max:
            raise OverflowError(f"{value} is no {dtype}")
        return dtype.type(value)

    def _dtype(self, node: dict[str, Any], depth: int) -> np.dtype:
        return _known_dtype(node["name"])

    def _numpy_type(self, node: dict[str, Any], depth: int) -> type:
        return _known_dtype(node["name"]).type

    def _python_type(self, node: dict[str, Any], depth: int) -> type:
        return PYTHON_TYPES[node["name"]]

    def _csr(self, node: dict[str, Any], depth: int) -> Any:
        cls = {"csr_array": sparse.csr_array, "csr_matrix": sparse.csr_matrix}[node["kind"]]
        parts = tuple(self.member(node[part]) for part in ("data", "indices", "indptr"))
        matrix = cls(parts, shape=tuple(node["shape"]))
        # Compiled code follows these indices without looking.
        matrix.check_format(full_check=True)
        return matrix

    def _record(self, node: dict[str, Any], depth: int) -> Any:
        cls = record_named(node["class"])
        fields = {name: self.decode(v, depth) for name, v in node["fields"].items()}
        fields = upgraded_fields(cls, fields)
        unknown = sorted(set(fields) - set(record_fields(cls)))
        if unknown:
            raise ModelFileError(_unknown(cls, unknown[0]))
        hints = typing.get_type_hints(cls)
        for name, value in fields.items():
            if not _fits(value, hints.get(name)):
                raise ModelFileError(f"{cls.__name__}.{name} cannot be {value!r:.80}")
        return cls(**fields)

    def _functions(self, names: frozenset[str], params: dict[str, Any]) -> dict[str, Any]:
        """The user's functions for parameters of which the file has a name."""
        found = {}
        for name in sorted(names):
            stored = params.get(name)
            if stored is None:
                continue
            if name not in self.functions:
                raise ModelFileError(
                    f"it was fitted with a function of your own, {str(stored)[:80]}, and a model "
                    f"file holds no code; give it the function, in Python: load(path, {name}=...)"
                )
            self.used.add(name)
            found[name] = self.functions[name]
            if function_name(found[name]) != stored:
                warnings.warn(
                    f"the model was fitted with {name}={str(stored)[:80]}, and is given "
                    f"{function_name(found[name])}. If these differ, predictions are wrong.",
                    UserWarning,
                    stacklevel=2,
                )
        return found

    def _object(self, node: dict[str, Any], depth: int) -> Any:
        entry = entry_named(node["class"])
        params = {name: self.decode(v, depth) for name, v in node["params"].items()}
        unknown = sorted(set(params) - entry.parameters())
        if unknown:
            raise ModelFileError(_unknown(entry.cls, unknown[0]))
        params |= self._functions(entry.functions, params)
        value = entry.cls(**params)
        fitted = {name: self.decode(v, depth) for name, v in node["fitted"].items()}
        if entry.upgrade is not None:
            fitted = _holding_together(entry.cls, entry.upgrade, fitted)
        for name, v in fitted.items():
            if not entry.may_have(name) or name in entry.parameters():
                raise ModelFileError(_unknown(entry.cls, name))
            setattr(value, name, v)
        if "requests" in node:
            setattr(value, REQUESTS, _requests(value, node["requests"]))
        if entry.check is not None:
            _holding_together(entry.cls, entry.check, value)
        return value


def _holding_together(cls: type, work: Callable[[Any], Any], value: Any) -> Any:
    """What `work` makes of a value; whatever it trips over, the file does not hold together."""
    try:
        return work(value)
    except Exception as error:
        reason = str(error).rstrip(".") or type(error).__name__
        raise ModelFileError(f"its {cls.__name__} does not hold together: {reason}") from error


_READERS: dict[str, Callable[[Decoder, dict[str, Any], int], Any]] = {
    "array": Decoder._array,
    "csr_array": Decoder._csr,
    "csr_matrix": Decoder._csr,
    "dict": Decoder._dict,
    "dtype": Decoder._dtype,
    "float": Decoder._float,
    "frozenset": Decoder._frozenset,
    "numbers": Decoder._numbers,
    "numpy_type": Decoder._numpy_type,
    "object": Decoder._object,
    "objects": Decoder._objects,
    "python_type": Decoder._python_type,
    "record": Decoder._record,
    "scalar": Decoder._scalar,
    "set": Decoder._set,
    "tuple": Decoder._tuple,
}


def _requests(value: Any, node: Any) -> Any:
    """What `set_fit_request` and the like were told: only metadata that the methods take."""
    routing = value.get_metadata_routing()
    for method, asked in node.items():
        if method not in METHODS:
            raise ModelFileError(_unknown(type(value), method))
        known = getattr(routing, method)
        for param, alias in asked.items():
            if param not in known.requests:
                raise ModelFileError(_unknown(type(value), param))
            # Raises for an alias that is neither a name nor one of True, False and None.
            known.add_request(param=param, alias=alias)
    return routing


def _known_dtype(name: Any) -> np.dtype:
    if name not in NUMPY_NAMES:
        raise ModelFileError(f"it holds numbers of the unknown type {str(name)[:80]!r}")
    return np.dtype(name)


def _unknown(cls: type, name: str) -> str:
    return (
        f"{cls.__name__} has no {name[:80]!r} in the installed versions; install those that the "
        "file was written with (topicfocus.json inside it names them), or fit anew"
    )


def _fits(value: Any, hint: Any) -> bool:
    """Whether a field's value is of the type that its class states, as far as that is simple."""
    if hint is float:
        return isinstance(value, (int, float, np.number)) and type(value) is not bool
    if hint in (int, bool, str):
        return type(value) is hint
    if typing.get_origin(hint) is typing.Literal:
        return value in typing.get_args(hint)
    return True
