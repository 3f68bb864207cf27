"""Running, resuming, the page and the command."""

import csv
import multiprocessing
import os
import signal
import time
from contextlib import contextmanager
from dataclasses import replace
from functools import cache, lru_cache

import numpy as np
import pytest
from command_line import SLOW_DISK, environment, run_on_a_slow_disk, topicfocus
from forked import Forked, server
from small_data import small_dataset

from topicfocus.reproduce import MODELS, compare, tasks
from topicfocus.reproduce import execute as execute_module
from topicfocus.reproduce.execute import _measure, about, execute
from topicfocus.reproduce.experiments import (
    EXPERIMENTS,
    checks,
    filtering,
    main_table,
    posthoc,
    top_words,
    topics,
)
from topicfocus.reproduce.experiments.topics import word_signs
from topicfocus.reproduce.fits import Fit
from topicfocus.reproduce.page import finished, write_page
from topicfocus.reproduce.plan import Plan
from topicfocus.reproduce.runner import needs, run_tasks, with_needs
from topicfocus.reproduce.store import Run, RunStore
from topicfocus.reproduce.tasks import DataKey, Task, Words

SYNTHETIC = DataKey("synthetic", 0, None, 60)  # sort and cut has 170 epochs, whatever max_epochs


def synthetic_task(seed=0, **settings):
    settings = {"inclusion_prior": 0.25, "max_epochs": 5, **settings}
    return Task(SYNTHETIC, "pf-sLDA, tight bound", tuple(settings.items()), seed)


# ---- running ----------------------------------------------------------------------------------


def test_needed_runs_come_first_and_by_products_need_their_fit():
    fit = Task(DataKey("pang_lee", 0), "pf-sLDA")
    last = replace(fit, model="pf-sLDA, all epochs")
    filtered = Task(DataKey("pang_lee", 0), "sLDA", words=Words("inclusion", last))
    assert needs(last) == (fit,)
    assert with_needs([filtered]) == [fit, last, filtered]


@contextmanager
def forked_runs():
    """Processes of runs begin after their imports; `test_an_interrupted_...` has some that do not.

    Of what a run of a test costs, the start of its process is four fifths.
    """
    begun, other = server(), multiprocessing.get_context
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            multiprocessing, "get_context", lambda how: begun if how == "spawn" else other(how)
        )
        yield


@pytest.fixture(scope="module")
def two_runs(tmp_path_factory):
    """A store with runs of two processes, what failed beside them, and a second call's lines."""
    store = RunStore(tmp_path_factory.mktemp("two") / "runs")
    wanted = [synthetic_task(0), synthetic_task(1)]
    bad = synthetic_task(0, no_such_setting=1)
    child = Task(DataKey("pang_lee", 0), "sLDA", words=Words("inclusion", bad))
    with forked_runs():
        failures = run_tasks([bad, child, *wanted], store, jobs=2, quiet=True)
    return store, wanted, (bad, child), failures


def test_runs_are_kept_and_not_done_twice(two_runs, capsys):
    """That others are added to them is in `test_an_interrupted_reproduction_goes_on`."""
    store, wanted, *_ = two_runs
    assert all(task in store for task in wanted)
    assert 0 <= store[wanted[0]].figures["precision"] <= 1
    assert store[wanted[0]].about["task"] == wanted[0].describe()
    before = times_of(store)
    assert len(before) == 2
    assert run_tasks(wanted, store, jobs=1) == []  # nothing to do is no call
    assert capsys.readouterr().err == "" and times_of(store) == before
    calls = RunStore(store.folder).calls()
    assert [(call.runs, call.jobs) for call in calls] == [(2, 2)]
    assert all(0 < call.seconds < 600 for call in calls)


def times_of(store):
    return {path: path.stat().st_mtime_ns for path in store.folder.glob("*.npz")}


def test_a_run_is_the_same_in_a_process_and_here(two_runs):
    store, (task, _), *_ = two_runs
    here = execute(task, store)[task]
    np.testing.assert_array_equal(store[task].inclusion, here.inclusion)


