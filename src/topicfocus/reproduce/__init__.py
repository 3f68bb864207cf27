"""The paper's experiments, run again: baselines, tables and figures.

``compare`` runs any of the models on any data set; ``reproduce`` runs the paper's experiments and
writes a page. On the command line: ``topicfocus reproduce``.
"""

from topicfocus.reproduce.compare import Comparison, compare
from topicfocus.reproduce.lexicon import Lexicon, opinion_lexicon
from topicfocus.reproduce.models import MODELS, Model
from topicfocus.reproduce.run import Outcome, reproduce

__all__ = [
    "MODELS",
    "Comparison",
    "Lexicon",
    "Model",
    "Outcome",
    "compare",
    "opinion_lexicon",
    "reproduce",
]
