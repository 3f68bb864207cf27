"""The joint and the focused objective know nothing of each other."""

import ast
from pathlib import Path

import pytest

import topicfocus

ROOT = Path(topicfocus.__file__).parent
APART = [
    ("inference/joint", "inference.focused"),
    ("inference/focused", "inference.joint"),
    ("solvers/joint", "inference.focused"),
    ("solvers/joint", "solvers.focus"),
    ("solvers/focus", "inference.joint"),
    ("solvers/focus", "solvers.joint"),
]
#: Themes are an LDA of all words, fitted before the focused model begins.
EXCEPT = {("focused/themes.py", "solvers.joint")}


@pytest.mark.parametrize(("folder", "other"), APART)
def test_neither_objective_imports_the_other(folder, other):
    files = sorted((ROOT / folder).glob("*.py"))
    assert len(files) > 3
    for path in files:
        if (f"{folder}/{path.name}", other) in EXCEPT:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                assert not f"{node.module}.".startswith(f"topicfocus.{other}."), path
