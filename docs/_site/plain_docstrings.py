"""Docstrings are plain text with `code`, not reStructuredText: escape what only looks like markup.

`coef_` would be a link, `|u|` a substitution and a lone `*` emphasis. Formulas stand in indented
blocks, whose lines and columns mean something: they become literal blocks.
"""

from __future__ import annotations

import re
from typing import Any

#: Parts of a line that stay as they are: code, and roles with their code.
_CODE = re.compile(r"(``.+?``|:[a-z:]+:`[^`]+`|`[^`]+`)")


def _escape(text: str, after_code: bool) -> str:
    text = re.sub(r"(?<=\w)_(?!\w)", r"\\_", text)
    text = re.sub(r"^(?=\w)", r"\\ ", text) if after_code else text  # the s of `Block`s
    return re.sub(r"[|*]", r"\\\g<0>", text)


def escaped(line: str) -> str:
    """The line with marks escaped outside of its code."""
    parts = _CODE.split(line)
    return "".join(part if i % 2 else _escape(part, i > 0) for i, part in enumerate(parts))


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def formulas_marked(lines: list[str]) -> list[str]:
    """Indented blocks after an empty line and a full line of less indent get a "::" before them."""
    out: list[str] = []
    last = ""  # the last line that is not empty
    for i, line in enumerate(lines):
        begins = bool(line.strip()) and i > 0 and not lines[i - 1].strip()
        deeper = _indent(line) >= _indent(last) + 4 and bool(last.strip())
        is_prose = not last.lstrip().startswith((":", "..", "-", ">>>"))
        if begins and deeper and is_prose and not line.lstrip().startswith((">>>", "..")):
            out += [" " * _indent(last) + "::", ""]
        out.append(line)
        if line.strip():
            last = line
    return out


def plain(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Before numpydoc reads the sections."""
    in_code = False
    out = []
    for line in formulas_marked(list(lines)):
        in_code = line.lstrip().startswith((">>>", "...")) or (in_code and bool(line.strip()))
        out.append(line if in_code else escaped(line))
    lines[:] = out


def setup(app: Any) -> dict[str, bool]:
    """Numpydoc reads docstrings at priority 500."""
    app.connect("autodoc-process-docstring", plain, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
