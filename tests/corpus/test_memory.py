"""Memory of a fit to counts on disk: what is computed of each document is in files."""

import subprocess
import sys
from pathlib import Path

import pytest
from command_line import environment

#: Bytes of the process's own memory that one more document may take: its target, where it begins,
#: and what sorting or a chunk of a thread needs of it. Measured: see docs/scale.md.
MOST_BYTES = 100
SIZES = 30_000, 90_000

#: Fits to two stores, and prints how far RssAnon rose above what it was before.
CHILD = """
import sys
import threading
import numpy as np
from scipy import sparse
from topicfocus import CountStore, FocusedTopicRegressor
from topicfocus.corpus.scratch import give_back

def own():
    with open("/proc/self/status") as stream:
        return next(int(line.split()[1]) for line in stream if line.startswith("RssAnon")) * 1024

def fitted(n):
    rng = np.random.default_rng(0)
    words, y = rng.integers(0, 40, (n, 3)), np.empty(n)
    y[:] = words[:, 0] % 5 + rng.normal(0, 0.1, n)
    ends = np.arange(0, 3 * n + 1, 3)
    counts = sparse.csr_array((np.ones(3 * n), words.ravel(), ends), shape=(n, 40))
    counts.sum_duplicates()
    store = CountStore.write(f"{sys.argv[1]}/{n}", [counts], memory="600MB")
    del counts, words, ends
    if n > 1000:  # else: loads and compiles
        store.scratch._room = store.scratch.for_arrays = 0
        store.scratch.large = 1 << 16
    give_back()
    before, most, done = own(), 0, threading.Event()

    def watch():
        nonlocal most
        while not done.wait(0.002):
            most = max(most, own())

    thread = threading.Thread(target=watch)
    thread.start()
    model = FocusedTopicRegressor(3, inclusion_prior=0.5, max_epochs=2, random_state=0)
    model.fit(store, y).predict(store)
    done.set()
    thread.join()
    return most - before

fitted(500)
fitted(29_000)
print(*(fitted(int(n)) for n in sys.argv[2:]))
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs Linux")
def test_memory_does_not_grow_with_the_documents(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", CHILD, str(tmp_path), *map(str, SIZES)],
        capture_output=True,
        text=True,
        env=environment(),
        check=False,
    )
    assert done.returncode == 0, done.stderr
    few, many = map(int, done.stdout.split())
    assert (many - few) / (SIZES[1] - SIZES[0]) < MOST_BYTES, done.stdout
