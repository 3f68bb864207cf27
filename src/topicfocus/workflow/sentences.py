"""A summary of a fit as sentences and lines of text: for terminals, notebooks and `print`.

Everything is made of the plain data of metrics.json, so that a saved result is shown like a new
one. Words and labels come from texts of unknown origin: callers escape them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from topicfocus.config import setting
from topicfocus.text.codes import joined, readable, short_names

#: Metrics: name, and whether more is better.
METRICS = {
    "rmse": ("RMSE", False),
    "r2": ("R²", True),
    "deviance": ("deviance", False),
    "auc": ("AUC", True),
    "accuracy": ("accuracy", True),
    "log_loss": ("log loss", False),
}
#: Words of a topic that stand for it in a sentence, and sentences of each direction.
_WORDS, _SENTENCES = 3, 2
#: A topic whose difference is a smaller fraction of the largest has hardly any.
_NOTABLE = 0.05
#: Words or topics of an explanation, and terms of its remainder; smaller amounts are rounding.
_LISTED, _TERMS, _ROUNDING = 10, 6, 1e-9
#: Words whose first occurrence changes the prediction most, of each direction.
_STRONGEST = 6


#: Parts of a summary that contain words.
_PARTS = ("topics", "words", "stability", "remainder", "dropped_words")


class Sentence(NamedTuple):
    """A sentence with words of a topic inside, which may be set in another face."""

    before: str
    words: str
    after: str

    def __str__(self) -> str:
        return "".join(self)


# ---- numbers -------------------------------------------------------------------------------------


def percentage(p: float | None) -> str:
    """A probability as a person reads it, never rounded to none or all."""
    if p is None:
        return "-"
    if 0 < p < 0.005:
        return "<1%"
    return ">99%" if 0.995 < p < 1 else f"{p:.0%}"


def same_decimals(values: Sequence[float | None], digits: int = 3) -> Callable[[Any], str]:
    """A way to write numbers with the same decimals, so that the largest has `digits` digits."""
    largest = max((abs(value) for value in values if value), default=1.0)
    places = int(np.clip(digits - 1 - np.floor(np.log10(largest)), 0, 9))

    def written(value: float | None) -> str:
        return "-" if value is None else f"{round(value, places) + 0.0:,.{places}f}"

    return written


def signed(number: str) -> str:
    """A number with its sign."""
    return number if number.startswith("-") else f"+{number}"


def metric(value: float | None) -> str:
    """A metric with three decimals."""
    if value is None:
        return "-"
    return f"{round(value, 3) + 0.0:.3f}" if abs(value) < 1000 else f"{value:.4g}"  # no -0.000


# ---- words ---------------------------------------------------------------------------------------


def mapped(value: Any, change: Callable[[str], str]) -> Any:
    """Plain data with a function of all its strings, keys included."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {mapped(k, change): mapped(v, change) for k, v in value.items()}
    if isinstance(value, list):
        return [mapped(v, change) for v in value]
    return value


def with_labels(summary: dict[str, Any]) -> dict[str, Any]:
    """The summary, or an explanation, with readable labels instead of codes with several levels."""
    parts = {name: summary[name] for name in _PARTS if name in summary}
    found: dict[str, str] = {}
    mapped(parts, lambda name: found.setdefault(name, name))
    classes = summary.get("target", {}).get("classes") or ()
    names = [name for name in found if name not in classes]
    labels = dict(zip(names, readable(names), strict=True))
    return {**summary, **mapped(parts, lambda name: labels.get(name, name))}


def terms(summary: dict[str, Any]) -> str:
    """What the documents consist of: words or codes."""
    return "codes" if summary["settings"].get("separator") else "words"


# ---- topics --------------------------------------------------------------------------------------


def target_name(summary: dict[str, Any]) -> str:
    """The column of the target."""
    return str(summary["settings"].get("target") or "the target")


def called(topic: dict[str, Any]) -> str:
    """The name of a topic that was given one, or its first words."""
    names = short_names(topic["words"], topic["words"], _WORDS)
    return topic.get("name") or names or "none of the words"


def topic_label(topic: dict[str, Any]) -> str:
    """The number of a topic, its name if it was given one, and its words."""
    name = f"{topic['name']}: " if topic.get("name") else ""
    return f"{topic['topic']}: {name}{joined(topic['words'])}"


