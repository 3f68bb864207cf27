"""The result of a fit for a person. Words and labels come from strangers: never as markup."""

from __future__ import annotations

from typing import Any

import numpy as np
from rich import box
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from topicfocus.cli.console import printable_values, result_console, with_labels
from topicfocus.workflow.write import joined

#: Figures: name, how it is printed, and whether more is better.
FIGURES = {
    "rmse": ("RMSE", False),
    "r2": ("R²", True),
    "deviance": ("deviance", False),
    "auc": ("AUC", True),
    "accuracy": ("accuracy", True),
    "log_loss": ("log loss", False),
}
#: What the linear predictor is, by the kind of target.
_SCALES = {
    "real": "target",
    "count": "log of the count",
    "ordinal": "position of the level",
    "binary": "log odds",
    "classes": "score of a class",
}


#: With more topics than this each gets a line or two; metrics.json has all words.
_MANY_TOPICS = 8
#: Above words, by their order.
_ORDERS = {
    "distinctive": "words, most distinctive first",
    "probability": "words, most probable first",
    "relevance": "words, most relevant first",
    "frex": "words, most frequent and exclusive first",
}
#: Words that are shown for what they change, of each direction.
_STRONGEST = 6
#: Before the dropped words that a topic goes with.
_WITH = "with: "
#: With fewer columns than this no table has room for words: lines instead.
_NARROW = 72
#: Longest name of a class, twice that from _WIDE columns on.
_CLASS_WIDTH, _WIDE = 20, 100


def show(result: dict[str, Any]) -> None:
    """Topics, words, held-out figures."""
    console, result = result_console(), with_labels(printable_values(result))
    documents, words = result["documents"], result["words"]
    console.print()
    console.print(
        f"[bold]{result['model']}[/] on {documents['train']:,} documents, {words['words']:,} words"
        f": {result['steps']} steps in {result['seconds']:.1f} s\n"
    )
    if console.width < _NARROW:
        _narrow(console, result)
        return
    if "tuning" in result or "stability" in result:
        show_tuning(console, result.get("tuning"))
    _topics(console, result)
    if "stability" in result:
        show_stability(console, result["stability"])
    _covariates(console, result)
    _words(console, words)
    _truth(console, result.get("truth"))
    _word_effects(console, result)
    _figures(console, result)
    _completeness(console, result)
    _reliability(console, result)


def _narrow(console: Any, result: dict[str, Any]) -> None:
    """The same without tables, for the width of a hand."""

    def section(title: str, lines: list[tuple[str, str]]) -> None:
        console.print(Text(title, style="italic"))
        for first, below in lines:
            console.print(Text(first, style="bold"))
            console.print(Padding(Text(below), (0, 0, 0, 2)))
        console.print()

    rows, cells = result["topics"], _topic_cells(result, _CLASS_WIDTH)
    section(
        _topics_title(result),
        [(" ".join(c[:-1]), joined(r["words"])) for r, c in zip(rows, cells, strict=True)],
    )
    covariates = [
        (row["name"], f"{np.max(row['coef']) * row['std']:+.3g}")
        for row in result.get("covariates") or []
    ]
    if covariates:
        section("Covariates, by what one standard deviation more adds", covariates)
    words = result["words"]
    if words["selects"]:
        kept = (f"{words['kept']:,} words kept", " ".join(words["kept_examples"]))
        dropped = (f"{words['dropped']:,} dropped", " ".join(words["dropped_examples"]))
        section("Words", [kept, dropped])
    figures = [
        (model, ", ".join(f"{FIGURES[name][0]} {_number(v)}" for name, v in values.items()))
        for model, values in result["held_out"].items()
    ]
    if figures:
        section(f"On {result['documents']['test']:,} held-out documents", figures)
    _completeness(console, result)


def _table(title: str) -> Any:

    return Table(title=title, box=box.SIMPLE_HEAD, title_justify="left", title_style="italic")


