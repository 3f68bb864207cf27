"""Names and number of the columns of X."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import _check_n_features, validate_data


def check_columns(estimator: Any, X: Any, *, reset: bool) -> None:
    """Store the number and the names of columns, or check that they are those of the fit.

    scikit-learn takes names from data frames only. Counts of `TokenCounter` have names, too, which
    are compared where both have some.
    """
    names = getattr(X, "feature_names", None)
    if names is None and (reset or not hasattr(X, "indptr")):
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        return
    _check_n_features(estimator, X, reset=reset)
    if names is None:
        return
    known = getattr(estimator, "feature_names_in_", None)
    if reset:
        estimator.feature_names_in_ = np.asarray(names, dtype=object)
    elif known is not None and not np.array_equal(known, names):
        i = int(np.argmax(np.asarray(known) != names))
        raise ValueError(
            f"the columns of X are other words than at fit: column {i} is {names[i]!r}, not "
            f"{known[i]!r}. Count texts with the fitted vectoriser."
        )
