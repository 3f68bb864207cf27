"""Every public name has a docstring with numpydoc sections and an example."""

import importlib
import inspect

import pytest
from numpydoc import validate

import topicfocus
from topicfocus.counts import ChunkedCounts
from topicfocus.distributed import DaskCounts
from topicfocus.families import Family

MODULES = (
    "corpus",
    "datasets",
    "distributed",
    "families",
    "metrics",
    "persistence",
    "report",
    "selection",
    "text",
    "workflow",
)


def public_objects():
    for name in topicfocus.__all__:
        yield getattr(topicfocus, name)
    for module in MODULES:
        loaded = importlib.import_module(f"topicfocus.{module}")
        for name in loaded.__all__:
            yield getattr(loaded, name)


def documented():
    """Functions, classes that do something, and their methods: once each, where it is defined.

    Records and exceptions have attributes instead, which their docstrings list. The methods of
    families share their parameters, which the docstring of `Family` lists.
    """
    found = {}
    for value in public_objects():
        if inspect.isclass(value) and not issubclass(value, (tuple, Exception, Family)):
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
    """Whether a method is documented in `ChunkedCounts`."""
    return cls is DaskCounts and method is not getattr(ChunkedCounts, name, method)


def section(value, name):
    """The text of a section, "" if there is none."""
    lines = (inspect.getdoc(value) or "").splitlines()
    for i, line in enumerate(lines[:-1]):
        if line == name and lines[i + 1] == "-" * len(name):
            ends = [j for j in range(i + 2, len(lines)) if lines[j] and not lines[j].strip("-")]
            return "\n".join(lines[i + 2 : ends[0] - 1 if ends else None])
    return ""


def missing_sections(value):
    doc = f"\n{inspect.getdoc(value) or ''}\n"
    signature = inspect.signature(value)
    wanted = ["Examples"]
    if inspect.isclass(value) and hasattr(value, "fit"):
        wanted.append("Attributes")
    takes = [name for name in signature.parameters if name != "self"]
    if takes:
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


#: Of numpydoc's own checks: sections in its order, a docstring at all, every parameter documented
#: and none that is not there, what a context manager yields. Left out are tastes (capitals, verbs,
#: a See Also everywhere), the order of keyword-only parameters, which are grouped here, and types
#: and descriptions of each, because "X, y : as for fit" is one entry.
CHECKS = {"GL07", "GL08", "PR01", "PR02", "YD01"}


def complaints(value):
    found = validate.validate(f"{value.__module__}.{value.__qualname__}")["errors"]
    if "Attributes" in (value.__doc__ or "") and not section(value, "Parameters"):
        found = [(code, text) for code, text in found if code != "PR01"]  # the class of a result
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
