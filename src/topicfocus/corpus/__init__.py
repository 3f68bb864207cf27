"""Documents as a validated sparse matrix of counts."""

from topicfocus.corpus.corpus import Corpus, make_corpus
from topicfocus.corpus.validation import FractionWarning, check_feature_count, check_target

__all__ = [
    "Corpus",
    "FractionWarning",
    "check_feature_count",
    "check_target",
    "make_corpus",
]
