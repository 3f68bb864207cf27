"""Phrases: chosen by association and by targets, counted once, the same everywhere."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

import topicfocus
from topicfocus import FocusedTopicRegressor, TokenCounter
from topicfocus.text.phrases import cross_fitted, signals
from topicfocus.text.stop_words import WordRoles, words_of

ROLES = WordRoles(frozenset(words_of("english")), 2)
#: A phrase that negates or qualifies, and the words that it should not be taken for.
PAIRS = [
    *(("not good", "good"), ("not great", "great"), ("not worth", "worth")),
    *(("no complaints", "complaints"), ("no problem", "problem"), ("never again", "again")),
    *(("not bad", "bad"), ("not bad at all", "bad"), ("nothing special", "special")),
    *(("can't recommend enough", "can't recommend"), ("never disappoints", "disappoints")),
    *(("not disappointed", "disappointed"), ("no flavor", "flavor"), ("wasn't bad", "bad")),
    *(("didn't like", "like"), ("won't return", "return"), ("not impressed", "impressed")),
    *(("nothing wrong", "wrong"), ("no side effects", "side effects"), ("can't wait", "wait")),
]


def reviews(n=1600, seed=0):
    """Ratings that negations turn round: each phrase and its words occur in reviews."""
    rng = np.random.default_rng(seed)
    filler = ["the food", "our table", "this place", "my order", "the staff", "a visit", "lunch"]
    texts, target = [], []
    for _ in range(n):
        phrase, words = PAIRS[rng.integers(len(PAIRS))]
        negated = rng.random() < 0.5
        said = phrase if negated else words
        texts.append(
            f"{rng.choice(filler)}, {said}. {rng.choice(filler)} and {rng.choice(filler)}."
        )
        sign = 1 if PAIRS.index((phrase, words)) % 2 else -1
        target.append(3 + sign * (1 if negated else -1) + 0.3 * rng.standard_normal())
    return (
        texts,
        np.array(target),
        {phrase: 1 if i % 2 else -1 for i, (phrase, _) in enumerate(PAIRS)},
    )


def test_topics_predict_the_pairs_in_the_right_order():
    texts, target, sign = reviews()
    model = make_pipeline(
        TokenCounter(max_df=1.0),
        FocusedTopicRegressor(6, inclusion_prior=0.8, max_epochs=2, random_state=0),
    ).fit(texts, target)
    phrase, words = (
        model.predict([f"{said}." for said in column]) for column in zip(*PAIRS, strict=True)
    )
    right = [sign[said] * gap > 0.3 for (said, _), gap in zip(PAIRS, phrase - words, strict=True)]
    # Of three phrases with *bad*, one is better and two are worse than *bad* alone.
    assert sum(right) >= len(PAIRS) - 1


def test_a_phrase_consumes_its_words_and_segments_end_it():
    counter = TokenCounter(vocabulary=["not good", "good", "ice cream", "cream"])
    texts = ["It is NOT good", "not. Good", "ice-cream cream", "don’t, ice\n\ncream", "not<br>good"]
    found = counter.fit_transform(texts).toarray().astype(int).tolist()
    assert found == [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 1], [0, 0, 0, 1], [0, 1, 0, 0]]
    assert counter.spans("Ice cream, no cream") == [
        *((0, 9, "ice cream"), (11, 13, "no"), (14, 19, "cream")),
    ]


def test_words_of_contractions_numbers_and_markup():
    text = (
        "I didn’t pay $4.50 at 10:30 &amp; wasn&#039;t <b>told</b> at https://a.b/c?d=e 5'3 👍 ok"
    )
    words = [word for *_, word in TokenCounter().fit(["good film"]).spans(text)]
    assert words == [
        *("i", "didn't", "pay", "4.50", "at", "10:30", "wasn't", "told", "at", "5'3", "ok"),
    ]
    french = TokenCounter(stop_words="french").fit(["bon film"]).spans("L’homme n'est pas qu'un")
    assert [word for *_, word in french] == ["homme", "est", "pas", "un"]


def test_roles_of_words():
    terms = ROLES.of(["not", "never", "didn't", "all", "enough", "film"])
    assert terms.alone.all()
    assert terms.negates.tolist() == [True, True, True, False, False, False]
    assert terms.quantifies.tolist() == [False, False, False, True, True, False]
    function = ROLES.of(["the", "it's", "they'll", "was", "with"])
    assert not (function.alone | function.ends | function.edges).any()
    assert ROLES.of(["too"]).begins.all()
    assert ROLES.of(["not", "up", "x"]).ends.tolist() == [False, True, True]
    assert not ROLES.of(["x"]).alone.any()  # too short


@pytest.mark.parametrize("kind", ["numbers", "classes", "missing", "several", "counts"])
def test_targets_of_every_kind(kind):
    texts, target, _ = reviews(600)
    high = target > 3
    y = {
        "numbers": target,
        "classes": np.where(high, "good", "bad"),
        "missing": np.where(np.arange(600) % 3 == 0, np.nan, target),
        "several": np.column_stack([target, -target]),
        "counts": np.round(np.exp(target)).astype(int),
    }[kind]
    by_target = TokenCounter().fit(texts, y)
    assert by_target.vocabulary_ == TokenCounter(n_jobs=1).fit(texts, y).vocabulary_
    assert "not good" in by_target.vocabulary_


def test_residuals_are_out_of_fold():
    """Noise is not explained, a word's effect is."""
    from scipy import sparse

    rng = np.random.default_rng(0)
    X = sparse.csr_array((rng.random((900, 200)) < 0.05).astype(float))
    X = sparse.csr_array(X.multiply(1 / np.maximum(np.sqrt(X.sum(1)), 1)[:, None]))
    y = signals(X @ rng.normal(size=200) + 0.1 * rng.standard_normal(900))
    for target, low, high in ((y, 0, 0.5), (rng.permuted(y), 0.95, 1.3)):
        found = cross_fitted(
            target, np.full(900, 10), lambda rows: X[np.flatnonzero(rows)], lambda f: [f(X)]
        )
        assert low < found.variance[0] < high


