"""Show the result of a fit, and the explanation of a text, on a terminal.

Words and labels come from strangers: never as markup.
"""

from __future__ import annotations

import shlex
from typing import Any

import numpy as np
from rich import box
from rich.table import Table
from rich.text import Text

from topicfocus.cli.console import as_options, printable, result_console
from topicfocus.text.codes import joined
from topicfocus.workflow import sentences

#: Words of a line.
_WORDS = 12
#: Pairs of interchangeable words, in the same place.
_PAIRS = 5
#: Dropped words of an explained text, and its most probable classes, of more than two.
_LISTED, _CLASSES = 10, 3


def show(summary: dict[str, Any], folder: Any = None) -> None:
    """Topics, words, held-out metrics; and what to do next with the folder, if there is one."""
    console = result_console()
    summary = sentences.with_labels(sentences.mapped(summary, printable))
    console.print()
    _lines(console, [sentences.headline(summary)], style="bold")
    if "tuning" in summary:
        show_tuning(console, summary["tuning"])
    _main_sentences(console, summary)
    _topics(console, summary)
    if "stability" in summary:
        show_stability(console, summary["stability"])
    covariates = sentences.covariate_lines(summary)
    if covariates:
        scale = sentences.SCALES[summary["target"]["kind"]]
        title = f"Covariates: what one standard deviation more adds to {scale}"
        _section(console, title, covariates)
    title = sentences.terms(summary).capitalize()
    _section(console, title, [*sentences.word_lines(summary), *_truth(summary.get("truth"))])
    _metrics(console, summary)
    if folder is not None:
        _next_steps(console, folder, summary)


def _lines(console: Any, lines: list[str], indent: int = 0, style: str = "") -> None:
    """Lines that are folded between words to the width of the terminal."""
    for line in lines:
        _print(console, Text(as_options(line), style=style), indent)


def _print(console: Any, text: Text, indent: int = 0) -> None:
    for line in text.wrap(console, console.width - indent):
        console.print(Text(" " * indent).append(line), soft_wrap=True)


def _section(console: Any, title: str, lines: list[str]) -> None:
    console.print()
    _lines(console, [title], style="italic")
    _lines(console, lines, indent=2)


def _main_sentences(console: Any, summary: dict[str, Any]) -> None:
    console.print()
    for before, words, after in sentences.main_sentences(summary):
        _print(console, Text.assemble(before, (words, "bold"), after))
    _lines(console, [sentences.quality_sentence(summary)])


def _topics(console: Any, summary: dict[str, Any]) -> None:
    """The numbers of each topic on a line, and below it its words, all of them."""
    title, topics = sentences.topic_lines(summary)
    _section(console, sentences.topics_title(summary), [])
    console.print()
    _lines(console, [title], style="dim")
    for head, words, context in topics:
        _lines(console, [head], style="bold")
        _lines(console, [words], indent=7)
        if context:
            _lines(console, [f"often with (dropped): {context}"], indent=7, style="dim")
    remarks = sentences.topic_remarks(summary)
    if remarks:
        console.print()
        _lines(console, remarks)


def _truth(truth: dict[str, Any] | None) -> list[str]:
    """For simulated reviews: which of the kept words are relevant."""
    if truth is None:
        return []
    return [
        f"In truth {truth['relevant']} of the words are relevant: {truth['both']} of the "
        f"{truth['kept']} kept words (precision {truth['precision']:.3f}, recall "
        f"{truth['recall']:.3f})."
    ]


def _metrics(console: Any, summary: dict[str, Any]) -> None:
    cells = sentences.metric_cells(summary)
    if not cells:
        title = "Fitted to all documents: there are no held-out metrics."
        _section(console, title, [])
        return
    _section(console, f"On {summary['documents']['test']:,} held-out documents", [])
    table = sentences.aligned(cells, left=(0,))
    if len(table[0]) + 2 > console.width:  # a line for each model
        names = cells[0][1:]
        table = [""] + [
            f"{model}: {', '.join(map(' '.join, zip(names, values, strict=True)))}"
            for model, *values in cells[1:]
        ]
    for i, line in enumerate(table):
        _lines(console, [line], indent=2, style="bold" if i == 1 else "")
    _lines(console, [*sentences.completeness_lines(summary), sentences.reliability_line(summary)])


def _next_steps(console: Any, folder: Any, summary: dict[str, Any]) -> None:
    place, settings = shlex.quote(str(folder)), summary["settings"]
    steps = [
        f"topicfocus show {place}  (this again)",
        f"open {shlex.quote(f'{folder}/explorer.html')} in a browser: read topics and documents, "
        f"rename and merge topics, drop {sentences.terms(summary)}",
    ]
    if settings.get("text"):
        text = settings["separator"].join(["CODE"] * 2) if settings.get("separator") else "..."
        named = ",".join(f"{name}=..." for name in settings.get("covariates") or ())
        covariates = f" --covariates {shlex.quote(named)}" if named else ""
        steps[:0] = [
            f'topicfocus explain {place} --text "{text}"{covariates}  (what its '
            f"{sentences.terms(summary)} add)",
            f"topicfocus predict {place} NEW.csv --topics  (predictions, topics)",
        ]
    _section(console, "Next", steps)


