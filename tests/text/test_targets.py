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
        (["positive", "negative"], "binary", [1, 0], ("negative", "positive"), "positive and"),
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


CODES = ["01001", "1001", "1E3", "1000", "1.10", "1.1", "12345678901234567", "12345678901234568"]


def test_labels_stay_as_they_are_written():
    target = detect_target([*CODES, "NA", "None", "+", "-", "", None], "classes")
    assert set(target.classes) == {*CODES, "NA", "None", "+", "-"} and target.n_missing == 2
    assert target.labels()[:8].tolist() == CODES
    assert "'01001', '1001' are the same number but are different classes" in target.sentence
    assert detect_target(CODES[6:] * 2).classes == tuple(CODES[6:])
    assert detect_target([1.0, 2, "1"], "classes").classes == ("1", "2")


@pytest.mark.parametrize(
    ("values", "classes", "said"),
    [
        (["+", "-", "+"], ("-", "+"), "+ (positive) and -"),
        (["yes", "no", "NA", ""], ("NA", "no", "yes"), "taken as labels: 'NA'"),
        (["yes", "Yes", "no"] * 9, ("Yes", "no", "yes"), "'Yes', 'yes' differ only in case"),
        (["0", "False", "1"] * 9, ("0", "1", "False"), "'0', '1', 'False' are different classes"),
        (["1,5", "1,50", "2,5"] * 9, ("1.5", "2.5"), "'1,5', '1,50' are the same numbers"),
    ],
)
def test_labels_that_may_be_meant_otherwise_are_mentioned(values, classes, said):
    target = detect_target(values)
    assert target.classes == classes and said in target.sentence


def test_missing_words_are_missing_among_numbers_only():
    assert detect_target(["0", "1", "NA", "-"]).n_missing == 2
    assert detect_target(["1", "2", "3", "None"], "ordinal").n_missing == 1


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
        (["1", "1.0"], None, "only one value, '1' = '1.0': .*--kind classes"),
        ([f"Name {i}" for i in range(40)], None, "free text or names"),
        ([f"c{i % 60}" for i in range(600)], None, "60 different labels"),
        (
            [str(i) for i in range(50)] + ["oops"],
            None,
            r"1 of 51 values is not: 'oops' \(value 51\)",
        ),
        (["1", "x", "3"], "real", r"'x' \(value 2\) is not a number"),
        (["1", "2.5", "3"], "count", r"2.5 \(value 2\) is not a whole number"),
        (["1", "-2", "3"], "count", r"-2 \(value 2\) is not a whole number from 0"),
        (["1", "2.5", "3"], "ordinal", r"2.5 \(value 2\) is not a whole number"),
        (["1", "2", "3"], "binary", "3 different values"),
        (["1", "2"], "reel", "Did you mean 'real'?"),
        (["1", "inf", "3", "4"] * 10, "real", "'inf'"),
    ],
)
def test_what_is_refused(values, kind, message):
    with pytest.raises(ReadError, match=message.replace("?", r"\?")) as caught:
        detect_target(values, kind)
    assert "\n" not in str(caught.value)


def ratings(*others, n=400):
    """Ratings from 1 to 10, with others in the middle of them."""
    values = [str(i % 10 + 1) for i in range(n)]
    values[100:100] = others
    return values


#: What stands among ratings, and what is said of it.
MISTYPED = {
    "good": "'good' (row 101)",
    "inf": "'inf' (row 101); the first is not finite",
    "-Infinity": "not finite",
    "1e300": "'1e300' (row 101); the first is too large",
    "9" * 5000: "too large",
    "1_000": "'1_000' (row 101)",
    "7;": "'7;' (row 101)",
    "1,234": "a number with a comma, decimal or between thousands",
    "1,234,567": "marks between thousands",
    "2024-03-01": "a date or time",
    "3 %": "a number with a unit",
}


