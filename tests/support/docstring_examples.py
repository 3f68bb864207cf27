"""Runs the examples of a module's docstrings."""

import doctest
import importlib
import inspect
import pkgutil
from pathlib import Path

import topicfocus

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def modules_with_examples():
    """Names of the modules of the package that have any."""
    found = []
    for module in pkgutil.walk_packages(topicfocus.__path__, "topicfocus."):
        origin = module.module_finder.find_spec(module.name).origin
        if origin.endswith(".py") and ">>>" in Path(origin).read_text(encoding="utf-8"):
            found.append(module.name)
    return found


class Finder(doctest.DocTestFinder):
    """Finds examples behind a decorator (`contextmanager`), too."""

    def _from_module(self, module, object):
        return super()._from_module(module, inspect.unwrap(object))


def run_examples(name, **known):
    """All examples of a module, with names that the reader of them has; fails with the first."""
    tests = Finder(exclude_empty=True).find(importlib.import_module(name), extraglobs=known)
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    said = []
    for test in tests:
        runner.run(test, out=said.append)
    assert runner.failures == 0, "".join(said)
