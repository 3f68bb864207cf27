"""The folder of a result: only files that we wrote, and nobody changed, are ever replaced."""

import json
import os
import shutil
from dataclasses import replace

import pytest
from command_line import topicfocus, write_reviews

from topicfocus import workflow
from topicfocus.workflow.lock import holding
from topicfocus.workflow.manifest import (
    MANIFEST_FILE,
    PICTURE_FILE,
    RESULT_FILES,
    digest,
    read_manifest,
)
from topicfocus.workflow.write import check_free, check_replaceable, write_outcome, writing

COLUMNS = {"text": "text", "target": "stars", "topics": 2}


class Heard(list):
    """Remarks and warnings, in order."""

    def say(self, message):
        self.append(message)

    warn = say


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return write_reviews(tmp_path_factory.mktemp("data") / "r.csv", 160)


@pytest.fixture(scope="module")
def outcome(data, tmp_path_factory):
    return workflow.fit_file(data, **COLUMNS, out=tmp_path_factory.mktemp("fitted") / "o")


@pytest.fixture
def folder(outcome, tmp_path):
    """A result of its own for each test."""
    return shutil.copytree(outcome.folder, tmp_path / "o")


def contents(folder):
    return {p.name: p.read_bytes() for p in folder.iterdir() if p.is_file()}


def test_the_manifest_lists_what_was_written(outcome):
    found = read_manifest(outcome.folder)
    assert sorted([*found.files, MANIFEST_FILE]) == list(outcome.written)
    assert set(found.files) == set(RESULT_FILES) - {PICTURE_FILE}  # of tune
    assert all(digests == (digest(outcome.folder / n),) for n, digests in found.files.items())
    assert found.whole and found.fingerprint == outcome.fingerprint


def test_notes_in_a_result_stay_where_they_are(outcome, folder):
    (folder / "thesis.txt").write_text("years of work")
    (folder / "figures").mkdir()
    (folder / "figures" / "one.png").write_bytes(b"png")
    before = os.stat(folder / "thesis.txt").st_ino
    other = replace(outcome, result={**outcome.result, "seconds": 1.5})
    check_free(folder, overwrite=True)
    write_outcome(folder, other, Heard())
    assert json.loads((folder / "metrics.json").read_text())["seconds"] == 1.5
    assert os.stat(folder / "thesis.txt").st_ino == before
    assert (folder / "figures" / "one.png").read_bytes() == b"png"
    assert read_manifest(folder).whole
    assert not check_replaceable(folder).files.keys() - set(RESULT_FILES)
    assert [p.name for p in folder.parent.iterdir()] == ["o"]


def test_a_file_that_is_not_written_any_more_goes(outcome, folder):
    write_outcome(folder, replace(outcome, shown={"texts": []}), Heard())
    assert not (folder / "explorer.html").exists()
    assert "explorer.html" not in read_manifest(folder).files


@pytest.mark.parametrize(
    "manifest",
    [None, "", "{}", "[]", '{"format": "other", "files": {}}', "[" * 100_000],
    ids=["none", "empty", "object", "list", "other", "deep"],
)
def test_a_folder_without_a_manifest_is_not_ours(folder, manifest):
    (folder / MANIFEST_FILE).unlink()
    if manifest is not None:
        (folder / MANIFEST_FILE).write_text(manifest)
    before = contents(folder)
    with pytest.raises(FileExistsError, match=r"or by an older version.*choose another out="):
        check_free(folder, overwrite=True)
    assert contents(folder) == before


def test_metrics_of_something_else_are_no_result(tmp_path):
    folder = tmp_path / "thesis"
    folder.mkdir()
    (folder / "metrics.json").write_text('{"settings": {}, "model": "mine"}')
    (folder / "thesis.tex").write_text("years of work")
    data = tmp_path / "r.csv"
    data.write_text("text,stars\n")
    columns = ("--text", "text", "--target", "stars")
    done = topicfocus("fit", data, *columns, "--out", folder, "--overwrite")
    assert done.returncode == 1
    assert "nothing in it is replaced" in done.stderr
    assert sorted(contents(folder)) == ["metrics.json", "thesis.tex"]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["r.csv", "thesis"]


def test_a_file_that_was_changed_is_the_users(outcome, folder):
    with (folder / "predictions.csv").open("a") as stream:
        stream.write("my remark\n")
    before = contents(folder)
    with pytest.raises(FileExistsError, match=r"predictions.csv was changed or put there"):
        check_free(folder, overwrite=True)
    # Also if it was changed while the fit was going on.
    with pytest.raises(FileExistsError, match=r"predictions.csv was changed"):
        write_outcome(folder, outcome, Heard())
    assert contents(folder) == before
    assert [p.name for p in folder.parent.iterdir()] == ["o"]


