"""`topicfocus.fit`: from a DataFrame, from texts, from a file, to one `Result`."""

import json

import numpy as np
import pandas as pd
import pytest
from command_line import read_csv
from command_line import topicfocus as command

import topicfocus
from topicfocus.datasets import make_reviews
from topicfocus.workflow import SettingError, predict_file

SETTINGS = {"text": "review", "target": "stars", "topics": 3, "phrases": False}
HOSTILE = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def frame():
    reviews = make_reviews(300, random_state=0)
    table = pd.DataFrame({"review": reviews.texts, "stars": reviews.target})
    return table.assign(author=[f"a{i % 60}" for i in range(300)]).set_index(
        pd.Index([f"review {i}" for i in range(300)])
    )


@pytest.fixture(scope="module")
def result(frame):
    return topicfocus.fit(frame, **SETTINGS)


def test_a_frame_texts_and_a_file_give_the_same(frame, result, tmp_path):
    frame.to_csv(tmp_path / "r.csv", index=False)
    texts = frame["review"].to_numpy().astype(str)
    from_texts = topicfocus.fit(texts, y=frame["stars"], topics=3, phrases=False)
    from_file = topicfocus.fit(tmp_path / "r.csv", **SETTINGS)
    for other in (from_texts, from_file):
        assert other.metrics == pytest.approx(result.metrics, rel=1e-6)
        assert other.topics["words"].tolist() == result.topics["words"].tolist()
    assert set(result.metrics) == {"rmse", "r2"} and result.metrics["r2"] > 0.5
    assert from_texts.summary["settings"]["target"] == "stars"


def test_topics_have_the_same_numbers_everywhere(frame, result, tmp_path):
    folder = result.save(tmp_path / "o").folder
    assert result.topics["topic"].tolist() == [1, 2, 3]
    assert (np.diff(result.topics["change"]) <= 0).all()
    effects = result.effects()
    assert effects["topic"].tolist() == [1, 2, 3]
    np.testing.assert_allclose(effects["change"], result.topics["change"])
    written = read_csv(folder / "topics.csv")
    assert [row["words"] for row in written] == result.topics["words"].tolist()
    model = result.model
    for number, component in zip(result.topics["topic"], result.topics["component"], strict=True):
        np.testing.assert_array_equal(result.words[f"topic_{number}"], model.components_[component])
    proportions = result.predict(frame.head(5), topics=True)
    saved = predict_file(folder / "model.topicfocus", frame.head(5), topics=True)
    pd.testing.assert_frame_equal(proportions, saved)
    np.testing.assert_allclose(
        proportions[["topic_1", "topic_2", "topic_3"]],
        model.transform(result.pipeline[0].transform(frame["review"].head(5)))[
            :, result.topics["component"]
        ],
    )
    found = result.explain(frame["review"].iloc[0])
    assert [row["topic"] for row in found["topics"]] == [1, 2, 3]
    assert [row["component"] for row in found["topics"]] == result.topics["component"].tolist()


def test_predictions_have_the_index_of_the_frame(frame, result):
    found = result.predict(frame.head(4))
    assert found.index.tolist() == frame.index[:4].tolist() and "row" not in found
    expected = result.pipeline.predict(frame["review"].head(4))
    np.testing.assert_allclose(found["prediction"], expected)
    texts = result.predict(["a superb masterpiece", "an awful mess"], topics=True)
    assert texts["prediction"][0] > texts["prediction"][1]
    assert "masterpiece" in texts["top_words"][0] and "awful" in texts["top_words"][1]
    with pytest.raises(topicfocus.text.ReadError, match="the DataFrame has no column 'review'"):
        result.predict(frame[["stars"]])


