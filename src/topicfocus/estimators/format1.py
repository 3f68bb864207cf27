"""Model files of format 1: fitted attributes one by one, as they were called then.

Format 2 keeps `fitted_`. A file of format 1 is turned into one as it is read; what the checks of
`estimators.storage` then see is a model of today.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from topicfocus.estimators.coding import REGRESSION_FAMILIES, Coding
from topicfocus.estimators.documents import Scaling
from topicfocus.estimators.fitted import Fitted
from topicfocus.estimators.targets import TargetModel
from topicfocus.families import Categorical, Gaussian
from topicfocus.inference.state import ModelState

#: What stays an attribute of the estimator.
_STILL = ("n_features_in_", "feature_names_in_", "covariate_names_", "exposure_name_")


def upgrade_coding(fields: dict[str, Any]) -> dict[str, Any]:
    """The name of a family was kept, where today there is an example of it."""
    if "kind" not in fields:
        return fields
    kind: str = fields["kind"]
    labels: Any = fields.get("labels")
    if kind == "categorical":
        return {"family": Categorical(len(labels)), "labels": labels}
    return {"family": REGRESSION_FAMILIES[kind], "labels": labels}


def upgrade_attributes(old: dict[str, Any]) -> dict[str, Any]:
    """`fitted_` from attributes such as `components_` and `coef_`."""
    if "fitted_" in old or "components_" not in old:
        return old
    hyper: Any = old.get("_hyper")
    focused = hyper is None
    selects = "inclusion_" in old if focused else bool(hyper.selects)
    if selects and not {"inclusion_", "background_"} <= set(old):
        raise ValueError("a model that selects words must have inclusion_ and background_")
    fitted = Fitted(
        state=_state(old),
        targets=_targets(old),
        sees_roots=focused,
        selects=selects,
        n_iter=old.get("n_iter_", 0),
        history=old.get("history_", {}),
        n_samples_seen=old.get("n_samples_seen_"),
        word_count=old.get("_word_count"),
        hyper=hyper,
        converged=old.get("converged_"),
        evidence=old.get("evidence_"),
        inclusion_prior=old.get("inclusion_prior_"),
        supervision_weight=old.get("supervision_weight_"),
        shaping=old.get("rung_"),
        explained=old.get("explained_"),
    )
    kept = {name: value for name, value in old.items() if name in _STILL}
    return {**kept, "fitted_": fitted}


def _state(old: dict[str, Any]) -> ModelState:
    components = old["components_"]
    n_topics, n_words = components.shape
    topics = np.ascontiguousarray(components.T)
    if "topic_volume_" in old:
        topics = topics * old["topic_volume_"]
    zeta = old.get("covariate_coef_")
    return ModelState(
        topics,
        old.get("inclusion_", np.ones(n_words)),
        old.get("background_", np.zeros(n_words)),
        np.ascontiguousarray(old.get("coef_", np.zeros(n_topics)).T),
        old.get("family_", Gaussian(1.0)),
        old["doc_topic_prior_"],
        old.get("intercept_", 0.0),
        None if zeta is None else np.ascontiguousarray(np.atleast_2d(zeta).T),
    )


def _targets(old: dict[str, Any]) -> TargetModel | None:
    codings = old.get("_codings")
    if codings is None:
        return None
    if not all(isinstance(coding, Coding) for coding in codings):
        raise ValueError("_codings must be a list of codings, one a target")
    scaling = old.get("_scaling", Scaling.of(None, np.ones(0)))
    return TargetModel(tuple(codings), scaling, old["n_covariates_"])
