"""The kind of a target, what is said of it, and what is refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topicfocus.text import ReadError, detect_target

nan = np.nan


@pytest.mark.parametrize(
    ("values", "kind", "numbers", "classes", "said"),
    [
        (["1", "0", "1"], "binary", [1, 0, 1], ("0", "1"), "1 (positive) and 0"),
        (["no", "yes", ""], "binary", [0, 1, nan], ("no", "yes"), "1 missing"),
        (["fresh", "rotten"], "binary", [1, 0], ("rotten", "fresh"), "fresh (positive)"),
        ([True, False, None], "binary", [1, 0, nan], ("false", "true"), "true (positive)"),
        (["1", "1.0", "2"], "binary", [0, 0, 1], ("1", "2"), "two different values"),
        (["-1", "1"], "binary", [0, 1], ("-1", "1"), "1 (positive) and -1"),
        (list("12345"), "real", [1, 2, 3, 4, 5], None, "'ordinal'"),
        (["0.5", "2", "NA", "3e1"], "real", [0.5, 2, nan, 30], None, "from 0.5 to 30"),
        (["0", "0", "7", "120"], "real", [0, 0, 7, 120], None, "'count'"),
        (["10", "20", "30"], "real", [10, 20, 30], None, "'classes'"),
        (["-3", "0", "40"] * 9, "real", [-3, 0, 40] * 9, None, "whole numbers from -3 to 40"),
        (["b", "a", "c", "a"], "classes", [1, 0, 2, 0], ("a", "b", "c"), "3 different labels"),
        (["1", "2", "x"] * 5, "classes", [0, 1, 2] * 5, ("1", "2", "x"), "1, 2, x"),
    ],
)
def test_what_is_chosen(values, kind, numbers, classes, said):
    target = detect_target(values)
    assert target.kind == kind
    np.testing.assert_array_equal(target.values, np.array(numbers, dtype=float))
    assert target.classes == classes
    assert target.sentence.startswith(f"{kind}: ") and said in target.sentence
    assert target.n_missing == int(np.isnan(target.values).sum())


def test_labels():
    assert detect_target(["pos", "neg", ""]).labels().tolist() == ["pos", "neg", None]
    with pytest.raises(ValueError, match="no labels"):
        detect_target(["1", "2", "3"]).labels()


def test_a_kind_that_is_asked_for():
    assert detect_target(["1", "2", "3"], "ordinal").kind == "ordinal"
    assert detect_target(["0", "2", "3"], "count").kind == "count"
    assert detect_target(["0", "1"], "real").values.tolist() == [0, 1]
    assert detect_target(["3", "1", "2"], "classes").classes == ("1", "2", "3")


@pytest.mark.parametrize(
    ("values", "kind", "message"),
    [
        ([], None, "no values"),
        (["", "NA", None], None, "all 3 are missing"),
        (["a", "a"], None, "only one value, 'a'"),
        (["1", "1.0"], None, "only one value"),
        ([f"Name {i}" for i in range(40)], None, "free text or names"),
        ([f"c{i % 60}" for i in range(600)], None, "60 different labels"),
        ([str(i) for i in range(50)] + ["oops"], None, "such as 'oops'"),
        (["1", "x", "3"], "real", r"'x' \(value 2\) is not a number"),
        (["1", "2.5", "3"], "count", "2.5 is not a whole number"),
        (["1", "-2", "3"], "count", "-2 is not a whole number from 0"),
        (["1", "2.5", "3"], "ordinal", "2.5 is not a whole number"),
        (["1", "2", "3"], "binary", "3 different values"),
        (["1", "2"], "reel", "Did you mean 'real'?"),
        (["1", "inf", "3", "4"] * 10, "real", "'inf'"),
    ],
)
def test_what_is_refused(values, kind, message):
    with pytest.raises(ReadError, match=message.replace("?", r"\?")) as caught:
        detect_target(values, kind)
    assert "\n" not in str(caught.value)


@given(st.lists(st.one_of(st.none(), st.text(max_size=5), st.floats(), st.integers()), max_size=60))
def test_anything_is_a_target_or_an_error_of_ours(values):
    try:
        target = detect_target(values)
    except ReadError:
        return
    assert len(target.values) == len(values)
    if target.classes is not None:
        known = target.values[~np.isnan(target.values)]
        assert set(known) == set(range(len(target.classes)))
