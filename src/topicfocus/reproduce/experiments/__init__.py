"""The seven experiments, in the order of the page."""

from __future__ import annotations

from topicfocus.reproduce.experiments import (
    curves,
    filtering,
    main_table,
    posthoc,
    synthetic,
    top_words,
    topics,
)

EXPERIMENTS = {
    module.NAME: module
    for module in (main_table, curves, topics, filtering, synthetic, top_words, posthoc)
}

__all__ = ["EXPERIMENTS"]
