"""Methods of every topic model that name the words of its topics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from topicfocus.estimators.parameters import check_choice, check_count
from topicfocus.estimators.word_names import word_names
from topicfocus.estimators.word_order import (
    DEFAULT_ORDER,
    ORDERS,
    context_scores,
    first_words,
    word_scores,
)

if TYPE_CHECKING:
    from topicfocus.estimators.base import TopicModel


def top_words(
    self: TopicModel, n: int = 10, vocabulary: Any = None, order: str = DEFAULT_ORDER
) -> list[list[str]]:
    """The n first words of each topic.

    Parameters
    ----------
    n : int, default=10
    vocabulary : list of str, dict or vectoriser, optional
        Names of the columns: a list, the `vocabulary_` of a vectoriser, or the vectoriser; by
        default the feature names seen in fit (a dataframe's columns), else column numbers.
    order : {"probability", "relevance", "frex"}, default="probability"
        By β_vk; by relevance, λ log β_vk + (1-λ) log(β_vk / p_v) with λ = 0.4 and p_v the
        frequency of the word in training among the words of all topics (Sievert and Shirley,
        2014); or by FREX, the harmonic mean of the ranks of β_vk and of β_vk / Σ_j β_vj among
        the words of the topic (Bischof and Airoldi, 2012). The last two prefer words that
        other topics do not have.

    Returns
    -------
    list of lists of str, one a topic
        Words of probability zero are not listed.

    Raises
    ------
    NotFittedError
        If the estimator is not fitted yet.

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
    check_choice("order", order, ORDERS)
    scores = word_scores(self.components_, self.fitted_.word_share, order)
    return first_words(scores, n, column_names(self, vocabulary), lambda s: s > -np.inf)


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
    if self.fitted_.context is None:
        raise ValueError(
            "This model does not know which dropped words its topics go with: it was saved by "
            "a version that did not count them. Fit it again."
        )
    return first_words(context_scores(self.fitted_.context), n, names, lambda s: s > 0)


def column_names(model: TopicModel, vocabulary: Any) -> Any:
    """Names of the columns: those given, else those seen in fit, else their numbers."""
    n_words = model.fitted_.state.n_words
    if vocabulary is None:
        vocabulary = getattr(model, "feature_names_in_", None)
    return word_names(range(n_words) if vocabulary is None else vocabulary, n_words)
