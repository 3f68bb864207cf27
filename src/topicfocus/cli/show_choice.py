"""What was tried and what comes back, for a person: the frontier, and the stability of a model."""

from __future__ import annotations

from typing import Any

#: Columns of the text picture, where there is room, and at least.
_WIDTH, _LEAST_WIDTH = 25, 7
#: Figures beside the picture: names as they are told, and in a row.
_FIGURES = (("npmi", "npmi"), ("diversity", "diversity"), ("same\nwords", "jaccard"))
#: Words of a line.
_WORDS = 12
#: Pairs of words that stand for each other, in the same place.
_PAIRS = 5


def show_tuning(console: Any, tuning: dict[str, Any] | None) -> None:
    """Every setting with its held-out score, drawn as a text picture beside it."""
    if tuning is None:
        return
    wide = console.options.update(width=1000)
    for n_figures in range(len(_FIGURES), -1, -1):  # as many as there is room for
        figures = _FIGURES[:n_figures]
        table = _settings(tuning, _WIDTH, figures)
        width = _WIDTH - (console.measure(table, options=wide).maximum - console.width)
        if width >= _LEAST_WIDTH:
            break
    table = _settings(tuning, min(max(width, _LEAST_WIDTH), _WIDTH), figures)
    console.print(table)
    failed = [row for row in tuning["rows"] if row["error"]]
    for row in failed:
        share = _number(row, "inclusion_prior")
        console.print(
            f"{row['n_topics']:g} topics, a share of {share}, failed: {row['error']}",
            markup=False,
            highlight=False,
        )
    if failed:
        console.print()


def _settings(tuning: dict[str, Any], width: int, figures: tuple[tuple[str, str], ...]) -> Any:
    """The table, with a picture so many columns wide, and these figures beside it."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    rule = "the fewest topics, then words, within a standard error of the best"
    if tuning["rule"] == "best":
        rule = "the best"
    title = f"Settings on {tuning['folds']} folds of the training part; taken (*): {rule}"
    table = Table(
        title=title,
        box=box.SIMPLE_HEAD,
        title_justify="left",
        title_style="italic",
        collapse_padding=True,
    )
    for name in ("", "topics", "share", "words", tuning["score"], "±"):
        table.add_column(Text(name), justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    for name, _ in figures:
        table.add_column(name, justify="right", no_wrap=True)
    rows = tuning["rows"]
    ends = _ends(rows)
    for row in rows:
        style = "bold" if row["chosen"] else None
        first = [
            "*" if row["chosen"] else "",
            f"{row['n_topics']:g}",
            _number(row, "inclusion_prior"),
        ]
        if row["error"]:
            table.add_row(*map(Text, [*first, "-", "-", "-", "failed"]), style=style)
            continue
        score = [f"{row['words']:.0f}", _number(row, "score", 4), _number(row, "score_se", 2)]
        rest = [_number(row, name, 2) for _, name in figures]
        table.add_row(*map(Text, [*first, *score, _bar(row, ends, width), *rest]), style=style)
    return table


def _ends(rows: list[dict[str, Any]]) -> tuple[float, float]:
    """The lowest and the highest end of all intervals."""
    good = [row for row in rows if not row["error"]]
    low = min(row["score"] - (row["score_se"] or 0.0) for row in good)
    high = max(row["score"] + (row["score_se"] or 0.0) for row in good)
    return low, max(high, low + 1e-12)


def _bar(row: dict[str, Any], ends: tuple[float, float], width: int) -> str:
    """--o-- : the score and a standard error to each side."""
    low, high = ends
    scale = (width - 1) / (high - low)
    error = row["score_se"] or 0.0
    at, left, right = (
        round((x - low) * scale) for x in (row["score"], row["score"] - error, row["score"] + error)
    )
    line = [" "] * width
    line[left : right + 1] = ["─"] * (right + 1 - left)
    line[at] = "●"
    return "".join(line)


def _number(row: dict[str, Any], name: str, digits: int = 3) -> str:
    value = row[name]
    return "-" if value is None else f"{value:.{digits}g}"


def show_stability(console: Any, found: dict[str, Any]) -> None:
    """Which topics and words come back in halves of the documents, and which do not."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    console.print(Text(f"Stability: {found['resamples']} pairs of halves", style="italic"))
    table = Table(box=box.SIMPLE_HEAD)
    for name in ("topic", "cosine", "comes back", f"effect ({found['level']:.0%})"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("top words that always return / that do not")
    for topic in found["topics"]:
        back = [w["word"] for w in topic["words"] if w["returns"] >= found["often"]]
        gone = [w["word"] for w in topic["words"] if w["returns"] < 0.5]
        cells = [
            str(topic["topic"]),
            f"{topic['cosine']:.2f}",
            "yes" if topic["same"] else "no",
            _interval(topic),
            f"{' '.join(back) or 'none'} / {' '.join(gone) or 'none'}",
        ]
        table.add_row(*map(Text, cells))
    console.print(table)
    lines = [
        f"{found['stable_words']} words are kept in {found['often']:.0%} of the halves; at most "
        f"{found['false_words']:.1f} of these are expected to be words that a half keeps no more "
        "often than one drawn at random.",
        f"Two halves without a common document share {found['disjoint_jaccard']:.0%} of their words"
        f" (Jaccard; Nogueira's index over all halves {_text(found['nogueira'])}); their "
        f"predictions correlate by {_text(found['prediction_correlation'])}.",
    ]
    lost = [w["word"] for w in found["words"] if w["kept"] and w["frequency"] < 0.5]
    if lost:
        shown = " ".join(lost[-_WORDS:])
        lines.append(f"{len(lost)} words of the model are kept in less than half of them: {shown}")
    pairs = [
        f"{row['word']} {row['frequency']:.0%} (or {row['others'][0]['word']}: "
        f"{row['others'][0]['either']:.0%})"
        for row in found.get("substitutes", [])[:_PAIRS]
    ]
    if pairs:
        lines.append(f"Words that stand for each other, and how often kept: {', '.join(pairs)}")
    console.print(Text("\n".join(lines) + "\n"))


def _interval(topic: dict[str, Any]) -> str:
    """Of one linear predictor; those of several classes are in metrics.json."""
    low, high = topic["low"], topic["high"]
    if isinstance(low, list) or low is None:
        return "-"
    return f"{low:+.2g} to {high:+.2g}"


def _text(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"
