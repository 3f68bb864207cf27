"""A column of texts in little memory is what was put into it."""

import pickle
import sys

import pytest

from topicfocus.text.values import Values

N = 150_000
COLUMNS = {
    "few": [str(i % 5) for i in range(N)],
    "some are missing": [None if i % 7 == 0 else "yes" for i in range(N)],
    "all differ": [f"{i / 7:.6f}" for i in range(N)],
    "odd ones": [("", None, "ü" * 200, "\udc80", "a\0b", str(i))[i % 6] for i in range(N)],
}


@pytest.mark.parametrize("name", COLUMNS)
def test_values_are_those_of_the_list(name):
    given = COLUMNS[name]
    values = Values(given[:1000])
    values += iter(given[1000:])
    assert len(values) == N and values == given and list(values) == given
    for i in (0, -1, 65_535, 65_536, N - 1):
        assert values[i] == given[i]
    assert values[3:9] == given[3:9]
    assert values.index(given[70_000]) == given.index(given[70_000])
    assert values.count(None) == given.count(None)
    assert pickle.loads(pickle.dumps(values)) == given
    with pytest.raises(IndexError):
        values[N]


def test_little_memory():
    assert sum(block._codes.nbytes for block in Values(COLUMNS["few"])._blocks) == 2 << 16
    blocks = Values(COLUMNS["all differ"])._blocks
    packed = sum(block._bytes.nbytes + block._sizes.nbytes for block in blocks)
    assert packed < 15 * (2 << 16) < sum(map(sys.getsizeof, COLUMNS["all differ"][: 2 << 16])) / 3


def test_they_are_shown_like_a_list():
    assert repr(Values(["5", None])) == "['5', None]"
    assert repr(Values("abc" * 10)).endswith(", ... 30 values]")
    assert Values() == [] and Values(["a"]) != ["b"] and Values() != ()
