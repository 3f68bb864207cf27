"""Check parameters of the constructors and arguments of `fit`, before any long work."""

from __future__ import annotations

import difflib
import math
import numbers
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_array
from sklearn.utils.validation import _check_n_features, validate_data

from topicfocus.kernels.threads import n_threads

#: Targets and covariates beyond this size are an error: their weighted squares could overflow.
LARGEST = 1e152
LARGEST_WEIGHT = 1e15
LARGEST_EXPOSURE = 1e30
#: Characters in the name of a topic.
LONGEST_NAME = 200

# ---- parameters ----------------------------------------------------------------------------------


def check_count(name: str, value: Any, *, minimum: int = 1) -> int:
    """A whole number of at least `minimum`."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise TypeError(f"{name} must be a whole number, got {value!r}.")
    if value < minimum:
        raise ValueError(f"{name} must be at least {minimum}, got {value}.")
    return int(value)


def check_positive(name: str, value: Any, *, zero: bool = False) -> float:
    """A finite number above (or from) zero."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name} must be a number, got {value!r}.")
    if not math.isfinite(value) or value < 0 or (value == 0 and not zero):
        wanted = "at least 0" if zero else "greater than 0"
        raise ValueError(f"{name} must be {wanted} and finite, got {value!r}.")
    return float(value)


def check_share(name: str, value: Any) -> float:
    """A number strictly between 0 and 1."""
    value = check_positive(name, value)
    if value >= 1:
        raise ValueError(
            f"{name} must lie between 0 and 1, both excluded, got {value!r}. A percentage such as "
            "10 is written 0.1."
        )
    return value


