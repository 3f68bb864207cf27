"""Values as JSON and arrays, and back, by the type of each value.

None, booleans, whole numbers, finite floats (whose repr is exact), strings and lists are JSON as
they are. Everything else is an object with a "kind". A type that is not here cannot be stored:
guessing would bring another value back than was saved.
"""

from __future__ import annotations

import json
import math
import typing
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from topicfocus.persistence.archive import is_storable
from topicfocus.persistence.errors import ModelFileError
from topicfocus.persistence.registry import (
    entry_named,
    entry_of,
    record_fields,
    record_name,
    record_named,
    upgraded_fields,
)

_MAX_DEPTH = 40
#: Where scikit-learn keeps the metadata that methods of an object ask for (`set_fit_request`).
_REQUESTS = "_metadata_request"
_METHODS = (
    "fit",
    "partial_fit",
    "predict",
    "predict_proba",
    "predict_log_proba",
    "decision_function",
    "score",
    "transform",
    "inverse_transform",
)
#: Lists of so many NumPy numbers of one type become an array: vocabularies have thousands.
_LONG_LIST = 8
_PYTHON_TYPES = {"bool": bool, "int": int, "float": float}
#: bool, float16 to float64, int8 to int64, uint8 to uint64: the same on every machine.
_NUMPY_NAMES = frozenset(np.dtype(code).name for code in "?efdbhiqBHIQ")
_RANDOM = (
    np.random.Generator,
    np.random.RandomState,
    np.random.BitGenerator,
    np.random.SeedSequence,
)


# ---- writing ----------------------------------------------------------------------------------


class Encoder:
    """Turns values into JSON; arrays go to `arrays`, by the name of their member in the file."""

    def __init__(self) -> None:
        self.arrays: dict[str, np.ndarray] = {}

    def encode(self, value: Any, where: str, depth: int = 0) -> Any:
        """`where` names the value in messages: "CountVectorizer.tokenizer"."""
        if depth > _MAX_DEPTH:
            raise TypeError(f"Cannot save {where[:80]}...: it is nested too deeply.")
        kind = type(value)
        if value is None or kind in (bool, int, str):
            return value
        if kind is float:
            return value if math.isfinite(value) else {"kind": "float", "value": repr(value)}
        if kind in (list, tuple, dict, set, frozenset):
            return self._container(value, where, depth)
        if kind is np.ndarray or isinstance(value, (np.generic, np.dtype, type)):
            return self._numpy(value, where, depth)
        if kind in (sparse.csr_array, sparse.csr_matrix):
            return {
                "kind": kind.__name__,
                "shape": [int(n) for n in value.shape],
                "data": self._member(value.data, where),
                "indices": self._member(value.indices, where),
                "indptr": self._member(value.indptr, where),
            }
        if isinstance(value, _RANDOM):
            warnings.warn(
                f"{where} is a {kind.__name__}, whose state is not part of a model: the file has "
                "None instead. Give a whole number to have it stored.",
                UserWarning,
                stacklevel=2,
            )
            return None
        name = record_name(kind)
        if name is not None:
            fields = {
                field: self.encode(getattr(value, field), f"{where}.{field}", depth + 1)
                for field in record_fields(kind)
            }
            return {"kind": "record", "class": name, "fields": fields}
        if entry_of(kind) is not None:
            return self.encode_object(value, depth)
        raise TypeError(_refusal(value, where))

    def _container(self, value: Any, where: str, depth: int) -> Any:
        """A list is JSON's own; the others say what they are."""
        kind = type(value)
        if kind is list:
            return self._list(value, where, depth)
        if kind is tuple:
            return {"kind": "tuple", "values": self._list(list(value), where, depth)}
        if kind is dict:
            return {
                "kind": "dict",
                "keys": self._list(list(value), f"{where} (a key)", depth),
                "values": self._list(list(value.values()), where, depth),
            }
        values = [self.encode(v, where, depth + 1) for v in value]
        # A set has no order of its own that two runs would share.
        return {"kind": kind.__name__, "values": sorted(values, key=json.dumps)}

    def _numpy(self, value: Any, where: str, depth: int) -> Any:
        """An array, a number of NumPy, or a type."""
        if type(value) is np.ndarray:
            return self._array(value, where, depth)
        if isinstance(value, np.generic):
            return self._scalar(value, where)
        return self._type(value, where)

    def encode_object(self, value: Any, depth: int = 0) -> dict[str, Any]:
        """An object of a registered class: its parameters, and what fitting has found."""
        label = type(value).__name__
        entry = entry_of(type(value))
        if entry is None and not hasattr(value, "get_params"):
            raise TypeError(f"Cannot save a {label}: it is no estimator. Use save(model, path).")
        if entry is None or isinstance(value, type):
            raise TypeError(_refusal(value, f"this {label}"))
        if entry.check is not None:
            entry.check(value)
        params = value.get_params(deep=False)
        for parameter in entry.functions:
            if callable(params.get(parameter)):
                params[parameter] = function_name(params[parameter])
        fitted = {
            name: v
            for name, v in vars(value).items()
            if name not in params and name not in entry.transient and name != _REQUESTS
        }
        for name in fitted:
            if not entry.may_have(name):
                raise TypeError(
                    f"Cannot save {label}.{name}: the class itself has something of that name. "
                    f"Delete it from the object first: del model.{name}."
                )
        node = {
            "kind": "object",
            "class": entry.name,
            "params": {n: self.encode(v, f"{label}.{n}", depth + 1) for n, v in params.items()},
            "fitted": {n: self.encode(v, f"{label}.{n}", depth + 1) for n, v in fitted.items()},
        }
        if _REQUESTS in vars(value):
            routing = value.get_metadata_routing()
            requests = {m: dict(getattr(routing, m).requests) for m in _METHODS}
            node["requests"] = {m: asked for m, asked in requests.items() if asked}
        return node

    def _list(self, values: list[Any], where: str, depth: int) -> Any:
        first = type(values[0]) if values else None
        if (
            len(values) >= _LONG_LIST
            and first is not None
            and issubclass(first, np.number)
            and all(type(v) is first for v in values)
        ):
            return {"kind": "numbers", "array": self._member(np.array(values, first), where)}
        return [self.encode(v, where, depth + 1) for v in values]

    def _array(self, array: np.ndarray, where: str, depth: int) -> Any:
        if array.dtype != object:
            return {"kind": "array", "array": self._member(array, where)}
        values = array.ravel().tolist()
        for v in values:
            if v is not None and type(v) not in (bool, int, float, str):
                raise TypeError(_refusal(v, f"{where} (an array of objects)"))
        shape = [int(n) for n in array.shape]
        return {"kind": "objects", "shape": shape, "values": self._list(values, where, depth)}

    def _member(self, array: np.ndarray, where: str) -> str:
        if not is_storable(array.dtype):
            raise TypeError(
                f"Cannot save {where}: an array of {array.dtype}. Arrays of real numbers or of "
                "strings can be saved; convert it with astype."
            )
        hint = where.rpartition(".")[2]
        hint = hint if hint.isidentifier() and hint.isascii() else "values"
        name = f"arrays/{len(self.arrays)}-{hint}.npy"
        self.arrays[name] = array
        return name

    def _scalar(self, value: np.generic, where: str) -> Any:
        if type(value) is np.str_:
            return {"kind": "scalar", "dtype": "str", "value": str(value)}
        name = value.dtype.name
        if name not in _NUMPY_NAMES:
            raise TypeError(_refusal(value, where))
        return {"kind": "scalar", "dtype": name, "value": self.encode(value.item(), where)}

    def _type(self, value: Any, where: str) -> Any:
        if isinstance(value, np.dtype):
            if value.name in _NUMPY_NAMES:
                return {"kind": "dtype", "name": value.name}
        elif value in _PYTHON_TYPES.values():
            return {"kind": "python_type", "name": value.__name__}
        elif issubclass(value, np.generic) and np.dtype(value).name in _NUMPY_NAMES:
            return {"kind": "numpy_type", "name": np.dtype(value).name}
        raise TypeError(_refusal(value, where))