def test_the_folder_is_that_of_the_command(frame, result, tmp_path):
    frame.to_csv(tmp_path / "r.csv", index=False)
    saved = result.save(tmp_path / "mine")
    done = command(
        *("fit", tmp_path / "r.csv", "--text", "review", "--target", "stars", "--topics", 3),
        *("--no-phrases", "--out", tmp_path / "theirs", "--quiet"),
    )
    assert done.returncode == 0, done.stderr
    assert saved.written == tuple(sorted(p.name for p in (tmp_path / "theirs").iterdir()))
    mine, theirs = (
        json.loads((tmp_path / name / "metrics.json").read_text()) for name in ("mine", "theirs")
    )
    assert mine["topics"][0]["words"] == theirs["topics"][0]["words"]
    assert mine["settings"]["file"] is None and "file" not in (
        tmp_path / "mine" / "config.toml"
    ).read_text().replace("this file", "").replace("config file", "")
    with pytest.raises(FileExistsError, match="overwrite=True"):
        result.save(tmp_path / "mine")
    shown = command("show", tmp_path / "theirs")
    assert shown.returncode == 0 and shown.stdout.splitlines()[0:9] == done.stdout.splitlines()[0:9]
    assert json.loads(command("show", tmp_path / "theirs", "--json").stdout) == theirs
    assert command("show", tmp_path).returncode == 1


def test_it_shows_itself_and_escapes(frame):
    odd = frame.rename(columns={"stars": HOSTILE})
    odd["review"] = odd["review"].str.replace("masterpiece", "master\x1bpiece", regex=False)
    more = {"tokenizer": str.split, "topics": 2, "target": HOSTILE, "text": "review"}
    result = topicfocus.fit(odd, **more)
    html, text = result._repr_html_(), repr(result)
    assert "<script" not in html and "&lt;script&gt;" in html and "\x1b" not in html + text
    assert "held-out documents" in html and "score" in text
    found = result.explain(f"{HOSTILE} superb")
    assert "<script" not in found._repr_html_()
    assert found["words"]["superb"] > 0


def test_rows_with_covariates_are_predicted_and_explained(frame):
    rng = np.random.default_rng(0)
    more = frame.assign(age=rng.normal(40, 10, 300), days=1.0)
    more.loc[more.index[:20], "age"] = np.nan
    result = topicfocus.fit(more, **SETTINGS, covariates=("age",), group="author", test_share=0.3)
    assert result.summary["settings"]["covariates"] == ["age"]
    assert result.predict(more.head(3)).shape[0] == 3
    row = more.iloc[30]
    assert result.explain(row)["prediction"]["prediction"] == pytest.approx(
        result.predict(more.iloc[[30]])["prediction"].iloc[0]
    )
    part = result.predictions.set_index(more.index)["part"]
    for _, of_author in part.groupby(more["author"]):
        assert of_author.nunique() == 1


def test_targets_that_are_missing_or_labels(frame):
    labels = pd.Categorical(np.where(frame["stars"] > 5, "good", "bad"))
    some = frame.assign(mood=labels)
    some.loc[some.index[:10], "mood"] = np.nan
    result = topicfocus.fit(some, text="review", target="mood", topics=2, phrases=False)
    assert result.summary["target"]["missing"] == 10
    assert result.model.classes_.tolist() == ["bad", "good"]
    assert set(result.metrics) == {"auc", "accuracy", "log_loss"}
    assert "are more often good" in repr(result)
    assert result.explorer().html.startswith("<!doctype html>")


def test_dropped_words_leave_the_stop_words_alone(frame, result, caplog):
    banned = result.summary["topics"][0]["words"][:2]
    with caplog.at_level("INFO", "topicfocus"):
        other = topicfocus.fit(frame, **SETTINGS, drop_words=[*banned, "qqq"])
    assert "`drop_words`: qqq is not among the terms" in caplog.text
    words = other.words.set_index("word")
    assert (words.loc[banned, "kept"] == "no").all()
    assert "the" not in words.index  # stop words are as they were
    plain = next(w for w in result.words.loc[result.words["kept"] == "no", "word"])
    kept = topicfocus.fit(frame, **SETTINGS, keep_words=[plain])
    assert kept.words.set_index("word").loc[plain, "kept"] == "yes"
    with pytest.raises(SettingError, match="`drop_words` is not for `model='slda'`"):
        topicfocus.fit(frame, **SETTINGS, model="slda", drop_words=banned)


