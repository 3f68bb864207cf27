"""The stages of the focused fit: selection, inclusion, initial topics, refit."""

from dataclasses import replace
from itertools import pairwise
from unittest.mock import patch

import numpy as np
import pytest

from topicfocus import FocusedTopicRegressor
from topicfocus.corpus import make_corpus
from topicfocus.datasets import make_reviews
from topicfocus.families import Bernoulli, Gaussian, Multiple, Poisson
from topicfocus.focused import FocusSettings, fit_focused, inclusion, refit_focused
from topicfocus.focused.data import FocusData
from topicfocus.focused.inclusion import choose_inclusion, smallest_good
from topicfocus.focused.initialize import (
    FORCED_WEIGHT,
    start_topics,
    supervision,
    topic_places,
    word_weights,
)
from topicfocus.focused.refit import variance_parts
from topicfocus.focused.result import InclusionTrial
from topicfocus.focused.screening import screen_words
from topicfocus.focused.selection import (
    automatic_inclusion,
    description_cost,
    least_discovery,
    possible_selections,
    select,
    significance_threshold,
)
from topicfocus.focused.settings import SUBJECT_PLAN
from topicfocus.focused.subjects import subjects_of
from topicfocus.glm import target_columns
from topicfocus.model import make_problem

SETTINGS = FocusSettings(n_topics=3)
GRADED = replace(SETTINGS, themes=False)


@pytest.fixture(scope="module")
def problem():
    data = make_reviews(300, random_state=4)
    return make_problem(make_corpus(data.counts), data.target, n_jobs=1)


@pytest.fixture(scope="module")
def data(problem):
    train, held_out = problem.rows(np.arange(250)), problem.rows(np.arange(250, 300))
    return FocusData.of(train, held_out, Gaussian(1.0))


@pytest.fixture(scope="module")
def screening(data):
    return screen_words(data)


@pytest.fixture
def comparing():
    """Simulated reviews have no words to add beyond 20 tokens: these compare smaller inclusions."""
    plan = replace(SUBJECT_PLAN, token_factors=(0.5, 1.0, 2.0))
    with patch("topicfocus.focused.settings.SUBJECT_PLAN", plan):
        yield


# ---- selection ----------------------------------------------------------------------------------


@pytest.mark.parametrize("limit", [0.05, 0.2, 0.6])
def test_a_selection_has_its_inclusion_and_threshold(data, screening, limit):
    found = select(data, screening, SETTINGS, limit)
    amount = screening.statistics.combined()
    assert found.inclusion == limit
    vocabulary = max(0.25, SUBJECT_PLAN.vocabulary_per_inclusion * limit)
    most, least = (description_cost(amount, s, vocabulary) for s in (0.0, limit))
    assert found.word_cost == min(most, max(least, least_discovery(amount)))
    assert np.all(amount[found.kept] >= found.word_cost)
    kept = data.word_counts[found.kept].sum() / data.word_counts.sum()
    assert kept <= limit or len(found.kept) == 10


def test_an_automatic_inclusion_is_a_limit_and_a_given_one_is_reached(data, screening):
    relevant = make_reviews(300, random_state=4).relevant
    tokens = data.word_counts / data.word_counts.sum()
    auto = select(data, screening, SETTINGS, 0.4).kept
    assert relevant[auto].mean() > 0.9 and tokens[auto].sum() < 0.4  # 28% of tokens are relevant
    given = select(data, screening, replace(SETTINGS, inclusion_prior=0.5), 0.5).kept
    assert set(auto) < set(given) and tokens[given].sum() > 0.45


