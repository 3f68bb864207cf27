"""One configuration: Python's arguments, options of the command line, keys of a TOML file."""

import dataclasses
import os

import pytest
from command_line import read_csv, topicfocus, write_reviews

from topicfocus import workflow
from topicfocus.cli.parser import build_parser, make_config
from topicfocus.config import FitConfig, TuneConfig, config_text, options_of
from topicfocus.workflow import read_config

COLUMNS = ("--text", "text", "--target", "stars")


@pytest.fixture
def data(tmp_path):
    return write_reviews(tmp_path / "r.csv", 160)


#: A value of every option as it is written on a command line, and as Python has it.
GIVEN = {
    "text": ("body", "body"),
    "target": ("cost", "cost"),
    "kind": ("count", "count"),
    "covariates": ("x,y z", ("x", "y z")),
    "weight": ("w", "w"),
    "exposure": ("days", "days"),
    "group": ("who", "who"),
    "out": ("folder", "folder"),
    "overwrite": (None, True),
    "model": ("pf-slda", "pf-slda"),
    "topics": ("7", 7),
    "inclusion_prior": ("0.25", 0.25),
    "selection": ("predictive", "predictive"),
    "test_share": ("0", 0.0),
    "baseline": (None, False),
    "remainder": (None, False),
    "stability": ("5", 5),
    "seed": ("3", 3),
    "class_weight": ("spam=5,ham=1.5", {"spam": 5.0, "ham": 1.5}),
    "cluster": ("local", "local"),
    "out_of_core": (None, True),
    "stop_words": ("german", "german"),
    "separator": (";", ";"),
    "min_df": ("0.1", 0.1),
    "max_df": ("30", 30),
    "max_features": ("150", 150),
    "phrases": (None, False),
    "ngrams": ("1", (1, 1)),
    "min_length": ("2", 2),
    "lowercase": (None, False),
    "drop_words": ("film,not good", ("film", "not good")),
    "keep_words": ("plot", ("plot",)),
    "format": ("csv", "csv"),
    "delimiter": ("|", "|"),
    "encoding": ("latin-1", "latin-1"),
    "skip_bad": (None, True),
    "vocabulary": ("v.txt", "v.txt"),
    "sheet": ("one", "one"),
    "jobs": ("2", 2),
}


def test_every_option_of_fit_reaches_its_field():
    assert {one.name for one in options_of(FitConfig)} == {*GIVEN, "file"}
    arguments = ["fit", "a.csv", "b.csv"]
    for name, (text, value) in GIVEN.items():
        flag = {"lowercase": "keep-case"}.get(name, f"no-{name}" if value is False else name)
        arguments += [f"--{flag.replace('_', '-')}", *([] if text is None else [text])]
    found = make_config(build_parser().parse_args(arguments))
    expected = {name: value for name, (_, value) in GIVEN.items()}
    assert found == FitConfig(file=("a.csv", "b.csv"), **expected)
    found = make_config(
        build_parser().parse_args(["tune", "a.csv", "--topics", "2,4", "--shares", "0.1,0.2"])
    )
    assert found == TuneConfig(file="a.csv", topics=(2, 4), shares=(0.1, 0.2))


