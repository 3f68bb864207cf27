"""The focused model, stage by stage.

`fit` reads top to bottom: `evidence` of every word, `themes` of the documents, the `share` of words
to keep, each with its `cut` of the vocabulary and `start` of the topics, `shape` (stopped early by
`stopping`), `refit` of the coefficients, `judge` on documents not trained on. `data` is what they
work on, `settings` what is asked for, `result` what they come to.
"""

from topicfocus.inference.focused.evidence import Evidence
from topicfocus.inference.focused.lasting import Lasting
from topicfocus.inference.state import ModelState
from topicfocus.solvers.focus.cut import Cut
from topicfocus.solvers.focus.data import damp
from topicfocus.solvers.focus.evidence import Residuals, WordEvidence
from topicfocus.solvers.focus.fit import fit_focused, refit_focused
from topicfocus.solvers.focus.result import Candidate, Choices, FocusResult, ShareTrial
from topicfocus.solvers.focus.settings import FocusSettings, ShapingPlan
from topicfocus.solvers.focus.themes import Themes
from topicfocus.solvers.linear import Linear
from topicfocus.solvers.protocol import StepInfo

#: What checkpointed stages hold: the store has to know these classes.
CHECKPOINT_RECORDS = (
    Candidate,
    Choices,
    Cut,
    Evidence,
    Lasting,
    Linear,
    ModelState,
    Residuals,
    ShareTrial,
    StepInfo,
    Themes,
    WordEvidence,
)

__all__ = [
    "CHECKPOINT_RECORDS",
    "FocusResult",
    "FocusSettings",
    "ShapingPlan",
    "damp",
    "fit_focused",
    "refit_focused",
]
