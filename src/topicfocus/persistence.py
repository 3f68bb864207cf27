"""Model files: a zip of arrays and JSON. No pickle, and loading executes nothing.

A file is an uncompressed zip. `topicfocus.json` describes an object by its class, its parameters
and its fitted attributes; the other members are NumPy arrays. The comment of the zip ends in the
version of the format and the SHA-256 of all bytes before it. The digest detects accidents; it is
not a signature. A file cannot ask for much more memory than its own size: members are not
compressed, and each array is used once.

Values are stored by their type. In JSON, an object with the key "$" is a value that JSON does not
have: a tuple, an array, or an instance of a class. Classes have names in a table that `register`
and `register_record` fill; a name that is not in the table is an error, never an import. This
package imports no estimator: `topicfocus.estimators.storage` registers them, with the checks that
a model must pass before compiled code uses it.
"""

from __future__ import annotations

import hashlib
import inspect
import io
import json
import math
import os
import platform
import re
import secrets
import stat
import types
import typing
import warnings
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, is_dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from topicfocus import __version__

__all__ = ["ModelFileError", "register", "register_record"]

#: Increases when files change so that an older topicfocus would misread them.
VERSION = 3
HEADER = "topicfocus.json"
_SEAL = re.compile(rb"topicfocus (?:model (\d{1,9}) )?sha256 ([0-9a-f]{64})\Z")
#: Values inside values, at most.
_DEEPEST = 40
#: Types of arrays: real numbers of at most 8 bytes, and strings.
_DTYPES = re.compile(r"\|b1|[|<][iu]1|<[iu][248]|<f[248]|<U[1-9][0-9]{0,8}")
#: Types that parameters such as `dtype` may name.
_TYPES = {name: np.dtype(name).type for name in map(str, map(np.dtype, "?efdbhiqBHIQ"))}
#: Values that JSON does not have, and their constructors.
_PLAIN: dict[str, Callable[[Any], Any]] = {
    **{kind.__name__: kind for kind in (dict, float, frozenset, set, tuple)},
    "dtype": _TYPES.__getitem__,
    "names": lambda values: np.array(list(map(str, values)), dtype=object),
}
_RANDOM = (np.random.Generator, np.random.RandomState, np.random.BitGenerator)
#: Fitted attributes, and the container of `set_output`.
_ATTRIBUTE = re.compile(r"[a-zA-Z]\w*_|_sklearn_output_config")
#: Where scikit-learn keeps the metadata that methods of an object request (`set_fit_request`).
_REQUESTS = "_metadata_request"


class ModelFileError(ValueError):
    """A file that is not a model, is damaged, or has another format than this version reads."""


# ---- classes that a file may hold ----------------------------------------------------------------


@dataclass(frozen=True)
class _Entry:
    """How a registered class is stored: as an estimator, or as a record of its fields."""

    cls: type
    name: str
    is_record: bool
    check: Callable[[Any], None] | None = None
    functions: tuple[str, ...] = ()
    #: Parameters of the constructor, of a record with their annotated types.
    parameters: dict[str, Any] = field(default_factory=dict, compare=False)

    def allows(self, attribute: str) -> bool:
        """Whether a fitted attribute may have this name: one that the class does not define."""
        named = _ATTRIBUTE.fullmatch(attribute) and not hasattr(self.cls, attribute)
        return bool(named) and not self.is_record and attribute not in self.parameters


_BY_NAME: dict[str, _Entry] = {}
_BY_CLASS: dict[type, _Entry] = {}


