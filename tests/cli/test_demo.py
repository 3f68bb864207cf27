"""The command as a process: what a user sees, in a pipe and in a terminal."""

import json
import signal
import subprocess
import sys
import time

import pytest
from command_line import in_terminal, read_terminal, topicfocus

SMALL = ["demo", "--data", "synthetic", "--docs", "400"]


def test_demo_json_is_machine_readable_and_honest():
    done = topicfocus("demo", "--data", "synthetic", "--docs", "1500", "--json", "--quiet")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    result = json.loads(done.stdout)
    coefs = [topic["coef"] for topic in result["topics"]]
    assert coefs == sorted(coefs, reverse=True)
    words = result["words"]
    kept = len(words["kept_relevant"]) + len(words["kept_irrelevant"])
    assert words["precision"] == pytest.approx(len(words["kept_relevant"]) / kept)
    total = sum(len(v) for k, v in words.items() if k.startswith(("kept", "dropped")))
    assert total == result["documents"]["words"]
    errors = result["held_out_rmse"]
    assert errors["pf-sLDA"] < errors["sLDA"] < errors["mean"]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ((), "COMMAND"),
        (("nonsense",), "invalid choice"),
        (("demo", "--docs", "many"), "whole number"),
        (("demo", "--docs", "3"), "at least 200"),
        (("demo", "--inclusion-prior", "10"), "between 0 and 1"),
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
