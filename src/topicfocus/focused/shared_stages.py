"""Stages that several fits to the same documents have in common.

The screening statistics of words depend on the documents, their targets and the validation
documents; subjects depend on their own number besides. A search creates one `SharedStages` for the
documents of a fold and passes it to every fit whose settings differ in later stages only. The first
fit that needs a stage computes it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from topicfocus.focused.screening import WordEvidence
    from topicfocus.focused.themes import Themes


class SharedStages:
    """Results of stages by name; `fit_focused` reads them or adds what is missing."""

    def __init__(self) -> None:
        self._results: dict[Any, Any] = {}

    def screening(self, compute: Callable[[], WordEvidence]) -> WordEvidence:
        """Screening statistics of the training documents."""
        return self._once("screening", compute)

    def screening_of_all(self, compute: Callable[[], WordEvidence]) -> WordEvidence:
        """Screening statistics of training and validation documents together."""
        return self._once("screening of all", compute)

    def subjects(self, number: int, compute: Callable[[], Themes]) -> Themes:
        """So many subjects of the training documents."""
        return self._once(("subjects", number), compute)

    def _once(self, key: Any, compute: Callable[[], Any]) -> Any:
        if key not in self._results:
            self._results[key] = compute()
        return self._results[key]
