"""Values as JSON and arrays, by the type of each value; `decoding.py` is the way back.

None, booleans, whole numbers, finite floats (whose repr is exact), strings and lists are JSON as
they are. Everything else is an object with a "kind". A type that is not here cannot be stored:
guessing would bring another value back than was saved.
"""

from __future__ import annotations

import json
import math
import warnings
from typing import Any

import numpy as np
from scipy import sparse

from topicfocus.persistence.archive import is_storable
from topicfocus.persistence.registry import entry_of, record_fields, record_name
from topicfocus.persistence.values import (
    MAX_DEPTH,
    METHODS,
    NUMPY_NAMES,
    PYTHON_TYPES,
    REQUESTS,
    function_name,
)

#: Lists of so many NumPy numbers of one type become an array: vocabularies have thousands.
_LONG_LIST = 8
_RANDOM = (
    np.random.Generator,
    np.random.RandomState,
    np.random.BitGenerator,
    np.random.SeedSequence,
)


class Encoder:
    """Turns values into JSON; arrays go to `arrays`, by the name of their member in the file."""

    def __init__(self) -> None:
        self.arrays: dict[str, np.ndarray] = {}

    def encode(self, value: Any, where: str, depth: int = 0) -> Any:
        """`where` names the value in messages: "CountVectorizer.tokenizer"."""
        if depth > MAX_DEPTH:
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
            if name not in params and name not in entry.transient and name != REQUESTS
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
        if REQUESTS in vars(value):
            routing = value.get_metadata_routing()
            requests = {m: dict(getattr(routing, m).requests) for m in METHODS}
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
        if name not in NUMPY_NAMES:
            raise TypeError(_refusal(value, where))
        return {"kind": "scalar", "dtype": name, "value": self.encode(value.item(), where)}

    def _type(self, value: Any, where: str) -> Any:
        if isinstance(value, np.dtype):
            if value.name in NUMPY_NAMES:
                return {"kind": "dtype", "name": value.name}
        elif value in PYTHON_TYPES.values():
            return {"kind": "python_type", "name": value.__name__}
        elif issubclass(value, np.generic) and np.dtype(value).name in NUMPY_NAMES:
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