def test_a_stable_selection_and_more_if_an_inclusion_is_given(data):
    relevant = make_reviews(300, random_state=4).relevant
    settings = replace(SETTINGS, stable=True)
    screening = screen_words(data, None, settings.is_stable)
    (auto,) = possible_selections(data, screening, settings)
    assert auto.limit is None and len(auto.kept) == screening.n_stable
    assert relevant[auto.kept].mean() > 0.8
    assert auto.inclusion == data.word_counts[auto.kept].sum() / data.word_counts.sum()
    assert auto.word_cost == screening.amount()[auto.kept].min()
    for limit in (auto.inclusion, 0.1):
        (found,) = possible_selections(data, screening, replace(settings, fixed_inclusion=limit))
        assert found.inclusion == limit
        same = set(found.kept) == set(auto.kept)
        assert same if limit > 0.1 else set(found.kept) < set(auto.kept)
    given = [select(data, screening, settings, s).kept for s in (0.1, 0.2, 0.5, 0.8)]
    assert set(given[0]) < set(given[1]) < set(auto.kept) < set(given[2]) < set(given[3])
    more = np.setdiff1d(np.flatnonzero(~relevant), auto.kept)[:3]
    (found,) = possible_selections(
        data, screening, replace(settings, drop=auto.kept[:5], keep=more)
    )
    assert not set(auto.kept[:5]) & set(found.kept) and set(more) <= set(found.kept)


def test_significant_words(data, screening):
    found = select(data, screening, SETTINGS, None)
    amount = screening.statistics.combined()
    seen = data.word_counts > 0
    assert found.word_cost == significance_threshold(amount[seen])
    np.testing.assert_array_equal(found.kept, np.flatnonzero((amount >= found.word_cost) & seen))
    tokens = data.word_counts / data.word_counts.sum()
    assert found.inclusion == pytest.approx(tokens[found.kept].sum())
    wanted = int(np.argmin(np.where(seen, amount, np.inf)))
    forced = select(data, screening, replace(SETTINGS, keep=np.array([wanted])), None)
    assert set(forced.kept) == {*found.kept, wanted}


def test_few_words_are_kept_where_few_matter():
    """Of 600 words 12 matter: a larger inclusion would be filled with noise."""
    rng = np.random.default_rng(0)
    counts = rng.multinomial(40, rng.dirichlet(np.full(600, 0.4)), size=900).astype(float)
    often = np.argsort(-counts.sum(axis=0))[:150]
    matter, strength = rng.choice(often, 12, replace=False), rng.choice([-0.8, 0.8], 12)
    target = np.sqrt(counts[:, matter]) @ strength + rng.normal(size=900)
    model = FocusedTopicRegressor(4, random_state=0).fit(counts, target)
    kept = np.flatnonzero(model.selected_words_)
    assert len(kept) <= 16 and np.isin(kept, matter).sum() >= 10


def test_a_larger_inclusion_keeps_a_superset(data, screening):
    limits = (0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.8)
    kept = [set(select(data, screening, SETTINGS, limit).kept) for limit in limits]
    assert all(small <= large for small, large in pairwise(kept))
    assert len(kept[0]) < len(kept[-1])


def test_an_error_if_no_word_is_left(data, screening):
    nothing = replace(SETTINGS, drop=np.arange(data.train.corpus.n_words))
    with pytest.raises(ValueError, match="none is kept"):
        select(data, screening, nothing, 0.1)


def test_a_refit_keeps_the_choices(data, problem, comparing):
    settings = replace(SETTINGS, max_steps=3)
    first = fit_focused(data.train, data.held_out, data.family, settings)
    assert first.final.selection.inclusion in [trial.inclusion for trial in first.trials]
    kept = np.flatnonzero(first.state.inclusion)
    assert np.all(first.statistic[kept] >= first.final.selection.word_cost)
    more = refit_focused(problem, data.held_out, data.family, settings, first)
    assert more.trials == first.trials
    assert more.final.selection.limit == first.final.selection.limit
    assert more.final.choices == first.final.choices


# ---- inclusion ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("explained", "error", "taken"),
    [
        ([0.5], 0.1, 0),
        ([0.4, 0.5, 0.52], 0.03, 1),
        ([0.4, 0.5, 0.52], 0.01, 2),
        ([0.5, 0.4], 0.0, 0),
    ],
)
def test_the_smallest_inclusion_within_a_standard_error_of_the_best(explained, error, taken):
    trials = [
        InclusionTrial(inclusion=0.1 + i, explained=e, error=error) for i, e in enumerate(explained)
    ]
    assert smallest_good(trials, [True] * len(trials)) == taken


