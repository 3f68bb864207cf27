"""TopicSearchCV: settings on folds, the choice, the frontier, and mistakes of users."""

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline

from topicfocus import (
    FocusedTopicClassifier,
    FocusedTopicRegressor,
    PCSLDARegressor,
    TopicSearchCV,
)
from topicfocus.datasets import make_reviews
from topicfocus.selection import runner, search

GRID = {"n_topics": [2, 3], "inclusion_prior": [0.1, 0.3]}
#: To choose the share of words is most of a small fit: one test does, others are not about it.
QUICK = {"max_epochs": 4, "random_state": 0, "n_jobs": 1, "inclusion_prior": 0.2}


@pytest.fixture(scope="module")
def reviews():
    return make_reviews(160, random_state=0)


@pytest.fixture(scope="module")
def found(reviews):
    model = FocusedTopicRegressor(**QUICK)
    return TopicSearchCV(model, GRID, cv=3, n_jobs=1).fit(reviews.counts, reviews.target)


@pytest.fixture(scope="module")
def exactly(reviews):
    model = FocusedTopicRegressor(**QUICK)
    search = TopicSearchCV(model, GRID, cv=3, n_jobs=1, exact=True)
    return search.fit(reviews.counts, reviews.target)


def test_exact_scores_are_those_of_grid_search(reviews, exactly):
    """Sharing stages between settings does not change the results."""
    found = exactly
    folds = KFold(3, shuffle=True, random_state=0)
    theirs = GridSearchCV(FocusedTopicRegressor(**QUICK), GRID, cv=folds)
    theirs.fit(reviews.counts, reviews.target)
    for name in ("mean_test_score", "split0_test_score", "split2_test_score", "rank_test_score"):
        np.testing.assert_allclose(
            found.cv_results_[name], theirs.cv_results_[name], rtol=1e-10, err_msg=name
        )
    assert found.cv_results_["params"] == theirs.cv_results_["params"]
    assert set(theirs.cv_results_) <= set(found.cv_results_)


def test_low_fidelity_fits_score_nearly_as_full_fits_and_take_fewer_steps(monkeypatch):
    from topicfocus.focused import optimize as shape

    documents = make_reviews(600, random_state=1)
    grid = {"n_topics": [2, 4], "inclusion_prior": [0.05, 0.1, 0.2]}
    passes, whole = [], shape.constrained_pass
    monkeypatch.setattr(
        shape, "constrained_pass", lambda *a, **k: (passes.append(1), whole(*a, **k))[1]
    )
    scores, work = {}, {}
    for exact in (False, True):
        passes.clear()
        model = FocusedTopicRegressor(random_state=0, n_jobs=1)
        found = TopicSearchCV(model, grid, cv=3, n_jobs=1, exact=exact, refit=False)
        found.fit(documents.counts, documents.target)
        scores[exact] = found.cv_results_["mean_test_score"]
        work[exact] = len(passes)
    assert work[True] > 2.5 * work[False]
    assert np.corrcoef(scores[True], scores[False])[0, 1] > 0.95
    assert abs(np.mean(scores[True] - scores[False])) < 0.02
    assert not np.array_equal(scores[True], scores[False])


def test_a_low_fidelity_fit_does_not_depend_on_the_other_settings(reviews):
    model, shares = FocusedTopicRegressor(**QUICK), [0.3, "auto", 0.1]
    grids = [{"n_topics": [3, 2], "inclusion_prior": shares}]
    grids += [{"n_topics": [2], "inclusion_prior": [share]} for share in shares]
    scores = [
        TopicSearchCV(model, grid, cv=2, n_jobs=1, refit=False)
        .fit(reviews.counts, reviews.target)
        .cv_results_
        for grid in grids
    ]
    alone = [float(results["mean_test_score"][0]) for results in scores[1:]]
    params = scores[0]["params"]
    two = [
        i
        for share in shares
        for i in range(6)
        if params[i] == {"n_topics": 2, "inclusion_prior": share}
    ]
    assert scores[0]["mean_test_score"][two].tolist() == alone


