"""One cluster of two processes for all files of this folder, which run in one worker of xdist.

Processes that import Numba take seconds to start: these are forked from a server that has done so
(support/forked.py); one that begins with nothing is in `test_a_single_worker_and_its_death`. A test
may kill one of them: another comes. They end after the last test of the folder.
"""

from contextlib import ExitStack
from pathlib import Path

import pytest
from forked import server

HERE = Path(__file__).parent
CLUSTER = pytest.StashKey[ExitStack]()
#: Dask looks at itself many times a second, which was a tenth of a core while nothing was done.
SETTINGS = {
    "distributed.admin.tick.interval": "500ms",
    "distributed.admin.system-monitor.interval": "5s",
    "distributed.worker.memory.monitor-interval": "2s",
    "distributed.worker.multiprocessing-method": "forkserver",
}


@pytest.fixture(scope="session")
def client(request):
    pytest.importorskip("distributed")
    import dask.config

    from topicfocus.distributed import connected

    opened = ExitStack()
    request.config.stash[CLUSTER] = opened
    opened.enter_context(dask.config.set(SETTINGS))  # workers get the settings of this process
    server("distributed", "pandas", "dask.dataframe")
    yield opened.enter_context(connected("local", workers=2))
    opened.close()


@pytest.fixture(scope="module")
def one_penalty():
    """Evidence from one ridge regression: a path of six is half of the passes of a fit, all alike.

    The stronger the penalty, the fewer they are.
    The whole path is in `test_the_model_is_that_of_one_machine` and the examples.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("topicfocus.focused.screening.PENALTIES", (1e5,))
        yield


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    if nextitem is not None and HERE not in nextitem.path.parents and CLUSTER in item.config.stash:
        item.config.stash[CLUSTER].close()
