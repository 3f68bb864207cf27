"""Formulas as MathML, which browsers draw themselves: no script, nothing from elsewhere."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from docutils.utils.math import latex2mathml


def _mathml(tex: str, block: bool) -> str:
    return latex2mathml.tex2mathml(tex.strip(), as_block=block)


def _inline(writer: Any, node: nodes.Node) -> None:
    writer.body.append(f'<span class="math">{_mathml(node.astext(), block=False)}</span>')
    raise nodes.SkipNode


def _block(writer: Any, node: nodes.Node) -> None:
    writer.body.append(f'<div class="math">{_mathml(node.astext(), block=True)}</div>')
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, bool]:
    """Register the renderer, and choose it."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    app.config.html_math_renderer = "mathml"
    return {"parallel_read_safe": True, "parallel_write_safe": True}
