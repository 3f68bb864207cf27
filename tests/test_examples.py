"""Examples run: those of docstrings, and programs of the README and of docs/.

Examples of `topicfocus.distributed` run in tests/distributed, where there is a cluster.
"""

import re
from pathlib import Path

import pytest
from docstring_examples import modules_with_examples, run_examples
from readers_names import names_of

ROOT = Path(__file__).resolve().parents[1]
#: Pages that are one program each are run from top to bottom by tests/test_pages.py.
WHOLE = ("start.md", "coming-from.md")
PAGES = [page for page in sorted((ROOT / "docs").glob("*.md")) if page.name not in WHOLE]
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


def programs():
    """Blocks of Python, by page and number."""
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for number, block in enumerate(re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)):
            yield pytest.param(block, id=f"{page.name}-{number}")


#: Blocks that go on with what the reader has: they are given it (`readers_names`).
GO_ON = (
    *("estimators.md-0", "estimators.md-2"),
    *("explorer.md-0", "explorer.md-1", "explorer.md-2", "metrics.md-0", "persistence.md-0"),
    *("scale.md-0", "streaming.md-0", "text.md-0", "text.md-2", "workflow.md-0", "workflow.md-1"),
)
#: Those that are not run.
FRAGMENTS = {
    "choosing.md-0": "60 fits; the docstring of TopicSearchCV has fewer",
    "choosing.md-1": "30 fits; the docstring of compare_models has fewer",
    "choosing.md-2": "100 fits; the docstring of stability has fewer",
    "estimators.md-1": "needs MAPIE",
    "scale.md-1": "needs a cluster; tests/distributed does the same",
}


@pytest.mark.parametrize("block", list(programs()))
def test_pages(block, request, tmp_path, monkeypatch):
    compile(block, "page", "exec")  # a fragment is at least Python
    name = request.node.callspec.id
    if name in FRAGMENTS:
        pytest.skip(FRAGMENTS[name])
    monkeypatch.chdir(tmp_path)
    known = {"__name__": "example"}
    if name in GO_ON:
        known |= names_of(name)
    exec(compile(block, "page", "exec"), known)


def test_readme_prints_what_stands_there(capsys):
    """The README's program, and the indented block below it, spaces apart."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert text.count("```python") == 1
    program, rest = re.search(r"^```python\n(.*?)^```\n(.*)", text, re.M | re.S).groups()
    exec(compile(program, "README.md", "exec"), {"__name__": "readme"})
    printed = [line.split() for line in capsys.readouterr().out.splitlines()]
    shown = [line.split() for line in re.findall(r"^    (.*)$", rest, re.M)]
    assert printed and shown == printed
