"""Generators of simulated data, with the parameters that the data were drawn from."""

from topicfocus.datasets.reviews import ReviewCorpus, make_reviews
from topicfocus.datasets.synthetic import SyntheticCorpus, make_pfslda

__all__ = ["ReviewCorpus", "SyntheticCorpus", "make_pfslda", "make_reviews"]
