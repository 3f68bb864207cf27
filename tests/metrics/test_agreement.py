"""Target agreement and lexicon agreement: by definition, and on cases with a known answer."""

import numpy as np
import pytest

from topicfocus.datasets import make_reviews
from topicfocus.metrics import lexicon_agreement, target_agreement


def test_target_agreement_by_definition():
    rng = np.random.default_rng(0)
    counts = rng.poisson(0.5, (80, 15))
    y = rng.standard_normal(80)
    topics = rng.dirichlet(np.ones(15), 4)
    coef = np.array([2.0, -1.0, 0.5, 3.0])
    xs, ys = [], []
    for k in range(4):
        for v in np.argsort(-topics[k])[:6]:
            documents = counts[:, v] > 0
            c = documents.sum()
            xs.append(coef[k])
            ys.append(c / (c + 5) * (y[documents].mean() - y.mean()) if c else 0.0)
    expected = np.corrcoef(xs, ys)[0, 1]
    assert target_agreement(topics, coef, counts, y, top_n=6) == pytest.approx(expected)


def test_the_truth_agrees_and_its_opposite_does_not():
    data = make_reviews(1500, random_state=0)
    truth = target_agreement(data.components, data.coef, data.counts, data.target)
    assert truth > 0.9
    assert target_agreement(data.components, -data.coef, data.counts, data.target) == pytest.approx(
        -truth
    )
    assert np.isnan(target_agreement(data.components, np.ones(5), data.counts, data.target))


def test_lexicon_agreement():
    words = ["good", "great", "bad", "awful", "film"]
    lexicon = {"good": 1.0, "great": 2.0, "bad": -1.0, "awful": -3.0}
    topics = np.array([[0.4, 0.3, 0.2, 0.0, 0.1], [0.1, 0, 0.3, 0.4, 0.2], [0.2] * 5])
    found = lexicon_agreement(topics, [5.0, -5.0, 0.0], words, lexicon, top_n=3)
    # good great bad | awful bad film
    assert found == (4, 1, 6)
    assert lexicon_agreement(topics, [-5.0, 5.0, 0.0], words, lexicon, top_n=3) == (1, 4, 6)


def test_errors():
    topics = np.ones((2, 3)) / 3
    with pytest.raises(ValueError, match="coef has 3 values but components has 2 topics"):
        target_agreement(topics, [1, 2, 3], np.ones((4, 3)), [1, 2, 3, 4])
    with pytest.raises(ValueError, match="coef contains NaN"):
        target_agreement(topics, [1, np.nan], np.ones((4, 3)), [1, 2, 3, 4])
    with pytest.raises(ValueError, match="counts has 2 words"):
        target_agreement(topics, [1, 2], np.ones((4, 2)), [1, 2, 3, 4])
    with pytest.raises(ValueError, match="vocabulary has 1 words"):
        lexicon_agreement(topics, [1, 2], ["a"], {})
