"""Completion scripts, executed by the shells they are for; skipped where a shell is missing."""

import os
import pty
import select
import shutil
import subprocess
import time

import pytest
from command_line import topicfocus

#: What is typed, and what must be offered or completed to.
TYPED = {
    "topicfocus de": "demo",
    "topicfocus fit --inc": "--inclusion-prior",
    "topicfocus fit --cov": "--covariates",
    "topicfocus fit --gro": "--group",
    "topicfocus fit --sepa": "--separator",
    "topicfocus predict --she": "--sheet",
    "topicfocus fit ./mod": "model.topicfocus",
    "topicfocus fit --model pf": "pf-slda",
    "topicfocus completion z": "zsh",
    "topicfocus predict ./mod": "model.topicfocus",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the scripts, and a file to be completed."""
    folder = tmp_path_factory.mktemp("completion")
    (folder / "model.topicfocus").write_text("")
    for shell, name in (("bash", "bash"), ("zsh", "_topicfocus"), ("fish", "topicfocus.fish")):
        done = topicfocus("completion", shell)
        assert done.returncode == 0, done.stderr
        (folder / name).write_text(done.stdout, encoding="utf-8")
    return folder


def need(shell):
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell}")


def environment(folder):
    """Nothing of the user's own settings."""
    return {"PATH": os.environ["PATH"], "HOME": str(folder), "TERM": "dumb", "LANG": "C.UTF-8"}


def test_bash(folder):
    need("bash")

    def complete(*words):
        ask = f"COMP_WORDS=({' '.join(repr(w) for w in words)}); COMP_CWORD={len(words) - 1}"
        # The function that the script has registered, called as bash calls it.
        call = "$(complete -p topicfocus | grep -o '\\-F [^ ]*' | cut -c4-)"
        call += f" topicfocus {words[-1]!r} {words[-2]!r}"
        code = f'source ./bash\n{ask}\n{call}\nprintf "%s\\n" "${{COMPREPLY[@]}}"'
        done = subprocess.run(
            ["bash", "-c", code],
            capture_output=True,
            text=True,
            check=True,
            cwd=folder,
            env=environment(folder),
        )
        return done.stdout.split()

    for typed, expected in TYPED.items():
        (found,) = complete(*typed.split(" "))
        assert found.removeprefix("./") == expected
    assert complete("topicfocus", "fit", "--model", "") == ["focused", "pf-slda", "pc-slda", "slda"]


def test_fish(folder):
    need("fish")

    def complete(typed):
        code = f"source ./topicfocus.fish; complete -C '{typed}'"
        done = subprocess.run(
            ["fish", "--no-config", "-c", code],
            capture_output=True,
            text=True,
            check=True,
            cwd=folder,
            env=environment(folder),
        )
        assert done.stderr == ""
        return [line.partition("\t")[0] for line in done.stdout.splitlines()]

    for typed, expected in TYPED.items():
        (found,) = complete(typed)
        assert found.removeprefix("./") == expected
    assert set(complete("topicfocus fit --model ")) == {"focused", "pf-slda", "pc-slda", "slda"}


class Typing:
    """A shell in a terminal."""

    def __init__(self, *command, **options):
        self._master, slave = pty.openpty()
        self._process = subprocess.Popen(
            command,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            close_fds=True,
            start_new_session=True,
            **options,
        )
        os.close(slave)

    def type(self, text, until, seconds=20):
        """What the terminal shows after typing, until it shows `until` or the time is over."""
        os.write(self._master, text.encode())
        seen, end = "", time.time() + seconds
        while until not in seen and time.time() < end:
            if select.select([self._master], [], [], 0.1)[0]:
                seen += os.read(self._master, 65536).decode(errors="replace")
        return seen

    def close(self):
        self._process.kill()
        self._process.wait()
        os.close(self._master)


@pytest.mark.parametrize("how", ["eval", "fpath"])
def test_zsh(folder, how):
    need("zsh")
    load = 'eval "$(<_topicfocus)"' if how == "eval" else ":"
    before = "" if how == "eval" else f"fpath=({folder} $fpath); "
    shell = Typing("zsh", "-f", "-i", cwd=folder, env=environment(folder))
    try:
        shell.type(
            f"{before}autoload -U compinit; compinit -u -D; {load}; PS1='REA''DY> '\n", "READY> "
        )
        for typed, expected in TYPED.items():
            seen = shell.type(f"{typed}\t", f"{expected} ")
            assert f"{expected} " in seen, (typed, seen)
            shell.type("\x15\n", "READY> ")  # the line is dropped
        listed = shell.type("topicfocus fit --model \t", "slda")
        assert "focused" in listed and "pc-slda" in listed
    finally:
        shell.close()
