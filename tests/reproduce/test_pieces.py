"""Tasks, the store, choices, baselines and the check of the paper's coherence."""

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from small_data import small_dataset

from topicfocus import metrics
from topicfocus.reproduce import baselines, peers
from topicfocus.reproduce.choice import choose, mean_sd
from topicfocus.reproduce.models import MODELS
from topicfocus.reproduce.ours import gradient_epochs
from topicfocus.reproduce.plan import Plan
from topicfocus.reproduce.rarity import document_frequency, random_words, rarity_coherence
from topicfocus.reproduce.store import Run, RunStore
from topicfocus.reproduce.tasks import DataKey, Task, Words

# ---- tasks and the store ----------------------------------------------------------------------


def test_every_part_of_a_task_is_in_its_key():
    base = Task(DataKey("yelp", 1, 100, 50), "sLDA", (("a", 1),), 3)
    others = [
        replace(base, data=replace(base.data, **{field: value}))
        for field, value in [("name", "eicu"), ("split", 2), ("words", 99), ("docs", 51)]
    ]
    others += [replace(base, model="LDA"), replace(base, settings=(("a", 2),))]
    others += [replace(base, seed=4), replace(base, words=Words("inclusion", base))]
    others += [replace(base, words=Words("correlation", base))]
    others += [replace(base, words=Words("signed correlation", base))]
    keys = {task.key for task in [base, *others]}
    assert len(keys) == len(others) + 1
    assert base.key == Task(DataKey("yelp", 1, 100, 50), "sLDA", (("a", 1),), 3).key
    json.dumps(others[-1].describe())


def test_runs_come_back_as_they_were_put(tmp_path):
    store, task = RunStore(tmp_path), Task(DataKey("yelp", 0), "sLDA")
    assert task not in store
    with pytest.raises(KeyError, match="has not been run"):
        store[task]
    rng = np.random.default_rng(0)
    run = Run({"test": 0.5, "n_iter": None}, rng.random((2, 3)), rng.random(2), about={"a": 1})
    store.put(task, run)
    assert task in store
    found = RunStore(tmp_path)[task]
    np.testing.assert_array_equal(found.components, run.components)
    assert found.inclusion is None
    assert found.figures == run.figures and found.about == run.about


def test_a_damaged_list_of_calls_is_an_error(tmp_path):
    store = RunStore(tmp_path)
    assert store.calls() == []
    store.add_call(3, 1.26, 2)
    assert [(c.runs, c.seconds, c.jobs) for c in store.calls()] == [(3, 1.3, 2)]
    (tmp_path / "calls.jsonl").write_text('{"runs": 1}\n', encoding="utf-8")
    with pytest.raises(ValueError, match="is not a list of calls"):
        store.calls()


def test_a_damaged_or_foreign_file_is_an_error_and_is_not_unpickled(tmp_path):
    store, task = RunStore(tmp_path), Task(DataKey("yelp", 0), "sLDA")
    store.path(task).write_bytes(b"not an archive")
    with pytest.raises(ValueError, match="delete it and run again") as found:
        store[task]
    assert "unsafe" not in str(found.value)  # what NumPy would say
    np.savez(store.path(task), meta=np.array([object()], dtype=object))
    with pytest.raises(ValueError, match="delete it and run again"):
        store[task]


def test_the_best_validation_score_is_chosen_higher_for_classes(tmp_path):
    store = RunStore(tmp_path)
    for name, best in (("yelp", 1), ("eicu", 2)):
        tasks = [Task(DataKey(name, 0), "sLDA", (("p", i),)) for i in range(3)]
        for task, value in zip(tasks, (0.5, 0.3, 0.9), strict=True):
            # A test score that would choose otherwise.
            store.put(task, Run({"valid": value, "test": 1 - value}))
        assert choose(tasks, store) == tasks[best]


def test_mean_sd_leaves_out_what_is_not_there():
    assert mean_sd([1.0, 3.0]) == "2.000 (1.414)"
    assert mean_sd([None, 2.0, float("nan")], "{:.1f}") == "2.0"
    assert mean_sd([None]) == "-"


def test_quick_and_full_plans_share_no_runs():
    quick, full = Plan(True), Plan(False)
    mine = {task.key for data in quick.data for task in quick.grid(data, 0, "pf-sLDA")}
    theirs = {task.key for data in full.data for task in full.grid(data, 0, "pf-sLDA")}
    assert not mine & theirs


