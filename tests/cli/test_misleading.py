"""What a user may do without a mistake, and what must be found before a fit, not after it."""

import csv
import json

import numpy as np
import pytest
from command_line import topicfocus

from topicfocus import FocusedTopicRegressor, TokenCounter
from topicfocus.datasets import make_reviews
from topicfocus.workflow import explain_text

REVIEWS = make_reviews(120, random_state=0)
ROWS = list(zip(REVIEWS.texts, np.round(REVIEWS.target).astype(int).tolist(), strict=True))
SMALL = ("--topics", 2, "--inclusion-prior", 0.3, "--no-baseline", "--quiet")
COLUMNS = ("--text", "text", "--target", "stars")


def write(path, rows, **format):
    with open(path, "w", newline="", encoding="utf-8") as stream:
        csv.writer(stream, **format).writerows(rows)
    return path


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    data = write(folder / "r.csv", [("text", "stars"), *ROWS])
    done = topicfocus("fit", data, *COLUMNS, *SMALL, "--out", folder / "o")
    assert done.returncode == 0, done.stderr
    return folder / "o"


def test_labels_are_not_numbers(tmp_path):
    """The same number, written in two ways, is two classes; "NA" is a label among labels."""
    labels = ("01001", "1001", "1E3", "1000")
    rows = [(text, labels[i % 4]) for i, (text, _) in enumerate(ROWS)]
    write(tmp_path / "r.csv", [("text", "stars"), *rows])
    more = ("--kind", "classes", "--out", "o", "--json")
    done = topicfocus("fit", "r.csv", *COLUMNS, *SMALL, *more, cwd=tmp_path)
    assert set(json.loads(done.stdout)["target"]["classes"]) == set(labels)
    rows = [(text, ("NA", "EU", "-")[i % 3]) for i, (text, _) in enumerate(ROWS)]
    write(tmp_path / "r.csv", [("text", "stars"), *rows])
    done = topicfocus("fit", "r.csv", *COLUMNS, *SMALL, *more, "--overwrite", cwd=tmp_path)
    assert set(json.loads(done.stdout)["target"]["classes"]) == {"NA", "EU", "-"}


def test_a_row_that_is_no_document_is_counted_as_in_the_file(tmp_path):
    rows = [("text", "stars"), *ROWS[:30], ("a film", "good"), *ROWS[30:]]
    write(tmp_path / "r.csv", rows)
    done = topicfocus("fit", "r.csv", *COLUMNS, *SMALL, cwd=tmp_path)
    assert done.returncode == 1 and "'good' (row 31)" in done.stderr
    more = ("--weight", "w", "--out", "o")
    write(tmp_path / "w.csv", [("text", "stars", "w"), *((*row, 1) for row in ROWS), ("a", 1, -1)])
    done = topicfocus("fit", "w.csv", *COLUMNS, *SMALL, *more, cwd=tmp_path)
    assert done.returncode == 1 and "row 121" in done.stderr


def test_a_row_that_a_model_refuses_is_counted_as_in_the_file(tmp_path):
    rows = [*ROWS[:60], ("a film", 9e12), *ROWS[60:]]
    write(tmp_path / "r.csv", [("text", "stars"), *rows])
    for command, *more in (("fit", *SMALL), ("tune", "--shares", "0.3", "--folds", 2)):
        done = topicfocus(command, "r.csv", *COLUMNS, *more, "--test-share", 0, cwd=tmp_path)
        assert done.returncode == 1 and "error: row 61 of y is 9e+12" in done.stderr, done.stderr
    assert not list(tmp_path.glob("*-topics"))


def test_held_out_documents_without_a_known_word(model, tmp_path):
    write(tmp_path / "new.csv", [("text", "stars"), *(("qqq zzz", y) for _, y in ROWS)])
    done = topicfocus("predict", model, "new.csv", cwd=tmp_path)
    assert done.returncode == 0 and len(done.stdout.splitlines()) == 121
    assert "Warning" not in done.stderr
    rows = [(text if i % 5 else "qqq zzz", y) for i, (text, y) in enumerate(ROWS)]
    write(tmp_path / "r.csv", [("text", "stars"), *rows])
    done = topicfocus("fit", "r.csv", *COLUMNS, *SMALL, "--min-df", 30, "--out", "o", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert explain_text(model, "qqq")["words"] == {}


def test_a_page_whose_documents_have_no_known_word(tmp_path):
    """No warning from a division, and a page: no held-out document has a word of the model."""
    rows = [(f"good {i} bad", i, 1990 + i) for i in range(30)]
    write(tmp_path / "r.csv", [("text", "stars", "year"), *rows])
    more = ("--covariates", "year", "--jobs", 1, "--out", "o", "--quiet")
    done = topicfocus("fit", "r.csv", *COLUMNS, *more, cwd=tmp_path)
    assert done.returncode == 0 and "divide" not in done.stderr, done.stderr
    assert (tmp_path / "o" / "explorer.html").is_file()


def test_a_target_that_was_asked_for_is_needed(model, tmp_path):
    write(tmp_path / "new.csv", [("text",), *((text,) for text, _ in ROWS)])
    done = topicfocus("report", model, "new.csv", "--target", "starz", cwd=tmp_path)
    assert done.returncode == 1 and "no column 'starz'" in done.stderr


def test_an_explanation_shows_escape_sequences_as_signs():
    texts = [text.replace(" ", " \x1b[31m") for text in REVIEWS.texts]
    counter = TokenCounter(min_df=1, separator=" ")
    counts = counter.fit_transform(texts)
    fitted = FocusedTopicRegressor(2, inclusion_prior=0.3, max_epochs=5, random_state=0)
    fitted.fit(counts, REVIEWS.target)
    found = fitted.explain(counts[:1], vocabulary=counter.get_feature_names_out())
    assert "[31m" in str(found[0]) and "\x1b" not in str(found[0])


def test_a_target_of_noise_is_warned_of_wherever_the_model_is_shown(tmp_path):
    noise = np.random.default_rng(0).normal(size=120)
    rows = [(text, f"{y:.3f}") for (text, _), y in zip(ROWS, noise, strict=True)]
    write(tmp_path / "r.csv", [("text", "stars"), *rows])
    said = "predicts no better than a constant"
    done = topicfocus("fit", "r.csv", *COLUMNS, *SMALL, "--out", "o", cwd=tmp_path)
    assert done.returncode == 0 and done.stderr.count(said) == 1
    assert said in topicfocus("show", "o", cwd=tmp_path).stderr
    assert said in (tmp_path / "o" / "explorer.html").read_text(encoding="utf-8")
