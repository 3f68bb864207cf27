"""experiments/runner.py: finished tasks are not repeated, results are JSON lines."""

import json

import numpy as np
import pytest
import runner


@pytest.fixture
def calls():
    return []


def test_finished_tasks_are_skipped(tmp_path, calls):
    def work(task):
        calls.append(task["split"])
        return {"score": np.float64(task["split"] / 2), "words": np.arange(2)}

    tasks = [{"data": "yelp", "split": split, "setting": {"p": 0.1}} for split in range(3)]
    first = runner.run("some", tasks[:2], work, jobs=1, folder=tmp_path)
    assert [record["score"] for record in first] == [0.0, 0.5] and calls == [0, 1]
    every = runner.run("some", tasks, work, jobs=1, folder=tmp_path)
    assert calls == [0, 1, 2] and [record["split"] for record in every] == [0, 1, 2]
    lines = (tmp_path / "some.jsonl").read_text().splitlines()
    assert [json.loads(line)["words"] for line in lines] == [[0, 1]] * 3
    assert runner.run("some", [], work, folder=tmp_path) == []


def test_an_interrupted_experiment_continues(tmp_path, calls):
    def work(task):
        calls.append(task["n"])
        if task["n"] == 2 and len(calls) == 3:
            raise KeyboardInterrupt
        return {"twice": 2 * task["n"]}

    tasks = [{"n": n} for n in range(4)]
    with pytest.raises(KeyboardInterrupt):
        runner.run("numbers", tasks, work, jobs=1, folder=tmp_path)
    assert [record["n"] for record in runner.read("numbers", tmp_path)] == [0, 1]
    done = runner.run("numbers", tasks, work, jobs=1, folder=tmp_path)
    assert calls == [0, 1, 2, 2, 3] and [record["twice"] for record in done] == [0, 2, 4, 6]


def test_a_damaged_line_is_reported(tmp_path):
    (tmp_path / "some.jsonl").write_text('{"a": 1}\n{"a": \n')
    with pytest.raises(ValueError, match="damaged line"):
        runner.read("some", tmp_path)


def test_tables():
    assert runner.mean_sd([1.0, 2.0, None, float("nan")]) == "1.500 (0.707)"
    assert runner.mean_sd([]) == "-"
    table = runner.frame([{"data": "a", "score": 1.0}, {"data": "a", "score": 3.0}])
    shown = runner.summary(table, ["data"], [("score", "RMSE", "{:.1f}"), ("none", "x", "{}")])
    assert shown.splitlines()[-1] == "| a | 2 | 2.0 (1.4) | - |"
