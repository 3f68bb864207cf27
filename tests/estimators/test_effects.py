"""Effects beside predictions of documents that were really changed."""

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import nnls

import topicfocus
from topicfocus.datasets import make_reviews
from topicfocus.estimators.effects import (
    proportion_differences,
)
from topicfocus.proportions import proportion_weights

KINDS = (
    *("real", "count", "rating", "two", "three", "several", "graded"),
    *("count beside covariates", "three beside covariates"),
)


@pytest.fixture(scope="module")
def reviews():
    return make_reviews(300, random_state=0)


@pytest.fixture(scope="module")
def fitted(reviews):
    """Models of every kind with what predictions of them need, each fitted once."""
    made = {}

    def model_of(kind):
        if kind not in made:
            made[kind] = make(kind, reviews)
        return made[kind]

    return model_of


def data_of(kind, reviews, seed=0):
    """Targets of a kind, and what goes with the documents."""
    rng, rating, n = np.random.default_rng(seed), reviews.target, len(reviews.target)
    kind, *beside = kind.split(" beside ")
    more = {"covariates": rng.normal(5.0, 3.0, (n, 2))} if beside else {}
    if kind == "count":
        more["exposure"] = rng.uniform(0.5, 3.0, n)
        return rng.poisson(more["exposure"] * np.exp(rating / 5)), more
    stars = np.clip(np.round(rating), 1, 10)
    targets = {
        "rating": np.digitize(stars, [3, 6]) * 2.0,
        "two": rating > 5,
        "three": np.array(["bad", "fair", "good"])[np.digitize(rating, [4, 7])],
        "several": np.column_stack([stars, rating > 5]),
    }
    return targets.get(kind, stars), more


def make(kind, reviews):
    (y, more), kind = data_of(kind, reviews), kind.split()[0]
    settings = {"n_topics": 4, "max_epochs": 8, "random_state": 0}
    if kind == "graded":  # inclusion between 0 and 1
        model = topicfocus.PFSLDARegressor(inclusion_prior=0.3, **settings)
    elif kind in ("two", "three"):
        model = topicfocus.FocusedTopicClassifier(**settings)
    else:
        families = {"count": "poisson", "rating": "ordinal", "several": ["gaussian", "bernoulli"]}
        settings["family"] = families.get(kind, "gaussian")
        model = topicfocus.FocusedTopicRegressor(**settings)
    return model.fit(reviews.counts, y, **more), more


def responses(model, X, **more):
    """What users are told, one column a predictor."""
    if hasattr(model, "classes_"):
        p = model.predict_proba(X, **more)
        return p[:, 1:] if p.shape[1] == 2 else p
    predicted = model.predict(X, **more)
    return predicted.reshape(len(predicted), -1)


def document_with(model, mix):
    """Counts whose topic mix is `mix`: at the optimum a/θ + Σ_v c_v m_v β_v/(β_v·θ) is constant.

    Two unknowns more than counts: the constant, which is set to a size, and a little slack.
    """
    table, multiplicity = proportion_weights(model.fitted_.state).table
    prior = model.fitted_.state.doc_topic_prior
    gradients = (table / (table @ mix)[:, None]) * multiplicity[:, None]
    for size in (30.0, 100.0, 300.0, 1000.0):
        wanted = size * np.ones(len(mix)) - prior / mix
        counts, missing = nnls(gradients.T, wanted)
        if missing < 1e-8 * size:
            return counts**2 if model.fitted_.sees_roots else counts
    raise AssertionError("no document has this mix")


def typical(more, n):
    """Averages of what goes with documents."""
    out = {}
    if "exposure" in more:
        out["exposure"] = np.full(n, np.exp(np.log(more["exposure"]).mean()))
    if "covariates" in more:
        out["covariates"] = np.tile(more["covariates"].mean(axis=0), (n, 1))
    return out


