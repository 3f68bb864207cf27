"""The documents of the page: a random sample, and means of all documents by group or time."""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from topicfocus.report.evaluation import Predictions, rounded
from topicfocus.report.inputs import Inputs
from topicfocus.report.render import pack, pack_texts, size, whole

#: Nonzero counts above which the page gets only the words of topics.
_MOST_COUNTS = 130_000
#: Distinct words of topics, and characters, of a document that is quickly read.
_EXAMPLE_WORDS = (4, 25)
_EXAMPLE_CHARACTERS = 700
#: Quantile of the documents' strongest words that is shaded in full.
_FULL_SHADE = 0.9
#: Groups shown by themselves; the rarest are pooled.
MOST_GROUPS = 20
_POOLED = "all others"
#: Points in time shown as they are; more are pooled into intervals.
MOST_TIMES = 30
_INTERVALS = 12


# ---- the sample ----------------------------------------------------------------------------------


def sample_rows(n_docs: int, most: int, random_state: int | None) -> np.ndarray:
    """Row numbers of the documents in the page, in ascending order."""
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
    """Predictions, targets and counts of the sample; `relevant` marks the words of topics."""
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
        "predictor": pack(found.predictor[rows], "f4"),
        "offset": pack(found.offset[rows], "f8"),
        # For more than two classes the page computes them from the predictors.
        "mean": [
            None if coding.n_predictors > 1 else pack(m[rows], "f8")
            for coding, m in zip(inputs.codings, found.mean, strict=True)
        ],
        "actual": None,
        "texts": None,
    }
    if found.covariates is not None:
        out["covariates"] = pack(found.covariates[rows], "f8")
    if inputs.codes is not None:
        out["actual"] = [rounded(inputs.codes[rows, t], 9) for t in range(inputs.codes.shape[1])]
    return out


def pack_within(texts: list[str], budget: int) -> dict[str, Any]:
    """Pack texts into `budget` characters; the longest ones that do not fit become None.

    A text is never cut, because the page would explain words that it does not show.
    """
    lengths = sorted(map(len, texts))

    def packed(n: int) -> dict[str, Any]:
        """The texts that are not longer than the first n."""
        longest = lengths[n - 1] if n else -1
        return pack_texts([text if len(text) <= longest else None for text in texts])

    everything = packed(len(texts))
    if size(everything) <= budget:
        return everything
    fits = bisect.bisect_right(range(len(texts)), budget, key=lambda n: size(packed(n)))
    return packed(max(fits - 1, 0))


def document_examples(
    inputs: Inputs, found: Predictions, rows: np.ndarray, extras: Any
) -> dict[str, Any]:
    """The first document to explain, and for each predictor the amount that is shaded in full.

    A word that adds ±shade per occurrence or more is coloured in full in every document. The
    example is short, predicted well, and has words with positive and negative contributions.
    """
    if not len(rows):
        return {"example": None, "shade": None}
    counts = inputs.counts[rows]
    words = _explain(inputs, extras, rows).words
    per_occurrence = sparse.csr_array(counts.copy())
    per_occurrence.data = 1.0 / per_occurrence.data
    shade = []
    for amounts in words:
        strongest = abs(amounts.multiply(per_occurrence)).max(axis=1).toarray().ravel()
        positive = strongest[strongest > 0]
        shade.append(float(np.quantile(positive, _FULL_SHADE)) if len(positive) else 1.0)
    return {"example": _example(inputs, found, rows, words), "shade": shade}


def _explain(inputs: Inputs, extras: Any, rows: Any = slice(None)) -> Any:
    """The explanation of some documents."""
    values = {"exposure": extras.exposure, "covariates": extras.covariates}
    given = {name: None if v is None else np.asarray(v)[rows] for name, v in values.items()}
    return inputs.model.explain(inputs.counts[rows], **given)


