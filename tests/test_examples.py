"""Examples run: those of docstrings, and programs of the README and of docs/."""

import doctest
import importlib
import inspect
import os
import pkgutil
import re
from pathlib import Path

import pytest

import topicfocus

ROOT = Path(__file__).resolve().parents[1]
#: Pages that are one program each are run from top to bottom by tests/test_pages.py.
WHOLE = ("start.md", "coming-from.md")
PAGES = [
    ROOT / "README.md",
    *(page for page in sorted((ROOT / "docs").glob("*.md")) if page.name not in WHOLE),
]
#: Their examples are marked to be skipped, and run where the data sets are.
NEED_DATA = ("topicfocus.datasets.loaders", "topicfocus.datasets.health")
DATA = os.environ.get("TOPICFOCUS_DATA")
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def modules_with_examples():
    found = []
    for module in pkgutil.walk_packages(topicfocus.__path__, "topicfocus."):
        origin = module.module_finder.find_spec(module.name).origin
        if origin.endswith(".py") and ">>>" in Path(origin).read_text(encoding="utf-8"):
            found.append(module.name)
    return found


class Finder(doctest.DocTestFinder):
    """Finds examples behind a decorator (`singledispatch`, `contextmanager`), too."""

    def _from_module(self, module, object):
        return super()._from_module(module, inspect.unwrap(object))


def test_examples_behind_a_decorator_are_found():
    module = importlib.import_module("topicfocus.families.operations")
    found = {test.name for test in Finder(exclude_empty=True).find(module) if test.examples}
    assert "topicfocus.families.operations.log_likelihood" in found


@pytest.mark.parametrize("name", modules_with_examples())
def test_docstrings(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # an example may write a file
    tests = Finder(exclude_empty=True).find(importlib.import_module(name))
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    said = []
    for test in tests:
        if name in NEED_DATA and DATA:
            for example in test.examples:
                example.options.pop(doctest.SKIP, None)
        runner.run(test, out=said.append)
    assert runner.failures == 0, "".join(said)


def programs():
    """Blocks of Python, by page and number."""
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for number, block in enumerate(re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)):
            yield pytest.param(block, id=f"{page.name}-{number}")


#: Fragments: what they need is said beside them on the page, or not to be had in a test.
FRAGMENTS = {
    "choosing.md-0": "goes on with counts of the reader; docstrings have runnable ones",
    "choosing.md-1": "goes on with models of the reader",
    "choosing.md-2": "goes on with a model of the reader",
    "datasets.md-0": "needs data sets",
    "datasets.md-1": "goes on with texts of the reader",
    "estimators.md-0": "goes on with texts of the reader",
    "estimators.md-1": "needs MAPIE, goes on with a model of the reader",
    "estimators.md-2": "goes on with a model of the reader",
    "explorer.md-0": "goes on with a model of the reader",
    "explorer.md-1": "goes on with a model of the reader",
    "explorer.md-2": "goes on with an explorer of the reader",
    "metrics.md-0": "goes on with a model of the reader",
    "persistence.md-0": "goes on with a model of the reader",
    "scale.md-0": "goes on with counts of the reader; the docstring of CountStore runs",
    "scale.md-1": "needs a cluster; tests/distributed does the same",
    "streaming.md-0": "goes on with batches of the reader",
    "text.md-0": "reads a file of the reader",
    "text.md-2": "reads a file of the reader; tests/cli/test_inputs.py does the same",
    "workflow.md-0": "reads files of the reader; the docstring of fit_file has it all",
}


@pytest.mark.parametrize("block", list(programs()))
def test_pages(block, request, tmp_path, monkeypatch):
    compile(block, "page", "exec")  # a fragment is at least Python
    name = request.node.callspec.id
    if name in FRAGMENTS:
        pytest.skip(FRAGMENTS[name])
    monkeypatch.chdir(tmp_path)
    exec(compile(block, "page", "exec"), {"__name__": "example"})


def test_no_fragment_is_forgotten():
    assert {case.id for case in programs()} >= set(FRAGMENTS)


def test_readme_prints_what_stands_there(capsys):
    """The README's program, and the indented block below it, spaces apart."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    program, rest = re.search(r"^```python\n(.*?)^```\n(.*)", text, re.M | re.S).groups()
    exec(compile(program, "README.md", "exec"), {"__name__": "readme"})
    printed = [line.split() for line in capsys.readouterr().out.splitlines()]
    shown = [line.split() for line in re.findall(r"^    (.*)$", rest, re.M)]
    assert printed and shown == printed