def _refusal(value: Any, where: str) -> str:
    label = type(value).__name__
    if callable(value) and not hasattr(value, "get_params"):
        return (
            f"Cannot save {where}: it is a function or class ({getattr(value, '__name__', label)}),"
            " and a model file holds no code. Do this step outside the model, or use options that "
            "are data, such as token_pattern or a list of stop words."
        )
    if hasattr(value, "get_params"):
        return (
            f"Cannot save {where}: {label} is not a class that model files know. They know the "
            "estimators of topicfocus and pipelines of CountVectorizer and one of them; "
            "topicfocus.persistence.register adds a class of your own."
        )
    return (
        f"Cannot save {where}: a {label} cannot be stored. Numbers, strings, lists, tuples, dicts "
        "and arrays of these can; convert it, for example with list(...)."
    )


def function_name(function: Any) -> str:
    """Where a function comes from, for people: a file that has it imports nothing by it."""
    name = getattr(function, "__qualname__", type(function).__qualname__)
    module = getattr(function, "__module__", None) or type(function).__module__
    return f"{module}:{name}"


# ---- reading ----------------------------------------------------------------------------------


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
        if depth > _MAX_DEPTH + 1:
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
        return _PYTHON_TYPES[node["name"]]

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
            setattr(value, _REQUESTS, _requests(value, node["requests"]))
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
        if method not in _METHODS:
            raise ModelFileError(_unknown(type(value), method))
        known = getattr(routing, method)
        for param, alias in asked.items():
            if param not in known.requests:
                raise ModelFileError(_unknown(type(value), param))
            # Raises for an alias that is neither a name nor one of True, False and None.
            known.add_request(param=param, alias=alias)
    return routing


def _known_dtype(name: Any) -> np.dtype:
    if name not in _NUMPY_NAMES:
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
