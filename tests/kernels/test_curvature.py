"""The curvature of a topic mix, factorised over words and over topics, beside the matrix itself."""

import kernel_twins as reference
import numpy as np
import pytest
from kernel_cases import entry, random_rows

from topicfocus.kernels.constrained import response_at_mode
from topicfocus.kernels.curvature import (
    OVER_TOPICS,
    VECTOR,
    factorise_curvature,
    newton_work,
    solve_factorised,
    solve_over_words,
    sum_words,
    words_to_solve,
)
from topicfocus.kernels.local import LocalBudget
from topicfocus.kernels.proportions import map_document
from topicfocus.kernels.word_sums import pad_document

response_at_mode, map_document = entry(response_at_mode), entry(map_document)
factorise_curvature, sum_words = entry(factorise_curvature), entry(sum_words)
words_to_solve, pad_document = entry(words_to_solve), entry(pad_document)
solve_factorised, solve_over_words = entry(solve_factorised), entry(solve_over_words)

BUDGET = LocalBudget(50, 1e-8)
#: (words, topics, smallest prior): none and one, as many as topics, tiny priors.
CASES = [(0, 12, 1.0), (1, 12, 0.2), (5, 5, 1.0), (7, 20, 0.05), (11, 50, 1e-3), (1, 1, 0.5)]


class Case:
    """A document with zeros in its rows, and its first word twice."""

    def __init__(self, n, n_topics, prior, seed=0):
        rng = np.random.default_rng(seed)
        self.n, self.n_topics = n, n_topics
        self.by_word = random_rows(rng, n, n_topics, 0.3)
        if n > 2:
            self.by_word[-1] = self.by_word[0]
        self.counts = rng.uniform(0.5, 4.0, n)
        self.prior = prior * rng.uniform(1.0, 3.0, n_topics)
        self.theta = rng.dirichlet(np.ones(n_topics)) + 1e-6
        self.theta /= self.theta.sum()
        self.pushes = rng.normal(size=(3, n_topics))
        self.rows = np.zeros((n_topics, n + 16))
        self.rows[:, :n] = self.by_word.T
        self.weight = np.zeros(n + 16)
        self.weight[:n] = self.counts
        self.padded = -(-n // VECTOR) * VECTOR
        pad_document(self.rows, self.weight, n, self.padded)
        self.work = newton_work(n_topics, n + 16)
        if n <= n_topics:
            self.work.by_word[:n, :n_topics] = self.by_word

    def document(self):
        return self.rows, self.weight, self.padded, self.prior

    def factorise(self, over):
        factorise_curvature(*self.document(), self.theta, over, self.work)

    def solve(self, over, right):
        x = right.copy()
        if over == OVER_TOPICS:
            solve_factorised(self.work.matrix, self.n_topics, x)
        else:
            solve_over_words(self.rows, self.padded, self.prior, over, self.work, x)
        return x


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("words", [True, False], ids=["over words", "over topics"])
def test_solutions(case, seed, words):
    case = Case(*case, seed)
    over = case.n if words else OVER_TOPICS
    case.factorise(over)
    matrix = reference.mix_curvature(case.by_word, case.counts, case.prior, case.theta)
    # M 1 = θ∘∇f, which Newton's method relies on.
    found = case.work.gradient[: case.n_topics]
    np.testing.assert_allclose(found, matrix.sum(axis=1), rtol=1e-13)
    for right in (case.theta, *(case.theta * case.pushes)):
        expected = np.linalg.solve(matrix, right)
        found = case.solve(over, right)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10 * np.abs(expected).max())


@pytest.mark.parametrize(("n", "n_topics"), [(0, 12), (1, 12), (6, 13), (9, 20), (31, 50)])
def test_sums_over_words(n, n_topics):
    """Along the rows of both copies, and of words that the scratch has had before."""
    case = Case(n, n_topics, 1.0)
    z = np.random.default_rng(n).normal(size=n + 16)
    z[n:] = 0.0
    expected = case.by_word.T @ z[:n] if n else np.zeros(n_topics)
    case.work.by_word[n:] = 7.0  # of a longer document
    out = case.work.mine
    for over in (n, OVER_TOPICS):
        sum_words(case.rows, case.padded, over, z, case.work.by_word, out)
        np.testing.assert_allclose(out[:n_topics], expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("case", [(11, 20, 0.3), (7, 50, 0.1), (30, 50, 1.0), (40, 20, 0.5)])
@pytest.mark.parametrize("away", [0.0, 0.003, 0.02, 0.1, 1.0])
def test_answers_by_the_factor_of_another_mix(case, away):
    """Refined, or by a new factor: the answer is that of the mode, to a percent."""
    case = Case(*case)
    over = words_to_solve(*case.document(), case.work.by_word)
    mode = np.full(case.n_topics, 1 / case.n_topics)
    map_document(*case.document(), mode, BUDGET, over, case.work)
    noise = np.random.default_rng(1).normal(size=case.n_topics)
    other = mode * np.exp(away * noise)
    factorise_curvature(*case.document(), other / other.sum(), over, case.work)
    norm = np.ones(len(case.weight))
    norm[: case.n] = case.by_word @ mode
    scratch, out = np.empty(len(case.weight)), np.empty(case.n_topics)
    for push in case.pushes:
        response_at_mode(
            push, case.rows, case.weight, case.padded, norm, mode, case.prior, over, case.work,
            scratch, out,
        )  # fmt: skip
        expected = reference.mix_response(case.by_word, case.counts, case.prior, mode, push)
        np.testing.assert_allclose(out, expected, rtol=0, atol=0.02 * np.abs(expected).max())
        factorise_curvature(*case.document(), other / other.sum(), over, case.work)
