"""`topicfocus demo` on made-up reviews, whose relevant words are known: the truth beside it."""

from __future__ import annotations

import argparse
import json
import sys
import time
from typing import Any

import numpy as np

from topicfocus.cli.interrupts import noting_interrupts


def run(args: argparse.Namespace) -> int:
    """Fit, then print for a person or as JSON."""
    verbose = not args.quiet
    n_docs = args.docs or 3000
    if verbose:
        print(f"Making {n_docs} synthetic reviews ...", file=sys.stderr)
    result = fit_demo(
        n_docs=n_docs,
        n_topics=args.topics,
        inclusion_prior=args.inclusion_prior or 0.25,
        seed=args.seed,
        n_jobs=args.jobs,
        verbose=verbose,
    )
    if args.json:
        json.dump(result, sys.stdout, indent=2)
        print()
    else:
        show(result)
    return 0


def fit_demo(
    *,
    n_docs: int,
    n_topics: int,
    inclusion_prior: float,
    seed: int,
    n_jobs: int | None,
    verbose: bool,
) -> dict[str, Any]:
    """The whole job as plain data: topics, words beside the truth, held-out figures.

    A fifth of the reviews is held out; the baselines are fitted and tested on the same parts.
    """
    from sklearn.linear_model import RidgeCV

    from topicfocus import PFSLDARegressor, SLDARegressor
    from topicfocus.datasets import make_reviews
    from topicfocus.metrics import channel_overlap, rmse, selection_scores

    reviews = make_reviews(n_docs, random_state=seed)
    n_train = int(0.8 * n_docs)
    train, test = slice(0, n_train), slice(n_train, None)
    counts, target = reviews.counts.tocsr(), reviews.target
    common = {"n_topics": n_topics, "random_state": seed, "n_jobs": n_jobs}
    began = time.perf_counter()
    model = PFSLDARegressor(inclusion_prior=inclusion_prior, verbose=verbose, **common)
    with noting_interrupts():  # Ctrl-C ends the demo, not the first of its fits
        model.fit(counts[train], target[train])
    seconds = time.perf_counter() - began
    with noting_interrupts():
        slda = SLDARegressor(verbose=verbose, **common).fit(counts[train], target[train])
    ridge = RidgeCV(np.logspace(-1, 4, 11)).fit(counts[train], target[train])

    def held_out(prediction: np.ndarray) -> float:
        return rmse(target[test], prediction)

    relevant = np.asarray(reviews.relevant)
    names = np.asarray(reviews.vocabulary)
    kept = model.selected_words_
    scores = selection_scores(model.inclusion_, relevant, threshold=0.5)
    words = model.top_words(10, reviews.vocabulary)
    order = np.argsort(-model.coef_)
    frequency = -np.asarray(counts[train].sum(axis=0)).ravel()

    def listed(mask: np.ndarray) -> list[str]:
        """Words of a mask, most frequent first."""
        chosen = np.flatnonzero(mask)
        return [str(w) for w in names[chosen[np.argsort(frequency[chosen], kind="stable")]]]

    return {
        "model": "PFSLDARegressor",
        "settings": {"n_topics": n_topics, "inclusion_prior": inclusion_prior, "seed": seed},
        "documents": {"train": n_train, "test": n_docs - n_train, "words": len(names)},
        "seconds": round(seconds, 3),
        "epochs": model.n_iter_,
        "topics": [
            {"topic": int(k), "coef": float(model.coef_[k]), "words": words[k]} for k in order
        ],
        "words": {
            "kept_relevant": listed(kept & relevant),
            "kept_irrelevant": listed(kept & ~relevant),
            "dropped_relevant": listed(~kept & relevant),
            "dropped_irrelevant": listed(~kept & ~relevant),
            "precision": scores.precision,
            "recall": scores.recall,
            "channel_overlap": channel_overlap(model.components_, model.background_),
        },
        "held_out_rmse": {
            "pf-sLDA": held_out(model.predict(counts[test])),
            "sLDA": held_out(slda.predict(counts[test])),
            "ridge on words": held_out(ridge.predict(counts[test])),
            "mean": held_out(np.full(n_docs - n_train, target[train].mean())),
        },
    }


def show(result: dict[str, Any]) -> None:
    """Print the result of `fit_demo` for a person."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    # Piped into a file, the width is ours to choose; 80 columns would fold every line.
    console = Console() if sys.stdout.isatty() else Console(width=110)
    documents = result["documents"]
    console.print(
        f"\n[bold]pf-sLDA[/] on {documents['train']} synthetic reviews, {documents['words']} words"
        f": {result['epochs']} epochs in {result['seconds']:.1f} s\n"
    )
    topics = Table(title="Topics, by expected rating", box=box.SIMPLE_HEAD, title_justify="left")
    topics.add_column("rating", justify="right", style="bold")
    topics.add_column("topic", justify="right", style="dim")
    topics.add_column("words, most probable first")
    for row in result["topics"]:
        topics.add_row(f"{row['coef']:.1f}", str(row["topic"]), " ".join(row["words"]))
    console.print(topics)

    words = result["words"]
    table = Table(
        title="Words kept and dropped, beside the truth", box=box.SIMPLE_HEAD, title_justify="left"
    )
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
    console.print(table)
    console.print(f"precision {words['precision']:.3f}, recall {words['recall']:.3f}\n")

    console.print(f"[italic]Error on {documents['test']} held-out reviews, ratings 1 to 10[/]")
    figures = Table(box=box.SIMPLE_HEAD)
    figures.add_column("model")
    figures.add_column("RMSE", justify="right")
    for name, value in result["held_out_rmse"].items():
        figures.add_row(name, f"{value:.3f}")
    console.print(figures)
