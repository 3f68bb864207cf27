"""Small fitted models of every kind of target, with documents, for the tests of reports."""

from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline

from topicfocus import (
    FocusedTopicClassifier,
    FocusedTopicRegressor,
    PFSLDARegressor,
    SLDAClassifier,
    TokenCounter,
)
from topicfocus.datasets import make_reviews
from topicfocus.remainder import Remainder, rarity, rounded
from topicfocus.report import Explorer


class Case(NamedTuple):
    """A text pipeline, documents and targets."""

    model: Any
    texts: list[str]
    target: np.ndarray


KINDS = (
    "regression",
    "binary",
    "multiclass",
    "poisson",
    "ordinal",
    "several",
    "pairs",
    "graded",
    "joint",
    "remainder",
    "remainder of classes",
    "remainder of columns",
)


@cache
def reviews() -> tuple[list[str], np.ndarray]:
    made = make_reviews(320, random_state=3)
    return list(made.texts), np.asarray(made.target)


@cache
def case(kind: str) -> Case:
    texts, stars = reviews()
    levels = np.digitize(stars, np.quantile(stars, [0.33, 0.67]))
    labels = np.array(["bad", "fair", "good"])[levels]
    counts = np.random.default_rng(0).poisson(np.exp(stars / 4))
    focused = {"n_topics": 3, "max_epochs": 6, "random_state": 0}
    words: Any = CountVectorizer(min_df=2)
    if kind == "regression":
        model, y = FocusedTopicRegressor(**focused), stars
    elif kind == "binary":
        model, y = FocusedTopicClassifier(**focused), np.where(stars > 5.5, "yes", "no")
    elif kind == "multiclass":
        model, y = FocusedTopicClassifier(**focused), labels
    elif kind == "poisson":
        model, y = FocusedTopicRegressor(family="poisson", **focused), counts
    elif kind == "ordinal":
        model, y = FocusedTopicRegressor(family="ordinal", **focused), levels * 2.0
    elif kind == "several":
        family = ["gaussian", "poisson", "bernoulli"]
        model = FocusedTopicRegressor(family=family, **focused)
        y = np.column_stack([stars, counts, stars > 5.5])
    elif kind == "pairs":  # n-grams, stop words, and our own vectoriser
        words = TokenCounter(min_df=2, ngram_range=(1, 2), stop_words="english")
        model, y = FocusedTopicRegressor(**focused), stars
    elif kind == "graded":  # inclusion between 0 and 1, counts as they are
        settings = {"solver": "coordinate", "max_epochs": 15, "random_state": 0}
        model = PFSLDARegressor(3, inclusion_prior=0.3, **settings)
        y = stars
    elif kind == "remainder of columns":
        model, y = FocusedTopicRegressor(**focused), stars
    elif kind.startswith("remainder"):  # all words and pairs of words, function words included
        words = TokenCounter(remainder=True)
        cls = FocusedTopicClassifier if "classes" in kind else FocusedTopicRegressor
        model, y = cls(**focused), labels if "classes" in kind else stars
    else:  # every word kept
        model, y = SLDAClassifier(3, max_epochs=10, random_state=0), labels
    fitted = make_pipeline(words, model).fit(texts, y)
    if kind.startswith("remainder"):
        fitted[-1].fitted_ = with_some_remainder(fitted[0].transform(texts), fitted[-1].fitted_)
    return Case(fitted, texts, y)


def with_some_remainder(counts: Any, fitted: Any) -> Any:
    """The model with a remainder of random coefficients: these reviews need none."""
    terms = getattr(counts, "remainder", None)
    names = None if terms is None else terms.feature_names
    rng, n_terms = np.random.default_rng(0), (counts if terms is None else terms).shape[1]
    rare = rarity(counts if terms is None else terms, np.ones(counts.shape[0]))
    coef = rounded(rng.standard_normal((n_terms, fitted.state.n_predictors)))
    level = rng.standard_normal(fitted.state.n_predictors)
    return replace(fitted, remainder=Remainder(rare, coef, level, names))


@cache
def _usual(kind: str) -> Explorer:
    return Explorer(case(kind).model, texts=case(kind).texts[:60], target=case(kind).target[:60])


def explorer(kind: str, **options: Any) -> Explorer:
    """The page of a case with 60 documents, made once if there are no options."""
    if not options:
        return _usual(kind)
    model, texts, target = case(kind)
    return Explorer(model, texts=texts[:60], target=target[:60], **options)


def large(
    n_topics: int, n_words: int, share: float, model: Any, n_docs: int = 500
) -> tuple[Any, dict[str, Any]]:
    """A model with random topics on a share of the words, and random documents for `Explorer`."""
    rng = np.random.default_rng(0)
    tiny = sparse.csr_array((rng.random((30, n_words)) < 0.01).astype(float))
    fitted = model(2, max_epochs=1, random_state=0).fit(tiny, rng.standard_normal(30))
    kept = np.zeros(n_words, dtype=bool)
    kept[rng.choice(n_words, int(share * n_words), replace=False)] = True
    topics = rng.dirichlet(np.full(n_words, 0.1), n_topics) * kept + 1e-12 * kept
    found = fitted.fitted_
    state = replace(
        found.state,
        topic_word=np.ascontiguousarray((topics / topics.sum(axis=1, keepdims=True)).T),
        coef=np.linspace(-3, 3, n_topics),
        doc_topic_prior=np.full(n_topics, 1.0),
        inclusion=kept.astype(float) if found.selects else np.ones(n_words),
    )
    evidence = rng.exponential(5, n_words) if found.selects else None
    context = None
    if found.selects:
        context = (rng.poisson(5, (n_words, n_topics)) * ~kept[:, None]).astype(np.float32)
    fitted.fitted_ = replace(found, state=state, evidence=evidence, context=context)
    words = np.array(["".join(rng.choice(list("abcdefghijklmnop"), 8)) for _ in range(n_words)])
    zipf = 1 / np.arange(1, n_words + 1)
    texts = [" ".join(rng.choice(words, 400, p=zipf / zipf.sum())) for _ in range(n_docs)]
    names = sorted(set(words))
    names += [f"zz{i}" for i in range(n_words - len(names))]
    counts = CountVectorizer(vocabulary=names).transform(texts)
    target = rng.standard_normal(n_docs)
    return fitted, {"texts": texts, "counts": counts, "target": target, "vocabulary": names}


def halves(names: list[str]) -> dict[str, Any]:
    """What `Stability.to_dict` returns for three topics, of which the last does not replicate."""
    topics = [
        {
            "same": k < 2,
            "cosine": 0.9 - 0.3 * k,
            "difference": 0.3,
            "spread": 0.1,
            "words": [{"word": names[k], "returns": 1.0}, {"word": names[k + 3], "returns": 0.2}],
        }
        for k in range(3)
    ]
    return {
        "resamples": 10,
        "often": 0.9,
        "topics": topics,
        "words": [{"word": name, "frequency": 0.25 * i} for i, name in enumerate(names[:5])],
        "substitutes": [{"word": names[1], "others": [{"word": names[2], "either": 0.8}]}],
        "nogueira": 0.6,
        "disjoint_jaccard": 0.4,
        "stable_words": 2,
        "prediction_correlation": 0.8125,
    }
