"""Generators of simulated data, with the parameters that the data were drawn from."""

from topicfocus.datasets.pfslda import SyntheticCorpus, make_pfslda
from topicfocus.datasets.reviews import ReviewCorpus, make_reviews

__all__ = ["ReviewCorpus", "SyntheticCorpus", "make_pfslda", "make_reviews"]
