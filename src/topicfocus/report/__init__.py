"""Reports: a model as one offline HTML page (`Explorer`), or as figures for a paper (`plots`)."""

from topicfocus.report.explorer import Explorer
from topicfocus.report.plots import (
    plot_calibration,
    plot_effects,
    plot_frontier,
    plot_topics,
)

__all__ = [
    "Explorer",
    "plot_calibration",
    "plot_effects",
    "plot_frontier",
    "plot_topics",
]