def test_models_without_low_fidelity_fits_are_fitted_in_full(reviews):
    model = PCSLDARegressor(2, max_epochs=3, random_state=0, n_jobs=1)
    both = [
        TopicSearchCV(model, {"n_topics": [2, 3]}, cv=2, n_jobs=1, exact=exact, refit=False)
        .fit(reviews.counts, reviews.target)
        .cv_results_["mean_test_score"]
        for exact in (True, False)
    ]
    np.testing.assert_array_equal(*both)


def test_words_are_screened_once_per_fold(reviews, monkeypatch):
    from topicfocus.focused import fit

    gathered = []
    whole = fit.screen_words
    monkeypatch.setattr(
        fit, "screen_words", lambda *a: (gathered.append(len(a[0].columns)), whole(*a))[1]
    )
    search_cv = TopicSearchCV(FocusedTopicRegressor(**QUICK), GRID, cv=2, n_jobs=1, refit=False)
    search_cv.fit(reviews.counts, reviews.target)
    assert len(gathered) == 2 * 2  # of the training documents and of all documents of each fold


def test_the_frontier_has_a_row_a_setting(found):
    rows = found.frontier_rows_
    assert list(found.frontier_["n_topics"]) == [row["n_topics"] for row in rows]
    assert len(rows) == 4 and sum(row["chosen"] for row in rows) == 1
    for row in rows:
        figures = [
            row[k] for k in ("score", "score_se", "npmi", "smoothed_pmi", "target_agreement")
        ]
        assert np.isfinite(figures).all()
        assert 0 < row["diversity"] <= 1 and 0 < row["jaccard"] <= 1 and row["nogueira"] <= 1
        assert row["seconds"] > 0 and row["words"] >= 2 and row["error"] is None
    by_share = {(r["n_topics"], r["inclusion_prior"]): r["words"] for r in rows}
    assert by_share[2, 0.1] < by_share[2, 0.3]
    scores = found.cv_results_
    folds = np.array([scores[f"split{f}_test_score"] for f in range(3)])
    np.testing.assert_allclose(
        [r["score_se"] for r in rows], folds.std(axis=0, ddof=1) / np.sqrt(3), rtol=1e-12
    )


def test_the_best_estimator_is_fitted_to_all_documents(reviews, found):
    alone = FocusedTopicRegressor(**QUICK).set_params(**found.best_params_)
    alone.fit(reviews.counts, reviews.target)
    np.testing.assert_array_equal(found.predict(reviews.counts), alone.predict(reviews.counts))
    np.testing.assert_array_equal(found.transform(reviews.counts), alone.transform(reviews.counts))
    assert found.score(reviews.counts, reviews.target) == alone.score(
        reviews.counts, reviews.target
    )
    assert found.n_features_in_ == reviews.counts.shape[1]


def test_processes_find_the_same(reviews, found, monkeypatch):
    monkeypatch.setattr(runner, "WORTH_PROCESSES", 0)
    model = FocusedTopicRegressor(**QUICK)
    again = TopicSearchCV(model, GRID, cv=3, n_jobs=2).fit(reviews.counts, reviews.target)
    for name in ("mean_test_score", "se_test_score"):
        np.testing.assert_array_equal(again.cv_results_[name], found.cv_results_[name])
    ours, theirs = (each.frontier_.drop(columns="seconds") for each in (again, found))
    pd.testing.assert_frame_equal(ours, theirs, check_exact=True)


# ---- pipelines -----------------------------------------------------------------------------------


class Counting(CountVectorizer):
    """Counts how often it counts."""

    calls: list = []  # noqa: RUF012 - shared by clones on purpose

    def fit_transform(self, raw_documents, y=None):
        self.calls.append(len(raw_documents))
        return super().fit_transform(raw_documents, y)


