"""docs/design.md describes the house as it is: every file and function that it names is there."""

import ast
import re
from pathlib import Path

import pytest

import topicfocus

ROOT = Path(__file__).resolve().parents[1]
SOURCE = Path(topicfocus.__file__).parent
#: "solvers/focus/fit.py", "fit.py" and "fit.py: fit_model", all in backticks.
NAMED = re.compile(r"`((?:[\w.-]+/)*[\w.-]+\.(?:py|md))(?:: (\w+)[^`]*)?`")
PAGES = ("docs/design.md", "CONTRIBUTING.md")


def files_called(name):
    """Files of the package, or of the project, that end in this path."""
    found = [path for path in SOURCE.rglob(Path(name).name) if path.as_posix().endswith("/" + name)]
    return found or [path for path in [ROOT / name, ROOT / "docs" / name] if path.exists()]


def names_in(path):
    """What a module defines at its top."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name


def untrue(text):
    """What a page names that is not there."""
    for file, name in NAMED.findall(text):
        found = files_called(file)
        if not found:
            yield file
        elif name and not any(name in names_in(path) for path in found):
            yield f"{file}: {name}"


@pytest.mark.parametrize("page", PAGES)
def test_what_pages_name_is_there(page):
    assert not list(untrue((ROOT / page).read_text(encoding="utf-8")))


def test_the_design_tells_of_every_folder_and_stage():
    text = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")
    folders = [p.name for p in SOURCE.iterdir() if (p / "__init__.py").exists()]
    assert [name for name in folders if f"`{name}`" not in text] == []
    alone = [p.name for p in SOURCE.glob("*.py") if not p.name.startswith("__")]
    stages = [p.name for p in (SOURCE / "solvers" / "focus").glob("*.py")]
    steps = [p.name for p in (SOURCE / "workflow").glob("*.py")]
    named = {Path(file).name for file, _ in NAMED.findall(text)}
    assert sorted({*alone, *stages, *steps} - named - {"__init__.py"}) == []


def test_the_test_notices_what_is_not_there():
    text = "`solvers/focus/fit.py`, `fit.py: fit_model`, `focus/lost.py`, `fit.py: lost_model`"
    assert list(untrue(text)) == ["focus/lost.py", "fit.py: lost_model"]
