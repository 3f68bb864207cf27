"""Which document to begin with, and how strong a word of the documents can be."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from topicfocus.report.documents import Predictions
from topicfocus.report.inputs import Inputs

#: Words of topics, and characters, of a document that is quickly read.
_WORDS = (4, 25)
_CHARACTERS = 700
#: Of the documents' strongest words, the share that is shaded in full.
_FULL = 0.9


def document_examples(
    inputs: Inputs, found: Predictions, rows: np.ndarray, exposure: Any, covariates: Any
) -> dict[str, Any]:
    """`example`, the place of one document in the sample, and `shade`, one number a predictor.

    A word that adds ±shade an occurrence, or more, is coloured in full, in whichever document: it
    is the 90th percentile of the documents' strongest words. The example is short, predicted well,
    and has words on both sides: of such documents the one with the largest min(Σ up, Σ down).
    """
    if not len(rows):
        return {"example": None, "shade": None}
    counts = sparse.csr_array(inputs.counts[rows])
    take = lambda values: None if values is None else np.asarray(values)[rows]  # noqa: E731
    explained = inputs.model.explain(counts, exposure=take(exposure), covariates=take(covariates))
    each = counts.copy()
    each.data = 1.0 / each.data
    strongest = [
        abs(words.multiply(each)).max(axis=1).toarray().ravel() for words in explained.words
    ]
    shade = [float(np.quantile(s[s > 0], _FULL)) if np.any(s > 0) else 1.0 for s in strongest]
    return {"example": _example(inputs, found, rows, explained.words), "shade": shade}


def _example(inputs: Inputs, found: Predictions, rows: np.ndarray, words: Any) -> int:
    part = inputs.fitted.parts[0]
    chosen = np.full(len(rows), part.where.start)
    if part.where.stop - part.where.start > 1:
        chosen = part.where.start + found.mean[0][rows].argmax(axis=1)
    both = np.zeros(len(rows))
    size = np.zeros(len(rows), dtype=int)
    for l in np.unique(chosen):
        mine = np.flatnonzero(chosen == l)
        amounts = sparse.csr_array(words[l][mine])
        up = np.asarray(amounts.maximum(0).sum(axis=1)).ravel()
        down = np.asarray((-amounts).maximum(0).sum(axis=1)).ravel()
        both[mine] = np.minimum(up, down)
        size[mine] = np.diff(amounts.indptr)
    both = both + 1e-9
    both[(size < _WORDS[0]) | (size > _WORDS[1])] *= 0.01
    if inputs.texts is not None:
        both[[len(inputs.texts[i]) > _CHARACTERS for i in rows]] *= 0.1
    error = _errors(inputs, found, rows)
    if np.isfinite(error).any():
        both[~(error <= np.nanmedian(error))] *= 0.001
    return int(np.argmax(both))


def _errors(inputs: Inputs, found: Predictions, rows: np.ndarray) -> np.ndarray:
    """How far the prediction of the first target is off, NaN where it is not known."""
    if inputs.codes is None:
        return np.full(len(rows), np.nan)
    coding, codes, mean = inputs.codings[0], inputs.codes[rows, 0], found.mean[0][rows]
    known = np.isfinite(codes)
    error = np.full(len(rows), np.nan)
    if coding.is_class:
        error[known] = 1.0 - mean[known, codes[known].astype(int)]
    else:
        error[known] = np.abs(coding.decode_levels(codes[known]) - mean[known])
    return error