def test_texts_are_counted_once_a_fold_on_its_training_part(reviews):
    Counting.calls.clear()
    model = make_pipeline(Counting(), FocusedTopicRegressor(**QUICK))
    # A name of the last step, and a parameter of another one.
    grid = [{"n_topics": [2, 3]}, {"counting__min_df": [3], "focusedtopicregressor__n_topics": [2]}]
    found = TopicSearchCV(model, grid, cv=2, n_jobs=1).fit(reviews.texts, reviews.target)
    assert sorted(Counting.calls) == [80] * 4 + [160]  # two ways, two folds; and the choice
    assert [row["error"] for row in found.frontier_rows_] == [None] * 3
    assert found.predict(["an awful mess", "a superb masterpiece"]).argmax() == 1
    scored = found.score(reviews.texts, reviews.target)
    assert scored == found.best_estimator_.score(reviews.texts, reviews.target)
    words = [row["words"] for row in found.frontier_rows_]
    assert np.isfinite(words).all()


# ---- what goes with documents --------------------------------------------------------------------


def test_groups_are_never_on_both_sides(reviews):
    groups = np.repeat(np.arange(16), 10)
    seen = []

    def scorer(model, X, y):
        seen.append(X.shape[0])
        return 0.0

    model = TopicSearchCV(
        FocusedTopicRegressor(**QUICK), {"n_topics": [2]}, cv=4, scoring=scorer, n_jobs=1
    )
    model.fit(reviews.counts, reviews.target, groups=groups)
    assert seen == [40] * 4
    # Nor is a group in the training and the validation part of a fit.
    alone = FocusedTopicRegressor(2, **QUICK).fit(reviews.counts, reviews.target, groups=groups)
    np.testing.assert_array_equal(model.predict(reviews.counts), alone.predict(reviews.counts))
    with pytest.raises(ValueError, match="greater than the number of groups"):
        model.set_params(cv=20).fit(reviews.counts, reviews.target, groups=groups)


@pytest.mark.parametrize("scoring", [None, "neg_root_mean_squared_error"])
def test_covariates_weights_and_exposure_reach_fit_and_score(reviews, scoring):
    rng = np.random.default_rng(0)
    z = rng.normal(size=(160, 1))
    y = reviews.target + 20 * z[:, 0]
    weight = rng.integers(1, 3, 160).astype(float)
    model = TopicSearchCV(
        FocusedTopicRegressor(**QUICK), {"n_topics": [2]}, cv=2, scoring=scoring, n_jobs=1
    )
    model.fit(reviews.counts, y, covariates=z, sample_weight=weight)
    # Without covariates at predict it would fail; without them in fit it would explain nothing.
    assert model.frontier_rows_[0]["error"] is None
    assert model.best_score_ > (0.9 if scoring is None else -4)
    assert model.predict(reviews.counts, covariates=z).shape == (160,)
    assert model.score(reviews.counts, y, covariates=z) > model.best_score_ - 0.1
    with pytest.raises(TypeError, match="unknown argument 'weights'"):
        model.fit(reviews.counts, y, weights=weight)
    with pytest.raises(ValueError, match="sample_weight has 3"):
        model.fit(reviews.counts, y, sample_weight=[1, 2, 3])


def test_counts_with_exposure(reviews):
    rng = np.random.default_rng(0)
    exposure = rng.uniform(1, 50, 160)  # most of what varies: it has to reach predict, too
    y = rng.poisson(exposure * reviews.target)
    model = FocusedTopicRegressor(family="poisson", **QUICK)
    search_cv = TopicSearchCV(model, {"n_topics": [2]}, cv=2, n_jobs=1)
    search_cv.fit(reviews.counts, y, exposure=exposure)
    assert search_cv.best_score_ > 0.2


def test_documents_without_a_target_are_not_judged(reviews):
    y = reviews.target.astype(float)
    y[::4] = np.nan
    judged = []

    def scorer(model, X, y):
        judged.append(len(y))
        assert np.isfinite(y).all()
        return 0.0

    model = FocusedTopicRegressor(**QUICK)
    TopicSearchCV(model, {"n_topics": [2]}, cv=3, scoring=scorer, n_jobs=1).fit(reviews.counts, y)
    assert judged == [40, 40, 40]