def test_an_inclusion_has_words_for_every_topic_if_there_is_one():
    trials = [InclusionTrial(inclusion=s, explained=0.5, error=0.1) for s in (0.1, 0.2, 0.4)]
    assert smallest_good(trials, [False, True, True]) == 1
    assert smallest_good(trials, [False, False, False]) == 2


def test_inclusions_are_compared_on_validation_documents(data, screening, comparing):
    subjects = subjects_of(data, SETTINGS)
    every = possible_selections(data, screening, SETTINGS)
    least = automatic_inclusion(data.train, 0.5)
    assert len(every) >= 3 and least in [s.inclusion for s in every]
    chosen = choose_inclusion(data, screening, subjects, SETTINGS)
    assert [t.inclusion for t in chosen.trials] == [s.inclusion for s in every]
    best = max(chosen.trials, key=lambda t: t.explained)
    mine = next(t for t in chosen.trials if t.inclusion == chosen.selection.inclusion)
    assert 0 < best.explained - mine.error <= mine.explained < 1
    assert best.error == 0 and all(t.error > 0 for t in chosen.trials if t is not best)
    assert len(chosen.start.logits) == len(chosen.selection.kept)
    given = choose_inclusion(data, screening, None, replace(SETTINGS, inclusion_prior=0.1))
    assert given.trials == () and given.selection.inclusion == 0.1


def test_folds_where_validation_documents_are_few(data, screening, problem, comparing, monkeypatch):
    """Each fold is predicted from the others; the errors are those of all documents."""
    subjects, rows = subjects_of(data, SETTINGS), np.arange(problem.n_docs)
    parts = [(problem.rows(rows[rows % 3 != i]), problem.rows(rows[rows % 3 == i])) for i in (0, 1)]
    model = data, screening, subjects, SETTINGS
    aside = choose_inclusion(*model).trials
    chosen = choose_inclusion(*model, lambda: iter(parts)).trials
    each = []
    for train, held in parts:
        own = FocusData.of(train, held, data.family)
        fold = screen_words(own, screening.penalties)
        starts = []
        for whole in possible_selections(data, screening, SETTINGS):
            penalties = start_topics(data, screening, whole, subjects, SETTINGS).penalties
            part = select(own, fold, SETTINGS, whole.limit)
            starts.append(start_topics(own, fold, part, subjects, SETTINGS, penalties))
        each.append(inclusion._compare(own, starts))
    losses = np.concatenate([part.losses for part in each], axis=1)
    best = int(np.argmax([trial.explained for trial in chosen]))
    for i, trial in enumerate(chosen):
        assert trial.explained == pytest.approx(np.mean([part.explained[i] for part in each]))
        more = losses[i] - losses[best]
        assert trial.error == pytest.approx(more.std(ddof=1) / np.sqrt(len(more)))
    # Many validation documents, no folds, or a fold in which no word is associated.
    assert choose_inclusion(*model, lambda: ()).trials == aside
    monkeypatch.setattr(inclusion, "ENOUGH_VALIDATION", data.held_out.size)
    assert choose_inclusion(*model, lambda: iter(parts)).trials == aside
    monkeypatch.undo()


def test_a_fold_without_association(data, screening, problem, comparing):
    rows = np.arange(problem.n_docs)
    parts = [(problem.rows(rows[rows % 3 != i]), problem.rows(rows[rows % 3 == i])) for i in (0, 1)]
    constant = replace(parts[1][0], target=np.ones(parts[1][0].n_docs))
    model = data, screening, None, SETTINGS
    bad = [parts[0], (constant, parts[1][1])]
    aside = choose_inclusion(*model).trials
    assert choose_inclusion(*model, lambda: iter(bad)).trials == aside


