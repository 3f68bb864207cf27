"""stability: disjoint halves of the documents, and the words and topics that replicate."""

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline

from topicfocus import LDA, FocusedTopicClassifier, FocusedTopicRegressor, SLDARegressor, stability
from topicfocus.datasets import make_pfslda, make_reviews
from topicfocus.selection import replication, runner
from topicfocus.selection.resamples import Data, halves
from topicfocus.selection.stability_measures import find_substitutes

QUICK = {"max_epochs": 6, "random_state": 0, "n_jobs": 1}


@pytest.fixture(scope="module")
def corpus():
    return make_pfslda(400, 60, n_topics=2, n_relevant=20, n_irrelevant=60, random_state=0)


@pytest.fixture(scope="module")
def model():
    return FocusedTopicRegressor(2, inclusion_prior=0.25, **QUICK)


@pytest.fixture(scope="module")
def found(corpus, model):
    return stability(model, corpus.counts, corpus.target, n_resamples=6, n_jobs=1)


def test_relevant_words_replicate_and_others_do_not(corpus, found):
    often = found.frequency
    assert often[corpus.relevant].mean() > 0.7 > 0.3 > often[~corpus.relevant].mean()
    assert 0.4 < found.index < 1 and 0.2 < found.disjoint_jaccard < 1
    chosen = found.stable_words(0.9)
    assert set(chosen) <= set(np.flatnonzero(often >= 0.9 - 1e-9))
    assert found.correlation > 0.8


def test_topics_are_matched_and_their_words_followed(corpus, model, found):
    whole = model.fit(corpus.counts, corpus.target)
    assert found.topic_cosine.shape == (2,) and found.topic_cosine.min() > 0.6
    assert found.returning.shape == (2, 10) and 0 <= found.returning.min() <= 1
    assert found.returning[:, 0].min() >= found.returning[:, -1].min() - 0.5
    np.testing.assert_array_equal(found.kept, whole.selected_words_)
    # The model's own differences have opposite signs, and those of the halves are similar.
    effects = whole.topic_effects(corpus.counts)["change"].to_numpy()
    assert effects[0] * effects[1] < 0
    np.testing.assert_array_equal(np.sign(found.difference[:, 0]), np.sign(effects))
    np.testing.assert_allclose(found.difference[:, 0], effects, rtol=0.5)
    assert np.all((found.difference_spread > 0) & (found.difference_spread < abs(effects)[:, None]))


def test_a_fitted_model_gives_the_same_and_so_do_processes(corpus, model, found, monkeypatch):
    monkeypatch.setattr(runner, "WORTH_PROCESSES", 0)
    fitted = FocusedTopicRegressor(2, inclusion_prior=0.25, **QUICK)
    fitted.fit(corpus.counts, corpus.target)
    again = stability(fitted, corpus.counts, corpus.target, n_resamples=6, n_jobs=2)
    assert again.to_dict() == found.to_dict()
    other = stability(fitted, corpus.counts, corpus.target, n_resamples=2, random_state=1, n_jobs=1)
    assert other.to_dict() != found.to_dict()


def test_an_interrupted_call_continues(corpus, model, found, tmp_path, monkeypatch):
    few = {"n_jobs": 1, "checkpoint": tmp_path / "halves"}
    done, whole = [], replication.fit_pair

    def interrupted(number, *args, **work):
        if number == 4 and number not in done:
            done.append(number)
            raise KeyboardInterrupt
        done.append(number)
        return whole(number, *args, **work)

    monkeypatch.setattr(replication, "fit_pair", interrupted)
    with pytest.raises(KeyboardInterrupt):
        stability(model, corpus.counts, corpus.target, n_resamples=5, **few)
    done = [4]
    more = stability(model, corpus.counts, corpus.target, n_resamples=6, **few)
    assert done == [4, 4, 5]  # more resamples continue the same work
    assert more.to_dict() == found.to_dict()
    stability(model, corpus.counts, corpus.target + 1, n_resamples=2, **few)
    assert done == [4, 4, 5, 0, 1]  # other data: nothing of the folder is used


def test_interchangeable_words():
    """Two spellings of one word: a half keeps one or the other, documents use both."""
    rng = np.random.default_rng(0)
    roots = np.zeros((300, 6))
    roots[:, 0] = rng.poisson(1.0, 300)
    roots[:, 1] = roots[:, 0] + rng.poisson(0.1, 300)  # goes with word 0
    roots[:, 2:] = rng.poisson(1.0, (300, 4))
    kept = np.array([True, False, True, False, False, False])
    halves = np.array([[1, 0, 1, 1, 0, 0], [0, 1, 1, 0, 0, 0], [0, 1, 0, 0, 0, 0]], dtype=bool)
    found = find_substitutes(kept, halves, sparse.csr_array(roots))
    # Words 4 and 5 no half keeps; word 2 has no word that goes with it.
    assert [(one.word, one.other) for one in found] == [(0, 1)]
    assert found[0].correlation == pytest.approx(np.corrcoef(roots[:, 0], roots[:, 1])[0, 1])
    assert found[0].either == 1
    assert find_substitutes(np.ones(6, dtype=bool), halves, sparse.csr_array(roots)) == ()


