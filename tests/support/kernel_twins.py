"""Slow twins of the kernels in plain NumPy and SciPy, one document at a time.

Each function is what a kernel is compared with, and the simplest statement of what it computes.
"""

from __future__ import annotations

import numpy as np
from scipy.special import digamma, gammaln, log_softmax, polygamma

from topicfocus.families.base import row_expectation
from topicfocus.kernels.local import LocalTarget


def responsibilities(rows: np.ndarray, e: np.ndarray) -> np.ndarray:
    """r_vk = W_vk e_k / Σ_l W_vl e_l; `rows` words x topics."""
    r = rows * e
    return r / r.sum(axis=1, keepdims=True)


def target_moments(concentration: np.ndarray, coef: np.ndarray) -> tuple[float, float]:
    """Mean and variance of η·θ, from the Dirichlet's mean and covariance written out."""
    total = concentration.sum()
    mean = concentration / total
    covariance = (np.diag(mean) - np.outer(mean, mean)) / (total + 1)
    return float(coef @ mean), float(coef @ covariance @ coef)


def predictor_moments(
    target: LocalTarget, concentration: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Rows of means and variances of the predictors f_l = o_l + η_l·θ."""
    pairs = [target_moments(concentration, coef) for coef in target.coef]
    mean, variance = np.array(pairs).T
    return mean + target.offset, variance


def expected_log_likelihood(family, target: LocalTarget, concentration) -> float:
    """Σ_t w_t E[log p(y_t | f)] at the means and variances of f."""
    mean, variance = predictor_moments(target, concentration)
    scratch = np.empty((2, len(mean)))
    return row_expectation(family, target.value, target.weight, mean, variance, *scratch)


def target_gradient(family, target: LocalTarget, concentration) -> np.ndarray:
    """∇_γ Σ_t w_t E[log p(y_t | f)], by the chain rule through θ's mean and covariance."""
    total = concentration.sum()
    mean = concentration / total
    by_mean, by_variance = np.empty((2, len(target.coef)))
    mu, nu = predictor_moments(target, concentration)
    row_expectation(family, target.value, target.weight, mu, nu, by_mean, by_variance)
    jacobian = (np.eye(len(mean)) - mean[:, None]) / total  # ∂mean_i/∂γ_k at [i, k]
    gradient = np.zeros(len(mean))
    for l, coef in enumerate(target.coef):
        d_mu = coef @ jacobian
        d_nu = ((coef**2) @ jacobian - 2 * (coef @ mean) * d_mu - nu[l]) / (total + 1)
        gradient += by_mean[l] * d_mu + by_variance[l] * d_nu
    return gradient


def natural(gradient: np.ndarray, concentration: np.ndarray) -> np.ndarray:
    """F⁻¹ gradient, F the Fisher information of a Dirichlet (zero for one topic: no step)."""
    if len(concentration) == 1:
        return np.zeros(1)
    fisher = np.diag(polygamma(1, concentration)) - polygamma(1, concentration.sum())
    return np.linalg.solve(fisher, gradient)


def document_objective(rows, weight, prior, concentration, family, target: LocalTarget) -> float:
    """L(γ) of `kernels.local`."""
    log_theta = digamma(concentration) - digamma(concentration.sum())
    value = np.sum(weight * np.log(rows @ np.exp(log_theta)))
    value += gammaln(prior.sum()) - gammaln(prior).sum()
    value -= gammaln(concentration.sum()) - gammaln(concentration).sum()
    value += np.sum((prior - concentration) * log_theta)
    if np.any(target.weight > 0):
        value += expected_log_likelihood(family, target, concentration)
    return float(value)


def infer_document(
    rows, weight, prior, concentration, family, target: LocalTarget, steps
) -> np.ndarray:
    """`steps` full natural-gradient steps from `concentration`, without safeguards."""
    gamma = np.array(concentration, dtype=float)
    for _ in range(steps):
        e = np.exp(digamma(gamma))
        new = prior + weight @ responsibilities(rows, e)
        if np.any(target.weight > 0):
            push = natural(target_gradient(family, target, gamma), gamma)
            new = np.maximum(new + push, 0.1 * gamma)
        gamma = new
    return gamma


def log_posterior(rows, weight, prior, theta) -> float:
    """Σ_v c m log(W_v·θ) + Σ_k a_k log θ_k."""
    return float(np.sum(weight * np.log(rows @ theta)) + np.sum(prior * np.log(theta)))


def map_document(rows, weight, prior, steps=20_000, tolerance=1e-13) -> np.ndarray:
    """θ̂ by its fixed point θ ← (a + Σ c m r)/(Σ a + Σ c m), run to the end."""
    theta = prior / prior.sum()
    for _ in range(steps):
        new = prior + (weight @ responsibilities(rows, theta) if len(rows) else 0.0)
        new = new / new.sum()
        if np.abs(new - theta).max() < tolerance:
            return new
        theta = new
    return theta


def mix_curvature(rows, weight, prior, theta) -> np.ndarray:
    """-θθᵀ∘∇²f = Σ_v c m r_v r_vᵀ + diag(a), topics x topics."""
    r = responsibilities(rows, theta)
    return r.T @ (weight[:, None] * r) + np.diag(prior)


def mix_response(rows, weight, prior, theta, push) -> np.ndarray:
    """u of [H 1; 1ᵀ 0][u; μ] = [g; 0], H = -∇²f: how θ̂ answers to a push g."""
    size = len(prior)
    system = np.ones((size + 1, size + 1))
    system[:size, :size] = mix_curvature(rows, weight, prior, theta) / np.outer(theta, theta)
    system[size, size] = 0.0
    return np.linalg.solve(system, np.append(push, 0.0))[:size]


def class_rows(target, predictor) -> tuple[np.ndarray, np.ndarray]:
    """(log p(y_d | f_d), p) for classes, p_dc ∝ e^{f_dc}."""
    log_p = log_softmax(predictor, axis=1)
    return log_p[np.arange(len(target)), target.astype(int)], np.exp(log_p)


def uncollapsed_gradients(
    words, counts, inclusion, log_topics, prior, gamma, logits, family, target: LocalTarget
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(∂/∂logits, ∂/∂γ, c r) of one document, the formulas of `kernels.uncollapsed`."""
    log_theta = digamma(gamma) - digamma(gamma.sum())
    log_r = logits - np.logaddexp.reduce(logits, axis=1, keepdims=True)
    r = np.exp(log_r)
    pull = log_theta + inclusion[words, None] * log_topics[words] - log_r
    d_logits = counts[:, None] * r * (pull - np.sum(r * pull, axis=1, keepdims=True))
    assigned = counts[:, None] * r
    surplus = prior + assigned.sum(axis=0) - gamma
    d_gamma = polygamma(1, gamma) * surplus - polygamma(1, gamma.sum()) * surplus.sum()
    if np.any(target.weight > 0):
        d_gamma = d_gamma + target_gradient(family, target, gamma)
    return d_logits, d_gamma, assigned


def adam(value, gradients, rate=0.025, epsilon=1e-8) -> np.ndarray:
    """Textbook Adam, uphill, over a sequence of gradients (zeros included)."""
    value = np.array(value, dtype=float)
    m = np.zeros_like(value)
    v = np.zeros_like(value)
    for t, gradient in enumerate(gradients, start=1):
        m = 0.9 * m + 0.1 * gradient
        v = 0.999 * v + 0.001 * gradient**2
        value = value + rate * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + epsilon)
    return value


def words_beside(counts, topics, weight, mixes, doc_weight, roots: bool) -> np.ndarray:
    """How often each word stands beside the tokens of each topic, the sums of `add_beside`.

    `counts` is documents x words and dense, `topics` words x topics, `weight` m of the words.
    """
    out = np.zeros(topics.shape)
    for d, row in enumerate(counts):
        present = np.flatnonzero(row)
        joint = topics[present] * mixes[d]
        explained = (row * weight)[present, None] * joint / joint.sum(axis=1, keepdims=True)
        for i, v in enumerate(present):
            rest = np.delete(explained, i, axis=0).sum(axis=0)
            if rest.sum() > 0:
                often = np.sqrt(row[v]) if roots else row[v]
                out[v] += doc_weight[d] * often * rest / rest.sum()
    return out


def window_counts(documents, n_words: int, window: int, exact: bool) -> tuple[np.ndarray, int]:
    """Windows with each pair of words, and their number: every window written out."""
    together = np.zeros((n_words, n_words), dtype=int)
    n_windows = 0
    for document in documents:
        present: set[int] = set()
        for start in range(max(len(document) - window, 0) + 1):
            inside = list(document[start : start + window])
            if exact or start == 0:
                present = set(inside)
            else:
                present = (present - {document[start - 1]}) | {inside[-1]}
            words = sorted(word for word in present if word >= 0)
            together[np.ix_(words, words)] += 1
            n_windows += 1
    return together, n_windows
