"""Errors without a cluster or without Dask; no cluster is started."""

import sys
from types import SimpleNamespace

import pytest

from topicfocus.datasets import make_reviews
from topicfocus.distributed import ClusterError, DaskCounts, dask, result_of


def test_no_client_at_all(monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr("distributed.client._global_clients", {})  # that of other tests
    with pytest.raises(ClusterError, match="no Dask client: make one first"):
        DaskCounts(make_reviews(50, random_state=0).counts)


class Client:
    """Dask's, as far as it is asked where its scheduler is."""

    def __init__(self):
        self.scheduler = SimpleNamespace(address="tcp://there:8786")


class Result:
    """Of work on a cluster that is gone: the client gives up, and forgets its scheduler."""

    def __init__(self, client):
        self._client = client

    def result(self, timeout):
        self._client.scheduler = None
        raise dask().comm.core.CommClosedError("in closed comm")


def test_a_cluster_that_is_gone_is_named_by_a_client_that_has_given_up():
    pytest.importorskip("distributed")
    client = Client()
    with pytest.raises(ClusterError, match="the cluster at tcp://there:8786 is gone: in clos"):
        result_of(client, Result(client))


def test_no_dask(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ImportError, match=r"pip install 'topicfocus\[dask\]'"):
        dask()