@pytest.mark.filterwarnings("ignore::topicfocus.corpus.FractionWarning")
@pytest.mark.parametrize("kind", KINDS)
def test_a_topic_does_what_its_effect_says(kind, reviews, fitted):
    """Documents are made whose mix is the typical one with the topic's share moved."""
    model, more = fitted(kind)
    effects = model.topic_effects(reviews.counts, **more)
    mixes = model.transform(reviews.counts)
    centre = mixes.mean(axis=0)
    columns = len(effects["topic"]) // 4
    for end, q in (("low", 0.1), ("high", 0.9)):
        shares = effects[f"proportion_{end}"].to_numpy()[::columns]
        # Documents without relevant words are equal, which the two treat a little differently.
        np.testing.assert_allclose(shares, np.quantile(mixes, q, axis=0, method="hazen"), atol=0.01)
        made = []
        for k in range(4):
            mix = centre * (1 - shares[k]) / (1 - centre[k])
            mix[k] = shares[k]
            made.append(document_with(model, mix))
        seen = responses(model, np.array(made), **typical(more, 4)).ravel()
        seen = np.clip(seen, effects["limit_low"], effects["limit_high"])
        np.testing.assert_allclose(effects[end], seen, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(effects["change"], effects["high"] - effects["low"])
    # The documents had a part in the fit, so no interval comes from them.
    assert effects[["estimate", "lower", "upper"]].isna().all(axis=None)
    assert np.all(effects["low"] >= effects["limit_low"])
    assert np.all(effects["high"] <= effects["limit_high"])


@pytest.mark.parametrize("kind", KINDS)
def test_a_word_does_what_its_effect_says(kind, reviews, fitted):
    """Every word is really taken from, and really put into, every document of the sample."""
    model, more = fitted(kind)
    n = 12
    X = reviews.counts[:n].toarray()
    beside = {name: values[:n] for name, values in more.items()}
    effects = model.word_effects(X, **beside)
    table = proportion_weights(model.fitted_.state).table
    contained = np.flatnonzero(table.multiplicity > 0)
    columns = len(effects["column"]) // len(contained)
    np.testing.assert_array_equal(effects["column"][::columns], contained)
    np.testing.assert_array_equal(effects["documents"][::columns], (X > 0).sum(axis=0)[contained])
    change = effects["change"].to_numpy().reshape(-1, columns)
    # Words that some of the documents have, and words that none has.
    some = np.concatenate([np.argsort(-(X > 0).sum(axis=0)[contained])[:6], [0, 5, -1]])
    for i in some:
        without, once = X.copy(), X.copy()
        without[:, contained[i]], once[:, contained[i]] = 0, 1
        moved = responses(model, once, **beside) - responses(model, without, **beside)
        np.testing.assert_allclose(change[i], moved.mean(axis=0), rtol=1e-5, atol=1e-7)
    assert np.abs(change).max() > 1e-3


def test_of_many_classes_the_upper_end_is_where_their_documents_are():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(10), 60)
    words = np.repeat(np.eye(10), 2, axis=1)[y] * 3 + 0.3  # two words a class
    X = rng.poisson(np.column_stack([words, np.ones((600, 10))]))
    model = topicfocus.FocusedTopicClassifier(10, random_state=0).fit(X, y)
    effects = model.topic_effects(X)
    shares = model.transform(X)
    expected = np.quantile(shares, 0.95, axis=0, method="hazen")
    np.testing.assert_allclose(effects["proportion_high"][::10], expected, rtol=0.01)
    raised = effects.loc[effects.groupby("topic")["change"].idxmax()]
    # There, a document is of the class that the topic speaks for.
    assert sorted(raised["class"]) == list(range(10)) and raised["high"].median() > 0.8
    lower = model.topic_effects(X, quantiles=(0.1, 0.9))
    assert lower.groupby("topic")["high"].max().median() < raised["high"].median() - 0.1


