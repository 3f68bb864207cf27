"""The focused model: topic proportions depend on words alone, and are trained through predictions.

`fit` reads from top to bottom: `screening` of every word against the targets, `subjects` (the
subjects of the documents), `inclusion` (how many words to keep), `selection` of the words,
`initialize` and `optimize` the topics, `refit` the coefficients. `objective` has the constrained
objective and its gradient, `data` the documents, `settings` the settings, and `result` the result.
pc-sLDA is the same model with all words kept. `online` learns from batches.
"""

from topicfocus.focused.data import root_counts
from topicfocus.focused.fit import fit_focused, refit_focused
from topicfocus.focused.result import FocusResult
from topicfocus.focused.settings import FocusSettings, SharedStages, TopicPlan

__all__ = [
    "FocusResult",
    "FocusSettings",
    "SharedStages",
    "TopicPlan",
    "fit_focused",
    "refit_focused",
    "root_counts",
]
