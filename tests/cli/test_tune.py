"""`topicfocus tune`, `fit --topics auto` and `fit --stability`: the choice and what comes back."""

import json

import pytest
from command_line import read_csv, topicfocus, write_csv, write_reviews

COLUMNS = ("--text", "text", "--target", "stars", "--jobs", "1")


@pytest.fixture(scope="module")
def few(tmp_path_factory):
    return write_reviews(tmp_path_factory.mktemp("data") / "reviews.csv", 200)


@pytest.fixture(scope="module")
def tuned(few, tmp_path_factory):
    folder = tmp_path_factory.mktemp("tuned") / "out"
    grid = ("--topics", "2,3", "--shares", "0.1,0.3", "--folds", 2, "--stability", 2)
    done = topicfocus("tune", few, *COLUMNS, *grid, "--out", folder)
    assert done.returncode == 0, done.stderr
    return done, folder


def test_it_shows_every_setting_with_a_picture_and_writes_the_chosen_model(tuned):
    done, folder = tuned
    assert "Tuning: 4 settings on 2 folds" in done.stderr
    assert "Settings on 2 folds" in done.stdout
    result = json.loads((folder / "metrics.json").read_text(encoding="utf-8"))
    tuning = result["tuning"]
    chosen, tried = tuning["chosen"]["n_topics"], (2, 3)
    edge = "smallest" if chosen == tried[0] else "largest"
    assert (
        f"The {edge} number of topics of the grid was chosen" in done.stdout
    )  # both ends are edges
    assert len(tuning["rows"]) == 4 and sum(row["chosen"] for row in tuning["rows"]) == 1
    assert len(result["topics"]) == tuning["chosen"]["n_topics"] == result["settings"]["topics"]
    assert result["inclusion_prior"] == tuning["chosen"]["inclusion_prior"]
    assert (folder / "frontier.png").read_bytes().startswith(b"\x89PNG")
    assert (folder / "explorer.html").exists()
    assert not list(folder.parent.glob("*.partial"))


def test_from_python_the_page_has_the_frontier(few):
    from topicfocus.report import Explorer
    from topicfocus.workflow import tune_file

    tuning = {"topics": (2,), "shares": (0.1, 0.3), "folds": 2}
    outcome = tune_file(few, text="text", target="stars", jobs=1, **tuning)
    assert outcome.folder is None and len(outcome.summary["tuning"]["rows"]) == 2
    drawn = Explorer(outcome.pipeline, **outcome.shown).summary["fit"]["frontier"]
    assert [row["inclusion_prior"] for row in drawn] == [0.1, 0.3]
    assert all({"score", "words", "npmi"} <= set(row) for row in drawn)


def test_stability_is_told_and_kept(tuned):
    done, folder = tuned
    assert "Stability: 2 pairs of halves" in done.stdout and "mean cosine" in done.stdout
    found = json.loads((folder / "metrics.json").read_text(encoding="utf-8"))["stability"]
    assert found["resamples"] == 2 and len(found["topics"]) in (2, 3)
    assert {word["word"] for word in found["words"]} & {"awful", "superb", "masterpiece"}


def test_fit_chooses_the_number_of_topics(few, tmp_path):
    done = topicfocus(
        "fit", few, *COLUMNS, "--topics", "auto", "--json", "--quiet", "--out", tmp_path / "o"
    )
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert [row["n_topics"] for row in result["tuning"]["rows"]] == [3, 5, 10]
    assert len(result["topics"]) == result["tuning"]["chosen"]["n_topics"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("tune", "--topics", "0,3"), "must be at least 1"),
        (("tune", "--shares", "0.1,2"), "must lie between 0 and 1"),
        (("tune", "--folds", "1"), "must be at least 2"),
        (("fit", "--stability", "1"), "must be at least 2"),
        (("fit", "--topics", "some"), "must be a whole number"),
        (("tune", "--selection", "often"), "invalid choice: 'often'"),
        (("fit", "--selection", "stable", "--model", "slda"), "stable is for focused, not slda"),
    ],
)
def test_mistakes_end_with_2(few, arguments, message, tmp_path):
    command, *rest = arguments
    done = topicfocus(command, few, *COLUMNS, *rest, "--out", tmp_path / "o")
    assert done.returncode == 2 and message in done.stderr
    assert not (tmp_path / "o").exists()


def test_too_few_of_a_class_or_too_few_groups_are_told_before_any_fit(few, tmp_path, monkeypatch):
    rows = read_csv(few)
    kinds = ["good" if float(row["stars"]) > 5 else "bad" for row in rows]
    kinds[:5] = ["rare"] * 5
    rows = [
        (row["text"], kind, row["stars"], f"author {i % 4}")
        for i, (row, kind) in enumerate(zip(rows, kinds, strict=True))
    ]
    path = write_csv(tmp_path / "rare.csv", ["text", "kind", "stars", "author"], rows)
    monkeypatch.setattr(
        "topicfocus.selection.search.fit_setting", lambda *_, **__: pytest.fail("a fit was made")
    )
    tune = ("tune", path, "--text", "text", "--topics", "2", "--shares", "0.2", "--jobs", "1")
    out = ("--out", tmp_path / "o")
    done = topicfocus(*tune, "--target", "kind", *out)
    assert done.returncode == 1 and "class rare has 4 documents, too few" in done.stderr
    done = topicfocus(*tune, "--target", "stars", "--group", "author", *out)
    assert done.returncode == 1 and "greater than the number of groups: 3" in done.stderr
    assert not (tmp_path / "o").exists()


def test_one_setting_with_a_stable_selection(few, tmp_path):
    grid = ("--topics", "2", "--shares", "0.2", "--folds", 2, "--selection", "stable")
    done = topicfocus("tune", few, *COLUMNS, *grid, "--out", tmp_path / "o")
    assert done.returncode == 0 and "Tuning: 1 setting on 2 folds" in done.stderr
    assert 'selection = "stable"' in (tmp_path / "o" / "config.toml").read_text(encoding="utf-8")
    result = json.loads((tmp_path / "o" / "metrics.json").read_text(encoding="utf-8"))
    assert [row["chosen"] for row in result["tuning"]["rows"]] == [True]
    import topicfocus as package

    assert package.load(tmp_path / "o" / "model.topicfocus")[-1].selection == "stable"


def test_a_setting_that_fails_is_told_in_its_row(few, tmp_path, monkeypatch):
    from topicfocus import FocusedTopicRegressor

    fit = FocusedTopicRegressor._fit

    def refuses(self, *args, **kwargs):
        if self.n_topics == 3:
            raise ValueError("three is not liked")
        return fit(self, *args, **kwargs)

    monkeypatch.setattr(FocusedTopicRegressor, "_fit", refuses)
    grid = ("--topics", "2,3", "--shares", "0.2", "--folds", 2)
    done = topicfocus("tune", few, *COLUMNS, *grid, "--out", tmp_path / "o")
    assert done.returncode == 0 and "3 topics, inclusion 0.2" in done.stderr
    assert "three is not liked" in done.stderr and "three is not liked" in done.stdout
    result = json.loads((tmp_path / "o" / "metrics.json").read_text(encoding="utf-8"))
    assert result["tuning"]["chosen"]["n_topics"] == 2
