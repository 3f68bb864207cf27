"""The command in this process, as a process in a pipe, and in a terminal."""

import csv
import os
import pty
import select
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from contextlib import ExitStack, chdir, contextmanager
from unittest import mock

import topicfocus as package

COMMAND = [sys.executable, "-m", "topicfocus"]


def environment(**more):
    """Ours, with the package where these tests have it, whatever folder the command runs in."""
    here = os.path.dirname(os.path.dirname(os.path.abspath(package.__file__)))
    paths = [*more.pop("paths", ()), here, os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths)), **more}


def run_command(arguments):
    """The work of a forked process: the command, as the process itself."""
    from topicfocus.cli.main import main

    sys.argv = ["topicfocus", *arguments]
    return main()


def run_as_nobody(arguments):
    """The command as a user without rights, whom permissions bind."""
    os.setgid(65534)
    os.setuid(65534)
    return run_command(arguments)


def topicfocus_forked(*args, **settings):
    """A process begun after its imports (`forked`): for signals and limits."""
    from forked import Forked

    arguments = [str(a) for a in args]
    process = Forked(run_command, arguments, **settings)
    out, err = process.communicate(timeout=300)
    return subprocess.CompletedProcess(arguments, process.returncode, out, err)


def topicfocus(*args, cwd=None, input=None, encoding="utf-8"):
    """The command in this process, which spares a start of Python and its imports.

    Standard streams are files, as for a process with its output in files: they have a descriptor,
    and what is written is what a reader finds.
    """
    arguments = [str(a) for a in args]
    with tempfile.TemporaryDirectory() as folder:
        names = {name: os.path.join(folder, name) for name in ("stdin", "stdout", "stderr")}
        with open(names["stdin"], "w", encoding=encoding) as stream:
            stream.write(input or "")
        with ExitStack() as stack:
            for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
                opened = stack.enter_context(open(names[name], mode, encoding=encoding))
                stack.enter_context(mock.patch.object(sys, name, opened))
            if cwd is not None:
                stack.enter_context(chdir(cwd))
            stack.enter_context(pythons_own_warnings())
            code = _code(arguments)

        def read(name):
            with open(names[name], encoding=encoding) as stream:
                return stream.read()

        return subprocess.CompletedProcess(arguments, code, read("stdout"), read("stderr"))


def _code(arguments):
    """The exit code that a process would have."""
    from topicfocus.cli.main import main

    try:
        return main(arguments)
    except SystemExit as error:
        return error.code
    except BaseException:  # what --debug lets through
        traceback.print_exc()
        return 1


@contextmanager
def pythons_own_warnings():
    """The filters that a process starts with, where tests have errors."""
    silent = (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning)
    with warnings.catch_warnings():
        warnings.resetwarnings()
        for category in silent:
            warnings.simplefilter("ignore", category)
        yield


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


@contextmanager
def in_terminal(*args, **settings):
    """The command in a process begun after its imports, in a pseudo-terminal of 120 columns."""
    from forked import Forked

    master, slave = pty.openpty()
    env = {"TERM": "xterm-256color", "COLUMNS": "120"}
    process = Forked(
        run_command, [str(a) for a in args], terminal=os.ttyname(slave), env=env, **settings
    )
    try:
        yield master, process
    finally:
        os.close(master)
        os.close(slave)  # open until now: a terminal nobody has open is at its end


def write_csv(path, header, rows):
    """A CSV file with a header; returns its path."""
    with open(path, "w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows([header, *rows])
    return path


def read_csv(path):
    """The rows of a CSV file as dicts."""
    with open(path, encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def write_reviews(path, n_docs=600, target="rating", seed=0, **options):
    """A CSV file of synthetic reviews with the columns id, text and stars."""
    from topicfocus.datasets import make_reviews

    reviews = make_reviews(n_docs, target=target, random_state=seed, **options)
    values = [f"{value:g}" for value in reviews.target]
    rows = zip(range(n_docs), reviews.texts, values, strict=True)
    return write_csv(path, ["id", "text", "stars"], rows)
