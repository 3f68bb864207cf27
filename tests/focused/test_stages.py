"""The stages of the focused fit by themselves: cut, share, start, judge."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from topicfocus import FocusedTopicRegressor
from topicfocus.corpus import make_corpus
from topicfocus.datasets import make_reviews
from topicfocus.families import Bernoulli, Categorical, Gaussian, Multiple, Poisson
from topicfocus.focused import FocusSettings, fit_focused, refit_focused
from topicfocus.focused import fit as fit_module
from topicfocus.focused import inclusion as share_module
from topicfocus.focused.data import FocusData, damp
from topicfocus.focused.evaluate import honest_noise, shrunken
from topicfocus.focused.inclusion import choose_share, diversity, smallest_good
from topicfocus.focused.initialize import (
    FORCED_WEIGHT,
    FULL_STRENGTH,
    carry_over,
    possible_topics,
    start_topics,
    starting_logits,
    supervision,
    topic_places,
    unit_columns,
    word_weights,
)
from topicfocus.focused.refit import fit_drawn
from topicfocus.focused.result import ShareTrial
from topicfocus.focused.screening import gather_evidence
from topicfocus.focused.selection import (
    automatic_cuts,
    automatic_inclusion,
    cut_again,
    cut_discoveries,
    cut_vocabulary,
    description_cost,
    least_discovery,
    possible_shares,
)
from topicfocus.focused.settings import THEMED, UNFOCUSED, FixedInclusion
from topicfocus.focused.themes import themes_of
from topicfocus.glm import Linear, explained_share, target_columns
from topicfocus.inference.mixes import topic_mixes
from topicfocus.inference.state import make_problem

SETTINGS = FocusSettings(n_topics=3)
GRADED = replace(SETTINGS, themes=False)
#: Made reviews have no words to add beyond 20 tokens a document, so these try smaller shares.
CHOOSING = replace(SETTINGS, themed=replace(THEMED, share_steps=(0.5, 1.0, 2.0)))


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


def test_joined_data_train_on_everyone(data, problem):
    everyone = data.joined()
    assert everyone.train.n_docs == problem.n_docs
    assert everyone.held_out is data.held_out
    np.testing.assert_allclose(everyone.word_counts, problem.word_counts)
    np.testing.assert_allclose(data.words.toarray() ** 2, data.train.corpus.counts.toarray())


def test_evidence_again_with_its_own_penalties_is_the_same(data, evidence):
    again = gather_evidence(data, evidence.penalties)
    assert again.penalties == evidence.penalties
    # Along the path each ridge starts from the one before: a few digits, as documented.
    np.testing.assert_allclose(again.evidence.marginal, evidence.evidence.marginal)
    np.testing.assert_allclose(again.slopes, evidence.slopes)


# ---- cut ----------------------------------------------------------------------------------------


def test_the_shares_are_the_users_or_the_plans(data):
    auto = automatic_inclusion(data.train)
    assert possible_shares(data, GRADED) == (auto,)
    shares = possible_shares(data, SETTINGS)
    assert shares[0] == min(2 * auto, 0.5) and list(shares) == sorted(set(shares))
    assert set(shares) <= {min(step * auto, THEMED.largest_share) for step in THEMED.share_steps}
    assert possible_shares(data, replace(SETTINGS, inclusion_prior=0.07)) == (0.07,)


@pytest.mark.parametrize("share", [0.05, 0.2, 0.6])
def test_a_cut_says_its_share_and_cost(data, evidence, share):
    cut = cut_vocabulary(data, evidence, SETTINGS, share)
    amount = evidence.evidence.combined(THEMED.marginal_share)
    assert cut.share == share
    most, least = (description_cost(amount, s, THEMED.smallest_vocabulary) for s in (0.0, share))
    assert cut.word_cost == min(most, max(least, least_discovery(amount)))
    assert np.all(amount[cut.kept] >= cut.word_cost)
    kept = data.word_counts[cut.kept].sum() / data.word_counts.sum()
    assert kept <= cut.share or len(cut.kept) == 10
    given = cut_vocabulary(data, evidence, replace(SETTINGS, inclusion_prior=share), share)
    assert given.word_cost == description_cost(amount, share, THEMED.smallest_vocabulary)


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


@pytest.mark.parametrize("refit", [False, True])
def test_a_result_has_the_share_and_cost_of_its_last_cut(data, refit):
    settings = replace(CHOOSING, refit=refit, max_steps=3)
    result = fit_focused(data.train, data.held_out, data.family, settings)
    assert result.inclusion_prior in [trial.share for trial in result.shares]
    used = settings.plan.smallest_vocabulary
    share = result.inclusion_prior
    if result.discoveries:
        most = 2 * np.log(len(result.evidence))
        assert result.word_cost == min(most, least_discovery(result.evidence))
    else:
        most, least = (description_cost(result.evidence, s, used) for s in (0.0, share))
        assert result.word_cost == min(most, max(least, least_discovery(result.evidence)))
    kept = np.flatnonzero(result.state.inclusion)
    assert np.all(result.evidence[kept] >= result.word_cost)


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


def test_a_larger_share_where_topics_are_alike(data, monkeypatch):
    """Shaped topics that share their top words are no topics; the most diverse ones if all do."""
    settings = replace(SETTINGS, max_steps=2, refit=False)
    shares = [0.05, 0.1, 0.2]
    monkeypatch.setattr(
        share_module,
        "automatic_cuts",
        lambda *of: (
            tuple(cut_vocabulary(*of, share) for share in shares)
            if of[2].inclusion_prior is None
            else automatic_cuts(*of)
        ),
    )
    monkeypatch.setattr(share_module, "smallest_good", lambda *_: 0)
    seen = []

    def alike(topic_word):
        seen.append(len(topic_word))
        return (0.5, 0.7, 0.6)[len(seen) - 1]

    monkeypatch.setattr(fit_module, "diversity", alike)
    found = fit_focused(data.train, data.held_out, data.family, settings)
    assert len(seen) == len(shares) and seen == sorted(seen)
    assert found.inclusion_prior == shares[1]
    monkeypatch.setattr(fit_module, "diversity", lambda t: 0.9 if len(t) == seen[-1] else 0.5)
    assert (
        fit_focused(data.train, data.held_out, data.family, settings).inclusion_prior
        == (shares[-1])
    )
    given = replace(settings, inclusion_prior=shares[0])  # the user's share is the user's
    assert fit_focused(data.train, data.held_out, data.family, given).inclusion_prior == shares[0]


def test_diversity_is_that_of_the_metric(data):
    from topicfocus.metrics import topic_diversity

    topics = np.random.default_rng(0).dirichlet(np.ones(60), 3)
    assert diversity(topics.T) == pytest.approx(topic_diversity(topics, 10))
    few = topics[:, :12]  # four words a topic: two of them are top words
    assert diversity(few.T) == pytest.approx(topic_diversity(few, 2))


def test_shares_are_tried_on_the_documents_set_aside(data, evidence):
    chosen = choose_share(data, evidence, themes_of(data, CHOOSING), CHOOSING)
    every = automatic_cuts(data, evidence, CHOOSING)
    assert len(every) == 3
    assert [t.share for t in chosen.trials] == [cut.share for cut in every]
    cut, start = chosen.candidate(0)
    index = [t.share for t in chosen.trials].index(cut.share)
    best = max(chosen.trials, key=lambda t: t.explained)
    assert chosen.trials[index].explained >= best.explained - chosen.trials[index].error
    assert best.error == 0 and all(t.error > 0 for t in chosen.trials if t is not best)
    assert [cut.share for cut in chosen.cuts] == [t.share for t in chosen.trials[index:]]
    np.testing.assert_array_equal(cut.kept, cut_again(data, evidence, CHOOSING, cut).kept)
    assert len(start.logits) == len(cut.kept) and 0 < chosen.trials[index].explained < 1
    given = choose_share(data, evidence, None, replace(CHOOSING, inclusion_prior=0.1))
    assert given.trials == () and [cut.share for cut in given.cuts] == [0.1]


def test_shares_are_compared_by_coefficients_that_are_drawn_as_in_the_end(
    data, evidence, monkeypatch
):
    """By the best of a few ρ: a regression as it is loses more, the more words there are."""
    starts = choose_share(data, evidence, themes_of(data, CHOOSING), CHOOSING).starts
    together = share_module._compared(data, starts)
    alone = []
    for rho in share_module.DRAWN:
        monkeypatch.setattr(share_module, "DRAWN", (rho,))
        alone.append(share_module._compared(data, starts))
    explained = np.array([part.explained for part in alone])
    np.testing.assert_allclose(together.explained, explained.max(axis=0), rtol=1e-12)
    assert np.all(np.ptp(explained, axis=0) > 1e-5)
    best = int(np.argmax(explained[:, 0]))
    np.testing.assert_allclose(together.losses[0], alone[best].losses[0], rtol=1e-12)
    # As the refit itself does it.
    start = starts[0]
    some = start.first_state
    mixes, held = (
        topic_mixes(part.corpus, some, tolerance=1e-2, n_jobs=1)
        for part in (start.train, start.held_out)
    )
    (mine,), (theirs,) = data.columns, data.held_columns
    fit = fit_drawn(mine, mixes, start.state.coef_rows.T, share_module.DRAWN[-1])
    predictor = shrunken(theirs, fit, held)[0]
    assert explained[-1, 0] == pytest.approx(explained_share(theirs, predictor), rel=1e-6)


def test_few_documents_set_aside_are_no_judges_of_shares(data, evidence, problem, monkeypatch):
    """Folds then, each predicted from the others; the errors are those of all documents."""
    themes, rows = themes_of(data, CHOOSING), np.arange(problem.n_docs)
    parts = [(problem.rows(rows[rows % 3 != i]), problem.rows(rows[rows % 3 == i])) for i in (0, 1)]
    cuts = automatic_cuts(data, evidence, CHOOSING)
    aside = choose_share(data, evidence, themes, CHOOSING).trials
    chosen = choose_share(data, evidence, themes, CHOOSING, lambda: iter(parts)).trials
    each = []
    for train, held in parts:
        own = FocusData.of(train, held, data.family)
        fold = gather_evidence(own, evidence.penalties)
        starts = []
        for whole in cuts:
            part = cut_again(own, fold, CHOOSING, whole)
            chosen_by = start_topics(data, evidence, whole, themes, CHOOSING, None).penalties
            starts.append(start_topics(own, fold, part, themes, CHOOSING, None, chosen_by))
        each.append(share_module._compared(own, starts))
    losses = np.concatenate([part.losses for part in each], axis=1)
    best = int(np.argmax([trial.explained for trial in chosen]))
    for i, trial in enumerate(chosen):
        assert trial.explained == pytest.approx(np.mean([part.explained[i] for part in each]))
        more = losses[i] - losses[best]
        assert trial.error == pytest.approx(more.std(ddof=1) / np.sqrt(len(more)))
    # 200 documents instead of 50: the error is about half.
    assert max(t.error for t in chosen) < max(t.error for t in aside)
    # Enough set aside, no folds, or a fold in which no word says anything: those set aside.
    assert choose_share(data, evidence, themes, CHOOSING, lambda: ()).trials == aside
    monkeypatch.setattr(share_module, "ENOUGH_ASIDE", data.held_out.size)
    assert choose_share(data, evidence, themes, CHOOSING, lambda: iter(parts)).trials == aside
    monkeypatch.undo()
    silent = replace(parts[1][0], target=np.ones(parts[1][0].n_docs))
    bad = [parts[0], (silent, parts[1][1])]
    assert choose_share(data, evidence, themes, CHOOSING, lambda: iter(bad)).trials == aside


# ---- start --------------------------------------------------------------------------------------


def columns_of(problem, family, target):
    return target_columns(
        make_problem(problem.corpus, np.asarray(target, dtype=float), n_jobs=1), family
    )


def test_one_predictor_has_graded_topics(problem):
    columns = columns_of(problem, Gaussian(1.0), problem.target)
    lean = np.ones((4, 1))
    np.testing.assert_allclose(topic_places(columns, lean, np.ones(4), 3), [[-1.0], [0.0], [1.0]])
    np.testing.assert_array_equal(topic_places(columns, lean, np.ones(4), 1), [[0.0]])


def test_topics_take_the_classes_in_turn(problem):
    columns = columns_of(problem, Categorical(3), np.arange(problem.n_docs) % 3)
    place = topic_places(columns, np.ones((4, 3)), np.ones(4), 6)
    np.testing.assert_allclose(place[:3], 1.5 * np.eye(3) - 0.5)
    np.testing.assert_allclose(place[3:], 0.5 * place[:3])


def test_several_targets_go_up_first_and_then_down(problem):
    family = Multiple.of([Gaussian(1.0), Poisson()])
    columns = columns_of(problem, family, np.column_stack([problem.target] * 2))
    place = topic_places(columns, np.ones((4, 2)), np.ones(4), 4)
    np.testing.assert_array_equal(place, [[1, 0], [0, 1], [-1, 0], [0, -1]])
    lean = np.array([[1.0, 1.0], [-1.0, -1.0], [0.1, -0.1], [0.0, 0.0]])
    few = topic_places(columns, lean, np.ones(4), 2)
    np.testing.assert_allclose(few, [[1, 1], [-1, -1]], atol=1e-6)


def test_starting_topics_lean_by_their_place():
    count = np.array([10.0, 20.0, 30.0])
    lean = unit_columns(np.array([[1.0], [0.0], [-1.0]]), count)
    assert (count @ lean**2)[0] == pytest.approx(count.sum())
    logits = starting_logits(count, lean, np.array([[-1.0], [1.0]]), 0.5)
    topics = np.exp(logits)
    np.testing.assert_allclose(topics.sum(axis=0), 1.0)
    ratio = logits[:, 1] - logits[:, 0]
    np.testing.assert_allclose(ratio - ratio[1], lean[:, 0], atol=1e-9)


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


def test_documents_are_seen_by_the_weights_of_their_words(data, evidence):
    cut = cut_vocabulary(data, evidence, SETTINGS, 0.1)
    start = start_topics(data, evidence, cut, themes_of(data, SETTINGS), SETTINGS, None)
    assert 0 < start.word_weight.min() < 1 < start.word_weight.max()
    for seen, words in ((start.train, data.words), (start.held_out, data.held_words)):
        np.testing.assert_allclose(
            seen.corpus.counts.toarray(), words[:, cut.kept].toarray() * start.word_weight
        )


def test_words_count_by_how_strongly_they_lean():
    count = np.array([10.0, 10.0, 10.0, 70.0])
    lean = np.array([[9.0], [-2.0], [0.0], [0.1]])
    wanted = np.array([False, False, True, False])
    weight = word_weights(lean, count, wanted, THEMED)
    assert count @ weight == pytest.approx(count.sum())
    strength = np.minimum(np.abs(unit_columns(lean, count)[:, 0]), FULL_STRENGTH)
    np.testing.assert_allclose(weight[0] / weight[1], strength[0] / strength[1])
    free = word_weights(lean, count, np.zeros(4, dtype=bool), THEMED)
    assert free[2] / free[0] < 0.05 and weight[2] > 0.5 * FORCED_WEIGHT
    several_predictors = word_weights(np.hstack([lean, lean]), count, wanted, THEMED)
    np.testing.assert_allclose(several_predictors, weight)
    np.testing.assert_array_equal(word_weights(lean, count, wanted, UNFOCUSED), 1.0)


def test_topics_need_words():
    assert possible_topics(replace(SETTINGS, n_topics=10), 12) == 10
    assert possible_topics(replace(SETTINGS, n_topics=10), 6) == 6
    assert possible_topics(replace(SETTINGS, n_topics=10), 1) == 2
    assert possible_topics(replace(SETTINGS, n_topics=1), 1) == 1
    assert possible_topics(replace(SETTINGS, n_topics=10, doc_topic_prior=np.ones(10)), 12) == 10
    assert possible_topics(replace(SETTINGS, n_topics=10, select=False), 12) == 10


def test_supervision_has_a_floor_and_gives_way_to_the_user():
    assert supervision(SETTINGS, 1.0) == 3.0
    assert supervision(SETTINGS, 100.0) == pytest.approx(30.0)
    assert supervision(replace(SETTINGS, supervision_weight=0.5), 100.0) == 0.5


def test_a_second_pass_goes_on_from_the_words_it_shares(data):
    first = fit_focused(
        data.train, data.held_out, data.family, replace(SETTINGS, refit=False, max_steps=2)
    ).chosen
    kept = np.append(first.cut.kept[1:], data.train.corpus.n_words + 5)
    logits = np.zeros((len(kept), 3))
    begin = carry_over(first, kept, logits)
    np.testing.assert_allclose(np.exp(begin[:-1]), first.state.topic_word[1:])
    np.testing.assert_array_equal(begin[-1], 0.0)


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


def test_noise_is_the_error_less_what_prediction_adds():
    y = np.array([0.0, 2.0])
    column = target_columns(make_problem(make_corpus(np.ones((2, 1))), y), Gaussian(1.0))[0]
    at_mean = np.ones((2, 1))
    assert honest_noise(column, at_mean, np.array([0.2, 0.4])) == pytest.approx((0.7, 1.0, 0.0))
    # The words leave five times as much open as there is error: a part of it counts.
    found = honest_noise(column, at_mean, np.array([5.0, 5.0]))
    assert found == pytest.approx((0.1, 0.9 / 5.0, 0.0))
    column = replace(column, family=Bernoulli())
    assert honest_noise(column, at_mean, np.zeros(2)) == (1.0, 1.0, 0.0)


def test_settings_say_how_many_steps_there_may_be():
    assert SETTINGS.total_steps == 10 + 10
    assert GRADED.total_steps == 21 + 21
    assert replace(SETTINGS, max_steps=5, refit=False).total_steps == 5
    assert replace(SETTINGS, select=False).plan == UNFOCUSED
    with pytest.raises(TypeError):
        FocusSettings(3)


def test_damped_counts_are_roots():
    corpus = make_corpus(np.array([[4.0, 9.0], [0.0, 1.0]]))
    np.testing.assert_allclose(damp(corpus).counts.toarray(), [[2, 3], [0, 1]])
    assert len(Multiple.of([Gaussian(1.0), Poisson()]).split()) == 2