def test_a_failure_does_not_stop_the_others(two_runs):
    store, wanted, (bad, child), failures = two_runs
    assert [failure.task for failure in failures] == [bad, child]
    assert "no_such_setting" in failures[0].reason and "which failed" in failures[1].reason
    assert all(task in store for task in wanted)


def test_words_kept_by_a_run_are_what_another_is_fitted_on(tmp_path, monkeypatch):
    monkeypatch.setitem(tasks._LOADERS, "pang_lee", lambda key: small_dataset(key.split))
    tasks.load.cache_clear()
    data = small_dataset(0)
    store = RunStore(tmp_path)
    selector = Task(DataKey("pang_lee", 0), "focused")
    inclusion = np.zeros(data.train.counts.shape[1])
    inclusion[[3, 5, 8, 13, 21, 34]] = 1.0
    store.put(selector, Run({}, inclusion=inclusion))
    for by in ("inclusion", "correlation", "signed correlation"):
        task = Task(DataKey("pang_lee", 0), "sLDA", words=Words(by, selector))
        run = execute(task, store)[task]
        assert run.figures["kept_words"] == 6
        kept = np.flatnonzero(run.inclusion)
        assert np.all(run.components[:, inclusion == 0] == 0) == (by == "inclusion")
        assert list(kept) == [3, 5, 8, 13, 21, 34] or by != "inclusion"
    tasks.load.cache_clear()


# ---- the page ---------------------------------------------------------------------------------


