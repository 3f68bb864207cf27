"""Every public estimator, method and function says what it takes, what it gives, and shows it."""

import ast
import builtins
import importlib
import inspect
import textwrap

import numpy as np
import pytest
from numpydoc import validate
from sklearn.exceptions import NotFittedError

import topicfocus
from topicfocus.counts import ChunkedCounts
from topicfocus.distributed import DaskCounts
from topicfocus.joint import Solver

MODULES = (
    "corpus",
    "datasets",
    "distributed",
    "families",
    "metrics",
    "persistence",
    "report",
    "selection",
    "solvers",
    "text",
    "workflow",
)


def test_estimators_are_names_of_the_package():
    assert set(topicfocus.estimators.__all__) <= set(topicfocus.__all__)


def public_objects():
    for name in topicfocus.__all__:
        yield getattr(topicfocus, name)
    for module in MODULES:
        loaded = importlib.import_module(f"topicfocus.{module}")
        for name in loaded.__all__:
            yield getattr(loaded, name)


def documented():
    """Functions, classes that do something, and their methods: once each, where it is defined.

    Records and exceptions have attributes instead, which their docstrings list.
    """
    found = {}
    for value in public_objects():
        if inspect.isclass(value) and not issubclass(value, (tuple, Exception)):
            methods = [
                method
                for name, method in inspect.getmembers(value, inspect.isfunction)
                if not name.startswith("_")
                and method.__module__.startswith("topicfocus.")
                and not as_inherited(value, name, method)
            ]
            found.update((f"{m.__module__}.{m.__qualname__}", m) for m in methods)
            if methods:
                found[f"{value.__module__}.{value.__qualname__}"] = value
        elif inspect.isfunction(value):
            found[f"{value.__module__}.{value.__qualname__}"] = value
    return found


def as_inherited(cls, name, method):
    """Whether a method is documented in `ChunkedCounts` or `Solver`."""
    if Solver in cls.__mro__[1:]:
        return method.__doc__ is None and hasattr(Solver, name)
    return cls is DaskCounts and method is not getattr(ChunkedCounts, name, method)


def section(value, name):
    """The text of a section, "" if there is none."""
    lines = (inspect.getdoc(value) or "").splitlines()
    for i, line in enumerate(lines[:-1]):
        if line == name and lines[i + 1] == "-" * len(name):
            ends = [j for j in range(i + 2, len(lines)) if lines[j] and not lines[j].strip("-")]
            return "\n".join(lines[i + 2 : ends[0] - 1 if ends else None])
    return ""


