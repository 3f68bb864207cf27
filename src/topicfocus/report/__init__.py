"""Reports: a model as one offline HTML page (`Explorer`), or as figures for a paper (`plots`)."""

from topicfocus.report.explorer import Explorer
from topicfocus.report.summary import summarise

__all__ = ["Explorer", "summarise"]
