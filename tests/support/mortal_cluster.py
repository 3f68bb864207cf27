"""A scheduler and its worker in one process, which a test kills."""

import os
import sys
import time
from pathlib import Path


def serve(place: str) -> None:
    """Write the address to a file, and serve until killed, or nobody is there who would."""
    from distributed import LocalCluster

    one = {"n_workers": 1, "threads_per_worker": 1, "processes": False, "protocol": "tcp://"}
    cluster = LocalCluster(**one, dashboard_address=None)
    new = Path(f"{place}.new")
    new.write_text(cluster.scheduler_address, encoding="utf-8")
    new.replace(place)
    parent = os.getppid()
    while os.getppid() == parent:
        time.sleep(1.0)


if __name__ == "__main__":
    serve(sys.argv[1])
