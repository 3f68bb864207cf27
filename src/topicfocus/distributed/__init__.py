"""Counts that the workers of a Dask cluster hold: the same passes, the same result."""

from topicfocus.distributed.cluster import ClusterError, connected
from topicfocus.distributed.counts import DaskCounts
from topicfocus.distributed.texts import DaskTexts

__all__ = ["ClusterError", "DaskCounts", "DaskTexts", "connected"]
