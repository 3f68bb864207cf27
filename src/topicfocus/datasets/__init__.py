"""Data sets: synthetic ones with a known truth, and real ones in parts."""

from topicfocus.datasets.dataset import Dataset, Part
from topicfocus.datasets.health import load_diabetes, load_eicu
from topicfocus.datasets.loaders import (
    load_imdb,
    load_newsgroups,
    load_pang_lee,
    load_poliblog,
    load_we8there,
    load_yelp,
)
from topicfocus.datasets.obtain import download
from topicfocus.datasets.preprocessing import code_counts, paper_counts
from topicfocus.datasets.reviews import ReviewCorpus, make_reviews
from topicfocus.datasets.sources import DownloadError, find_data
from topicfocus.datasets.synthetic import SyntheticCorpus, make_pfslda

__all__ = [
    "Dataset",
    "DownloadError",
    "Part",
    "ReviewCorpus",
    "SyntheticCorpus",
    "code_counts",
    "download",
    "find_data",
    "load_diabetes",
    "load_eicu",
    "load_imdb",
    "load_newsgroups",
    "load_pang_lee",
    "load_poliblog",
    "load_we8there",
    "load_yelp",
    "make_pfslda",
    "make_reviews",
    "paper_counts",
]
