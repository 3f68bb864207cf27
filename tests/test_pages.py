"""Pages of docs/ that are one program each run from top to bottom; so do the quick examples."""

from __future__ import annotations

import doctest
import re
import runpy
import warnings
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
WHOLE = [
    ROOT / "docs" / "start.md",
    ROOT / "docs" / "coming-from.md",
    *sorted((ROOT / "docs" / "howto").glob("*.md")),
]
BLOCK = re.compile(r"^```(python|pycon)\n(.*?)^```", re.M | re.S)
#: Without data of other packages, and over in a few seconds. docs/build.py runs all of them.
QUICK = ("plot_6_served", "plot_8_notebook")


def run_page(text: str, name: str) -> int:
    """Run the blocks of a page in one namespace; what sessions print must be what stands there."""
    space: dict[str, object] = {"__name__": "page"}
    blocks = BLOCK.findall(text)
    for kind, code in blocks:
        if kind == "python":
            exec(compile(code, name, "exec"), space)
            continue
        test = doctest.DocTestParser().get_doctest(code, space, name, name, 0)
        said: list[str] = []
        runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
        runner.run(test, out=said.append, clear_globs=False)
        assert runner.failures == 0, "".join(said)
        space.update(test.globs)
    return len(blocks)


@pytest.mark.parametrize("page", WHOLE, ids=lambda page: page.stem)
def test_pages_run(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    text = page.read_text(encoding="utf-8")
    n_blocks = run_page(text, page.name)
    assert n_blocks > 0 or page.stem == "index"
    if page.stem == "start":  # it shows the topics that it prints; a word or two may differ later
        (shown,) = re.findall(r"^```text\n(.*?)^```", text, re.M | re.S)
        printed = [set(line.split()) for line in capsys.readouterr().out.splitlines()]
        for row in shown.splitlines():
            assert any(len(set(row.split()) & words) >= 4 for words in printed), row


@pytest.mark.parametrize("name", QUICK)
def test_quick_examples(name, tmp_path, monkeypatch):
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("Agg")
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "FigureCanvasAgg is non-interactive")
        runpy.run_path(str(ROOT / "examples" / f"{name}.py"))
    plt.close("all")
