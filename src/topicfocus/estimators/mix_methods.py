"""Methods of every topic model that say what documents are made of, beside `transform`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

if TYPE_CHECKING:
    from topicfocus.estimators.base import TopicModel


def topic_tokens(self: TopicModel, X: Any) -> np.ndarray:
    """How many of a document's relevant tokens each topic explains.

    Σ_v c_v φ_v r_vk with r_vk = β_vk θ̂_k / Σ_j β_vj θ̂_j and θ̂ of `transform`; c are the counts
    themselves, also in models that find θ̂ from their roots. A row sums to the number of tokens
    of the document that topics contain.

    Parameters
    ----------
    X : counts, documents x words

    Returns
    -------
    array (documents, topics)

    Raises
    ------
    NotFittedError
        If the estimator is not fitted yet.
    ValueError
        If ``X`` does not have the columns that training saw, or holds what is no count.

    Examples
    --------
    >>> import numpy as np
    >>> from topicfocus import LDA
    >>> from topicfocus.datasets import make_reviews
    >>> counts = make_reviews(200, random_state=0).counts
    >>> tokens = LDA(3, max_epochs=5, random_state=0).fit(counts).topic_tokens(counts)
    >>> bool(np.allclose(tokens.sum(axis=1), counts.sum(axis=1)))
    True
    """
    check_is_fitted(self)
    return self.fitted_.tokens(self._read_counts(X, reset=False), n_jobs=self.n_jobs)


def composition(self: TopicModel, X: Any) -> np.ndarray:
    """What documents are made of: the share of each topic in their relevant tokens.

    `topic_tokens` divided by its row sums. Prediction uses `transform`, which the prior draws
    towards α/Σα, most where words are few; what a document is about is better read from here.

    Parameters
    ----------
    X : counts, documents x words

    Returns
    -------
    array (documents, topics), rows sum to one
        α/Σα for documents without relevant words.

    Raises
    ------
    NotFittedError
        If the estimator is not fitted yet.
    ValueError
        If ``X`` does not have the columns that training saw, or holds what is no count.

    Examples
    --------
    >>> from topicfocus import FocusedTopicRegressor
    >>> from topicfocus.datasets import make_reviews
    >>> reviews = make_reviews(300, random_state=0)
    >>> model = FocusedTopicRegressor(3, random_state=0).fit(reviews.counts, reviews.target)
    >>> made_of, mix = (f(reviews.counts) for f in (model.composition, model.transform))
    >>> bool(made_of.std(axis=0).mean() > mix.std(axis=0).mean())
    True
    """
    check_is_fitted(self)
    return self.fitted_.composition(self._read_counts(X, reset=False), n_jobs=self.n_jobs)


def relevant_words(self: TopicModel, X: Any) -> np.ndarray:
    """How many different words of each document the topics contain.

    With none the prediction is that of a document without words, and with few it is near it:
    `FEW_WORDS` (3) is where the command line begins to say so.

    Parameters
    ----------
    X : counts, documents x words

    Returns
    -------
    array of int (documents,)

    Raises
    ------
    NotFittedError
        If the estimator is not fitted yet.
    ValueError
        If ``X`` does not have the columns that training saw, or holds what is no count.

    Examples
    --------
    >>> from topicfocus import FocusedTopicRegressor
    >>> from topicfocus.datasets import make_reviews
    >>> reviews = make_reviews(300, random_state=0)
    >>> model = FocusedTopicRegressor(3, random_state=0).fit(reviews.counts, reviews.target)
    >>> int(model.relevant_words(0 * reviews.counts[:1])[0])
    0
    """
    check_is_fitted(self)
    return self.fitted_.relevant_words(self._read_counts(X, reset=False))