@pytest.mark.parametrize("value", MISTYPED, ids=lambda value: value[:12])
def test_a_mistyped_number_is_an_error_and_can_be_skipped(value):
    where = "row {}".format
    with pytest.raises(ReadError) as caught:
        detect_target(ratings(value), where=lambda i: where(i + 1))
    message = str(caught.value)
    assert "is numbers, but 1 of 401 values is not" in message
    assert MISTYPED[value] in message
    assert "--skip-bad" in message and "--kind classes" in message
    assert len(message) < 300
    target = detect_target(ratings(value), skip_bad=True)
    assert target.kind == "real" and "1 left out" in target.sentence
    ((place, what),) = target.bad
    assert place == 100 and np.isnan(target.values[100]) and np.isnan(target.values).sum() == 1
    assert what.startswith("the target is '")
    rest = np.delete(np.arange(401), [100])
    assert not target.of(rest).bad and target.of(rest).n_missing == 0


def test_errors_are_named_up_to_five():
    with pytest.raises(ReadError, match=r"7 of 407 values are not: 'a' .*'e' .value 105.,") as e:
        detect_target(ratings(*"abcdefg"))
    assert "'f'" not in str(e.value)
    found = detect_target(ratings(*"abcdefg"), skip_bad=True)
    assert [place for place, _ in found.bad] == list(range(100, 107))


def test_two_labels_that_are_numbers_and_a_slip():
    values = ["0", "1"] * 30 + ["O"]
    with pytest.raises(ReadError, match="1 of 61 values is not: 'O'"):
        detect_target(values)
    assert detect_target(values, skip_bad=True).kind == "binary"
    assert detect_target(values, "classes").classes == ("0", "1", "O")


def test_too_many_exceptions_are_not_skipped_unasked():
    values = ratings(*["x"] * 100)
    for skip in (False, True):
        with pytest.raises(ReadError, match="100 of 500 values are not") as caught:
            detect_target(values, skip_bad=skip)
        assert "skip" not in str(caught.value)
    # Whoever says that they are numbers, and bad ones to be left out, gets that.
    assert len(detect_target(values, "real", skip_bad=True).bad) == 100
    assert detect_target(["1", "2", "3", *"abcdef"] * 9).kind == "classes"


def test_decimal_commas():
    target = detect_target(["3,5", "2", "4,25", "", "-1,5"])
    assert target.kind == "real" and "3 of them with a decimal comma" in target.sentence
    np.testing.assert_array_equal(target.values, [3.5, 2, 4.25, nan, -1.5])
    # One that could be thousands is read like the others of its column.
    assert detect_target(["3,5", "1,234", "7"]).values.tolist() == [3.5, 1.234, 7]
    assert detect_target(["0,5", "1,5"], "classes").classes == ("0,5", "1,5")
    for column in (["1,234", "2,345", "12"], ["1,234,567", "3,000", "2,100"], ["$3", "$4.5", "$9"]):
        with pytest.raises(ReadError, match=r"\(value 1\) is a number with.*decimal point"):
            detect_target(column)
    with pytest.raises(ReadError, match=r"'3,5' .value 51.; the first is .* decimal comma"):
        detect_target(["2.5", "3", "4"] * 10 + ["1.5"] * 20 + ["3,5"])


@pytest.mark.parametrize(
    "date",
    ["2024-03-0{}", "{}.3.2024", "03/0{}/24", "2024-03-01T10:0{}:00", "1{}:30", "{} May 2024"],
)
def test_dates_are_refused_by_name(date):
    values = [date.format(i % 5 + 1) for i in range(60)]
    with pytest.raises(
        ReadError, match=r"\(value 1\) is a date or time. Turn it into a number, such as"
    ):
        detect_target(values)
    assert len(detect_target(values, "classes").classes) == 5


def test_a_label_that_occurs_once_is_mentioned():
    sentence = detect_target(["good", "bad", "middling"] * 20 + ["godo"]).sentence
    assert "only once: 'godo'" in sentence


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