def _example(inputs: Inputs, found: Predictions, rows: np.ndarray, words: Any) -> int:
    """The short document with the largest min(Σ positive, Σ negative) contributions."""
    coding, mean, first = inputs.codings[0], found.mean[0][rows], inputs.fitted.parts[0].where.start
    predicted = mean.argmax(axis=1) if coding.n_predictors > 1 else np.zeros(len(rows), dtype=int)
    both = np.empty(len(rows))
    for l in np.unique(predicted):
        amounts = words[first + l]
        signs = [amounts.maximum(0).sum(axis=1), -amounts.minimum(0).sum(axis=1)]
        both[predicted == l] = np.minimum(*signs)[predicted == l]
    n_words = np.diff(words[first].indptr)
    # Of the criteria, a later one counts more than all before it.
    criteria: list[Any] = [both]
    if inputs.codes is not None:
        codes = inputs.codes[rows, 0]
        actual = coding.decode_levels(codes)
        error = np.abs(actual - mean) if mean.ndim == 1 else _wrong(codes, mean)
        criteria.append(error <= np.nanmedian(error) if np.isfinite(error).any() else error == 0)
    if inputs.texts is not None and inputs.words.text:
        criteria.append([len(inputs.texts[i]) <= _EXAMPLE_CHARACTERS for i in rows])
    criteria.append((n_words >= _EXAMPLE_WORDS[0]) & (n_words <= _EXAMPLE_WORDS[1]))
    return int(np.lexsort(criteria)[-1])


def _wrong(codes: np.ndarray, probabilities: np.ndarray) -> np.ndarray:
    """One less the probability of the actual class, NaN where it is not known."""
    known = np.isfinite(codes)
    own = probabilities[np.arange(len(codes)), np.where(known, codes, 0).astype(int)]
    return np.where(known, 1.0 - own, np.nan)


# ---- means by group and time ---------------------------------------------------------------------


def group_summary(inputs: Inputs, found: Predictions, extras: Any) -> list[dict[str, Any]] | None:
    """Means of the documents of each group or time, None if neither was given.

    Returns
    -------
    list of dict, or None
        "name", "kind" ("group" or "time"), "labels", and for each label "n" documents, the mean
        "share" of every topic with its standard "error" (None for a single document). "targets"
        has for every target (None for more than two classes, whose scores are relative) the mean
        "predicted" and "actual", and what each topic "adds": the group's mean contribution less
        that of all documents, as in `explain`.
    """
    columns = [("group", *pair) for pair in _named(extras.by, "group")]
    columns += [("time", *pair) for pair in _named(extras.time, "time")]
    tables = _outcomes(inputs, found, extras) if columns else []
    out = []
    for kind, name, values in columns:
        if len(values) != inputs.n_docs:
            raise ValueError(
                f"{name} has {len(values)} values, but there are {inputs.n_docs} documents."
            )
        labels, place = _groups(values) if kind == "group" else _times(name, values)
        if len(labels) < 2:  # nothing to compare
            continue
        shares = _grouped(pd.DataFrame(found.composition), place, len(labels))
        out.append(
            {
                "name": name,
                "kind": kind,
                "labels": labels,
                "n": np.bincount(place[place >= 0], minlength=len(labels)).tolist(),
                "share": shares.mean().to_numpy(),
                "error": shares.sem().to_numpy(),
                "targets": [None if t is None else _means(t, place, len(labels)) for t in tables],
            }
        )
    return out or None


def _outcomes(inputs: Inputs, found: Predictions, extras: Any) -> list[pd.DataFrame | None]:
    """Prediction, target and contributions of topics by document, one table per target."""
    topics = _explain(inputs, extras).topics
    out: list[pd.DataFrame | None] = []
    for t, part in enumerate(inputs.fitted.parts):
        if part.width > 1:
            out.append(None)
            continue
        table = pd.DataFrame(topics[part.where.start].toarray())
        mean = found.mean[t]
        table["predicted"] = mean[:, 1] if mean.ndim > 1 else mean
        if inputs.codes is not None:
            table["actual"] = part.coding.decode_levels(inputs.codes[:, t])
        out.append(table)
    return out


