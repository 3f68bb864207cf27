"""The focused model, stage by stage.

`fit` reads top to bottom: `evidence` of every word, `themes` of the documents, the `share` of words
to keep, each with its `cut` of the vocabulary and `start` of the topics, `shape` (stopped early by
`stopping`), `refit` of the coefficients, `judge` on documents not trained on. `data` is what they
work on, `settings` what is asked for, `result` what they come to.
"""

from topicfocus.solvers.focus.data import damp
from topicfocus.solvers.focus.fit import fit_focused, refit_focused
from topicfocus.solvers.focus.result import FocusResult
from topicfocus.solvers.focus.settings import FixedInclusion, FocusSettings, ShapingPlan
from topicfocus.solvers.focus.shared import SharedStages

__all__ = [
    "FixedInclusion",
    "FocusResult",
    "FocusSettings",
    "ShapingPlan",
    "SharedStages",
    "damp",
    "fit_focused",
    "refit_focused",
]
