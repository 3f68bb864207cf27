"""The command as a process, in a pipe and in a terminal."""

import csv
import json
import os
import pty
import select
import subprocess
import sys
import time

import topicfocus as package

COMMAND = [sys.executable, "-m", "topicfocus"]


def environment(**more):
    """Ours, with the package where these tests have it, whatever folder the command runs in."""
    here = os.path.dirname(os.path.dirname(os.path.abspath(package.__file__)))
    paths = [*more.pop("paths", ()), here, os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths)), **more}


def topicfocus(*args, **kwargs):
    kwargs = {"env": environment(), **kwargs}
    return subprocess.run(
        [*COMMAND, *map(str, args)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        **kwargs,
    )


#: Calls one after another in one process, each with files for its output and a folder to be in.
_MANY = """
import json, os, sys
from topicfocus.cli.main import main

for call in json.load(sys.stdin):
    os.chdir(call["folder"])
    for descriptor, name in ((1, "stdout"), (2, "stderr")):
        file = os.open(call[name], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(file, descriptor)
        os.close(file)
    try:
        code = main(call["arguments"])
    except SystemExit as error:
        code = error.code
    sys.stdout.flush()
    sys.stderr.flush()
    with open(call["code"], "w") as stream:
        stream.write(str(code))
"""


def topicfocus_many(calls, output):
    """Many short calls, (folder, arguments), without a start of Python for each of them."""
    files = [
        {name: str(output / f"{i}.{name}") for name in ("stdout", "stderr", "code")}
        for i in range(len(calls))
    ]
    asked = [
        {"folder": str(folder), "arguments": [str(a) for a in arguments], **names}
        for (folder, arguments), names in zip(calls, files, strict=True)
    ]
    subprocess.run(
        [sys.executable, "-c", _MANY],
        input=json.dumps(asked),
        text=True,
        env=environment(),
        timeout=300,
        check=True,
    )

    def read(path):
        with open(path, encoding="utf-8") as stream:
            return stream.read()

    return [
        subprocess.CompletedProcess(
            arguments, int(read(names["code"])), read(names["stdout"]), read(names["stderr"])
        )
        for (_, arguments), names in zip(calls, files, strict=True)
    ]


def read_terminal(master, process, seconds, until=None):
    """What a process draws on a pseudo-terminal, until it ends or `until` appears."""
    seen = b""
    end = time.time() + seconds
    while time.time() < end:
        ready, _, _ = select.select([master], [], [], 0.1)
        if ready:
            try:
                chunk = os.read(master, 65536)
            except OSError:
                break
            if not chunk:
                break
            seen += chunk
        elif process.poll() is not None:
            break
        if until is not None and until in seen:
            break
    return seen


def start_in_terminal(*args, **kwargs):
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, *map(str, args)],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        close_fds=True,
        env=environment(TERM="xterm-256color", COLUMNS="120"),
        **kwargs,
    )
    os.close(slave)
    return master, process


def write_reviews(path, n_docs=600, target="rating", seed=0, **options):
    """A CSV file of synthetic reviews with the columns id, text and stars."""
    from topicfocus.datasets import make_reviews

    reviews = make_reviews(n_docs, target=target, random_state=seed, **options)
    with open(path, "w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["id", "text", "stars"])
        for i, (text, value) in enumerate(zip(reviews.texts, reviews.target, strict=True)):
            writer.writerow([i, text, f"{value:g}"])
    return path
