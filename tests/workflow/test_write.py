"""What is written: complete or not at all, and nothing of anybody else is replaced."""

import errno
import json
import os
import shutil
from dataclasses import replace

import pytest
from command_line import read_csv, topicfocus, write_reviews

from topicfocus import workflow
from topicfocus.workflow.write import (
    check_file,
    check_folder,
    new_folder,
    whole_file,
    write_result,
)

COLUMNS = {"text": "text", "target": "stars", "topics": 2}
OPTIONS = ("--text", "text", "--target", "stars", "--topics", "2")


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


def test_the_folder_is_the_outcome(outcome):
    assert sorted(p.name for p in outcome.folder.iterdir()) == list(outcome.written)
    assert [p.name for p in outcome.folder.parent.iterdir()] == ["o"]
    assert json.loads((outcome.folder / "metrics.json").read_text()) == outcome.summary


def test_topics_and_words_as_tables(outcome):
    topics, words = (read_csv(outcome.folder / name) for name in ("topics.csv", "words.csv"))
    found = outcome.summary["topics"]
    assert [int(row["topic"]) for row in topics] == [t["topic"] for t in found]
    assert [row["words"].split(", ") for row in topics] == [t["words"] for t in found]
    for name in ("low", "high", "change", "estimate", "lower", "upper", "share"):
        assert [float(row[name]) for row in topics] == pytest.approx(
            [t[name] for t in found], rel=1e-5
        )
    counter, model = outcome.pipeline
    assert [row["word"] for row in words] == list(counter.get_feature_names_out())
    assert [row["kept"] == "yes" for row in words] == model.selected_words_.tolist()
    assert sum(float(row["topic_1"]) for row in words) == pytest.approx(1, abs=1e-3)


def test_a_result_is_replaced_as_a_whole(outcome, folder):
    other = replace(
        outcome, summary={**outcome.summary, "seconds": 1.5}, shown={"texts": []}, written=()
    )
    check_folder(folder, True, [])
    with pytest.warns(UserWarning, match="no explorer page"):
        found = write_result(folder, other, overwrite=True)
    assert json.loads((folder / "metrics.json").read_text())["seconds"] == 1.5
    assert sorted(contents(folder)) == list(found)
    assert "explorer.html" not in found  # that of the result before is gone
    assert [p.name for p in folder.parent.iterdir()] == ["o"]


def refused(folder, outcome, message):
    """Neither before the fit nor at its end is anything replaced."""
    before = contents(folder)
    with pytest.raises(FileExistsError, match=message):
        check_folder(folder, True, [])
    with pytest.raises(FileExistsError, match=message):
        write_result(folder, outcome, overwrite=True)
    assert contents(folder) == before
    assert [p.name for p in folder.parent.iterdir() if p.name.startswith(".")] == []


@pytest.mark.parametrize("change", ["add", "remove", "link", "folder"])
def test_a_folder_with_anything_else_is_not_replaced(outcome, folder, tmp_path, change):
    message = "which a fit does not write"
    if change == "add":
        (folder / "thesis.txt").write_text("years of work")
    elif change == "remove":
        (folder / "model.topicfocus").unlink()
        message = "was not written by topicfocus"
    elif change == "link":
        shutil.move(folder / "words.csv", tmp_path / "elsewhere")
        (folder / "words.csv").symlink_to(tmp_path / "elsewhere")
    else:
        (folder / "figures").mkdir()
    refused(folder, outcome, message)


def test_what_is_read_is_not_replaced(folder):
    link = folder.parent / "link.csv"
    link.symlink_to(folder / "predictions.csv")
    for source in (folder / "predictions.csv", link):
        with pytest.raises(FileExistsError, match="is read, and is in"):
            check_folder(folder, True, [str(source)])


@pytest.mark.parametrize("out", [".", "./", "..", "o/..", "/"])
def test_folders_that_are_never_replaced(data, tmp_path, out):
    place = tmp_path / "inside"
    (place / "o").mkdir(parents=True)
    (place / "mine.txt").write_text("mine")
    for more in ((), ("--overwrite",)):
        done = topicfocus("fit", data, *OPTIONS, "--out", out, *more, cwd=place)
        assert done.returncode in (1, 2), done.stderr
    assert (place / "mine.txt").read_text() == "mine"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["inside"]


