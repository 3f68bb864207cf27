"""Small models for tests, and their bound written out densely, nothing collapsed.

Nothing here uses the code under test beyond its plain data classes: `uncollapsed_terms` is the
appendix of the paper (with the errata of the design notes), in dense NumPy, with responsibilities
(documents x words x topics) given from outside.
"""

from __future__ import annotations

from typing import NamedTuple

import hypothesis.extra.numpy as hnp
import hypothesis.strategies as st
import numpy as np
from scipy.special import digamma, gammaln, roots_jacobi, xlogy

from topicfocus.corpus import make_corpus
from topicfocus.families import Bernoulli, Gaussian
from topicfocus.inference.state import Hyperparameters, ModelState, Problem, make_problem

BOUNDS = ("paper", "tight")
FAMILIES = ("gaussian", "bernoulli")
NEGATIVE = ("log_q_theta", "log_q_z", "log_q_xi")


class Case(NamedTuple):
    """A problem, a model for it, and a γ that is not the optimal one."""

    problem: Problem
    state: ModelState
    hyper: Hyperparameters
    gamma: np.ndarray


def draw_state(
    rng: np.random.Generator,
    n_words: int,
    n_topics: int,
    family: str = "gaussian",
    *,
    selects: bool = True,
    prior: np.ndarray | None = None,
) -> ModelState:
    """A random model; every word is possible in both channels."""
    topics = rng.dirichlet(np.full(n_words, 0.8), n_topics).T + 1e-4
    return ModelState(
        topic_word=topics / topics.sum(axis=0),
        inclusion=rng.uniform(0.05, 0.95, n_words) if selects else np.ones(n_words),
        background=rng.dirichlet(np.ones(n_words)) if selects else np.zeros(n_words),
        coef=rng.normal(0, 1.5, n_topics),
        family=Gaussian(float(rng.uniform(0.3, 1.5))) if family == "gaussian" else Bernoulli(),
        doc_topic_prior=rng.uniform(0.5, 2.0, n_topics) if prior is None else prior,
    )


def draw_target(rng: np.random.Generator, n_docs: int, family: str) -> np.ndarray:
    if family == "gaussian":
        return rng.normal(0.3, 1.2, n_docs)
    return rng.integers(0, 2, n_docs).astype(float)


def draw_case(
    seed: int,
    family: str = "gaussian",
    bound: str = "paper",
    *,
    n_docs: int = 5,
    n_words: int = 6,
    n_topics: int = 3,
    selects: bool = True,
    supervised: bool = True,
    mean_count: float = 1.0,
    learn_prior: bool = False,
    coef_penalty: float = 1e-3,
    weight: float = 1.0,
) -> Case:
    """A random case, with an empty document and a repeated word when there is room for them."""
    rng = np.random.default_rng(seed)
    table = rng.poisson(mean_count, (n_docs, n_words))
    table[0, 0] += 2
    if n_docs > 2:
        table[2] = 0
    table[0] += table.sum(axis=0) == 0  # no word is left out
    hyper = Hyperparameters(
        n_topics,
        selects=selects,
        inclusion_prior=0.3,
        bound=bound,
        learn_prior=learn_prior,
        coef_penalty=coef_penalty,
    )
    state = draw_state(rng, n_words, n_topics, family, selects=selects)
    target = draw_target(rng, n_docs, family) if supervised else None
    problem = make_problem(make_corpus(table), target, weight, n_jobs=1)
    return Case(problem, state, hyper, rng.uniform(0.7, 6.0, (n_docs, n_topics)))


@st.composite
def cases(
    draw,
    *,
    families=FAMILIES,
    bounds=BOUNDS,
    selects=None,
    n_topics=(1, 3),
    supervised=None,
    max_docs: int = 6,
    max_words: int = 6,
    max_count: int = 4,
) -> Case:
    """Corpora with empty documents and words that never occur; some targets missing."""
    family = draw(st.sampled_from(families))
    bound = draw(st.sampled_from(bounds))
    selecting = draw(st.booleans()) if selects is None else selects
    has_target = draw(st.booleans()) if supervised is None else supervised
    topics = draw(st.integers(*n_topics))
    shape = (draw(st.integers(1, max_docs)), draw(st.integers(1, max_words)))
    count = st.one_of(st.just(0), st.integers(0, max_count))
    table = draw(hnp.arrays(np.int64, shape, elements=count))
    if not table.any():
        table[0, 0] = 1
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    target = None
    if has_target:
        target = draw_target(rng, shape[0], family)
        target[rng.random(shape[0]) < 0.15] = np.nan
    hyper = Hyperparameters(
        topics, selects=selecting, inclusion_prior=draw(st.floats(0.05, 0.95)), bound=bound
    )
    state = draw_state(rng, shape[1], topics, family, selects=selecting)
    gamma = rng.gamma(2.0, 1.5, (shape[0], topics)) + 0.05
    return Case(make_problem(make_corpus(table), target, n_jobs=1), state, hyper, gamma)


# ---- the bound, dense and uncollapsed ----------------------------------------------------------


def expected_log_theta(gamma: np.ndarray) -> np.ndarray:
    return digamma(gamma) - digamma(gamma.sum(axis=1, keepdims=True))


def optimal_responsibilities(
    state: ModelState, hyper: Hyperparameters, gamma: np.ndarray
) -> np.ndarray:
    """r_dvk, documents x words x topics: ∝ β^φ e (paper) or β e (tight)."""
    power = state.inclusion[:, None] if hyper.bound == "paper" else 1.0
    r = state.topic_word**power * np.exp(expected_log_theta(gamma))[:, None, :]
    return r / r.sum(axis=2, keepdims=True)


