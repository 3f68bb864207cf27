"""The remainder in the page: its terms, coefficients and, of the documents, its amounts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from topicfocus.corpus import make_corpus
from topicfocus.estimators.remainder import held_out_completeness
from topicfocus.remainder import RESOLUTION, Remainder
from topicfocus.report.inputs import Inputs
from topicfocus.report.render import pack, pack_texts, size

#: Characters of the coefficients in the page.
COEF_BUDGET = 300_000
#: Fractions of the coefficients that are kept where all do not fit.
_FRACTIONS = (1.0, 0.5, 0.25, 0.12, 0.06, 0.03, 0.01)


def remainder_summary(inputs: Inputs, counts: Any) -> dict[str, Any] | None:
    """What the page computes the remainder with; None for a model without.

    `error` is the largest change of a linear predictor of these documents by what was cut: the
    weakest coefficients, where all do not fit into the page.
    """
    rest = inputs.fitted.remainder
    if rest is None:
        return None
    packed, cut = _pack_coef(rest.coef)
    return {
        "names": None if rest.names is None else pack_texts(list(rest.names)),
        "rarity": pack(rest.rarity, "f4"),
        "coef": packed,
        "level": rest.level.tolist(),
        "total": int(np.count_nonzero(rest.coef)),
        "kept": int(np.count_nonzero(cut)),
        "error": _error(inputs, replace(rest, coef=cut), counts),
    }


def completeness_summary(inputs: Inputs, extras: Any) -> dict[str, Any] | None:
    """Completeness of the topics, in the documents if they had no part in the fit."""
    fitted, found = inputs.fitted, inputs.fitted.completeness
    if found is None:
        return None
    which = "validation"
    if extras.held_out and inputs.codes is not None and inputs.n_docs:
        documents = fitted.documents(inputs.counts, None, extras.exposure, extras.covariates)
        documents = replace(documents, target=inputs.codes)
        tested = held_out_completeness(fitted, documents, inputs.model.n_jobs)
        if tested is not None:
            found, which = tested, "held-out"
    return {**found._asdict(), "documents": which}


def remainder_of_documents(inputs: Inputs, counts: Any) -> dict[str, Any] | None:
    """What the remainder adds to the linear predictors of documents, packed."""
    if inputs.fitted.remainder is None:
        return None
    return pack(inputs.fitted.remainder_amounts(_corpus(counts)), "f8")


def _corpus(counts: Any) -> Any:
    return make_corpus(counts, allow_empty=True, fractions=True)


def _pack_coef(coef: np.ndarray) -> tuple[list[dict[str, Any]], np.ndarray]:
    """The coefficients of each predictor, and what is left of them."""
    largest = np.maximum(np.abs(coef).max(axis=0, initial=0.0), 1e-300)
    for fraction in _FRACTIONS:
        size_of = np.abs(coef) / largest
        least = np.quantile(size_of, 1 - fraction) if fraction < 1 and coef.size else 0.0
        kept = np.where(size_of >= least, coef, 0.0)
        packed = [
            pack(column, "i2", float(most * RESOLUTION))
            for column, most in zip(kept.T, largest, strict=True)
        ]
        if sum(map(size, packed)) <= COEF_BUDGET:
            break
    return packed, kept


def _error(inputs: Inputs, cut: Remainder, counts: Any) -> float:
    if not counts.shape[0] or inputs.fitted.remainder is None:
        return 0.0
    terms = inputs.fitted.remainder_counts(_corpus(counts))
    return float(np.abs(inputs.fitted.remainder.amounts(terms) - cut.amounts(terms)).max())