# ---- tune and stability --------------------------------------------------------------------------


def show_tuning(console: Any, tuning: dict[str, Any]) -> None:
    """Every setting with its validation score."""
    rule = "the fewest topics, then words, within one standard error of the best"
    if tuning["rule"] == "best":
        rule = "the best score"
    title = f"Settings on {tuning['folds']} folds of the training set; chosen (*): {rule}"
    _section(console, title, [])
    table = Table(box=box.SIMPLE_HEAD, collapse_padding=True)
    heads = ("", "topics", "inclusion", "words", tuning["score"], "±", "npmi", "diversity")
    for name in (*heads, "same words"):
        table.add_column(Text(name), justify="right", overflow="fold")
    rows = tuning["rows"]
    score = sentences.same_decimals([row["score"] for row in rows], 4)
    for row in rows:
        first = ["*" if row["chosen"] else "", f"{row['n_topics']:g}", _two(row, "inclusion_prior")]
        if row["error"]:
            cells = [*first, "failed"]
        else:
            words, measured = f"{row['words']:.0f}", ("npmi", "diversity", "jaccard")
            cells = [*first, words, score(row["score"]), score(row["score_se"])]
            cells += [_two(row, name) for name in measured]
        table.add_row(*map(Text, cells), style="bold" if row["chosen"] else None)
    console.print(table)
    _lines(console, [*_failures(rows), *_edges(tuning)])


def _two(row: dict[str, Any], name: str) -> str:
    value = row.get(name)
    return "-" if value is None else f"{value:.2f}"


def _failures(rows: list[dict[str, Any]]) -> list[str]:
    return [
        f"{row['n_topics']:g} topics, inclusion {_two(row, 'inclusion_prior')}, failed: "
        f"{row['error']}"
        for row in rows
        if row["error"]
    ]


def _edges(tuning: dict[str, Any]) -> list[str]:
    """Advice where the chosen setting is at the edge of the grid, beyond which may be better."""
    out = []
    names = (("n_topics", "number of topics", "topics"), ("inclusion_prior", "inclusion", "shares"))
    for name, called, option in names:
        tried = sorted({row[name] for row in tuning["rows"] if row.get(name) is not None})
        taken = tuning["chosen"].get(name)
        if len(tried) > 1 and taken in (tried[0], tried[-1]):
            which, more = ("smallest", "smaller") if taken == tried[0] else ("largest", "larger")
            out.append(
                f"The {which} {called} of the grid was chosen: try {more} values too (--{option})."
            )
    return out


def show_stability(console: Any, found: dict[str, Any]) -> None:
    """Which topics and words replicate in halves of the documents, and which do not."""
    _section(console, f"Stability: {found['resamples']} pairs of halves", [])
    often = found["often"]
    for topic in found["topics"]:
        same = "replicates" if topic["same"] else "does not replicate"
        always = [w["word"] for w in topic["words"] if w["returns"] >= often]
        rarely = [w["word"] for w in topic["words"] if w["returns"] < 0.5]
        line = f"Topic {topic['topic']} {same} (mean cosine {topic['cosine']:.2f}{_spread(topic)})"
        _lines(console, [line], style="bold")
        words = f"top words in {often:.0%} of the halves: {', '.join(always) or 'none'}"
        if rarely:
            words += f"; in less than half of them: {', '.join(rarely)}"
        _lines(console, [words], indent=4)
    _lines(console, _stable_words(found))


def _stable_words(found: dict[str, Any]) -> list[str]:
    n, often = found["stable_words"], found["often"]
    lines = [
        f"{n} words are kept in {often:.0%} of the halves.",
        f"Two halves without a common document share {found['disjoint_jaccard']:.0%} of their words"
        f" (Jaccard; Nogueira's index over all halves {_number(found['nogueira'])}); their "
        f"predictions correlate by {_number(found['prediction_correlation'])}.",
    ]
    lost = [w["word"] for w in found["words"] if w["kept"] and w["frequency"] < 0.5]
    if lost:
        shown = ", ".join(lost[-_WORDS:])
        some = f", such as {shown}" if len(lost) > _WORDS else f": {shown}"
        lines.append(f"{len(lost)} words of the model are kept in less than half of them{some}")
    pairs = [
        f"{row['word']} {row['frequency']:.0%} (or {row['others'][0]['word']}: "
        f"{row['others'][0]['either']:.0%})"
        for row in found.get("substitutes", [])[:_PAIRS]
    ]
    if pairs:
        lines.append(f"Interchangeable words, and how often they are kept: {', '.join(pairs)}")
    return lines


def _spread(topic: dict[str, Any]) -> str:
    """Of one linear predictor; those of several classes are in metrics.json."""
    mean, spread = topic["difference"], topic["spread"]
    if isinstance(mean, list):
        return ""
    number = sentences.same_decimals([mean, spread])
    return (
        f"; difference in halves {sentences.signed(number(mean))}, "
        f"standard deviation {number(spread)}"
    )


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


