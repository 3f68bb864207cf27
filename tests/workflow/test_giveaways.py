"""Terms that identify a class, a group or a value are found; ordinary predictive words are not."""

import numpy as np
import pytest
from command_line import write_csv
from scipy import sparse

from topicfocus.datasets import make_reviews
from topicfocus.workflow import fit_file
from topicfocus.workflow.giveaways import find_giveaways

WORDS = np.array(["awful", "digg", "film", "name", "rare"])


def counts(n=1000, seed=0):
    """ "awful" is in nine of ten documents of class 0, "digg" in half of class 1 alone."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n).astype(float)
    group = rng.integers(0, 6, n)
    has = np.column_stack(
        [
            rng.random(n) < np.where(y == 0, 0.45, 0.05),
            (rng.random(n) < 0.5) & (y == 1),
            rng.random(n) < 0.7,
            (rng.random(n) < 0.9) & (group == 3),
            (np.arange(n) < 10) & (y == 1),
        ]
    )
    return sparse.csr_array(has * rng.integers(1, 4, has.shape).astype(float)), y, group


def test_a_term_of_one_class_and_one_of_one_group():
    X, y, group = counts()
    found = find_giveaways(X, WORDS, y, ("bad", "good"))
    assert [(one.word, one.share, one.where) for one in found] == [("digg", 1, "of class 'good'")]
    assert found[0].documents == (X[:, [1]] > 0).sum()
    found = find_giveaways(X, WORDS, y, ("bad", "good"), group)
    assert [(one.word, one.where) for one in found] == [
        ("digg", "of class 'good'"),
        ("name", "of one group"),
    ]
    y[::3] = np.nan
    assert [one.word for one in find_giveaways(X, WORDS, y, ("bad", "good"))] == ["digg"]


def test_a_term_of_one_value_of_a_number():
    X, y, _ = counts()
    rng = np.random.default_rng(1)
    stars = np.where(y == 1, rng.normal(3, 1, len(y)), rng.normal(2, 1, len(y)))
    has = np.asarray((X[:, [1]] > 0).todense()).ravel()
    assert find_giveaways(X, WORDS, stars) == []
    (found,) = find_giveaways(X, WORDS, np.where(has, 5.0, stars))
    assert (found.word, found.where) == ("digg", "with a target near 5")


def test_frequent_classes_and_targets_of_one_value_are_no_reason():
    X, _, _ = counts()
    mostly = (np.arange(1000) % 100 == 0).astype(float)
    assert find_giveaways(X, WORDS, mostly, ("no", "yes")) == []
    assert find_giveaways(X, WORDS, mostly) == []
    assert find_giveaways(X, WORDS, np.full(1000, np.nan), ("no", "yes")) == []
    assert find_giveaways(X, WORDS, np.ones(1000)) == []


def test_a_fit_warns(tmp_path):
    reviews = make_reviews(600, random_state=0)
    texts = [
        f"{text} postcount" if target > 5 else text
        for text, target in zip(reviews.texts, reviews.target, strict=True)
    ]
    label = np.where(reviews.target > 5, "good", "bad")
    write_csv(tmp_path / "r.csv", ["text", "liked"], zip(texts, label, strict=True))
    how = {"text": "text", "target": "liked", "topics": 2, "inclusion_prior": 0.5}
    with pytest.warns(UserWarning, match="'postcount' .* of class 'good'.*`drop_words`"):
        outcome = fit_file(tmp_path / "r.csv", **how, baseline=False)
    assert any("postcount" in message for message in outcome.summary["warnings"])
    with pytest.warns(UserWarning, match="'terrible'"):  # nothing but opinions in these reviews
        outcome = fit_file(tmp_path / "r.csv", **how, baseline=False, drop_words=["postcount"])
    assert not any("postcount" in message for message in outcome.summary["warnings"])
    assert outcome.words.set_index("word").loc["postcount", "kept"] == "no"
