"""`Explorer`: a fitted model and documents as plain data, and as one HTML file."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from topicfocus import __version__
from topicfocus.estimators.arguments import read_weight
from topicfocus.estimators.effects import topic_effects, word_effects
from topicfocus.estimators.training import useless_fit_messages
from topicfocus.persistence import plain, replacing
from topicfocus.report.documents import (
    document_examples,
    document_summary,
    group_summary,
    pack_within,
    sample_rows,
)
from topicfocus.report.evaluation import (
    completeness_summary,
    evaluate,
    fit_summary,
    predict_all,
    quick_check,
    read_baselines,
    read_stability,
)
from topicfocus.report.inputs import Inputs, read_inputs
from topicfocus.report.labels import (
    Labels,
    describe_predictors,
    describe_targets,
    listed,
    target_names_of,
)
from topicfocus.report.render import frame, frame_size, render
from topicfocus.report.topics import covariate_summary, effect_summary, topic_summary
from topicfocus.report.words import (
    remainder_of_documents,
    remainder_summary,
    word_summary,
    word_table,
)

#: Version of the summary's layout, for programs that read it.
VERSION = 3
#: Bytes of a page with its code and all data.
PAGE_BUDGET = 1_950_000
#: Characters of the texts that a large remainder leaves, and those of the fullest page.
USUAL_TEXTS, SMALLEST_TEXTS = 150_000, 34_000


@dataclass(frozen=True)
class Extras:
    """Optional parts of the page.

    Attributes
    ----------
    exposure, covariates : of the documents, for models that were fitted with them
    weight : of the documents, in metrics and effects
    held_out : bool
        Whether the documents are not those the model was fitted to.
    baselines : dict of name to predictions for the same documents
    frontier : rows with `inclusion_prior` or `n_topics`, and metrics: dicts, or a DataFrame
    stability : a Stability or a dict (`read_stability`)
    by, time : one value per document, or a dict of name to values (`group_summary`)
    """

    exposure: Any = None
    covariates: Any = None
    held_out: bool = False
    baselines: Any = None
    frontier: Any = None
    stability: Any = None
    by: Any = None
    time: Any = None
    weight: np.ndarray | None = None


def summarise(
    inputs: Inputs,
    labels: Labels | None = None,
    extras: Extras | None = None,
    *,
    max_documents: int = 500,
    exact: bool = False,
    random_state: int | None = 0,
) -> dict[str, Any]:
    """The content of a page, JSON-serialisable: `Explorer.summary`."""
    labels, extras = labels or Labels(), extras or Extras()
    model, fitted = inputs.model, inputs.fitted
    found = predict_all(inputs, extras.exposure, extras.covariates)
    rows = sample_rows(inputs.n_docs, max_documents, random_state)
    targets = describe_targets(fitted, labels, found.predictor)
    state = fitted.state
    table = word_table(fitted, inputs.counts[rows], exact, model.n_jobs)
    relevant = (state.inclusion > 0) & (state.topic_word.max(axis=1) > 0)
    documents = unseen = effects = words = summarised = None
    if inputs.n_docs:
        documents = fitted.documents(inputs.counts, None, extras.exposure, extras.covariates)
        documents = replace(documents, weight=extras.weight)
        if extras.held_out and inputs.codes is not None:
            documents = unseen = replace(documents, target=inputs.codes)
        some = {"mixes": found.mixes, "n_jobs": model.n_jobs}
        effects = topic_effects(fitted, documents, unseen, **some)
        summarised, words = effect_summary(effects, word_effects(fitted, documents, **some))
    document_names = listed("document_names", labels.documents, inputs.n_docs)
    summary = {
        "version": VERSION,
        "package": __version__,
        "key": _key(model, inputs),
        "title": labels.page_title(model, targets),
        "model": type(model).__name__,
        "targets": targets,
        "predictors": describe_predictors(targets),
        "topics": topic_summary(inputs, found, labels, effects),
        "intercept": np.broadcast_to(state.intercept, state.n_predictors).astype(float).tolist(),
        "covariates": covariate_summary(fitted, found, labels, unseen),
        "roots": fitted.sees_roots,
        "table": table,
        "completeness": completeness_summary(inputs, extras),
        "reading": asdict(inputs.words),
        "words": word_summary(inputs) | {"effect": words},
        "documents": document_summary(inputs, found, rows, document_names, relevant)
        | document_examples(inputs, found, rows, extras)
        | {"remainder": remainder_of_documents(inputs, inputs.counts[rows])},
        "evaluation": evaluate(
            inputs, found, read_baselines(inputs, extras.baselines), extras.weight
        ),
        "held_out": bool(extras.held_out),
        "warnings": useless_fit_messages(model),
        "fit": fit_summary(inputs, extras.frontier),
        "effects": summarised,
        "groups": group_summary(inputs, found, extras),
        "stability": read_stability(extras.stability, inputs.vocabulary),
        "quick_check": quick_check(extras.stability),
    }
    summary = plain(summary)
    # The remainder and texts get the space that the rest leaves.
    room = PAGE_BUDGET - frame_size() - len(json.dumps(summary))
    rest = remainder_summary(inputs, inputs.counts[rows], room - USUAL_TEXTS, exact)
    summary["remainder"] = plain(rest)
    if inputs.texts is not None:
        room = max(room - len(json.dumps(summary["remainder"])), SMALLEST_TEXTS)
        summary["documents"]["texts"] = pack_within([inputs.texts[i] for i in rows], room)
    return summary


def _key(model: Any, inputs: Inputs) -> str:
    """Key of the model, under which the browser keeps a reader's topic names."""
    digest = hashlib.sha256(np.ascontiguousarray(model.components_).tobytes())
    digest.update("\n".join(inputs.vocabulary).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()[:16]


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
    sample_weight : array of shape (n_docs,), optional
        Weights of the documents in metrics and predicted differences; curves do not use them.
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
        Keep all digits of topics and remainder, even if the page exceeds 2 MB.
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
        sample_weight: Any = None,
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
        weight = read_weight(sample_weight, inputs.n_docs)
        extras = Extras(
            exposure, covariates, held_out, baselines, frontier, stability, by, time, weight
        )
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
