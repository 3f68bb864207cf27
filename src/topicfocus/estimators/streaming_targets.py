"""`partial_fit` with targets: what each batch must hold, and what the first one settles."""

from __future__ import annotations

from typing import Any

import numpy as np

from topicfocus.estimators.coding import (
    Coding,
    as_numbers,
    read_classes,
    several_or_one,
    target_columns,
)
from topicfocus.estimators.documents import Documents, Scaling, read_covariates, read_weight
from topicfocus.estimators.streaming import Streaming, without_weightless
from topicfocus.estimators.targets import TargetPart


class StreamingTargets(TargetPart, Streaming):
    """Batches with targets."""

    def _partial_fit(
        self,
        X: Any,
        y: Any,
        labels: Any,
        sample_weight: Any,
        exposure: Any,
        covariates: Any,
    ):
        first = self._first_batch()
        if not first:
            self._check_stream()
        corpus = self._read_counts(X, reset=first)
        n = corpus.n_docs
        weight = read_weight(sample_weight, n)
        every = np.ones(n) if weight is None else weight
        columns = target_columns(y, n)
        if first:
            self._set_codings(self._stream_codings(columns, every, labels))
        else:
            self._check_labels(labels)
        self._check_values(columns)
        target = self._codes(columns, "y")
        covariates = read_covariates(covariates, n, None if first else self.n_covariates_)
        if first:
            _check_first(target, every)
            self.n_covariates_ = 0 if covariates is None else covariates.shape[1]
            # Units to compute in, nothing more: those of the first batch serve all.
            self._scaling = Scaling.of(covariates, every)
        offset = self._offset(exposure, n)
        scaled = self._scaling.scale(covariates)
        documents = without_weightless(Documents(corpus, target, weight, offset, scaled))
        if first:
            families = [c.start(target[:, t], every) for t, c in enumerate(self._codings)]
            stream = self._begin_stream(documents, several_or_one(families))
        else:
            stream = getattr(self, "_stream", None) or self._inherit_stream(documents)
        stream, model = self._advance_stream(stream, documents)
        if model is not None:
            self._keep_target(self._scaling.restore(model))
        self._stream = stream
        self._count(documents, first)
        return self

    def _check_values(self, columns: list[np.ndarray]) -> None:
        """Values that a family cannot have; numbers outside its labels with what to do."""
        for coding, column in zip(self._codings, columns, strict=False):
            if coding.kind == "categorical" or hasattr(self, "classes_"):
                continue
            values = as_numbers(column)
            known = np.isfinite(values)
            bad = np.zeros(len(values), dtype=bool)
            if coding.kind == "poisson":
                bad, wanted = known & (values < 0), "counts, 0 or more"
            elif coding.kind == "bernoulli":
                bad, wanted = known & (values != 0) & (values != 1), "0 or 1"
            elif coding.kind == "ordinal":
                bad = known & ~np.isin(values, coding.labels)
                wanted = (
                    f"one of the levels {coding.labels.tolist()} of the first call to "
                    "partial_fit or fit; pass levels=[...] with all of them at the first call"
                )
            if bad.any():
                row = int(np.argmax(bad))
                raise ValueError(
                    f"family={coding.kind!r} needs targets that are {wanted}, but row {row} of y "
                    f"is {values[row]:g}."
                )


def _check_first(target: np.ndarray, weight: np.ndarray) -> None:
    for column in target[weight > 0].T:
        known = column[np.isfinite(column)]
        if len(known) == 0 or np.ptp(known) == 0:
            raise ValueError(
                "The first batch must hold documents with two or more different targets (two or "
                "more classes), or there is nothing to tell apart: make it larger, or shuffle the "
                "documents."
            )


def _for_each(labels: Any, n_targets: int, name: str) -> list:
    """One list of labels a target."""
    if n_targets == 1 and (len(labels) == 0 or np.ndim(labels[0]) == 0):
        return [labels]
    if len(labels) != n_targets:
        raise ValueError(f"{name} is for {len(labels)} targets, but y has {n_targets}.")
    return list(labels)


def _levels(given: Any) -> np.ndarray:
    return np.unique(as_numbers(np.asarray(given), "levels"))


class StreamingRegressor(StreamingTargets):
    """`partial_fit` of numbers."""

    def partial_fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        exposure: Any = None,
        covariates: Any = None,
        levels: Any = None,
    ):
        """Learn from a batch, after those of earlier calls. See docs/streaming.md.

        Parameters
        ----------
        X, y, sample_weight, exposure, covariates
            As for fit. The targets of the first batch must not all be the same.
        levels : array, optional
            Of ``family="ordinal"``: all levels there will be (one array for each target, None for
            one that is not ordinal, where there are several). By default those of the first batch.
            Only needed at the first call.
        """
        return self._partial_fit(X, y, levels, sample_weight, exposure, covariates)

    def _stream_codings(
        self, columns: list[np.ndarray], weight: np.ndarray, levels: Any
    ) -> list[Coding]:
        _check_first(np.column_stack([as_numbers(column) for column in columns]), weight)
        codings = self._codings_of(columns, weight)
        if levels is None:
            return codings
        given = _for_each(levels, len(columns), "levels")
        out = []
        for coding, own in zip(codings, given, strict=True):
            if own is not None and coding.kind != "ordinal":
                raise ValueError(f"levels are for family='ordinal', not {coding.kind!r}.")
            out.append(coding if own is None else Coding("ordinal", _levels(own)))
        return out

    def _check_labels(self, levels: Any) -> None:
        if levels is None:
            return
        for coding, own in zip(
            self._codings, _for_each(levels, len(self._codings), "levels"), strict=True
        ):
            if own is not None and not np.array_equal(coding.labels, _levels(own)):
                raise ValueError(f"levels={own!r} is not what the model has: {coding.labels}.")


class StreamingClassifier(StreamingTargets):
    """`partial_fit` of classes."""

    def partial_fit(
        self,
        X: Any,
        y: Any,
        classes: Any = None,
        sample_weight: Any = None,
        covariates: Any = None,
    ):
        """Learn from a batch, after those of earlier calls. See docs/streaming.md.

        Parameters
        ----------
        X, y, sample_weight, covariates
            As for fit. The first batch must have documents of two classes or more.
        classes : array
            All classes there will be (a list of arrays for several targets). Must be given at the
            first call.
        """
        return self._partial_fit(X, y, classes, sample_weight, None, covariates)

    def _stream_codings(
        self, columns: list[np.ndarray], weight: np.ndarray, classes: Any
    ) -> list[Coding]:
        if classes is None:
            raise ValueError("classes must be passed on the first call to partial_fit.")
        given = _for_each(classes, len(columns), "classes")
        return [read_classes([np.asarray(own)], np.ones(len(own)), "classes")[0] for own in given]

    def _check_labels(self, classes: Any) -> None:
        if classes is None:
            return
        for coding, own in zip(
            self._codings, _for_each(classes, len(self._codings), "classes"), strict=True
        ):
            if not np.array_equal(coding.labels, np.unique(np.asarray(own))):
                raise ValueError(
                    f"`classes={own!r}` is not the same as on last call to partial_fit, was: "
                    f"{coding.labels!r}"
                )