def headline(summary: dict[str, Any]) -> str:
    """Model, topics, words and documents in one line."""
    words, n_topics = summary["words"], len(summary["topics"])
    kept = f"{words['kept']:,} of " if words["selects"] else ""
    return (
        f"{summary['model']}: {n_topics} {'topic' if n_topics == 1 else 'topics'}, "
        f"{kept}{words['words']:,} {terms(summary)}, {summary['documents']['train']:,} documents; "
        f"fitted in "
        f"{summary['seconds']:.1f} s"
    )


def main_sentences(summary: dict[str, Any]) -> list[Sentence]:
    """What documents with much of the strongest topics have: two sentences of each direction."""
    rows = summary["topics"]
    strong = [row for row in rows if not hardly_any(row, rows)]
    strong.sort(key=lambda row: -difference(row))
    if _is_multiclass(summary):
        chosen = strong[: 2 * _SENTENCES]
    else:
        up = [row for row in strong if difference(row) > 0][:_SENTENCES]
        down = [row for row in strong if difference(row) < 0][-_SENTENCES:]
        chosen = [*up, *down]
    number = same_decimals([row["change"] for row in rows])
    return [_sentence(row, summary, number) for row in chosen]


def difference(row: dict[str, Any]) -> float:
    """The difference that belongs to a topic in held-out documents; without any, the predicted."""
    return row["change"] if row.get("estimate") is None else row["estimate"]


def hardly_any(row: dict[str, Any], rows: list[dict[str, Any]]) -> bool:
    """Whether a topic makes hardly any difference: a small one, or one that may be none."""
    largest = max(abs(difference(other)) for other in rows)
    unsure = row.get("lower") is not None and row["lower"] <= 0 <= row["upper"]
    return unsure or abs(difference(row)) <= _NOTABLE * largest


def _is_multiclass(summary: dict[str, Any]) -> bool:
    return "changes" in summary["topics"][0]


def _sentence(
    row: dict[str, Any], summary: dict[str, Any], number: Callable[[Any], str]
) -> Sentence:
    """The held-out difference with its interval, and the two predictions."""
    change, is_class = difference(row), "class" in row
    ends = percentage if is_class else number
    predicted = f"{ends(row['low'])} → {ends(row['high'])}"
    written = _points if is_class else lambda value: signed(number(value))
    if row.get("lower") is not None:
        interval = f"95% interval {written(row['lower'])} to {written(row['upper'])}"
        typical = " for a typical document" if is_class else ""
        predicted = f"{interval}; the model predicts {predicted}{typical}"
    if is_class:
        more = "more" if change > 0 else "less"
        kind = "of class " if _is_multiclass(summary) else ""
        size = "" if row.get("lower") is None else f", by {_points(abs(change)).lstrip('+')} points"
        after = f" are {more} often {kind}{row['class']}{size} ({predicted})."
    else:
        more = "higher" if change > 0 else "lower"
        after = f" score {number(abs(change))} {more} in {target_name(summary)} ({predicted})."
    return Sentence("Documents with much of ", called(row), after)


def _points(p: float | None) -> str:
    """A difference of probabilities in percentage points."""
    return "-" if p is None else f"{100 * p:+.0f}"


def quality_sentence(summary: dict[str, Any]) -> str:
    """How well the model predicts held-out documents, beside the regression on all words."""
    held_out = list(summary["held_out"].items())
    if not held_out:
        return ""
    mine = held_out[0][1]
    name, before, after, number = next(
        (metric, before, after, number)
        for metric, before, after, number in _QUALITY
        if mine.get(metric) is not None and not (metric == "auc" and _is_multiclass(summary))
    )
    sentence = (
        f"In {summary['documents']['test']:,} held-out documents the model {before} "
        f"{number(mine[name])}{after.format(target_name(summary))}"
    )
    for model, values in held_out[1:]:
        if model.endswith(", topics alone"):
            sentence += f", its topics alone {number(values[name])}"
        elif " words" in model:
            peer = model.replace("all words", f"all {terms(summary)}")
            if name in _HIGHER and values[name] - mine[name] > _BETTER:
                sentence += f"; a {peer} predicts better, {number(values[name])}"
            else:
                sentence += f", a {peer} {number(values[name])}"
    return f"{sentence}."


