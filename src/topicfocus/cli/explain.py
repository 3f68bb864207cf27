"""`topicfocus explain`: what each word of a text adds to its prediction."""

from __future__ import annotations

import argparse
import sys
from typing import Any

import numpy as np

from topicfocus.cli.console import Remarks, one_line_warnings, print_json, result_console
from topicfocus.cli.errors import UsageError

_LISTED = 10


def run(args: argparse.Namespace) -> int:
    """Explain one text."""
    text = sys.stdin.read() if args.text in (None, "-") else args.text
    if not text.strip():
        raise UsageError('there is no text to explain: --text "...".')
    remarks = Remarks(args.quiet)
    with one_line_warnings(remarks):
        from topicfocus.cli.models import load_model

        saved = load_model(args.model, args.jobs)
        if saved.counter is None:
            raise ValueError(f"{args.model} has no vocabulary, so it cannot read texts.")
        columns = _columns(saved.estimator, args)
        result = explain_text(saved.counter, saved.estimator, text, args.label, columns)
    if args.json:
        print_json(result)
    else:
        show(result, saved.settings.get("target") or "prediction")
    return 0


def _columns(model: Any, args: argparse.Namespace) -> Any:
    """Covariates and exposure of the one text, from the arguments."""
    from topicfocus.cli.columns import ColumnNames, Columns, remembered

    given, n = args.covariates, model.n_covariates_
    names = remembered(model).covariates or tuple(given)
    if set(names) != set(given) or len(names) != n:
        called = ",".join(f"{name}=..." for name in remembered(model).covariates)
        called = called or ",".join(["COL=..."] * n)
        if not n:
            raise UsageError(f"{args.model} was fitted without covariates.")
        raise UsageError(
            f"{args.model} was fitted with {n} covariates; say what they are for this text: "
            f"--covariates {called}."
        )
    exposure = None if args.exposure is None else np.array([args.exposure])
    values = np.array([[given[name] for name in names]]) if n else None
    return Columns(ColumnNames(names), values, None, exposure)


def explain_text(
    counter: Any, model: Any, text: str, label: str | None, columns: Any
) -> dict[str, Any]:
    """Prediction and contributions as plain data; `spans` says what each place of the text adds.

    A covariate adds what its distance from the mean of the training part does; so `base` is that of
    a text without words and with average covariates.
    """
    from topicfocus.cli.fitting import predict, prediction_columns

    counts = counter.transform([text])
    explanation = model.explain(counts, **columns.for_predict())
    predicted = predict(model, counts, columns)
    l, subject = _predictor(model, predicted, label)
    amounts = explanation.words[l][[0]].tocoo()
    vocabulary = counter.get_feature_names_out()
    words = {
        str(vocabulary[v]): float(a) for v, a in zip(amounts.coords[1], amounts.data, strict=True)
    }
    topics = explanation.topics[l][[0]].toarray()[0]
    shown = prediction_columns(model, predicted)
    average = np.zeros(0)
    if model.n_covariates_:
        average = np.atleast_2d(model.covariate_coef_)[l] * model._scaling.centre
    amounts_of = explanation.covariates[l][0] - average
    return {
        "text": text,
        "prediction": {name: value[0] for name, value in shown.items()},
        "explained": subject,
        "total": explanation.predictor[0, l],
        "base": explanation.base[0, l] + average.sum(),
        "covariates": [
            {"name": name, "value": columns.covariates[0, j], "amount": amounts_of[j]}
            for j, name in enumerate(columns.names.covariates)
        ],
        "words": dict(sorted(words.items(), key=lambda item: -abs(item[1]))),
        "topics": [
            {"topic": k, "amount": amount, "words": top}
            for k, (amount, top) in enumerate(
                zip(topics, model.top_words(5, vocabulary), strict=True)
            )
        ],
        "spans": _spans(counter, text, words),
    }


def _predictor(model: Any, predicted: Any, label: str | None) -> tuple[int, str]:
    """Which linear predictor is explained, and what it is."""
    (coding, _, _), *_ = model._parts()
    if coding.kind not in ("bernoulli", "categorical"):
        if label is not None:
            raise UsageError("--class is for models of classes.")
        return 0, {"gaussian": "target", "poisson": "log of the expected count"}.get(
            coding.kind, "position on the scale of the levels"
        )
    labels = [str(c) for c in model.classes_]
    if label is not None and label not in labels:
        raise UsageError(f"--class {label}: the classes are {', '.join(labels)}.")
    if len(labels) == 2:
        if label == labels[0]:
            raise UsageError(
                f"of two classes the second, {labels[1]}, is explained; what adds to it takes "
                f"from {labels[0]}."
            )
        return 0, f"log odds of {labels[1]}"
    chosen = label if label is not None else str(predicted.values[0])
    return labels.index(chosen), f"score of {chosen}"


def _spans(counter: Any, text: str, words: dict[str, float]) -> list[dict[str, Any]]:
    """Places of words that add something, each with its share of what the word adds in all."""
    if not hasattr(counter, "spans"):
        return []
    found = [(a, b, word) for a, b, word in counter.spans(text) if word in words]
    times: dict[str, int] = {}
    for _, _, word in found:
        times[word] = times.get(word, 0) + 1
    return [
        {"start": a, "stop": b, "word": word, "amount": words[word] / times[word]}
        for a, b, word in found
    ]


def show(result: dict[str, Any], name: str) -> None:
    """For a person: the text with its words coloured (or marked), then amounts that add up."""
    from rich.text import Text

    console = result_console()
    prediction = result["prediction"]
    value = prediction["prediction"]
    line = Text(f"{name}: ")
    line.append(_value(value), style="bold")
    if "std" in prediction:
        line.append(f" ± {_value(prediction['std'])}", style="dim")
    for key, p in prediction.items():
        if key.startswith("probability_"):
            line.append(f"   P({key.removeprefix('probability_')}) = {p:.2f}", style="dim")
    console.print(line)
    console.print()
    console.print(coloured(result, console.is_terminal))
    console.print()
    console.print(_amounts(result))


def coloured(result: dict[str, Any], colours: bool) -> Any:
    """The text: green words raise the prediction and red ones lower it, the more the stronger.

    Without a terminal the amounts stand behind the words instead.
    """
    from rich.text import Text

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
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("")
    table.add_column(Text(result["explained"]), justify="right")
    mean = ", average covariates" if result["covariates"] else ""
    table.add_row(f"a text without words{mean}", f"{result['base']:+.3f}")
    for row in result["covariates"]:
        amount = Text(f"{row['amount']:+.3f}", style=_sign(row["amount"]))
        table.add_row(Text(f"  {row['name']} = {row['value']:g}"), amount)
    words = list(result["words"].items())
    for word, amount in words[:_LISTED]:
        table.add_row(Text(f"  {word}"), Text(f"{amount:+.3f}", style=_sign(amount)))
    rest = [amount for _, amount in words[_LISTED:]]
    if rest:
        table.add_row(f"  {len(rest)} more words", f"{np.sum(rest):+.3f}")
    if not words:
        table.add_row("  no word of this text is known to the model", "")
    table.add_section()
    table.add_row("together", f"{result['total']:+.3f}", style="bold")
    table.add_section()
    table.add_row("what the words add, by topic", "")
    for row in sorted(result["topics"], key=lambda row: -row["amount"]):
        label = Text(f"  {row['topic']}: {' '.join(row['words'])}")
        table.add_row(label, Text(f"{row['amount']:+.3f}", style=_sign(row["amount"])))
    return table


def _sign(amount: float) -> str:
    return "green" if amount > 0 else "red"


def _value(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, (float, np.floating)) else str(value)
