"""An example that several docstrings begin with, written once."""

from __future__ import annotations

from topicfocus.shown import shown_after

#: Adds the example of `stability` to a docstring, with lines of its own at the end.
shown_by = shown_after("""
    >>> from topicfocus import FocusedTopicRegressor, stability
    >>> from topicfocus.datasets import make_reviews
    >>> reviews = make_reviews(300, random_state=0)
    >>> model = FocusedTopicRegressor(2, max_epochs=5, random_state=0)
    >>> found = stability(model, reviews.counts, reviews.target, n_resamples=3, n_jobs=1)
    """)
