"""What all joint models (LDA, sLDA, pf-sLDA) share as estimators: fitting, topic mixes, bounds."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from topicfocus.estimators.base import TopicModel, generator
from topicfocus.estimators.documents import Documents
from topicfocus.estimators.parameters import (
    check_choice,
    check_count,
    check_positive,
    check_prior,
)
from topicfocus.estimators.progress import progress_bar
from topicfocus.inference.joint.bounds import NEGATIVE, bound_terms
from topicfocus.inference.joint.likelihood import exact_log_likelihood, importance_log_likelihood
from topicfocus.inference.joint.statistics import collect
from topicfocus.inference.mixes import initial_concentration
from topicfocus.inference.state import Hyperparameters, ModelState, Problem
from topicfocus.kernels.threads import n_threads
from topicfocus.solvers import (
    CoordinateSolver,
    FitResult,
    GradientSolver,
    Solver,
    StochasticSolver,
    run,
)
from topicfocus.solvers.joint.epoch_choice import EpochChoice
from topicfocus.solvers.joint.starts import near_symmetric_start, perturbed_start

SOLVERS = ("auto", "coordinate", "stochastic", "gradient")

#: (max_epochs, tol) of each solver when they are left at None.
_EPOCHS = {"coordinate": 200, "stochastic": 60, "gradient": 500}
_TOLERANCE = {"coordinate": 1e-5, "stochastic": 2e-6, "gradient": 0.0}


class JointTopicModel(TopicModel):
    """Base of the estimators of the joint objective. Subclasses own the parameters they add."""

    # ---- what a subclass may change ----------------------------------------------------------

    def _hyperparameters(self, n_topics: int, learn_prior: bool) -> Hyperparameters:
        return Hyperparameters(n_topics=n_topics, selects=False, learn_prior=learn_prior)

    def _solver_name(self) -> str:
        return "coordinate" if self.solver == "auto" else self.solver

    def _coordinate_solver(self) -> CoordinateSolver:
        return CoordinateSolver()

    # ---- fitting -----------------------------------------------------------------------------

    def _solver(self, name: str) -> Solver:
        settings: dict[str, Any] = {}
        if self.batch_size is not None:
            settings["batch_size"] = check_count("batch_size", self.batch_size)
        if self.learning_rate is not None:
            settings["learning_rate"] = check_positive("learning_rate", self.learning_rate)
        if name == "stochastic":
            return StochasticSolver(**settings)
        if name == "gradient":
            return GradientSolver(**settings)
        return self._coordinate_solver()

    def _fit_joint(
        self, documents: Documents, family: Any, held_out: Documents | None = None
    ) -> FitResult:
        """Check every parameter, then fit; sets the fitted attributes of all joint models."""
        n_topics = check_count("n_topics", self.n_topics)
        prior, learn = check_prior(self.doc_topic_prior, n_topics)
        check_choice("solver", self.solver, SOLVERS)
        name = self._solver_name()
        hyper = self._hyperparameters(n_topics, learn)
        solver = self._solver(name)
        max_epochs = self.max_epochs
        max_epochs = _EPOCHS[name] if max_epochs is None else check_count("max_epochs", max_epochs)
        tol = _TOLERANCE[name] if self.tol is None else check_positive("tol", self.tol, zero=True)
        n_threads(self.n_jobs)  # an impossible n_jobs is an error now, not after the start
        rng = generator(self.random_state)
        problem = documents.problem(hyper.supervision_weight, self.n_jobs)
        start = self._start(problem, hyper, family, prior, name, rng)
        n_words = problem.corpus.n_words if hyper.selects else None
        watch = None
        if held_out is not None:
            watch = EpochChoice(held_out.problem(1.0, self.n_jobs), family)
        with progress_bar(f"{type(self).__name__} ({name})", n_words, self.verbose) as report:
            result = run(
                solver,
                problem,
                hyper,
                start,
                rng,
                max_epochs=max_epochs,
                tol=tol,
                callback=report,
                watch=watch,
            )
        self._keep(result, hyper)
        return result

    def _start(self, problem, hyper, family, prior, name, rng) -> ModelState:
        if self.warm_start and hasattr(self, "components_"):
            shape = (hyper.n_topics, problem.corpus.n_words)
            if self.components_.shape != shape:
                raise ValueError(
                    f"warm_start=True continues from topics of shape {self.components_.shape}, but "
                    f"the data and n_topics ask for {shape}. Set warm_start=False to start anew."
                )
            return self._warm_state()
        begin = near_symmetric_start if name == "gradient" else perturbed_start
        return begin(problem, hyper, family, prior, rng)

    def _warm_state(self) -> ModelState:
        """The fitted model in the units that fitting uses."""
        return self._state()

    def _keep(self, result: FitResult, hyper: Hyperparameters) -> None:
        self._hyper = hyper
        self._keep_words(result.model)
        self.n_iter_ = len(result.history)
        self.converged_ = result.converged
        self.history_ = {
            "epoch": [info.epoch for info in result.history],
            "objective": [float(info.objective) for info in result.history],
            "kept_words": [info.kept for info in result.history],
            "seconds": [info.seconds for info in result.history],
        }
        if any(np.isfinite(info.validation) for info in result.history):
            self.history_["validation"] = [float(info.validation) for info in result.history]
        if result.interrupted:
            warnings.warn(
                f"The fit was interrupted in epoch {self.n_iter_ + 1}; the model is that of epoch "
                f"{self.n_iter_}. Fit again with warm_start=True to go on from it.",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _keep_words(self, model: ModelState) -> None:
        self.components_ = np.ascontiguousarray(model.topic_word.T)
        self.doc_topic_prior_ = model.doc_topic_prior
        if self._hyper.selects:
            self.inclusion_ = model.inclusion
            self.background_ = model.background
            self.selected_words_ = model.inclusion > 0.5

    # ---- new documents -----------------------------------------------------------------------

    def _read_documents(self, X: Any, y: Any = None) -> Documents:
        """New documents; models with targets also read those."""
        return Documents(self._read_counts(X, reset=False), None)

    def _posterior(self, documents: Documents) -> tuple[Problem, np.ndarray]:
        """The problem of new documents and γ of q(θ), converged."""
        problem = documents.problem(self._hyper.supervision_weight, self.n_jobs)
        state = self._state()
        gamma = initial_concentration(problem.n_docs, state.doc_topic_prior, problem.mean_length())
        collect(problem, state, self._hyper, gamma, max_steps=200, tolerance=1e-7)
        return problem, gamma

    def elbo(
        self, X: Any, y: Any = None, *, per_document: bool = False, **extras: Any
    ) -> dict[str, Any]:
        """The bound of documents under the fitted model, and its eight terms by name.

        Parameters
        ----------
        X : counts
        y : target, optional
            Without it (or where it is NaN) the bound is on log p(w) alone.
        per_document : bool, default=False
            Arrays over documents instead of sums.
        exposure, covariates : optional
            As for predict.

        Returns
        -------
        dict with "bound" and log_p_theta, log_p_z, log_p_y, log_p_xi, log_p_w, log_q_theta,
        log_q_z, log_q_xi; the bound is the first five minus the last three.
        """
        problem, gamma = self._posterior(self._read_documents(X, y, **extras))
        terms = bound_terms(problem, self._state(), self._hyper, gamma)
        bound = sum(-v if name in NEGATIVE else v for name, v in terms.items())
        result = {"bound": bound, **terms}
        return result if per_document else {k: float(v.sum()) for k, v in result.items()}

    def log_likelihood(
        self,
        X: Any,
        y: Any = None,
        *,
        n_samples: int = 500,
        exact: bool = False,
        random_state: int | np.random.Generator | None = 0,
        **extras: Any,
    ) -> np.ndarray:
        """log p(w_d), or log p(w_d, y_d) where a target is given, of every document.

        By importance sampling from q(θ); `exact` enumerates instead, for documents small enough
        (with a target: two topics only). Words that training never saw are left out.
        """
        problem, gamma = self._posterior(self._read_documents(X, y, **extras))
        if exact:
            return exact_log_likelihood(problem, self._state(), self._hyper)
        return importance_log_likelihood(
            problem,
            self._state(),
            self._hyper,
            gamma,
            check_count("n_samples", n_samples),
            np.random.default_rng(random_state),
        )

    def perplexity(self, X: Any, *, n_samples: int = 500, random_state: Any = 0) -> float:
        """exp(-Σ_d log p(w_d) / number of tokens), of held-out documents; lower is better."""
        corpus = self._read_counts(X, reset=False)
        known = self._known_words()
        tokens = float((corpus.counts @ known.astype(float)).sum())
        if tokens == 0:
            raise ValueError("X has no tokens of words that training saw: no perplexity.")
        problem, gamma = self._posterior(Documents(corpus, None))
        value = importance_log_likelihood(
            problem,
            self._state(),
            self._hyper,
            gamma,
            check_count("n_samples", n_samples),
            np.random.default_rng(random_state),
        ).sum()
        return float(np.exp(-value / tokens))

    def _known_words(self) -> np.ndarray:
        known = self.components_.max(axis=0) > 0
        if hasattr(self, "background_"):
            known = known | (self.background_ > 0)
        return known
