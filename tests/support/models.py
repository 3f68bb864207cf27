"""Small models for tests, and their bound written out densely, nothing collapsed.

Nothing here uses the code under test beyond its plain data classes: `uncollapsed_terms` is the
appendix of the paper (with the errata of the design notes), in dense NumPy, with responsibilities
(documents x words x topics) given from outside.
"""

from __future__ import annotations

from typing import NamedTuple

import hypothesis.strategies as st
import numpy as np
from scipy.special import digamma, expit, gammaln, log_softmax, roots_jacobi, xlogy

from topicfocus.corpus import make_corpus
from topicfocus.families import Bernoulli, Categorical, Gaussian, Multiple, Ordinal, Poisson
from topicfocus.joint.settings import Hyperparameters
from topicfocus.model import ModelState, Problem, make_problem

BOUNDS = ("paper", "tight")
#: What `draw_state` and `draw_target` know; "several" is one target of each of the others.
FAMILIES = ("gaussian", "bernoulli", "poisson", "ordinal", "categorical", "several")
#: Those that the synthetic data sets are made with.
GENERATED = ("gaussian", "bernoulli")
#: For tests that are not about families: those two, and all of them at once.
FEW = (*GENERATED, "several")
#: Those with E[log p(y)] or a bound below it: all but the Poisson, whose expectation is a normal's.
BOUNDED = ("gaussian", "bernoulli", "ordinal", "categorical")
#: Of the ordinal and of the categorical target.
LEVELS, CLASSES = 4, 3
NEGATIVE = ("log_q_theta", "log_q_z", "log_q_xi")


class Case(NamedTuple):
    """A problem, a model for it, and a γ that is not the optimal one."""

    problem: Problem
    state: ModelState
    hyper: Hyperparameters
    gamma: np.ndarray


def draw_family(rng: np.random.Generator, name: str):
    """A family with parameters of its own."""
    if name == "several":
        return Multiple.of([draw_family(rng, own) for own in FAMILIES[:-1]])
    if name == "gaussian":
        return Gaussian(float(rng.uniform(0.3, 1.5)))
    if name == "ordinal":
        return Ordinal(np.sort(rng.normal(0, 1.5, LEVELS - 1)) + 0.3 * np.arange(LEVELS - 1))
    return {"bernoulli": Bernoulli(), "poisson": Poisson(), "categorical": Categorical(CLASSES)}[
        name
    ]


def draw_state(
    rng: np.random.Generator,
    n_words: int,
    n_topics: int,
    family: str = "gaussian",
    *,
    selects: bool = True,
    prior: np.ndarray | None = None,
    n_covariates: int = 0,
) -> ModelState:
    """A random model; every word is possible in both channels."""
    topics = rng.dirichlet(np.full(n_words, 0.8), n_topics).T + 1e-4
    width = draw_family(np.random.default_rng(0), family).n_predictors
    return ModelState(
        topic_word=topics / topics.sum(axis=0),
        inclusion=rng.uniform(0.05, 0.95, n_words) if selects else np.ones(n_words),
        background=rng.dirichlet(np.ones(n_words)) if selects else np.zeros(n_words),
        coef=rng.normal(0, 1.5, n_topics if width == 1 else (n_topics, width)),
        family=draw_family(rng, family),
        doc_topic_prior=rng.uniform(0.5, 2.0, n_topics) if prior is None else prior,
        covariate_coef=rng.normal(0, 0.5, (n_covariates, width)) if n_covariates else None,
    )


def draw_target(rng: np.random.Generator, n_docs: int, family: str) -> np.ndarray:
    """Targets (documents,), or documents x targets where there are several."""
    if family == "several":
        return np.column_stack([draw_target(rng, n_docs, own) for own in FAMILIES[:-1]])
    if family == "gaussian":
        return rng.normal(0.3, 1.2, n_docs)
    if family == "poisson":
        return rng.poisson(1.5, n_docs).astype(float)
    levels = {"bernoulli": 2, "ordinal": LEVELS, "categorical": CLASSES}[family]
    return rng.integers(0, levels, n_docs).astype(float)


