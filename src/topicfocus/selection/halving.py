"""`stability`: would another sample of documents give the same words, topics and effects?

Documents are split into two halves again and again, and the model is fitted to both (complementary
pairs, Shah and Samworth, 2013). Halves of one pair share no document, so what both find was found
twice, independently.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

import topicfocus
from topicfocus.estimators.parameters import check_count, check_flag, check_share
from topicfocus.kernels.threads import n_threads
from topicfocus.metrics.topics import top_words
from topicfocus.selection.documents import Data, read_data, take_apart, words_of
from topicfocus.selection.examples import shown_by
from topicfocus.selection.figures import TOP, kept_words, shown_topics
from topicfocus.selection.finished import Finished, fingerprint
from topicfocus.selection.indices import jaccard, nogueira_index
from topicfocus.selection.intervals import Intervals, half_sample_intervals
from topicfocus.selection.parallel import jobs_for, progress_of, run_all
from topicfocus.selection.resampling import (
    OWN_PENALTY,
    chosen_share,
    fit_pair,
    regressed_effects,
)
from topicfocus.selection.stable import Stability
from topicfocus.selection.substitutes import find_substitutes
from topicfocus.solvers.focus.held import HeldShare

#: Of what a record of a pair holds; those of another number cannot be gone on with.
RECORDS = 4


@shown_by(">>> found.topic_cosine.shape, found.effects.low.shape", "((2,), (2, 1))")
def stability(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    n_resamples: int = 50,
    level: float = 0.9,
    groups: Any = None,
    n_jobs: int | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    random_state: int = 0,
    verbose: bool = False,
    hold_share: bool = True,
    **beside: Any,
) -> Stability:
    """What of a model comes back in other samples: words, topics, effects.

    Fits the model to `n_resamples` pairs of complementary halves of the documents, 2·`n_resamples`
    fits. The same seed gives the same result, on any number of cores.

    Parameters
    ----------
    model : a topic model, or a pipeline that ends in one
        Fitted to these documents, or not: then it is fitted to them first. A pipeline's words are
        counted once, with the vocabulary of all documents.
    X, y : documents and targets, as for the model's fit
    n_resamples : int, default=50
        Pairs of halves, at least 2. Intervals need some 20.
    level : float, default=0.9
        Of the intervals of effects.
    groups : array (documents,), optional
        Documents of one group come to the same half.
    n_jobs : int, optional
        Processes; all cores by default.
    checkpoint : path, optional
        A folder in which finished pairs are kept; the same call goes on from there.
    random_state : int, default=0
        Decides the halves.
    verbose : bool, default=False
        A bar on a terminal; elsewhere a line from time to time.
    hold_share : bool, default=True
        Halves have the share of words that an automatic `inclusion_prior` came to in the model:
        what is compared are words, topics and effects of one setting. False lets every half choose
        its own, which of so few documents is often a smaller one.
    **beside
        sample_weight, covariates, exposure, as for fit.

    Returns
    -------
    Stability

    Raises
    ------
    ValueError
        If there is one group only, which cannot be halved, or fewer than two pairs could be fitted.
    """
    check_count("n_resamples", n_resamples, minimum=2)
    check_share("level", level)
    parts = take_apart(model)
    data = read_data(X, y, groups, beside, parts.name)
    if groups is not None and len(np.unique(np.asarray(groups))) < 2:
        raise ValueError("groups has one group only, which cannot be halved.")
    whole, counts, words = _whole_model(parts.front, parts.model, data)
    counted = Data(X=counts, y=data.y, groups=data.groups, beside=data.beside)
    share = chosen_share(whole) if check_flag("hold_share", hold_share) else None
    how = (share, n_jobs, checkpoint, random_state, verbose)
    records = _pairs(whole, counted, n_resamples, *how)
    return _summary(whole, counted, records, level, words)


def _whole_model(front: Any, model: Any, data: Data) -> tuple[Any, Any, np.ndarray | None]:
    """The model of all documents, their counts, and the words' names."""
    if not hasattr(type(model), "components_"):
        raise TypeError(f"stability is of topic models, not of {type(model).__name__}.")
    counts = data.X
    if front is not None:
        try:
            check_is_fitted(front)
            counts = front.transform(data.X)
        except NotFittedError:
            front = clone(front)
            counts = front.fit_transform(data.X, data.y)
    names = words_of(front, data.X)
    if not hasattr(model, "fitted_"):
        fit = clone(model).fit
        model = fit(counts, **data.beside) if data.y is None else fit(counts, data.y, **data.beside)
    elif model.fitted_.state.n_words != counts.shape[1]:
        raise ValueError(
            f"X has {counts.shape[1]} features, but the model was fitted to "
            f"{model.fitted_.state.n_words}."
        )
    return model, counts, names


