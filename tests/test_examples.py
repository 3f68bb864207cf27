"""Examples run: those of docstrings, and the program of the README.

Examples of `topicfocus.distributed` run in tests/distributed, where there is a cluster.
"""

import re
from pathlib import Path

import pytest
from docstring_examples import modules_with_examples, run_examples

ROOT = Path(__file__).resolve().parents[1]
#: Its example writes the file and the folder that those of other verbs go on with.
FIRST = "topicfocus.workflow.fit"


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """A working folder with what the example of `fit_file` has written."""
    folder = tmp_path_factory.mktemp("results")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        run_examples(FIRST)
    return folder


@pytest.mark.parametrize(
    "name", [name for name in modules_with_examples() if name != "topicfocus.distributed"]
)
def test_docstrings(name, request, tmp_path, monkeypatch):
    if name.startswith("topicfocus.workflow."):
        tmp_path = request.getfixturevalue("results")
    monkeypatch.chdir(tmp_path)  # an example may write a file
    if name != FIRST:
        run_examples(name)


def test_readme_prints_what_stands_there(capsys):
    """The README's program, and the indented block below it, spaces apart."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert text.count("```python") == 1
    program, rest = re.search(r"^```python\n(.*?)^```\n(.*)", text, re.M | re.S).groups()
    exec(compile(program, "README.md", "exec"), {"__name__": "readme"})
    printed = [line.split() for line in capsys.readouterr().out.splitlines()]
    shown = [line.split() for line in re.findall(r"^    (.*)$", rest, re.M)]
    assert printed and shown == printed
