"""The first inputs of `fuzz.py`, in this process."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import fuzz

from topicfocus.text import ReadError, read_table


@pytest.fixture(scope="module")
def fixed(tmp_path_factory):
    return fuzz.prepare(tmp_path_factory.mktemp("fixed"))


@pytest.mark.parametrize("kind", range(len(fuzz.KINDS)), ids=lambda i: fuzz.KINDS[i].__name__)
def test_odd_inputs_give_a_result_or_one_line(kind, fixed):
    n = len(fuzz.KINDS)
    found = [fuzz.run_one(0, i, fixed, fuzz.FIRST_LIMIT) for i in range(kind, 12 * n, n)]
    assert not any(found), [message for message in found if message]


def test_what_takes_too_long_is_a_finding(fixed, monkeypatch):
    def never_ends(*_):
        while True:
            pass

    monkeypatch.setattr(fuzz, "KINDS", (never_ends,))
    assert "takes longer" in fuzz.run_one(0, 0, fixed, 0.1)


@pytest.mark.parametrize("ending", [".jsonl", ".json", ".csv"])
@pytest.mark.parametrize("value", ["[" * 100_000, '{"a":' * 100_000])
def test_bottomless_nesting(ending, value, tmp_path):
    path = tmp_path / f"a{ending}"
    path.write_text('{"text": ' + value + ', "stars": 1}\n')
    with pytest.raises(ReadError):
        list(read_table(path, "text", "stars"))
