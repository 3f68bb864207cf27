"""The frontier: a row a setting, from the records of its folds; and `cv_results_`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from topicfocus.selection.figures import FIGURES
from topicfocus.selection.indices import masks, mean_jaccard, nogueira_index

Record = dict[str, Any]


def row_of(setting: Mapping[str, Any], records: Sequence[Record]) -> Record:
    """A setting over its folds; its figures are not known if it failed on one of them."""
    scores = np.array([r["score"] for r in records], dtype=float)
    n = len(scores)
    errors = [r["error"] for r in records if r["error"]]
    row: Record = dict(setting)
    for name in ("n_topics", "inclusion_prior"):  # "auto", or not searched: what was used
        if not isinstance(row.get(name), (int, float)):
            row[name] = _mean(records, name)
    row["score"] = float(scores.mean())
    row["score_se"] = float(scores.std(ddof=1) / math.sqrt(n)) if n > 1 else math.nan
    row |= {name: _mean(records, name) for name in FIGURES}
    sets = [r["kept"] for r in records]
    chosen = masks(sets) if not errors and any(sets) else None
    row["jaccard"] = math.nan if chosen is None else mean_jaccard(chosen)
    row["nogueira"] = math.nan if chosen is None else _nogueira(records, chosen)
    row["seconds"] = _mean(records, "seconds")
    row["error"] = errors[0] if errors else None
    return row


def _nogueira(records: Sequence[Record], chosen: np.ndarray) -> float:
    """Nogueira's index; columns that no fold keeps count, too."""
    n_words = max(int(r.get("vocabulary", 0)) for r in records)
    missing = max(n_words - chosen.shape[1], 0)
    every = np.hstack([chosen, np.zeros((len(chosen), missing), dtype=bool)])
    return float(nogueira_index(every).value)


def _mean(records: Sequence[Record], name: str) -> float:
    return float(np.mean([r[name] for r in records]))


def as_table(rows: list[Record]) -> Any:
    """A dataframe where pandas is installed, else the rows themselves."""
    try:
        import pandas as pd
    except ImportError:
        return rows
    return pd.DataFrame(rows)


def cv_results(
    settings: list[dict[str, Any]], by_setting: list[list[Record]], rows: list[Record]
) -> dict[str, Any]:
    """What GridSearchCV calls by the same names."""
    results: dict[str, Any] = {}
    for ours, theirs in (("seconds", "fit_time"), ("score_seconds", "score_time")):
        times = np.array([[r[ours] for r in records] for records in by_setting], dtype=float)
        results[f"mean_{theirs}"] = times.mean(axis=1)
        results[f"std_{theirs}"] = times.std(axis=1)
    for name in sorted({name for setting in settings for name in setting}):
        mask = [name not in setting for setting in settings]
        values = np.empty(len(settings), dtype=object)
        values[:] = [setting.get(name) for setting in settings]
        results[f"param_{name}"] = np.ma.MaskedArray(values, mask=mask)
    results["params"] = settings
    scores = np.array([[r["score"] for r in records] for records in by_setting], dtype=float)
    for fold, column in enumerate(scores.T):
        results[f"split{fold}_test_score"] = column
    results["mean_test_score"] = scores.mean(axis=1)
    results["std_test_score"] = scores.std(axis=1)
    results["se_test_score"] = np.array([row["score_se"] for row in rows])
    means = np.where(np.isnan(scores.mean(axis=1)), -np.inf, scores.mean(axis=1))
    results["rank_test_score"] = np.array(
        [1 + int(np.sum(means > m)) for m in means], dtype=np.int32
    )
    results["error"] = [row["error"] for row in rows]
    return results
