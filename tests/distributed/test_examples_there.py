"""Examples of `topicfocus.distributed` run; ``client`` and ``address``: of these tests' cluster."""

import pytest

pytest.importorskip("distributed")

from docstring_examples import modules_with_examples, run_examples


@pytest.mark.parametrize(
    "name", [name for name in modules_with_examples() if ".distributed." in name]
)
def test_examples(name, client, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run_examples(name, client=client, address=client.scheduler.address)