def _topics(console: Any, result: dict[str, Any]) -> None:
    rows = result["topics"]
    heads = _heads(result)
    table = _table("")
    for i, head in enumerate(heads):
        style = "bold" if i == 0 else "dim" if head == "topic" else None
        justify = "left" if head == "class" else "right"
        table.add_column(Text(head), justify=justify, style=style, no_wrap=True)
    table.add_column(_ORDERS[result.get("word_order", "probability")])
    longest = _CLASS_WIDTH if console.width < _WIDE else 2 * _CLASS_WIDTH
    lines = _topic_cells(result, longest)
    many, line = len(rows) > _MANY_TOPICS, _room(console.width, heads, lines)
    # Two lines, where one would hold two or three words.
    room = (line if console.width >= _WIDE else 2 * line - 10) if many else None
    if many and console.width < _WIDE:
        line = 0
    for row, before, cells in zip(rows, [None, *rows], lines, strict=False):
        if before is not None and heads[0] == "class" and row["class"] == before["class"]:
            cells = ["", *cells[1:]]  # the class is the one above
        words = row["words"] if room is None else _fitting(row["words"], room)
        table.add_row(*map(Text, cells), _words_cell(words, row.get("context"), line))
    console.print(Text(_topics_title(result), style="italic"))
    console.print(table)
    if heads[0] == "class":
        own = {str(row["class"]) for row in rows}
        others = [str(c) for c in result["target"]["classes"] if str(c) not in own]
        if others:
            # Told apart by mixes of topics, if at all.
            console.print(Text(f"Raised most by no topic: {', '.join(others)}.\n"))


def _target_name(result: dict[str, Any]) -> str:
    return str(result["settings"].get("target") or "the target")


