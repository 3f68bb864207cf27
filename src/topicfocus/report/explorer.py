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
    """A page to understand, question and share a model, offline: one file, no server.

    Parameters
    ----------
    model : a fitted topic model with a target, or a pipeline that ends in one
        With a pipeline of `CountVectorizer` or `TokenCounter` and a model, the page reads typed
        text as training did.
    texts : list of str, optional
        Documents to show. A bare model needs their `counts`, too.
    counts : documents x words, optional
    target : as for `fit`, optional
        Of these documents. Without it there are no intervals, associations and figures.
    names : list of str, or dict of topic number to str, optional
        Names of the topics; by default their most relevant words.
    vocabulary : list of str, optional
        Names of the columns of `counts`; by default the vectoriser's, or those seen in fit.
    target_name : str, optional
        What the target is called; by default the name of a pandas series.
    target_names : list of str, optional
        The same of several targets; by default the columns of a dataframe.
    title, class_names, document_names, covariate_names : optional
        What to call other things.
    exposure, covariates : optional
        Of the documents, for models that were fitted with them.
    held_out : bool, default=False
        Whether the documents are ones the model was not trained on; the page says which.
    baselines : dict of str to predictions for the same documents, optional
        Their figures stand beside the model's. Probabilities for classes.
    frontier : rows of a path over inclusion priors or numbers of topics, optional
        `frontier_` of a `TopicSearchCV`, or a list of dicts or a dataframe with `inclusion_prior`
        or `n_topics`, and figures.
    by, time : one value a document, a pandas series, or a dict of name to values, optional
        Groups, and numbers or dates: which topics the documents of each are made of.
    stability : Stability or dict, optional
        What `topicfocus.stability` found: topics and words that do not come back are marked, and
        words have those that stand for them. Any other dict is shown as it is: a list with one
        entry a topic, or a dict by number of topic, stands beside the topics, anything else in the
        view of the fit.
    max_documents : int, default=500
        Documents in the page, a random sample; figures and curves are of all of them.
    exact : bool, default=False
        Keep every digit of a model whose topics do not fit into the usual 1.5 MB.
    random_state : int, default=0
        Of the sample.

    Attributes
    ----------
    summary : dict
        All that the page shows, JSON-serialisable.

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
            # Half a surrogate pair, which a damaged text may hold, is no character of a file.
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
