"""Odd inputs by the thousand: each is a kind and a number, and the same every time.

A case makes its files in a folder of its own, calls the command or an estimator as a user would,
and raises `Broken` if what came back is not one of the two things a user may meet: a result, or one
line that says what is wrong.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from broken import Broken
from command_line import topicfocus, write_reviews
from odd_arrays import estimator_case, target_case
from odd_bytes import mutated, packed, some_bytes, table
from scipy import io as scipy_io
from scipy import sparse

import topicfocus as package
from topicfocus import folders

#: What no message and no result may hold: a terminal would obey it.
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
COLUMNS = ("--text", "text", "--target", "stars")


@dataclass(frozen=True)
class Fixed:
    """What cases share, and none may change: a file, a model of it, and how it predicts."""

    data: Path
    model: Path
    predictions: str


def prepare(root: Path) -> Fixed:
    # Counts of `--memory`, and where nobody else's are; compiled kernels stay where they are.
    folders.cache_folder = lambda: root / "cache"
    data = write_reviews(root / "reviews.csv", 120)
    done = topicfocus("fit", data, *COLUMNS, "--topics", 2, "--jobs", 1, "--out", root / "model")
    assert done.returncode == 0, done.stderr
    predictions = topicfocus("predict", root / "model", data).stdout
    return Fixed(data, root / "model", predictions)


def check_command(place: Path, *arguments: object, out: str | None = None) -> int:
    """Run the command in `place`: a known exit code, one line of error, nothing half-written."""
    before = {p.name for p in place.iterdir()}
    done = topicfocus(*arguments, cwd=place)
    said = f"{arguments}: exit {done.returncode}: {done.stderr[-600:]}"
    if done.returncode not in (0, 1, 2):
        raise Broken(f"exit code: {said}")
    if "Traceback" in done.stderr:
        raise Broken(f"traceback: {said}")
    if _CONTROLS.search(done.stderr) or (
        arguments[0] != "predict" and _CONTROLS.search(done.stdout)
    ):
        raise Broken(f"control characters: {said!r}")
    new = {p.name for p in place.iterdir()} - before
    if done.returncode == 0:
        if new - {out}:
            raise Broken(f"left behind {new}: {said}")
        return 0
    last = (done.stderr.splitlines() or [""])[-1]
    if not re.match(r"topicfocus( \w+)?: error: \S", last) or len(last) > 3000:
        raise Broken(f"no line of error: {said}")
    if re.search(r"StopIteration|object has no attribute|NoneType|nopython", last):
        raise Broken(f"an internal message: {said}")
    if new:
        raise Broken(f"left behind {new}: {said}")
    return done.returncode


# ---- files ----------------------------------------------------------------------------------


def table_case(rng: np.random.Generator, place: Path, fixed: Fixed) -> None:
    """Bytes as CSV, TSV, JSON lines or Parquet, also packed, or a valid file mutated: predict."""
    endings = [".csv", ".tsv", ".jsonl", ".json", ".parquet", ".txt", ".xlsx"]
    ending = str(rng.choice(endings, p=[0.25, 0.15, 0.2, 0.2, 0.08, 0.07, 0.05]))
    content = (
        some_bytes(rng) if rng.random() < 0.3 else mutated(rng, table(rng, fixed.data, ending))
    )
    name = f"a{ending}"
    if rng.random() < 0.2:
        packing = str(rng.choice([".gz", ".bz2", ".xz", ".zip"]))
        whole = packed(content, packing)
        content, name = whole if rng.random() < 0.5 else mutated(rng, whole), f"{name}{packing}"
    (place / name).write_bytes(content)
    more: list[object] = ["--skip-bad"] if rng.random() < 0.3 else []
    if rng.random() < 0.2:
        more += ["--encoding", str(rng.choice(["latin-1", "utf-16", "utf-32", "ascii", "no such"]))]
    if rng.random() < 0.2:
        more += ["--delimiter", str(rng.choice([";", "|", "", "ab", "\n", '"', "é"]))]
    if rng.random() < 0.2:
        more += ["--json"]
    out = "p.csv" if rng.random() < 0.3 else None
    more += [] if out is None else ["--out", out]
    check_command(place, "predict", fixed.model, name, *more, out=out)


def report_case(rng: np.random.Generator, place: Path, fixed: Fixed) -> None:
    """A valid file mutated: the page."""
    ending = str(rng.choice([".csv", ".jsonl"]))
    (place / f"a{ending}").write_bytes(mutated(rng, table(rng, fixed.data, ending)))
    more: list[object] = ["--skip-bad"] if rng.random() < 0.5 else []
    names = ("id", "text", "stars", "id,stars", "id,id", "no such", "")
    more += ["--by", str(rng.choice(names))] if rng.random() < 0.3 else []
    more += ["--time", str(rng.choice(names))] if rng.random() < 0.3 else []
    check_command(
        place, "report", fixed.model, f"a{ending}", *more, "--out", "p.html", out="p.html"
    )


def fit_case(rng: np.random.Generator, place: Path, fixed: Fixed) -> None:
    """A valid file mutated: fit."""
    ending = str(rng.choice([".csv", ".tsv", ".jsonl"]))
    lines = table(rng, fixed.data, ending)
    (place / f"a{ending}").write_bytes(mutated(rng, lines))
    more = ["--skip-bad"] if rng.random() < 0.5 else []
    more += ["--covariates", "id"] if rng.random() < 0.2 else []
    more += ["--group", "id"] if rng.random() < 0.1 else []
    more += ["--weight", "id"] if rng.random() < 0.1 else []
    more += ["--kind", "classes", "--class-weight", "balanced"] if rng.random() < 0.1 else []
    more += ["--separator", " "] if rng.random() < 0.1 else []
    more += ["--no-baseline"] if rng.random() < 0.5 else []
    model = str(rng.choice(["focused", "pc-slda", "slda", "pf-slda"], p=[0.7, 0.1, 0.1, 0.1]))
    arguments = ("fit", f"a{ending}", *COLUMNS, "--topics", 2, "--jobs", 1, "--model", model, *more)
    if check_command(place, *arguments, "--out", "o", out="o") == 0:
        _check_result(place / "o")


def _check_result(folder: Path) -> None:
    listed = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["files"]
    for name, known in listed.items():
        if hashlib.sha256((folder / name).read_bytes()).hexdigest() != known:
            raise Broken(f"{name} is not what the manifest says")
    json.loads((folder / "metrics.json").read_text(encoding="utf-8"))
    package.load(folder / "model.topicfocus")


def matrix_case(rng: np.random.Generator, place: Path, fixed: Fixed) -> None:
    """Bytes, mutated files and odd matrices as .npz and .mtx."""
    n, v = int(rng.integers(1, 8)), int(rng.integers(1, 8))
    values = rng.integers(0, 4, (n, v)).astype(str(rng.choice(["f8", "i8", "f4", "i2"])))
    if rng.random() < 0.4 and values.dtype.kind == "f":
        with np.errstate(all="ignore"):
            values[0, 0] = rng.choice([np.nan, np.inf, -1.0, 1e300, 0.5, 1e-300])
    ending, stream = str(rng.choice([".npz", ".mtx"])), io.BytesIO()
    if ending == ".npz":
        how = rng.integers(0, 4)
        if how == 0:
            np.savez(stream, values=values)
        elif how == 1:
            np.savez(stream, values=np.array([object()], dtype=object))
        else:
            sparse.save_npz(stream, sparse.csr_matrix(values))
    else:
        scipy_io.mmwrite(stream, sparse.coo_matrix(values))
    content = stream.getvalue()
    if rng.random() < 0.6:
        content = mutated(rng, content) if rng.random() < 0.8 else some_bytes(rng)
    (place / f"m{ending}").write_bytes(content)
    if rng.random() < 0.9:
        words = [f"w{i}" for i in range(v + int(rng.random() < 0.1))]
        (place / "m.vocab.txt").write_bytes("\n".join(words).encode())
    check_command(place, "predict", fixed.model, f"m{ending}")


def model_case(rng: np.random.Generator, place: Path, fixed: Fixed) -> None:
    """Bytes as a model, or a model mutated: refused, or the same predictions."""
    content = (fixed.model / "model.topicfocus").read_bytes()
    content = some_bytes(rng) if rng.random() < 0.2 else mutated(rng, content)
    (place / "a.model").write_bytes(content)
    done = topicfocus("predict", "a.model", fixed.data, cwd=place)
    if done.returncode == 0 and done.stdout != fixed.predictions:
        raise Broken("a damaged model predicts")
    check_command(place, "predict", "a.model", fixed.data)


def result_case(rng: np.random.Generator, place: Path, fixed: Fixed) -> None:
    """A result folder with files mutated: whatever predict and --overwrite say, nothing is lost."""
    folder = place / "o"
    shutil.copytree(fixed.model, folder)
    (folder / "notes.txt").write_text("mine")
    name = str(rng.choice(["manifest.json", "metrics.json", "config.toml", "predictions.csv"]))
    changed = mutated(rng, (folder / name).read_bytes())
    (folder / name).write_bytes(changed)
    check_command(place, "predict", "o", fixed.data)
    check_command(place, "fit", "--config", "o/config.toml", "--topics", 200, "--out", "p")
    data = place / "few.csv"
    data.write_text("text,stars\nx,1\n")
    check_command(place, "fit", data.name, *COLUMNS, "--out", "o", "--overwrite")
    if (folder / "notes.txt").read_text() != "mine" or (folder / name).read_bytes() != changed:
        raise Broken("a file of the user was changed")


_VALUES: tuple[object, ...] = (
    *(
        "0",
        "-1",
        "1",
        "2",
        "3",
        "nan",
        "inf",
        "1e309",
        "0.5",
        "1.0",
        "",
        " ",
        "é",
        "\x1b[2J",
        "a,b",
    ),
    *(
        "9" * 30,
        "none",
        "auto",
        "text",
        "stars",
        "id",
        "../x",
        "-",
        "--",
        "2-3",
        "3-2",
        "1-1",
        "a=b",
        "balanced",
        "1=2,4=3",
    ),
    *(
        "real",
        "count",
        "ordinal",
        "classes",
        "csv",
        "counts",
        "folder",
        "latin-1",
        "utf-16",
        ".",
        "/",
    ),
    *("600MB", "1GB", "10MB", "1e5GB", "2,3", "0.1,0.2", "tcp://nowhere:1"),
)
_OPTIONS = (
    *(
        "--text",
        "--target",
        "--covariates",
        "--weight",
        "--exposure",
        "--kind",
        "--model",
        "--topics",
    ),
    *(
        "--inclusion-prior",
        "--test-share",
        "--seed",
        "--stop-words",
        "--min-df",
        "--max-df",
        "--jobs",
    ),
    *(
        "--max-features",
        "--ngrams",
        "--min-length",
        "--format",
        "--delimiter",
        "--encoding",
        "--out",
    ),
    *("--vocabulary", "--config", "--separator", "--group", "--cluster"),
    *("--class-weight", "--sheet", "--stability"),
)
_TUNE_OPTIONS = ("--topics", "--shares", "--folds", "--rule", "--seed", "--kind")
_FLAGS = (
    "--no-baseline",
    "--overwrite",
    "--keep-case",
    "--skip-bad",
    "--json",
    "--quiet",
)


def options_case(rng: np.random.Generator, place: Path, fixed: Fixed) -> None:
    """Options with values that belong to others."""
    (place / "a.csv").write_bytes(table(rng, fixed.data, ".csv"))
    chosen: list[object] = list(COLUMNS) if rng.random() < 0.8 else []
    command, known = "fit", _OPTIONS
    if rng.random() < 0.2:
        command, known = "tune", _TUNE_OPTIONS
        chosen += ["--topics", "2", "--shares", "0.2", "--folds", "2"]
    for option in rng.choice(known, int(rng.integers(1, 4)), replace=False):
        chosen += [str(option), _VALUES[int(rng.integers(0, len(_VALUES)))]]
    chosen += [str(flag) for flag in _FLAGS if rng.random() < 0.1]
    folder = place / "inside"
    folder.mkdir()
    shutil.move(place / "a.csv", folder / "a.csv")
    before = {p.name for p in place.iterdir()}
    done = topicfocus(command, "a.csv", *chosen, cwd=folder)
    if done.returncode not in (0, 1, 2) or "Traceback" in done.stderr:
        raise Broken(f"{chosen}: exit {done.returncode}: {done.stderr[-600:]}")
    if {p.name for p in place.iterdir()} - before - {"x"}:
        raise Broken(f"{chosen}: wrote outside of its folder")
    if done.returncode and not done.stderr.splitlines()[-1].startswith("topicfocus"):
        raise Broken(f"{chosen}: {done.stderr[-600:]}")
    left = {p.name for p in folder.iterdir() if p.name.startswith(".") or ".partial" in p.name}
    if left:
        raise Broken(f"{chosen}: left behind {left}")


def folder_case(rng: np.random.Generator, place: Path, fixed: Fixed) -> None:
    """Counts in a folder with a file mutated: an error of ours, or a fit that ends."""
    counts = rng.integers(0, 3, (int(rng.integers(3, 8)), 4)) * int(rng.choice([1, 200, 70_000]))
    counts[:, 0] += 1
    words = None if rng.random() < 0.3 else ["a", "b", "é", "d"]
    package.write_counts(place / "s", [counts], words)
    path = sorted((place / "s").iterdir())[int(rng.integers(0, 4))]
    path.write_bytes(some_bytes(rng) if rng.random() < 0.2 else mutated(rng, path.read_bytes()))
    try:
        package.LDA(2, max_epochs=1).fit(package.open_counts(place / "s")[0])
    except (OSError, ValueError) as error:
        if "\n" in str(error):
            raise Broken(f"{path.name}: {error}") from error


def explain_case(rng: np.random.Generator, place: Path, fixed: Fixed) -> None:
    """Any text at all."""
    text = some_bytes(rng).decode("utf-8", "surrogateescape").replace("\0", " ")
    more = ["--json"] if rng.random() < 0.5 else []
    if rng.random() < 0.2:
        more += ["--class", str(_VALUES[int(rng.integers(0, len(_VALUES)))])]
    if rng.random() < 0.2:
        more += ["--covariates", str(_VALUES[int(rng.integers(0, len(_VALUES)))])]
    check_command(place, "explain", fixed.model, f"--text={text} superb", *more)


Case = Callable[[np.random.Generator, Path, Fixed], None]
#: Kinds of cases, and how many of a hundred are of each.
KINDS: dict[str, tuple[Case, int]] = {
    "table": (table_case, 25),
    "folder": (folder_case, 4),
    "report": (report_case, 1),
    "model": (model_case, 15),
    "matrix": (matrix_case, 13),
    "target": (target_case, 12),
    "estimator": (estimator_case, 15),
    "explain": (explain_case, 6),
    "options": (options_case, 4),
    "result": (result_case, 3),
    "fit": (fit_case, 2),
}


def kind_of(number: int) -> str:
    """The kind of the case with a number, so that every hundred of them has all kinds."""
    place = math.floor((number * 0.6180339887498949) % 1.0 * sum(n for _, n in KINDS.values()))
    for name, (_, share) in KINDS.items():
        if place < share:
            return name
        place -= share
    raise AssertionError


def run_case(kind: str, seed: int, number: int, place: Path, fixed: Fixed) -> None:
    """One case, in a folder that is empty before and gone after."""
    place.mkdir()
    try:
        KINDS[kind][0](np.random.default_rng([seed, number]), place, fixed)
    finally:
        shutil.rmtree(place)