def test_names_in_a_pipeline_and_a_saved_file(tmp_path):
    texts, target, _ = reviews(600)
    model = make_pipeline(
        TokenCounter(max_df=1.0),
        FocusedTopicRegressor(2, max_epochs=2, random_state=0, drop_words=["lunch"]),
    ).fit(texts, target)
    words = model[0].get_feature_names_out()
    assert model[-1].feature_names_in_.tolist() == words.tolist()
    assert not model[-1].selected_words_[words.tolist().index("lunch")]
    assert all(isinstance(word, str) for topic in model[-1].top_words(5) for word in topic)
    topicfocus.save(model, tmp_path / "m.topicfocus")
    again = topicfocus.load(tmp_path / "m.topicfocus")
    np.testing.assert_array_equal(again.predict(texts[:50]), model.predict(texts[:50]))
    counts = model[0].transform(texts)
    assert counts[:5].feature_names.tolist() == words.tolist()
    assert counts[:, [1, 0]].feature_names.tolist() == words[[1, 0]].tolist()
    with pytest.raises(ValueError, match="other words than at fit"):
        model[-1].predict(counts[:, np.arange(len(words))[::-1]])


def test_all_pairs_of_words_with_function_words():
    counter = TokenCounter(ngram_range=(1, 2), stop_words=None, min_df=1, max_df=1.0, min_length=1)
    counter.fit(["I was there. Was I"])
    assert sorted(counter.vocabulary_) == ["i", "i was", "there", "was", "was i", "was there"]
    plain = TokenCounter(ngram_range=(1, 2), min_df=1, max_df=1.0).fit(["the cat of the house"])
    assert sorted(plain.vocabulary_) == ["cat", "house"]


def test_words_added_to_a_list():
    counter = TokenCounter(stop_words=["english+", "film"], min_df=1, max_df=1.0)
    assert sorted(counter.fit(["the film was good", "good"]).vocabulary_) == ["good"]
