"""One table function: any models on any data set, on the same splits, by the same rule."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from topicfocus.datasets import Dataset
from topicfocus.reproduce.choice import mean_sd
from topicfocus.reproduce.execute import score, topic_figures
from topicfocus.reproduce.models import MODELS
from topicfocus.reproduce.sections import markdown_table

_SHOWN = (
    ("test", "{:.3f}"),
    ("pmi50", "{:.3f}"),
    ("npmi10", "{:.3f}"),
    ("agreement", "{:.3f}"),
    ("kept", "{:.1%}"),
    ("seconds", "{:.1f}"),
)
_NAMES = {
    "pmi50": "paper's coherence@50",
    "npmi10": "npmi@10",
    "agreement": "target agreement",
    "kept": "words kept",
}


@dataclass(frozen=True)
class Comparison:
    """Rows of figures, one a model and split, and their summary.

    Attributes
    ----------
    rows : list of dict
        "model", "split", "setting" (the chosen one), "valid" and "test" (RMSE or AUC), measures of
        the topics, "seconds".
    score : str
        "RMSE" or "AUC".

    Examples
    --------
    >>> from topicfocus.reproduce import Comparison
    >>> rows = [{"model": "words", "split": s, "test": 0.9, "seconds": 1.0} for s in (0, 1)]
    >>> print(Comparison(rows, "RMSE"))  # doctest: +ELLIPSIS
    | model | splits | RMSE | ...
    | words | 2 | 0.900 (0.000) | ...
    """

    rows: list[dict[str, Any]]
    score: str

    def to_markdown(self) -> str:
        """Mean (standard deviation) over the splits.

        Returns
        -------
        str
            A table of Markdown, a line a model.

        Examples
        --------
        >>> from topicfocus.reproduce import Comparison
        >>> rows = [{"model": "words", "split": 0, "test": 0.9}]
        >>> Comparison(rows, "AUC").to_markdown().split(" | ")[:3]
        ['| model', 'splits', 'AUC']
        """
        models = list(dict.fromkeys(row["model"] for row in self.rows))
        lines = []
        for model in models:
            mine = [row for row in self.rows if row["model"] == model]
            cells = [mean_sd([row.get(key) for row in mine], shape) for key, shape in _SHOWN]
            lines.append([model, str(len(mine)), *cells])
        header = ["model", "splits"]
        header += [self.score if k == "test" else _NAMES.get(k, k) for k, _ in _SHOWN]
        return markdown_table(header, lines)

    def __str__(self) -> str:
        return self.to_markdown()


def compare(
    load: Callable[[int], Dataset],
    models: Sequence[str] | None = None,
    splits: int | Sequence[int] = 5,
    progress: Callable[[str, int], None] | None = None,
) -> Comparison:
    """Fit models to the splits of a data set and compare them on its test parts.

    Parameters
    ----------
    load : callable
        The split's number -> Dataset, for example ``load_pang_lee``. Regression or two classes.
    models : list of str, optional
        Names of ``topicfocus.reproduce.MODELS``; by default all whose packages are installed.
    splits : int or list of int, default=5
        How many splits (0, 1, ...), or which.
    progress : callable, optional
        Called with the model and the split before each is fitted.

    Returns
    -------
    Comparison
        ``print`` it, or use its ``rows``.

    Raises
    ------
    ValueError
        If no model has such a name, or the target is neither a number nor two classes.
    ImportError
        If a model's package is not installed.

    Examples
    --------
    >>> from topicfocus.datasets import Dataset, Part, make_reviews
    >>> from topicfocus.reproduce import compare
    >>> def load(split):
    ...     made = [make_reviews(n, random_state=split) for n in (200, 50, 50)]
    ...     parts = [Part(one.counts, one.target, one.texts) for one in made]
    ...     about = {"name": "made", "source": "", "licence": "", "target_names": ("stars",)}
    ...     words = tuple(made[0].vocabulary)
    ...     return Dataset(*parts, vocabulary=words, task="regression", **about)
    >>> found = compare(load, ["words", "roots of words"], splits=2)
    >>> [(row["model"], row["split"]) for row in found.rows]
    [('words', 0), ('roots of words', 0), ('words', 1), ('roots of words', 1)]
    """
    names = [name for name, m in MODELS.items() if m.available] if models is None else list(models)
    unknown = [name for name in names if name not in MODELS]
    if unknown:
        raise ValueError(f"no model is called {unknown[0]!r}; there are {', '.join(MODELS)}")
    for name in names:
        if not MODELS[name].available:
            raise ImportError(
                f"{name} needs the package {MODELS[name].package}: "
                "pip install 'topicfocus[reproduce]'."
            )
    rows: list[dict[str, Any]] = []
    kind = "RMSE"
    for split in range(splits) if isinstance(splits, int) else splits:
        data = load(split)
        if data.task not in ("regression", "binary"):
            raise ValueError(f"compare needs a number or two classes, not {data.task}")
        kind = "AUC" if data.task == "binary" else "RMSE"
        found: dict[str, dict[str, Any]] = {}
        for name in names:
            if progress is not None:
                progress(name, split)
            if name not in found:  # else it came with another one
                found |= _best(data, MODELS[name].comes_with or name, split)
            rows.append({"model": name, "split": split, **found[name]})
    return Comparison(rows, kind)


def _best(data: Dataset, name: str, seed: int) -> dict[str, dict[str, Any]]:
    """Figures of the setting that predicts the validation part best, also of by-products."""
    sign = 1.0 if data.task == "binary" else -1.0
    best: dict[str, dict[str, Any]] = {}
    for settings in MODELS[name].grid:
        fit = MODELS[name].fit(data, settings, seed)
        for model, one in {name: fit, **fit.also}.items():
            valid = score(data, data.valid.target, one.predict(data.valid.counts))
            if model in best and not sign * valid > sign * best[model]["valid"]:
                continue
            best[model] = {
                "setting": dict(settings),
                "valid": valid,
                "test": score(data, data.test.target, one.predict(data.test.counts)),
                **one.figures,
                **topic_figures(one, data),
            }
    return {model: {k: _plain(v) for k, v in row.items()} for model, row in best.items()}


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
