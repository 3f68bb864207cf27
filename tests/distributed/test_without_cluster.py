"""What is said where there is no cluster, or no Dask; none is started here."""

import sys

import pytest

from topicfocus import CountStore
from topicfocus.datasets import make_reviews
from topicfocus.distributed import ClusterError, DaskCounts
from topicfocus.distributed.cluster import dask


def test_no_client_at_all(tmp_path, monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr("distributed.client._global_clients", {})  # that of other tests
    store = CountStore.write(tmp_path / "counts", [make_reviews(50, random_state=0).counts])
    with pytest.raises(ClusterError, match="no Dask client: make one first"):
        DaskCounts(store)


def test_no_dask(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ImportError, match=r"pip install 'topicfocus\[dask\]'"):
        dask()
