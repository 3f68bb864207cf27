"""Settings of a fit in a file, and the log of a fit."""

import os
import re
import warnings

import pytest
from command_line import topicfocus, topicfocus_forked, write_reviews

from topicfocus import workflow
from topicfocus.workflow import CountOptions, ReadOptions, read_config
from topicfocus.workflow.config import as_config, config_text, read_flat
from topicfocus.workflow.logs import check_log, logging_to
from topicfocus.workflow.options import ColumnNames, ModelOptions, Roles
from topicfocus.workflow.remarks import as_remarks

COLUMNS = ("--text", "text", "--target", "stars")


@pytest.fixture
def data(tmp_path):
    return write_reviews(tmp_path / "r.csv", 160)


def test_what_is_written_is_what_is_read(tmp_path):
    odd = 'a "quoted" \\ name\twith é and \x7f and 😀'
    more = ColumnNames(covariates=("x", odd), weight="w")
    roles = Roles(text=f"{odd}!", target="t", kind="real", more=more)
    options = ModelOptions(
        model="pf-slda", topics=7, inclusion_prior=0.25, seed=3, jobs=2, class_weight={odd: 2.5}
    )
    reading = ReadOptions(delimiter="\t", skip_bad=True, vocabulary=tmp_path / "v.txt")
    counting = CountOptions(stop_words=["the", odd], min_df=0.1, ngrams=(1, 2), lowercase=False)
    found = as_config(str(tmp_path / "r.csv"), roles, options, reading, counting, baseline=False)
    folder = tmp_path / "o"
    folder.mkdir()
    (folder / "config.toml").write_text(config_text(found, folder), encoding="utf-8")
    again = read_config(folder / "config.toml")
    assert again.pop("reading") == ReadOptions(
        delimiter="\t", skip_bad=True, vocabulary=str(tmp_path / "v.txt")
    )
    assert again.pop("counting") == counting
    assert again == {
        "path": str(tmp_path / "r.csv"),
        "text": f"{odd}!",
        "target": "t",
        "kind": "real",
        "covariates": ["x", odd],
        "weight": "w",
        "model": "pf-slda",
        "topics": 7,
        "inclusion_prior": 0.25,
        "test_share": 0.2,
        "seed": 3,
        "jobs": 2,
        "class_weight": {odd: 2.5},
        "baseline": False,
    }


def test_several_files_and_lists_of_stop_words(tmp_path):
    (tmp_path / "mine.txt").write_text("the\n")
    path = tmp_path / "c.toml"
    path.write_text('file = ["a.csv", "parts/*.csv", "-"]\nstop_words = "mine.txt"\n')
    found = read_flat(path)
    assert found["file"] == [str(tmp_path / "a.csv"), str(tmp_path / "parts" / "*.csv"), "-"]
    assert found["stop_words"] == str(tmp_path / "mine.txt")
    written = config_text({"file": found["file"], "stop_words": "german"}, tmp_path / "o")
    assert 'file = ["../a.csv", "../parts/*.csv", "-"]' in written
    path.write_text('stop_words = "german"\n')
    assert read_flat(path)["stop_words"] == "german"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("topics = ", "is not TOML"),
        ("topics = 'five'", "topics must be int, not 'five'"),
        ("topics = true", "topics must be int, not True"),
        ("topics = 5.5", "topics must be int"),
        ("tpoics = 5", "has 'tpoics', which is no setting"),
        ("covariates = [1]", "covariates must be"),
        ("ngrams = [1]", "ngrams must be two numbers"),
        ("[model]\nname = 'x'", "model must be str"),
        ("\xff", "has no|is not TOML"),
        ("a = " + "[" * 10_000, "is not TOML"),
    ],
)
def test_what_is_wrong_with_a_config(tmp_path, text, message):
    path = tmp_path / "c.toml"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(workflow.SettingError, match=message):
        read_config(path)
    done = topicfocus("fit", "--config", path)
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1