def _heads(result: dict[str, Any]) -> list[str]:
    """Above the columns of the table of topics but the last, which has the words."""
    if _of_classes(result):
        return ["class", "P", "share", "topic"]
    kind, name = result["target"]["kind"], _target_name(result)
    if kind == "binary":
        about = _cut(str(result["topics"][0]["class"]), _CLASS_WIDTH // 2)
        return [f"P({about})", "points", "share", "topic"]
    return [_cut(name, _CLASS_WIDTH // 2), "change", "share", "topic"]


def _of_classes(result: dict[str, Any]) -> bool:
    return result["target"]["kind"] == "classes" and "changes" in result["topics"][0]


def _topics_title(result: dict[str, Any]) -> str:
    """Above the table of topics: what the effects in it are."""
    name = _target_name(result)
    if "class" in result["topics"][0]:
        what = "the probability of the class that the topic raises most"
        if not _of_classes(result):
            what = f"the probability of {result['topics'][0]['class']}"
    else:
        what = {"count": f"the expected {name}", "ordinal": f"the expected {name}"}.get(
            result["target"]["kind"], f"the predicted {name}"
        )
    beside = ["covariates"] if result.get("covariates") else []
    beside += ["exposure"] if result["settings"].get("exposure") else []
    more = f", {' and '.join(beside)} average" if beside else ""
    low, high = result.get("effects", {}).get("percentiles", (10, 90))
    which = "held-out" if result["documents"]["test"] else "training"
    return (
        f"Topics, by {what} in a typical document{more}, as the topic's part of it goes from the "
        f"{low:g}th to the {high:g}th percentile of the {which} documents"
    )


def _room(width: int, heads: list[str], lines: list[list[str]]) -> int:
    """Columns that are left for words."""
    widths = [max(map(len, column)) for column in zip(heads, *lines, strict=True)]
    # Of its width a table takes two for every column, one between them, and its two ends.
    return width - sum(one + 3 for one in widths) - 4


def _topic_cells(result: dict[str, Any], longest: int) -> list[list[str]]:
    """All cells of every topic but its words: "3.31 → 4.39", "+1.08" and so on."""
    rows, classes = result["topics"], _of_classes(result)
    shown = percentage if "class" in rows[0] else _decimals([row["change"] for row in rows])
    out = []
    for row in rows:
        cells = [f"{shown(row['low'])} → {shown(row['high'])}"]
        if classes:
            cells = [_cut(str(row["class"]), longest), *cells]
        elif "class" in row:  # in percentage points
            cells.append(f"{100 * row['change']:+.0f}")
        else:
            cells.append(_signed(shown(row["change"])))
        out.append([*cells, f"{row['share']:.0%}", str(row["topic"])])
    return out


def percentage(p: float | None) -> str:
    """A probability as a person reads it, never rounded to none or all."""
    if p is None:
        return "-"
    if 0 < p < 0.005:
        return "<1%"
    return ">99%" if 0.995 < p < 1 else f"{p:.0%}"


def _decimals(changes: list[float | None]) -> Any:
    """A way to write numbers so that the largest change has three digits."""
    largest = max((abs(change) for change in changes if change), default=1.0)
    places = int(np.clip(2 - np.floor(np.log10(largest)), 0, 9))

    def shown(value: float | None) -> str:
        return "-" if value is None else f"{round(value, places) + 0.0:,.{places}f}"

    return shown


def _signed(number: str) -> str:
    return number if number.startswith("-") else f"+{number}"


def _cut(name: str, longest: int) -> str:
    return name if len(name) <= longest else f"{name[: longest - 1]}…"


def _words_cell(words: list[str], context: list[str] | None, line: int) -> Any:
    """A topic's own words and, dim on a line below, those that it goes with, as many as fit."""
    cell = Text(joined(words))
    if context and line:
        cell.append(f"\n{_WITH}{joined(_fitting(context, line - len(_WITH)))}", style="dim")
    return cell


def _fitting(words: list[str], room: int) -> list[str]:
    """The first words that fit into so many columns, two at least."""
    n = 0
    while n < len(words) and (n < 2 or len(joined(words[: n + 1])) <= room):
        n += 1
    return words[:n]


def _covariates(console: Any, result: dict[str, Any]) -> None:
    """What a standard deviation more of each adds; of more classes, to which it adds most."""
    rows = result.get("covariates")
    if not rows:
        return
    console.print(Text("Covariates, by what one standard deviation more adds", style="italic"))
    table = _table("")
    table.add_column("covariate")
    table.add_column("mean", justify="right", no_wrap=True)
    table.add_column("std", justify="right", no_wrap=True)
    table.add_column(_SCALES[result["target"]["kind"]], justify="right")
    for row in sorted(rows, key=lambda row: -np.max(np.abs(row["coef"])) * row["std"]):
        cell = Text(f"{np.max(row['coef']) * row['std']:+.3g}")
        if "class" in row:
            cell.append(f" {row['class']}")
        table.add_row(Text(row["name"]), f"{row['mean']:.4g}", f"{row['std']:.4g}", cell)
    console.print(table)


def _words(console: Any, words: dict[str, Any]) -> None:
    if not words["selects"]:
        console.print(f"Words: all {words['words']:,} are in the topics.\n")
        return
    table = _table("Words")
    table.add_column("")
    table.add_column("words", justify="right", no_wrap=True)
    table.add_column("tokens", justify="right", no_wrap=True)
    table.add_column("")
    share = words["kept_token_share"]
    kept, dropped = (joined(words[f"{which}_examples"]) for which in ("kept", "dropped"))
    table.add_row("kept", f"{words['kept']:,}", f"{share:.1%}", Text(f"most evidence: {kept}"))
    table.add_row(
        "dropped", f"{words['dropped']:,}", f"{1 - share:.1%}", Text(f"most frequent: {dropped}")
    )
    console.print(table)


def _truth(console: Any, truth: dict[str, Any] | None) -> None:
    """For simulated reviews: which of the kept words are relevant."""
    if truth is not None:
        console.print(
            f"In truth {truth['relevant']} of the words are relevant: {truth['both']} of the "
            f"{truth['kept']} kept words (precision {truth['precision']:.3f}, recall "
            f"{truth['recall']:.3f}).\n"
        )


def _word_effects(console: Any, result: dict[str, Any]) -> None:
    """Words whose first occurrence changes a typical document most."""
    words = result["words"]
    if not words.get("raises") and not words.get("lowers"):
        return
    first = result["topics"][0]
    name = f"P({first['class']})" if "class" in first else _target_name(result)
    unit = ", in percentage points" if "class" in first else ""
    table = _table(f"What the first occurrence of a word changes in {name}, on average{unit}")
    table.add_column("")
    table.add_column("words, strongest first")
    rows = [row for side in ("raises", "lowers") for row in words.get(side, [])]
    shown = _decimals([row["change"] for row in rows])
    if "class" in first:

        def shown(change: float) -> str:
            return f"{100 * change:.1f}"

    for side in ("raises", "lowers"):
        listed = [f"{row['word']} {_signed(shown(row['change']))}" for row in words.get(side, [])]
        table.add_row(side, Text(", ".join(listed[:_STRONGEST]) or "none"))
    console.print(table)


def _figures(console: Any, result: dict[str, Any]) -> None:
    held_out = result["held_out"]
    if not held_out:
        console.print("Fitted to all documents: there are no held-out metrics.\n")
        return
    table = _table(f"On {result['documents']['test']:,} held-out documents")
    table.add_column("model")
    names = list(next(iter(held_out.values())))
    for name in names:
        title, more = FIGURES[name]
        table.add_column(f"{title} {'↑' if more else '↓'}", justify="right", no_wrap=True)
    for i, (model, values) in enumerate(held_out.items()):
        style = "bold" if i == 0 else None
        table.add_row(model, *(_number(values[name]) for name in names), style=style)
    console.print(table)


def _completeness(console: Any, result: dict[str, Any]) -> None:
    """How much of what the text tells about the target the topics capture."""
    found = result.get("completeness")
    if found is None:
        return
    which = "held-out" if found["documents"] == "test" else "validation"
    if not found["remainder"]:
        console.print(
            "The remainder does not predict validation documents better, so its weight is zero: "
            "all that is used of the text is in the topics.\n",
        )
    elif found["share"] is not None:
        console.print(
            f"Completeness: the topics capture {found['share']:.0%} ± {found['error']:.0%} of what "
            f"the text tells about {_target_name(result)} (deviance explained in {which} documents: "
            f"{found['topics']:.3f} by the topics, {found['both']:.3f} with the remainder).\n",
            markup=False,
        )


def _reliability(console: Any, result: dict[str, Any]) -> None:
    """How far probabilities, or intervals, can be believed."""
    found = result.get("reliability", {})
    if found.get("calibration_error") is not None:
        off = 100 * found["calibration_error"]
        about = found["about"]
        about = about if about.startswith("the class") else f"P({about})"
        console.print(
            f"Probabilities of held-out documents ({about}) are off by {off:.1f} percentage "
            "points on average.\n",
            markup=False,
        )
    elif "coverage" in found:
        share = found["coverage"]["80%"]
        held = "-" if share is None else f"{share:.0%}"
        kind = result["target"]["kind"]
        whole = {"count": "whole numbers", "ordinal": "levels"}.get(kind)
        more = f" They end at {whole}, and so hold more than 80% of small ones." if whole else ""
        console.print(f"80% intervals of predictions hold {held} of the held-out targets.{more}\n")


def _number(value: float | None) -> str:
    if value is None:  # not a number
        return "-"
    return f"{round(value, 3) + 0.0:.3f}" if abs(value) < 1000 else f"{value:.4g}"  # no -0.000


# ---- tune and stability --------------------------------------------------------------------------


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
        share = _digits(row, "inclusion_prior")
        console.print(
            f"{row['n_topics']:g} topics, a share of {share}, failed: {row['error']}",
            markup=False,
            highlight=False,
        )
    if failed:
        console.print()


def _settings(tuning: dict[str, Any], width: int, figures: tuple[tuple[str, str], ...]) -> Any:
    """The table, with a picture so many columns wide, and these figures beside it."""

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
            _digits(row, "inclusion_prior"),
        ]
        if row["error"]:
            table.add_row(*map(Text, [*first, "-", "-", "-", "failed"]), style=style)
            continue
        score = [f"{row['words']:.0f}", _digits(row, "score", 4), _digits(row, "score_se", 2)]
        rest = [_digits(row, name, 2) for _, name in figures]
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


def _digits(row: dict[str, Any], name: str, digits: int = 3) -> str:
    value = row[name]
    return "-" if value is None else f"{value:.{digits}g}"


def show_stability(console: Any, found: dict[str, Any]) -> None:
    """Which topics and words come back in halves of the documents, and which do not."""

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