class SmallPlan(Plan):
    """The whole reproduction on data that a test can make up."""

    @property
    def splits(self):
        return range(2)

    @property
    def data(self):
        return ("pang_lee", "yelp", "eicu")

    @property
    def synthetic(self):
        return range(2), range(2)


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """A store with a made-up run of every task, the data behind it, and the page."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("pang_lee", "yelp", "eicu"):
            kind = "binary" if name == "eicu" else "regression"
            patch.setitem(
                tasks._LOADERS,
                name,
                lambda key, kind=kind, name=name: small_dataset(key.split, kind, name),
            )
        # One draw of everything: making these data is most of the time.
        patch.setattr(tasks, "load", lru_cache(maxsize=None)(tasks.load.__wrapped__))
        for module in (execute_module, main_table, checks, filtering, posthoc, topics):
            patch.setattr(module, "load", tasks.load)
        folder = tmp_path_factory.mktemp("page")
        plan, store = SmallPlan(), RunStore(folder / "runs")
        for module in EXPERIMENTS.values():
            for task in with_needs(module.tasks(plan)):
                if task not in store:
                    store.put(task, made_up(task))
        store.add_call(7, 90.0, 2)
        store.add_call(0, 5.0, 2)  # interrupted before anything was finished
        store.add_call(3, 30.0, 1)
        names = write_page(plan, store, folder)
        yield plan, store, folder, names


def made_up(task):
    """Random topics with the measures of such topics."""
    rng = np.random.default_rng(abs(hash(task.key)) % 2**32)
    if task.data.name == "synthetic":
        return Run({"seconds": 1.0, "precision": rng.random(), "recall": rng.random()})
    measured = random_run(task.data, MODELS[task.model].topics)
    # Measuring topics is most of the time, and tested elsewhere: here figures only have to differ.
    figures = {
        name: value * rng.uniform(0.9, 1.1) if isinstance(value, float) else value
        for name, value in measured.figures.items()
    }
    return replace(measured, figures=figures, about={**about(task), "versions": {"numpy": "0.0"}})


@cache
def random_run(key, topics):
    rng = np.random.default_rng(key.split)
    data = tasks.load(key)
    n_words = data.train.counts.shape[1]
    fit = Fit(
        lambda counts: rng.normal(size=counts.shape[0]),
        rng.dirichlet(np.full(n_words, 0.1), 5) if topics else None,
        rng.normal(size=5) if topics else None,
        (rng.random(n_words) < 0.5).astype(float),
        figures={"bound": -7.0},
    )
    return _measure(Task(key, "focused"), fit, data, 2.0)


def test_every_experiment_is_on_the_page_with_its_files(filled):
    _, _, folder, names = filled
    assert names == list(EXPERIMENTS)
    page = (folder / "RESULTS.md").read_text(encoding="utf-8")
    for number, module in enumerate(EXPERIMENTS.values(), 1):
        assert f"## {number}. {module.TITLE}" in page
    assert "Not run" not in page
    # Every link leads somewhere, every file is linked.
    for part in page.split("](")[1:]:
        assert (folder / part.split(")")[0]).is_file(), part[:60]
    for path in [*(folder / "figures").iterdir(), *(folder / "tables").iterdir()]:
        assert f"{path.parent.name}/{path.name}" in page, path
    # The paper's figures stand beside ours, and the warning with its check.
    for figure in ("1.987", "0.952", "1.916", "0.962", "1.52"):
        assert figure in page
    assert "50 random words" in page
    took = "1.5 minutes for 7 results, 2 at a time; then 0.5 minutes for 3 results, 1 at a time."
    assert f"By the clock: {took}" in page


def test_figures_of_the_page_are_those_of_the_chosen_runs(filled):
    plan, store, folder, _ = filled
    with (folder / "tables" / "main.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    mine = [r for r in rows if r["data"] == "pang_lee" and r["model"] == "focused"]
    assert [int(r["split"]) for r in mine] == [0, 1]
    values = []
    for split, row in enumerate(mine):
        runs = [store[task].figures for task in plan.grid("pang_lee", split, "focused")]
        best = min(runs, key=lambda f: f["valid"])
        assert float(row["test"]) == best["test"]
        values.append(best["test"])
    page = (folder / "RESULTS.md").read_text(encoding="utf-8")
    assert f"| focused | {np.mean(values):.3f} ({np.std(values, ddof=1):.3f}) |" in page


def test_an_experiment_with_a_missing_run_is_not_on_the_page(filled, tmp_path):
    plan, store, _, _ = filled
    some = RunStore(tmp_path / "runs")
    for task in with_needs(EXPERIMENTS["synthetic"].tasks(plan)):
        some.put(task, store[task])
    assert write_page(plan, some, tmp_path) == ["synthetic"]
    page = (tmp_path / "RESULTS.md").read_text(encoding="utf-8")
    assert "Not run: `topicfocus reproduce curves`" in page
    some.path(EXPERIMENTS["synthetic"].tasks(plan)[0]).unlink()
    assert not finished(EXPERIMENTS["synthetic"], plan, some)
    assert write_page(plan, some, tmp_path) == []


def test_a_topic_without_its_dropped_words_sums_to_one():
    matrix = np.array([[0.2, 0.3, 0.5], [0.0, 0.0, 1.0]])
    left = posthoc.filtered(matrix, np.array([True, True, False]))
    np.testing.assert_allclose(left, [[0.4, 0.6, 0.0], [0.0, 0.0, 0.0]])
    assert posthoc.shared_words(matrix, matrix, 2) == 1
    assert posthoc.shared_words(matrix[:1], np.array([[1.0, 0.0, 0.0]]), 2) == 0


def test_codes_are_marked_by_the_targets_of_test_documents():
    data = small_dataset(task="binary", name="eicu")
    signs = word_signs(data)
    assert set(np.unique(signs)) <= {-1.0, 0.0, 1.0} and np.any(signs > 0) and np.any(signs < 0)
    v = int(np.flatnonzero(signs > 0)[0])
    has = np.asarray(data.test.counts[:, [v]].todense()).ravel() > 0
    assert data.test.target[has].mean() > data.test.target.mean()


def test_top_words_need_no_runs_of_their_own():
    plan = Plan()
    every = set(EXPERIMENTS["table"].tasks(plan))
    assert set(top_words.tasks(plan)) <= every


# ---- the table function -----------------------------------------------------------------------


def test_compare_runs_any_model_by_the_rule():
    seen = []
    found = compare(
        small_dataset,
        ["focused", "words", "LDA + regression"],
        splits=2,
        progress=lambda m, s: seen.append((m, s)),
    )
    assert len(found.rows) == 6 and len(seen) == 6 and found.score == "RMSE"
    row = next(r for r in found.rows if r["model"] == "words" and r["split"] == 1)
    data = small_dataset(1)
    scores = {}
    for settings in MODELS["words"].grid:
        fit = MODELS["words"].fit(data, settings, 1)
        valid, test = (
            np.sqrt(np.mean((p.target - fit.predict(p.counts)) ** 2))
            for p in (data.valid, data.test)
        )
        scores[valid] = (settings, test)
    settings, test = scores[min(scores)]
    assert row["setting"] == settings and row["test"] == pytest.approx(test)
    text = str(found)
    assert text.count("\n") == 4 and "RMSE" in text and "npmi@10" in text
    assert "agreement" in found.rows[0] and "agreement" not in row


def test_compare_says_what_is_wrong():
    with pytest.raises(ValueError, match="no model is called 'sLDAA'"):
        compare(small_dataset, ["sLDAA"])
    with pytest.raises(ValueError, match="two classes"):
        compare(lambda split: replace(small_dataset(), task="multiclass"), ["words"])


# ---- the command ------------------------------------------------------------------------------


def test_without_a_name_the_experiments_are_listed(tmp_path):
    found = topicfocus("reproduce", "--out", tmp_path)
    assert found.returncode == 0
    for name in EXPERIMENTS:
        assert name in found.stdout


def test_an_unknown_experiment_is_bad_usage(tmp_path):
    found = topicfocus("reproduce", "tabel", "--out", tmp_path)
    assert found.returncode == 2
    assert "table, curves" in found.stderr and "Traceback" not in found.stderr


def test_missing_data_are_told_before_anything_runs(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("TOPICFOCUS_DATA", raising=False)
    found = topicfocus("reproduce", "table", "--out", tmp_path / "out")
    assert found.returncode == 1
    assert "pang_lee" in found.stderr and "TOPICFOCUS_DATA" in found.stderr
    assert not (tmp_path / "out").exists()


def test_an_interrupted_reproduction_goes_on(tmp_path):
    slow = tmp_path / "slow"
    slow.mkdir()
    (slow / "sitecustomize.py").write_text(SLOW_DISK, encoding="utf-8")
    command = ["reproduce", "synthetic", "--quick", "--out", str(tmp_path), "--jobs", "2"]
    process = Forked(run_on_a_slow_disk, command, env=environment(paths=[str(slow)]))
    runs = tmp_path / "quick" / "runs"

    def writes_the_third():
        return len(list(runs.glob("*.npz"))) >= 2 and any(runs.glob("*.tmp"))

    end = time.time() + 200
    while time.time() < end and process.poll() is None and not writes_the_third():
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert "goes on" in errors and "Traceback" not in errors
    kept = {path.name for path in runs.glob("*.npz")}
    assert 2 <= len(kept) < len(EXPERIMENTS["synthetic"].tasks(Plan(quick=True)))
    assert not list(runs.glob("*.tmp"))
    before = times_of(RunStore(runs))
    killed = runs / ".topicfocus-0123456789abcdef.tmp"  # as a process that was killed leaves it
    killed.write_bytes(b"half")
    os.utime(killed, (time.time() - 100_000,) * 2)
    with forked_runs():
        found = topicfocus("reproduce", "synthetic", "--quick", "--out", tmp_path, "--jobs", "1")
    assert found.returncode == 0, found.stderr
    every = len(EXPERIMENTS["synthetic"].tasks(Plan(quick=True)))
    assert f"{every - len(kept)} runs to do, {len(kept)} already finished" in found.stderr
    assert before.items() <= times_of(RunStore(runs)).items()
    assert not killed.exists() and f"Removed {killed}" in found.stderr.replace("\n", " ")
    assert "synthetic" in found.stdout
    page = (tmp_path / "quick" / "RESULTS.md").read_text(encoding="utf-8")
    calls = RunStore(runs).calls()
    assert [(call.runs, call.jobs) for call in calls] == [(len(kept), 2), (every - len(kept), 1)]
    assert all(0 < call.seconds < 600 for call in calls)
    assert "QUICK LOOK" in page and "| 0.25 | the paper |" in page
    assert (tmp_path / "quick" / "figures" / "synthetic.png").stat().st_size > 5000