def test_texts_classes_groups_covariates_and_weights():
    reviews = make_reviews(200, random_state=0)
    liked = np.array(["no", "yes"])[(reviews.target > 5).astype(int)]
    pipeline = make_pipeline(CountVectorizer(), FocusedTopicClassifier(2, **QUICK))
    rng = np.random.default_rng(0)
    found = stability(
        pipeline,
        reviews.texts,
        liked,
        n_resamples=2,
        n_jobs=1,
        groups=np.repeat(np.arange(50), 4),
        covariates=rng.normal(size=(200, 2)),
        sample_weight=rng.integers(1, 3, 200).astype(float),
    )
    assert isinstance(found.to_dict()["topics"][0]["difference"], float)
    assert found.to_dict()["words"][0]["word"].isalpha()
    assert "\x1b" not in str(replace(found, vocabulary=["\x1b[2J"] * len(found.frequency)))


def test_models_that_drop_no_word_and_models_without_a_target():
    reviews = make_reviews(100, random_state=0)
    few = {"n_topics": 2, "max_epochs": 2, "random_state": 0, "n_jobs": 1}
    found = stability(SLDARegressor(**few), reviews.counts, reviews.target, n_resamples=2, n_jobs=1)
    assert np.all(found.frequency == 1) and np.isnan(found.index)
    found = stability(LDA(**few), reviews.counts, n_resamples=2, n_jobs=1)
    assert np.isnan(found.correlation) and found.difference.size == 0
    json.dumps(found.to_dict(), allow_nan=False)


def test_halves_share_no_document_and_keep_groups_and_classes():
    y = np.array(["a"] * 31 + ["b"] * 10 + [None] * 5, dtype=object)
    one, two = halves(Data(X=np.zeros((46, 1)), y=y), True, 0)
    assert sorted([*one, *two]) == list(range(46)) and abs(len(one) - len(two)) <= 1
    assert [np.sum(y[half] == "b") for half in (one, two)] == [5, 5]
    assert {sum(y[half] == None) for half in (one, two)} == {2, 3}  # noqa: E711
    groups = np.repeat(np.arange(8), 3)
    one, two = halves(Data(X=np.zeros((24, 1)), y=np.arange(24.0), groups=groups), False, 0)
    assert not set(groups[one]) & set(groups[two]) and len(one) == 12


def test_halves_use_the_inclusion_of_the_model_unless_they_choose_their_own(monkeypatch):
    reviews = make_reviews(200, random_state=0)
    target = np.asarray(reviews.target, dtype=float)
    automatic = FocusedTopicRegressor(2, **QUICK).fit(reviews.counts, target)
    chosen = automatic.inclusion_prior_
    assert len(automatic.inclusion_path_) > 1  # there was a choice
    fits, whole = [], replication.fit_with

    def noting(*args, **arrays):
        fits.append(whole(*args, **arrays))
        return fits[-1]

    monkeypatch.setattr(replication, "fit_with", noting)
    stability(automatic, reviews.counts, target, n_resamples=2, n_jobs=1)
    assert [fit.inclusion_prior_ for fit in fits] == [chosen] * 4
    assert not any(hasattr(fit, "inclusion_path_") for fit in fits)
    fits.clear()
    stability(automatic, reviews.counts, target, n_resamples=2, n_jobs=1, fix_inclusion=False)
    assert len(fits) == 4 and all(len(fit.inclusion_path_) > 1 for fit in fits)
    given = FocusedTopicRegressor(2, inclusion_prior=chosen, **QUICK)
    assert replication.chosen_inclusion(given) is None
    assert replication.chosen_inclusion(automatic) == chosen


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_resamples": 1}, "n_resamples must be at least 2"),
        ({"fix_inclusion": 1}, "fix_inclusion must be True or False"),
        ({"groups": np.zeros(400)}, "only one group"),
    ],
)
def test_mistakes(corpus, model, change, message):
    with pytest.raises((ValueError, TypeError), match=message):
        stability(model, corpus.counts, corpus.target, **{"n_jobs": 1, **change})


def test_what_has_no_topics_and_what_cannot_be_halved(corpus, model):
    with pytest.raises(TypeError, match="needs a topic model, not Ridge"):
        stability(Ridge(), corpus.counts, corpus.target)
    fitted = FocusedTopicRegressor(2, **QUICK).fit(corpus.counts, corpus.target)
    with pytest.raises(ValueError, match="X has 70 features"):
        stability(fitted, corpus.counts[:, :70], corpus.target)
    # One document of a class: every half lacks it, or the other does.
    y = np.array(["a"] * 399 + ["b"])
    with pytest.raises(ValueError, match="pairs failed"):
        stability(FocusedTopicClassifier(2, **QUICK), corpus.counts, y, n_resamples=2, n_jobs=1)