def register(
    cls: type,
    *,
    name: str | None = None,
    check: Callable[[Any], None] | None = None,
    functions: tuple[str, ...] = (),
) -> type:
    """Allow objects of a class in model files; also a class decorator.

    The class follows scikit-learn: parameters of the constructor are attributes of the same names,
    and fitted attributes have names that end in an underscore. Other attributes are not stored.

    Parameters
    ----------
    cls : type
        Exactly this class: a subclass may mean something else by the same attributes.
    name : str, optional
        Its name in files, which must never change; by default the package and the class,
        "topicfocus.LDA".
    check : callable, optional
        Called with the object before it is written and after it is read. It raises
        NotFittedError, or ValueError if attributes are inconsistent.
    functions : tuple of str
        Parameters that may be functions. A file has only their names and nothing is imported by
        them: the function is passed again on loading, ``load(path, tokenizer=...)``.

    Returns
    -------
    type
        The class itself.

    Raises
    ------
    TypeError
        If the class has no ``get_params``.
    ValueError
        If the class or the name is registered already.

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
    return _register(_Entry(cls, name or _default_name(cls), False, check, functions), {})


def register_record(cls: type, *, name: str | None = None) -> type:
    """Allow a NamedTuple or a dataclass as a value in model files, by its fields.

    Values of fields must have the annotated types, on saving and on loading.

    Parameters
    ----------
    cls : type
        A family of targets of your own, for example.
    name : str, optional
        Its name in files, which must never change; by default the package and the class.

    Returns
    -------
    type
        The class itself.

    Raises
    ------
    TypeError
        If the class is neither a NamedTuple nor a dataclass.
    ValueError
        If the class or the name is registered already, differently.

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
    entry = _Entry(cls, name or _default_name(cls), True)
    return _register(entry, typing.get_type_hints(cls))


def _default_name(cls: type) -> str:
    return f"{cls.__module__.partition('.')[0]}.{cls.__name__}"


def _register(entry: _Entry, hints: dict[str, Any]) -> type:
    if {_BY_NAME.get(entry.name, entry), _BY_CLASS.get(entry.cls, entry)} != {entry}:
        raise ValueError(f"{entry.name} is registered already.")
    names = inspect.signature(entry.cls).parameters
    entry.parameters.update({name: hints.get(name, Any) for name in names})
    _BY_NAME[entry.name] = _BY_CLASS[entry.cls] = entry
    return entry.cls


def _fits(value: Any, hint: Any) -> bool:
    """Whether a value has an annotated type; complicated annotations are not checked."""
    origin, args = typing.get_origin(hint) or hint, typing.get_args(hint)
    if origin is Any:
        return True
    if origin in (typing.Union, types.UnionType):
        return any(_fits(value, one) for one in args)
    if origin is typing.Literal:
        return isinstance(value, str) and value in args
    if origin in (int, float):
        kinds = (int, np.integer) if origin is int else (int, float, np.integer, np.floating)
        return isinstance(value, kinds) and not isinstance(value, bool)
    if isinstance(origin, type) and not isinstance(value, origin):
        return False
    if origin is tuple and args:
        each = [args[0]] * len(value) if args[-1] is ... else args
        return len(value) == len(each) and all(map(_fits, value, each))
    return origin is not dict or not args or all(_fits(v, args[1]) for v in value.values())


# ---- values to bytes -----------------------------------------------------------------------------


def pack(value: Any, where: str = "value") -> bytes:
    """The bytes of a file that holds a value; `where` names it in messages."""
    writer = _Writer()
    header = json.dumps(writer.encode(value, where), allow_nan=False)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        archive.comment = b"topicfocus model %d sha256 " % VERSION + b"0" * 64
        # A ZipInfo has no date by itself: the same model gives the same bytes.
        archive.writestr(zipfile.ZipInfo(HEADER), header)
        for name, array in writer.arrays.items():
            little = array.astype(array.dtype.newbyteorder("<"), copy=False)
            with archive.open(zipfile.ZipInfo(name), "w", force_zip64=True) as member:
                np.lib.format.write_array(member, little, version=(1, 0), allow_pickle=False)
    content = stream.getvalue()[:-64]
    return content + hashlib.sha256(content).hexdigest().encode()