def test_tables(reviews, fitted):
    model, _ = fitted("three")
    topics = model.topic_effects(reviews.counts, vocabulary=reviews.vocabulary)
    words = model.word_effects(reviews.counts, vocabulary=reviews.vocabulary)
    assert topics.pivot(index="topic", columns="class", values="change").shape == (4, 3)
    # What one class gains the others lose.
    assert topics.groupby("topic")["change"].sum().abs().max() < 1e-12
    assert words.groupby("word")["change"].sum().abs().max() < 1e-12
    assert topics["words"][0].split(", ") == model.top_words(5, reviews.vocabulary)[0]
    assert set(words["word"]) == set(np.array(reviews.vocabulary)[model.selected_words_])
    several, _ = fitted("several")
    table = several.topic_effects(reviews.counts)
    assert list(table["target"]) == [0, 1] * 4 and list(table["class"]) == [None, 1] * 4
    real, _ = fitted("real")
    assert not {"target", "class"} & set(real.topic_effects(reviews.counts).columns)


def test_weights_count_like_copies(reviews, fitted):
    model, _ = fitted("real")
    X, weight = reviews.counts[:60], np.tile([0, 1, 2], 20)
    copies = sparse.csr_array(X[np.repeat(np.arange(60), weight)])
    for name in ("topic_effects", "word_effects"):
        one = getattr(model, name)(X, sample_weight=weight)
        other = getattr(model, name)(copies)
        for column in set(one.columns) - {"words", "word", "documents"}:
            np.testing.assert_allclose(one[column], other[column], rtol=1e-9, atol=1e-12)


NEW = make_reviews(400, random_state=1)


@pytest.mark.parametrize("kind", ["real", "count", "rating", "two", "three", "several"])
def test_intervals_come_from_documents_that_had_no_part_in_the_fit(kind, fitted):
    """By hand: a regression of what is predicted, on the proportions of the topics."""
    model, _ = fitted(kind)
    y, more = data_of(kind, NEW, seed=2)
    exposure = more.get("exposure")
    table = model.topic_effects(NEW.counts, y, **more)
    mixes, weight = model.transform(NEW.counts), np.ones(400) if exposure is None else exposure
    responses = np.column_stack([y == c for c in ("bad", "fair", "good")]) if kind == "three" else y
    responses = np.asarray(responses, dtype=float).reshape(400, -1) / (
        1.0 if exposure is None else exposure[:, None]
    )
    root = np.sqrt(weight)[:, None]
    coef = np.linalg.lstsq(root * mixes, root * responses, rcond=None)[0]
    moves = proportion_differences(model.fitted_, mixes, np.ones(400))
    np.testing.assert_allclose(table["estimate"], (moves @ coef).ravel(), rtol=1e-6, atol=1e-9)
    assert np.all(table["lower"] < table["estimate"]) and np.all(table["estimate"] < table["upper"])
    # The prediction and the new documents agree on what the strongest topic does.
    best = table["change"].abs().idxmax()
    assert np.sign(table["change"][best]) == np.sign(table["estimate"][best])
    wide = model.topic_effects(NEW.counts, y, confidence=0.99, **more)
    assert np.all(wide["upper"] - wide["lower"] > table["upper"] - table["lower"])


def test_missing_targets_and_weights_of_new_documents(fitted):
    model, _ = fitted("real")
    y = np.array(NEW.target, dtype=float)
    y[::4] = np.nan
    some = np.isfinite(y)
    weight = np.where(some, 1.0, 0.0)
    missing = model.topic_effects(NEW.counts, y, sample_weight=weight)
    fewer = model.topic_effects(NEW.counts[some], y[some])
    names = ["change", "estimate", "lower", "upper"]
    np.testing.assert_allclose(missing[names], fewer[names], rtol=1e-6)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"quantiles": (0.9, 0.1)}, "quantiles must be two increasing numbers"),
        ({"quantiles": 0.5}, "quantiles must be two increasing numbers"),
        ({"confidence": 95}, "confidence must be between 0 and 1"),
        ({"sample_weight": np.zeros(300)}, "every sample_weight is zero"),
    ],
)
def test_mistakes(wrong, message, reviews, fitted):
    with pytest.raises(ValueError, match=message):
        fitted("real")[0].topic_effects(reviews.counts, **wrong)


def test_no_documents(reviews, fitted):
    for name in ("topic_effects", "word_effects"):
        with pytest.raises(ValueError, match="X has no documents"):
            getattr(fitted("real")[0], name)(reviews.counts[:0])
