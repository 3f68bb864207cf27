"""A document of weight w is w copies of it; of weight 0, none."""

import numpy as np
import pytest
from model_files import COUNTS, COVARIATES, LABELS, MODELS, REVIEWS, STARS
from numpy.testing import assert_allclose

import topicfocus
from topicfocus import LDA, SLDARegressor

X = REVIEWS.counts
RNG = np.random.default_rng(3)
WEIGHT = RNG.integers(0, 4, X.shape[0]).astype(float)
SEVERAL = np.column_stack([REVIEWS.target, STARS])
HALF_KNOWN = np.where(np.arange(X.shape[0]) % 2, REVIEWS.target, np.nan)


def assert_copies(name, y, options=None, extras=None, weight=WEIGHT):
    """The model fitted with weights is the model fitted to copies, shuffled."""
    options = {"n_topics": 3, "max_epochs": 8, "random_state": 0, **(options or {})}
    if name.startswith("PFSLDA"):  # minibatches of copies have other documents
        options["solver"] = "coordinate"
    extras = extras or {}
    make = getattr(topicfocus, name)
    weighted = make(**options).fit(X, y, sample_weight=weight, **extras)
    rows = np.random.default_rng(1).permutation(
        np.repeat(np.arange(X.shape[0]), weight.astype(int))
    )
    rest = {k: v[rows] for k, v in extras.items()}
    copied = make(**options).fit(X[rows], y[rows], **rest)
    for attribute in ("components_", "inclusion_", "background_", "coef_", "intercept_"):
        if hasattr(copied, attribute):
            # Words of almost no probability have digits that only rounding decides.
            assert_allclose(
                getattr(weighted, attribute), getattr(copied, attribute), rtol=1e-7, atol=1e-10
            )
    assert_allclose(weighted.transform(X), copied.transform(X), rtol=1e-7)
    for method in ("predict_proba", "predict"):
        if hasattr(copied, method):
            ours, theirs = (getattr(m, method)(X, **extras) for m in (weighted, copied))
            if theirs.dtype.kind == "f":
                assert_allclose(ours, theirs, rtol=1e-7)
    ignoring = make(**options).fit(X, y, **extras)
    assert np.abs(ignoring.components_ - weighted.components_).max() > 1e-5  # weights do matter
    return weighted


@pytest.mark.parametrize(
    "name, y, options, extras",
    [
        ("SLDARegressor", REVIEWS.target, {}, {"covariates": COVARIATES}),
        ("PCSLDARegressor", REVIEWS.target, {}, {"covariates": COVARIATES}),
        ("FocusedTopicRegressor", COUNTS, {"family": "poisson"}, {"exposure": COUNTS + 1.0}),
        ("FocusedTopicRegressor", STARS, {"family": "ordinal"}, {}),
        ("SLDARegressor", STARS, {"family": "ordinal"}, {}),
        ("FocusedTopicClassifier", STARS.astype(int), {}, {}),
        ("PFSLDAClassifier", STARS.astype(int), {}, {}),
        ("FocusedTopicRegressor", SEVERAL, {"family": ["gaussian", "ordinal"]}, {}),
        ("PFSLDARegressor", HALF_KNOWN, {"bound": "tight", "selection": "closed_form"}, {}),
        ("FocusedTopicRegressor", HALF_KNOWN, {}, {}),
        ("FocusedTopicRegressor", REVIEWS.target, {"inclusion_prior": 0.3}, {}),
        ("FocusedTopicRegressor", REVIEWS.target, {"validation_fraction": 0.4}, {}),
        ("LDA", REVIEWS.target, {"doc_topic_prior": "learn"}, {}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_weights_are_copies_for_every_kind_of_target(name, y, options, extras):
    assert_copies(name, y, options, extras)


def test_weights_in_minibatches_move_the_result_the_same_way():
    # Up to the order of minibatches: of the weight two, not of the weight one.
    heavy = np.where(LABELS == "good", 5.0, 1.0)
    options = {"n_topics": 2, "solver": "stochastic", "max_epochs": 20, "batch_size": 20}
    model = SLDARegressor(**options, random_state=0).fit(X, REVIEWS.target, sample_weight=heavy)
    plain = SLDARegressor(**options, random_state=0).fit(X, REVIEWS.target)
    copies = np.repeat(np.arange(X.shape[0]), heavy.astype(int))
    copied = SLDARegressor(**options, random_state=0).fit(X[copies], REVIEWS.target[copies])
    ours, unweighted, theirs = (m.predict(X).mean() for m in (model, plain, copied))
    assert abs(ours - theirs) < 0.5 * abs(unweighted - theirs)


@pytest.mark.parametrize(
    "weight, message",
    [
        (np.ones(3), "one number per document"),
        (-np.ones(X.shape[0]), "but row 0 is -1"),
        (np.full(X.shape[0], np.nan), "sample_weight contains NaN"),
        (np.zeros(X.shape[0]), "every sample_weight is zero"),
        (np.ones((X.shape[0], 1)), "one number per document"),
    ],
)
def test_bad_weights(weight, message):
    for model in (LDA(), SLDARegressor()):
        with pytest.raises(ValueError, match=message):
            model.fit(X, REVIEWS.target, sample_weight=weight)


@pytest.mark.filterwarnings("ignore::topicfocus.estimators.training.UselessFitWarning")
@pytest.mark.parametrize("name", [n for n in MODELS if n.endswith("Classifier")])
def test_all_of_an_enormous_weight(name):
    """Priors and penalties are then nothing, and no matrix may be singular for that."""
    for n, weight in ((13, 1e9), (40, 1e6), (40, 1e15)):
        labels = np.array([*"caaaaaccaaaab"] if n == 13 else [*"abc"] * 14)[:n]
        model = getattr(topicfocus, name)(2, max_epochs=2, random_state=0)
        model.fit(X[:n], labels, sample_weight=np.full(n, weight))
        p = model.predict_proba(X[:n])
        assert np.isfinite(p).all()
        assert_allclose(p.sum(axis=1), 1)


def test_only_empty_documents_have_weight():
    counts = X.toarray()
    counts[:4] = 0
    weight = (np.arange(X.shape[0]) < 4).astype(float)
    with pytest.raises(ValueError, match="with a weight above 0 is empty"):
        LDA().fit(counts, sample_weight=weight)


def test_a_label_of_documents_without_weight_is_no_class():
    labels = np.where(np.arange(X.shape[0]) < 3, "ugly", LABELS)
    weight = (np.arange(X.shape[0]) >= 3).astype(float)
    model = topicfocus.SLDAClassifier(2, max_epochs=2).fit(X, labels, sample_weight=weight)
    assert list(model.classes_) == ["bad", "good"]
