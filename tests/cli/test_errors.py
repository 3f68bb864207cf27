"""Bad input: one line that says what to do, no traceback, nothing left behind."""

import subprocess

import pytest
from command_line import COMMAND, environment, topicfocus, topicfocus_forked, write_reviews

COLUMNS = ("--text", "text", "--target", "stars")


def one_line(done, code=1):
    assert done.returncode == code, done.stderr
    assert done.stdout == ""
    last = done.stderr.splitlines()[-1]
    assert last.startswith("topicfocus: error: ")
    assert "Traceback" not in done.stderr
    return last


def body(rows=40):
    lines = ["id,text,stars"]
    lines += [f"{i},good film number {i} bad,{i % 5}" for i in range(rows)]
    return "\n".join(lines) + "\n"


CASES = {
    "column": (b"id,text,star\n1,a,2\n", "no column 'stars'. Did you mean 'star'?"),
    "row": (body().encode() + b"x\n", "row 41: 1 field"),
    "few": (body(6).encode(), "at least 10 are needed"),
    "no words": (
        ("text,stars\n" + "\n".join(f"the of,{i}" for i in range(40))).encode(),
        "only stop words",
    ),
}


@pytest.fixture(scope="module")
def bad_files(tmp_path_factory):
    """Each case: what the command did, and the folder in which it was called."""
    folders = [tmp_path_factory.mktemp("bad") for _ in CASES]
    for folder, (content, _) in zip(folders, CASES.values(), strict=True):
        (folder / "bad.csv").write_bytes(content)
    done = [topicfocus("fit", "bad.csv", *COLUMNS, cwd=folder) for folder in folders]
    return dict(zip(CASES, zip(done, folders, strict=True), strict=True))


@pytest.mark.parametrize("name", CASES)
def test_bad_file(bad_files, name):
    done, folder = bad_files[name]
    assert CASES[name][1] in one_line(done)
    assert [p.name for p in folder.iterdir()] == ["bad.csv"]


def test_skip_bad_counts_the_rows_left_out(tmp_path):
    data = write_reviews(tmp_path / "r.csv", 300)
    data.write_bytes(data.read_bytes() + b"broken\nbroken again\n")
    done = topicfocus("fit", "r.csv", *COLUMNS, "--skip-bad", "--topics", 3, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "2 unreadable rows were left out." in done.stderr
    assert "row 301" in done.stderr


ARGUMENTS = [
    (("fit", "missing.csv", *COLUMNS), "no such file", 1),
    (("fit", "r.csv", "--text", "text"), "say which column is the target", 2),
    (("fit", "r.csv", "--target", "stars"), "say which column is the text", 1),
    (("fit", "r.csv", *COLUMNS, "--out", "no/where"), "create it first", 1),
    (("fit", "r.csv", *COLUMNS, "--out", "taken"), "taken exists", 1),
    (("fit", "r.csv", *COLUMNS, "--out", "taken", "--overwrite"), "not written by topic", 1),
    (("fit", "r.csv", *COLUMNS, "--model", "slda", "--inclusion-prior", "0.1"), "is for", 2),
    (("fit", "r.csv", *COLUMNS, "--kind", "count"), "cannot be counts", 1),
    (("fit", "packed.csv.gz", *COLUMNS), "Not a gzipped file", 1),
    (("predict", "r.csv", "r.csv"), "not a model file", 1),
    (("predict", "nothing", "r.csv"), "there is no model", 1),
    (("predict", "takn", "r.csv"), "Did you mean 'taken'?", 1),
    (("predict", "taken", "r.csv"), "has no model.topicfocus", 1),
    (("fit", "r.csv", *COLUMNS, "--out", "x" * 256), "name too long", 1),
    (("explain", "r.csv", "--text", "good"), "not a model file", 1),
    (("explain", "r.csv", "--text", " "), "no text to explain", 2),
]


@pytest.fixture(scope="module")
def bad_arguments(tmp_path_factory):
    """One folder for all of them: none may leave anything behind."""
    folder = tmp_path_factory.mktemp("arguments")
    (folder / "r.csv").write_text(body().replace(",0\n", ",0.5\n"), encoding="utf-8")
    (folder / "packed.csv.gz").write_text("text,stars\n", encoding="utf-8")
    (folder / "taken").mkdir()
    (folder / "taken" / "precious.txt").write_text("mine", encoding="utf-8")
    before = sorted(folder.rglob("*"))
    done = [topicfocus(*arguments, cwd=folder) for arguments, _, _ in ARGUMENTS]
    assert sorted(folder.rglob("*")) == before
    return done


@pytest.mark.parametrize("i", range(len(ARGUMENTS)), ids=lambda i: " ".join(ARGUMENTS[i][0]))
def test_bad_arguments(bad_arguments, i):
    _, message, code = ARGUMENTS[i]
    assert message in one_line(bad_arguments[i], code)


def test_the_reviews_of_the_demo_are_not_installed(tmp_path):
    from topicfocus.workflow.demo import find_reviews

    if find_reviews() is not None:
        pytest.skip("the reviews are installed")
    found = one_line(topicfocus("demo", "--data", "imdb", cwd=tmp_path))
    assert "pip install 'topicfocus[demo]'" in found


def test_debug_shows_where_it_came_from(tmp_path):
    done = topicfocus("fit", "missing.csv", *COLUMNS, "--debug", cwd=tmp_path)
    assert done.returncode == 1
    assert "Traceback" in done.stderr and "ReadError" in done.stderr


@pytest.mark.parametrize("room", [3_000, 20_000])
def test_a_disk_that_takes_no_more(fitted, reviews, tmp_path, room):
    """No file may grow beyond `room` bytes in this process, as on a full disk.

    `fitted` has compiled the kernels, whose cache could not be written here.
    """
    done = topicfocus_forked("fit", reviews, *COLUMNS, "--out", tmp_path / "o", file_size=room)
    assert "File too large" in one_line(done)
    assert not list(tmp_path.iterdir())


def test_standard_output_that_is_full_or_closed(fitted, reviews):
    _, folder = fitted
    done = topicfocus_forked("predict", folder, reviews, file_size=2_000)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == "topicfocus: error: File too large."
    process = subprocess.Popen(
        [*COMMAND, "predict", str(folder), str(reviews)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    )
    process.stdout.close()
    assert process.wait(100) == 0
    assert process.stderr.read() == b""
    process.stderr.close()


def test_a_ctrl_c_that_numba_wraps_is_still_one(monkeypatch, capsys):
    """A signal that arrives while compiled code calls Python comes out as a SystemError."""
    from topicfocus.cli import main

    def interrupted(args):
        inner = SystemError("something went wrong inside")
        inner.__cause__ = KeyboardInterrupt()
        raise SystemError("a function returned a result with an exception set") from inner

    monkeypatch.setitem(main._COMMANDS, "demo", interrupted)
    assert main.main(["demo"]) == 130
    assert capsys.readouterr().err == "topicfocus: interrupted\n"