def test_what_is_written_is_what_is_read(tmp_path):
    odd = 'a "quoted" \\ name\twith é and \x7f and 😀'
    config = FitConfig(
        file=str(tmp_path / "r.csv"),
        text=f"{odd}!",
        target="t",
        kind="real",
        covariates=("x", odd),
        weight="w",
        model="pf-slda",
        topics=7,
        inclusion_prior=0.25,
        class_weight={odd: 2.5},
        baseline=False,
        delimiter="\t",
        skip_bad=True,
        vocabulary=str(tmp_path / "v.txt"),
        stop_words=["the", odd],
        drop_words=(odd, "film"),
        seed_words={"waiting": ["wait", odd]},
        merge_topics=[[1, 2], [3, 4]],
        rename_topics={"1": odd},
        min_df=0.1,
        ngrams=(1, 2),
        lowercase=False,
        jobs=2,
    )
    folder = tmp_path / "o"
    folder.mkdir()
    (folder / "config.toml").write_text(config_text(config, folder), encoding="utf-8")
    again = FitConfig(**read_config(folder / "config.toml"))
    assert dataclasses.asdict(again) == dataclasses.asdict(config)
    several = FitConfig(file=["a.csv", "parts/*.csv", "-"], stop_words=None)
    (tmp_path / "c.toml").write_text(config_text(several, tmp_path))
    found = read_config(tmp_path / "c.toml")
    assert found["file"][2] == "-" and os.path.samefile(os.path.dirname(found["file"][0]), ".")
    assert found["stop_words"] is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("topics = ", "is not TOML"),
        ("topics = true", "topics must be int"),
        ("topics = 5.5", "topics must be int"),
        ("tpoics = 5", "has 'tpoics', which is not a setting"),
        ("tokenizer = 'os:system'", "has 'tokenizer', which is not a setting"),
        ("out = 'elsewhere'", "has 'out', which is not a setting"),
        ("covariates = [1]", "covariates must be"),
        ("ngrams = [1]", "ngrams must be two numbers"),
        ("[model]\nname = 'x'", "model must be str"),
        ("drop_words = 'film'", "drop_words must be"),
        ("\xff", "has no|is not TOML"),
        ("a = " + "[" * 10_000, "is not TOML"),
    ],
)
def test_what_is_wrong_with_a_config(tmp_path, text, message):
    path = tmp_path / "c.toml"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(workflow.SettingError, match=message):
        read_config(path)


def test_a_config_copies_no_file_into_the_result(tmp_path):
    """A stranger's config could name any file as stop words, whose lines are stored."""
    (tmp_path / "secret").write_text("password\n")
    path = tmp_path / "c.toml"
    for name in ("secret", str(tmp_path / "secret"), "../secret"):
        path.write_text(f'stop_words = "{name}"\n')
        with pytest.raises(workflow.SettingError, match="stop_words must be a list of words"):
            read_config(path)
    path.write_text('stop_words = "german"\n')
    assert read_config(path) == {"stop_words": "german"}


def test_the_command_line_overrides_the_config(data, tmp_path):
    (tmp_path / "fit.toml").write_text(
        'file = "r.csv"\ntext = "text"\ntarget = "stars"\n'
        "topics = 2\nmin-df = 4\nlowercase = false\nbaseline = false\n"
    )
    os.makedirs(tmp_path / "elsewhere")
    done = topicfocus(
        *("fit", "--config", tmp_path / "fit.toml", "--topics", 3, "--out", "o"),
        cwd=tmp_path / "elsewhere",
    )
    assert done.returncode == 0, done.stderr
    found = read_config(tmp_path / "elsewhere" / "o" / "config.toml")
    assert found["topics"] == 3 and found["min_df"] == 4 and not found["lowercase"]
    assert found["file"] == str(data)
    given = ("--topics", "2", "--shares", "0.1,0.3", "--folds", 2, "--out", tmp_path / "tuned")
    done = topicfocus("tune", "--config", tmp_path / "fit.toml", *given)
    assert done.returncode == 0, done.stderr
    assert "Tuning: 2 settings on 2 folds" in done.stderr and "ridge" not in done.stdout
    done = topicfocus("fit", "--config", tmp_path / "none.toml")
    assert done.returncode == 2 and "No such file" in done.stderr
    assert "name a file to read" in topicfocus("fit", *COLUMNS).stderr


def test_a_fit_is_repeated_from_its_config(data, tmp_path):
    done = topicfocus("fit", data, *COLUMNS, "--topics", 2, "--out", tmp_path / "a")
    assert done.returncode == 0, done.stderr
    done = topicfocus("fit", "--config", tmp_path / "a" / "config.toml", "--out", tmp_path / "b")
    assert done.returncode == 0 and "warning" not in done.stderr
    both = [
        [float(row["prediction"]) for row in read_csv(tmp_path / name / "predictions.csv")]
        for name in ("a", "b")
    ]
    assert both[0] == pytest.approx(both[1], rel=1e-5)
    texts = [(tmp_path / name / "config.toml").read_text() for name in ("a", "b")]
    assert texts[0] == texts[1]