def test_words_from_the_command_line(tmp_path):
    from topicfocus.config import word_list

    (tmp_path / "words.txt").write_text("film\nnot good\n\n")
    assert word_list(f"@{tmp_path}/words.txt") == ("film", "not good")
    assert word_list("film, not good,film") == ("film", "not good")
    with pytest.raises(SettingError, match=r"none.txt.*cannot be read"):
        word_list(f"@{tmp_path}/none.txt")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"y": None}, "texts need their targets"),
        ({"y": [1, 2]}, "there are 300 texts, but `y` has 2 values"),
        ({"y": [1] * 300, "text": "a", "target": "a"}, "both called 'a'"),
    ],
)
def test_mistakes_with_texts(frame, arguments, message):
    with pytest.raises(SettingError, match=message):
        topicfocus.fit(frame["review"].tolist(), **arguments)


def test_mistakes_with_a_frame(frame):
    with pytest.raises(topicfocus.text.ReadError, match="Did you mean 'stars'"):
        topicfocus.fit(frame, text="review", target="star")
    broken = frame.astype({"review": object})
    broken.iloc[2, 0] = None
    with pytest.raises(topicfocus.text.ReadError, match="the DataFrame, row 3: no 'review'"):
        topicfocus.fit(broken, **SETTINGS)


def test_only_public_names_are_listed():
    names = dir(topicfocus)
    assert {"fit", "Result", "load", "workflow"} <= set(names)
    assert [name for name in names if name.startswith("_")] == ["__version__"]
    assert "annotations" not in names and "TYPE_CHECKING" not in names


def test_the_quick_check_knows_topics_from_noise(frame):
    rng = np.random.default_rng(1)
    noise = frame.assign(stars=rng.permutation(frame["stars"].to_numpy()))
    with pytest.warns(UserWarning):
        useless = topicfocus.fit(noise, **SETTINGS)
    found = useless.summary["replication"]
    assert found["documents"] == 120 and len(found["topics"]) < 3


def test_topics_are_renamed_and_merged_by_their_numbers(frame, result, tmp_path, caplog):
    corrections = {"rename_topics": {"1": "praise"}, "merge_topics": [[2, 3]]}
    with caplog.at_level("INFO", "topicfocus"):
        other = topicfocus.fit(frame, **SETTINGS, **corrections, out=tmp_path / "o")
    one, two, three = (", ".join(row["words"][:3]) for row in result.summary["topics"])
    assert f"Named 'praise': the topic of {one}." in caplog.messages
    assert f"Merged: the topics of {two}; of {three}." in caplog.messages
    assert other.topics["topic"].tolist() == [1, 2]
    first = other.summary["topics"][0]
    assert first["name"] == "praise"
    assert len({*first["words"]} & {*result.summary["topics"][0]["words"]}) >= 8
    assert "Documents with much of praise score" in repr(other)
    named = other.explain("superb masterpiece")["topics"]
    assert [row["name"] for row in named] == ["praise", None]
    assert "praise" in command("show", tmp_path / "o").stdout
    with pytest.raises(SettingError, match="there is no topic 9; topics are 1 to 3"):
        topicfocus.fit(frame, **SETTINGS, merge_topics=[[1, 9]])
    with pytest.raises(SettingError, match="must be lists of two or more numbers"):
        topicfocus.fit(frame, **SETTINGS, merge_topics=[[1]])


def test_seeds_are_words_by_name(frame):
    seeds = {"acting": ["superb", "wonderful", "qqq"]}
    found = topicfocus.fit(frame, **SETTINGS, seed_words=seeds)
    (acting,) = [row for row in found.summary["topics"] if row.get("name") == "acting"]
    assert {"superb", "wonderful"} & set(acting["words"])
