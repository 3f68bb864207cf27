"""One cluster of three processes for all files of this folder, which run in one worker of xdist.

Processes that import Numba take seconds to start. A test may kill one of them: another comes. They
end after the last test of the folder: Dask's processes take an eighth of a core while they wait.
"""

from contextlib import ExitStack
from pathlib import Path

import pytest

HERE = Path(__file__).parent
CLUSTER = pytest.StashKey[ExitStack]()


@pytest.fixture(scope="session")
def client(request):
    pytest.importorskip("distributed")
    from topicfocus.distributed import connected

    opened = ExitStack()
    request.config.stash[CLUSTER] = opened
    yield opened.enter_context(connected("local", workers=3))
    opened.close()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    if nextitem is not None and HERE not in nextitem.path.parents and CLUSTER in item.config.stash:
        item.config.stash[CLUSTER].close()
