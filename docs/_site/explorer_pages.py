"""Explorer pages and figures of gallery examples: the former are files, shown in a frame.

In a notebook an `Explorer` shows itself with the whole page inside the frame's attribute; here the
frame leads to a file, which can also be opened by itself.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

#: In the source folder, where pictures of examples are made, too; copied into the site.
MADE = "docs/gallery/explorers"

_PICTURE = re.compile(r'<img [^>]*class = "sphx-glr-single-img"/>')

_FRAME = """
.. raw:: html

    <iframe class="explorer" title="Explorer page of this model" src="explorers/{name}"
      loading="lazy" sandbox="allow-scripts allow-downloads allow-same-origin"></iframe>
    <p class="explorer-alone"><a href="explorers/{name}">Open this page by itself</a></p>

"""


def scrape(block: Any, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """Sphinx-gallery calls this after each block: explorers that are new in it become pages."""
    from topicfocus.report import Explorer

    seen = block_vars["memory_explorers"] = block_vars.get("memory_explorers", set())
    shown = ""
    for name, value in block_vars["example_globals"].items():
        if isinstance(value, Explorer) and id(value) not in seen and name != "_":
            seen.add(id(value))
            folder = Path(gallery_conf["src_dir"]) / MADE
            folder.mkdir(parents=True, exist_ok=True)
            file = f"{Path(block_vars['src_file']).stem.removeprefix('plot_')}.html"
            value.save(folder / file)
            shown += _FRAME.format(name=file)
    return shown


def copy_pages(app: Any, error: Exception | None) -> None:
    """Put the pages beside those of the examples."""
    made = Path(app.srcdir) / MADE
    if error is None and app.builder.format == "html" and made.is_dir():
        shutil.copytree(made, Path(app.outdir) / MADE, dirs_exist_ok=True)


def frame_pictures(app: Any, page: str, template: str, context: dict[str, Any], tree: Any) -> None:
    """Figures of examples in a frame of their own, in which they can be moved on a phone."""
    if "body" in context:
        context["body"] = _PICTURE.sub(r'<div class="picture">\g<0></div>', context["body"])


def setup(app: Any) -> dict[str, bool]:
    """Frame figures when a page is made, copy explorers when all are written."""
    app.connect("html-page-context", frame_pictures)
    app.connect("build-finished", copy_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