def test_several_targets(reviews):
    y = np.column_stack([reviews.target, -reviews.target + 1.0])
    model = TopicSearchCV(FocusedTopicRegressor(**QUICK), {"n_topics": [2]}, cv=2, n_jobs=1)
    model.fit(reviews.counts, y)
    assert model.predict(reviews.counts).shape == (160, 2)
    assert np.isfinite(model.frontier_rows_[0]["target_agreement"])


@pytest.mark.parametrize("scoring", [None, "neg_log_loss", "roc_auc_ovr"])
def test_classes(reviews, scoring):
    y = np.array(["bad", "fair", "good"])[np.digitize(reviews.target, [4, 7])]
    model = FocusedTopicClassifier(**QUICK)
    found = TopicSearchCV(model, {"n_topics": [3]}, cv=2, scoring=scoring, n_jobs=1)
    found.fit(reviews.counts, y)
    assert found.frontier_rows_[0]["error"] is None
    assert found.predict_proba(reviews.counts).shape == (160, 3)
    assert found.decision_function(reviews.counts).shape == (160, 3)
    assert list(found.classes_) == ["bad", "fair", "good"]


# ---- mistakes ------------------------------------------------------------------------------------


def test_a_setting_that_fails_is_reported_and_the_search_goes_on(reviews):
    grid = {"n_topics": [0, 2]}
    found = TopicSearchCV(FocusedTopicRegressor(**QUICK), grid, cv=2, n_jobs=1)
    found.fit(reviews.counts, reviews.target)
    bad, good = found.frontier_rows_
    assert bad["error"] == "ValueError: n_topics must be at least 1, got 0."
    assert np.isnan(bad["score"]) and good["error"] is None and found.best_params_["n_topics"] == 2
    assert list(found.cv_results_["rank_test_score"]) == [2, 1]


def test_all_settings_fail(reviews):
    found = TopicSearchCV(FocusedTopicRegressor(**QUICK), {"n_topics": [0]}, cv=2, n_jobs=1)
    with pytest.raises(ValueError, match=r"All 1 settings failed.*n_topics must be at least 1"):
        found.fit(reviews.counts, reviews.target)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"param_grid": {"topics": [2]}}, "Invalid parameter 'topics'"),
        ({"param_grid": {"n_topics": []}}, "n_topics"),
        ({"estimator": "focused"}, "an estimator is needed, not str"),
        ({"estimator": Ridge()}, "TopicSearchCV needs a topic model, not Ridge"),
        ({"cv": 1}, "n_splits=2 or more"),
        ({"cv": 200}, "greater than the number of samples"),
        ({"rule": "largest"}, "rule must be one of"),
        ({"scoring": ["r2", "max_error"]}, "scoring must be one name"),
        ({"n_jobs": 0}, "n_jobs=0 has no meaning"),
    ],
)
def test_mistakes_are_told_before_any_fit(reviews, change, message, monkeypatch):
    monkeypatch.setattr(FocusedTopicRegressor, "_fit", lambda *a, **k: pytest.fail("it was fitted"))
    found = TopicSearchCV(FocusedTopicRegressor(**QUICK), GRID, cv=2).set_params(**change)
    with pytest.raises((ValueError, TypeError), match=message):
        found.fit(reviews.counts, reviews.target)


def test_more_folds_than_documents_of_a_class(reviews):
    y = np.array(["no"] * 157 + ["yes"] * 3)
    found = TopicSearchCV(FocusedTopicClassifier(**QUICK), {"n_topics": [2]}, cv=5)
    with pytest.raises(ValueError, match=r"class yes has 3 documents.*use cv=3 at most"):
        found.fit(reviews.counts, y)


def test_without_refit_there_is_no_model(reviews):
    found = TopicSearchCV(FocusedTopicRegressor(**QUICK), {"n_topics": [2]}, cv=2, n_jobs=1)
    found.set_params(refit=False).fit(reviews.counts, reviews.target)
    with pytest.raises(AttributeError, match="refit=False"):
        found.predict(reviews.counts)


# ---- interrupted ---------------------------------------------------------------------------------