def raised(value):
    """Exceptions that the function's own code raises by name; those of private helpers are not."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(value))))
    calls = [node.exc for node in ast.walk(tree) if isinstance(node, ast.Raise)]
    functions = [call.func for call in calls if isinstance(call, ast.Call)]
    names = {f.id for f in functions if isinstance(f, ast.Name)}
    makers = {name: vars(builtins).get(name) or known_as(value, name) for name in names}
    # A function that makes an exception says which.
    return {
        maker.__annotations__["return"] if inspect.isfunction(maker) else name
        for name, maker in makers.items()
    }


def known_as(value, name):
    """What a name is where a function was defined."""
    return inspect.unwrap(value).__globals__.get(name)


def missing_sections(value):
    doc = f"\n{inspect.getdoc(value) or ''}\n"
    signature = inspect.signature(value)
    wanted = ["Examples"]
    if inspect.isclass(value):
        if hasattr(value, "fit"):
            wanted.append("Attributes")
    elif unsaid := {e for e in raised(value) if e not in section(value, "Raises").split()}:
        return [f"Raises: {name}" for name in sorted(unsaid)]
    takes = [name for name in signature.parameters if name != "self"]
    if takes and value is not Solver:  # a protocol is not called
        # The class of a result has its attributes there.
        wanted.append("Attributes" if "\nAttributes\n" in doc else "Parameters")
    if not inspect.isclass(value) and signature.return_annotation not in (None, "None"):
        wanted.append("Yields" if "\nYields\n" in doc else "Returns")
    return [section for section in wanted if f"\n{section}\n{'-' * len(section)}\n" not in doc]


DOCUMENTED = documented()


@pytest.mark.parametrize("folder", sorted({name.split(".")[1] for name in DOCUMENTED}))
def test_docstrings_have_their_sections(folder):
    missing = {
        name: missing_sections(value)
        for name, value in DOCUMENTED.items()
        if name.split(".")[1] == folder
    }
    missing = {name: sections for name, sections in missing.items() if sections}
    assert not missing, "\n".join(f"{name}: {sections}" for name, sections in missing.items())


def unfitted(x) -> "KeyError":
    """Stands for a helper that makes an exception."""
    return KeyError(x)


def test_the_test_notices_what_is_missing():
    def takes(x) -> int:
        """Say nothing."""

    def refuses(x):
        """Say a little.

        Raises
        ------
        ValueError
            If x is wrong.
        """
        if x:
            raise ValueError("x")
        raise TypeError("x")

    assert missing_sections(takes) == ["Examples", "Parameters", "Returns"]

    def refuses_by_a_helper(x):
        raise unfitted(x)

    assert missing_sections(refuses) == ["Raises: TypeError"]
    assert missing_sections(refuses_by_a_helper) == ["Raises: KeyError"]
    assert section(refuses, "Raises") == "ValueError\n    If x is wrong."
    assert {name.split(".")[1] for name in DOCUMENTED} >= {*MODULES, "estimators"}


def fitted_methods():
    """(estimator, method) of what needs a fitted estimator and takes documents."""
    for name in topicfocus.__all__:
        cls = getattr(topicfocus, name)
        if not hasattr(cls, "fit") or not issubclass(cls, topicfocus.estimators.base.TopicModel):
            continue
        for method, function in inspect.getmembers(cls, inspect.isfunction):
            if method.startswith("_") or "fit" in method:
                continue
            # Some are there for some targets only, which an estimator knows when it is fitted.
            if hasattr(cls(), method) and "X" in inspect.signature(function).parameters:
                yield name, method


@pytest.mark.parametrize(("name", "method"), sorted(fitted_methods()))
def test_what_needs_a_fit_says_so(name, method):
    function = getattr(getattr(topicfocus, name)(), method)
    needed = [
        p.name
        for p in inspect.signature(function).parameters.values()
        if p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD
    ]
    with pytest.raises(NotFittedError):
        function(*[np.eye(2) if p == "X" else np.arange(2.0) for p in needed])
    assert "NotFittedError" in section(function, "Raises").split()


#: Of numpydoc's own checks: sections in its order, a docstring at all, every parameter documented
#: and none that is not there, what a context manager yields. Left out are tastes (capitals, verbs,
#: a See Also everywhere), the order of keyword-only parameters, which are grouped here, and types
#: and descriptions of each, because "X, y : as for fit" is one entry.
CHECKS = {"GL07", "GL08", "PR01", "PR02", "YD01"}


def complaints(value):
    found = validate.validate(f"{value.__module__}.{value.__qualname__}")["errors"]
    if "Attributes" in (value.__doc__ or "") and not section(value, "Parameters"):
        found = [(code, text) for code, text in found if code != "PR01"]  # the class of a result
    if value is Solver:  # a protocol is not called
        found = [(code, text) for code, text in found if code != "PR01"]
    # numpydoc takes a first argument named cls for that of a class method.
    return [(c, text) for c, text in found if c in CHECKS and text != "Unknown parameters {'cls'}"]


@pytest.mark.parametrize("folder", sorted({name.split(".")[1] for name in DOCUMENTED}))
def test_numpydoc_finds_nothing(folder):
    found = {
        name: complaints(value)
        for name, value in DOCUMENTED.items()
        if name.split(".")[1] == folder
    }
    assert not {name: texts for name, texts in found.items() if texts}