def _grouped(table: pd.DataFrame, place: np.ndarray, n: int) -> Any:
    """Rows grouped by their place from 0 to n - 1; rows with the place -1 are left out."""
    groups = pd.Categorical.from_codes(place, categories=range(n))
    return table.groupby(groups, observed=False)


def _means(table: pd.DataFrame, place: np.ndarray, n: int) -> dict[str, Any]:
    """Means of each group, NaN for a group without documents."""
    means = _grouped(table, place, n).mean()
    topics = [name for name in table if name not in ("predicted", "actual")]
    return {
        "predicted": means["predicted"].tolist(),
        "actual": means["actual"].tolist() if "actual" in means else None,
        "adds": (means[topics] - table[topics].mean()).to_numpy(),
    }


def _named(given: Any, kind: str) -> list[tuple[str, pd.Series]]:
    """Name and values of each column, missing values as None."""
    if given is None:
        return []
    if not isinstance(given, Mapping):
        name = getattr(given, "name", None)
        given = {kind if name is None else name: given}
    columns = ((str(name), pd.Series(list(values), dtype=object)) for name, values in given.items())
    return [(name, values.mask(values.isna() | (values == ""), None)) for name, values in columns]


def _groups(values: pd.Series) -> tuple[list[str], np.ndarray]:
    """Labels, the most frequent first (numbers in ascending order), and the place of each row.

    The place of a row without a group is -1.
    """
    known = values.dropna().map(str)
    frequent = known.value_counts(sort=False).sort_values(ascending=False, kind="stable").index
    labels = list(frequent[:MOST_GROUPS])
    numbers = pd.to_numeric(pd.Series(labels), errors="coerce")
    if np.isfinite(numbers).all():
        labels = [labels[i] for i in np.argsort(numbers, kind="stable")]
    place = np.full(len(values), -1)
    place[known.index] = pd.Index(labels).get_indexer(known)
    if len(frequent) > MOST_GROUPS:
        place[known.index] = np.where(place[known.index] < 0, len(labels), place[known.index])
        labels.append(_POOLED)
    return labels, place


def _times(name: str, values: pd.Series) -> tuple[list[str], np.ndarray]:
    """Points or intervals of time in ascending order, and the place of each row."""
    known = values.dropna()
    place = np.full(len(values), -1)
    if known.empty:
        return [], place
    numbers = pd.to_numeric(known, errors="coerce").to_numpy(dtype=float)
    if np.isfinite(numbers).all():
        labels, place[known.index] = _number_intervals(numbers)
        return labels, place
    days = pd.to_datetime(
        known.map(lambda value: str(value)[:10]), errors="coerce", format="ISO8601"
    )
    wrong = known[days.isna()]
    if len(wrong):
        raise ValueError(
            f"{name}: times are numbers, or dates such as 2024-05-31; got "
            f"{str(wrong.iloc[0])[:40]!r} (document {wrong.index[0] + 1})."
        )
    labels, place[known.index] = _dates(days)
    return labels, place


def _number_intervals(numbers: np.ndarray) -> tuple[list[str], np.ndarray]:
    points, place = np.unique(numbers, return_inverse=True)
    if len(points) <= MOST_TIMES:
        return [f"{p:g}" for p in points], place
    edges = np.linspace(points[0], points[-1], _INTERVALS + 1)
    place = np.clip(np.searchsorted(edges, numbers, side="right") - 1, 0, _INTERVALS - 1)
    return [f"{a:.4g} to {b:.4g}" for a, b in itertools.pairwise(edges)], place


def _dates(days: pd.Series) -> tuple[list[str], np.ndarray]:
    """Days, months or years: the finest unit with at most `MOST_TIMES` points."""
    for unit in ("D", "M", "Y"):
        periods = days.dt.to_period(unit)
        place, points = pd.factorize(periods, sort=True)
        if len(points) <= MOST_TIMES:
            break
    return [str(p) for p in points], place
