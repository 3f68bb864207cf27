"""experiments/paper.py: a quick run on simulated data; the page of the committed tables."""

import itertools

import compared
import measures
import numpy as np
import pandas as pd
import paper
import paper_filtering
import paper_fits
import paper_posthoc
import paper_synthetic
import pytest
from compared import MODELS
from scipy import sparse
from small_data import small_dataset

from topicfocus.datasets import make_pfslda

ROOT = paper.HERE


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    """All sections of a quick run, with one split and few steps on 200 simulated reviews."""
    pytest.importorskip("matplotlib").use("Agg")
    place = tmp_path_factory.mktemp("quick")

    def load(data, split):
        return small_dataset(split, "regression" if data != "eicu" else "binary", data)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(paper, "find_data", lambda name: None)
        patch.setattr(paper_fits, "_load", load)
        patch.setattr(paper_fits.Plan, "splits", property(lambda plan: range(1)))
        patch.setattr(compared, "GRADIENT_STEPS", 20)
        patch.setattr(paper_synthetic, "EPOCHS", 2)
        corpus = make_pfslda(100, 20, random_state=0)
        patch.setattr(paper_synthetic, "_corpus", lambda seed, n_docs: corpus)
        for module in (paper_filtering, paper_posthoc):
            patch.setattr(module, "KEPT", 0.0)  # so few steps do not separate words
        plan = paper_fits.Plan(quick=True)
        paper.run(list(paper.SECTIONS), plan, place, jobs=1)
        before = {path.name: path.read_bytes() for path in (place / "runs").iterdir()}
        paper.run(list(paper.SECTIONS), plan, place, jobs=1)
        assert {path.name: path.read_bytes() for path in (place / "runs").iterdir()} == before
        claims = paper.write_page(place, quick=True)
    return place, claims


def test_a_quick_run_has_every_table_and_claim(quick):
    place, claims = quick
    files = {file for _, names in paper.SECTIONS.values() for file in names}
    assert {path.stem for path in (place / "tables").iterdir()} == files
    page = (place / "RESULTS.md").read_text(encoding="utf-8")
    assert "Not run" not in page and page.count("\n## ") == len(paper.SECTIONS) + 1
    for claim in claims:
        assert claim.text in page
    assert {path.stem for path in (place / "figures").iterdir()} == {"main", "curves", "filtering"}
    main = pd.read_csv(place / "tables" / "main.csv")
    assert set(main["data"]) == {"pang_lee", "yelp", "eicu"}
    assert np.isfinite(main["test"]).all()


def test_the_page_of_the_committed_tables(tmp_path):
    """The published page is generated from the committed tables, and its claims are counted."""
    pytest.importorskip("matplotlib").use("Agg")
    (tmp_path / "tables").symlink_to(ROOT / "tables")
    claims = paper.write_page(tmp_path)
    page = (tmp_path / "RESULTS.md").read_text(encoding="utf-8")
    assert f"{sum(c.held for c in claims)} of {len(claims)} claims" in page
    assert page == (ROOT / "RESULTS.md").read_text(encoding="utf-8")


def test_absent_tables_are_reported(tmp_path):
    assert paper.write_page(tmp_path) == []
    assert "Not run: `python experiments/paper.py curves`" in (tmp_path / "RESULTS.md").read_text()


def test_the_best_validation_score_is_chosen():
    plan = paper_fits.Plan()
    records = []
    for data, values in (("pang_lee", (1.0, 2.0)), ("eicu", (0.7, 0.8))):
        for setting, value in zip(plan.grid("pf-sLDA"), values, strict=True):
            records.append(paper_fits.task(data, 0, "pf-sLDA", **setting) | {"valid": value})
    fits = paper_fits.Fits(records)
    assert fits.chosen(plan, "pang_lee", 0, "pf-sLDA")[0] == {"inclusion_prior": 0.10}
    assert fits.chosen(plan, "eicu", 0, "pf-sLDA")[0] == {"inclusion_prior": 0.15}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("name", "task"), list(zip(MODELS, itertools.cycle(["regression", "binary"]), strict=False))
)
def test_every_model_predicts_better_than_a_constant(name, task):
    model = MODELS[name]
    if not model.available:
        pytest.skip(f"{model.package} is not installed")
    few = {
        "pf-sLDA": {"max_epochs": 150, "learning_rate": 0.1, "batch_size": 10},
        "tomotopy SLDA": {"sweeps": 100},
        "topica SupervisedLDA": {"iters": 10},
    }
    data = small_dataset(task=task)
    fit = model.fit(data, model.grid[0] | few.get(name, {}), 0)
    predicted = fit.predict(data.test.counts)
    constant = np.full(len(predicted), np.mean(data.train.target))
    value, nothing = (measures.score(task, data.test.target, p) for p in (predicted, constant))
    assert value > nothing if task == "binary" else value < nothing
    assert (fit.components is not None) == model.topics
    if fit.components is not None:
        np.testing.assert_allclose(fit.components.sum(axis=1), 1, rtol=1e-5)
        assert fit.coef.shape == (5,)


def test_a_fit_on_some_words_ignores_the_others():
    data = small_dataset()
    columns = np.array([1, 4, 9, 20, 33])
    wide = compared.fit_on_columns(compared.slda, data, columns, {"max_epochs": 5}, 0)
    changed = data.test.counts.tolil()
    changed[:, 0] = 7
    np.testing.assert_array_equal(
        wide.predict(data.test.counts), wide.predict(sparse.csr_array(changed))
    )
    np.testing.assert_array_equal(np.flatnonzero(wide.inclusion), columns)
    np.testing.assert_allclose(wide.components.sum(axis=1), 1)