class _Writer:
    """Turns values into JSON; `arrays` collects arrays by the names of their members."""

    def __init__(self) -> None:
        self.arrays: dict[str, np.ndarray] = {}

    def encode(self, value: Any, where: str, depth: int = 0) -> Any:
        if depth > _DEEPEST:
            raise TypeError(f"Cannot save {where[:80]}: it is nested too deeply.")
        if isinstance(value, np.generic):
            value = value.item()
        kind = type(value)
        if value is None or kind in (bool, str) or (kind is int and abs(value) < 2**63):
            return value
        if kind is float:
            return value if math.isfinite(value) else {"$": "float", "value": repr(value)}
        if kind in (dict, list, tuple, set, frozenset):
            return self._container(value, where, depth + 1)
        if kind is np.ndarray:
            return self._array(value, where)
        if kind in _BY_CLASS:
            return self._object(value, _BY_CLASS[kind], where, depth + 1)
        if isinstance(value, (type, np.dtype)) and np.dtype(value).name in _TYPES:
            return {"$": "dtype", "value": np.dtype(value).name}
        if isinstance(value, _RANDOM):
            told = f"{where} is a {kind.__name__}, whose state is not part of a model: the file "
            warnings.warn(f"{told}has None. Pass a whole number to have it stored.", stacklevel=2)
            return None
        raise TypeError(_refusal(value, where))

    def _container(self, value: Any, where: str, depth: int) -> Any:
        kind = type(value)
        if kind is dict and "$" not in value and all(type(key) is str for key in value):
            return {key: self.encode(v, where, depth) for key, v in value.items()}
        values = [self.encode(v, where, depth) for v in (value.items() if kind is dict else value)]
        if kind in (set, frozenset):
            values.sort(key=json.dumps)  # the order in a set differs between runs
        return values if kind is list else {"$": kind.__name__, "value": values}

    def _array(self, array: np.ndarray, where: str) -> dict[str, Any]:
        if array.dtype == object and array.ndim == 1 and all(isinstance(v, str) for v in array):
            return {"$": "names", "value": list(map(str, array))}
        if not _DTYPES.fullmatch(array.dtype.newbyteorder("<").str):
            raise TypeError(_refusal(array, where))
        label = where.rpartition(".")[2]
        name = f"arrays/{len(self.arrays)}-{label if label.isidentifier() else 'values'}.npy"
        self.arrays[name] = array
        return {"$": "array", "value": name}

    def _object(self, value: Any, entry: _Entry, where: str, depth: int) -> dict[str, Any]:
        node: dict[str, Any] = {"$": entry.name, "params": {}, "fitted": {}}
        where = where if entry.is_record else entry.cls.__name__
        attributes = {} if entry.is_record else vars(value)
        for name, hint in entry.parameters.items():
            v = getattr(value, name)
            if not _fits(v, hint):
                raise TypeError(f"Cannot save {where}.{name}: it cannot be {v!r:.80}.")
            if name in entry.functions and callable(v):
                node["params"][name] = {"$": "function", "value": [name, _function_name(v)]}
            else:
                node["params"][name] = self.encode(v, f"{where}.{name}", depth)
        for name in filter(entry.allows, attributes):
            node["fitted"][name] = self.encode(attributes[name], f"{where}.{name}", depth)
        if _REQUESTS in attributes:
            methods = {m: own for m, own in vars(attributes[_REQUESTS]).items() if m != "owner"}
            node["requests"] = {m: dict(own.requests) for m, own in methods.items()}
        if entry.check is not None:
            entry.check(value)
        return node


def _function_name(function: Any) -> str:
    """Module and name of a function, for messages."""
    return f"{function.__module__}:{getattr(function, '__qualname__', type(function).__qualname__)}"


def _refusal(value: Any, where: str) -> str:
    label = f"array of {value.dtype}" if isinstance(value, np.ndarray) else type(value).__name__
    return (
        f"Cannot save {where}: {label} is not supported. Model files hold no code. They hold "
        "numbers, strings, lists, tuples, dicts, arrays of numbers or strings, the estimators of "
        "topicfocus and pipelines of a vectoriser and one of them; "
        "topicfocus.persistence.register adds a class of your own."
    )


