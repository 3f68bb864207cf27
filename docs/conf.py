"""Sphinx: the site of docs/, built by docs/build.py.

The source folder is the repository itself, so that a link such as `../experiments/THEMES.md` leads
to the same page on the site and on a code forge, and nothing is written twice.
"""

from __future__ import annotations

import os
import re
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import topicfocus

HERE = Path(__file__).parent
EXAMPLE = re.compile(r"\]\((?:\.\./)+examples/(plot_\w+)\.py\)")
sys.path.insert(0, str(HERE / "_site"))
# Gallery fits are small; more threads than processors only wait for one another.
os.environ.setdefault("OMP_NUM_THREADS", str(os.cpu_count() or 1))

if find_spec("pandas"):  # which the examples need, and a quick build does not
    import pandas as pd

    pd.set_option("display.max_colwidth", 120)

project = "topicfocus"
author = "The topicfocus developers"
copyright = author
# Of the sources: an installation in place keeps the number it was made with.
release = version = topicfocus.__version__
language = "en"

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "mathml",
    "plain_docstrings",
    "explorer_pages",
]

root_doc = "docs/index"
include_patterns = [
    "docs/**",
    "experiments/*.md",
    "benchmarks/README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
]
exclude_patterns = ["docs/_build", "docs/_site", "docs/pictures", "docs/conf.py", "**/.*"]
source_suffix = {".rst": "restructuredtext", ".md": "markdown"}
templates_path = [str(HERE / "_site" / "templates")]  # autosummary looks from the source folder

# Pages are read on code forges, too: fences and links are plain Markdown.
myst_enable_extensions = ["dollarmath", "deflist"]
myst_fence_as_directive = ["math"]
myst_heading_anchors = 4
myst_links_external_new_tab = False
suppress_warnings = ["config.cache"]

# A name in single backticks is code, as in Markdown.
default_role = "code"
toc_object_entries_show_parents = "hide"
autosummary_generate = True
autosummary_ignore_module_all = False
autodoc_typehints = "none"  # Parameters of the docstring say it in words
autodoc_use_type_comments = False  # there are none, and looking for them takes time
autodoc_member_order = "groupwise"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

html_theme = "furo"
html_title = f"topicfocus {release}"
html_static_path = ["_site/static"]
html_css_files = ["site.css"]
html_extra_path = ["_site/extra"]
html_copy_source = False
# A summary would be fetched, which browsers refuse to pages that are opened as files.
html_show_search_summary = False
html_show_sourcelink = False
html_show_copyright = False
html_last_updated_fmt = None
html_theme_options = {
    "navigation_with_keys": True,
    "light_css_variables": {
        "color-brand-primary": "#0b6e99",
        "color-brand-content": "#0b6e99",
        "color-brand-visited": "#6b4ea0",
        "font-stack": "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif",
    },
    "dark_css_variables": {
        "color-brand-primary": "#5bb8e0",
        "color-brand-content": "#5bb8e0",
        "color-brand-visited": "#b39ae0",
    },
}
pygments_style = "default"
pygments_dark_style = "monokai"

sphinx_gallery_conf: dict[str, Any] = {
    "examples_dirs": "examples",
    "gallery_dirs": "docs/gallery",
    "filename_pattern": r"[/\\]plot_",
    "within_subsection_order": "FileNameSortKey",
    "matplotlib_animations": False,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 0,
    "remove_config_comments": True,
    "abort_on_example_error": True,
    "first_notebook_cell": "%matplotlib inline",
    "doc_module": ("topicfocus",),
    "reference_url": {"topicfocus": None},
    "image_srcset": ["2x"],
    "image_scrapers": ("matplotlib", "explorer_pages.scrape"),
    "ignore_repr_types": r"Explorer|Axes|Pipeline|FocusedTopic",
    "write_computation_times": False,
}


def skip_foreign(app: Any, what: str, name: str, value: Any, skip: bool, options: Any) -> bool:
    """Members that scikit-learn or Python brings are documented there."""
    home = getattr(value, "__module__", None) or ""
    return skip or (what == "class" and bool(home) and not home.startswith("topicfocus"))


def to_gallery(app: Any, docname: str, source: list[str]) -> None:
    """On a code forge a link leads to an example's program, on the site to what came out of it."""
    source[0] = EXAMPLE.sub(r"](/docs/gallery/\1.rst)", source[0])
    source[0] = source[0].replace("](../examples/)", "](/docs/gallery/index.rst)")


def no_search(app: Any, docname: str, source: list[str]) -> None:
    """Records of experiments are long tables: linked, but not among the results of a search."""
    if docname.startswith(("experiments/", "benchmarks/")):
        app.env.metadata[docname]["nosearch"] = ""
        app.env.metadata[docname]["orphan"] = ""


#: What stands beside pages of single functions, by folder: two hundred pages, one navigation.
_NAVIGATION: dict[tuple[Any, ...], str] = {}


def short_navigation(app: Any, page: str, template: str, context: dict, doctree: Any) -> None:
    """Pages of single functions show the main pages beside them, not one another.

    They are two hundred, and the whole tree on each of them was half of the time of a build. What
    they show leads to the same places from all of one folder, so it is made once.
    """
    if page.startswith("docs/api/") and page != "docs/api/index" and "toctree" in context:
        whole = context["toctree"]

        def short(**how: Any) -> str:
            key = (page.rpartition("/")[0], *sorted(how.items()))
            if key not in _NAVIGATION:
                _NAVIGATION[key] = whole(**{**how, "maxdepth": 1})
            return _NAVIGATION[key]

        context["toctree"] = short


def setup(app: Any) -> None:
    app.connect("html-page-context", short_navigation, priority=100)  # before the theme's own
    app.connect("autodoc-skip-member", skip_foreign)
    app.connect("source-read", no_search)
    app.connect("source-read", to_gallery)
