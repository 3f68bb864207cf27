"""A few of the odd inputs of the harness, some of each kind, and what hypothesis can think of.

All of them: python tests/adversity/harness.py --inputs 10000
"""

import json

import numpy as np
import pytest
from broken import Broken
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from odd_bytes import mutated
from odd_inputs import KINDS, check_command, kind_of, prepare, run_case

from topicfocus.text import ReadError, detect_target, read_table
from topicfocus.workflow import SettingError, read_config

#: Cases of each kind here; the slow ones fit models.
FEW = {"options": 2, "result": 2, "fit": 1, "estimator": 15}
quick = settings(
    max_examples=40,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@pytest.fixture(scope="module")
def fixed(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        # `prepare` has counts on disk kept where no others are.
        patch.setattr("topicfocus.folders.cache_folder", None)
        yield prepare(tmp_path_factory.mktemp("fixed"))


@pytest.mark.parametrize("kind", KINDS)
def test_some_of_each_kind(kind, fixed, tmp_path):
    numbers = [n for n in range(3000) if kind_of(n) == kind][: FEW.get(kind, 12)]
    for number in numbers:
        run_case(kind, 1, number, tmp_path / "case", fixed)


def test_kinds_come_in_their_shares():
    found = [kind_of(n) for n in range(10_000)]
    for kind, (_, share) in KINDS.items():
        assert found.count(kind) == pytest.approx(100 * share, abs=20)


def test_the_harness_notices(fixed, tmp_path, monkeypatch):
    """A traceback, or a file left behind."""
    from topicfocus.cli import commands

    arguments = ("predict", fixed.model, fixed.data)

    def crash(args):
        raise RuntimeError("boom")

    def leave(args):
        (tmp_path / "half").write_text("written")
        raise ValueError("something")

    for run, what in ((crash, "traceback"), (leave, "left behind")):
        monkeypatch.setattr(commands, "predict", run)
        with pytest.raises(Broken, match=what):
            check_command(tmp_path, *arguments)
    monkeypatch.undo()
    assert check_command(tmp_path, *arguments) == 0


def test_mutations_are_the_same_every_time():
    a, b = (mutated(np.random.default_rng(5), b"text,stars\n" * 20) for _ in range(2))
    assert a == b != b"text,stars\n" * 20


@quick
@given(content=st.binary(max_size=400), ending=st.sampled_from([".csv", ".tsv", ".jsonl", ".json"]))
def test_any_bytes_as_a_table(content, ending, tmp_path):
    path = tmp_path / f"a{ending}"
    path.write_bytes(b"text,stars\n" + content if ending == ".csv" else content)
    try:
        for block in read_table(path, "text", "stars", skip_bad=True):
            assert len(block.texts) == len(block.rows)
    except ReadError as error:
        assert "\n" not in str(error)


@pytest.mark.parametrize("ending", [".jsonl", ".json", ".csv"])
@pytest.mark.parametrize("value", ["[" * 100_000, '{"a":' * 100_000, "[" * 9000 + "]" * 9000])
def test_bottomless_nesting(ending, value, tmp_path):
    """Also in the first line, which is looked at before the others."""
    path = tmp_path / f"a{ending}"
    path.write_text('{"text": ' + value + ', "stars": 1}\n')
    # Python 3.13 reads 9,000 levels, and then the text is none.
    known = r"nested too deeply|not JSON|no column|objects|is a list, not a text"
    with pytest.raises(ReadError, match=known):
        list(read_table(path, "text", "stars"))


@quick
@given(
    values=st.lists(st.one_of(st.none(), st.text(max_size=12), st.floats().map(str)), max_size=60),
    kind=st.sampled_from([None, "real", "count", "ordinal", "classes"]),
)
def test_any_column_as_a_target(values, kind):
    try:
        found = detect_target(values, kind, name="the target")
    except ReadError:
        return
    assert np.isfinite(found.values[~np.isnan(found.values)]).all()


_JSON = st.recursive(
    st.one_of(st.booleans(), st.integers(), st.floats(allow_nan=False), st.text()),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=6,
)
_KEYS = st.sampled_from(["topics", "ngrams", "covariates", "stop_words", "seed", "min-df", "file"])


@quick
@given(key=_KEYS, value=_JSON)
def test_any_value_in_a_config(key, value, tmp_path):
    path = tmp_path / "c.toml"
    path.write_text(f"{key} = {json.dumps(value)}", encoding="utf-8", errors="replace")
    try:
        found = read_config(path)
    except (SettingError, ReadError) as error:
        assert "\n" not in str(error)
    else:
        assert len(found) == 1
