"""The focused model: topic proportions come from the words alone, trained end to end.

`fit` reads from top to bottom: `screening` of every word against the targets, `subjects` (the
subjects of the documents), `inclusion` (how many words to keep), `selection` of the words,
`initialize` and `optimize` the topics, `refit` the coefficients. `objective` is the constrained
objective with its gradient, `data` what all stages work on, `settings` what is asked for, `result`
what is returned. pc-sLDA is the same model with all words kept. `online` learns from batches.
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