# ---- bytes to values -----------------------------------------------------------------------------


def unpack(content: bytes, functions: dict[str, Any] | None = None) -> Any:
    """The value in the bytes of a file of unknown origin."""
    seal = _SEAL.search(content[-128:])
    digest = hashlib.sha256(memoryview(content)[:-64]).hexdigest().encode()
    if seal is None or digest != seal[2]:
        raise ModelFileError(
            "it is not a model file, or it was truncated or altered; load reads what "
            "topicfocus.save has written, and never a pickle"
        )
    version = int(seal[1] or 2)
    if version != VERSION:
        remedy = "upgrade topicfocus" if version > VERSION else "fit the model again and save it"
        raise ModelFileError(
            f"it has format {version}, and this version of topicfocus reads format {VERSION} only; "
            f"{remedy}"
        )
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {member.filename: member for member in archive.infolist()}
        if any(member.compress_type for member in members.values()):
            raise ModelFileError("its parts are compressed, which topicfocus.save never does")
        if sum(member.file_size for member in members.values()) > len(content):
            raise ModelFileError("its parts claim to be larger than the file")
        text = archive.read(members.pop(HEADER))
        arrays = {name: _read_array(archive.read(member)) for name, member in members.items()}
    reader = _Reader(arrays, functions or {})
    numbers: dict[str, Any] = dict.fromkeys(("parse_int", "parse_float", "parse_constant"), _number)
    value = json.loads(text, object_hook=reader.create, **numbers)
    for name in reader.unused:
        raise ModelFileError(f"it was fitted without a {name} of its own; do not pass one")
    return value


def _read_array(data: bytes) -> np.ndarray:
    """An array, after the shape and type it claims have been compared with its bytes."""
    stream = io.BytesIO(data)
    version = np.lib.format.read_magic(stream)
    shape, _, dtype = np.lib.format.read_array_header_1_0(stream)
    known = version == (1, 0) and _DTYPES.fullmatch(dtype.str) is not None
    size = stream.tell() + math.prod(shape) * dtype.itemsize
    if not known or min(shape, default=0) < 0 or size != len(data):
        raise ModelFileError("an array in it does not have the size or type that it claims")
    stream.seek(0)
    array = np.lib.format.read_array(stream, allow_pickle=False)
    # Bit patterns that NumPy never makes: truth values above 1, characters beyond Unicode.
    largest = {"b": (np.uint8, 1), "U": (np.uint32, 0x10FFFF)}.get(array.dtype.kind)
    if largest and np.any(array.ravel(order="K").view(largest[0]) > largest[1]):
        raise ModelFileError("an array in it has values that its type cannot have")
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def _number(text: str) -> float:
    """A number of JSON: a whole number of 64 bits, or a finite float."""
    value = float(text) if set(text) & set(".eE") else int(text)
    if abs(value) >= (math.inf if isinstance(value, float) else 2**63):
        raise ModelFileError("it holds a number that is too large")
    return value