def _pairs(
    model: Any,
    data: Data,
    n_resamples: int,
    share: HeldShare | None,
    n_jobs: int | None,
    checkpoint: Any,
    seed: int,
    verbose: bool,
) -> list[dict[str, Any]]:
    """The record of every pair, from the checkpoint where it is there."""
    reference, fresh = model.fitted_.components, clone(model)
    # More resamples later are the same work continued: their number is no part of the mark.
    mark = fingerprint(
        topicfocus.__version__,
        RECORDS,
        fresh,
        reference,
        data.X,
        data.y,
        data.groups,
        data.beside,
        seed,
        share,
    )
    jobs = jobs_for(data.X, n_jobs)
    if n_threads(jobs) > 1:
        fresh.set_params(n_jobs=1)
    finished = Finished(checkpoint, mark, "stability")
    names = [f"pair-{i}" for i in range(n_resamples)]
    found = {name: record for name in names if (record := finished.get(name)) is not None}
    classes = is_classifier(model)
    same = (fresh, data, reference, classes, seed, share)
    left = [(name, *same) for name in names if name not in found]
    with progress_of("halves", n_resamples, verbose) as advance:
        for _ in found:
            advance("")

        def take(record: dict[str, Any]) -> None:
            finished.keep(record, found)
            advance("")

        try:
            run_all(fit_pair, left, take, jobs)
        except KeyboardInterrupt:
            where = "" if checkpoint is None else f"; the same call goes on from {checkpoint}"
            raise KeyboardInterrupt(f"Interrupted after {len(found)} pairs{where}.") from None
    return [found[name] for name in names]


def _summary(
    model: Any,
    data: Data,
    records: list[dict[str, Any]],
    level: float,
    words: np.ndarray | None,
) -> Stability:
    good = [r for r in records if r["error"] is None]
    errors = tuple(r["error"] for r in records if r["error"] is not None)
    if len(good) < 2:
        raise ValueError(f"{len(errors)} of {len(records)} pairs failed. The first: {errors[0]}")
    n_words = model.fitted_.state.n_words
    kept = np.zeros((len(good), 2, n_words), dtype=bool)
    for i, record in enumerate(good):
        for h, columns in enumerate(record["kept"]):
            kept[i, h, columns] = True
    halves = kept.reshape(-1, n_words)
    top = tuple(top_words(shown_topics(model), TOP))
    correlations = [r["correlation"] for r in good if r["correlation"] is not None]
    effects, covariates = regressed_effects(model, data, OWN_PENALTY)
    return Stability(
        n_resamples=len(good),
        frequency=halves.mean(axis=0),
        kept=kept_words(model),
        mean_kept=float(halves.sum(axis=1).mean()),
        index=nogueira_index(halves),
        disjoint_index=float(np.mean([nogueira_index(pair).value for pair in kept])),
        disjoint_jaccard=float(np.mean([jaccard(*pair) for pair in kept])),
        topic_cosine=np.mean([r["cosine"] for r in good], axis=(0, 1)),
        topic_between=np.mean([r["between"] for r in good], axis=0),
        returning=_returning(top, good),
        top=top,
        effects=_intervals(effects, good, "", level),
        covariates=_intervals(covariates, good, "covariates", level),
        correlation=float(np.mean(correlations)) if correlations else math.nan,
        stand_ins=find_substitutes(
            kept_words(model), halves, model.fitted_.corpus(data.X).counts.sqrt()
        ),
        vocabulary=words,
        failed=errors,
    )


def _intervals(
    estimate: np.ndarray, records: list[dict[str, Any]], kind: str, level: float
) -> Intervals:
    """Of topics, or of the `kind` "covariates"."""
    names = (kind or "effects", *(f"{kind}_{name}".strip("_") for name in ("elsewhere", "noise")))
    mine, theirs, noise = (np.array([record[name] for record in records]) for name in names)
    return half_sample_intervals(estimate, mine, theirs, noise, level)


def _returning(top: Sequence[np.ndarray], records: list[dict[str, Any]]) -> np.ndarray:
    """How often a topic's top words are among those of its match, topics x words."""
    out = np.zeros((len(top), TOP))
    for record in records:
        for half in record["top"]:
            for k, words in enumerate(top):
                out[k, : len(words)] += np.isin(words, half[k])
    return out / (2 * len(records))
