"""What estimators with targets share: reading them, and prediction from the topic mixes.

f = b + o + ζᵀz + ηᵀθ̂,   E[y | f] by the family's inverse link.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils.metaestimators import available_if

from topicfocus.corpus import make_corpus
from topicfocus.estimators.coding import (
    REGRESSION_FAMILIES,
    Coding,
    as_labels,
    as_numbers,
    is_missing,
    read_classes,
    read_regression,
    several_or_one,
    target_columns,
)
from topicfocus.estimators.documents import (
    Documents,
    Scaling,
    read_covariates,
    read_exposure,
    read_weight,
)
from topicfocus.estimators.explanation import Explanation, explain
from topicfocus.estimators.uncertainty import response_variance
from topicfocus.families import Gaussian, Ordinal, split
from topicfocus.inference.state import ModelState


class TargetPart:
    """Targets of every kind. A subclass has `_codings_of(columns, weight)`.

    The model it is mixed with has `_fit_documents(documents, family, **options)`, which returns a
    ModelState.
    """

    # ---- fitting -----------------------------------------------------------------------------

    def _fit_supervised(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        exposure: Any = None,
        covariates: Any = None,
        validation: tuple | None = None,
    ):
        """Read everything, fit, keep. `validation` is (X, y, weight, exposure, covariates)."""
        corpus = self._read_counts(X, reset=True)
        weight = read_weight(sample_weight, corpus.n_docs)
        every = np.ones(corpus.n_docs) if weight is None else weight
        columns = target_columns(y, corpus.n_docs)
        self._set_codings(self._codings_of(columns, every))
        covariates = read_covariates(covariates, corpus.n_docs, None)
        self.n_covariates_ = 0 if covariates is None else covariates.shape[1]
        scaling = Scaling.of(covariates, every)
        # A document of weight 0 is as good as absent: so is its label, if no other has it.
        columns = [np.where(every > 0, c, None) if np.any(every == 0) else c for c in columns]
        target = self._codes(columns, "y")
        families = [c.start(target[:, t], every) for t, c in enumerate(self._codings)]
        family = several_or_one(families)
        offset = self._offset(exposure, corpus.n_docs)
        documents = Documents(corpus, target, weight, offset, scaling.scale(covariates))
        documents = documents.that_count()
        options = {}
        if validation is not None:
            options["held_out"] = self._read_validation(validation, corpus.n_words, scaling)
        self._scaling = scaling
        self._keep_target(scaling.restore(self._fit_documents(documents, family, **options)))
        return self

    def _read_validation(self, given: tuple, n_words: int, scaling: Scaling) -> Documents:
        X, y, sample_weight, exposure, covariates = given
        corpus = make_corpus(X, name="X_val", allow_empty=True, fractions=True)
        if corpus.n_words != n_words:
            raise ValueError(f"X_val has {corpus.n_words} features, but X has {n_words}.")
        n = corpus.n_docs
        target = self._codes(target_columns(y, n, "y_val"), "y_val")
        for t, column in enumerate(target.T):
            known = column[np.isfinite(column)]
            if len(known) == 0 or (self._codings[t].labels is not None and np.ptp(known) == 0):
                raise ValueError("y_val has one class only: no choice can be made on it.")
        covariates = read_covariates(covariates, n, self.n_covariates_, "covariates_val")
        return Documents(
            corpus,
            target,
            read_weight(sample_weight, n, "sample_weight_val"),
            self._offset(exposure, n, "exposure_val"),
            scaling.scale(covariates),
        )

    def _codes(self, columns: list[np.ndarray], name: str) -> np.ndarray:
        if len(columns) != len(self._codings):
            raise ValueError(
                f"{name} has {len(columns)} targets, but the model has {len(self._codings)}."
            )
        return np.column_stack(
            [c.encode(column, name) for c, column in zip(self._codings, columns, strict=True)]
        )

    def _offset(self, exposure: Any, n_docs: int, name: str = "exposure") -> np.ndarray | None:
        """log E for the predictors of Poisson targets."""
        log_exposure = read_exposure(exposure, n_docs, name)
        if log_exposure is None:
            return None
        counted = np.array(
            [c.kind == "poisson" for c in self._codings for _ in range(_width(c))], dtype=float
        )
        if not counted.any():
            raise ValueError(f"{name} is for counts: use family='poisson'.")
        return log_exposure[:, None] * counted

    def _keep_target(self, model: ModelState) -> None:
        self.family_ = model.family
        several = model.coef.ndim == 2
        # Like scikit-learn's linear models: one row a class or target where there are several.
        self.coef_ = np.ascontiguousarray(model.coef.T)
        intercept = np.broadcast_to(np.asarray(model.intercept, dtype=float), model.n_predictors)
        self.intercept_ = intercept.copy() if several else float(intercept[0])
        if model.covariate_coef is not None:
            zeta = model.covariate_coef
            self.covariate_coef_ = np.ascontiguousarray(zeta.T) if several else zeta[:, 0].copy()
        elif hasattr(self, "covariate_coef_"):
            del self.covariate_coef_

    def _family(self) -> Any:
        return self.family_

    def _parts(self) -> list[tuple[Coding, Any, slice]]:
        """Coding, family and predictors of each target."""
        return [
            (c, own, where)
            for c, (own, where) in zip(self._codings, split(self.family_), strict=True)
        ]

    # ---- new documents -----------------------------------------------------------------------

    def _encode_target(self, y: Any, n_docs: int) -> np.ndarray | None:
        if y is None:
            return None
        return self._codes(target_columns(y, n_docs), "y")

    def _read_documents(
        self, X: Any, y: Any = None, exposure: Any = None, covariates: Any = None
    ) -> Documents:
        """New documents with what the model was fitted with besides words."""
        corpus = self._read_counts(X, reset=False)
        n = corpus.n_docs
        return Documents(
            corpus,
            self._encode_target(y, n),
            None,
            self._offset(exposure, n),
            read_covariates(covariates, n, self.n_covariates_),
        )

    def _predictors(self, documents: Documents, mixes: np.ndarray | None = None) -> np.ndarray:
        """f, documents x predictors."""
        state = self._state()
        if mixes is None:
            mixes = self._mixes(documents.corpus)
        problem = documents.problem(1.0, self.n_jobs)
        return mixes @ state.coef_rows.T + problem.offsets(state)

    def explain(self, X: Any, covariates: Any = None, exposure: Any = None) -> Explanation:
        """What words and topics add to the linear predictor of each document; it adds up exactly.

        A word's amount is how far it moves the prediction from that of a document without words.
        """
        return explain(self, self._read_documents(X, None, exposure, covariates))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        return tags


def _width(coding: Coding) -> int:
    return len(coding.labels) if coding.kind == "categorical" else 1


class RegressorPart(TargetPart, RegressorMixin):
    """fit and predict of numbers: real, counted, rated, or several of them."""

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        exposure: Any = None,
        covariates: Any = None,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
        exposure_val: Any = None,
        covariates_val: Any = None,
    ):
        """Fit to counts (documents x words) and targets.

        Parameters
        ----------
        X : counts, documents x words
        y : array (documents,) or (documents, targets)
            NaN or None marks a document (or one of its targets) that is not known: it teaches
            only the words.
        sample_weight : array (documents,), optional
            A document of weight 2 counts like two copies of it.
        exposure : array (documents,), optional
            E of ``family="poisson"``: y ~ Poisson(E e^f).
        covariates : array (documents, covariates), optional
            Numbers that enter the linear predictor beside the topics; pass them to predict, too.
        X_val, y_val, sample_weight_val, exposure_val, covariates_val : optional
            Documents to make choices on. Without them, models of the constrained objective set a
            part of X aside (`validation_fraction`), and joint models keep their last epoch; with
            them, a joint model keeps the epoch that predicts these documents best.
        """
        given = (X_val, y_val, sample_weight_val, exposure_val, covariates_val)
        return self._fit_supervised(
            X, y, sample_weight, exposure, covariates, validation=_validation(given)
        )

    def _codings_of(self, columns: list[np.ndarray], weight: np.ndarray) -> list[Coding]:
        kinds = getattr(self, "family", "gaussian")
        if isinstance(kinds, str):
            kinds = [kinds] * len(columns)
        elif len(kinds) != len(columns):
            raise ValueError(f"family names {len(kinds)} targets, but y has {len(columns)}.")
        for kind in kinds:
            if kind not in REGRESSION_FAMILIES:
                raise ValueError(
                    f"family must be one of {', '.join(map(repr, REGRESSION_FAMILIES))}, or a list "
                    f"of them for several targets; got {kind!r}."
                )
        return read_regression(columns, list(kinds), weight)

    def _set_codings(self, codings: list[Coding]) -> None:
        self._codings = codings
        levels = [c.labels for c in codings if c.kind == "ordinal"]
        if len(codings) == 1 and levels:
            self.levels_ = levels[0]
        elif hasattr(self, "levels_"):
            del self.levels_

    def _keep_target(self, model: ModelState) -> None:
        super()._keep_target(model)
        for name in ("noise_variance_", "thresholds_"):
            if hasattr(self, name):
                delattr(self, name)
        noise = [own.noise_variance for _, own, _ in self._parts() if isinstance(own, Gaussian)]
        if len(self._codings) == 1:
            own = self.family_
            if isinstance(own, Gaussian):
                self.noise_variance_ = float(own.noise_variance)
            if isinstance(own, Ordinal):
                self.thresholds_ = np.asarray(own.thresholds)
        elif noise:
            self.noise_variance_ = np.array(
                [
                    own.noise_variance if isinstance(own, Gaussian) else np.nan
                    for _, own, _ in self._parts()
                ]
            )

    def predict(
        self, X: Any, return_std: bool = False, exposure: Any = None, covariates: Any = None
    ) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
        """E[y | f] of each document: b + η·θ̂, its exponential, or the expected level.

        Parameters
        ----------
        return_std : bool, default=False
            Also the standard deviation of y: noise, and what the words leave open of θ (the Laplace
            covariance at θ̂).

        Returns
        -------
        array (documents,) or (documents, targets), or a pair of them
        """
        documents = self._read_documents(X, None, exposure, covariates)
        mixes = self._mixes(documents.corpus)
        predictor = self._predictors(documents, mixes)
        mean = np.column_stack(
            [c.mean(own, predictor[:, where]) for c, own, where in self._parts()]
        )
        one = len(self._codings) == 1
        if not return_std:
            return mean[:, 0] if one else mean
        spread = self._predictor_variance(documents.corpus, mixes)
        variance = np.column_stack(
            [
                response_variance(c, own, predictor[:, where.start], spread[:, where.start])
                for c, own, where in self._parts()
            ]
        )
        std = np.sqrt(variance)
        return (mean[:, 0], std[:, 0]) if one else (mean, std)

    @available_if(lambda self: _one_ordinal(self))
    def predict_proba(self, X: Any, covariates: Any = None) -> np.ndarray:
        """Probabilities of the levels of an ordinal target, in the order of `levels_`."""
        predictor = self._predictors(self._read_documents(X, None, None, covariates))
        return self._codings[0].probabilities(self.family_, predictor)

    def score(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        exposure: Any = None,
        covariates: Any = None,
    ) -> float:
        """R² of the predictions, over the documents whose targets are all known."""
        predicted = self.predict(X, exposure=exposure, covariates=covariates)
        truth = np.column_stack([as_numbers(c) for c in target_columns(y, len(predicted))])
        known = np.all(np.isfinite(truth), axis=1)
        weight = None if sample_weight is None else np.asarray(sample_weight)[known]
        return float(r2_score(truth[known], predicted[known], sample_weight=weight))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        # R² > ½ is asked on ten columns of normal numbers, moved to be positive. Of these a topic
        # model sees the proportions: R² is 0.3 to 0.6, as the seed will have it.
        tags.regressor_tags.poor_score = True
        return tags


def _validation(given: tuple) -> tuple | None:
    """(X, y, weight, exposure, covariates) of documents to make choices on, if any were given."""
    X_val, y_val, *rest = given
    if (X_val is None) != (y_val is None):
        raise ValueError("Give both X_val and y_val, or neither.")
    if X_val is None and any(part is not None for part in rest):
        raise ValueError("sample_weight_val and the like belong to X_val, which was not given.")
    return None if X_val is None else given


def _one_ordinal(model: Any) -> bool:
    """Whether the one target is ordinal; before fit, whether it was asked for."""
    if hasattr(model, "_codings"):
        return [c.kind for c in model._codings] == ["ordinal"]
    return getattr(model, "family", None) == "ordinal"


class ClassifierPart(TargetPart, ClassifierMixin):
    """fit and predict of classes: two (Bernoulli), more (softmax), or several targets of them."""

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        covariates: Any = None,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
        covariates_val: Any = None,
    ):
        """Fit to counts (documents x words) and classes.

        Parameters
        ----------
        X : counts, documents x words
        y : array (documents,) or (documents, targets)
            Labels of any kind. NaN or None marks a document whose class is not known: it teaches
            only the words. -1 is a label like any other.
        sample_weight : array (documents,), optional
            A document of weight 2 counts like two copies of it.
        covariates : array (documents, covariates), optional
            Numbers that enter the linear predictor beside the topics; pass them to predict, too.
        X_val, y_val, sample_weight_val, covariates_val : optional
            Documents to make choices on. Without them, models of the constrained objective set a
            part of X aside (`validation_fraction`), each class in its proportion, and joint
            models keep their last epoch; with them, a joint model keeps the epoch that predicts
            these documents best.
        """
        given = (X_val, y_val, sample_weight_val, None, covariates_val)
        return self._fit_supervised(
            X, y, sample_weight, None, covariates, validation=_validation(given)
        )

    def _codings_of(self, columns: list[np.ndarray], weight: np.ndarray) -> list[Coding]:
        return read_classes(columns, weight)

    def _set_codings(self, codings: list[Coding]) -> None:
        self._codings = codings
        labels = [c.labels for c in codings]
        self.classes_ = labels[0] if len(labels) == 1 else labels

    @available_if(lambda self: len(getattr(self, "_codings", [0])) == 1)
    def decision_function(self, X: Any, covariates: Any = None) -> np.ndarray:
        """f: log odds of the second class of two, else one column a class.

        Not there for several targets, for which scikit-learn knows no form of it.
        """
        predictor = self._predictors(self._read_documents(X, None, None, covariates))
        return predictor[:, 0] if predictor.shape[1] == 1 else predictor

    def predict_proba(self, X: Any, covariates: Any = None) -> np.ndarray | list[np.ndarray]:
        """Probabilities of the classes, in the order of `classes_`; a list for several targets."""
        predictor = self._predictors(self._read_documents(X, None, None, covariates))
        out = [c.probabilities(own, predictor[:, where]) for c, own, where in self._parts()]
        return out[0] if len(out) == 1 else out

    def predict(self, X: Any, covariates: Any = None) -> np.ndarray:
        """The likeliest class of each document."""
        found = self.predict_proba(X, covariates)
        if len(self._codings) == 1:
            return self.classes_[np.argmax(found, axis=1)]
        chosen = [c.labels[np.argmax(p, axis=1)] for c, p in zip(self._codings, found, strict=True)]
        if len({c.dtype.kind for c in chosen}) > 1:  # numbers would become text beside text
            chosen = [c.astype(object) for c in chosen]
        return np.column_stack(chosen)

    def score(self, X: Any, y: Any, sample_weight: Any = None, covariates: Any = None) -> float:
        """Accuracy over the documents whose classes are known (the mean over several targets)."""
        predicted = self.predict(X, covariates).reshape(-1, len(self._codings))
        columns = target_columns(y, len(predicted))
        weight = np.ones(len(predicted)) if sample_weight is None else np.asarray(sample_weight)
        scores = []
        for t, column in enumerate(columns):
            known = ~is_missing(column)
            right = predicted[known, t] == as_labels(column[known])
            scores.append(np.average(right, weights=weight[known]))
        return float(np.mean(scores))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        # As scikit-learn's naive Bayes models of counts have it: 83% right are asked on two columns
        # of normal numbers, of which a topic model sees the proportion.
        tags.classifier_tags.poor_score = True
        return tags
