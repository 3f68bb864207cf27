"""Seeded fuzzing of inputs: tables, matrices, model files, options, arrays and texts.

    python tests/adversity/fuzz.py --n 3000

Each input must give a result, or one line of error with exit code 1 or 2 (from Python: a ValueError
or TypeError with a message), within its time limit, and leave nothing behind. ``--only K``
repeats input K.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import io
import json
import os
import re
import signal
import sys
import tempfile
import traceback
import warnings
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import io as scipy_io
from scipy import sparse

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
from command_line import topicfocus, write_reviews
from model_files import mutated as mutated_model
from warm_kernels import PARTS

import topicfocus as package

#: Seconds that an input may take; the first ones also load compiled kernels.
LIMIT, FIRST_LIMIT = 30.0, 200.0
COLUMNS = ("--text", "text", "--target", "stars")
SMALL = ("--topics", "2", "--inclusion-prior", "0.2", "--no-baseline", "--jobs", "1")
#: Control characters that terminals interpret.
CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
#: Messages of internals.
INTERNAL = re.compile(r"StopIteration|has no attribute|NoneType|nopython|ufunc|not subscriptable")
PIECES = (
    *(b"\0", b"\xff", b"\xef\xbb\xbf", b'"', b",", b"\n", b"\r", b"\x1b[31m", b"text", b"1e309"),
    *(b"nan", b"9" * 400, b"{", b"]", b"\\ud800", "é漢😀".encode(), b"PK\x03\x04", b"\x1f\x8b"),
    *(b"PAR1", b"%%MatrixMarket", b"[" * 5000, b"-1", b"null", b"\x80\x04", b"a" * 5000, b"sep=;"),
)
NUMBERS = (np.nan, np.inf, -1.0, 0.5, 1e300, 1e-300, 3.0, 0.0, 1e90)
VALUES = (
    *("-1", "0", "1", "2", "9" * 30, "nan", "inf", "1e308", "-0.5", "0.5", "", " ", "a", "a,b"),
    *("stars", "text", "x=1", "x=nan,", "=", "auto", "none", "\x1b[2J", "é", "../x", "/", ".", "-"),
    *("utf-16", "latin-1", ";", "local", "1-2", "3-1", "2,3", "0.1,0.9", "classes", "a" * 300),
)


@dataclass(frozen=True)
class Fixed:
    """Valid inputs, which are damaged: tables by name; and a folder of a fit."""

    reviews: Path
    tables: dict[str, bytes]
    folder: Path


def compile_kernels() -> None:
    """Compile what the inputs need, which can take longer than their time limit."""
    for part in PARTS:
        part()
    X, y = np.random.default_rng(0).integers(0, 3, (40, 20)), np.arange(40.0)
    package.FocusedTopicRegressor(30, max_epochs=2, n_jobs=1).fit(X, y)
    package.PFSLDAClassifier(30, max_epochs=2, n_jobs=1).fit(X, y > 20)


def prepare(place: Path) -> Fixed:
    """Write a small table, and fit a model to it."""
    reviews = write_reviews(place / "reviews.csv", 120)
    done = topicfocus("fit", reviews, *COLUMNS, *SMALL, "--out", place / "model")
    assert done.returncode == 0, done.stderr
    return Fixed(reviews, dict(tables(reviews)), place / "model")


def tables(reviews: Path) -> Iterator[tuple[str, bytes]]:
    """The same 60 rows in every format."""
    import pandas as pd

    lines = reviews.read_text(encoding="utf-8").splitlines()[:61]
    frame = pd.DataFrame([line.split(",") for line in lines[1:]], columns=["id", "text", "stars"])
    rows = frame.to_dict("records")
    plain = "\n".join(lines).encode()
    yield "a.csv", plain
    yield "b.csv", frame.to_csv(index=False, quoting=1, sep=";").encode()
    yield "a.tsv", plain.replace(b",", b"\t")
    yield "a.jsonl", "".join(json.dumps(row) + "\n" for row in rows).encode()
    yield "a.json", json.dumps(rows).encode()
    yield "a.csv.gz", gzip.compress(plain)
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as zipped:
        zipped.writestr("a.csv", plain)
    yield "a.csv.zip", archive.getvalue()
    for name, write in (("a.parquet", frame.to_parquet), ("a.xlsx", frame.to_excel)):
        stream = io.BytesIO()
        with contextlib.suppress(ImportError):
            write(stream, index=False)
            yield name, stream.getvalue()


def mutated(rng: np.random.Generator, content: bytes) -> bytes:
    """Make one to five changes: cut, insert, flip a bit or repeat."""
    out = bytearray(content)
    for _ in range(int(rng.integers(1, 6))):
        place, how, size = int(rng.integers(0, len(out) + 1)), rng.integers(0, 5), 20
        if how == 0 and rng.random() < 0.3:
            del out[place:]
        elif how == 1:
            del out[place : place + size]
        elif how == 2:
            out[place:place] = PIECES[int(rng.integers(0, len(PIECES)))]
        elif how == 3 and place < len(out):
            out[place] ^= 1 << int(rng.integers(0, 8))
        else:
            out[place:place] = out[place : place + size]
    return bytes(out)


def one_of(rng: np.random.Generator, values):
    """A value; numpy would turn those of several types into strings."""
    return values[int(rng.integers(0, len(values)))]


def check_command(place: Path, *arguments: object, out: str | None = None) -> int:
    """Check the exit code, that an error is one line, and that nothing else is written."""
    before = {path.name for path in place.iterdir()}
    done = topicfocus(*arguments, cwd=place)
    about = f"{arguments}: exit {done.returncode}: {done.stderr[-600:]}"
    assert done.returncode in (0, 1, 2), about
    assert "Traceback" not in done.stderr and not CONTROLS.search(done.stderr), about
    allowed = {out} if done.returncode == 0 else set()
    assert {path.name for path in place.iterdir()} - before <= allowed, about
    if done.returncode:
        last = done.stderr.splitlines()[-1]
        assert re.match(r"topicfocus( \w+)?: error: \S", last) and len(last) < 3000, about
        assert not INTERNAL.search(last), about
    elif out is not None and (place / out).is_dir():
        package.load(place / out / "model.topicfocus")
    return done.returncode


# ---- kinds of inputs -----------------------------------------------------------------------------


def predict_table(rng: np.random.Generator, fixed: Fixed, place: Path) -> None:
    name = one_of(rng, list(fixed.tables))
    (place / name).write_bytes(mutated(rng, fixed.tables[name]))
    more = [o for o in ("--skip-bad", "--json", "--encoding=latin-1") if rng.random() < 0.3]
    check_command(place, "predict", fixed.folder, name, *more)


def fit_table(rng: np.random.Generator, fixed: Fixed, place: Path) -> None:
    name = one_of(rng, list(fixed.tables))
    (place / name).write_bytes(mutated(rng, fixed.tables[name]))
    kind = one_of(rng, ("real", "classes", "count", "ordinal", None))
    more = [f"--kind={kind}"] if kind else []
    more += ["--skip-bad"] if rng.random() < 0.5 else []
    check_command(place, "fit", name, *COLUMNS, *SMALL, *more, "--out", "o", out="o")


def matrix(rng: np.random.Generator, fixed: Fixed, place: Path) -> None:
    (place / "m.vocab.txt").write_text("superb\nawful\nfilm")
    values = rng.integers(0, 4, (5, 3)).astype(float)
    if rng.random() < 0.3:
        values[0, 0] = one_of(rng, NUMBERS)
    name, stream = one_of(rng, ("m.npz", "m.mtx")), io.BytesIO()
    if name == "m.npz":
        sparse.save_npz(stream, sparse.csr_matrix(values))
    else:
        scipy_io.mmwrite(stream, sparse.coo_matrix(values))
    content = stream.getvalue()
    (place / name).write_bytes(mutated(rng, content) if rng.random() < 0.8 else content)
    check_command(place, "predict", fixed.folder, name)


def model_file(rng: np.random.Generator, fixed: Fixed, place: Path) -> None:
    """A model file with another bit, or with another value in its header and a right digest."""
    content = (fixed.folder / "model.topicfocus").read_bytes()
    (place / "m.topicfocus").write_bytes(mutated_model(content, rng))
    check_command(place, "predict", "m.topicfocus", fixed.reviews)


def options(rng: np.random.Generator, fixed: Fixed, place: Path) -> None:
    """Odd values of options; a number of topics that would take long is not a fault."""
    from topicfocus.cli.parser import COMMANDS
    from topicfocus.config import options_of

    command = one_of(rng, ("fit", "predict", "explain", "report", "tune"))
    given: list[object] = []
    for one in options_of(COMMANDS[command]):
        long = one.name in ("out", "cluster", "stability", "positional", "folds", "file", "model")
        if rng.random() < 0.1 and one.metadata["positional"] is None and not long:
            flag = f"--{one.metadata['flag'] or one.name.replace('_', '-')}"
            switch = str(one.type).startswith("bool")
            given += [flag] if switch else [f"{flag}={one_of(rng, VALUES)}"]
    inputs: dict[str, tuple[object, ...]] = {
        "fit": (fixed.reviews, *COLUMNS, *SMALL, "--out", "o"),
        "tune": (fixed.reviews, *COLUMNS, "--shares=0.2", "--topics=2", "--folds=2", "--out", "o"),
        "predict": (fixed.folder, fixed.reviews),
        "report": (fixed.folder, fixed.reviews, "--out", "o"),
        "explain": (fixed.folder, "--text", "superb film"),
    }
    out = "o" if command in ("fit", "tune", "report") else None
    check_command(place, command, *inputs[command], *given, out=out)


def text(rng: np.random.Generator, fixed: Fixed, place: Path) -> None:
    letters = [chr(c) for c in rng.integers(1, 0x3000, int(rng.integers(0, 200)))]
    more = "--json" if rng.random() < 0.3 else "--quiet"
    given = f"--text={''.join(letters)} superb"
    assert check_command(place, "explain", fixed.folder, given, more) == 0


def arrays(rng: np.random.Generator, fixed: Fixed, place: Path) -> None:
    """An estimator predicts finite numbers, or refuses with a message of its own."""
    name = one_of(rng, ("LDA", "SLDARegressor", "PFSLDAClassifier", "FocusedTopicRegressor"))
    X = rng.integers(0, 4, (int(rng.integers(0, 14)), int(rng.integers(0, 9)))).astype(float)
    n = len(X)
    if X.size and rng.random() < 0.3:
        X[0, 0] = one_of(rng, NUMBERS)
    y = one_of(rng, (rng.normal(size=n), rng.integers(0, 2, n), rng.choice(["a", "b"], n)))
    if rng.random() < 0.3:
        y = np.full(n, one_of(rng, NUMBERS))
    if rng.random() < 0.2:
        y = np.asarray(y, dtype=object)
        y[: int(rng.integers(0, 3))] = None
    y = y[: n - 1] if rng.random() < 0.1 else y
    model = getattr(package, name)(one_of(rng, (1, 2, 30)), max_epochs=2, random_state=0, n_jobs=1)
    try:
        model.fit(
            sparse.csr_array(X) if rng.random() < 0.5 else X, *(() if name == "LDA" else (y,))
        )
        found = getattr(model, "predict_proba", model.transform)(X)
    except (ValueError, TypeError) as error:
        assert str(error) and not INTERNAL.search(str(error)), repr(error)
        return
    for part in found if isinstance(found, list) else [found]:
        assert np.isfinite(np.asarray(part, dtype=float)).all()


Case = Callable[[np.random.Generator, Fixed, Path], None]
KINDS: tuple[Case, ...] = (*(predict_table, matrix, model_file, options, text, arrays, fit_table),)


# ---- running -------------------------------------------------------------------------------------


def _too_long(*_: object) -> None:
    raise AssertionError("takes longer than its time limit")


def run_one(seed: int, i: int, fixed: Fixed, limit: float = LIMIT) -> str | None:
    """Run input `i`; the result is what is wrong with its outcome."""
    kind = KINDS[i % len(KINDS)]
    signal.signal(signal.SIGALRM, _too_long)
    signal.setitimer(signal.ITIMER_REAL, limit)
    try:
        with tempfile.TemporaryDirectory() as place, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            kind(np.random.default_rng([seed, i]), fixed, Path(place))
    except BaseException as error:
        last = "" if isinstance(error, AssertionError) else traceback.format_exc()[-1500:]
        return f"input {i} ({kind.__name__}): {type(error).__name__}: {error} {last}"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int)
    args = parser.parse_args()
    os.environ.setdefault("COLUMNS", "110")
    findings = 0
    with tempfile.TemporaryDirectory() as place:
        fixed = prepare(Path(place))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile_kernels()
        for i in range(args.n) if args.only is None else [args.only]:
            found = run_one(args.seed, i, fixed, FIRST_LIMIT if i < len(KINDS) else LIMIT)
            if found is not None:
                findings += 1
                print(found, flush=True)
    print(f"{args.n if args.only is None else 1:,} inputs, {findings} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
