"""Data sets with a known truth."""

from topicfocus.datasets.reviews import ReviewCorpus, make_reviews
from topicfocus.datasets.synthetic import SyntheticCorpus, make_pfslda

__all__ = ["ReviewCorpus", "SyntheticCorpus", "make_pfslda", "make_reviews"]