#: Metrics that are higher for better predictions, and a difference that is worth a word.
_HIGHER, _BETTER = ("auc", "r2", "accuracy"), 0.02
#: For the first metric that a model has: its name, what is before the number and after it.
_QUALITY = (
    ("auc", "separates the classes with an AUC of", "", lambda v: f"{v:.3f}"),
    ("r2", "explains", " of the variance of {}", percentage),
    ("accuracy", "predicts the right class for", "", percentage),
    ("deviance", "has a deviance of", " per document", metric),
)


def topics_title(summary: dict[str, Any]) -> str:
    """What the numbers of `topic_cells` are."""
    name, rows = target_name(summary), summary["topics"]
    if _is_multiclass(summary):
        what = "probability of the class that a topic is most associated with"
    elif "class" in rows[0]:
        what = f"probability of {rows[0]['class']}"
    else:
        what = f"predicted {name}"
    low, high = summary.get("effects", {}).get("percentiles", (10, 90))
    which = "held-out" if summary["documents"]["test"] else "training"
    beside = ["covariates"] if summary.get("covariates") else []
    beside += ["exposure"] if summary["settings"].get("exposure") else []
    with_average = f" with average {' and '.join(beside)}" if beside else ""
    title = (
        f"Topics, with the {what} of a typical document{with_average} with little and with much of "
        f"the topic ({low:g}th and {high:g}th percentile of the {which} documents)."
    )
    if rows[0].get("lower") is not None:
        title += " Held-out: the same difference in the outcomes of the held-out documents."
    return f"{title} Proportion: of the kept {terms(summary)} of an average document."


def topic_cells(summary: dict[str, Any]) -> list[list[str]]:
    """A table of the numbers of all topics, its head first."""
    rows = summary["topics"]
    is_class, multiclass = "class" in rows[0], _is_multiclass(summary)
    interval = rows[0].get("lower") is not None
    number = same_decimals([row["change"] for row in rows])
    ends = percentage if is_class else number

    written = _points if is_class else lambda value: signed(number(value))
    what = "predicted (points)" if is_class else "predicted"
    head = ["topic", *(["class"] if multiclass else []), what, "little → much"]
    table = [[*head, *(["held-out (95%)"] if interval else []), "proportion"]]
    for row in rows:
        own = [f"{row['topic']}", *([str(row["class"])] if multiclass else [])]
        own += [written(row["change"]), f"{ends(row['low'])} → {ends(row['high'])}"]
        if interval:
            ends95 = f"{written(row['lower'])} to {written(row['upper'])}"
            own.append(f"{written(row['estimate'])} ({ends95})")
        table.append([*own, percentage(row["share"])])
    return table


def aligned(cells: list[list[str]], left: Sequence[int] = ()) -> list[str]:
    """Rows of cells in columns of the same width, flush right but for some."""
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if i in left else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in cells
    ]


def topic_lines(summary: dict[str, Any]) -> tuple[str, list[tuple[str, str, str]]]:
    """The head of the table of topics; and for each topic the line of its numbers, its words, and
    the dropped words beside them. A class is named before the words, because it may be long."""
    cells, multiclass = topic_cells(summary), _is_multiclass(summary)
    if multiclass:
        cells = [[row[0], *row[2:]] for row in cells]
    title, *heads = aligned(cells)
    lines = []
    for head, row in zip(heads, summary["topics"], strict=True):
        names = [f"class {row['class']}"] if multiclass else []
        names += [row["name"]] if row.get("name") else []
        words = ": ".join([*names, joined(row["words"]) or f"no {terms(summary)}"])
        lines.append((head, words, joined(row.get("context") or [])))
    return title, lines