def draw_extras(rng: np.random.Generator, n_docs: int, n_covariates: int, width: int) -> dict:
    """Offsets, covariates and document weights (one of them zero), as `make_problem` takes them."""
    weight = rng.uniform(0.3, 2.5, n_docs)
    if n_docs > 1:
        weight[-1] = 0.0
    return {
        "offset": rng.normal(0, 0.4, (n_docs, width)),
        "covariates": rng.normal(0, 1, (n_docs, n_covariates)),
        "doc_weight": weight,
    }


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
    n_covariates: int = 0,
) -> Case:
    """A random case, with an empty document and a repeated word when there is room for them.

    With covariates there are offsets and document weights too.
    """
    rng = np.random.default_rng(seed)
    table = rng.poisson(mean_count, (n_docs, n_words))
    table[0, 0] += 2
    if n_docs > 2:
        table[2] = 0
    table[0] += table.sum(axis=0) == 0  # no word is left out
    hyper = Hyperparameters(
        n_topics=n_topics,
        selects=selects,
        inclusion_prior=0.3,
        bound=bound,
        learn_prior=learn_prior,
        coef_penalty=coef_penalty,
    )
    state = draw_state(rng, n_words, n_topics, family, selects=selects, n_covariates=n_covariates)
    target = draw_target(rng, n_docs, family) if supervised else None
    extras = draw_extras(rng, n_docs, n_covariates, state.n_predictors) if n_covariates else {}
    problem = make_problem(make_corpus(table), target, weight, n_jobs=1, **extras)
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
    extras: bool | None = None,
) -> Case:
    """Corpora with empty documents and words that never occur; some targets missing.

    About half of them with offsets, covariates and document weights.
    """
    family = draw(st.sampled_from(families))
    bound = draw(st.sampled_from(bounds))
    selecting = draw(st.booleans()) if selects is None else selects
    has_target = draw(st.booleans()) if supervised is None else supervised
    topics = draw(st.integers(*n_topics))
    shape = (draw(st.integers(1, max_docs)), draw(st.integers(1, max_words)))
    zeros = draw(st.sampled_from([0.0, 0.5, 0.9]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    # By the seed, not one by one: to draw each of them takes longer than most tests do with them.
    table = rng.integers(0, max_count + 1, shape) * (rng.random(shape) >= zeros)
    if not table.any():
        table[0, 0] = 1
    target = None
    if has_target:
        target = draw_target(rng, shape[0], family)
        target[rng.random(target.shape) < 0.15] = np.nan
    hyper = Hyperparameters(
        n_topics=topics, selects=selecting, inclusion_prior=draw(st.floats(0.05, 0.95)), bound=bound
    )
    beside = draw(st.booleans()) if extras is None else extras
    state = draw_state(
        rng, shape[1], topics, family, selects=selecting, n_covariates=2 if beside else 0
    )
    gamma = rng.gamma(2.0, 1.5, (shape[0], topics)) + 0.05
    more = draw_extras(rng, shape[0], 2, state.n_predictors) if beside else {}
    if beside and not np.any(more["doc_weight"] @ table):
        more["doc_weight"][-1] = 1.0  # a corpus without a word is refused elsewhere
    problem = make_problem(make_corpus(table), target, n_jobs=1, **more)
    return Case(problem, state, hyper, gamma)


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


def linear_part(problem: Problem, state: ModelState) -> np.ndarray:
    """o + ζᵀz + b, documents x predictors."""
    out = np.zeros((problem.n_docs, state.n_predictors)) + state.intercept
    if problem.offset is not None:
        out = out + problem.offset
    if problem.covariates is not None:
        out = out + problem.covariates @ state.covariate_coef
    return out


def expected_target(problem: Problem, state: ModelState, gamma: np.ndarray) -> np.ndarray:
    """Σ_t w_t E[log p(y_t)] as the families' own docstrings have it, without document weights.

    Exact for Gaussian targets, a lower bound for the others but the Poisson, which takes f as
    normal.
    """
    mean, second = second_moments(gamma)
    eta = state.coef.reshape(state.n_topics, -1)
    mu = mean @ eta
    square = np.einsum("dij,il,jl->dl", second, eta, eta)
    nu = square - mu**2
    mu = mu + linear_part(problem, state)
    value = np.zeros(problem.n_docs)
    weight = problem.target_weight.reshape(problem.n_docs, -1)
    target = problem.target.reshape(problem.n_docs, -1)
    if not weight.any():
        return value
    for t, (family, where) in enumerate(state.family.split()):
        y, m, v = target[:, t], mu[:, where], nu[:, where]
        value = value + weight[:, t] * _expected_one(family, y, m, v)
    return value


def _expected_one(family, y, mu, nu) -> np.ndarray:
    if isinstance(family, Categorical):
        chosen = np.take_along_axis(log_softmax(mu, axis=1), y.astype(int)[:, None], axis=1)
        return chosen[:, 0] - 0.25 * nu.sum(axis=1)
    mu, nu = mu[:, 0], nu[:, 0]
    if isinstance(family, Gaussian):
        delta = family.noise_variance
        return -0.5 * np.log(2 * np.pi * delta) - ((y - mu) ** 2 + nu) / (2 * delta)
    if isinstance(family, Bernoulli):
        half = 0.5 * np.sqrt(mu**2 + nu)  # Jaakkola and Jordan: (y-½)μ - log 2cosh(½√E[f²])
        return (y - 0.5) * mu - np.logaddexp(half, -half)
    if isinstance(family, Poisson):
        return y * mu - np.exp(mu + nu / 2) - gammaln(y + 1)
    return _ordinal(family, y, mu) - 0.25 * nu


def _ordinal(family, y, predictor) -> np.ndarray:
    edges = np.concatenate([[-np.inf], family.thresholds, [np.inf]])
    level = np.asarray(y).astype(int)
    return np.log(expit(edges[level + 1] - predictor) - expit(edges[level] - predictor))


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
        terms["log_p_w"] = terms["log_p_w"] + xlogy(counts * (1 - phi), state.background).sum(
            axis=1
        )
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
    """Their signed sum over all documents as often as they stand for, minus the penalty."""
    terms = uncollapsed_terms(problem, state, hyper, gamma, r)
    each = sum(-v if name in NEGATIVE else v for name, v in terms.items())
    counts = problem.doc_weights > 0  # -∞ is possible for the others, and 0·∞ is not a number
    value = each[counts] @ problem.doc_weights[counts]
    return float(value - penalty(state, hyper.coef_penalty))


def penalty(state: ModelState, size: float) -> float:
    """On η and ζ."""
    total = np.sum(state.coef**2)
    if state.covariate_coef is not None:
        total += np.sum(state.covariate_coef**2)
    return 0.5 * size * total


# ---- exact integrals over θ, two topics --------------------------------------------------------


def dirichlet_nodes(concentration: np.ndarray, n: int = 120) -> tuple[np.ndarray, np.ndarray]:
    """θ (n x 2) and weights (sum 1) of Gauss-Jacobi quadrature under Dir(concentration), K = 2."""
    a, b = concentration
    x, weight = roots_jacobi(n, b - 1, a - 1)
    first = 0.5 * (x + 1)
    return np.column_stack([first, 1 - first]), weight / weight.sum()


def target_log_density(state: ModelState, y, predictor: np.ndarray) -> np.ndarray:
    """log p(y | f) of one document's target(s) at each (row of) predictor(s) f."""
    f = np.reshape(predictor, (len(predictor), -1))
    value = np.zeros(len(f))
    for (family, where), own in zip(state.family.split(), np.atleast_1d(y), strict=True):
        value = value + _log_density_one(family, own, f[:, where])
    return value


def _log_density_one(family, y, f) -> np.ndarray:
    if isinstance(family, Categorical):
        return log_softmax(f, axis=1)[:, int(y)]
    f = f[:, 0]
    if isinstance(family, Gaussian):
        delta = family.noise_variance
        return -0.5 * np.log(2 * np.pi * delta) - (y - f) ** 2 / (2 * delta)
    if isinstance(family, Bernoulli):
        return y * f - np.logaddexp(0, f)
    if isinstance(family, Poisson):
        return y * f - np.exp(f) - gammaln(y + 1)
    return _ordinal(family, y, f)


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
