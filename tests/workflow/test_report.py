"""Pages made from files: which documents they show, and with which columns."""

import json
import re

import numpy as np
import pytest
from command_line import read_csv, write_csv, write_reviews

from topicfocus import workflow
from topicfocus.report.render import unpack_texts


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fitted")
    data = write_reviews(folder / "r.csv", 240)
    outcome = workflow.fit_file(data, text="text", target="stars", topics=3, out=folder / "o")
    return outcome.folder, read_csv(data)


def write(path, rows):
    return write_csv(path, list(rows[0]), [row.values() for row in rows])


def summary_of(page):
    """The data in a page."""
    html = page.read_text(encoding="utf-8")
    found = re.search(r'<script[^>]*id="data"[^>]*>(.*?)</script>', html, re.DOTALL)
    return json.loads(found.group(1))


def test_the_page_has_the_effects_that_are_printed(fitted):
    """Those of held-out documents, in topics.csv as on the page, which are two views of one fit."""
    folder, _ = fitted
    written = read_csv(folder / "topics.csv")
    effects = summary_of(folder / "explorer.html")["effects"]
    for name in ("low", "high", "change", "estimate", "lower", "upper"):
        shown = [effects[name][int(row["component"])][0] for row in written]
        np.testing.assert_allclose([float(row[name]) for row in written], shown, rtol=1e-5)
    shares = [effects["proportion_high"][int(row["component"])] for row in written]
    np.testing.assert_allclose(
        [float(row["proportion_high"]) for row in written], shares, rtol=1e-5
    )


def test_documents_are_chosen_at_random(fitted, tmp_path):
    """The first ones of a sorted file would all be of one kind."""
    folder, rows = fitted
    rows = sorted(rows, key=lambda row: float(row["stars"]))
    shops = [{**row, "shop": "early" if i < 120 else "late"} for i, row in enumerate(rows)]
    data = write(tmp_path / "sorted.csv", shops)
    made = [tmp_path / "a.html", tmp_path / "b.html"]
    for page in made:
        workflow.report_file(folder, data, out=page, docs=60, by=["shop"])
    assert made[0].read_bytes() == made[1].read_bytes()
    summary = summary_of(made[0])
    groups = summary["groups"][0]
    assert sum(groups["n"]) == 60 and min(groups["n"]) > 15
    # Texts, targets and groups are of the same rows, which documents are called by.
    texts, documents = unpack_texts(summary["documents"]["texts"]), summary["documents"]
    for name, text, stars in zip(documents["names"], texts, documents["actual"][0], strict=True):
        row = shops[int(name.removeprefix("row ")) - 1]
        assert row["text"] == text and float(row["stars"]) == stars


def test_groups_of_several_files(fitted, tmp_path):
    """Rows of the same number in two files are not the same."""
    folder, rows = fitted
    data = [
        write(tmp_path / f"{name}.csv", [{**row, "shop": name} for row in part])
        for name, part in (("one", rows[:50]), ("two", rows[50:80]))
    ]
    page = tmp_path / "page.html"
    workflow.report_file(folder, data, out=page, by=["shop"])
    found = summary_of(page)["groups"][0]
    assert dict(zip(found["labels"], found["n"], strict=True)) == {"one": 50, "two": 30}


@pytest.mark.parametrize("stars", [{"stars": "5"}, {"stars": ""}, {}])
def test_documents_of_one_rating_or_without_any(fitted, tmp_path, stars):
    folder, rows = fitted
    data = write(tmp_path / "same.csv", [{"text": row["text"], **stars} for row in rows[:40]])
    page = tmp_path / "page.html"
    assert workflow.report_file(folder, data, out=page)["documents"] == 40
    actual = summary_of(page)["documents"].get("actual")
    assert not actual or set(actual[0]) == {5.0}
