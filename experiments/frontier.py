"""How readable and how good, by the share of words that is given: the frontier of one parameter.

    TOPICFOCUS_DATA=... python experiments/frontier.py [yelp pang_lee imdb] [--splits 5]
    python experiments/frontier.py --table                         # only write FRONTIER.md

The figures of experiments/themes.py (test parts, which nothing is chosen by) with `inclusion_prior`
given instead of chosen. A line of experiments/results/frontier.jsonl for each finished fit; an
interrupted run goes on.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
from themes import TOPICS, fit, load

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "frontier.jsonl"
DATA = ("yelp", "pang_lee", "imdb")
SHARES: tuple[float | str, ...] = (0.05, 0.1, 0.15, 0.2, 0.3, "auto")
COLUMNS = (
    ("score", "RMSE or AUC", "{:.3f}"),
    ("npmi10", "npmi@10", "{:.3f}"),
    ("log_ratio10", "log ratio@10", "{:.3f}"),
    ("diversity10", "diversity@10", "{:.2f}"),
    ("agreement", "agreement", "{:.3f}"),
    ("kept", "words kept", "{:.1%}"),
)


def finished() -> dict[tuple, dict[str, Any]]:
    if not RESULTS.exists():
        return {}
    rows = (json.loads(line) for line in RESULTS.read_text(encoding="utf-8").splitlines() if line)
    return {(r["data"], r["given"], r["split"]): r for r in rows}


def run(names: list[str], splits: int) -> None:
    RESULTS.parent.mkdir(exist_ok=True)
    done = finished()
    for name, split in ((n, s) for n in names for s in range(splits)):
        missing = [share for share in SHARES if (name, share, split) not in done]
        data = load(name, split) if missing else None
        for share in missing:
            assert data is not None
            row = fit(data, "themes", split, TOPICS[name], "test", inclusion_prior=share)
            row = {"data": name, "given": share, "split": split, **row}
            with RESULTS.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
            print(name, share, split, *(f"{row[key]:.3f}" for key, _, _ in COLUMNS), flush=True)


def page() -> str:
    lines = [
        "# Readable and good, by the share of words that is given",
        "",
        "Made by `python experiments/frontier.py`: test parts, 10 topics, means over splits. RMSE",
        "of yelp and pang_lee, AUC of imdb (10,000 training documents). npmi, log ratio and",
        "diversity of the ten first telling words, agreement of twenty.",
        "",
        "| data | share | splits | " + " | ".join(title for _, title, _ in COLUMNS) + " |",
        "|---" * (len(COLUMNS) + 3) + "|",
    ]
    done = finished().values()
    for name, share in ((n, s) for n in DATA for s in SHARES):
        rows = [r for r in done if r["data"] == name and r["given"] == share]
        if rows:
            cells = [form.format(np.mean([r[key] for r in rows])) for key, _, form in COLUMNS]
            lines.append(f"| {name} | {share} | {len(rows)} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", nargs="*", default=list(DATA), help=", ".join(DATA))
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--table", action="store_true", help="only write the page")
    args = parser.parse_args()
    if not args.table:
        run(args.data, args.splits)
    (HERE / "FRONTIER.md").write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
