"""Names of topics, order of documents and words: nothing depends on them."""

from dataclasses import replace

import models
import numpy as np
import pytest

from topicfocus.corpus import make_corpus
from topicfocus.joint import CoordinateSolver, run

CUT = CoordinateSolver(selection="sort_and_cut", burn_in=3, anneal=4, settle=2)
CASES = [
    (CoordinateSolver(), "paper", True),
    (CoordinateSolver(), "tight", True),
    (CoordinateSolver(), "paper", False),
    (CUT, "tight", True),
]
every_solver = pytest.mark.parametrize(("solver", "bound", "selects"), CASES)
every_family = pytest.mark.parametrize("family", models.FEW)


def make(family, bound, selects):
    # Documents x words large enough that rounding is all that may differ after ten epochs.
    case = models.draw_case(
        5,
        family,
        bound,
        n_docs=40,
        n_words=15,
        selects=selects,
        learn_prior=True,
        coef_penalty=1.0,
    )
    return case


def fit(solver, case):
    rng = np.random.default_rng(0)
    return run(solver, case.problem, case.hyper, case.state, rng, max_epochs=10, tol=0.0)


def assert_close(a, b):
    np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-9)


def rename_topics(state, order):
    return replace(
        state,
        topic_word=state.topic_word[:, order],
        coef=state.coef[order],
        doc_topic_prior=state.doc_topic_prior[order],
    )


@every_solver
@every_family
def test_topics_have_no_order(solver, bound, selects, family):
    case = make(family, bound, selects)
    order = np.array([2, 0, 1])
    a = fit(solver, case)
    b = fit(solver, case._replace(state=rename_topics(case.state, order)))
    assert_close([i.objective for i in b.history], [i.objective for i in a.history])
    expected = rename_topics(a.model, order)
    assert_close(b.model.topic_word, expected.topic_word)
    assert_close(b.model.coef, expected.coef)
    assert_close(b.model.doc_topic_prior, expected.doc_topic_prior)
    assert_close(b.model.inclusion, a.model.inclusion)


@every_solver
@every_family
def test_documents_have_no_order(solver, bound, selects, family):
    case = make(family, bound, selects)
    order = np.random.default_rng(1).permutation(case.problem.n_docs)
    a = fit(solver, case)
    b = fit(solver, case._replace(problem=case.problem.rows(order)))
    assert_close([i.objective for i in b.history], [i.objective for i in a.history])
    for name in ("topic_word", "coef", "inclusion", "background", "doc_topic_prior"):
        assert_close(getattr(b.model, name), getattr(a.model, name))


@every_solver
def test_words_have_no_order(solver, bound, selects):
    case = make("gaussian", bound, selects)
    order = np.random.default_rng(2).permutation(case.problem.corpus.n_words)
    counts = make_corpus(case.problem.corpus.counts.toarray()[:, order])
    shuffled = case._replace(
        problem=replace(case.problem, corpus=counts),
        state=replace(
            case.state,
            topic_word=case.state.topic_word[order],
            inclusion=case.state.inclusion[order],
            background=case.state.background[order],
        ),
    )
    a, b = fit(solver, case), fit(solver, shuffled)
    assert_close([i.objective for i in b.history], [i.objective for i in a.history])
    for name in ("topic_word", "inclusion", "background"):
        assert_close(getattr(b.model, name), getattr(a.model, name)[order])
    assert_close(b.model.coef, a.model.coef)


@every_solver
def test_a_target_in_other_units_gives_the_same_topics(solver, bound, selects):
    """y → a + b·y: η → a + b·η (Σθ = 1), δ → b²δ, and topics stay. Without a penalty on η."""
    case = make("gaussian", bound, selects)
    case = case._replace(hyper=replace(case.hyper, coef_penalty=0.0))
    scaled = case._replace(
        problem=replace(case.problem, target=5.0 + 3.0 * case.problem.target),
        state=replace(
            case.state,
            coef=5.0 + 3.0 * case.state.coef,
            family=type(case.state.family)(9.0 * case.state.family.noise_variance),
        ),
    )
    a, b = fit(solver, case), fit(solver, scaled)
    # Rounding of a shifted target is amplified a little more than that of a permuted one.
    np.testing.assert_allclose(b.model.topic_word, a.model.topic_word, rtol=1e-4, atol=1e-7)
    np.testing.assert_allclose(b.model.coef, 5.0 + 3.0 * a.model.coef, rtol=1e-4)
    np.testing.assert_allclose(
        b.model.family.noise_variance, 9.0 * a.model.family.noise_variance, rtol=1e-4
    )
