"""Ctrl-C in the middle of a fit, and --resume to the same result.

Where bits are compared both fits are processes: sums of BLAS depend on where arrays happen to lie.
"""

import json
import signal
import time

import numpy as np
import pytest
from command_line import (
    run_command,
    topicfocus,
    topicfocus_forked,
    write_reviews,
)
from forked import Forked

import topicfocus as package


def fit_arguments(data, out, *more):
    columns = ("--text", "text", "--target", "stars", "--checkpoint-every", "0")
    return [str(a) for a in ("fit", data, *columns, "--out", out, *more)]


def interrupt(arguments, stage, partial):
    """Start a fit, and send Ctrl-C when a stage is finished and the fit goes on."""
    process = Forked(run_command, arguments)
    end = time.time() + 200
    while not (partial / f"{stage}.stage").exists():
        assert process.poll() is None, process.communicate()[1]
        assert time.time() < end
        time.sleep(0.002)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=100)
    return process.returncode, out, err


def figures(folder):
    result = json.loads((folder / "metrics.json").read_text(encoding="utf-8"))
    del result["seconds"]
    return result


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return write_reviews(tmp_path_factory.mktemp("data") / "reviews.csv", 3000)


@pytest.fixture(scope="module")
def whole(data, tmp_path_factory):
    """The folder of a fit that nobody interrupted."""
    folder = tmp_path_factory.mktemp("whole") / "whole"
    done = topicfocus_forked(*fit_arguments(data, folder))
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.parametrize("stage", ["evidence", "first-pass"])
def test_focused_model_goes_on_to_the_same_bytes(data, whole, tmp_path, stage):
    parts, partial = tmp_path / "parts", tmp_path / "parts.partial"
    code, out, err = interrupt(fit_arguments(data, parts), stage, partial)
    assert code == 130
    assert out == ""
    assert "Traceback" not in err
    assert err.splitlines()[-1].startswith("topicfocus: interrupted. What was finished is in")
    assert "--resume" in err
    assert sorted(p.name for p in tmp_path.iterdir()) == ["parts.partial"]
    done = topicfocus_forked(*fit_arguments(data, parts, "--resume"))
    assert done.returncode == 0, done.stderr
    assert f"Going on from {partial}" in done.stderr and stage in done.stderr
    for name in ("model.topicfocus", "predictions.csv"):
        assert (whole / name).read_bytes() == (parts / name).read_bytes()
    assert figures(whole) == figures(parts)
    assert not partial.exists()


def test_joint_model_goes_on_from_its_last_epoch(tmp_path):
    data = write_reviews(tmp_path / "small.csv", 250, target="sentiment")
    more = ("--model", "pf-slda", "--topics", "3")
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    assert topicfocus_forked(*fit_arguments(data, whole, *more)).returncode == 0
    code, _, err = interrupt(
        fit_arguments(data, parts, *more), "epochs", tmp_path / "parts.partial"
    )
    assert code == 130
    assert "warm_start" not in err  # advice for Python has no place here
    done = topicfocus_forked(*fit_arguments(data, parts, *more, "--resume"))
    assert done.returncode == 0, done.stderr
    a, b = (package.load(f / "model.topicfocus")[-1] for f in (whole, parts))
    for name in ("components_", "inclusion_", "coef_", "background_"):
        assert np.array_equal(getattr(a, name), getattr(b, name))
    assert a.history_["objective"] == b.history_["objective"]
    assert (whole / "predictions.csv").read_bytes() == (parts / "predictions.csv").read_bytes()


def test_resume_is_refused_for_another_fit_and_harmless_without_one(data, whole, tmp_path):
    out, partial = tmp_path / "out", tmp_path / "out.partial"
    code, _, _ = interrupt(fit_arguments(data, out), "evidence", partial)
    assert code == 130
    done = topicfocus(*fit_arguments(data, out, "--resume", "--topics", "7"))
    assert done.returncode == 2
    assert "topics was 5 and is 7" in done.stderr
    assert (partial / "evidence.stage").exists()
    # A damaged checkpoint is computed again.
    stage = partial / "evidence.stage"
    stage.write_bytes(stage.read_bytes()[:-1000])
    done = topicfocus_forked(*fit_arguments(data, out, "--resume"))
    assert done.returncode == 0, done.stderr
    assert "computed again" in done.stderr
    assert figures(out) == figures(whole)
    small = write_reviews(tmp_path / "small.csv", 200)
    more = ("--resume", "--topics", 2)
    done = topicfocus(*fit_arguments(small, tmp_path / "new", *more))
    assert done.returncode == 0
    assert "nothing to go on from" in done.stderr
