"""Prediction-focused supervised LDA, the paper's model."""

from __future__ import annotations

from typing import Any

from topicfocus.estimators.documents import Documents
from topicfocus.estimators.parameters import check_choice, check_share
from topicfocus.estimators.slda import SupervisedJointModel
from topicfocus.estimators.streaming_targets import StreamingClassifier, StreamingRegressor
from topicfocus.estimators.targets import ClassifierPart, RegressorPart
from topicfocus.inference.state import Hyperparameters
from topicfocus.solvers import CoordinateSolver, FitResult


class _PFSLDA(SupervisedJointModel):
    """Parameters of pf-sLDA and how they choose a solver."""

    def __init__(
        self,
        n_topics: int = 5,
        *,
        inclusion_prior: float = 0.1,
        doc_topic_prior: Any = 1.0,
        supervision_weight: Any = "auto",
        bound: str = "paper",
        solver: str = "auto",
        selection: str = "auto",
        max_epochs: int | None = None,
        tol: float | None = None,
        batch_size: int | None = None,
        learning_rate: float | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.n_topics = n_topics
        self.inclusion_prior = inclusion_prior
        self.doc_topic_prior = doc_topic_prior
        self.supervision_weight = supervision_weight
        self.bound = bound
        self.solver = solver
        self.selection = selection
        self.max_epochs = max_epochs
        self.tol = tol
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _coordinate_solver(self) -> CoordinateSolver:
        selection = self.selection
        if selection == "auto":
            selection = "sort_and_cut" if self.bound == "tight" else "closed_form"
        return CoordinateSolver(selection=selection)

    def _hyperparameters(self, n_topics: int, learn_prior: bool) -> Hyperparameters:
        check_choice("bound", self.bound, ("paper", "tight"))
        check_choice("selection", self.selection, ("auto", "closed_form", "sort_and_cut"))
        name = self._solver_name()
        if self.selection == "sort_and_cut" and name != "coordinate":
            raise ValueError(
                f'selection="sort_and_cut" needs solver="coordinate", got solver={name!r}.'
            )
        return Hyperparameters(
            n_topics=n_topics,
            selects=True,
            inclusion_prior=check_share("inclusion_prior", self.inclusion_prior),
            bound=self.bound,
            supervision_weight=self._supervision(),
            learn_prior=learn_prior,
        )

    def _fit_joint(
        self, documents: Documents, family: Any, held_out: Documents | None = None
    ) -> FitResult:
        if documents.corpus.n_words < 2:
            raise ValueError(
                "X has n_features=1: with a single word there is nothing to choose between. Give "
                "at least two words, or use SLDARegressor/SLDAClassifier."
            )
        return super()._fit_joint(documents, family, held_out)


class PFSLDARegressor(StreamingRegressor, RegressorPart, _PFSLDA):
    """Prediction-focused supervised LDA (AISTATS 2020) for a real target, or another family.

    Each token has a switch ξ ~ Bernoulli(p): relevant ones come from the topics, the others from
    one background distribution π. q(ξ) depends on the word alone, so the model learns which words
    are relevant to y ~ Normal(η·θ, δ).

    Parameters
    ----------
    n_topics : int, default=5
    inclusion_prior : float in (0, 1), default=0.1
        p: the expected share of tokens that are relevant.
    doc_topic_prior : float, array (n_topics,) or "learn", default=1.0
    supervision_weight : float or "auto", default="auto"
        λ, the weight of log p(y); "auto" is 1.
    family : as for :class:`SLDARegressor`
    bound : {"paper", "tight"}, default="paper"
        The paper's bound, or the one with z integrated out where ξ = 0, which is never lower.
    solver : {"auto", "coordinate", "stochastic", "gradient"}, default="auto"
        "auto" is coordinate ascent, whose bound never falls. "gradient" is the paper's own
        algorithm, Adam on everything from a symmetric start: hundreds of epochs to a result that
        depends on its path. See docs/models.md for what each finds on the same reviews.
    selection : {"auto", "closed_form", "sort_and_cut"}, default="auto"
        How coordinate ascent updates inclusion. "sort_and_cut" (tight bound) anneals to exactly
        disjoint channels and is what "auto" means there.
    max_epochs, tol, batch_size, learning_rate, warm_start, n_jobs, random_state, verbose
        As for :class:`LDA`.

    Attributes
    ----------
    components_, doc_topic_prior_, coef_, intercept_, noise_variance_, n_iter_, history_
        As for :class:`SLDARegressor`.
    inclusion_ : array (words,)
        φ_v, the probability that word v is relevant.
    selected_words_ : array of bool (words,)
        φ_v > ½.
    background_ : array (words,)
        π, sums to one.
    """

    def __init__(
        self,
        n_topics: int = 5,
        *,
        inclusion_prior: float = 0.1,
        family: Any = "gaussian",
        doc_topic_prior: Any = 1.0,
        supervision_weight: Any = "auto",
        bound: str = "paper",
        solver: str = "auto",
        selection: str = "auto",
        max_epochs: int | None = None,
        tol: float | None = None,
        batch_size: int | None = None,
        learning_rate: float | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        super().__init__(
            n_topics,
            inclusion_prior=inclusion_prior,
            doc_topic_prior=doc_topic_prior,
            supervision_weight=supervision_weight,
            bound=bound,
            solver=solver,
            selection=selection,
            max_epochs=max_epochs,
            tol=tol,
            batch_size=batch_size,
            learning_rate=learning_rate,
            warm_start=warm_start,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
        )
        self.family = family


class PFSLDAClassifier(StreamingClassifier, ClassifierPart, _PFSLDA):
    """Prediction-focused supervised LDA for classes, as :class:`SLDAClassifier` has them.

    Parameters and attributes are those of :class:`PFSLDARegressor`, with `classes_` and without
    `noise_variance_`.
    """
