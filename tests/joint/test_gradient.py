"""The paper's own algorithm: its gradients, its dense twin, and that it climbs."""

from dataclasses import replace

import kernel_twins as reference
import models
import numpy as np
import pytest
from scipy.special import expit, log_softmax, logit, softmax

from topicfocus.corpus import make_corpus
from topicfocus.datasets import make_pfslda
from topicfocus.families import Bernoulli, Gaussian
from topicfocus.joint import GradientSolver, run
from topicfocus.joint.adam import Adam
from topicfocus.joint.gradient import unvisited_drift
from topicfocus.joint.initialize import near_symmetric_start
from topicfocus.joint.settings import Hyperparameters
from topicfocus.joint.statistics import bound_value, collect
from topicfocus.kernels.local import LocalTarget
from topicfocus.model import ModelState, make_problem

every_family = pytest.mark.parametrize("family", models.FEW)


def small(family, selects=True, n_docs=7, **settings):
    case = models.draw_case(
        30, family, n_docs=n_docs, n_topics=2, selects=selects, coef_penalty=0.3, **settings
    )
    return case.problem, case.hyper, case.state


def read(free, start, selects):
    """The model behind the free parameters, as the solver's docstrings have it."""
    family = start.family
    if "noise_root" in free:
        family = Gaussian(float(free["noise_root"][0] ** 2))
    if "family" in free:
        family = family.with_free_parameters(free["family"])
    return ModelState(
        softmax(free["topic_logits"], axis=0),
        expit(free["inclusion_logits"]) if selects else start.inclusion,
        softmax(free["background_logits"]) if selects else start.background,
        np.array(free["coef"]),
        family,
        start.doc_topic_prior,
        covariate_coef=np.array(free["covariate_coef"]) if "covariate_coef" in free else None,
    )


@every_family
@pytest.mark.parametrize("selects", [True, False])
def test_global_gradients_of_the_first_epoch_are_those_of_the_minibatch_bound(
    monkeypatch, family, selects
):
    problem, hyper, start = small(family, selects, n_covariates=0 if selects else 1)
    problem = replace(problem, doc_weight=None)
    steps = []
    original = Adam.step

    def record(self, gradients, rate):
        parameters = {k: v.copy() for k, v in self.parameters.items()}
        steps.append((parameters, {k: np.copy(v) for k, v in gradients.items()}))
        original(self, gradients, rate)

    monkeypatch.setattr(Adam, "step", record)
    solver = GradientSolver(batch_size=4)
    state = solver.begin(problem, hyper, start, np.random.default_rng(0))
    _, info = solver.step(state)
    assert len(steps) == 2 and len(np.unique(state.order)) == 7
    total = 0.0
    for i, (parameters, gradients) in enumerate(steps):
        docs = state.order[4 * i : 4 * (i + 1)]
        batch = problem.rows(docs)
        # Nobody was visited before: γ = 1, flat responsibilities.
        gamma = np.ones((len(docs), 2))
        flat = np.full((len(docs), 6, 2), 0.5)
        share = replace(hyper, coef_penalty=0.3 * len(docs) / 7)
        free = replace(hyper, coef_penalty=0.0)
        total += models.uncollapsed_bound(
            batch, read(parameters, start, selects), free, gamma, flat
        )
        expected = {"topic_logits", "coef"}
        expected |= {"inclusion_logits", "background_logits"} if selects else set()
        expected |= {"noise_root"} if family == "gaussian" else set()
        expected |= {"family"} if family in ("ordinal", "several") else set()
        expected |= set() if selects else {"covariate_coef"}
        assert set(gradients) == set(parameters) == expected

        def bound(free, batch=batch, share=share, locals_=(gamma, flat)):
            return models.uncollapsed_bound(batch, read(free, start, selects), share, *locals_)

        for name, gradient in gradients.items():
            numerical = models.numerical_gradient(
                lambda x, name=name, at=parameters, bound=bound: bound({**at, name: x}),
                parameters[name],
            )
            np.testing.assert_allclose(gradient, numerical, rtol=1e-6, atol=1e-6, err_msg=name)
            assert np.abs(gradient).max() > 1e-3
    np.testing.assert_allclose(info.objective * problem.corpus.n_tokens, total, rtol=1e-6)