def check_flag(name: str, value: Any) -> bool:
    """True or False, not a number or a word that would count as one of them."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} must be True or False, got {value!r}.")
    return bool(value)


def check_choice(name: str, value: Any, choices: tuple[str, ...]) -> str:
    """One of a few words."""
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}; got {value!r}.")
    return value


def check_prior(value: Any, n_topics: int) -> tuple[np.ndarray, bool]:
    """α as a vector, and whether it is to be learned (then it starts from ones)."""
    if isinstance(value, str):
        check_choice("doc_topic_prior", value, ("learn",))
        return np.ones(n_topics), True
    prior = np.asarray(value, dtype=float)
    if prior.ndim == 0:
        return np.full(n_topics, check_positive("doc_topic_prior", float(prior))), False
    if prior.shape != (n_topics,):
        raise ValueError(
            f"doc_topic_prior must be a number, 'learn', or one number for each of the {n_topics} "
            f"topics; got an array of shape {prior.shape}."
        )
    if not np.all(np.isfinite(prior) & (prior > 0)):
        raise ValueError("doc_topic_prior must be greater than 0 everywhere and finite.")
    return prior.copy(), False


def is_auto(value: Any) -> bool:
    """Whether a parameter is left to the data."""
    return isinstance(value, str) and value == "auto"


Rule = Callable[[str, Any], Any]


def _optional(rule: Rule) -> Rule:
    """The parameter may be None."""
    return lambda name, value: None if value is None else rule(name, value)


def _or_auto(rule: Rule) -> Rule:
    """The parameter may be "auto"."""

    def check(name: str, value: Any) -> None:
        if not isinstance(value, str):
            rule(name, value)
        elif value != "auto":
            raise ValueError(f"{name} must be 'auto' or a number, got {value!r}.")

    return check


_from_zero = partial(check_positive, zero=True)

#: Checks of the parameters whose value alone says whether it is right.
RULES: dict[str, Rule] = {
    "n_topics": check_count,
    "inclusion_prior": _or_auto(check_share),
    "supervision_weight": _or_auto(check_positive),
    "max_epochs": _optional(check_count),
    "tol": _optional(_from_zero),
    "batch_size": _optional(check_count),
    "learning_rate": _optional(check_positive),
    "coef_penalty": _from_zero,
    "validation_fraction": check_share,
    "themes": check_flag,
    "remainder": check_flag,
    "standardize": check_flag,
    "solver": partial(check_choice, choices=("auto", "coordinate", "stochastic", "gradient")),
    "bound": partial(check_choice, choices=("paper", "tight")),
    "n_jobs": lambda _, value: n_threads(value),
}


def check_parameters(model: BaseEstimator) -> None:
    """Check the parameters of an estimator by their rules."""
    for name, value in model.get_params(deep=False).items():
        if name in RULES:
            RULES[name](name, value)


def read_columns(name: str, words: Any, names: Any, n_words: int) -> np.ndarray | None:
    """Columns of words given by name (where the columns have names) or by number."""
    if words is None:
        return None
    if isinstance(words, str):
        raise TypeError(f"{name} must be a list of words or column numbers, got one string.")
    lookup = {} if names is None else {str(w): i for i, w in enumerate(names)}
    columns = []
    for word in words:
        if isinstance(word, str):
            if names is None:
                raise ValueError(
                    f"{name} has the word {word!r}, but the columns of X have no names. Count "
                    "texts with topicfocus.TokenCounter, also in a pipeline, or pass a dataframe, "
                    "or column numbers: vectorizer.vocabulary_[word]."
                )
            if word not in lookup:
                raise ValueError(f"{name} has {word!r}, {_no_column(word, lookup)}")
            columns.append(lookup[word])
        elif isinstance(word, (int, np.integer)) and not isinstance(word, bool):
            if not 0 <= word < n_words:
                raise ValueError(f"{name} has column {word}, but X has columns 0 to {n_words - 1}.")
            columns.append(int(word))
        else:
            raise TypeError(f"{name} must hold words or column numbers, got {word!r}.")
    return np.unique(np.array(columns, dtype=np.int64))


def _no_column(word: str, lookup: Mapping[str, int]) -> str:
    """What is wrong with a word that is not a column, and what may have been meant."""
    near = difflib.get_close_matches(word, lookup, n=3, cutoff=0.75)
    meant = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
    return f"which is not a column of X.{meant}"


def read_seeds(
    seed_words: Any, names: Any, n_words: int, n_topics: int
) -> tuple[tuple[str, ...], tuple[np.ndarray, ...]]:
    """Names and columns of the topics that start from seed words."""
    if seed_words is None:
        return (), ()
    if not isinstance(seed_words, Mapping):
        raise TypeError(
            'seed_words must be a dict of names and lists of words, such as {"waiting": ["wait", '
            f'"minutes"]}}; got {seed_words!r:.80}.'
        )
    if len(seed_words) > n_topics:
        raise ValueError(f"seed_words has {len(seed_words)} topics, but n_topics is {n_topics}.")
    owner: dict[int, str] = {}
    seeds = []
    for topic, words in seed_words.items():
        check_topic_name(topic)
        columns = read_columns(f"seed_words[{topic!r}]", words, names, n_words)
        if columns is None or len(columns) == 0:
            raise ValueError(f"seed_words[{topic!r}] has no words. Give one or more.")
        for column in columns.tolist():
            if column in owner:
                word = column if names is None else repr(str(names[column]))
                raise ValueError(
                    f"seed_words has {word} in both {owner[column]!r} and {topic!r}: a word can "
                    "be a seed of one topic only."
                )
            owner[column] = topic
        seeds.append(columns)
    return tuple(seed_words), tuple(seeds)


def check_topic_name(name: Any) -> str:
    """The name of a topic: one line of text."""
    if not isinstance(name, str):
        raise TypeError(f"the name of a topic must be a string, got {name!r:.80}.")
    if not name.strip() or len(name) > LONGEST_NAME or not name.isprintable():
        raise ValueError(
            f"the name of a topic must be one line of 1 to {LONGEST_NAME} characters, "
            f"got {name!r:.80}."
        )
    return name


# ---- columns of X --------------------------------------------------------------------------


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


# ---- arguments of fit ----------------------------------------------------------------------------


class RowError(ValueError):
    """A value of one document is wrong; the message names its row, counted from 0."""

    def __init__(self, message: str, row: int) -> None:
        super().__init__(message)
        self.row = row


def _read_column(values: Any, n_docs: int, name: str, low: float, high: float) -> np.ndarray:
    """One finite number per document, within limits."""
    column = check_array(values, ensure_2d=False, dtype=float, input_name=name)
    if column.shape != (n_docs,):
        raise ValueError(
            f"{name}.shape == {column.shape}, expected {(n_docs,)}: one number per document"
        )
    bad = (column < low) | (column > high)
    if bad.any():
        row = int(np.argmax(bad))
        raise RowError(
            f"{name} must lie between {low:g} and {high:g}, but row {row} is {column[row]:g}.", row
        )
    return column


def read_weight(sample_weight: Any, n_docs: int, name: str = "sample_weight") -> np.ndarray | None:
    """Non-negative document weights, at least one of them positive; None if all are one."""
    if sample_weight is None:
        return None
    if np.isscalar(sample_weight):
        sample_weight = np.full(n_docs, sample_weight)
    weight = _read_column(sample_weight, n_docs, name, 0.0, LARGEST_WEIGHT)
    if weight.sum() == 0:
        raise ValueError(f"every {name} is zero: there is nothing to learn from.")
    return None if np.all(weight == 1) else weight


def read_exposure(exposure: Any, n_docs: int, name: str = "exposure") -> np.ndarray | None:
    """Log exposure of every document."""
    if exposure is None:
        return None
    return np.log(_read_column(exposure, n_docs, name, 1 / LARGEST_EXPOSURE, LARGEST_EXPOSURE))


def read_covariates(
    covariates: Any, n_docs: int, expected: int | None, name: str = "covariates"
) -> np.ndarray | None:
    """Numeric columns with NaN for missing values; `expected` is their number at fit."""
    if covariates is None:
        if expected:
            raise ValueError(
                f"the model was fitted with {expected} covariates: pass {name} for these documents "
                "too, with the same columns."
            )
        return None
    if expected == 0:
        raise ValueError(f"the model was fitted without covariates, but {name} was passed.")
    try:
        values = np.asarray(covariates, dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{name} must be numbers: {error}. Encode categories as columns of 0 and 1 first "
            "(OneHotEncoder)."
        ) from error
    if values.ndim == 1:
        values = values[:, None]
    if values.ndim != 2 or len(values) != n_docs:
        raise ValueError(f"{name} has shape {values.shape}, but there are {n_docs} documents")
    large = np.abs(values) > LARGEST
    if large.any():
        row, column = (int(i[0]) for i in np.nonzero(large))
        raise RowError(
            f"{name} contains {values[row, column]:g} at row {row}, column {column}, which is too "
            "large to compute with. Correct it, or measure the column in other units.",
            row,
        )
    if expected is not None and values.shape[1] != expected:
        raise ValueError(
            f"{name} has {values.shape[1]} columns, but the model was fitted with {expected}."
        )
    return np.ascontiguousarray(values) if values.shape[1] else None


def read_groups(groups: Any, n_docs: int) -> np.ndarray | None:
    """Group numbers of the documents."""
    if groups is None:
        return None
    if np.shape(groups) != (n_docs,):
        raise ValueError(f"groups has shape {np.shape(groups)}, but there are {n_docs} documents")
    return np.unique(np.asarray(groups), return_inverse=True)[1]


def labels_for_each(labels: Any, n_targets: int, name: str) -> list:
    """One list of labels per target."""
    if n_targets == 1 and (len(labels) == 0 or np.ndim(labels[0]) == 0):
        return [labels]
    if len(labels) != n_targets:
        raise ValueError(f"{name} is for {len(labels)} targets, but y has {n_targets}.")
    return list(labels)
