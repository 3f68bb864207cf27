"""Examples of docstrings run.

Examples of `topicfocus.distributed` run in tests/distributed, where there is a cluster.
"""

import pytest
from docstring_examples import modules_with_examples, run_examples

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
