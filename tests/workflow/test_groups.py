"""No group on both sides of the split; copies on both sides are told."""

import numpy as np
import pytest
from command_line import write_csv
from scipy import sparse

from topicfocus.datasets import make_reviews
from topicfocus.text import ReadError, detect_target
from topicfocus.workflow import SettingError, fit_file
from topicfocus.workflow.split import copies, split


@pytest.mark.parametrize("kind", [None, "classes"])
def test_a_group_is_on_one_side(kind):
    rng = np.random.default_rng(0)
    values = [str(v) for v in rng.integers(1, 5, 600)]
    values[::50] = [None] * 12
    target = detect_target(values, kind)
    group = rng.integers(0, 80, 600)
    train, test = split(target, 0.2, 0, "r.csv", group)
    assert not set(group[train]) & set(group[test])
    assert len(test) == pytest.approx(0.2 * 588, abs=12)
    assert not np.isnan(target.values[test]).any()
    # What is in neither part has no target and belongs to a held-out group.
    neither = np.setdiff1d(np.arange(600), [*train, *test])
    assert np.isnan(target.values[neither]).all() and set(group[neither]) <= set(group[test])
    again = split(target, 0.2, 0, "r.csv", group)
    assert all(np.array_equal(a, b) for a, b in zip((train, test), again, strict=True))


def test_groups_that_cannot_be_held_out():
    target = detect_target(["a", "b"] * 20)
    with pytest.raises(ReadError, match="all documents are of one group"):
        split(target, 0.2, 0, "r.csv", np.zeros(40, dtype=int))
    with pytest.raises(ReadError, match="none of the 2 groups can be held out without the last"):
        split(target, 0.2, 0, "r.csv", np.arange(40) % 2)


def test_copies_are_found_by_their_counts():
    rng = np.random.default_rng(0)
    counts = rng.poisson(0.3, (400, 60)).astype(float)
    counts[300:340] = counts[:40]
    counts[340, :] = 2 * counts[41]  # not the same
    matrix = sparse.csr_array(counts)
    train, test = np.arange(300), np.arange(300, 400)
    rows = {row.tobytes(): i for i, row in reversed(list(enumerate(counts[:300])))}
    expected = [
        (i, rows[counts[i].tobytes()])
        for i in test
        if counts[i].tobytes() in rows and np.count_nonzero(counts[i]) >= 5
    ]
    assert copies(matrix, train, test) == expected
    assert len(expected) >= 40


@pytest.fixture(scope="module")
def patients(tmp_path_factory):
    """Three visits of each of 60 patients, all three with the same words and rating."""
    reviews = make_reviews(60, random_state=0)
    rows = [
        [text, stars, f"p{i}" if (i, visit) != (7, 0) else ""]
        for visit in range(3)
        for i, (text, stars) in enumerate(zip(reviews.texts, reviews.target, strict=True))
    ]
    path = tmp_path_factory.mktemp("groups") / "visits.csv"
    return write_csv(path, ["text", "stars", "patient"], rows)


def test_fit_file_keeps_groups_together(patients, caplog):
    with caplog.at_level("INFO", "topicfocus"):
        outcome = fit_file(patients, text="text", target="stars", group="patient", topics=2)
    said = caplog.messages
    part, rows = outcome.predictions["part"], outcome.predictions["row"]
    held = {(row - 1) % 60 for row, p in zip(rows, part, strict=True) if p == "test"} - {7}
    kept = {(row - 1) % 60 for row, p in zip(rows, part, strict=True) if p == "train"} - {7}
    assert not held & kept and len(held) == pytest.approx(12, abs=1)
    assert outcome.summary["settings"]["group"] == "patient"
    assert any("1 document has no 'patient': each is a group of its own" in s for s in said)
    assert any(s.startswith("Held out: ") and "of 61 groups" in s for s in said)
    assert not any("appear in the training set" in s for s in said)


def test_copies_on_both_sides_are_warned_of(patients):
    with pytest.warns(
        UserWarning, match=r"held-out documents also appear in the training set, such"
    ):
        fit_file(patients, text="text", target="stars", topics=2)


def test_near_duplicates_are_warned_of(tmp_path):
    """Each document twice, with a number of its own between the same words."""
    reviews = make_reviews(60, random_state=0)
    rows = []
    for i, (text, stars) in enumerate(zip(reviews.texts * 2, [*reviews.target] * 2, strict=True)):
        words = text.split()
        words.insert(i % len(words), f"ticket{i:05d}x")
        rows.append([" ".join(words), stars])
    path = write_csv(tmp_path / "tickets.csv", ["text", "stars"], rows)
    with pytest.warns(UserWarning, match=r"[1-9]\d? of 24 held-out documents also appear"):
        fit_file(path, text="text", target="stars", topics=2)


@pytest.mark.filterwarnings("ignore:only 1 of 2 groups")
def test_one_group_cannot_be_halved_and_that_is_found_before_the_fit(
    patients, tmp_path, monkeypatch
):
    rows = patients.read_text(encoding="utf-8").splitlines()
    path = tmp_path / "two.csv"
    halves = [f"{row},{i % 2}" for i, row in enumerate(rows[1:])]
    path.write_text("\n".join([f"{rows[0]},half", *halves]))
    monkeypatch.setattr("topicfocus.workflow.fit.fit_estimator", lambda *_: pytest.fail("fitted"))
    with pytest.raises(SettingError, match="cannot be halved"):
        fit_file(
            path, text="text", target="stars", group="half", topics=2, stability=2, test_share=0.5,
            out=tmp_path / "o",
        )  # fmt: skip
    assert [p.name for p in tmp_path.iterdir()] == ["two.csv"]