def topic_remarks(summary: dict[str, Any]) -> list[str]:
    """Classes without a topic, and topics that could be left out."""
    rows, out = summary["topics"], []
    if _is_multiclass(summary):
        own = {str(row["class"]) for row in rows}
        others = [str(c) for c in summary["target"]["classes"] if str(c) not in own]
        if others:
            names = ", ".join(others)
            out.append(f"These classes have no topic with which they are most probable: {names}.")
    idle = [str(r["topic"]) for r in rows if len(r["words"]) < 2 or hardly_any(r, rows)]
    if idle and len(rows) > 1:
        which = f"Topic {idle[0]} makes" if len(idle) == 1 else f"Topics {_listed(idle)} make"
        how = "hardly any difference"
        if any(row.get("lower") is not None for row in rows):
            how = "no clear difference in held-out documents (small, or an interval with zero)"
        out.append(f"{which} {how}: fewer topics may do.")
    found = summary.get("replication")
    if found is not None:
        out.append(_replication(found, len(rows)))
    return out


def _listed(names: list[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]


def _replication(found: dict[str, Any], n_topics: int) -> str:
    thorough = setting("stability", 50)
    if not found["documents"]:
        return f"Whether other samples have the same topics was not checked: {thorough} does it."
    again = [str(number) for number in found["topics"]]
    others = ""
    if 0 < len(again) < n_topics:
        others = f", {'topic' if len(again) == 1 else 'topics'} {_listed(again)}; the others may "
        others += "be specific to this sample"
    verb = "replicates" if len(again) == 1 else "replicate"
    return (
        f"{len(again)} of {n_topics} topics {verb} in two separate samples of "
        f"{found['documents']:,} training documents{others} (a quick check; {thorough} does more)."
    )


# ---- words, covariates, metrics ------------------------------------------------------------------


def word_lines(summary: dict[str, Any]) -> list[str]:
    """Words kept and dropped, and those whose first occurrence changes the prediction most."""
    words, what = summary["words"], terms(summary)
    if not words["selects"]:
        lines = [f"All {words['words']:,} {what} are in the topics."]
    else:
        share = words["kept_token_share"]
        lines = [
            f"Kept: {words['kept']:,} {what}, {share:.1%} of the tokens; most predictive: "
            f"{joined(words['kept_examples'])}",
            f"Dropped: {words['dropped']:,} {what}; most frequent: "
            f"{joined(words['dropped_examples'])}",
        ]
    rows = [*words.get("raises", []), *words.get("lowers", [])]
    if not rows:
        return lines
    first, number = summary["topics"][0], same_decimals([row["change"] for row in rows])
    name = f"{first['class']} (in points)" if "class" in first else target_name(summary)
    for side in ("raises", "lowers"):
        listed = [
            f"{row['word']} "
            + (f"{100 * row['change']:+.1f}" if "class" in first else signed(number(row["change"])))
            for row in words.get(side, [])[:_STRONGEST]
        ]
        way = {"raises": "Higher", "lowers": "Lower"}[side]
        lines.append(
            f"{way} prediction of {name} if a {what[:-1]} occurs: {joined(listed) or 'none'}"
        )
    return lines


def covariate_lines(summary: dict[str, Any]) -> list[str]:
    """What one standard deviation more of each covariate adds to the linear predictor."""
    rows = summary.get("covariates") or []
    strength = [float(np.max(np.abs(row["coef"]))) * row["std"] for row in rows]
    number = same_decimals(strength)
    lines = []
    for row, _ in sorted(zip(rows, strength, strict=True), key=lambda pair: -pair[1]):
        most = np.max(row["coef"]) * row["std"]
        of_class = f" ({row['class']})" if "class" in row else ""
        lines.append(
            f"{row['name']}: {signed(number(most))}{of_class}; mean {row['mean']:.4g}, standard "
            f"deviation {row['std']:.4g}"
        )
    return lines


#: What a covariate adds to, by the kind of target.
SCALES = {
    "real": "the target",
    "count": "the logarithm of the expected count",
    "ordinal": "the position on the scale of the levels",
    "binary": "the log odds",
    "classes": "the score of a class",
}


def metric_cells(summary: dict[str, Any]) -> list[list[str]]:
    """A table of the held-out metrics of all models, its head first; empty without a test part."""
    held_out = summary["held_out"]
    if not held_out:
        return []
    names = list(next(iter(held_out.values())))
    head = [f"{METRICS[name][0]} {'↑' if METRICS[name][1] else '↓'}" for name in names]
    rows = [
        [model, *(metric(values[name]) for name in names)] for model, values in held_out.items()
    ]
    return [["", *head], *rows]


def completeness_lines(summary: dict[str, Any]) -> list[str]:
    """How much of what the text tells about the target the topics capture."""
    found = summary.get("completeness")
    if found is None:
        return []
    which = "held-out" if found["documents"] == "test" else "validation"
    if not found["remainder"]:
        return [
            "The remainder does not predict validation documents better, so its weight is zero: "
            "all that is used of the text is in the topics."
        ]
    if found["share"] is None:
        return []
    return [
        f"Completeness: the topics capture {found['share']:.0%} ± {found['error']:.0%} of what the "
        f"text tells about {target_name(summary)} (deviance explained in {which} documents: "
        f"{found['topics']:.3f} by the topics, {found['both']:.3f} with the remainder)."
    ]


def reliability_line(summary: dict[str, Any]) -> str:
    """How far probabilities, or intervals, can be believed."""
    found = summary.get("reliability", {})
    if found.get("calibration_error") is not None:
        off, about = 100 * found["calibration_error"], found["about"]
        about = about if about.startswith("the class") else f"P({about})"
        return (
            f"Probabilities of held-out documents ({about}) are off by {off:.1f} percentage points "
            "on average."
        )
    if "coverage" not in found:
        return ""
    share = found["coverage"]["80%"]
    held = "-" if share is None else f"{share:.0%}"
    whole = {"count": "whole numbers", "ordinal": "levels"}.get(summary["target"]["kind"])
    more = f" They end at {whole}, so small ones contain more than 80%." if whole else ""
    return f"80% intervals of predictions contain {held} of the held-out targets.{more}"


def as_text(summary: dict[str, Any]) -> str:
    """The topics and the metrics of the model as plain text, for `print`."""
    summary = with_labels(summary)
    title, topics = topic_lines(summary)
    lines = [headline(summary), ""]
    lines += [*map(str, main_sentences(summary)), quality_sentence(summary), ""]
    lines += [topics_title(summary), title]
    for head, words, _ in topics:
        lines += [head, f"    {words}"]
    lines += topic_remarks(summary)
    return "\n".join([*lines, *(f"Warning: {message}" for message in summary["warnings"])])


# ---- explanations --------------------------------------------------------------------------------

#: A label, indented if it is part of a sum, and an amount; some rows have no amount.
Row = tuple[str, float | None]


def explanation_rows(found: dict[str, Any]) -> tuple[list[Row], list[Row]]:
    """What adds to the prediction of a text, and what its words add by topic."""
    mean = ", average covariates" if found["covariates"] else ""
    rows: list[Row] = [(f"a text without words{mean}", found["base"])]
    for row in found["covariates"]:
        known = "not known" if row["value"] is None else f"{row['value']:g}"
        rows.append((f"  {row['name']} = {known}", row["amount"]))
    rows += _strongest_parts(list(found["words"].items()), "words")
    if not found["words"]:
        rows.append(("  no word of this text is in the topics", None))
    rest = found["remainder"]
    if rest is not None:
        rows.append(("the remainder of the text", rest["amount"]))
        strongest, number = list(rest["terms"].items())[:_TERMS], explanation_number(found)
        if strongest:
            terms = ", ".join(f"{term} {signed(number(value))}" for term, value in strongest)
            rows.append((f"  mostly {terms}", None))
    topics = [(topic_label(row), row["amount"]) for row in found["topics"]]
    topics = sorted(topics, key=lambda part: -abs(part[1]))
    return rows, _strongest_parts([part for part in topics if abs(part[1]) > _ROUNDING], "topics")


def explanation_number(found: dict[str, Any]) -> Callable[[Any], str]:
    """How the amounts of an explanation are written."""
    return same_decimals([found["base"], found["total"], *found["words"].values()], 4)


def _strongest_parts(parts: list[tuple[str, float]], what: str) -> list[Row]:
    """The strongest parts, from what adds most, and the sum of the others."""
    listed = sorted(parts[:_LISTED], key=lambda part: -part[1])
    rows: list[Row] = [(f"  {name}", amount) for name, amount in listed]
    rest = [amount for _, amount in parts[_LISTED:]]
    return [*rows, (f"  {len(rest)} more {what}", float(np.sum(rest)))] if rest else rows
