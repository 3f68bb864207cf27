"""Examples of `topicfocus.distributed` run; ``client`` and ``address``: of these tests' cluster."""

import pytest

pytest.importorskip("distributed")

from docstring_examples import run_examples


def test_examples(client, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run_examples("topicfocus.distributed", client=client, address=client.scheduler.address)
