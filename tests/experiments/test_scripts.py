"""The work of every other script of experiments/, on 200 simulated reviews."""

import json

import automatic_share
import choosing
import effect_intervals
import explanations
import frontier
import intervals
import planted
import pytest
import reading_topics
import runner
import show_themes
import stable_selection
import streaming
import themes
from small_data import small_dataset

pytestmark = pytest.mark.filterwarnings("ignore")
BINARY = ("imdb", "eicu", "poliblog")


def load(name, split=0, **options):
    return small_dataset(split, "binary" if name in BINARY else "regression", name)


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """All data are simulated, and few topics are fitted."""
    for module in (choosing, explanations, intervals, stable_selection, streaming):
        monkeypatch.setattr(module, "load", load)
    for module in (themes, frontier, automatic_share, reading_topics, show_themes):
        monkeypatch.setattr(module, "load_data", load)
    for name in themes.TOPICS:
        monkeypatch.setitem(themes.TOPICS, name, 3)
    monkeypatch.setattr(streaming, "BATCH", 100)
    monkeypatch.setattr(streaming, "SMALL", 100)
    monkeypatch.setattr(planted, "N_TRAIN", 200)
    monkeypatch.setattr(planted, "N_TEST", 20)
    monkeypatch.setattr(explanations, "DOCUMENTS", 10)


CASES = [
    (themes, {"data": "yelp", "model": "themes", "split": 0}),
    (themes, {"data": "imdb", "model": "lda", "split": 0}),
    (themes, {"data": "imdb", "model": "linear", "split": 0}),
    (frontier, {"data": "yelp", "given": 0.2, "split": 0}),
    (automatic_share, {"data": "imdb", "split": 0}),
    (stable_selection, {"data": "yelp", "rule": "stable, 0.3", "split": 0}),
    (streaming, {"data": "imdb", "model": "focused", "split": 0, "way": "five"}),
    (streaming, {"data": "yelp", "model": "sLDA", "split": 0, "way": "first"}),
    (intervals, {"data": "yelp", "model": "SLDARegressor", "split": 0}),
    (intervals, {"data": "few, Poisson", "model": "counts", "split": 0}),
    (intervals, {"data": "yelp, levels", "model": "counts", "split": 0}),
    (planted, {"themes": 1, "model": "focused", "seed": 0}),
    (explanations, {"data": "yelp"}),
]


@pytest.mark.parametrize(
    ("module", "task"), CASES, ids=[f"{m.__name__}-{i}" for i, (m, _) in enumerate(CASES)]
)
def test_work_gives_a_record(module, task):
    found = module.work(task)
    assert found and json.loads(json.dumps(found, default=runner._plain))


def test_coverage_of_effects(monkeypatch):
    monkeypatch.setattr(effect_intervals, "JUDGED", 200)
    monkeypatch.setattr(effect_intervals, "TRAIN", 120)
    monkeypatch.setattr(effect_intervals, "TEST", 40)
    data = small_dataset().train
    model = effect_intervals.FocusedTopicRegressor(2, random_state=0, inclusion_prior=0.3)
    case = effect_intervals.Case(data.counts, data.target, model)
    monkeypatch.setattr(effect_intervals, "_case", lambda name, seed: case)
    record = effect_intervals.work({"case": "", "seed": 0, "sample": 0})
    assert 0 <= record["inside"] <= record["intervals"] == 2


def test_a_search_and_its_picture(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib").use("Agg")
    monkeypatch.setattr(choosing, "GRID", {"n_topics": [2], "inclusion_prior": [0.2, 0.4]})
    monkeypatch.setattr(choosing, "PICTURES", tmp_path)
    found = choosing.work({"data": "yelp"})
    assert len(found["rows"]) == 2 and json.dumps(found, default=runner._plain)
    assert (tmp_path / "choosing-yelp.png").exists()


def test_tables_of_topics(capsys):
    reading_topics.word_orders("yelp", 3)
    assert len(reading_topics.unseen_documents("yelp")) == 3
    assert "context words" in capsys.readouterr().out
    for name in ("yelp", "imdb"):
        page = show_themes.section(name)
        assert page.count("\n| ") == 4  # a header and three topics