class DenseTwin:
    """The original's arithmetic: dense Adam over *all* parameters at every minibatch."""

    def __init__(self, problem, hyper, start, rate):
        self.problem, self.hyper, self.start, self.rate = problem, hyper, start, rate
        n_docs, n_words = problem.n_docs, problem.corpus.n_words
        self.x = {
            "topic_logits": np.log(start.topic_word),
            "inclusion_logits": logit(start.inclusion),
            "background_logits": np.log(start.background),
            "coef": start.coef.copy(),
            "noise_root": np.sqrt([start.family.noise_variance]),
            "gamma": np.ones((n_docs, 2)),
            "logits": np.ones((n_docs, n_words, 2)),
        }
        self.m = {k: np.zeros_like(v) for k, v in self.x.items()}
        self.v = {k: np.zeros_like(v) for k, v in self.x.items()}
        self.t = 0

    def gradients(self, docs):
        problem, hyper, x = self.problem, self.hyper, self.x
        model = read(x, self.start, True)
        log_topics = log_softmax(x["topic_logits"], axis=0)
        counts = problem.corpus.counts.toarray()
        g = {k: np.zeros_like(v) for k, v in x.items()}
        phi, p, delta = model.inclusion, hyper.inclusion_prior, model.family.noise_variance
        word_topic = np.zeros_like(model.topic_word)
        mean, second = models.second_moments(x["gamma"])
        for d in docs:
            words = np.flatnonzero(counts[d])
            target = LocalTarget(
                problem.targets[d], problem.target_weights[d], np.zeros(1), model.coef_rows
            )
            g["logits"][d, words], g["gamma"][d], assigned = reference.uncollapsed_gradients(
                words,
                counts[d, words],
                phi,
                log_topics,
                model.doc_topic_prior,
                x["gamma"][d],
                x["logits"][d, words],
                model.family,
                target,
            )
            word_topic[words] += assigned
            y, eta = problem.target[d], model.coef
            g["coef"] += (y * mean[d] - second[d] @ eta) / delta
            square = y**2 - 2 * y * mean[d] @ eta + eta @ second[d] @ eta
            g["noise_root"] += (square / delta - 1) / x["noise_root"]
        n = counts[docs].sum(axis=0)
        weight = phi[:, None] * word_topic
        g["topic_logits"] = weight - model.topic_word * weight.sum(axis=0)
        outside = (1 - phi) * n
        g["background_logits"] = outside - model.background * outside.sum()
        score = np.sum(word_topic * log_topics, axis=1)
        score += n * (logit(p) - np.log(model.background) - x["inclusion_logits"])
        g["inclusion_logits"] = phi * (1 - phi) * score
        g["coef"] -= hyper.coef_penalty * len(docs) / problem.n_docs * model.coef
        return g

    def step(self, docs):
        gradients = self.gradients(docs)
        self.t += 1
        for name, g in gradients.items():
            self.m[name] = 0.9 * self.m[name] + 0.1 * g
            self.v[name] = 0.999 * self.v[name] + 0.001 * g**2
            up = self.m[name] / (1 - 0.9**self.t)
            scale = np.sqrt(self.v[name] / (1 - 0.999**self.t)) + 1e-8
            self.x[name] = self.x[name] + self.rate * up / scale


def test_it_is_the_dense_algorithm_of_the_paper():
    """Documents that are not in the minibatch drift by their momentum, as in dense Adam."""
    problem, hyper, start = small("gaussian", n_docs=8)
    solver = GradientSolver(batch_size=3)
    state = solver.begin(problem, hyper, start, np.random.default_rng(1))
    twin = DenseTwin(problem, hyper, start, 0.025)
    for _ in range(8):
        state, _ = solver.step(state)
        for first in range(0, 8, 3):
            docs = state.order[first : first + 3]
            twin.step(docs)
    for name, value in state.adam.parameters.items():
        # Responsibilities are kept in single precision.
        np.testing.assert_allclose(value, twin.x[name], rtol=1e-4, atol=1e-4, err_msg=name)
        moved = np.abs(value - DenseTwin(problem, hyper, start, 0).x[name]).max()
        assert moved > 0.05, name
    last = state.batches[-1]  # up to date: visited last
    gamma = twin.x["gamma"][state.order[6:]]
    np.testing.assert_allclose(last.local.concentration, gamma, rtol=1e-4)


def test_drift_is_the_sum_of_adams_steps_without_a_gradient():
    """m = v = 1 at time t, then g steps of zero gradient, summed one by one."""
    for t, gap in [(1, 1), (3, 5), (40, 12)]:
        visit = unvisited_drift(t, t + gap + 1)
        m = v = 1.0
        drift = 0.0
        for j in range(1, gap + 1):
            m, v = 0.9 * m, 0.999 * v
            drift += (m / (1 - 0.9 ** (t + j))) / np.sqrt(v / (1 - 0.999 ** (t + j)))
        np.testing.assert_allclose(visit, [drift, m, v], rtol=1e-12)
        assert unvisited_drift(0, t + gap + 1) == (0.0, 1.0, 1.0)  # never visited
        np.testing.assert_allclose(unvisited_drift(t + gap, t + gap + 1), [0.0, 1.0, 1.0])


@pytest.mark.parametrize("family", models.GENERATED)
@pytest.mark.parametrize("selects", [True, False])
def test_it_climbs(family, selects):
    data = make_pfslda(
        n_docs=400,
        doc_length=60,
        n_topics=3,
        n_relevant=30,
        n_irrelevant=20,
        family=family,
        random_state=0,
    )
    problem = make_problem(make_corpus(data.counts), data.target, n_jobs=1)
    hyper = Hyperparameters(n_topics=3, selects=selects, inclusion_prior=0.25, bound="paper")
    example = Gaussian(1.0) if family == "gaussian" else Bernoulli()
    rng = np.random.default_rng(1)
    start = near_symmetric_start(problem, hyper, example, np.ones(3), rng)
    result = run(GradientSolver(), problem, hyper, start, rng, max_epochs=60, tol=0.0)
    values = np.array([info.objective for info in result.history])
    assert values[-1] > values[0] + 0.5
    assert np.all(np.diff(values[:20]) > 0)
    # Its own bound is never above the collapsed one of the same model.
    collapsed = []
    for model in (start, result.model):
        gamma = np.ones((problem.n_docs, 3))
        stats = collect(problem, model, hyper, gamma, max_steps=200, tolerance=1e-7)
        collapsed.append(bound_value(stats, model, replace(hyper, coef_penalty=0.0)))
    assert collapsed[1] / problem.corpus.n_tokens > values[-1]
    assert collapsed[1] > collapsed[0] + 0.3 * problem.corpus.n_tokens
