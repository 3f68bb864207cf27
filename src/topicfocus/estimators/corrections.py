"""Corrections of a fitted model: names of topics, and topics that become one.

A merged topic stands for several with fixed proportions among them, w_k = θ̄_k / Σ_j θ̄_j, θ̄ being
the mean proportions in the training documents:

    β = Σ_k w_k β_k,   α = Σ_k α_k,   η = Σ_k w_k η_k.

The proportions of new documents then maximise the same objective as before, under the condition
that those of the merged topics have these ratios. Predictions change where documents have other
ratios and the coefficients differ. Given documents, η is instead the least-squares fit of their
former predictors on their new proportions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from topicfocus.corpus import Corpus
from topicfocus.estimators.arguments import check_topic_name
from topicfocus.estimators.effects import default_quantiles, found_shares
from topicfocus.estimators.fitted import Fitted, padded_names

#: Ridge of the least-squares fit, relative to the variance of the proportions.
RIDGE = 1e-3


def find_topic(fitted: Fitted, topic: Any) -> int:
    """The index of a topic from its index or its name."""
    names, n_topics = fitted.names, fitted.state.n_topics
    if isinstance(topic, str):
        if topic not in names:
            known = ", ".join(repr(name) for name in names if name is not None)
            raise ValueError(
                f"no topic is named {topic!r}; "
                + (f"these are: {known}." if known else "none has a name. Give its index from 0.")
            )
        return names.index(topic)
    if isinstance(topic, bool) or not isinstance(topic, (int, np.integer)):
        raise TypeError(f"a topic is given by its index or its name, got {topic!r:.80}.")
    if not 0 <= topic < n_topics:
        raise ValueError(f"there is no topic {topic}: the model has topics 0 to {n_topics - 1}.")
    return int(topic)


def with_names(fitted: Fitted, names: Any) -> Fitted:
    """The model with new names of some topics; None removes a name."""
    if not isinstance(names, Mapping):
        raise TypeError(
            "names must be a dict from the index or name of a topic to its new name, such as {0: "
            f'"waiting"}}; got {names!r:.80}.'
        )
    new = list(fitted.names)
    for topic, name in names.items():
        new[find_topic(fitted, topic)] = None if name is None else check_topic_name(name)
    return replace(fitted, topic_names=padded_names(_unique(new), len(new)))


def _unique(names: list[str | None]) -> list[str | None]:
    given = [name for name in names if name is not None]
    for name in given:
        if given.count(name) > 1:
            raise ValueError(f"two topics cannot both be named {name!r}.")
    return names


def with_merged(
    fitted: Fitted,
    topics: Iterable[Any],
    name: str | None,
    corpus: Corpus | None = None,
    n_jobs: int | None = None,
) -> Fitted:
    """The model with some topics merged into one, in the place of the first of them."""
    if isinstance(topics, str) or not isinstance(topics, Iterable):
        raise TypeError(f"topics must be a list of indices or names, got {topics!r:.80}.")
    merged = sorted({find_topic(fitted, topic) for topic in topics})
    if len(merged) < 2:
        raise ValueError("merging needs two or more different topics.")
    first, rest = merged[0], merged[1:]
    kept = np.setdiff1d(np.arange(fitted.state.n_topics), rest)
    names = list(fitted.names)
    names[first] = next((names[k] for k in merged if names[k] is not None), None)
    if name is not None:
        names[first] = check_topic_name(name)
    before = None if corpus is None else fitted.mixes(corpus, n_jobs)
    groups = np.eye(fitted.state.n_topics)[:, kept]  # topics x merged topics
    groups[merged, list(kept).index(first)] = 1.0
    shares = _usual_proportions(fitted) if before is None else before.mean(axis=0)
    averages = groups * shares[:, None]
    averages = averages / averages.sum(axis=0)
    state = fitted.state
    hyper = fitted.hyper
    found = replace(
        fitted,
        state=replace(
            state,
            topic_word=state.topic_word @ averages,
            doc_topic_prior=state.doc_topic_prior @ groups,
            coef=np.ascontiguousarray((state.coef.T @ averages).T),
        ),
        hyper=None if hyper is None else replace(hyper, n_topics=len(kept)),
        context=None if fitted.context is None else fitted.context @ groups.astype(np.float32),
        typical_shares=_merged_quantiles(fitted.typical_shares, groups),
        topic_names=padded_names(_unique([names[k] for k in kept]), len(kept)),
    )
    if corpus is None or before is None or fitted.targets is None:
        return found
    after = found.mixes(corpus, n_jobs)
    # Proportions sum to one, so coefficients contain the level; the ridge keeps them near η.
    missing = before @ state.coef_rows.T - after @ found.state.coef_rows.T
    ridge = RIDGE * max(float(after.var(axis=0).sum()), 1e-12) * len(after)
    change = np.linalg.solve(after.T @ after + ridge * np.eye(len(kept)), after.T @ missing)
    coef = found.state.coef + change.reshape(found.state.coef.shape)
    return replace(
        found,
        state=replace(found.state, coef=coef),
        typical_shares=found_shares(after, np.ones(len(after)), default_quantiles(found)),
    )


def _usual_proportions(fitted: Fitted) -> np.ndarray:
    """Mean proportions in the training documents; in LDA those of the prior."""
    if fitted.typical_shares is not None:
        return np.maximum(fitted.typical_shares[0], 1e-300)
    return fitted.state.doc_topic_prior / fitted.state.doc_topic_prior.sum()


def _merged_quantiles(shares: np.ndarray | None, groups: np.ndarray) -> np.ndarray | None:
    """Means of summed proportions, and quantiles as if the proportions were uncorrelated."""
    if shares is None:
        return None
    mean, low, high = shares
    down, up = (np.sqrt((end - mean) ** 2 @ groups) for end in (low, high))
    centre = mean @ groups
    return np.clip(np.vstack([centre, centre - down, centre + up]), 0.0, 1.0)