# ---- initial topics -----------------------------------------------------------------------------


def columns_of(problem, family, target):
    return target_columns(
        make_problem(problem.corpus, np.asarray(target, dtype=float), n_jobs=1), family
    )


def test_several_targets_go_up_first_and_then_down(problem):
    family = Multiple.of([Gaussian(1.0), Poisson()])
    columns = columns_of(problem, family, np.column_stack([problem.target] * 2))
    place = topic_places(columns, np.ones((4, 2)), np.ones(4), 4)
    np.testing.assert_array_equal(place, [[1, 0], [0, 1], [-1, 0], [0, -1]])
    lean = np.array([[1.0, 1.0], [-1.0, -1.0], [0.1, -0.1], [0.0, 0.0]])
    few = topic_places(columns, lean, np.ones(4), 2)
    np.testing.assert_allclose(few, [[1, 1], [-1, -1]], atol=1e-6)


def test_the_initial_model_is_the_null_model_with_topics(data, screening):
    selection = select(data, screening, GRADED, 0.1)
    start = start_topics(data, screening, selection, None, GRADED)
    spread = data.train.target.std()
    np.testing.assert_allclose(start.state.coef, [-spread, 0.0, spread], atol=1e-12)
    np.testing.assert_allclose(start.state.intercept, data.train.target.mean())
    assert start.coef_bound is None
    relevant = data.word_counts[selection.kept].sum() / data.size
    np.testing.assert_allclose(start.state.doc_topic_prior.sum(), relevant)
    assert start.supervision_weight == supervision(GRADED, relevant)
    np.testing.assert_allclose(start.supervised.target_weight, start.supervision_weight)
    np.testing.assert_array_equal(start.word_weight, 1.0)
    np.testing.assert_allclose(start.first_state.topic_word, np.exp(start.logits))
    unfocused = replace(SETTINGS, select=False)
    every = select(data, screening, unfocused, 1.0)
    free = start_topics(data, screening, every, None, unfocused)
    np.testing.assert_allclose(free.coef_bound, 3 * spread)


def test_weights_of_words_are_proportional_to_their_association():
    count = np.array([10.0, 10.0, 10.0, 70.0])
    lean = np.array([[9.0], [-2.0], [0.0], [0.1]])
    wanted = np.array([False, False, True, False])
    weight = word_weights(lean, count, wanted)
    assert count @ weight == pytest.approx(count.sum())
    np.testing.assert_allclose(weight[0] / weight[1], 4.5)
    free = word_weights(lean, count, np.zeros(4, dtype=bool))
    assert free[2] / free[0] < 0.05 and weight[2] > 0.5 * FORCED_WEIGHT
    several_predictors = word_weights(np.hstack([lean, lean]), count, wanted)
    np.testing.assert_allclose(several_predictors, weight)


# ---- validation ---------------------------------------------------------------------------------


def test_noise_is_the_error_less_the_variance_given_the_words():
    y = np.tile([0.0, 2.0], 30)
    column = target_columns(make_problem(make_corpus(np.ones((60, 1))), y), Gaussian(1.0))[0]
    at_mean, each = np.ones((60, 1)), np.ones(60)
    error = 60 / 57  # three degrees of freedom are spent
    found = variance_parts(column, at_mean, np.tile([0.2, 0.4], 30))
    assert found == pytest.approx((error - 0.3, 1.0, 0.0))
    # The variance given the words is five times the error: a part of it counts.
    found = variance_parts(column, at_mean, 5.0 * error * each)
    assert found == pytest.approx((0.1 * error, 0.9 / 5.0, 0.0))
    few = target_columns(make_problem(make_corpus(np.ones((4, 1))), y[:4]), Gaussian(1.0))[0]
    assert variance_parts(few, at_mean[:4], np.zeros(4)) == pytest.approx((2.0, 1.0, 0.0))
    column = replace(column, family=Bernoulli())
    assert variance_parts(column, at_mean, np.zeros(60)) == (1.0, 1.0, 0.0)
