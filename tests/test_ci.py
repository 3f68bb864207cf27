"""`.ci/run` does what the README says, and fails when any part of it fails, wherever that runs.

Every tool is a script here that notes how it was called, and fails where a test says so.
"""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
STUB = """#!/bin/sh
called="$(basename "$0") $*"
echo "$called" >>"$NOTES"
case "$called" in
  *"-m venv"*)
    for folder; do :; done  # the last argument
    mkdir -p "$folder/bin" "$folder/lib/python3/site-packages"
    for tool in python pip ruff mypy pytest; do cp "$0" "$folder/bin/$tool"; done
    echo "PATH=$folder/bin:\\$PATH" >"$folder/bin/activate" ;;
esac
if [ -n "$FAILING" ]; then
  case "$called" in *"$FAILING"*) echo "$called has failed"; exit 3 ;; esac
fi
"""
#: What a part is called in the last line, and what of it fails.
PARTS = {
    "ruff check": "style",
    "ruff format": "style",
    "mypy": "types",
    "site/bin/python install --quiet -r": "site",
    "docs/build.py": "site",
    "docs/look.py": "site",
    "pytest -n": "tests",
    "pip install -e .[dev]": None,  # nothing else is begun
    "pip install --quiet -r": None,
}


@pytest.fixture
def run_ci(tmp_path):
    folder = tmp_path / "project"
    (folder / ".ci").mkdir(parents=True)
    shutil.copy(ROOT / ".ci" / "run", folder / ".ci" / "run")
    shutil.copy(ROOT / "README.md", folder / "README.md")
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("python3", "chromium-headless-shell"):
        (tools / name).write_text(STUB)
        (tools / name).chmod(0o755)
    scratch = tmp_path / "scratch"
    scratch.mkdir()

    def run(failing=""):
        notes = tmp_path / "notes"
        notes.write_text("")
        more = {"FAILING": failing, "NOTES": str(notes), "TMPDIR": str(scratch)}
        env = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}", **more}
        command = ["bash", str(folder / ".ci" / "run")]
        done = subprocess.run(
            command, capture_output=True, text=True, env=env, check=False, timeout=60
        )
        assert not list(scratch.iterdir())  # nothing stays
        return done, notes.read_text().splitlines()

    return run


def test_every_part_is_run(run_ci):
    done, called = run_ci()
    assert done.returncode == 0, done.stdout + done.stderr
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (line,) = re.findall(r"<!-- tests:.*?-->\n```sh\n(.*?)\n```", readme)
    install, tests = line.replace("'", "").split(" && ")
    assert called.index(install) < called.index(tests)
    assert called[0].startswith("python3 -m venv ")
    for failing in PARTS:
        assert any(failing in call for call in called)


@pytest.mark.parametrize("failing", PARTS)
def test_a_part_that_fails_is_a_failure(run_ci, failing):
    done, called = run_ci(failing)
    assert done.returncode != 0
    assert failing in done.stdout and "has failed" in done.stdout
    if PARTS[failing] is not None:
        assert done.stdout.splitlines()[-1] == f"failed: {PARTS[failing]}"
        assert any(call.startswith("pytest") for call in called)


def test_kernels_that_were_not_warmed_are_left_to_the_tests(run_ci):
    done, _ = run_ci("warm_kernels.py")
    assert done.returncode == 0, done.stdout + done.stderr
