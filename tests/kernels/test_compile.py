"""The cache of compiled kernels: hit by the next process, never stale, nobody else's."""

import json
import os
import pickle
import shutil
import stat
from pathlib import Path

import numpy as np
import pytest
from fresh_imports import fresh_imports
from kernel_cases import SOURCE_ROOT
from numba import config
from scipy.special import digamma

from topicfocus.kernels import compile as compiling
from topicfocus.kernels.compile import cache_root, kernel, source_hash

#: Kernels of local.py that call special.py: a small one, and two more if asked.
INFER = """
import json, sys
import numpy as np
from topicfocus.families import Ordinal
from topicfocus.kernels.likelihood import likelihood_rows
from topicfocus.kernels.local import mix_objective
used = [mix_objective]
prior = np.ones(2)
log_theta = np.empty(2)
mix_objective(prior, np.array([0.7, 3.1]), log_theta)
if sys.argv[1] == "all":
    # A family whose parameters are an array, of whatever length.
    for thresholds in (np.array([-1.0, 1.0]), np.array([0.0])):
        likelihood_rows(Ordinal(thresholds), *np.ones((3, 1, 1)))
    used.append(likelihood_rows)
print(json.dumps({
    "log_theta": log_theta.tolist(),
    "hits": {k.__name__: sum(k.stats.cache_hits.values()) for k in used},
    "misses": {k.__name__: sum(k.stats.cache_misses.values()) for k in used},
    "path": mix_objective.stats.cache_path,
}))
"""

#: All of local inference, with arrays in NamedTuples; run here and in a new process.
LARGE = """
import numpy as np
from topicfocus.families import Gaussian, common
from topicfocus.kernels.local import (
    LocalBudget, LocalCorpus, LocalStats, WordTable, infer_documents,
)
corpus = LocalCorpus(
    np.array([0, 2, 2, 3], dtype=np.int32), np.array([0, 1, 1], dtype=np.int32),
    np.array([2.0, 3.0, 1.0]), np.array([[1.0], [0.0], [-1.0]]),
    np.array([[1.0], [1.0], [0.0]]), np.zeros((3, 1)), np.ones(3),
)
words = WordTable(np.array([[1.0, 0.2], [0.5, 1.0]]), np.ones(2))
gamma = np.full((3, 2), 2.0)
out = LocalStats(np.zeros((2, 2)), np.zeros(2), np.zeros(2), np.zeros(4))
infer_documents(
    0, 3, corpus, words, np.ones(2), np.array([[0.3, 1.0]]), common(Gaussian(0.5)), gamma,
    LocalBudget(5, 0.0), out,
)
print(sum(infer_documents.stats.cache_hits.values()), len(infer_documents.signatures))
"""

#: Appended to special.py, a file that kernels of *other* files call.
DOUBLED = """

_exact_digamma = digamma


@kernel
def digamma(x):
    return 2.0 * _exact_digamma(x)
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


@pytest.fixture(scope="module")
def stages(tmp_path_factory, process):
    """The same script in new processes: cold, warm, after an edit of a helper, edit undone."""
    root = tmp_path_factory.mktemp("package")
    source = root / "src"
    # With its bytecode, but for files that another worker has begun and will rename.
    begun = shutil.ignore_patterns("*.pyc.*")
    shutil.copytree(SOURCE_ROOT / "topicfocus", source / "topicfocus", ignore=begun)
    helper = source / "topicfocus" / "kernels" / "special.py"
    original = helper.read_text(encoding="utf-8")
    times = helper.stat()

    def run(what="little"):
        return json.loads(process(INFER, what, paths=[str(source)], cache=root / "cache"))

    found = {"cold": run("all"), "warm": run("all")}
    helper.write_text(original + DOUBLED, encoding="utf-8")
    found["edited"] = run()
    helper.write_text(original, encoding="utf-8")
    os.utime(helper, ns=(times.st_atime_ns, times.st_mtime_ns))
    found["undone"] = run()
    return found


def test_the_next_process_hits_the_cache(stages):
    assert stages["cold"]["misses"] == {"mix_objective": 1, "likelihood_rows": 1}
    assert stages["cold"]["hits"] == {"mix_objective": 0, "likelihood_rows": 0}
    assert stages["warm"]["misses"] == {"mix_objective": 0, "likelihood_rows": 0}
    assert stages["warm"]["hits"] == {"mix_objective": 1, "likelihood_rows": 1}


def test_the_largest_kernel_is_cached_too(process):
    """In the cache that all tests share: an empty one would be compiled for ten seconds."""
    exec(LARGE, {})
    assert process(LARGE, cache=config.CACHE_DIR).split() == ["1", "1"]


def test_editing_a_helper_in_another_file_is_noticed(stages):
    """mix_objective is in local.py, untouched; it calls digamma of special.py."""
    exact = digamma(np.array([0.7, 3.1])) - digamma(3.8)
    np.testing.assert_allclose(stages["warm"]["log_theta"], exact, rtol=1e-12)
    np.testing.assert_allclose(stages["edited"]["log_theta"], 2 * exact, rtol=1e-12)
    assert stages["edited"]["hits"] == {"mix_objective": 0}
    assert stages["edited"]["path"] != stages["warm"]["path"]


def test_the_old_cache_is_still_there(stages):
    assert stages["undone"]["hits"] == {"mix_objective": 1}
    assert stages["undone"]["log_theta"] == stages["warm"]["log_theta"]


# ---- families outside the package ---------------------------------------------------------------

OUTSIDE = """
import math
from typing import NamedTuple
from topicfocus.families import derivatives, log_likelihood

