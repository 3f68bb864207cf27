"""Terminals that lack characters, or columns, or streams; and text that would command them."""

import re
import subprocess

import pytest
from command_line import COMMAND, environment, in_terminal, read_terminal, topicfocus, write_reviews

from topicfocus.cli.console import as_options, printable
from topicfocus.workflow.sentences import mapped

#: What a terminal obeys: a colour, a title, a clear screen, C1's CSI, a bell, right-to-left.
HOSTILE = "\x1b[31mred\x1b]0;title\x07\x1b[2J\x9b31m\x08\x7f\u202etxt"
#: None of these may come out of us in a pipe.
COMMANDS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def test_control_characters_are_shown_and_places_stay():
    shown = printable(HOSTILE)
    assert len(shown) == len(HOSTILE) and not COMMANDS.search(shown)
    assert printable("a\nb\tc é 漢 😀") == "a\nb\tc é 漢 😀"
    found = mapped({"\x1b": ["\x9b", {"a": "\x07"}], "n": 3}, printable)
    assert not COMMANDS.search("".join(found)) and found["n"] == 3


def test_settings_in_messages_are_options():
    found = as_options("Add `kind='count'` or `min_df`, `overwrite=True`, `label`; `rm -rf` stays.")
    assert found == "Add --kind count or --min-df, --overwrite, --class; `rm -rf` stays."


@pytest.fixture(scope="module")
def odd(tmp_path_factory):
    """A file whose name, columns, labels and texts are odd, and the folder of its fit."""
    folder = tmp_path_factory.mktemp("odd")
    data = write_reviews(folder / "r.csv", 200, target="sentiment")
    lines = data.read_text(encoding="utf-8").splitlines()
    label = {"0": "schlécht\x1b[2J", "1": "gút\x9b31m"}
    rows = [re.sub(r"\d$", lambda m: label[m.group()], line) for line in lines[1:]]
    path = folder / "r\x1b[31m.csv"
    text = "\n".join(["id,te\x1bxt,stárs", *rows]).replace("film", f"filmé{HOSTILE}")
    path.write_text(text, encoding="utf-8", newline="\n")
    return path, folder / "o"


@pytest.fixture(scope="module")
def fits(odd):
    """The command with standard output in ascii and in cp1252."""
    path, folder = odd
    columns = ("--text", "te\x1bxt", "--target", "stárs", "--topics", "2")
    return {
        encoding: topicfocus(
            "fit", path, *columns, "--out", f"{folder}-{encoding}", encoding=encoding
        )
        for encoding in ("ascii", "cp1252")
    }


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_an_encoding_never_fails_a_run(fits, encoding):
    done = fits[encoding]
    assert done.returncode == 0, done.stderr
    out, err = done.stdout, done.stderr
    assert not COMMANDS.search(out + err)
    assert "AUC ?" in out and "Wrote" in err
    assert ("g?t?31m" if encoding == "ascii" else "gút?31m") in out + err


def test_explanations_are_printable(odd, fits):
    _, folder = odd
    text = f"a superb {HOSTILE} awful film"
    done = topicfocus("explain", f"{folder}-ascii", "--text", text)
    assert done.returncode == 0, done.stderr
    assert not COMMANDS.search(done.stdout)
    assert "superb[" in done.stdout
    with in_terminal("explain", f"{folder}-ascii", "--text", text) as (master, process):
        seen = read_terminal(master, process, 100).decode()
        assert process.wait(30) == 0
    for hostile in ("\x1b[31mred", "\x1b]0;", "\x07", "\x1b[2J", "\x9b", "\u202e"):
        assert hostile not in seen


def test_errors_are_printable(tmp_path):
    for arguments in (
        ("fit", tmp_path / HOSTILE.replace("/", "")),
        ("fit", "r.csv", f"--{HOSTILE}"),
        ("predict", f"{HOSTILE}.model", "r.csv"),
        ("explain", HOSTILE, "--text", "x", "--debug"),
    ):
        done = topicfocus(*arguments, cwd=tmp_path)
        assert done.returncode in (1, 2)
        assert not COMMANDS.search(done.stderr), done.stderr


def closed(arguments, streams, tmp_path):
    script = f'exec "$@" {streams}'
    return subprocess.run(
        ["sh", "-c", script, "sh", *COMMAND, *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=environment(),
        check=False,
        timeout=100,
    )


@pytest.mark.parametrize(
    ("arguments", "streams", "code", "said"),
    [
        (("explain", "m"), "<&-", 2, "no text to explain"),
        (("explain", "m", "--text", "x"), ">&-", 1, "no model"),
        (("fit", "-", "--text", "a", "--target", "b"), "<&-", 1, "is empty"),
        (("fit", "none.csv"), ">&- 2>&-", 1, ""),
        (("predict", "m", "-"), ">&- <&- 2>&-", 1, ""),
    ],
)
def test_closed_streams(arguments, streams, code, said, tmp_path):
    done = closed(arguments, streams, tmp_path)
    assert done.returncode == code, done.stderr
    assert said in done.stderr and "Traceback" not in done.stderr
    assert len(done.stderr.splitlines()) <= 2
    assert not list(tmp_path.iterdir())
