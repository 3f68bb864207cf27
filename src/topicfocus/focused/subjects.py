"""Subjects of the documents, from all words; and topics, a subject with a sign each.

What a document is about depends mostly on words that are not associated with the target. LDA of all
words gives T subjects with proportions θ_dt, and the lift of each word in documents of a subject,

    lift_vt = P(t | v) / P(t),   P(t | v) ∝ Σ_d √c_dv θ_dt + s P(t).

A topic is a cell (t, e): a subject, and one of the directions e of the association (up or down for
one linear predictor, each class for classes). Words are divided among the cells,

    β_v,te ∝ n_v · P(t | v) · P(e | v),   P(t | v) ∝ lift_vt^g,   P(e | v) ∝ exp(½ρ u_v·e),

n_v being the word's weighted count, u_v its signed association. In logits this is additive:
frequency + subject + sign.

The user may give seed words of a topic. A seeded topic is one more subject beside those of the LDA.
Documents belong to it by their seed words, and the lift of any other word is how much more often it
occurs in these documents. With n_ds the number of seed words of document d (roots of counts, like
all others),

    P(s | d) = n_ds / (1 + n_ds),   lift_vs = [(C_vs + 5) / (C_v P(s) + 5) / 1.5]³,
    C_vs = Σ_d √c_dv P(s | d),   C_v = Σ_d √c_dv.

The ratio is that of the observed to the expected occurrences. A word belongs to the topic rather
than to subjects at large if it is above 1.5, so that frequent words of one sign do not fill the
topic; the power makes the topic prevail over a subject that is found in the same documents. Words
are divided among subjects by their lifts as without seeds, and a seeded topic has the signs of
its seed words: P(e | s) is the mean of P(e | v) over their tokens. The seed words themselves belong
to their topic. The optimisation moves topics little from where they start, and the prior
holds each at these words.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from scipy import sparse
from scipy.special import softmax

from topicfocus.corpus import Corpus
from topicfocus.counts import Counts, in_memory
from topicfocus.families import Gaussian
from topicfocus.focused.data import FocusData, drawn_by_content, sampled
from topicfocus.focused.settings import FocusSettings, SharedStages
from topicfocus.glm import Column
from topicfocus.joint.coordinate import CoordinateSolver
from topicfocus.joint.initialize import perturbed_start
from topicfocus.joint.settings import Hyperparameters
from topicfocus.joint.solver import run
from topicfocus.kernels.threads import map_in_order
from topicfocus.model import ModelState, Problem, make_problem
from topicfocus.passes import dot, transposed_dot, transposed_dots
from topicfocus.proportions import topic_proportions

#: α of the LDA: small, since a document has few subjects.
SUBJECT_PRIOR = 0.1
#: Largest numbers of documents and of epochs of the LDA, and of documents that are clustered.
MOST_DOCUMENTS, MOST_EPOCHS, MOST_CLUSTERED = 10_000, 40, 3_000
#: Relative change of the bound that ends the LDA; with 2e-4 there are 50% more epochs.
TOLERANCE = 5e-4
#: Two digits are enough for subjects. 14 relaxed epochs have a higher bound than 60 plain ones.
SOLVER = CoordinateSolver(local_tolerance=1e-2, relaxation=1.7)
#: Steps of a clustering, and candidates compared for each of its centres.
CLUSTER_STEPS, CANDIDATES = 10, 8
#: Clusterings, of which the best is used. Real data do not need it (experiments/ABLATION.md), but
#: with one clustering two of eight simulated subjects were merged in six of eight data sets.
CLUSTERINGS = 4
#: s, the number of documents without a particular subject that are added to those of each word.
SMOOTHING = 20.0
#: Largest |u|, so that no rare word is a topic by itself.
LARGEST_ASSOCIATION = 3.0
#: g, the power of the lift of a word in a subject, and ρ, how strongly words are divided by sign.
SHARPNESS, POLARITY = 3.0, 6.0
#: Tokens that are added to the occurrences of a word beside seed words, and to those expected.
SHRINKAGE = 5.0
#: Ratio of observed to expected occurrences from which a word belongs to the topic, and its power.
THRESHOLD, POWER = 1.5, 3.0
#: Fraction of the tokens of a seed word that its topic starts with.
OWN_FRACTION = 0.95


@dataclass(frozen=True, kw_only=True)
class Subjects:
    """The subjects of the documents.

    Attributes
    ----------
    lift : array (words, subjects)
        P(t | v) / P(t).
    share : array (subjects,)
        P(t), the mean proportions of the documents.
    """

    lift: np.ndarray
    share: np.ndarray

    @property
    def n_subjects(self) -> int:
        return len(self.share)


def subjects_of(
    data: FocusData, settings: FocusSettings, shared: SharedStages | None = None
) -> Subjects | None:
    """The subjects of the documents, as many as the topics need; None for one topic."""
    n_seeded = len(settings.seeds)
    if not settings.plan.has_subjects or (settings.n_topics == 1 and not n_seeded):
        return None
    n_subjects = n_subjects_of(settings.n_topics - n_seeded, n_directions(data.columns))
    shared = shared or SharedStages()
    return shared.once(f"{n_subjects} subjects", lambda: find_subjects(data.train, n_subjects))


def n_directions(columns: Sequence[Column]) -> int:
    """Directions of the association: one per class, up and down for any other target."""
    return sum(column.width if column.width > 1 else 2 for column in columns)


def find_subjects(problem: Problem, n_subjects: int) -> Subjects:
    """LDA of all words of the documents, or of a sample of `MOST_DOCUMENTS`.

    Documents are sampled by their content, so that subjects do not depend on their order, and two
    copies are equivalent to one document of weight two.
    """
    n_words = problem.corpus.n_words
    if n_subjects < 2:
        return Subjects(lift=np.ones((n_words, 1)), share=np.ones(1))
    problem = sampled(problem, MOST_DOCUMENTS)
    corpus = Corpus(in_memory(problem.corpus.counts), problem.corpus.vocabulary)
    problem, weight = problem.with_corpus(corpus), problem.doc_weight
    words = make_problem(corpus, None, n_jobs=problem.n_jobs, doc_weight=weight)
    state = _lda(words, n_subjects)
    theta = topic_proportions(corpus, state, tolerance=1e-2, n_jobs=problem.n_jobs)
    share = np.average(theta, axis=0, weights=problem.doc_weights)
    weighted = theta * problem.doc_weights[:, None]
    uses = transposed_dot(corpus.counts.sqrt(), weighted) + SMOOTHING * share
    return Subjects(lift=uses / uses.sum(axis=1, keepdims=True) / share, share=share)


def _lda(problem: Problem, n_subjects: int) -> ModelState:
    hyper = Hyperparameters(n_topics=n_subjects, selects=False)
    prior, rng = np.full(n_subjects, SUBJECT_PRIOR), np.random.default_rng(0)
    start = perturbed_start(problem, hyper, Gaussian(1.0), prior, rng)
    start = replace(start, topic_word=clustered_topics(problem, n_subjects))
    found = run(SOLVER, problem, hyper, start, rng, max_epochs=MOST_EPOCHS, tol=TOLERANCE)
    return found.model


def clustered_topics(problem: Problem, n: int) -> np.ndarray:
    """Initial topics from clusters of documents, words x clusters, so that LDA misses no subject.

    The best of several spherical k-means of √(c_dv/n_v), started by k-means++. Half of each topic
    is the frequencies of the words.
    """
    word_count = np.maximum(problem.word_counts, 1e-300)
    problem = sampled(problem, MOST_CLUSTERED)
    counts = problem.corpus.counts
    rows = sparse.csr_array(counts.sqrt() / np.sqrt(word_count))
    size = np.sqrt(np.asarray(rows.power(2).sum(axis=1)).ravel())
    rows.data *= np.repeat(1 / np.maximum(size, 1e-300), np.diff(rows.indptr))
    alone = replace(problem, n_jobs=1)  # one thread per clustering
    tried = map_in_order(partial(_clusters, alone, rows, n), range(CLUSTERINGS), problem.n_jobs)
    nearest = max(tried, key=lambda found: found[0])[1]
    topics = np.asarray((_members(problem, nearest, n) @ counts).todense()).T + 1e-12
    topics = topics / topics.sum(axis=0)
    return 0.5 * topics + 0.5 * (word_count / word_count.sum())[:, None]


def _clusters(
    problem: Problem, rows: sparse.csr_array, n: int, start: int
) -> tuple[float, np.ndarray]:
    """Σ_d w_d cos(d, its centre), and the cluster of each document."""
    centres = _far_apart(problem, rows, n, start)
    nearest = np.full(problem.n_docs, -1)
    for _ in range(CLUSTER_STEPS):
        before, cosines = nearest, rows @ centres.T
        nearest = np.argmax(cosines, axis=1)
        if np.array_equal(nearest, before):
            break
        centres = (_members(problem, nearest, n) @ rows).toarray()
        centres /= np.maximum(np.linalg.norm(centres, axis=1, keepdims=True), 1e-300)
    return float(problem.doc_weights @ cosines.max(axis=1)), nearest


def _members(problem: Problem, nearest: np.ndarray, n: int) -> sparse.csr_array:
    """Clusters x documents, with the weight of each document in its cluster."""
    everyone = np.arange(problem.n_docs)
    return sparse.csr_array((problem.doc_weights, (nearest, everyone)), shape=(n, problem.n_docs))


def _far_apart(problem: Problem, rows: sparse.csr_array, n: int, start: int) -> np.ndarray:
    """Centres by greedy k-means++: rows with probabilities f_d = (1 - cosine to the nearest)².

    Each centre is the one of several candidates that leaves the smallest Σ_d w_d f_d. Each `start`
    has its own draws.
    """
    far, chosen = np.ones(rows.shape[0]), []
    for i in range(n):
        luck = drawn_by_content(problem, 1 + start * n + i)
        # The smallest of exponential variables with these rates, which are equal for copies.
        drawn = np.unique(-np.log(luck) / far, return_index=True)[1][:CANDIDATES]
        near = rows @ np.ascontiguousarray(rows[drawn].toarray().T)
        left = np.minimum(far[:, None], np.maximum(1 - near, 1e-6) ** 2)
        best = int(np.argmin(problem.doc_weights @ left))
        chosen.append(int(drawn[best]))
        far = left[:, best]
    return rows[chosen].toarray()


def n_subjects_of(n_topics: int, n_directions: int) -> int:
    """The smallest number of subjects that gives enough topics, one per subject and direction."""
    return max(1, math.ceil(n_topics / n_directions))


def sign_fractions(association: np.ndarray, directions: Sequence[np.ndarray]) -> np.ndarray:
    """P(e | v), words x directions."""
    push = np.clip(association, -LARGEST_ASSOCIATION, LARGEST_ASSOCIATION) @ np.array(directions).T
    return softmax(0.5 * POLARITY * push, axis=1)


def subject_fractions(lift: np.ndarray) -> np.ndarray:
    """P(t | v), words x subjects."""
    about = lift**SHARPNESS
    return about / about.sum(axis=1, keepdims=True)


def cell_words(word_count: np.ndarray, about: np.ndarray, toward: np.ndarray) -> np.ndarray:
    """n_v P(t | v) P(e | v), words x directions x subjects."""
    return word_count[:, None, None] * toward[:, :, None] * about[:, None, :]


def choose_cells(cells: np.ndarray, n_topics: int) -> np.ndarray:
    """The cells that become topics, words x topics, each a distribution.

    Cells with most tokens are chosen, but every direction gets a topic before any gets a second
    one. Topics are ordered by direction, then by subject.
    """
    n_words = len(cells)
    tokens = cells.sum(axis=0)
    rank = np.argsort(np.argsort(-tokens, axis=1, kind="stable"), axis=1)
    order = np.lexsort([-tokens.ravel(), rank.ravel()])
    chosen = np.sort(order[:n_topics])
    topics = cells.reshape(n_words, -1)[:, chosen]
    return topics / topics.sum(axis=0)


# ---- seed words ----------------------------------------------------------------------------------


def seed_lift(
    words: Counts, weight: np.ndarray, seeds: Sequence[np.ndarray], n_jobs: int | None = None
) -> np.ndarray:
    """Lift of every word in the documents of each seeded topic, words x seeded topics.

    `words` are roots of counts, `weight` the weights of the documents, and `seeds` the columns of
    the seed words of each topic.
    """
    chosen = np.zeros((words.shape[1], len(seeds)))
    for s, columns in enumerate(seeds):
        chosen[columns, s] = 1.0
    number = dot(words, chosen, n_jobs)
    belongs = number / (1.0 + number)
    everywhere = np.ones((len(weight), 1))
    uses, _ = transposed_dots(
        words, weight[:, None] * np.hstack([belongs, everywhere]), everywhere, n_jobs
    )
    expected = uses[:, -1:] * (weight @ belongs / weight.sum())
    return ((uses[:, :-1] + SHRINKAGE) / (expected + SHRINKAGE) / THRESHOLD) ** POWER


def seeded_words(
    word_count: np.ndarray,
    about: np.ndarray,
    toward: np.ndarray,
    seeds: Sequence[np.ndarray],
) -> np.ndarray:
    """Tokens of the seeded topics, words x seeded topics.

    `about` is P(s | v) of the seeded subjects, `toward` is P(e | v), words x directions.
    """
    topics = np.empty_like(about)
    for s, columns in enumerate(seeds):
        count = np.maximum(word_count[columns], 1e-300)
        signs = count @ toward[columns] / count.sum()
        topics[:, s] = word_count * about[:, s] * (toward @ signs)
    for s, columns in enumerate(seeds):
        topics[columns] *= 1.0 - OWN_FRACTION
        topics[columns, s] = OWN_FRACTION * np.maximum(word_count[columns], 1e-300)
    return topics