# ---- the explanation of a text -------------------------------------------------------------------


def show_explanation(result: dict[str, Any], name: str) -> None:
    """For a person: the text with its words coloured (or marked), then amounts that add up."""
    console = result_console()
    result = sentences.with_labels(sentences.mapped(result, printable))
    name = printable(name)
    console.print(_first_line(result, name))
    if result["few_words"]:
        console.print(Text(_few_words(result), style="yellow"))
    console.print()
    console.print(coloured(result, console.is_terminal and not console.no_color))
    console.print()
    console.print(_amounts(result))


def _few_words(result: dict[str, Any]) -> str:
    n = result["relevant_words"]
    verb = "is" if n == 1 else "are"
    which = "none of its words is" if n == 0 else f"only {n} of its words {verb}"
    dropped = result["dropped_words"]
    known = ""
    if dropped:
        shown = joined([*dropped[:_LISTED], *["..."] * (len(dropped) > _LISTED)])
        known = f" Known, but not relevant to the target: {shown}."
    others = ["its covariates"] if result["covariates"] else []
    others += ["the remainder of the text"] if result["remainder"] else []
    if n == 0:
        given = f", given {' and '.join(others)}" if others else ""
        basis = f"is that of a text without topic words{given}"
    else:
        own = "this word" if n == 1 else "these words"
        basis = f"depends only on {' and '.join([own, *others])}"
    return f"Few relevant words: {which} in the topics, so the prediction {basis}.{known}"


def _first_line(result: dict[str, Any], name: str) -> Any:
    """The prediction: a number with its interval, or the likeliest classes."""
    prediction = result["prediction"]
    line = Text(f"{name}: ")
    if "low" in prediction:
        ends = prediction["low"], prediction["high"]
        number = sentences.same_decimals([prediction["prediction"], *ends])
        low, high = (str(end) if isinstance(end, int) else number(end) for end in ends)
        where = f"from {low} to {high}" if low != high else low
        line.append(number(prediction["prediction"]), style="bold")
        return line.append(f", probably (80%) {where}", style="dim")
    line.append(str(prediction["prediction"]), style="bold")
    likely = sorted(
        (
            (p, key.removeprefix("probability_"))
            for key, p in prediction.items()
            if key.startswith("probability_")
        ),
        reverse=True,
    )
    shown = likely if len(likely) == 2 else likely[:_CLASSES]
    for p, label in shown:
        line.append(f"   P({label}) = {sentences.percentage(p)}", style="dim")
    return line


def coloured(result: dict[str, Any], colours: bool) -> Any:
    """The text: green words raise the prediction and red ones lower it, the more the stronger.

    Without a terminal, or with NO_COLOR, the amounts stand behind the words instead.
    """
    text, out, end = result["text"].rstrip(), Text(), 0
    largest = max((abs(s["amount"]) for s in result["spans"]), default=1.0) or 1.0
    for span in result["spans"]:
        if span["stop"] > len(text):
            break
        out.append(text[end : span["start"]])
        word = text[span["start"] : span["stop"]]
        amount, end = span["amount"], span["stop"]
        if not colours:
            out.append(f"{word}[{amount:+.2g}]")
            continue
        colour = "green" if amount > 0 else "red"
        strong = abs(amount) / largest
        # Underlined as well, for those who do not tell red from green.
        style = f"bold reverse {colour}" if strong > 0.66 else f"bold {colour}"
        style = style if strong > 0.25 else colour
        out.append(word, style=f"{style} underline" if amount < 0 else style)
    out.append(text[end:])
    return out


def _amounts(result: dict[str, Any]) -> Any:
    table = Table(
        title=Text(f"What adds to the {result['explained']}"),
        box=box.SIMPLE_HEAD,
        show_header=False,
        title_justify="left",
        title_style="italic",
    )
    table.add_column("")
    table.add_column("", justify="right", no_wrap=True)
    number = sentences.explanation_number(result)
    rows, topics = sentences.explanation_rows(result)
    table.add_row(rows[0][0], sentences.signed(number(result["base"])))
    _add_rows(table, rows[1:], number)
    table.add_section()
    table.add_row("together", sentences.signed(number(result["total"])), style="bold")
    if not np.isclose(result["total"], result["after"]):  # on another scale than the target
        what, shown = (
            ("probability", sentences.percentage) if result["probability"] else ("expected", _value)
        )
        ends = f"{shown(result['before'])} → {shown(result['after'])}"
        table.add_row(f"{what}, without words and with them", ends, style="bold")
    table.add_section()
    table.add_row("what the words add, by topic", "")
    _add_rows(table, topics, number)
    return table


def _add_rows(table: Any, rows: list[sentences.Row], number: Any) -> None:
    for name, amount in rows:
        if amount is None:
            table.add_row(Text(name, style="dim"), "")
        else:
            colour = "green" if amount > 0 else "red"
            table.add_row(Text(name), Text(sentences.signed(number(amount)), style=colour))


def _value(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, (float, np.floating)) else str(value)