def test_the_command_line_goes_before_the_config(data, tmp_path):
    (tmp_path / "fit.toml").write_text(
        'file = "r.csv"\ntext = "text"\ntarget = "stars"\n'
        "topics = 2\nmin-df = 4\nlowercase = false\n"
    )
    os.makedirs(tmp_path / "elsewhere")
    done = topicfocus(
        *("fit", "--config", tmp_path / "fit.toml", "--topics", 3, "--out", "o"),
        cwd=tmp_path / "elsewhere",
    )
    assert done.returncode == 0, done.stderr
    found = read_config(tmp_path / "elsewhere" / "o" / "config.toml")
    assert found["topics"] == 3 and found["counting"].min_df == 4
    assert not found["counting"].lowercase
    assert found["path"] == str(data)
    (tmp_path / "fit.toml").write_text(
        'file = "r.csv"\ntext = "text"\ntarget = "stars"\ntopics = 9\nbaseline = false\n'
    )
    given = ("--topics", "2", "--shares", "0.1,0.3", "--folds", 2, "--out", tmp_path / "tuned")
    done = topicfocus("tune", "--config", tmp_path / "fit.toml", *given)
    assert done.returncode == 0, done.stderr
    assert "Tuning: 2 settings on 2 folds" in done.stderr and "ridge" not in done.stdout
    assert not read_config(tmp_path / "tuned" / "config.toml")["baseline"]
    done = topicfocus("fit", "--config", tmp_path / "none.toml")
    assert done.returncode == 2 and "No such file" in done.stderr
    assert "say what is read" in topicfocus("fit", *COLUMNS).stderr


def test_a_fit_is_repeated_to_the_last_bit_and_logged(data, tmp_path):
    """Both are processes: sums of BLAS depend on where arrays happen to lie."""
    log = tmp_path / "fit.log"
    arguments = ("fit", data, *COLUMNS, "--topics", 2, "--out", tmp_path / "a", "--log", log)
    done = topicfocus_forked(*arguments)
    assert done.returncode == 0, done.stderr
    lines = log.read_text().splitlines()
    assert lines[0].startswith("# topicfocus log")
    assert all(
        re.match(r"\d{4}-\d\d-\d\dT[\d:+-]+ +[\d.]+ s  (info|warning) ", x) for x in lines[1:]
    )
    for said in ("Reading", "Fitting", "Comparing", "Done."):
        assert any(said in line for line in lines)
    config = tmp_path / "a" / "config.toml"
    done = topicfocus_forked("fit", "--config", config, "--out", tmp_path / "b", "--log", log)
    assert done.returncode == 0, done.stderr
    assert "warning" not in done.stderr
    for name in ("model.topicfocus", "predictions.csv", "words.csv", "config.toml"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    assert len(log.read_text().splitlines()) > len(lines)  # added to it
    data.write_text(data.read_text().replace("masterpiece", "disaster"))
    done = topicfocus("fit", "--config", config, "--out", tmp_path / "c", "--log", log)
    assert "not those of the config's fit" in done.stderr
    assert "warning  data, settings or version" in log.read_text()


def test_no_log_in_a_file_of_something_else(data, tmp_path):
    other = tmp_path / "notes.txt"
    other.write_text("mine")
    os.mkfifo(tmp_path / "pipe")
    for path, message in (
        (data, "is not a log of ours"),
        (other, "is not a log of ours"),
        (tmp_path / "pipe", "not a regular file"),
        (tmp_path / "no" / "log", "create it first"),
    ):
        with pytest.raises(OSError, match=message):
            check_log(path)
    assert other.read_text() == "mine"


def test_warnings_and_errors_are_in_the_log(tmp_path):
    log, heard = tmp_path / "l", []
    with (
        pytest.raises(ValueError),
        warnings.catch_warnings(record=True) as caught,
        logging_to(log, as_remarks(heard.append), "a test") as said,
    ):
        warnings.simplefilter("always")
        said.say("a\nremark\x1b[2J")
        said.warn("careful")
        warnings.warn("of a library", UserWarning, stacklevel=1)
        raise ValueError("wrong")
    assert [str(w.message) for w in caught] == ["careful", "of a library"]
    kinds = [line.split("  ")[-2:] for line in log.read_text().splitlines()[2:]]
    assert [kind[-1].strip() for kind in kinds] == [
        "a remark\ufffd[2J", "careful", "of a library", "ValueError: wrong",
    ]  # fmt: skip
    assert heard == ["a\nremark\x1b[2J"]
