"""Methods of every topic model that name the words of its topics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from topicfocus.estimators.parameters import check_choice, check_count
from topicfocus.estimators.word_names import word_names
from topicfocus.estimators.word_order import (
    ORDERS,
    context_scores,
    first_words,
    has_telling,
    reciprocal_ranks,
    topic_scores,
)

if TYPE_CHECKING:
    from topicfocus.estimators.base import TopicModel


def top_words(
    self: TopicModel, n: int = 10, vocabulary: Any = None, order: str | None = None
) -> list[list[str]]:
    """The n first words of each topic.

    Parameters
    ----------
    n : int, default=10
    vocabulary : list of str, dict or vectoriser, optional
        Names of the columns: a list, the `vocabulary_` of a vectoriser, or the vectoriser; by
        default the feature names seen in fit (a dataframe's columns), else column numbers.
    order : {"telling", "probability", "relevance", "frex"}, optional
        By default "telling" for focused models with themes, else "probability". Telling words
        occur beside the *other* words of the topic more often than by chance, are its own, and
        lean the way it does: (C_vk - E_vk) √r_vk t_vk, see docs/reading-topics.md.
        "probability" is by β_vk; "relevance" by λ log β_vk + (1-λ) log(β_vk / p_v) with λ = 0.4
        and p_v the frequency of the word in training among the words of all topics (Sievert and
        Shirley, 2014); "frex" by the harmonic mean of the ranks of β_vk and of β_vk / Σ_j β_vj
        among the words of the topic (Bischof and Airoldi, 2012).

    Returns
    -------
    list of lists of str, one a topic
        Words of probability zero are not listed, and with "telling" none of which the topic has
        less than its part.

    Raises
    ------
    NotFittedError
        If the estimator is not fitted yet.
    ValueError
        If the order is unknown, or is "telling" and the model does not know its telling words.

    Examples
    --------
    >>> from topicfocus import LDA
    >>> from topicfocus.datasets import make_reviews
    >>> reviews = make_reviews(200, random_state=0)
    >>> model = LDA(2, max_epochs=5, random_state=0).fit(reviews.counts)
    >>> [len(words) for words in model.top_words(4, reviews.vocabulary, order="frex")]
    [4, 4]
    """
    check_is_fitted(self)
    n = check_count("n", n)
    scores = _scores(self, order)
    return first_words(scores, n, column_names(self, vocabulary), lambda s: s > -np.inf)


def word_ranks(self: TopicModel, order: str | None = None) -> np.ndarray:
    """Places of the words in each topic's list: 1 for the first, 1/2 for the second, and so on.

    In place of `components_` where a measure is to be of the words that are shown, for example
    ``coherence(model.word_ranks(), counts, "npmi", 10)``.

    Parameters
    ----------
    order : {"telling", "probability", "relevance", "frex"}, optional
        As for `top_words`.

    Returns
    -------
    ndarray of shape (n_topics, n_words)
        Zero for words that are not listed.

    Raises
    ------
    NotFittedError
        If the estimator is not fitted yet.
    ValueError
        As for `top_words`.

    Examples
    --------
    >>> from topicfocus import FocusedTopicRegressor
    >>> from topicfocus.datasets import make_reviews
    >>> from topicfocus.metrics import topic_diversity
    >>> reviews = make_reviews(300, random_state=0)
    >>> model = FocusedTopicRegressor(2, random_state=0).fit(reviews.counts, reviews.target)
    >>> topic_diversity(model.word_ranks(), 5)
    1.0
    """
    check_is_fitted(self)
    return reciprocal_ranks(_scores(self, order))


def _scores(model: TopicModel, order: str | None) -> np.ndarray:
    """What words are ordered by, topics x words."""
    if order is not None:
        check_choice("order", order, ORDERS)
        if order == "telling" and not has_telling(model.fitted_):
            raise ValueError(
                'order="telling" is for focused models, fitted by a version that counts words '
                'beside topics: take another order, such as "probability", or fit the model again.'
            )
    return topic_scores(model.fitted_, order)


def context_words(self: TopicModel, n: int = 10, vocabulary: Any = None) -> list[list[str]]:
    """Dropped words that documents of a topic use more than others: what it is about.

    By √C_vk log((C_vk + 5) / (E_vk + 5)), where C_vk = Σ_d c_dv r_dk counts word v beside topic
    k in the training documents (r_d is their `composition`, c_dv is √count in models that see
    roots) and E_vk = C_v· C_·k / C_·· is what would be expected if the word went with no topic.
    After `partial_fit`, of the documents that were at hand.

    Parameters
    ----------
    n : int, default=10
    vocabulary : list of str, dict or vectoriser, optional
        As for `top_words`.

    Returns
    -------
    list of lists of str, one a topic
        Only words that occur more often than expected.

    Raises
    ------
    ValueError
        If the model was saved by a version that did not count them.

    Examples
    --------
    >>> from topicfocus import FocusedTopicRegressor
    >>> from topicfocus.datasets import make_reviews
    >>> reviews = make_reviews(300, random_state=0)
    >>> model = FocusedTopicRegressor(3, random_state=0).fit(reviews.counts, reviews.target)
    >>> [len(words) for words in model.context_words(4, reviews.vocabulary)]
    [4, 4, 4]
    """
    check_is_fitted(self)
    n = check_count("n", n)
    names = column_names(self, vocabulary)
    context, kept = self.fitted_.context, self.fitted_.selected_words
    if context is None or kept is None:
        raise ValueError(
            "This model does not know which dropped words its topics go with: it was saved by "
            "a version that did not count them. Fit it again."
        )
    return first_words(context_scores(context, ~kept), n, names, lambda s: s > 0)


def column_names(model: TopicModel, vocabulary: Any) -> Any:
    """Names of the columns: those given, else those seen in fit, else their numbers."""
    n_words = model.fitted_.state.n_words
    if vocabulary is None:
        vocabulary = getattr(model, "feature_names_in_", None)
    return word_names(range(n_words) if vocabulary is None else vocabulary, n_words)
