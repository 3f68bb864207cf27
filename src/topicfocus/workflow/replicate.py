"""Which topics and words replicate in other samples: on request, and a quick check unasked."""

from __future__ import annotations

import logging
import warnings
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier

from topicfocus.config import FitConfig, setting
from topicfocus.counts import ChunkedCounts
from topicfocus.estimators.training import FitOptions, fit_with
from topicfocus.metrics.topics import match_topics
from topicfocus.selection.replication import SAME_TOPIC, chosen_inclusion
from topicfocus.selection.resamples import halves, read_data
from topicfocus.workflow.estimator import Training
from topicfocus.workflow.write import plain

log = logging.getLogger(__name__)


def check_stability(training: Training, model: Any, config: FitConfig) -> dict[str, Any] | None:
    """What replicates in halves of the training set, as plain data; None if not asked for.

    A failure is a warning: the fitted model is still written.
    """
    if not config.stability:
        return None
    from topicfocus.selection import stability

    log.info(f"Stability: {2 * config.stability} fits to halves of the training set ...")
    try:
        found = stability(
            model,
            training.counts,
            training.y,
            n_resamples=config.stability,
            n_jobs=config.jobs,
            random_state=config.seed,
            verbose=config.progress,
            **training.columns.for_fit(),
        )
    except ValueError as error:
        warnings.warn(f"no {setting('stability')}: {error}", stacklevel=2)
        return None
    return plain(found.to_dict(training.words.tolist()))


#: Training documents below which samples say little; the smallest and the largest sample of the
#: quick check, where there are more. Two samples of a quarter take about a third of the fit's time.
_ENOUGH, _LEAST, _MOST = 200, 1000, 10_000


def quick_check(training: Training, model: Any, config: FitConfig) -> dict[str, Any] | None:
    """Which components two separate samples of the training set have, by fits of low fidelity.

    Only focused models have such fits, which take a part of the time of the fit itself; for other
    models, and for counts that are not in memory, nothing is checked. None for few documents, and
    where stability was asked for.
    """
    n_docs = training.counts.shape[0]
    if config.stability or n_docs < _ENOUGH:
        return None
    if config.model != "focused" or isinstance(training.counts, ChunkedCounts):
        return {"documents": 0, "components": []}
    size = min(n_docs // 2, max(_LEAST, n_docs // 4), _MOST)
    try:
        cosines = np.array(_cosines_in_samples(training, model, config, size))
    except ValueError:  # a sample lacks what a fit needs
        return {"documents": 0, "components": []}
    again = np.flatnonzero(cosines.min(axis=0) >= SAME_TOPIC)
    return {"documents": size, "components": again.tolist()}


def _cosines_in_samples(
    training: Training, model: Any, config: FitConfig, size: int
) -> list[np.ndarray]:
    """The cosine of each topic of the model with the matched topic of each sample."""
    arguments = training.columns.for_fit()
    groups = arguments.pop("groups", None)
    data = read_data(training.counts, training.y, groups, arguments, None)
    rng = np.random.default_rng(config.seed)
    options = FitOptions(low_fidelity=True, fixed_inclusion=chosen_inclusion(model))
    cosines = []
    for half in halves(data, is_classifier(model), rng):
        part = data.rows(np.sort(rng.permutation(half)[:size]))
        more = {} if part.groups is None else {"groups": part.groups}
        other = clone(model).set_params(n_jobs=config.jobs, remainder=False)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fit_with(other, options, part.X, part.y, **part.arrays, **more)
        cosines.append(match_topics(other.components_, model.components_)[1])
    return cosines
