"""What the linter does not look at: functions short enough to be read at once."""

import ast
from pathlib import Path

import pytest

import topicfocus

SOURCE = Path(topicfocus.__file__).parent
MOST_LINES = 60


def code_lines(function, lines):
    """Lines of a function that are neither empty, nor a comment, nor its docstring."""
    start, end = function.lineno, function.end_lineno
    first = function.body[0]
    inside = set(range(start, end + 1))
    if ast.get_docstring(function) is not None:
        inside -= set(range(first.lineno, first.end_lineno + 1))
    stripped = (lines[i - 1].strip() for i in inside)
    return sum(bool(line) and not line.startswith("#") for line in stripped)


def is_excused(function, lines):
    """A compiled kernel under a comment that says why it is long."""
    top = min(decorator.lineno for decorator in function.decorator_list or [function])
    names = {getattr(decorator, "id", None) for decorator in function.decorator_list}
    return "kernel" in names and lines[top - 2].startswith("# long: ")


def long_functions(path):
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    return {
        node.name: code_lines(node, lines)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        and code_lines(node, lines) > MOST_LINES
        and not is_excused(node, lines)
    }


def test_functions_are_short():
    found = {
        (path.relative_to(SOURCE).as_posix(), name): lines
        for path in sorted(SOURCE.rglob("*.py"))
        for name, lines in long_functions(path).items()
    }
    assert not found, f"over {MOST_LINES} lines of code: {found}"


@pytest.mark.parametrize(("n", "long"), [(59, False), (60, True)])
def test_the_test_notices_a_long_function(tmp_path, n, long):
    body = '    """Says\n\n    something."""\n    # a comment\n\n' + "    x = 1\n" * n
    path = tmp_path / "long.py"
    path.write_text(f"def f():\n{body}", encoding="utf-8")
    assert bool(long_functions(path)) == long
    path.write_text(f"# long: a reason.\n@kernel\ndef f():\n{body}", encoding="utf-8")
    assert not long_functions(path)
    path.write_text(f"# long: no kernel.\ndef f():\n{body}", encoding="utf-8")
    assert bool(long_functions(path)) == long
