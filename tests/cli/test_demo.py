"""The command as a process: what a user sees, in a pipe and in a terminal."""

import json
import signal
import subprocess
import sys
import time

import pytest
from command_line import in_terminal, read_terminal, topicfocus

SMALL = ["demo", "--data", "synthetic", "--docs", "400"]


def test_demo_json_is_machine_readable_and_has_the_truth(tmp_path):
    more = ("--docs", 1500, "--json", "--quiet", "--out", tmp_path / "o")
    done = topicfocus("demo", "--data", "synthetic", *more)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    result = json.loads(done.stdout)
    truth, words = result["truth"], result["words"]
    assert words["kept"] == truth["kept"]
    assert truth["precision"] == pytest.approx(truth["both"] / truth["kept"])
    assert truth["precision"] > 0.9 and truth["recall"] > 0.5
    model, *_, constant = result["held_out"].values()
    assert model["rmse"] < constant["rmse"]
    assert (tmp_path / "o" / "explorer.html").is_file()


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ((), "COMMAND"),
        (("nonsense",), "invalid choice"),
        (("demo", "--docs", "many"), "whole number"),
        (("demo", "--docs", "3"), "at least 200"),
        (("demo", "--inclusion-prior", "10"), "between 0 and 1"),
        (("fit", "r.csv", "--stop-words", "nofile"), "nofile: no such file"),
    ],
)
def test_bad_usage_is_exit_code_2(args, message):
    done = topicfocus(*args)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_help_imports_nothing_heavy():
    code = (
        "import sys; from topicfocus.cli.main import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: pass\n"
        "heavy = {'numpy', 'numba', 'pandas', 'sklearn', 'scipy', 'rich'} & set(sys.modules)\n"
        "sys.exit(f'imported {heavy}' if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_progress_bar_in_a_terminal():
    with in_terminal(*SMALL) as (master, process):
        seen = read_terminal(master, process, 120)
        assert process.wait(30) == 0
    assert "━".encode() in seen
    assert b"\x1b[" in seen


def test_ctrl_c_ends_quietly():
    # Many documents, so that there is time to interrupt while they are being made or fitted.
    with in_terminal("demo", "--data", "synthetic", "--docs", "20000") as (master, process):
        read_terminal(master, process, 60, until=b"Simulating")
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        seen = read_terminal(master, process, 60)
        assert process.wait(60) == 130
    assert b"Traceback" not in seen
    assert b"topicfocus: interrupted" in seen