def test_the_paper_s_algorithm_takes_as_many_steps_on_every_data_set():
    assert gradient_epochs(3754) == 500
    for n in (100, 1807, 7500, 20_000):
        assert gradient_epochs(n) * -(-n // 100) == pytest.approx(19_000, rel=0.02)


# ---- baselines --------------------------------------------------------------------------------


def test_correlation_is_pearson_s_and_zero_for_constants():
    rng = np.random.default_rng(0)
    counts = rng.poisson(0.7, (40, 6)).astype(float)
    counts[:, 2] = 1.0
    y = rng.normal(size=40)
    found = baselines.target_correlation(sparse.csr_array(counts), y)
    expected = [np.corrcoef(c, y)[0, 1] if np.ptp(c) else 0.0 for c in counts.T]
    np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize("signed", [False, True])
def test_the_most_correlated_words_come_in_the_order_of_columns(signed):
    data = small_dataset()
    found = baselines.most_correlated(data, 7, signed)
    strength = baselines.target_correlation(data.train.counts, data.train.target)
    strength = strength if signed else np.abs(strength)
    assert np.all(np.diff(found) > 0) and len(found) == 7
    assert strength[found].min() >= np.delete(strength, found).max()


def test_a_fit_on_some_words_is_one_on_all_with_zeros():
    data = small_dataset()
    columns = np.array([1, 4, 9, 20, 33])
    fit = MODELS["sLDA"].fit(baselines.on_columns(data, columns), {"max_epochs": 5}, 0)
    wide = baselines.widen(fit, columns, data.train.counts.shape[1])
    np.testing.assert_array_equal(
        wide.predict(data.test.counts), fit.predict(data.test.counts[:, columns])
    )
    assert wide.components.shape == (5, data.train.counts.shape[1])
    np.testing.assert_array_equal(np.flatnonzero(wide.inclusion), columns)
    np.testing.assert_allclose(wide.components.sum(axis=1), 1)


# tomotopy takes a warning of its own compiled module for the module not being there.
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", list(MODELS))
@pytest.mark.parametrize("task", ["regression", "binary"])
def test_every_model_beats_no_model_and_has_what_it_says(name, task):
    model = MODELS[name]
    if not model.available:
        pytest.skip(f"{model.package} is not installed")
    if model.comes_with:
        pytest.skip("comes with another fit")
    data = small_dataset(task=task)
    settings = dict(model.grid[0])
    settings |= {"pf-sLDA": {"max_epochs": 150, "learning_rate": 0.1, "batch_size": 10}}.get(
        name, {}
    )
    settings |= {"tomotopy SLDA": {"sweeps": 100}, "topica SupervisedLDA": {"iters": 10}}.get(
        name, {}
    )
    fit = model.fit(data, settings, 0)
    predicted = fit.predict(data.test.counts)
    assert predicted.shape == (len(data.test.target),) and np.all(np.isfinite(predicted))
    from topicfocus.reproduce.execute import score

    constant = np.full(len(predicted), np.mean(data.train.target))
    value, nothing = (score(data, data.test.target, p) for p in (predicted, constant))
    assert value > nothing if task == "binary" else value < nothing
    assert (fit.components is not None) == model.topics
    if model.topics:
        np.testing.assert_allclose(fit.components.sum(axis=1), 1, rtol=1e-5)
        assert fit.coef.shape == (5,)


def test_token_lists_have_every_token():
    counts = sparse.csr_array(np.array([[2.0, 0, 1], [0, 0, 0]]))
    assert peers.token_lists(counts) == [["0", "0", "2"], []]


# ---- the paper's coherence --------------------------------------------------------------------


def test_independent_words_score_by_their_rarity():
    rng = np.random.default_rng(0)
    frequency = np.repeat([0.004, 0.02, 0.1, 0.3], 10)
    counts = sparse.csr_array((rng.random((20_000, 40)) < frequency).astype(float))
    scores = []
    for band in range(4):
        topic = np.zeros((1, 40))
        topic[0, 10 * band : 10 * band + 10] = 0.1
        expected = rarity_coherence(topic, counts, 10)
        found = metrics.coherence(topic, counts, "pmi", 10)
        assert found == pytest.approx(expected, abs=0.02)
        f = frequency[10 * band]
        assert found == pytest.approx(np.log((f * f + 0.01) / (f + 0.01) ** 2), abs=0.1)
        scores.append(found)
    assert scores == sorted(scores, reverse=True)  # the rarer the better


def test_random_words_are_of_their_band():
    rng = np.random.default_rng(0)
    counts = sparse.csr_array((rng.random((3000, 300)) < 0.02).astype(float))
    rows = random_words(counts, draws=3)
    assert [(row["low"], row["high"]) for row in rows] == [(0.01, 0.03)]
    assert document_frequency(counts).mean() == pytest.approx(0.02, abs=0.002)
    assert rows[0]["pmi50"] > 2
    assert abs(rows[0]["log_ratio10"]) < 0.1