class _Reader:
    """Creates the values of JSON objects, innermost first."""

    def __init__(self, arrays: dict[str, np.ndarray], functions: dict[str, Any]) -> None:
        self.arrays, self.functions, self.unused = arrays, functions, set(functions)

    def create(self, node: dict[str, Any]) -> Any:
        if "$" not in node:
            return node
        kind, value = node["$"], node.get("value", ())
        if kind in _PLAIN:
            return _PLAIN[kind](value)
        if kind == "array":
            return self.arrays.pop(value)  # used once: a file cannot repeat it
        if kind == "function":
            return self._function(*map(str, value))
        if kind not in _BY_NAME:
            raise ModelFileError(
                f"it holds a {str(kind)[:80]!r}, which this version of topicfocus does not know; "
                "upgrade topicfocus, or import the package that registers this class first"
            )
        return self._object(_BY_NAME[kind], node)

    def _object(self, entry: _Entry, node: dict[str, Any]) -> Any:
        try:
            for name, v in node["params"].items():
                if not _fits(v, entry.parameters.get(name, Any)):
                    raise ValueError(f"{name} cannot be {v!r:.80}")
            value = entry.cls(**node["params"])
            for name, v in node["fitted"].items():
                if not entry.allows(name):
                    raise ValueError(f"it has no attribute {name!r:.80}")
                setattr(value, name, v)
            for method, asked in node.get("requests", {}).items():
                routing = vars(value).setdefault(_REQUESTS, value.get_metadata_routing())
                for param, alias in asked.items():
                    getattr(routing, method).add_request(param=param, alias=alias)
            if entry.check is not None:
                entry.check(value)
        except Exception as error:
            raise ModelFileError(
                f"its {entry.cls.__name__} is not valid in the installed versions (topicfocus.json "
                f"in the file names those that wrote it): {_reason(error)}"
            ) from error
        return value

    def _function(self, name: str, stored: str) -> Any:
        """The user's function for a parameter; the file has only its name."""
        if name not in self.functions:
            raise ModelFileError(
                f"it was fitted with a function of your own, {stored!r:.80}, and a model file has "
                f"no code; pass the function, in Python: load(path, {name:.80}=...)"
            )
        self.unused.discard(name)
        given = _function_name(self.functions[name])
        if given != stored:
            told = f"the model was fitted with {name}={stored!r:.80} and is loaded with {given}."
            warnings.warn(f"{told} If these differ, predictions are wrong.", stacklevel=2)
        return self.functions[name]


def _reason(error: Exception) -> str:
    """The message of an error, without those of the interpreter, which name internals."""
    if isinstance(error, (AttributeError, TypeError)):
        return "a value has another type"
    return str(error) if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"


# ---- files ---------------------------------------------------------------------------------------


def plain(value: Any) -> Any:
    """A value as JSON has it: Python's own numbers, None for NaN and infinity."""
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


