"""The focused models, and pc-sLDA: the focused model with every word kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from topicfocus.estimators.arguments import check_choice, is_auto, read_columns, read_seeds
from topicfocus.estimators.base import TopicModel, WordSelection
from topicfocus.estimators.fitted import FittedAttribute
from topicfocus.estimators.focused_training import FocusedTrainer, focused_trainer
from topicfocus.estimators.supervised import TopicClassifier, TopicRegressor

#: Word-selection criteria.
SELECTIONS = ("predictive", "stable")


@dataclass(eq=False, repr=False, kw_only=True)
class ConstrainedTopicModel(TopicModel):
    """Base class of the models of the constrained objective; by itself it keeps all words."""

    doc_topic_prior: Any = "auto"
    supervision_weight: Any = "auto"
    max_epochs: int | None = None
    validation_fraction: float = 0.1

    screening_statistic_ = FittedAttribute(
        lambda f: f.evidence, "Screening statistic of each word."
    )
    explained_ = FittedAttribute(lambda f: f.explained, "Validation deviance explained.")
    supervision_weight_ = FittedAttribute(lambda f: f.supervision_weight, "λ as used.")

    def _trainer(self, n_words: int) -> FocusedTrainer:
        return focused_trainer(self, select=False)


@dataclass(eq=False, repr=False, kw_only=True)
class FocusedParameters(WordSelection):
    """Parameters of the focused models, which select words."""

    inclusion_prior: Any = "auto"
    keep_words: Any = None
    drop_words: Any = None
    selection: str = "predictive"
    themes: bool = True
    seed_words: Any = None
    remainder: bool = False

    word_weight_ = FittedAttribute(lambda f: f.state.inclusion, "Weight of a token of each word.")
    shaping_ = FittedAttribute(lambda f: f.shaping, '"themes" or "graded".')
    completeness_ = FittedAttribute(lambda f: f.completeness, "What topics capture of the text.")

    def _trainer(self: Any, n_words: int) -> FocusedTrainer:
        names = getattr(self, "feature_names_in_", None)
        keep = read_columns("keep_words", self.keep_words, names, n_words)
        drop = read_columns("drop_words", self.drop_words, names, n_words)
        topics, seeds = read_seeds(self.seed_words, names, n_words, self.n_topics)
        if seeds and not self.themes:
            raise ValueError("seed_words are for topics with subjects: set themes=True.")
        if keep is not None or seeds:
            keep = np.unique(np.concatenate([*seeds, [] if keep is None else keep]).astype(int))
        if keep is not None and drop is not None and np.intersect1d(keep, drop).size:
            both = int(np.intersect1d(keep, drop)[0])
            word = both if names is None else repr(str(names[both]))
            kept_by = "seed_words" if any(both in columns for columns in seeds) else "keep_words"
            raise ValueError(f"{word} is both in {kept_by} and in drop_words.")
        banned = () if drop is None or names is None else (str(names[v]) for v in drop)
        return focused_trainer(
            self,
            topic_names=topics,
            banned=frozenset(banned),
            inclusion_prior=None if is_auto(self.inclusion_prior) else float(self.inclusion_prior),
            keep=keep,
            drop=drop,
            seeds=seeds,
            themes=bool(self.themes),
            stable=check_choice("selection", self.selection, SELECTIONS) == "stable",
        )


@dataclass(eq=False, repr=False, kw_only=True)
class FocusedTopicRegressor(FocusedParameters, ConstrainedTopicModel, TopicRegressor):
    """Focused topics for a real-valued target, or another family.

    Words are selected by a screening statistic of their association with the target, up to a
    fraction of the tokens, and weighted by it. A topic is a subject of the documents with a sign of
    the association. Topics are optimised on the kept words by the constrained objective, in which
    topic proportions depend on the words alone, in training as in prediction. β and the background
    have disjoint supports.

    Parameters
    ----------
    n_topics : int, default=5
        Fewer are found, with a warning, if too few words are associated with the target.
    inclusion_prior : float in (0, 1) or "auto", default="auto"
        Expected fraction of tokens that are relevant. Words are kept up to it in the order of their
        screening statistic. "auto" compares 20 tokens of an average document, twice that
        (both between 5% and 80% of all), and words selected at a 10% false discovery rate, and
        keeps the fewest words that predict validation documents (folds of X, or X_val if it has
        3,000 documents) as well as the best of these, to one standard error of the difference, or
        more if topics would share over a fifth of their top words. This is a limit: words without
        an association are not kept to reach it.
    family : str, family, or a list of these, default="gaussian"
        As for :class:`SLDARegressor`.
    doc_topic_prior : float, array (n_topics,) or "auto", default="auto"
        α, the prior of topic proportions. "auto": its sum is the number of relevant tokens of an
        average document.
    supervision_weight : float or "auto", default="auto"
        λ, the weight of the targets. "auto": 0.3 per relevant token of an average document.
    keep_words, drop_words : list of words or column numbers, optional
        Words that are kept or dropped regardless of the screening statistic. Words need columns
        with names: those of a dataframe, or the counts of a `TokenCounter`, also in a pipeline.
    max_epochs : int, optional
        L-BFGS steps of a pass, at most; 10 by default, 21 without themes.
    selection : {"predictive", "stable"}, default="predictive"
        Word-selection criterion. "stable" prefers words that replicate in other samples: the
        screening statistic is a mean over halves of the documents, shrunk by empirical Bayes, and
        without a given `inclusion_prior` as many words are kept as are expected to be associated
        with the target. docs/stability.md compares both.
    themes : bool, default=True
        Whether topics are subjects with signs. Otherwise the topics of one target are grades from
        low to high, and all kept words have equal weights (docs/focused.md).
    seed_words : dict of str to list of words or column numbers, optional
        The first topics, by name: ``{"waiting": ["wait", "minutes"]}``. A topic starts from its
        seed words and the words that occur in documents with them, and has the signs of their
        associations. Seed words are kept.
    remainder : bool, default=False
        Whether to add a sparse linear model of what the topics leave of the target: all words and
        pairs of words of a `TokenCounter(remainder=True)`, else the columns of X. Topics are the
        same with and without it. Counts that are not in memory get none.
    validation_fraction : float, default=0.1
        Fraction of validation documents, unless `fit` is given X_val and y_val.
    n_jobs, random_state, verbose
        As for :class:`LDA`. The seed determines only which documents are for validation.

    Attributes
    ----------
    components_ : array (topics, words), rows sum to one, zero on dropped words
    topic_names_ : list of str or None
        Names from `seed_words`, `rename_topics` or `merge_topics`.
    coef_, intercept_ : η and b; the expected target of a document of one topic is their sum
    inclusion_ : array (words,), exactly 0 or 1
    word_weight_ : array (words,)
        Weight of a token of the word in topic proportions: one on average over the relevant tokens,
        0 for dropped words.
    selected_words_ : array of bool (words,)
    background_ : array (words,), zero on kept words
    screening_statistic_ : array (words,)
        Association of each word with the target, on the scale of a squared z score.
    noise_variance_ : float
        δ, estimated from validation documents.
    shaping_ : {"themes", "graded"}
        Whether topics are subjects with signs, or grades.
    explained_ : tuple of float
        Fraction of the validation deviance that the model explains.
    inclusion_path_ : tuple of (inclusion, explained, error)
        Inclusion fractions that "auto" compared, the fraction of validation deviance that their
        words explain, and the standard error of the difference from the best of them (0 for that
        one). Fractions that add no word are left out.
    completeness_ : Completeness
        With `remainder=True`: the fraction of the deviance explained by the text that the topics
        explain ("share"), its standard error, and the fractions explained by the topics and by
        both. From cross-fitted predictions, by topics of one half of the documents for the other.
    inclusion_prior_, doc_topic_prior_, supervision_weight_ : the values used
    n_iter_ : int
    history_ : dict of lists
        "epoch", "objective" (a document) and "kept_words" of every step. After `partial_fit`, of
        every batch, with "validation", the fractions of the validation deviance explained (NaN
        for a batch that kept the topics).
    covariate_coef_, thresholds_, levels_, family_ : as for :class:`SLDARegressor`

    Examples
    --------
    >>> from topicfocus import FocusedTopicRegressor
    >>> from topicfocus.datasets import make_reviews
    >>> reviews = make_reviews(300, random_state=0)
    >>> model = FocusedTopicRegressor(3, random_state=0)
    >>> model.fit(reviews.counts, reviews.target).coef_.shape
    (3,)
    """


@dataclass(eq=False, repr=False, kw_only=True)
class FocusedTopicClassifier(FocusedParameters, ConstrainedTopicModel, TopicClassifier):
    """Focused topics for classes: two, more, or several targets of them.

    Parameters
    ----------
    n_topics : int, default=5
    inclusion_prior, doc_topic_prior, supervision_weight, keep_words, drop_words
        As for :class:`FocusedTopicRegressor`.
    max_epochs, selection, themes, seed_words, remainder, validation_fraction
        As for :class:`FocusedTopicRegressor`.
    n_jobs, random_state, verbose
        As for :class:`FocusedTopicRegressor`.
    class_weight : None, "balanced" or dict, default=None
        Factors on the weights of the documents of each class, as in scikit-learn; "balanced" gives
        all classes the same total weight.

    Attributes
    ----------
    classes_ : array, or a list of arrays for several targets
    coef_ : array (topics,) or (classes, topics)
        Log odds of the second class in a document of one topic; for more classes, one row per
        class.
    components_, inclusion_, word_weight_, selected_words_, background_, screening_statistic_
        As for :class:`FocusedTopicRegressor`.
    shaping_, explained_, inclusion_path_, completeness_
        As for :class:`FocusedTopicRegressor`.

    Examples
    --------
    >>> from topicfocus import FocusedTopicClassifier
    >>> from topicfocus.datasets import make_reviews
    >>> reviews = make_reviews(300, random_state=0)
    >>> model = FocusedTopicClassifier(3, random_state=0)
    >>> model.fit(reviews.counts, reviews.target > 5).coef_.shape
    (3,)
    """


@dataclass(eq=False, repr=False, kw_only=True)
class PCSLDARegressor(ConstrainedTopicModel, TopicRegressor):
    """Prediction-constrained sLDA: the focused model with every word kept.

    Parameters
    ----------
    n_topics : int, default=5
    family : str, family, or a list of these, default="gaussian"
        As for :class:`SLDARegressor`.
    doc_topic_prior, supervision_weight
        As for :class:`FocusedTopicRegressor`.
    max_epochs : int, optional
        L-BFGS steps at most; 60 by default.
    validation_fraction, n_jobs, random_state, verbose
        As for :class:`FocusedTopicRegressor`.

    Attributes
    ----------
    components_, coef_, intercept_, screening_statistic_, noise_variance_
    explained_, history_, n_iter_
        As for :class:`FocusedTopicRegressor`, without those that concern selection.

    Examples
    --------
    >>> from topicfocus import PCSLDARegressor
    >>> from topicfocus.datasets import make_reviews
    >>> reviews = make_reviews(300, random_state=0)
    >>> model = PCSLDARegressor(3, random_state=0)
    >>> model.fit(reviews.counts, reviews.target).coef_.shape
    (3,)
    """


@dataclass(eq=False, repr=False, kw_only=True)
class PCSLDAClassifier(ConstrainedTopicModel, TopicClassifier):
    """Prediction-constrained sLDA for classes: the focused model with every word kept.

    Parameters
    ----------
    n_topics : int, default=5
    doc_topic_prior, supervision_weight, max_epochs
        As for :class:`PCSLDARegressor`.
    validation_fraction, n_jobs, random_state, verbose
        As for :class:`PCSLDARegressor`.
    class_weight : None, "balanced" or dict, default=None
        Factors on the weights of the documents of each class, as in scikit-learn; "balanced" gives
        all classes the same total weight.

    Attributes
    ----------
    classes_ : array, or a list of arrays for several targets
    components_, coef_, intercept_, screening_statistic_, explained_, history_, n_iter_
        As for :class:`PCSLDARegressor`; `coef_` has one row a class where there are more than two.

    Examples
    --------
    >>> from topicfocus import PCSLDAClassifier
    >>> from topicfocus.datasets import make_reviews
    >>> reviews = make_reviews(300, random_state=0)
    >>> model = PCSLDAClassifier(3, random_state=0)
    >>> model.fit(reviews.counts, reviews.target > 5).coef_.shape
    (3,)
    """