class Laplace(NamedTuple):
    scale: float = 1.0

@log_likelihood.register(Laplace)
def _log_likelihood(family, target, predictor):
    return SHIFT - abs(target - predictor) / family.scale

@derivatives.register(Laplace)
def _derivatives(family, target, predictor):
    return math.copysign(1.0 / family.scale, target - predictor), 0.0, 0.0

SHIFT = 0.0
"""

USE = """
import json, sys
import numpy as np
from topicfocus.families import Gaussian, derivatives, log_likelihood
from topicfocus.kernels.likelihood import likelihood_table
if sys.argv[1] == "outside":
    from outside_laplace import Laplace
    family = Laplace(2.0)
elif sys.argv[1] == "main":
    # As in a script that is run: classes of __main__, functions with a source file.
    with open(sys.argv[2]) as file:
        exec(compile(file.read(), sys.argv[2], "exec"))
    family = Laplace(2.0)
else:
    family = Gaussian(2.0)
table = likelihood_table(family, np.array([3.0]), np.array([1.0]))
print(json.dumps({
    "table": table.ravel().tolist(),
    "hits": sum(likelihood_table.stats.cache_hits.values()),
    "misses": sum(likelihood_table.stats.cache_misses.values()),
}))
"""


@pytest.fixture(scope="module")
def outside(tmp_path_factory, process):
    """Processes with a family of a third party: twice, edited, in __main__, without it."""
    root = tmp_path_factory.mktemp("outside")
    module = root / "outside_laplace.py"
    module.write_text(OUTSIDE, encoding="utf-8")

    def files():
        return {p for p in (root / "cache").rglob("*") if p.is_file()}

    def run(which):
        paths = [str(SOURCE_ROOT), str(root)]
        return json.loads(process(USE, which, str(module), paths=paths, cache=root / "cache"))

    found = {"first": run("outside"), "second": run("outside")}
    module.write_text(OUTSIDE.replace("SHIFT = 0.0", "SHIFT = 9.0"), encoding="utf-8")
    found["edited"] = run("outside")
    before = files()
    found["main"] = run("main")
    found["files left by main"] = files() - before
    module.unlink()
    found["gone"] = run("gaussian")
    return found


def test_an_outside_family_is_cached(outside):
    assert outside["first"]["table"] == pytest.approx([-1.0, 0.5, 0.0, 0.0])
    assert outside["first"]["misses"] == 1
    assert outside["second"]["hits"] == 1
    assert outside["second"]["table"] == outside["first"]["table"]


def test_an_edited_outside_family_is_compiled_anew(outside):
    assert outside["edited"]["misses"] == 1
    assert outside["edited"]["table"][0] == pytest.approx(8.0)


def test_an_outside_family_does_not_break_processes_without_it(outside):
    """The index of a kernel must not name classes that another process cannot import."""
    assert outside["gone"]["table"][1] == pytest.approx(1.0)


def test_a_family_of_the_main_script_is_compiled_in_memory(outside):
    """Its class has another identity in every process: its cache entries would only pile up."""
    assert outside["main"]["table"][0] == pytest.approx(8.0)
    assert outside["files left by main"] == set()


# ---- the hash -----------------------------------------------------------------------------------


@pytest.fixture
def package(tmp_path):
    for layer in ("families", "kernels"):
        shutil.copytree(SOURCE_ROOT / "topicfocus" / layer, tmp_path / layer)
    return tmp_path


def test_source_hash_follows_every_source_file(package):
    start = source_hash(package)
    assert start == source_hash()
    seen = {start}
    for layer in ("families", "kernels"):
        for path in sorted((package / layer).glob("*.py")):
            with path.open("a", encoding="utf-8") as file:
                file.write("\n# edited\n")
            seen.add(source_hash(package))
    files = sum(len(list((package / layer).glob("*.py"))) for layer in ("families", "kernels"))
    assert len(seen) == files + 1


def test_source_hash_sees_new_renamed_and_swapped_files(package):
    start = source_hash(package)
    (package / "kernels" / "extra.py").write_text("x = 1\n", encoding="utf-8")
    added = source_hash(package)
    (package / "kernels" / "extra.py").rename(package / "kernels" / "other.py")
    renamed = source_hash(package)
    assert len({start, added, renamed}) == 3
    (package / "kernels" / "other.py").unlink()
    assert source_hash(package) == start


def test_source_hash_ignores_time_stamps(package):
    start = source_hash(package)
    os.utime(package / "kernels" / "local.py", (1, 1))
    assert source_hash(package) == start


def test_source_hash_depends_on_the_compiler(monkeypatch):
    start = source_hash()
    monkeypatch.setattr(compiling.numba, "__version__", "0.0.1")
    assert source_hash() != start


# ---- the directory ------------------------------------------------------------------------------


@pytest.fixture
def cache_in(tmp_path, monkeypatch):
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path))
    return tmp_path / "topicfocus"


posix = pytest.mark.skipif(os.name != "posix", reason="file modes of POSIX")


@posix
@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_the_directory_is_the_users_alone(cache_in, umask):
    before = os.umask(umask)
    try:
        directory = compiling._prepare_cache()
    finally:
        os.umask(before)
    assert directory == cache_in / source_hash()
    assert stat.S_IMODE(directory.stat().st_mode) == 0o700
    assert compiling._prepare_cache() == directory  # and again, when it is there


@posix
def test_somebody_elses_directory_is_not_used(cache_in, monkeypatch):
    assert compiling._prepare_cache() is not None
    monkeypatch.setattr(os, "getuid", lambda: 12345678)
    assert compiling._prepare_cache() is None


def test_no_folder_of_the_cache_directory_is_deleted(cache_in):
    old = cache_in / "thesis"
    old.mkdir(parents=True)
    (old / "chapter.txt").write_text("mine")
    os.utime(old, (0, 0))
    compiling._prepare_cache()
    assert (old / "chapter.txt").exists()


def test_where_the_cache_is(monkeypatch, tmp_path):
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path))
    assert cache_root() == tmp_path / "topicfocus"
    monkeypatch.setattr(config, "CACHE_DIR", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_root() == tmp_path / "xdg" / "topicfocus" / "kernels"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_root() == Path.home() / ".cache" / "topicfocus" / "kernels"


@pytest.mark.parametrize("error", [PermissionError, OSError, RuntimeError])
def test_no_place_for_a_cache_is_no_error(cache_in, monkeypatch, error):
    def refuse(*arguments, **options):
        raise error("no")

    monkeypatch.setattr(Path, "mkdir", refuse)
    assert compiling._prepare_cache() is None


def add_one(x):
    return x + 1.0


def test_without_a_cache_kernels_compile_in_memory(monkeypatch):
    monkeypatch.setattr(compiling, "_CACHE", None)
    compiled = kernel(add_one)
    assert compiled is not add_one
    assert compiled(1.5) == 2.5
    assert compiled.stats.cache_path is None
    assert compiled.signatures


def test_with_a_cache_numbas_own_setting_is_left_alone(monkeypatch, tmp_path):
    monkeypatch.setattr(compiling, "_CACHE", tmp_path / "mine")
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path / "user"))
    compiled = kernel(add_one)
    assert str(tmp_path / "user") == config.CACHE_DIR
    assert compiled(1.5) == 2.5
    assert Path(compiled.stats.cache_path).is_relative_to(tmp_path / "mine")
    assert list((tmp_path / "mine").rglob("*.nbc"))
    assert not (tmp_path / "user").exists()


def test_an_unwritable_root_in_a_new_process(process):
    """A root inside a file cannot be made, not even by root: kernels work all the same."""
    script = (
        "import numpy as np\n"
        "from topicfocus.kernels import compile\n"
        "from topicfocus.kernels.special import apply_elementwise\n"
        "assert compile._CACHE is None\n"
        "assert apply_elementwise.stats.cache_path is None\n"
        "print(apply_elementwise(np.array([2.0]), 0)[0])\n"
    )
    printed = process(script, cache=Path(__file__).resolve() / "cache")
    assert float(printed) == pytest.approx(digamma(2.0), rel=1e-12)


@kernel
def add_two(x):
    return counted_add_one(x) + 1.0


counted_add_one = kernel(add_one)


def test_an_entry_from_python_is_compiled_only_for_python():
    assert add_two(1.5) == 3.5
    assert add_two.signatures and not counted_add_one.signatures
    assert counted_add_one(1.5) == 2.5
    assert counted_add_one.signatures


def test_a_kernel_is_pickled_by_its_name():
    assert pickle.loads(pickle.dumps(add_two)) is add_two
    assert add_two.__doc__ is None and add_two.__name__ == "add_two"
