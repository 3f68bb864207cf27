"""save and load."""

from __future__ import annotations

import io
import os
import platform
from collections.abc import Callable
from importlib import metadata
from typing import Any, BinaryIO

from topicfocus import __version__
from topicfocus.persistence.archive import DAMAGED, read_archive, write_archive
from topicfocus.persistence.atomic import replacing
from topicfocus.persistence.decoding import Decoder
from topicfocus.persistence.encoding import Encoder
from topicfocus.persistence.errors import ModelFileError

#: What a file names as its makers, for whoever has to find out why it cannot be read.
_LIBRARIES = ("numpy", "scipy", "scikit-learn")


def save(model: Any, path: str | os.PathLike[str] | BinaryIO) -> None:
    """Write a fitted estimator, or a pipeline that ends in one, to one file.

    Parameters
    ----------
    model : estimator of topicfocus or sklearn.pipeline.Pipeline
        A pipeline's other steps are `CountVectorizer`s, without functions of your own.
    path : str, path or binary file object
        An existing file is replaced, when the new one is whole and on the disk.

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
    encoder = Encoder()
    encoded = encoder.encode_object(model)
    header = {"created_by": _versions(), "class": encoded["class"], "model": encoded}
    if not isinstance(path, (str, os.PathLike)):
        if not hasattr(path, "write"):
            raise TypeError(f"save needs a path or a binary file object, got {path!r}.")
        # Sealing reads and seeks, which the stream may not be able to.
        buffer = io.BytesIO()
        write_archive(buffer, header, encoder.arrays)
        path.write(buffer.getbuffer())
        return
    with replacing(path) as stream:
        write_archive(stream, header, encoder.arrays)


def load(
    path: str | os.PathLike[str] | BinaryIO, *, tokenizer: Callable[[str], Any] | None = None
) -> Any:
    """Read what `save` has written: the same model, with the same predictions to the last bit.

    Nothing in a file is executed and only classes of a fixed list are created, so a file from a
    stranger can make wrong predictions but do nothing else.

    Parameters
    ----------
    path : str, path or binary file object
    tokenizer : callable, optional
        The function that a `TokenCounter` in the file was fitted with, of which it has only the
        name. Nothing is ever imported by that name.

    Returns
    -------
    estimator or Pipeline

    Raises
    ------
    TypeError
        If ``path`` is neither a path nor a binary file object.
    ModelFileError
        A ValueError that says what is wrong with the file and what to do.

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
    functions = {} if tokenizer is None else {"tokenizer": tokenizer}
    if not isinstance(path, (str, os.PathLike)):
        if not hasattr(path, "read"):
            raise TypeError(f"load needs a path or a binary file object, got {path!r}.")
        content = path.read()
        if not isinstance(content, bytes):
            raise TypeError('load needs a binary file object; open the file with mode "rb".')
        return _load(io.BytesIO(content), "the model file", functions)
    source = repr(os.fspath(path))
    # Asked first, because opening a folder fails differently on every system.
    if os.path.isdir(path):
        raise ModelFileError(
            f"Cannot load {source}: it is a folder; give the name of a model file in it."
        )
    if os.path.exists(path) and not os.path.isfile(path):
        raise ModelFileError(f"Cannot load {source}: it is a pipe or a device, not a file.")
    try:
        stream = open(path, "rb")  # noqa: SIM115
    except FileNotFoundError as error:
        raise ModelFileError(f"Cannot load {source}: there is no such file.") from error
    except OSError as error:
        raise ModelFileError(f"Cannot load {source}: {error.strerror or error}.") from error
    with stream:
        return _load(stream, source, functions)


def _load(stream: BinaryIO, source: str, functions: dict[str, Any]) -> Any:
    try:
        header, arrays = read_archive(stream)
        model = header.get("model")
        if not isinstance(model, dict) or model.get("kind") != "object":
            raise ModelFileError("there is no model in it; save the model anew")
        decoder = Decoder(arrays, functions)
        value = decoder.decode(model)
        unused = sorted(set(functions) - decoder.used)
        if unused:
            raise ModelFileError(f"it was fitted without a {unused[0]} of its own; give it none")
        return value
    except ModelFileError as error:
        reason, cause = str(error), error.__cause__
    # A file made by hand can go wrong anywhere; the user hears about the file, and the chain of
    # exceptions keeps the rest.
    except Exception as error:
        reason, cause = f"{DAMAGED} ({type(error).__name__}: {error})", error
    raise ModelFileError(f"Cannot load {source}: {' '.join(reason.split())}.") from cause


def _versions() -> dict[str, str]:
    versions = {"topicfocus": __version__, "python": platform.python_version()}
    for name in _LIBRARIES:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            versions[name] = "unknown"
    return versions
