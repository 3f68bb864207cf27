"""`Explorer`: a model as one HTML file."""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path
from typing import Any

from topicfocus.persistence import replacing
from topicfocus.report.inputs import read_inputs
from topicfocus.report.labels import Labels, target_names_of
from topicfocus.report.render import frame, render
from topicfocus.report.summary import Extras, summarise


class Explorer:
    """An HTML page to explore a model: one file, offline, without a server.

    Parameters
    ----------
    model : a fitted topic model with a target, or a pipeline that ends in one
        With a pipeline of `CountVectorizer` or `TokenCounter` and a model, the page reads typed
        text as training did.
    texts : list of str, optional
        Documents to show. A bare model needs their `counts`, too.
    counts : documents x words, optional
    target : as for `fit`, optional
        Targets of these documents, for intervals of coefficients, associations and metrics.
    names : list of str, or dict of int to str, optional
        Names of the topics by row of ``components_``; by default those of the model
        (`rename_topics`). The page refers to other topics by their first words.
    vocabulary : list of str, optional
        Names of the columns of `counts`; by default those of the vectoriser or of `fit`.
    target_name : str, optional
        Name of the target; by default that of a pandas Series.
    target_names : list of str, optional
        Names of several targets; by default the columns of a DataFrame.
    title, class_names, document_names, covariate_names : optional
        Other names.
    exposure, covariates : optional
        Values of the documents, for models that were fitted with them.
    held_out : bool, default=False
        Whether the model was not fitted to these documents; shown beside the metrics.
    baselines : dict of str to predictions for the same documents, optional
        Their metrics are shown beside the model's. Probabilities for classes.
    frontier : rows of a path over inclusion priors or numbers of topics, optional
        `frontier_` of a `TopicSearchCV`, or a list of dicts or a DataFrame with `inclusion_prior`
        or `n_topics`, and metrics.
    by, time : one value per document, a pandas Series, or a dict of name to values, optional
        Groups, and numbers or dates: the page compares their topics, predictions and targets.
    stability : Stability or dict, optional
        The result of `topicfocus.stability`, or its `to_dict`: the page marks topics and words
        that do not replicate, and lists interchangeable words.
    max_documents : int, default=500
        Documents in the page, a random sample; metrics and curves use all documents.
    exact : bool, default=False
        Keep all digits of the topics, even if the page exceeds 1.5 MB.
    random_state : int, default=0
        Seed of the sample.

    Attributes
    ----------
    summary : dict
        The content of the page, JSON-serialisable.

    Examples
    --------
    >>> from topicfocus import FocusedTopicRegressor
    >>> from topicfocus.datasets import make_reviews
    >>> from topicfocus.report import Explorer
    >>> reviews = make_reviews(300, random_state=0)
    >>> model = FocusedTopicRegressor(3, random_state=0).fit(reviews.counts, reviews.target)
    >>> page = Explorer(model, counts=reviews.counts, target=reviews.target)
    >>> page.html.startswith("<!doctype html>")
    True
    """

    def __init__(
        self,
        model: Any,
        texts: Any = None,
        counts: Any = None,
        target: Any = None,
        names: Any = None,
        *,
        vocabulary: Any = None,
        title: str | None = None,
        target_name: str | None = None,
        target_names: Any = None,
        class_names: Any = None,
        document_names: Any = None,
        covariate_names: Any = None,
        exposure: Any = None,
        covariates: Any = None,
        held_out: bool = False,
        baselines: Any = None,
        frontier: Any = None,
        by: Any = None,
        time: Any = None,
        stability: Any = None,
        max_documents: int = 500,
        exact: bool = False,
        random_state: int | None = 0,
    ) -> None:
        inputs = read_inputs(model, texts, counts, target, vocabulary)
        called = target_names_of(target_name, target_names, target)
        labels = Labels(title, names, called, class_names, document_names, covariate_names)
        extras = Extras(exposure, covariates, held_out, baselines, frontier, stability, by, time)
        self.summary = summarise(
            inputs,
            labels,
            extras,
            max_documents=max_documents,
            exact=exact,
            random_state=random_state,
        )

    @cached_property
    def html(self) -> str:
        """The page."""
        return render(self.summary)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the page to a file.

        Parameters
        ----------
        path : str or path
            An existing file is replaced.

        Returns
        -------
        pathlib.Path

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> from topicfocus import FocusedTopicRegressor
        >>> from topicfocus.datasets import make_reviews
        >>> from topicfocus.report import Explorer
        >>> reviews = make_reviews(300, random_state=0)
        >>> model = FocusedTopicRegressor(3, random_state=0).fit(reviews.counts, reviews.target)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     Explorer(model).save(Path(folder) / "model.html").name
        'model.html'
        """
        with replacing(path) as stream:
            # A damaged text may contain half a surrogate pair, which cannot be encoded.
            stream.write(self.html.encode("utf-8", "replace"))
        return Path(path)

    def _repr_html_(self) -> str:
        return frame(self.html)

    def __repr__(self) -> str:
        topics, words = (
            len(self.summary["topics"]["names"]),
            self.summary["fit"]["data"]["words in the vocabulary"],
        )
        documents = len(self.summary["documents"]["row"])
        return (
            f"Explorer of {self.summary['title']!r}: {topics} topics, {words:,} words, {documents} "
            f'documents, {len(self.html) / 1e6:.2f} MB; .save("model.html") writes it.'
        )
