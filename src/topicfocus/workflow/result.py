"""`Result`: what a fit has found, as one object to read, plot, use and save."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from topicfocus.config import FitConfig
from topicfocus.text.errors import printable
from topicfocus.workflow.columns import remembered
from topicfocus.workflow.html import result_html
from topicfocus.workflow.predict import explain_text, predict_file
from topicfocus.workflow.saved import Saved
from topicfocus.workflow.sentences import as_text
from topicfocus.workflow.write import check_folder, write_result

if TYPE_CHECKING:
    from topicfocus.report import Explorer


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Result:
    """A fitted and evaluated model: what `topicfocus.fit` returns.

    In a notebook it shows its topics and held-out metrics.

    Attributes
    ----------
    pipeline : Pipeline
        The counter of words and the fitted model; takes texts.
    topics : pandas.DataFrame
        One row per topic, numbered from 1 in the order of every display: predictions for little and
        much of the topic, their difference with its held-out interval, the proportion of the topic,
        its words. `component` is the index in the model.
    words : pandas.DataFrame
        One row per word: frequencies, whether it was kept, and its probability in each topic.
    predictions : pandas.DataFrame
        One row per document: part, target, prediction with its uncertainty.
    summary : dict
        All of it in Python's own numbers and lists: what ``topicfocus fit --json`` prints and
        metrics.json contains.
    config : FitConfig
        The settings with everything that was chosen during the fit.
    folder : pathlib.Path or None
        Where it was saved by the fit.
    written : tuple of str
        Names of the files there.
    shown : dict
        Inputs of the explorer page.

    Examples
    --------
    >>> import pandas as pd
    >>> import topicfocus
    >>> from topicfocus.datasets import make_reviews
    >>> reviews = make_reviews(200, random_state=0)
    >>> frame = pd.DataFrame({"review": reviews.texts, "stars": reviews.target})
    >>> result = topicfocus.fit(frame, text="review", target="stars", topics=2)
    >>> result.topics["topic"].tolist(), sorted(result.metrics)
    ([1, 2], ['r2', 'rmse'])
    """

    pipeline: Any
    topics: pd.DataFrame
    words: pd.DataFrame
    predictions: pd.DataFrame
    summary: dict[str, Any]
    effect_table: pd.DataFrame
    shown: dict[str, Any]
    config: FitConfig | None = None
    folder: Path | None = None
    written: tuple[str, ...] = ()

    @property
    def model(self) -> Any:
        """The fitted estimator, the last step of `pipeline`."""
        return self.pipeline[-1]

    @property
    def metrics(self) -> dict[str, float]:
        """Held-out metrics of the model; empty if no document was held out.

        ``summary["held_out"]`` has those of the baselines, too.
        """
        return dict(next(iter(self.summary["held_out"].values()), {}))

    @property
    def saved(self) -> Saved:
        """The model as `predict_file`, `explain_text` and `report_file` take it."""
        columns = remembered(self.model)
        return Saved("this model", self.pipeline, self.pipeline[0], self.model, columns)

    def effects(self) -> pd.DataFrame:
        """Predicted differences of the topics, with 95% intervals from held-out documents.

        Returns
        -------
        pandas.DataFrame
            As `topic_effects` of the estimators, one row per topic (and class, for more than two),
            numbered as `topics`.

        Examples
        --------
        >>> import topicfocus
        >>> from topicfocus.datasets import make_reviews
        >>> reviews = make_reviews(200, random_state=0)
        >>> result = topicfocus.fit(reviews.texts, y=reviews.target, topics=2, phrases=False)
        >>> list(result.effects()["topic"])
        [1, 2]
        """
        return self.effect_table.copy()

    def predict(self, data: Any, **settings: Any) -> pd.DataFrame:
        """Predict new documents.

        Parameters
        ----------
        data : DataFrame, list or Series of texts, or path-like
            A DataFrame or file with the columns of the fit, besides the target.
        **settings
            Fields of `PredictConfig`: ``topics=True`` adds topic proportions and the strongest
            words of each document.

        Returns
        -------
        pandas.DataFrame
            As `predict_file`; with the index of `data`, if it has one, instead of row numbers.

        Examples
        --------
        >>> import topicfocus
        >>> from topicfocus.datasets import make_reviews
        >>> reviews = make_reviews(200, random_state=0)
        >>> result = topicfocus.fit(reviews.texts, y=reviews.target, topics=2, phrases=False)
        >>> found = result.predict(["a superb masterpiece", "an awful mess"], topics=True)
        >>> found["top_words"].tolist()
        ['masterpiece, superb', 'awful']
        """
        return predict_file(self.saved, data, **settings)

    def explain(self, document: Any, **settings: Any) -> dict[str, Any]:
        """What the words and topics of one document add to its prediction.

        Parameters
        ----------
        document : str, or row of a DataFrame
            The text, or a row (a Series or a dict) with the columns of the fit.
        **settings
            Fields of `ExplainConfig`: ``label``, ``covariates``, ``exposure``.

        Returns
        -------
        TextExplanation
            A dict as of `explain_text`, which shows itself in a notebook.

        Examples
        --------
        >>> import topicfocus
        >>> from topicfocus.datasets import make_reviews
        >>> reviews = make_reviews(200, random_state=0)
        >>> result = topicfocus.fit(reviews.texts, y=reviews.target, topics=2, phrases=False)
        >>> found = result.explain("a superb masterpiece, but awful actors")
        >>> {word: amount > 0 for word, amount in found["words"].items()}
        {'masterpiece': True, 'awful': False, 'superb': True}
        """
        if not isinstance(document, str):
            document, settings = self._read_row(document, settings)
        return explain_text(self.saved, document, **settings)

    def _read_row(self, row: Any, settings: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        """The text of a row, and its covariates and exposure as settings."""
        names = self.summary["settings"]
        values: dict[str, Any] = {}
        if names["covariates"]:
            values["covariates"] = {name: float(row[name]) for name in names["covariates"]}
        if names["exposure"]:
            values["exposure"] = float(row[names["exposure"]])
        return str(row[names["text"]]), {**values, **settings}

    def explorer(self) -> Explorer:
        """The explorer: one HTML page with topics, words and the held-out documents.

        Returns
        -------
        topicfocus.report.Explorer

        Examples
        --------
        >>> import topicfocus
        >>> from topicfocus.datasets import make_reviews
        >>> reviews = make_reviews(200, random_state=0)
        >>> result = topicfocus.fit(reviews.texts, y=reviews.target, topics=2, phrases=False)
        >>> result.explorer().html.startswith("<!doctype html>")
        True
        """
        from topicfocus.report import Explorer

        # A count matrix has no texts: on its page words are chosen from a list.
        model = self.pipeline if "texts" in self.shown else self.model
        return Explorer(model, **self.shown)

    def plot(self, ax: Any = None) -> Any:
        """Plot the predicted differences of the topics with their intervals.

        Parameters
        ----------
        ax : matplotlib axes, optional

        Returns
        -------
        matplotlib axes

        Examples
        --------
        >>> import topicfocus
        >>> from topicfocus.datasets import make_reviews
        >>> reviews = make_reviews(200, random_state=0)
        >>> result = topicfocus.fit(reviews.texts, y=reviews.target, topics=2, phrases=False)
        >>> len(result.plot().get_yticks()) == len(result.topics)
        True
        """
        from topicfocus.report import plot_effects

        return plot_effects(self.explorer(), ax=ax)

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> Result:
        """Write the folder that ``topicfocus fit`` writes: model, tables, settings and page.

        Parameters
        ----------
        path : path-like
            A new folder.
        overwrite : bool, default=False
            Whether to replace the folder of an earlier result.

        Returns
        -------
        Result
            This one, with `folder` and `written`.

        Raises
        ------
        OSError
            If the folder exists (FileExistsError) or cannot be written.

        Examples
        --------
        >>> import topicfocus
        >>> from topicfocus.datasets import make_reviews
        >>> reviews = make_reviews(200, random_state=0)
        >>> result = topicfocus.fit(reviews.texts, y=reviews.target, topics=2, phrases=False)
        >>> result.save("my-reviews").written[:2]
        ('config.toml', 'explorer.html')
        """
        folder = check_folder(path, overwrite, self.config.paths if self.config else [])
        written = write_result(folder, self, overwrite=overwrite)
        return replace(self, folder=Path(path), written=written)

    def __repr__(self) -> str:
        return printable(as_text(self.summary))

    def _repr_html_(self) -> str:
        return result_html(self.summary)
