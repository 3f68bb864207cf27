"""Formulas as MathML, which browsers draw themselves: no script, nothing from elsewhere."""

from __future__ import annotations

import re
from html import unescape
from typing import Any
from xml.etree import ElementTree

from docutils import nodes
from docutils.utils.math import latex2mathml

#: What stands over a letter: hats, bars and tildes, in the characters that docutils takes for them.
_ACCENTS = set("^ˆ¯ˉ‾~˜̂̄̃")
#: A function of what follows without a bracket, and what stands before it: TeX leaves spaces there,
#: MathML none.
_FUNCTION = r"\\(?:log|exp|cosh|min|max|operatorname\{(?:logit|var|sd|mean|Var|E)\})"
_AFTER = re.compile(rf"({_FUNCTION})\s*(?=[a-zA-Z0-9]|\\(?!left|,|[|])[a-z])")
_BEFORE = re.compile(rf"(?<=[a-zA-Z0-9}}])\s*(?={_FUNCTION})")
#: Halves in TeX's short form, which docutils does not know.
_SHORT = re.compile(r"\\[td]?frac\s*(\d)\s*(\d)")
#: Names of characters that HTML knows and XML does not.
_ENTITY = re.compile(r"&(?!(?:lt|gt|amp|quot|apos);)\w+;")
_SPACE = "{http://www.w3.org/1998/Math/MathML}"
ElementTree.register_namespace("", _SPACE[1:-1])


def _index_beside(element: ElementTree.Element) -> None:
    """The index of a letter with an accent stands beside it; docutils puts it below."""
    for child in element:
        _index_beside(child)
    if element.tag != f"{_SPACE}munderover":
        return
    base, index, over = list(element)
    if over.tag == f"{_SPACE}mo" and (over.text or "").strip() in _ACCENTS:
        letter = ElementTree.Element(f"{_SPACE}mover", accent="true")
        letter.extend([base, over])
        for child in (base, index, over):
            element.remove(child)
        element.tag = f"{_SPACE}msub"
        element.extend([letter, index])


def _primes(element: ElementTree.Element) -> None:
    """A prime is no apostrophe."""
    for operator in element.iter(f"{_SPACE}mo"):
        if operator.text == "'":
            operator.text = "′"


def mathml(tex: str, block: bool) -> str:
    """TeX as MathML."""
    plain = _SHORT.sub(r"\\frac{\1}{\2}", tex.strip())
    spaced = _BEFORE.sub(r"\\,", _AFTER.sub(r"\1\\,", plain))
    text = latex2mathml.tex2mathml(spaced, as_block=block)
    root = ElementTree.fromstring(_ENTITY.sub(lambda found: unescape(found[0]), text))
    _index_beside(root)
    _primes(root)
    return ElementTree.tostring(root, encoding="unicode")


def _inline(writer: Any, node: nodes.Node) -> None:
    writer.body.append(f'<span class="math">{mathml(node.astext(), block=False)}</span>')
    raise nodes.SkipNode


def _block(writer: Any, node: nodes.Node) -> None:
    writer.body.append(f'<div class="math">{mathml(node.astext(), block=True)}</div>')
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, bool]:
    """Register the renderer, and choose it."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    app.config.html_math_renderer = "mathml"
    return {"parallel_read_safe": True, "parallel_write_safe": True}
