"""The result of `topicfocus demo` on simulated reviews, with the truth next to it."""

from __future__ import annotations

from typing import Any

from topicfocus.cli.console import result_console


def show(result: dict[str, Any]) -> None:
    """Print the result of `fit_synthetic` for a person."""
    console = result_console()
    documents = result["documents"]
    console.print(
        f"\n[bold]pf-sLDA[/] on {documents['train']} synthetic reviews, {documents['words']} words"
        f": {result['epochs']} epochs in {result['seconds']:.1f} s\n"
    )
    console.print(_topics(result["topics"]))
    words = result["words"]
    console.print(_words(words))
    console.print(f"precision {words['precision']:.3f}, recall {words['recall']:.3f}\n")
    console.print(f"[italic]Error on {documents['test']} held-out reviews, ratings 1 to 10[/]")
    console.print(_errors(result["held_out_rmse"]))


def _table(title: str | None = None) -> Any:
    from rich import box
    from rich.table import Table

    return Table(title=title, box=box.SIMPLE_HEAD, title_justify="left")


def _topics(rows: list[dict[str, Any]]) -> Any:
    table = _table("Topics, by expected rating")
    table.add_column("rating", justify="right", style="bold")
    table.add_column("topic", justify="right", style="dim")
    table.add_column("words, most probable first")
    for row in rows:
        table.add_row(f"{row['coef']:.1f}", str(row["topic"]), " ".join(row["words"]))
    return table


def _words(words: dict[str, Any]) -> Any:
    table = _table("Words kept and dropped, beside the truth")
    table.add_column("model")
    table.add_column("truth")
    table.add_column("words", justify="right")
    table.add_column("most frequent")
    rows = (
        ("kept", "relevant", "kept_relevant", "green"),
        ("kept", "irrelevant", "kept_irrelevant", "red"),
        ("dropped", "relevant", "dropped_relevant", "red"),
        ("dropped", "irrelevant", "dropped_irrelevant", "green"),
    )
    for model, truth, key, style in rows:
        chosen = words[key]
        examples = " ".join(chosen[:9]) + (" ..." if len(chosen) > 9 else "")
        table.add_row(model, truth, f"[{style}]{len(chosen)}[/]", examples or "-")
    return table


def _errors(errors: dict[str, float]) -> Any:
    table = _table()
    table.add_column("model")
    table.add_column("RMSE", justify="right")
    for name, value in errors.items():
        table.add_row(name, f"{value:.3f}")
    return table