def test_a_link_in_the_place_of_a_file_is_not_followed(folder, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    shutil.move(folder / "model.topicfocus", elsewhere)
    (folder / "model.topicfocus").symlink_to(elsewhere)
    with pytest.raises(FileExistsError, match=r"model\.topicfocus was changed"):
        check_free(folder, overwrite=True)


def test_a_manifest_names_no_file_that_a_fit_never_writes(folder, outcome):
    precious = folder.parent / "precious"
    for path in (precious, folder / "thesis.txt"):
        path.write_text("mine")
    content = json.loads((folder / MANIFEST_FILE).read_text())
    for name in ("../precious", str(precious), "thesis.txt"):
        content["files"][name] = [digest(precious)]
    (folder / MANIFEST_FILE).write_text(json.dumps(content))
    write_outcome(folder, outcome, Heard())
    assert precious.read_text() == (folder / "thesis.txt").read_text() == "mine"


def test_what_is_read_is_not_replaced(folder):
    source = folder / "predictions.csv"
    with pytest.raises(FileExistsError, match="is what is read, and a file of"):
        check_free(folder, True, [str(source)])
    link = folder.parent / "link.csv"
    link.symlink_to(source)
    with pytest.raises(FileExistsError, match="is what is read, and a file of"):
        check_free(folder, True, ["-", str(link)])


@pytest.mark.parametrize("n", range(10))
def test_killed_between_two_files_both_are_ours(outcome, folder, monkeypatch, n):
    """The n-th renaming never happens, and nothing after it either."""
    (folder / "notes.txt").write_text("mine")
    real, left = os.replace, n

    def replace_or_die(source, target):
        nonlocal left
        if left == 0:
            raise SystemExit("killed")
        left -= 1
        real(source, target)

    other = replace(outcome, result={**outcome.result, "seconds": 2.5})
    with monkeypatch.context() as patch:
        patch.setattr("topicfocus.workflow.write.remove_ours", lambda *_: None)
        patch.setattr("topicfocus.workflow.write.os.replace", replace_or_die)
        patch.setattr("topicfocus.persistence.atomic.os.replace", real)
        try:
            write_outcome(folder, other, Heard())
        except SystemExit:
            assert n < 20
    if not read_manifest(folder).whole:
        with pytest.warns(UserWarning, match="may be of two fits"):
            workflow.load_model(folder)
    heard = Heard()
    with holding(folder, heard):
        check_free(folder, overwrite=True)
        write_outcome(folder, other, heard)
    assert read_manifest(folder).whole
    assert (folder / "notes.txt").read_text() == "mine"
    assert [p.name for p in folder.parent.iterdir()] == ["o"]


def test_an_unfinished_folder_with_other_files_stays_and_is_said(tmp_path):
    folder = tmp_path / "o"
    names = [
        ".o-0123456789ab.tmp",
        ".o-ba9876543210.tmp",
        ".o-0123456789ab.old",
        ".x-0123456789ab.tmp",
    ]
    for name in names:
        (tmp_path / name).mkdir()
        (tmp_path / name / "model.topicfocus").write_bytes(b"half")
        (tmp_path / name / ".topicfocus-0123456789abcdef.tmp").write_bytes(b"half")
    (tmp_path / names[1] / "thesis.txt").write_text("mine")
    heard = Heard()
    with holding(folder, heard):
        pass
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(names[1:])
    assert (tmp_path / names[1] / "thesis.txt").read_text() == "mine"
    assert (tmp_path / names[2] / "model.topicfocus").exists()  # of an older version: not sure
    assert [line.split()[0] for line in heard] == [
        str(tmp_path / names[2]),
        "Removed",
        str(tmp_path / names[1]),
    ]


def test_writing_leaves_nothing_after_an_error(tmp_path):
    with pytest.raises(KeyError), writing(tmp_path / "o") as temporary:
        (temporary / "model.topicfocus").write_bytes(b"half")
        raise KeyError
    assert not list(tmp_path.iterdir())


def test_a_file_that_no_manifest_would_list_is_noticed(tmp_path):
    expected = pytest.raises(ValueError, match=r"new\.png is missing in manifest\.RESULT_FILES")
    with expected, writing(tmp_path / "o") as temporary:
        (temporary / "new.png").write_bytes(b"")
    assert not (tmp_path / "o").exists()


def test_resume_of_a_finished_fit_reads_it_back(data, outcome, folder):
    heard = []
    again = workflow.fit_file(data, **COLUMNS, out=folder, resume=True, remarks=heard.append)
    assert "has this fit already" in heard[-1]
    assert again.result == outcome.result and again.written == outcome.written
    assert [f"{p:.6g}" for p in outcome.predictions["prediction"]] == list(
        again.predictions["prediction"]
    )
    with pytest.raises(FileExistsError, match="is of another fit"):
        workflow.fit_file(data, **{**COLUMNS, "topics": 3}, out=folder, resume=True)


def test_topics_and_words_as_tables(outcome):
    topics, words = (workflow_rows(outcome.folder / name) for name in ("topics.csv", "words.csv"))
    assert [int(row["topic"]) for row in topics] == [t["topic"] for t in outcome.result["topics"]]
    assert [row["words"].split() for row in topics] == [
        t["words"] for t in outcome.result["topics"]
    ]
    for name in ("low", "high", "change", "lower", "upper", "share"):
        assert [float(row[name]) for row in topics] == pytest.approx(
            [t[name] for t in outcome.result["topics"]], rel=1e-5
        )
    counter, model = outcome.pipeline
    assert [row["word"] for row in words] == list(counter.get_feature_names_out())
    assert [row["kept"] == "yes" for row in words] == model.selected_words_.tolist()
    assert sum(float(row["topic_1"]) for row in words) == pytest.approx(1, abs=1e-3)


def test_words_with_spaces_stay_apart_in_tables():
    from topicfocus.workflow.summary import topic_table

    rows = [{"topic": 0, "change": 0.5, "words": ["N18 6", "I10"], "context": ["a", "b"]}]
    table = topic_table(rows)
    assert table["words"] == ["N18 6; I10"] and table["context"] == ["a b"]
    assert table["change"] == [0.5] and "class" not in table


def workflow_rows(path):
    import csv

    with open(path, encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))