def test_a_link_that_leads_nowhere_is_not_followed(data, tmp_path):
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    done = topicfocus("fit", data, *OPTIONS, "--out", tmp_path / "dangling", "--overwrite")
    assert done.returncode == 1 and "is not a folder" in done.stderr
    assert not (tmp_path / "nowhere").exists()


def test_nothing_is_left_after_an_error(tmp_path):
    for error in (KeyError, KeyboardInterrupt):
        with pytest.raises(error), new_folder(tmp_path / "o", overwrite=False) as temporary:
            (temporary / "model.topicfocus").write_bytes(b"half")
            raise error
        assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("taken", [False, True], ids=["new", "overwrite"])
def test_no_room_for_a_file_of_a_result(outcome, tmp_path, monkeypatch, taken):
    """Whichever file fails: nothing of the new result is there, and the old one is whole."""
    folder, before = tmp_path / "o", {}
    if taken:
        shutil.copytree(outcome.folder, folder)
        before = contents(folder)
    from topicfocus.workflow import write

    real = write._new_file
    for room in range(20):
        left = room

        def full(path):
            nonlocal left
            left -= 1
            if left < 0:
                raise OSError(errno.ENOSPC, "No space left on device")
            return real(path)

        with monkeypatch.context() as patch:
            patch.setattr(write, "_new_file", full)
            try:
                write_result(folder, outcome, overwrite=True)
            except OSError as error:
                assert error.errno == errno.ENOSPC
            else:
                break
        assert [p.name for p in tmp_path.iterdir()] == ["o"] * taken
        assert not taken or contents(folder) == before
    assert 3 < room < 19


# ---- single files ------------------------------------------------------------------------------


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "new.csv"
    path.write_text("text\ngood\n")
    return path


def test_an_existing_file_needs_an_option(source, tmp_path):
    out = tmp_path / "p.csv"
    check_file(out, False, [source])
    out.write_text("mine")
    with pytest.raises(FileExistsError, match=r"p.csv exists. .*overwrite=True"):
        check_file(out, False, [source])
    check_file(out, True, [source])


def test_files_that_are_read_are_never_replaced(source):
    folder = source.parent
    link, hard = folder / "link.csv", folder / "hard.csv"
    link.symlink_to(source.name)
    os.link(source, hard)
    (folder / "sub").mkdir()
    spellings = [source, link, hard, folder / "sub" / ".." / source.name, os.path.relpath(source)]
    for out in spellings:
        with pytest.raises(FileExistsError, match="is what is read"):
            check_file(out, True, [None, "-", "nothing.csv", source])
    with pytest.raises(FileExistsError, match="is what is read"):
        check_file(source, True, [source.parent])  # a file of a folder that is read
    for name in (source.name, "./new.csv"):
        done = topicfocus("predict", "m", source, "--out", name, "--overwrite", cwd=folder)
        assert done.returncode == 1 and "is what is read" in done.stderr


def test_what_is_not_a_regular_file(tmp_path):
    pipe, link = tmp_path / "pipe", tmp_path / "link"
    os.mkfifo(pipe)
    link.symlink_to(pipe)
    for out in (pipe, link):
        with pytest.raises(FileExistsError, match="is not a regular file"):
            check_file(out, True)
    with pytest.raises(IsADirectoryError, match="is a folder"):
        check_file(tmp_path, True)
    with pytest.raises(FileNotFoundError, match="create it first"):
        check_file(tmp_path / "no" / "where", True)


def test_a_file_that_appears_meanwhile_stays(tmp_path):
    out = tmp_path / "p.csv"
    with pytest.raises(FileExistsError), whole_file(out, overwrite=False) as stream:
        stream.write("ours")
        out.write_text("theirs")
    assert out.read_text() == "theirs"
    assert [p.name for p in tmp_path.iterdir()] == ["p.csv"]
    with whole_file(tmp_path / "new", overwrite=False) as stream:
        stream.write("half a pair: \ud800")
    assert (tmp_path / "new").read_text() == "half a pair: ?"
