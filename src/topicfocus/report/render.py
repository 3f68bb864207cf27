"""Plain data into one HTML file: the static parts put together, the data escaped into it.

The page may load nothing and run nothing but the script named by its hash: whatever words,
documents or names contain, there is no way for it to run or to call home.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from functools import cache
from importlib import resources
from typing import Any

#: In this order: each uses what the ones before it define.
SCRIPTS = (
    "unpack.js",
    "engine.js",
    "counted.js",
    "state.js",
    "dom.js",
    "charts.js",
    "tip.js",
    "save.js",
    "explain.js",
    "effects.js",
    "story.js",
    "covariates.js",
    "pictures.js",
    "topics.js",
    "words.js",
    "documents.js",
    "tryit.js",
    "fit.js",
    "main.js",
)

#: Lines that are comments: readers of the repository have them, pages need not carry them.
_COMMENT = re.compile(r"^ *(?:/\*\*[\s\S]*?\*/|//.*)\n", re.MULTILINE)

_ESCAPES = {
    "<": "\\u003c",
    ">": "\\u003e",
    "&": "\\u0026",
    "\u2028": "\\u2028",
    "\u2029": "\\u2029",
}


def _static(name: str) -> str:
    return (resources.files("topicfocus.report") / "static" / name).read_text(encoding="utf-8")


@cache
def _parts() -> tuple[str, str, str]:
    """Template, style and script."""
    body = "\n".join(_COMMENT.sub("", _static(name)) for name in SCRIPTS)
    script = f'(() => {{\n"use strict";\n{body}\n}})();\n'
    return _static("page.html"), _static("style.css"), script


def frame_size() -> int:
    """Bytes of a page without its data."""
    return sum(len(part.encode("utf-8")) for part in _parts())


def _source(text: str) -> str:
    """What a Content-Security-Policy calls an inline script or style."""
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


def embed(value: Any) -> str:
    """JSON that can stand inside a script element whatever strings it holds."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    return (
        "".join(_ESCAPES.get(c, c) for c in text) if not _ESCAPES.keys().isdisjoint(text) else text
    )


def render(summary: dict[str, Any]) -> str:
    """The page of a summary."""
    template, style, script = _parts()
    policy = "; ".join(
        (
            "default-src 'none'",
            f"script-src {_source(script)}",
            f"style-src {_source(style)}",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )
    values = {
        "policy": html.escape(policy),
        "title": html.escape(summary["title"]),
        "style": style,
        "data": embed(summary),
        "script": script,
    }
    # One pass over the template: what was put in is not looked at again.
    pieces = template.split("{{")
    out = [pieces[0]]
    for piece in pieces[1:]:
        name, rest = piece.split("}}", 1)
        out += [values[name], rest]
    return "".join(out)


def frame(page: str, height: int = 760) -> str:
    """The page inside a notebook: in a frame of its own that can reach nothing around it."""
    return (
        '<iframe title="topicfocus explorer" sandbox="allow-scripts allow-downloads" '
        f'style="width:100%;height:{height}px;border:1px solid #8886;border-radius:8px" '
        f'srcdoc="{html.escape(page)}"></iframe>'
    )
