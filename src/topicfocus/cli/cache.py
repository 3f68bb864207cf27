"""`topicfocus cache`: the counts that `fit --memory` keeps on disk."""

from __future__ import annotations

import argparse

from topicfocus.cli.console import print_json
from topicfocus.workflow import SettingError


def run(args: argparse.Namespace) -> int:
    """List, or remove."""
    from topicfocus.workflow.stored import counts_folder, remove_stores, stores

    if args.action == "list" and args.names:
        raise SettingError("topicfocus cache list takes no names.")
    removing = args.action == "remove"
    found = remove_stores(args.names or None) if removing else stores()
    if args.json:
        print_json({"folder": str(counts_folder()), "removed" if removing else "stores": found})
        return 0
    for store in found:
        size = f"{store['bytes'] / 1e6:,.0f} MB"
        print(f"{store['name']}  {store['documents']:>12,} documents  {size:>10}  {store['of']}")
    total = sum(store["bytes"] for store in found) / 1e6
    done = "removed from" if removing else "in"
    print(f"{len(found)} stores, {total:,.0f} MB, {done} {counts_folder()}")
    return 0