def test_an_interrupted_search_continues(reviews, exactly, tmp_path, monkeypatch):
    folder, fits, whole = tmp_path / "search", [], search.fit_setting

    def interrupted(*args, **work):
        if len(fits) == 5:
            raise KeyboardInterrupt
        fits.append(args)
        return whole(*args, **work)

    monkeypatch.setattr(search, "fit_setting", interrupted)
    how = {"cv": 3, "n_jobs": 1, "checkpoint": folder, "exact": True}
    model = TopicSearchCV(FocusedTopicRegressor(**QUICK), GRID, **how)
    with pytest.raises(KeyboardInterrupt):
        model.fit(reviews.counts, reviews.target)

    def recorded(*args, **work):
        fits.append(args)
        return whole(*args, **work)

    monkeypatch.setattr(search, "fit_setting", recorded)
    model.fit(reviews.counts, reviews.target)
    assert len(fits) == 12
    np.testing.assert_array_equal(
        model.cv_results_["mean_test_score"], exactly.cv_results_["mean_test_score"]
    )
    model.fit(reviews.counts, reviews.target)
    assert len(fits) == 12
    # Other data and settings use nothing of the folder.
    model.fit(reviews.counts, reviews.target + 1)
    assert len(fits) == 24
    model.set_params(estimator__max_epochs=3).fit(reviews.counts, reviews.target)
    assert len(fits) == 36


def test_a_lost_disk_ends_the_search(reviews):
    """It is not the error of a setting."""

    def no_space_left(model, X, y):
        raise OSError("no space left")

    model = TopicSearchCV(
        FocusedTopicRegressor(**QUICK), GRID, cv=2, n_jobs=1, scoring=no_space_left
    )
    with pytest.raises(OSError, match="no space left"):
        model.fit(reviews.counts, reviews.target)


# ---- the rule ------------------------------------------------------------------------------------


def rows(*entries):
    names = ("n_topics", "words", "score", "score_se", "diversity")
    return [dict(zip(names, entry, strict=True)) for entry in entries]


@pytest.mark.parametrize(
    ("rule", "table", "taken"),
    [
        ("best", rows((5, 90, 0.50, 0.02, 1), (3, 40, 0.49, 0.02, 1)), 0),
        ("one-standard-error", rows((5, 90, 0.50, 0.02, 1), (3, 400, 0.49, 0.02, 1)), 1),
        ("one-standard-error", rows((3, 90, 0.50, 0.02, 1), (3, 40, 0.49, 0.02, 1)), 1),
        ("one-standard-error", rows((5, 90, 0.50, 0.02, 1), (3, 40, 0.47, 0.02, 1)), 0),
        # Topics that share their words are no topics, unless all do.
        ("one-standard-error", rows((5, 90, 0.50, 0.02, 0.9), (3, 40, 0.50, 0.02, 0.5)), 0),
        ("best", rows((5, 90, 0.50, 0.02, 0.7), (3, 40, 0.49, 0.02, 0.5)), 0),
        # A failed setting, and one fold, whose standard error is not known.
        ("best", rows((2, 9, np.nan, np.nan, 1), (3, 40, 0.49, 0.02, 1)), 1),
        ("one-standard-error", rows((5, 90, 0.5, np.nan, 1), (3, 40, 0.49, np.nan, 1)), 0),
    ],
)
def test_the_rule(rule, table, taken):
    choice = search.choose(table, rule, 0.8)
    assert choice.chosen == taken and choice.best in choice.within and taken in choice.within


def test_completeness_of_settings_with_a_remainder():
    reviews = make_reviews(300, random_state=0)
    base = FocusedTopicRegressor(2, remainder=True, random_state=0)
    grid = {"n_topics": [2, 3]}
    search = TopicSearchCV(base, grid, cv=2, exact=True, refit=False, n_jobs=1)
    search.fit(reviews.counts, reviews.target)
    assert search.frontier_["completeness"].between(0.5, 1.2).all()
    search.set_params(exact=False).fit(reviews.counts, reviews.target)
    assert search.frontier_["completeness"].isna().all()
