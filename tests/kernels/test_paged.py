"""Arrays in files: the same numbers, in memory that is the system's to take."""

import mmap
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from topicfocus.corpus.scratch import SMALLEST, Scratch, let_go
from topicfocus.kernels.paged import can_page, is_in_file, paged_arrays

pytestmark = pytest.mark.skipif(not can_page(), reason="not on this system")
N = 1 << 17  # numbers of an array of a megabyte


@pytest.fixture
def scratch(tmp_path):
    room = Scratch(tmp_path / "beside", SMALLEST)
    room.for_arrays = 5 << 19  # two and a half of them
    return room


def test_beyond_the_room_arrays_are_in_files(scratch):
    with paged_arrays(scratch):
        arrays = [np.full(N, i, dtype=float) for i in range(6)]
        few = np.ones(10)
        assert [is_in_file(a) for a in arrays] == [False, False, True, True, True, True]
        assert not is_in_file(few)
        assert is_in_file(arrays[3][5:]) and is_in_file(arrays[3].reshape(2, -1).T)
        del arrays[0]
        assert not is_in_file(np.empty(N))  # there is room again
    for i, array in enumerate(arrays, 1):  # they outlive the block
        assert np.all(array == i)
    assert not is_in_file(np.empty(N)) and not is_in_file(np.empty(N))
    assert list(scratch.folder.iterdir()) == []  # files have no names
    assert scratch.paging.most_in_files > 4 * 8 * N


def test_numbers_are_what_was_written(scratch):
    """Random arrays come and go, their files are used again, pages leave memory."""
    rng = np.random.default_rng(0)
    scratch.for_arrays = 0
    held = {}
    with paged_arrays(scratch):
        for i in range(100):
            held[i] = np.full(int(rng.integers(N // 2, 2 * N)), float(i))
            if i % 3:
                del held[int(rng.choice(list(held)))]
            if i % 5 == 0:
                for array in held.values():
                    let_go(array)
            assert not np.zeros(len(held) * 999 + N).any()
            assert all(np.all(array == j) for j, array in held.items())


def test_arrays_may_grow(scratch):
    scratch.for_arrays = 0
    with paged_arrays(scratch):
        assert_array_equal(np.fromiter(iter(range(3 * N)), float), np.arange(3.0 * N))
        grown = np.arange(float(N))
        grown.resize(2 * N)
        assert is_in_file(grown)
        assert_array_equal(grown[:N], np.arange(float(N)))
        assert not grown[N:].any()


def test_other_threads_and_inner_blocks_are_not_concerned(scratch, tmp_path):
    found = []
    scratch.for_arrays = 0
    with paged_arrays(scratch):
        thread = threading.Thread(target=lambda: found.append(np.empty(N)))
        thread.start()
        thread.join()
        with paged_arrays(Scratch(tmp_path / "inner", SMALLEST)):
            assert is_in_file(np.empty(N))
        assert is_in_file(np.empty(N))
    assert not is_in_file(found[0])
    with paged_arrays(None):
        assert not is_in_file(np.empty(N))
    assert not (tmp_path / "inner").exists()


def test_no_room_on_disk_is_one_line(scratch):
    """Here the folder is gone; of a full disk the system says so."""
    scratch.for_arrays = 0
    with paged_arrays(scratch):
        pass
    scratch.folder.rmdir()
    message = r"1 MB for numbers of documents cannot be written to .*: No such file or directory"
    with pytest.raises(OSError, match=message), paged_arrays(scratch), paged_arrays(scratch):
        np.empty(N)
    with pytest.raises(MemoryError), paged_arrays(scratch):  # one of memory stays one
        raise MemoryError
    assert not is_in_file(np.empty(N))


def pages_of_files():
    text = Path("/proc/self/statm").read_text()
    return int(text.split()[2]) * mmap.PAGESIZE


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs Linux")
@pytest.mark.parametrize("limit", [1 << 20, 1 << 50])
def test_pages_leave_memory_beyond_the_limit(scratch, limit):
    """Seventy arrays of a megabyte are read; 32 MB more than there were are too many."""
    scratch.for_arrays = 0
    with paged_arrays(scratch):
        arrays = [np.ones(N) for _ in range(70)]
        for array in arrays:
            let_go(array)
        scratch.limit, before = limit, pages_of_files()
        assert all(array.sum() == N for array in arrays)
        time.sleep(0.3)
        assert (pages_of_files() - before < 50 << 20) == (limit == 1 << 20)
        assert all(np.all(array == 1) for array in arrays)


#: Python ends twice: in a child by an exception, with code 3, and by itself.
PROGRAM = """
import os
import sys
import numpy as np
from pathlib import Path
from topicfocus.corpus.scratch import SMALLEST, Scratch
from topicfocus.kernels.paged import is_in_file, paged_arrays
scratch = Scratch(Path(sys.argv[1]), SMALLEST)
scratch.for_arrays = 0
child = os.fork()
if child:
    print("child", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
with paged_arrays(scratch):
    sys.kept_to_the_end = [np.ones(1 << 17), np.ones(3)]
    assert is_in_file(sys.kept_to_the_end[0])
    if not child:
        raise SystemExit(3)
print("done")
"""


def test_python_ends_with_arrays_in_files(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path / "beside")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "child 3\ndone\n"), done.stderr
    assert list((tmp_path / "beside").iterdir()) == []
