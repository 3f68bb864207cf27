"""make_reviews: opinions depend on the rating, nothing else does, and the words are readable."""

import pickle

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer

from topicfocus.datasets import make_reviews


@pytest.fixture(scope="module")
def reviews():
    return make_reviews(n_docs=3000, random_state=0)


@pytest.fixture(scope="module")
def dense(reviews):
    return reviews.counts.toarray()


def columns(reviews, group):
    return [reviews.vocabulary.index(word) for word in reviews.groups[group]]


def correlations(dense, values):
    centred = dense - dense.mean(axis=0)
    values = values - values.mean()
    return (values @ centred) / np.sqrt((values @ values) * (centred**2).sum(axis=0))


def test_vectorized_texts_are_the_counts(reviews):
    vectorizer = CountVectorizer()
    counts = vectorizer.fit_transform(reviews.texts)
    assert tuple(vectorizer.get_feature_names_out()) == reviews.vocabulary
    np.testing.assert_array_equal(counts.toarray(), reviews.counts.toarray())


def test_rating_comes_from_the_sentiment_mix(reviews):
    np.testing.assert_allclose(reviews.doc_topic.sum(axis=1), 1)
    residual = reviews.rating - reviews.doc_topic @ reviews.coef
    # Noise of variance 0.25, and 1/12 from rounding.
    assert residual.std() == pytest.approx(np.sqrt(0.25 + 1 / 12), rel=0.1)


def test_opinions_depend_on_the_rating(reviews, dense):
    correlation = correlations(dense, reviews.rating)
    assert correlation[columns(reviews, "rave")].min() > 0.2
    assert correlation[columns(reviews, "warm")].min() > 0.1
    assert correlation[columns(reviews, "weak")].max() < -0.1
    assert correlation[columns(reviews, "awful")].max() < -0.2
    # Mixed words say "in the middle", which is not a straight line.
    middle = correlations(dense, -np.abs(reviews.rating - 5.5))
    assert middle[columns(reviews, "mixed")].min() > 0.1


def test_other_words_do_not_depend_on_the_rating(reviews, dense):
    others = dense[:, ~reviews.relevant]
    bound = 4.5 / np.sqrt(len(dense))  # 148 words, chance correlations have sd 1 / sqrt(n)
    assert np.abs(correlations(others, reviews.rating)).max() < bound
    assert np.abs(correlations(others, np.abs(reviews.rating - 5.5))).max() < bound


def test_sentiment_target():
    rated = make_reviews(n_docs=500, random_state=1)
    binary = make_reviews(n_docs=500, target="sentiment", random_state=1)
    assert set(binary.target) == {0.0, 1.0}
    assert 0.4 < binary.target.mean() < 0.6
    np.testing.assert_array_equal(binary.target, rated.rating > 5.5)  # the same reviews
    np.testing.assert_array_equal(binary.rating, rated.rating)
    assert binary.texts == rated.texts


def test_same_seed_same_data_other_seed_other_data():
    def draw(seed):
        return pickle.dumps(make_reviews(n_docs=40, random_state=seed))

    assert draw(3) == draw(3) == draw(np.random.default_rng(3)) != draw(4)


def test_doc_length_per_document_may_be_zero():
    lengths = [0, 5, 0, 90, 0]
    reviews = make_reviews(n_docs=5, doc_length=lengths, random_state=0)
    assert [len(text.split()) for text in reviews.texts] == lengths
    np.testing.assert_array_equal(reviews.counts.sum(axis=1), lengths)
    vectorizer = CountVectorizer(vocabulary=reviews.vocabulary)
    np.testing.assert_array_equal(
        vectorizer.transform(reviews.texts).toarray(), reviews.counts.toarray()
    )


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"n_docs": 0}, ValueError, "n_docs must be at least 1"),
        ({"doc_length": -3}, ValueError, "doc_length must be at least 0, got -3"),
        ({"n_themes": 9}, ValueError, "n_themes must be at most 8, got 9"),
        ({"target": "stars"}, ValueError, 'target must be "rating" or "sentiment", got \'stars\''),
    ],
)
def test_bad_parameters(options, error, message):
    with pytest.raises(error, match=message):
        make_reviews(**{"n_docs": 5, **options})


# ---- planted themes ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def places():
    return make_reviews(n_docs=3000, n_themes=8, random_state=0)


def test_components_are_themes_by_directions(places):
    np.testing.assert_allclose(places.components.sum(axis=1), 1)
    names = [f"{theme}_{way}" for theme in places.themes for way in ("praise", "blame")]
    for topic, name in zip(places.components, names, strict=True):
        assert set(np.flatnonzero(topic)) == set(columns(places, name))
    np.testing.assert_array_equal(places.relevant, places.components.max(axis=0) > 0)
    np.testing.assert_array_equal(places.coef, np.tile([10.0, 1.0], 8))


def test_the_rating_adds_up_directions(places):
    added = (places.doc_theme * places.direction).sum(axis=1)
    # 92% of the opinions of a theme are of its direction, on a scale of 9.
    residual = places.rating - (5.5 + 0.84 * 4.5 * added)
    assert residual.std() == pytest.approx(np.sqrt(0.25 + 1 / 12), rel=0.1)
    binary = make_reviews(300, n_themes=3, target="sentiment", random_state=1)
    assert set(binary.target) == {0.0, 1.0}


def test_opinions_depend_on_the_rating_and_themes_do_not(places):
    correlation = correlations(places.counts.toarray(), places.rating)
    for theme in places.themes:
        assert correlation[columns(places, f"{theme}_praise")].mean() > 0.05
        assert correlation[columns(places, f"{theme}_blame")].mean() < -0.05
    bound = 4.5 / np.sqrt(len(places.rating))
    assert np.abs(correlation[~places.relevant]).max() < bound
