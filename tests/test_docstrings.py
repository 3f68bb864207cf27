"""Every public estimator, method and function says what it takes, what it gives, and shows it."""

import importlib
import inspect

import pytest

import topicfocus

MODULES = (
    "corpus",
    "datasets",
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

    Records and exceptions have attributes instead, which their docstrings list.
    """
    found = {}
    for value in public_objects():
        if inspect.isclass(value) and not issubclass(value, (tuple, Exception)):
            methods = [
                method
                for name, method in inspect.getmembers(value, inspect.isfunction)
                if not name.startswith("_") and method.__module__.startswith("topicfocus.")
            ]
            found.update((f"{m.__module__}.{m.__qualname__}", m) for m in methods)
            if methods:
                found[f"{value.__module__}.{value.__qualname__}"] = value
        elif inspect.isfunction(value):
            found[f"{value.__module__}.{value.__qualname__}"] = value
    return found


def missing_sections(value):
    doc = f"\n{inspect.getdoc(value) or ''}\n"
    signature = inspect.signature(value)
    wanted = ["Examples"]
    if [name for name in signature.parameters if name != "self"]:
        # The class of a result has its attributes there.
        wanted.append("Attributes" if "\nAttributes\n" in doc else "Parameters")
    if not inspect.isclass(value) and signature.return_annotation not in (None, "None"):
        wanted.append("Returns")
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


def test_the_test_notices_what_is_missing():
    def takes(x) -> int:
        """Say nothing."""

    assert missing_sections(takes) == ["Examples", "Parameters", "Returns"]
    assert {name.split(".")[1] for name in DOCUMENTED} >= {*MODULES, "estimators"}
