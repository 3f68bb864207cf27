"""The cache of compiled kernels: used by the next process, never outdated, never in the way."""

import json
import os
import shutil
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from fresh_imports import fresh_imports
from kernel_cases import SOURCE_ROOT

from topicfocus.kernels import compile as compiling
from topicfocus.kernels.compile import borrowed, kernel

#: A kernel of uncollapsed.py, and one of likelihood.py whose helpers are in families/.
USE = """
import json, sys, warnings
import numpy as np
from topicfocus.families import Gaussian
from topicfocus.kernels.likelihood import likelihood_table
from topicfocus.kernels.uncollapsed import log_softmax_columns
family = Gaussian(2.0)
if sys.argv[1] == "outside":
    from outside_laplace import Laplace
    family = Laplace(2.0)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    log_p, p = np.empty((2, 2, 1))
    log_softmax_columns(np.array([[0.0], [np.log(3.0)]]), log_p, p)
    table = np.array(likelihood_table(family, np.array([3.0]), np.array([1.0])))
print(json.dumps({
    "p": p.ravel().tolist(),
    "table": table.ravel().tolist(),
    "hits": sum(sum(k.stats.cache_hits.values()) for k in (log_softmax_columns, likelihood_table)),
    "path": log_softmax_columns.stats.cache_path,
    "warnings": [str(warning.message) for warning in caught],
}))
"""

OUTSIDE = """
import math
from typing import NamedTuple
from topicfocus.families import Family

class Scale(NamedTuple):
    scale: float = 1.0

class Laplace(Scale, Family):
    __slots__ = ()

    def log_likelihood(self, target, predictor):
        return -abs(target - predictor) / self.scale

    def derivatives(self, target, predictor):
        return math.copysign(1.0 / self.scale, target - predictor), 0.0, 0.0
"""


@pytest.fixture(scope="module")
def process():
    """A script in a process that imports the package anew, with a root of the cache of its own."""
    with fresh_imports() as start:

        def run(script, *arguments, paths=(str(SOURCE_ROOT),), cache):
            # As if it had been started with the variable: numba reads it again.
            before = f"""
import os, numba
os.environ["NUMBA_CACHE_DIR"] = {str(cache)!r}
numba.config.reload_config()
"""
            return start(before + script, *arguments, paths=list(paths))

        yield run


@pytest.fixture
def use(process, tmp_path):
    """Runs the kernels in a new process; `use.cache` is its cache folder."""

    def run(which="inside", *, cache=tmp_path / "cache", paths=(SOURCE_ROOT,)):
        paths = [*map(str, paths), str(tmp_path)]
        return json.loads(process(USE, which, paths=paths, cache=cache))

    run.cache = tmp_path / "cache"
    return run


def test_the_next_process_uses_the_cache(use):
    first, second = use(), use()
    assert (first["hits"], second["hits"]) == (0, 2)
    assert first["p"] == second["p"] == pytest.approx([0.25, 0.75])


def test_an_edit_in_the_file_of_a_helper_is_noticed(use, tmp_path):
    """likelihood_table is in kernels/; what it calls is in families/gaussian.py."""
    source = tmp_path / "src"
    begun = shutil.ignore_patterns("*.pyc.*")  # files that another worker is about to rename
    shutil.copytree(SOURCE_ROOT / "topicfocus", source / "topicfocus", ignore=begun)
    before = use(paths=[source])
    edited = source / "topicfocus" / "families" / "gaussian.py"
    with edited.open("a", encoding="utf-8") as file:
        file.write("\n\nGaussian.log_likelihood = lambda self, target, predictor: 7.0\n")
    after = use(paths=[source])
    assert after["hits"] == 0
    assert before["table"][0] != 7.0 and after["table"][0] == 7.0


@pytest.mark.parametrize(("pattern", "size"), [("*.nbi", 0), ("*.nbc", 40)])
def test_a_damaged_cache_is_rebuilt(use, pattern, size):
    expected = use()
    damaged = list(use.cache.rglob(pattern))
    assert len(damaged) == 2
    for path in damaged:
        os.truncate(path, size)
    found = use()
    assert found["hits"] == 0 and found["p"] == expected["p"]
    assert use()["hits"] == 2


def test_a_cache_without_room_names_the_place(monkeypatch, tmp_path):
    monkeypatch.setattr(compiling.config, "CACHE_DIR", str(tmp_path))
    compiled = kernel(add_one)

    def full(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(compiled._cache._cache_file, "_save_data", full)
    with pytest.warns(RuntimeWarning, match="No space left on device.*NUMBA_CACHE_DIR") as said:
        assert compiled(1.5) == 2.5
    assert str(tmp_path) in str(said[0].message)


def test_no_place_for_a_cache_is_no_error(process):
    """A folder inside a file cannot be made, not even by root."""
    script = """
import numba.core.caching as caching
caching.CacheImpl._locator_classes = [caching.UserProvidedCacheLocator]
import numpy as np
from topicfocus.kernels.products import add_rows
assert add_rows.stats.cache_path is None
out = np.zeros((1, 1))
add_rows(np.array([0, 1]), np.array([0]), np.array([3.0]), np.array([[2.0]]), out)
print(out[0, 0])
"""
    assert process(script, cache=Path(__file__).resolve() / "cache").strip() == "6.0"


def test_an_outside_family_leaves_nothing_in_the_cache(use, tmp_path):
    """A process without its class could not read an index that names it."""
    (tmp_path / "outside_laplace.py").write_text(OUTSIDE, encoding="utf-8")
    expected = use()
    files = set(use.cache.rglob("*"))
    outside = use("outside")
    assert outside["table"] == pytest.approx([-1.0, 0.5, 0.0, 0.0])
    assert outside["hits"] == 1 and set(use.cache.rglob("*")) == files
    (tmp_path / "outside_laplace.py").unlink()
    assert use() == {**expected, "hits": 2}


def add_one(x):
    return x + 1.0


class Both(NamedTuple):
    table: np.ndarray
    counts: np.ndarray


@kernel
def sums(given):
    """Many arrays are made and freed while one is borrowed: freed memory would be used again."""
    both = borrowed(given)
    total = 0.0
    for i in range(200):
        other = np.full(8, float(i))
        total += both.table[i % 2, 0] + both.counts[i % 3] + 0.0 * other[0]
    return total


def test_borrowed_arrays_keep_their_owner():
    given = Both(np.array([[1.0, 9.0], [3.0, 9.0]]), np.array([1, 2, 3]))
    assert sums(given) == 100 * (1.0 + 3.0) + 67 * 1 + 67 * 2 + 66 * 3
    assert given.table.sum() == 22.0 and given.counts.tolist() == [1, 2, 3]
