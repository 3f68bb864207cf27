"""The stages of the focused fit by themselves: cut, share, start, judge."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from topicfocus import FocusedTopicRegressor
from topicfocus.corpus import make_corpus
from topicfocus.datasets import make_reviews
from topicfocus.families import Gaussian
from topicfocus.focused import FocusSettings, fit_focused, refit_focused
from topicfocus.focused.data import FocusData
from topicfocus.focused.evaluate import shrunken
from topicfocus.focused.inclusion import smallest_good
from topicfocus.focused.initialize import (
    possible_topics,
    start_topics,
    supervision,
)
from topicfocus.focused.result import ShareTrial
from topicfocus.focused.screening import gather_evidence
from topicfocus.focused.selection import (
    automatic_cuts,
    cut_again,
    cut_discoveries,
    cut_vocabulary,
    least_discovery,
)
from topicfocus.focused.settings import THEMED, FixedInclusion
from topicfocus.glm import Linear, target_columns
from topicfocus.inference.state import make_problem

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
def evidence(data):
    return gather_evidence(data)


# ---- data and evidence --------------------------------------------------------------------------


# ---- cut ----------------------------------------------------------------------------------------


def test_an_automatic_share_is_a_limit_and_a_share_that_is_given_is_reached(data, evidence):
    """Words that say no more than noise are kept for a user who wants them."""
    made = make_reviews(300, random_state=4).relevant
    tokens = data.word_counts / data.word_counts.sum()
    auto = cut_vocabulary(data, evidence, SETTINGS, 0.5).kept
    assert made[auto].mean() > 0.9 and tokens[auto].sum() < 0.4  # 28% of the tokens are relevant
    given = cut_vocabulary(data, evidence, replace(SETTINGS, inclusion_prior=0.5), 0.5).kept
    assert set(auto) < set(given) and tokens[given].sum() > 0.45


def test_a_stable_selection_keeps_what_lasts_and_more_if_a_share_is_given(data):
    made = make_reviews(300, random_state=4).relevant
    settings = replace(SETTINGS, stable=True)
    evidence = gather_evidence(data, None, settings.lasting)
    (auto,) = automatic_cuts(data, evidence, settings)
    assert auto.discoveries and len(auto.kept) == evidence.n_lasting
    assert made[auto.kept].mean() > 0.8
    assert auto.share == data.word_counts[auto.kept].sum() / data.word_counts.sum()
    assert auto.word_cost == evidence.amount(2 / 3)[auto.kept].min()
    # A fixed inclusion is a limit; one that is given is reached, and a larger one keeps more.
    for share in (auto.share, 0.1):
        fixed = replace(settings, fixed_inclusion=FixedInclusion(share, discoveries=True))
        (cut,) = automatic_cuts(data, evidence, fixed)
        assert cut.share == share and not cut.discoveries
        assert set(cut.kept) == set(auto.kept) if share > 0.1 else set(cut.kept) < set(auto.kept)
    given = [cut_vocabulary(data, evidence, settings, s).kept for s in (0.1, 0.2, 0.5, 0.8)]
    assert set(given[0]) < set(given[1]) < set(auto.kept) < set(given[2]) < set(given[3])
    more = np.setdiff1d(np.flatnonzero(~made), auto.kept)[:3]
    dropped = replace(settings, drop=auto.kept[:5], keep=more)
    (cut,) = automatic_cuts(data, evidence, dropped)
    assert not set(auto.kept[:5]) & set(cut.kept) and set(more) <= set(cut.kept)


def test_discoveries_are_what_says_more_than_noise(data, evidence):
    cut = cut_discoveries(data, evidence, SETTINGS)
    amount = evidence.evidence.combined(THEMED.marginal_share)
    seen = data.word_counts > 0
    assert cut.word_cost == min(least_discovery(amount[seen]), 2 * np.log(seen.sum()))
    np.testing.assert_array_equal(cut.kept, np.flatnonzero((amount >= cut.word_cost) & seen))
    tokens = data.word_counts / data.word_counts.sum()
    assert cut.discoveries and cut.share == pytest.approx(tokens[cut.kept].sum())
    again = cut_again(data, evidence, SETTINGS, replace(cut, share=0.123))
    np.testing.assert_array_equal(again.kept, cut.kept)
    assert again.share == 0.123  # what they came to when they were chosen is their name
    # Ten words at least, and those that the user wants.
    wanted = int(np.argmin(np.where(seen, amount, np.inf)))
    forced = cut_discoveries(data, evidence, replace(SETTINGS, keep=np.array([wanted])))
    assert set(forced.kept) == {*cut.kept, wanted}


def test_words_that_a_share_is_filled_up_with_are_noise_where_few_say_anything():
    """Of 600 words 12 matter: the share is for the taking, and is not taken."""
    rng = np.random.default_rng(0)
    counts = rng.multinomial(40, rng.dirichlet(np.full(600, 0.4)), size=900).astype(float)
    often = np.argsort(-counts.sum(axis=0))[:150]
    matter, strength = rng.choice(often, 12, replace=False), rng.choice([-0.8, 0.8], 12)
    target = np.sqrt(counts[:, matter]) @ strength + rng.normal(size=900)
    model = FocusedTopicRegressor(4, random_state=0).fit(counts, target)
    kept = np.flatnonzero(model.selected_words_)
    assert model.fitted_.discoveries
    assert len(kept) <= 16 and np.isin(kept, matter).sum() >= 10


def test_a_larger_share_keeps_a_superset(data, evidence):
    shares = (0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.8)
    kept = [set(cut_vocabulary(data, evidence, SETTINGS, share).kept) for share in shares]
    assert all(small <= large for small, large in pairwise(kept))
    assert len(kept[0]) < len(kept[-1])


def test_without_selection_all_words_are_kept_at_no_cost(data, evidence):
    cut = cut_vocabulary(data, evidence, replace(SETTINGS, select=False), 1.0)
    np.testing.assert_array_equal(cut.kept, np.flatnonzero(data.word_counts > 0))
    assert (cut.share, cut.word_cost) == (1.0, None)


def test_no_word_left_is_said(data, evidence):
    nothing = replace(SETTINGS, drop=np.arange(data.train.corpus.n_words))
    with pytest.raises(ValueError, match="none is kept"):
        cut_vocabulary(data, evidence, nothing, 0.1)


def test_a_refit_keeps_the_choices(data, problem):
    settings = replace(SETTINGS, max_steps=3)
    first = fit_focused(data.train, data.held_out, data.family, settings)
    more = refit_focused(problem, data.held_out, data.family, settings, first)
    assert more.explained == first.explained and more.shares == first.shares
    assert more.inclusion_prior == first.inclusion_prior
    none = fit_focused(
        data.train, data.held_out, data.family, replace(settings, select=False, refit=False)
    )
    assert (none.inclusion_prior, none.word_cost, none.shares) == (1.0, None, ())


# ---- share --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("explained", "error", "taken"),
    [
        ([0.5], 0.1, 0),
        ([0.4, 0.5, 0.52], 0.03, 1),
        ([0.4, 0.5, 0.52], 0.01, 2),
        ([0.5, 0.4], 0.0, 0),
    ],
)
def test_the_smallest_share_within_a_standard_error_of_the_best(explained, error, taken):
    trials = [ShareTrial(share=0.1 + i, explained=e, error=error) for i, e in enumerate(explained)]
    assert smallest_good(trials, [True] * len(trials)) == taken


def test_a_share_has_words_for_every_topic_if_there_is_such_a_share():
    trials = [ShareTrial(share=s, explained=0.5, error=0.1) for s in (0.1, 0.2, 0.4)]
    assert smallest_good(trials, [False, True, True]) == 1
    assert smallest_good(trials, [False, False, False]) == 2


# ---- start --------------------------------------------------------------------------------------


def test_a_start_is_the_null_model_with_topics(data, evidence):
    cut = cut_vocabulary(data, evidence, GRADED, 0.1)
    start = start_topics(data, evidence, cut, None, GRADED, None)
    spread = data.train.target.std()
    np.testing.assert_allclose(start.state.coef, [-spread, 0.0, spread], atol=1e-12)
    np.testing.assert_allclose(start.state.intercept, data.train.target.mean())
    assert start.coef_bound is None
    assert start.begin is start.logits
    relevant = data.word_counts[cut.kept].sum() / data.size
    np.testing.assert_allclose(start.state.doc_topic_prior.sum(), relevant)
    assert start.supervision_weight == supervision(GRADED, relevant)
    np.testing.assert_allclose(start.weighted.target_weight, start.supervision_weight)
    np.testing.assert_array_equal(start.word_weight, 1.0)
    np.testing.assert_allclose(start.first_state.topic_word, np.exp(start.logits))
    unfocused = replace(SETTINGS, select=False)
    every = cut_vocabulary(data, evidence, unfocused, 1.0)
    free = start_topics(data, evidence, every, None, unfocused, None)
    np.testing.assert_allclose(free.coef_bound, 3 * spread)


def test_topics_need_words():
    assert possible_topics(replace(SETTINGS, n_topics=10), 12) == 10
    assert possible_topics(replace(SETTINGS, n_topics=10), 6) == 6
    assert possible_topics(replace(SETTINGS, n_topics=10), 1) == 2
    assert possible_topics(replace(SETTINGS, n_topics=1), 1) == 1
    assert possible_topics(replace(SETTINGS, n_topics=10, doc_topic_prior=np.ones(10)), 12) == 10
    assert possible_topics(replace(SETTINGS, n_topics=10, select=False), 12) == 10


# ---- judge --------------------------------------------------------------------------------------


def test_predictors_that_are_too_sure_are_shrunken():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(500, 1))
    y = 2.0 + 0.5 * x[:, 0] + 0.1 * rng.normal(size=500)
    column = target_columns(make_problem(make_corpus(np.ones((500, 1))), y), Gaussian(1.0))[0]
    fit = Linear(np.array([[1.0]]), np.array([1.0]), Gaussian(1.0))
    predictor, (shift, factor) = shrunken(column, fit, x)
    assert factor == pytest.approx(0.5, abs=0.02)
    np.testing.assert_allclose(predictor[:, 0], shift[0] + factor * (1.0 + x[:, 0]))
    np.testing.assert_allclose(predictor.mean(), y.mean())