def second_moments(gamma: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """E[θ] and E[θθᵀ] of every document."""
    total = gamma.sum(axis=1)
    mean = gamma / total[:, None]
    outer = gamma[:, :, None] * gamma[:, None, :]
    outer[:, range(gamma.shape[1]), range(gamma.shape[1])] += gamma
    return mean, outer / (total * (total + 1))[:, None, None]


def expected_target(problem: Problem, state: ModelState, gamma: np.ndarray) -> np.ndarray:
    """w E[log p(y)]: exact for Gaussian targets, to second order for Bernoulli ones."""
    mean, second = second_moments(gamma)
    y, eta = problem.target, state.coef
    mu = mean @ eta
    square = np.einsum("dkl,k,l->d", second, eta, eta)
    if isinstance(state.family, Gaussian):
        delta = state.family.noise_variance
        value = -0.5 * np.log(2 * np.pi * delta) - (y**2 - 2 * y * mu + square) / (2 * delta)
    else:
        half = 0.5 * np.sqrt(square)  # Jaakkola and Jordan: (y-½)μ - log 2cosh(½√E[f²])
        value = (y - 0.5) * mu - np.logaddexp(half, -half)
    return problem.target_weight * value


def dirichlet_log_density(log_theta: np.ndarray, concentration: np.ndarray) -> np.ndarray:
    """log Dir(θ | concentration), linear in log θ, so also its expectation at E[log θ]."""
    normaliser = gammaln(concentration.sum(axis=-1)) - gammaln(concentration).sum(axis=-1)
    return normaliser + np.sum((concentration - 1) * log_theta, axis=-1)


def uncollapsed_terms(
    problem: Problem,
    state: ModelState,
    hyper: Hyperparameters,
    gamma: np.ndarray,
    r: np.ndarray,
) -> dict[str, np.ndarray]:
    """The eight terms of every document at *given* responsibilities."""
    counts = problem.corpus.counts.toarray()
    phi = state.inclusion
    log_theta = expected_log_theta(gamma)
    total = gamma.sum(axis=1, keepdims=True)
    at_prior = np.sum(gamma / total * (digamma(gamma + 1) - digamma(total + 1)), axis=1)
    # Tokens whose z comes from r; the others take it from θ (tight bound only).
    own = phi if hyper.bound == "tight" else np.ones_like(phi)
    with np.errstate(divide="ignore", invalid="ignore"):
        log_beta = np.where(r > 0, np.log(state.topic_word)[None], 0.0)
    chosen = np.sum(r * log_beta, axis=2)
    terms = {
        "log_p_theta": dirichlet_log_density(log_theta, state.doc_topic_prior),
        "log_q_theta": dirichlet_log_density(log_theta, gamma),
        "log_p_z": np.einsum("dv,v,dvk,dk->d", counts, own, r, log_theta)
        + counts @ (1 - own) * at_prior,
        "log_q_z": np.einsum("dv,v,dvk->d", counts, own, xlogy(r, r))
        + counts @ (1 - own) * at_prior,
        "log_p_y": expected_target(problem, state, gamma),
        "log_p_w": np.sum(counts * phi * np.where(counts * phi > 0, chosen, 0.0), axis=1),
        "log_p_xi": np.zeros(len(counts)),
        "log_q_xi": np.zeros(len(counts)),
    }
    if hyper.selects:
        p = hyper.inclusion_prior
        switched = np.where(counts.sum(axis=0) > 0, xlogy(1 - phi, state.background), 0.0)
        terms["log_p_w"] = terms["log_p_w"] + counts @ switched
        terms["log_p_xi"] = counts @ (phi * np.log(p) + (1 - phi) * np.log1p(-p))
        terms["log_q_xi"] = counts @ (xlogy(phi, phi) + xlogy(1 - phi, 1 - phi))
    return terms


def uncollapsed_bound(
    problem: Problem,
    state: ModelState,
    hyper: Hyperparameters,
    gamma: np.ndarray,
    r: np.ndarray,
) -> float:
    """Their signed sum over all documents, minus the penalty on η."""
    terms = uncollapsed_terms(problem, state, hyper, gamma, r)
    value = sum(-v.sum() if name in NEGATIVE else v.sum() for name, v in terms.items())
    return float(value - 0.5 * hyper.coef_penalty * state.coef @ state.coef)


# ---- exact integrals over θ, two topics --------------------------------------------------------


def dirichlet_nodes(concentration: np.ndarray, n: int = 120) -> tuple[np.ndarray, np.ndarray]:
    """θ (n x 2) and weights (sum 1) of Gauss-Jacobi quadrature under Dir(concentration), K = 2."""
    a, b = concentration
    x, weight = roots_jacobi(n, b - 1, a - 1)
    first = 0.5 * (x + 1)
    return np.column_stack([first, 1 - first]), weight / weight.sum()


def target_log_density(state: ModelState, y: float, predictor: np.ndarray) -> np.ndarray:
    """log p(y | f) at each predictor f."""
    if isinstance(state.family, Gaussian):
        delta = state.family.noise_variance
        return -0.5 * np.log(2 * np.pi * delta) - (y - predictor) ** 2 / (2 * delta)
    return y * predictor - np.logaddexp(0, predictor)


# ---- numerical derivatives ---------------------------------------------------------------------


def numerical_gradient(function, x: np.ndarray, step: float = 1e-5) -> np.ndarray:
    """Central differences, one coordinate at a time."""
    x = np.asarray(x, dtype=float)
    out = np.empty(x.shape)
    for i in np.ndindex(x.shape):
        up, down = x.copy(), x.copy()
        up[i] += step
        down[i] -= step
        out[i] = (function(up) - function(down)) / (2 * step)
    return out
