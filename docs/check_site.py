"""Look at the built pages: links lead somewhere, and nothing is loaded from another host.

python docs/check_site.py docs/_build/html
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

#: Attributes by which a page loads something; `href` of `a` is only followed by a reader.
LOADING = {
    "script": ("src",),
    "link": ("href",),
    "img": ("src", "srcset"),
    "iframe": ("src",),
    "source": ("src", "srcset"),
    "video": ("src", "poster"),
    "audio": ("src",),
    "embed": ("src",),
    "object": ("data",),
    "input": ("src",),
    "form": ("action",),
    "use": ("href", "xlink:href"),
    "image": ("href", "xlink:href"),
}
#: `link` elements that name a page and load nothing.
NAMING = {"canonical", "next", "prev", "search", "index", "author", "license", "alternate"}
#: What a style sheet loads.
STYLE = re.compile(r"""@import\s+["']([^"']+)["']|url\(\s*["']?([^"')]+)["']?\s*\)""")
#: What a script loads by itself, as far as it is written down.
SCRIPT = re.compile(
    r"""(?:fetch|import|importScripts|open)\s*\(\s*["'`](?:GET["'`]\s*,\s*["'`])?"""
    r"""((?:https?:)?//[^"'`]+)"""
    r"""|\.src\s*=\s*["'`]((?:https?:)?//[^"'`]+)"""
)


class Page(NamedTuple):
    """What a page has and asks for."""

    anchors: set[str]
    links: list[str]
    loaded: list[str]


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.page = Page(set(), [], [])
        self._inside = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self._inside = tag
        self.page.anchors.update(values[name] for name in ("id", "name") if values.get(name))
        if tag == "a" and "href" in values:
            self.page.links.append(values["href"])
        if tag == "link" and NAMING & set(values.get("rel", "").split()):
            return
        for name in LOADING.get(tag, ()):
            if name not in values:
                continue
            parts = values[name].split(",") if name == "srcset" else [values[name]]
            self.page.loaded.extend(part.split()[0] for part in parts if part.split())
        self.page.loaded.extend(_of_style(values.get("style", "")))

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside == "style":
            self.page.loaded.extend(_of_style(data))
        elif self._inside == "script":
            self.page.loaded.extend(_of_script(data))


def _of_style(text: str) -> list[str]:
    return [a or b for a, b in STYLE.findall(text)]


def _of_script(text: str) -> list[str]:
    return [a or b for a, b in SCRIPT.findall(text)]


def read(path: Path) -> Page:
    """Anchors, links and loaded addresses of an HTML file."""
    reader = _Reader()
    reader.feed(path.read_text(encoding="utf-8"))
    return reader.page


def _elsewhere(address: str) -> bool:
    parts = urlsplit(address)
    return bool(parts.netloc) or parts.scheme not in ("", "data", "blob", "about")


def _target(root: Path, page: Path, address: str) -> tuple[Path, str]:
    parts = urlsplit(address)
    path = unquote(parts.path)
    target = page if not path else (root / path[1:] if path[0] == "/" else page.parent / path)
    return target.resolve(), unquote(parts.fragment)


def _troubles(root: Path, path: Path, pages: dict[Path, Page]) -> Iterator[str]:
    page, name = pages[path], path.relative_to(root)
    for address in page.loaded:
        if _elsewhere(address):
            yield f"{name}: loads {address} from another host"
        elif not address.startswith(("data:", "blob:", "about:", "#")):
            target, _ = _target(root, path, address)
            if address and not target.exists():
                yield f"{name}: loads {address}, which is not there"
    for address in page.links:
        if urlsplit(address).scheme or urlsplit(address).netloc:
            continue
        target, anchor = _target(root, path, address)
        if not target.exists():
            yield f"{name}: a link leads to {address}, which is not there"
        elif anchor and target in pages and anchor not in pages[target].anchors:
            yield f"{name}: a link leads to {address}, which has no such place"


def check(root: Path) -> list[str]:
    """What is wrong with the site in a folder, a line each."""
    root = root.resolve()
    pages = {path.resolve(): read(path) for path in sorted(root.rglob("*.html"))}
    troubles = [trouble for path in pages for trouble in _troubles(root, path, pages)]
    for path in sorted(root.rglob("*.css")) + sorted(root.rglob("*.js")):
        text = path.read_text(encoding="utf-8")
        found = _of_style(text) if path.suffix == ".css" else _of_script(text)
        troubles += [
            f"{path.relative_to(root)}: loads {address} from another host"
            for address in found
            if _elsewhere(address)
        ]
    if not pages:
        troubles.append(f"{root} has no page")
    return troubles


if __name__ == "__main__":
    found = check(Path(sys.argv[1]))
    print("\n".join(found) or "All links lead somewhere, and nothing is loaded from another host.")
    sys.exit(bool(found))
