"""Counts that the workers of a Dask cluster hold: the same passes, the same result."""

from topicfocus.distributed.cluster import ClusterError, connected
from topicfocus.distributed.counts import DaskCounts

__all__ = ["ClusterError", "DaskCounts", "connected"]
