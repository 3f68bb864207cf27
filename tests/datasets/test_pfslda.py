"""make_pfslda draws from the process that it documents."""

import pickle

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit

from topicfocus.datasets import make_pfslda


@pytest.fixture(scope="module")
def gaussian():
    return make_pfslda(random_state=0)


@pytest.fixture(scope="module")
def bernoulli():
    return make_pfslda(family="bernoulli", random_state=0)


def test_shapes_and_supports(gaussian):
    assert gaussian.counts.shape == (5000, 100)
    assert gaussian.target.shape == (5000,)
    assert gaussian.components.shape == (5, 100)
    assert gaussian.doc_topic.shape == (5000, 5)
    np.testing.assert_allclose(gaussian.components.sum(axis=1), 1)
    np.testing.assert_allclose(gaussian.background.sum(), 1)
    np.testing.assert_allclose(gaussian.doc_topic.sum(axis=1), 1)
    assert gaussian.relevant.sum() == 50
    assert (gaussian.components[:, ~gaussian.relevant] == 0).all()
    assert (gaussian.background[gaussian.relevant] == 0).all()
    np.testing.assert_array_equal(gaussian.coef, np.linspace(-2, 2, 5))
    assert (gaussian.noise_variance, gaussian.inclusion_prior) == (0.25, 0.25)


def test_share_of_relevant_tokens_is_the_prior(gaussian):
    included = gaussian.counts[:, gaussian.relevant].sum(axis=1)
    assert included.mean() / 200 == pytest.approx(0.25, abs=4 * np.sqrt(0.25 * 0.75 / 1e6))
    # Switches are drawn token by token: a binomial number per document, not a fixed share.
    assert included.var() == pytest.approx(200 * 0.25 * 0.75, rel=0.1)


def test_words_follow_topics_and_background(gaussian):
    counts, relevant = gaussian.counts.toarray(), gaussian.relevant
    expected = 200 * (0.25 * gaussian.doc_topic @ gaussian.components + 0.75 * gaussian.background)
    totals, expected_totals = counts.sum(axis=0), expected.sum(axis=0)
    statistic = ((totals - expected_totals) ** 2 / expected_totals).sum()
    assert stats.chi2.sf(statistic, df=99) > 1e-4
    # And document by document: what a document has more of a word than the average document does
    # is, on average, what its own topic mix says. Without the mix, the slope would be 0.
    mean = expected[:, relevant]
    excess = mean - mean.mean(axis=0)
    slope = (excess * counts[:, relevant]).sum() / (excess**2).sum()
    error = np.sqrt((excess**2 * mean).sum()) / (excess**2).sum()  # variance of a count <= mean
    assert error < 0.02
    assert slope == pytest.approx(1, abs=4 * error)


def test_gaussian_target(gaussian):
    residual = gaussian.target - gaussian.doc_topic @ gaussian.coef
    assert residual.mean() == pytest.approx(0, abs=4 * 0.5 / np.sqrt(5000))
    assert residual.var() == pytest.approx(0.25, rel=0.1)
    assert stats.kstest(residual / 0.5, "norm").pvalue > 1e-4
    assert np.corrcoef(gaussian.target, gaussian.doc_topic @ gaussian.coef)[0, 1] > 0.7


def test_bernoulli_target(bernoulli):
    assert bernoulli.noise_variance is None
    assert set(np.unique(bernoulli.target)) == {0.0, 1.0}
    np.testing.assert_array_equal(bernoulli.coef, np.linspace(-4, 4, 5))
    probability = expit(bernoulli.doc_topic @ bernoulli.coef)
    for low, high in [(0, 0.3), (0.3, 0.5), (0.5, 0.7), (0.7, 1)]:
        part = (probability >= low) & (probability < high)
        expected, n = probability[part].mean(), part.sum()
        assert bernoulli.target[part].mean() == pytest.approx(
            expected, abs=4 * np.sqrt(expected * (1 - expected) / n)
        )


def test_same_seed_same_data_other_seed_other_data():
    def draw(seed):
        return pickle.dumps(make_pfslda(50, 20, random_state=seed))

    assert draw(3) == draw(3) == draw(np.random.default_rng(3)) != draw(4)


def test_doc_length_per_document_may_be_zero():
    lengths = np.array([0, 7, 300, 0])
    corpus = make_pfslda(4, lengths, random_state=0)
    np.testing.assert_array_equal(corpus.counts.sum(axis=1), lengths)
    assert make_pfslda(4, 0, random_state=0).counts.nnz == 0


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"n_docs": 0}, ValueError, "n_docs must be at least 1, got 0"),
        ({"n_irrelevant": 0}, ValueError, "set inclusion_prior=1 or n_irrelevant"),
        ({"inclusion_prior": np.nan}, ValueError, "inclusion_prior must be in"),
        ({"family": "poisson"}, ValueError, 'family must be "gaussian" or "bernoulli"'),
        ({"noise_variance": -1}, ValueError, "noise_variance must be at least 0"),
        ({"doc_length": -1}, ValueError, "doc_length must be at least 0, got -1"),
        ({"doc_length": 1.5}, TypeError, "Cannot cast"),
        ({"coef": [1, 2]}, ValueError, r"coef has shape \(2,\)"),
        ({"doc_topic_prior": 0}, ValueError, "doc_topic_prior must be greater than 0"),
    ],
)
def test_bad_parameters(options, error, message):
    with pytest.raises(error, match=message):
        make_pfslda(**{"n_docs": 10, "doc_length": 5, **options})
