"""One cluster of three processes for all files of this folder, which run in one worker of xdist.

Processes that import Numba take seconds to start. A test may kill one of them: another comes.
"""

import pytest


@pytest.fixture(scope="session")
def client():
    pytest.importorskip("distributed")
    from topicfocus.distributed import connected

    with connected("local", workers=3) as client:
        yield client