@contextmanager
def replacing(path: str | os.PathLike[str], *, overwrite: bool = True) -> Iterator[BinaryIO]:
    """A stream to write; it takes the place of `path` when the block ends without error.

    The stream is a new file in the same folder, created exclusively and synchronised to the disk
    before it is renamed. After an error nothing is left behind and an existing file is unchanged.
    Only regular files are replaced: no symbolic link, device or pipe; and without `overwrite` none.
    """
    target = os.path.abspath(os.fsdecode(path))
    folder = os.path.dirname(target)
    if not os.path.isdir(folder):
        raise FileNotFoundError(f"There is no folder {folder!r} to save into; create it first.")
    _check_target(target, overwrite)
    temporary = os.path.join(folder, f".topicfocus-{secrets.token_hex(8)}.tmp")
    try:
        # "x" and not tempfile: the file gets the permissions that any new file of the user gets.
        with open(temporary, "x+b") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        _check_target(target, overwrite)
        os.replace(temporary, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


def _check_target(target: str, overwrite: bool) -> None:
    try:
        mode = os.lstat(target).st_mode
    except FileNotFoundError:
        return
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(f"{target!r} is a folder; give the name of a file in it.")
    if not stat.S_ISREG(mode):
        raise FileExistsError(
            f"{target!r} is not a regular file (a symbolic link, a device or a pipe): it is not "
            "replaced. Give another name."
        )
    if not overwrite:
        raise FileExistsError(f"{target!r} exists, or was made by somebody else meanwhile.")


# ---- save and load -------------------------------------------------------------------------------


def save(model: Any, path: str | os.PathLike[str] | BinaryIO) -> None:
    """Write a fitted estimator, or a pipeline that ends in one, to one file.

    Parameters
    ----------
    model : estimator of topicfocus or sklearn.pipeline.Pipeline
        The other steps of a pipeline are `TokenCounter` or `CountVectorizer`, without functions of
        your own.
    path : str, path or binary file object
        An existing file is replaced once the new one is complete and on the disk.

    Raises
    ------
    sklearn.exceptions.NotFittedError
    TypeError
        For a parameter or attribute that cannot be stored; the message names it.

    Notes
    -----
    The file is a zip of arrays and JSON. The same model gives the same bytes.

    Examples
    --------
    >>> import io
    >>> import topicfocus
    >>> model = topicfocus.LDA(n_topics=2, max_epochs=2, random_state=0).fit([[2, 0, 1], [0, 3, 1]])
    >>> file = io.BytesIO()
    >>> topicfocus.save(model, file)
    >>> file.getvalue()[:2]  # a zip
    b'PK'
    """
    if not hasattr(model, "get_params") or isinstance(model, type):
        raise TypeError(
            f"Cannot save {model!r:.80}: it is not an estimator. Use save(model, path)."
        )
    versions = {"topicfocus": __version__, "python": platform.python_version()}
    versions |= {name: metadata.version(name) for name in ("numpy", "scipy", "scikit-learn")}
    content = pack({"created_by": versions, "model": model}, f"this {type(model).__name__}")
    if isinstance(path, (str, os.PathLike)):
        with replacing(path) as stream:
            stream.write(content)
    elif hasattr(path, "write"):
        path.write(content)
    else:
        raise TypeError(f"save needs a path or a binary file object, got {path!r:.80}.")


def load(
    path: str | os.PathLike[str] | BinaryIO, *, tokenizer: Callable[[str], Any] | None = None
) -> Any:
    """Read what `save` has written: the same model, with the same predictions to the last bit.

    Nothing in a file is executed and only registered classes are created, so a file of unknown
    origin can make wrong predictions, but nothing else.

    Parameters
    ----------
    path : str, path or binary file object
    tokenizer : callable, optional
        The function that a `TokenCounter` in the file was fitted with. The file has only its name,
        and nothing is imported by it.

    Returns
    -------
    estimator or Pipeline

    Raises
    ------
    TypeError
        If ``path`` is neither a path nor a binary file object.
    ModelFileError
        A ValueError of one line: what is wrong with the file and what to do.

    Examples
    --------
    >>> import io
    >>> import topicfocus
    >>> model = topicfocus.LDA(n_topics=2, max_epochs=2, random_state=0).fit([[2, 0, 1], [0, 3, 1]])
    >>> file = io.BytesIO()
    >>> topicfocus.save(model, file)
    >>> again = topicfocus.load(io.BytesIO(file.getvalue()))
    >>> bool((again.components_ == model.components_).all())
    True
    """
    source = "the model file" if hasattr(path, "read") else repr(os.fspath(path))
    try:
        value = unpack(_read(path), {} if tokenizer is None else {"tokenizer": tokenizer})
        if not isinstance(value, dict) or not hasattr(value.get("model"), "get_params"):
            raise ModelFileError("there is no model in it")
        return value["model"]
    except ModelFileError as error:
        reason, cause = str(error), error.__cause__
    except OSError as error:
        reason, cause = error.strerror or str(error), error
    # A file made by hand can fail anywhere; the chain of exceptions has the details.
    except Exception as error:
        reason, cause = f"its content is malformed: {_reason(error)}", error
    reason = "".join(c if c.isprintable() else " " for c in reason)[:400]
    raise ModelFileError(
        f"Cannot load {source}: {' '.join(reason.split()).rstrip('.')}."
    ) from cause


def _read(path: Any) -> bytes:
    if not hasattr(path, "read"):
        if os.path.exists(path) and not os.path.isfile(path):
            raise ModelFileError("it is a folder, a pipe or a device")
        return Path(path).read_bytes()
    content = path.read()
    if not isinstance(content, bytes):
        raise ModelFileError('it is not open in binary mode; use mode "rb"')
    return content
