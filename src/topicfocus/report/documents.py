"""Predictions of all documents given, and a sample of the documents themselves for the page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from topicfocus.estimators.fitted import Fitted
from topicfocus.report.evaluation import (
    COVERAGE,
    calibration,
    confusion,
    figures,
    roc,
    rounded,
)
from topicfocus.report.inputs import Inputs
from topicfocus.report.packing import pack, pack_texts, size, whole

#: Nonzero counts beyond which the page gets only those that matter to predictions.
_MOST_COUNTS = 130_000


@dataclass(frozen=True)
class Predictions:
    """What the model says about every document.

    Attributes
    ----------
    mixes, composition : arrays (documents, topics)
        θ̂, which predictions come from, and shares of the relevant tokens.
    predictor, offset : arrays (documents, predictors)
        f, and what it has besides topics and covariates: b + log E.
    covariates : array (documents, covariates) or None
    mean : list of arrays, one a target: numbers, or probabilities documents x classes
    interval : list of pairs of arrays or None, one a target
        Ends of the 80% interval of a number.
    """

    mixes: np.ndarray
    composition: np.ndarray
    predictor: np.ndarray
    offset: np.ndarray
    covariates: np.ndarray | None
    mean: list[np.ndarray]
    interval: list[tuple[np.ndarray, np.ndarray] | None]


def predict_all(inputs: Inputs, exposure: Any = None, covariates: Any = None) -> Predictions:
    """Everything from one pass over the documents."""
    fitted, n_jobs = inputs.fitted, inputs.model.n_jobs
    if not inputs.n_docs:
        return _nothing(fitted)
    documents = fitted.documents(inputs.counts, None, exposure, covariates)
    mixes = fitted.mixes(documents.corpus, n_jobs)
    predictor = fitted.predictors(documents, mixes, n_jobs)
    offset = np.zeros((inputs.n_docs, fitted.state.n_predictors)) + fitted.state.intercept
    if documents.offset is not None:
        offset = offset + documents.offset
    spread = fitted.predictor_variance(documents.corpus, mixes, n_jobs)
    mean: list[np.ndarray] = []
    interval: list[tuple[np.ndarray, np.ndarray] | None] = []
    for part in fitted.parts:
        if part.coding.is_class:
            mean.append(part.probabilities(predictor))
            interval.append(None)
        else:
            mean.append(part.mean(predictor))
            interval.append(part.interval(predictor, spread, COVERAGE))
    shares = fitted.token_proportions(documents.corpus, mixes)
    return Predictions(mixes, shares, predictor, offset, documents.covariates, mean, interval)


def _nothing(fitted: Fitted) -> Predictions:
    """Of no documents."""
    state = fitted.state
    bare = np.zeros((0, state.n_predictors))
    mean: list[np.ndarray] = []
    for part in fitted.parts:
        coding = part.coding
        mean.append(np.zeros((0, coding.n_labels)) if coding.is_class else np.zeros(0))
    none = np.zeros((0, state.n_topics))
    return Predictions(none, none, bare, bare, None, mean, [None for _ in mean])


def read_baselines(inputs: Inputs, given: Any) -> dict[str, list[np.ndarray]]:
    """Predictions of others, one array a target."""
    out: dict[str, list[np.ndarray]] = {}
    for name, predictions in dict(given or {}).items():
        codings = inputs.codings
        parts = [predictions] if len(codings) == 1 else predictions
        if len(codings) > 1 and isinstance(predictions, np.ndarray):
            parts = list(predictions.T)
        columns = []
        for coding, part in zip(codings, parts, strict=True):
            column = np.asarray(part, dtype=float)
            if coding.is_class:
                if column.ndim == 1:
                    column = np.column_stack([1 - column, column])
                n_classes = coding.n_labels
                if column.shape[1] != n_classes:
                    raise ValueError(
                        f"the baseline {name!r} has {column.shape[1]} columns, but there are "
                        f"{n_classes} classes: give probabilities, one column a class."
                    )
            if len(column) != inputs.n_docs:
                raise ValueError(
                    f"the baseline {name!r} predicts {len(column)} documents, but there are "
                    f"{inputs.n_docs}."
                )
            columns.append(column)
        out[str(name)] = columns
    return out


def evaluate(
    inputs: Inputs, found: Predictions, baselines: dict[str, list[np.ndarray]]
) -> list[dict[str, Any] | None]:
    """Figures and curves of each target, over all documents that have it."""
    if inputs.codes is None or not inputs.n_docs:
        return [None for _ in inputs.codings]
    out: list[dict[str, Any] | None] = []
    for t, coding in enumerate(inputs.codings):
        known = np.isfinite(inputs.codes[:, t])
        if known.sum() < 2:
            out.append(None)
            continue
        truth = coding.decode_levels(inputs.codes[known, t])
        mean, ends = found.mean[t][known], found.interval[t]
        within = None if ends is None else (ends[0][known], ends[1][known])
        rows = {"this model": figures(coding, truth, mean, within)}
        for name, predicted in baselines.items():
            rows[name] = figures(coding, truth, predicted[t][known])
        record: dict[str, Any] = {"n": int(known.sum()), "figures": rows}
        if coding.is_class:
            record["roc"] = [roc(truth == c, mean[:, c]) for c in range(mean.shape[1])]
            record["calibration"] = [
                calibration((truth == c).astype(float), mean[:, c], shares=True)
                for c in range(mean.shape[1])
            ]
            record["confusion"] = confusion(truth, mean)
            # How often the class predicted is right, by how sure the model was.
            right = (mean.argmax(axis=1) == truth).astype(float)
            record["certainty"] = calibration(right, mean.max(axis=1), shares=True)
        else:
            record["calibration"] = [calibration(truth, mean, shares=False)]
        out.append(record)
    return out


def sample_rows(n_docs: int, most: int, random_state: int | None) -> np.ndarray:
    """Documents for the page, in their order."""
    if n_docs <= most:
        return np.arange(n_docs)
    return np.sort(np.random.default_rng(random_state).choice(n_docs, most, replace=False))


def document_summary(
    inputs: Inputs,
    found: Predictions,
    rows: np.ndarray,
    names: list[str] | None,
    relevant: np.ndarray,
) -> dict[str, Any]:
    """The sample: predictions, targets, counts and texts; `relevant`: words that topics contain."""
    counts = sparse.csr_array(inputs.counts[rows])
    every = counts.nnz <= _MOST_COUNTS
    if not every:
        counts = counts.copy()
        counts.data = counts.data * relevant[counts.indices]
        counts.eliminate_zeros()
    counts.sort_indices()
    steps = np.diff(counts.indices, prepend=0)
    first = counts.indptr[:-1][np.diff(counts.indptr) > 0]
    steps[first] = counts.indices[first]  # each document starts from column 0
    out: dict[str, Any] = {
        "n": inputs.n_docs,
        "row": rows.tolist(),
        "names": None if names is None else [names[i] for i in rows],
        "all_words": bool(every),
        "length": whole(np.diff(counts.indptr).astype(float)),
        "step": whole(steps.astype(float)),
        "count": whole(counts.data),
        "composition": pack(found.composition[rows], "u2", 1 / 65535),
        "predictor": pack(found.predictor[rows], "f8"),
        "offset": pack(found.offset[rows], "f8"),
        # Of more than two classes the page finds them from the predictors.
        "mean": [
            None if coding.n_predictors > 1 else pack(m[rows], "f8")
            for coding, m in zip(inputs.codings, found.mean, strict=True)
        ],
        "actual": None,
        "texts": None,
        "shortened": False,
    }
    if found.covariates is not None:
        out["covariates"] = pack(found.covariates[rows], "f8")
    if inputs.codes is not None:
        out["actual"] = [rounded(inputs.codes[rows, t], 9) for t in range(inputs.codes.shape[1])]
    return out


def pack_within(texts: list[str], budget: int) -> tuple[dict[str, Any], bool]:
    """Texts packed into so many characters, and whether they had to be cut, all at one length."""
    packed = pack_texts(texts)
    if size(packed) <= budget:
        return packed, False
    low, high = 100, max(map(len, texts))
    while high - low > max(50, low // 20):
        middle = (low + high) // 2
        trial = pack_texts([_shorten(t, middle) for t in texts])
        if size(trial) <= budget:
            low, packed = middle, trial
        else:
            high = middle
    if size(packed) > budget:
        packed = pack_texts([_shorten(t, low) for t in texts])
    return packed, True


def _shorten(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[:longest] + " …"
