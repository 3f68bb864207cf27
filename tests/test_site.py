"""The site: what its check finds, and that the API pages and the index are complete."""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path

import pytest

import topicfocus

DOCS = Path(__file__).resolve().parents[1] / "docs"


@pytest.fixture
def site(monkeypatch):
    """Import a module of docs/."""
    monkeypatch.syspath_prepend(str(DOCS))
    monkeypatch.syspath_prepend(str(DOCS / "_site"))
    before = set(sys.modules)
    yield importlib.import_module
    for name in set(sys.modules) - before:
        if str(DOCS) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


GOOD = '<h1 id="a">A</h1><a href="#a">up</a><a href="https://example.org">out</a><img src="x.png">'


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ('<script src="https://cdn.example.org/a.js"></script>', "from another host"),
        ('<script>fetch("https://example.org/x")</script>', "from another host"),
        ("<style>@import 'https://example.org/a.css';</style>", "from another host"),
        ('<p style="background: url(https://example.org/a.png)">', "from another host"),
        ('<img src="x.png" srcset="x.png, https://example.org/2.png 2x">', "from another host"),
        ('<img src="lost.png">', "which is not there"),
        ('<a href="lost.html">', "which is not there"),
        ('<a href="#lost">', "no such place"),
    ],
)
def test_check_of_the_site(site, tmp_path, bad, said):
    check = site("check_site").check
    (tmp_path / "x.png").write_bytes(b"")
    page = tmp_path / "page.html"
    page.write_text(GOOD, encoding="utf-8")
    assert check(tmp_path) == []
    page.write_text(GOOD + bad, encoding="utf-8")
    (trouble,) = check(tmp_path)
    assert said in trouble and trouble.startswith("page.html")


def test_every_public_name_is_in_the_reference():
    listed = set(re.findall(r"^   (\w+)$", (DOCS / "api" / "index.rst").read_text(), re.M))
    inside = {"cli", "estimators", "focused", "inference", "joint", "kernels"}
    folders = {p.parent.name for p in Path(topicfocus.__file__).parent.glob("*/__init__.py")}
    public = set(topicfocus.__all__)
    for name in folders - inside:
        public |= set(importlib.import_module(f"topicfocus.{name}").__all__)
    public -= {"FAMILIES", "MODELS", "Kind"}  # tables and a type: told of where they are used
    assert public - listed == set()


def test_every_page_is_in_the_index():
    index = (DOCS / "index.md").read_text(encoding="utf-8")
    listed = re.findall(r"^(?:.* <)?([\w-]+)>?$", index, re.M)
    missing = [page.stem for page in DOCS.glob("*.md") if page.stem not in listed]
    assert missing == ["index"]
