"""Classes: log-likelihoods and probabilities beside scipy's."""

import kernel_twins as reference
import numpy as np
import pytest

from topicfocus.kernels.likelihood import class_rows


@pytest.mark.parametrize("n_classes", [2, 3, 20])
@pytest.mark.parametrize("scale", [0.0, 1.0, 30.0])
def test_class_rows(n_classes, scale):
    rng = np.random.default_rng(n_classes)
    predictor = scale * rng.normal(size=(50, n_classes))
    target = rng.integers(n_classes, size=50).astype(float)
    value, p = class_rows(target, predictor)
    expected, share = reference.class_rows(target, predictor)
    np.testing.assert_allclose(value, expected, rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(p, share, rtol=1e-12)
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-14)


def test_no_documents():
    value, p = class_rows(np.empty(0), np.empty((0, 3)))
    assert value.shape == (0,)
    assert p.shape == (0, 3)
