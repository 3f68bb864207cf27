"""The site: what its check finds, that the API pages are complete, and what formulas become."""

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
        ('<link rel="stylesheet" href="//fonts.example.org/f.css">', "from another host"),
        ("<style>@import 'https://example.org/a.css';</style>", "from another host"),
        ('<p style="background: url(https://example.org/a.png)">', "from another host"),
        ('<img src="x.png" srcset="x.png, https://example.org/2.png 2x">', "from another host"),
        ('<iframe src="http://example.org"></iframe>', "from another host"),
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


def test_check_looks_at_style_sheets_and_scripts(site, tmp_path):
    check = site("check_site").check
    (tmp_path / "page.html").write_text(GOOD.replace("x.png", "data:,"), encoding="utf-8")
    (tmp_path / "a.css").write_text("p {background: url('https://e.org/x.png')}", encoding="utf-8")
    (tmp_path / "a.js").write_text("s.src = 'https://e.org/x.js'", encoding="utf-8")
    assert len(check(tmp_path)) == 2
    assert check(tmp_path / "nothing") != []


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
    listed = (DOCS / "howto" / "index.md").read_text(encoding="utf-8")
    pages = {page.stem for page in (DOCS / "howto").glob("*.md")}
    assert pages - {"index"} <= set(listed.split())


def test_formulas_can_be_drawn(site):
    pytest.importorskip("docutils.utils.math.latex2mathml", reason="needs the extra site")
    mathml = site("mathml").mathml
    text = (DOCS / "theory.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```math\n(.*?)^```", text, re.M | re.S)
    rest = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    assert len(blocks) > 10
    for tex in [*blocks, *re.findall(r"\$([^$]+)\$", rest)]:
        assert mathml(tex, block=True).startswith("<math")
    assert "munder" not in mathml(r"\hat\theta_d", block=False)
    assert mathml(r"\tfrac12 x", block=False).count("<mn>") == 2  # numerator and denominator
    assert "mspace" in mathml(r"a\log b", block=False)
    assert "mspace" not in mathml(r"\log(b)", block=False)


def test_docstrings_become_restructured_text(site):
    plain = site("plain_docstrings")
    assert plain.escaped("see `coef_` and coef_, |u|") == r"see `coef_` and coef\_, \|u\|"
    assert plain.escaped("many `Block`s") == r"many `Block`\ s"
    text = ["The formula", "", "    y = x", "", "and on."]
    assert plain.formulas_marked(text) == ["The formula", "", "::", "", "    y = x", "", "and on."]


def test_every_page_is_looked_at(site, tmp_path):
    look = site("look")
    for name in ("docs/index", "docs/howto/new", "docs/api/generated/x.Y", "docs/explorers/1"):
        path = tmp_path / f"{name}.html"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    assert look.pages_to_look_at(tmp_path, every=False) == list(look.PAGES)
    found = look.pages_to_look_at(tmp_path, every=True)
    assert found == sorted({*look.PAGES, "docs/howto/new"})


@pytest.mark.parametrize(
    ("text", "linked"),
    [
        ("(docs/cli.md)", True),
        ("see docs/cli.md.", True),
        ("[docs/cli.md](cli.md)", False),
        ("[here](docs/cli.md)", False),
        ("../docs/cli.md", False),
    ],
)
def test_mentions_of_pages_are_found(text, linked):
    line = re.search(r'^MENTION = re.compile\(r"(.*)"\)$', (DOCS / "conf.py").read_text(), re.M)
    assert bool(re.search(line.group(1), text)) == linked
