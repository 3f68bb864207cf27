"""Merge and rename topics as the settings say, by their numbers as shown."""

from __future__ import annotations

from topicfocus.config import SettingError, setting
from topicfocus.counts import ChunkedCounts, take_rows
from topicfocus.workflow.summary import FittedModel, topic_rows


def correct_topics(fitted: FittedModel) -> None:
    """Rename topics of the model, then merge some of them."""
    config, model = fitted.config, fitted.model
    if not config.merge_topics and not config.rename_topics:
        return
    rows = topic_rows(model, fitted.counted.words, fitted.effects(), fitted.positive)
    component = {row["topic"]: row["component"] for row in rows}

    def of(number: int, name: str) -> int:
        if number not in component:
            raise SettingError(
                f"{setting(name)}: there is no topic {number}; topics are 1 to {len(component)}."
            )
        return component[number]

    names = {of(int(n), "rename_topics"): name for n, name in (config.rename_topics or {}).items()}
    if names:
        model.rename_topics(names)
    place = list(range(len(component)))
    for numbers in config.merge_topics or ():
        group = [of(number, "merge_topics") for number in numbers]
        name = next((names[k] for k in group if k in names), None)
        place = _merge(fitted, [place[k] for k in group], name, place)


def _merge(fitted: FittedModel, group: list[int], name: str | None, place: list[int]) -> list[int]:
    """Merge topics, given by their present places; the places of all former topics after that."""
    first, *rest = sorted(set(group))
    if not rest:
        raise SettingError(f"{setting('merge_topics')}: these topics are one already.")
    counts = fitted.counted.counts
    some = None if isinstance(counts, ChunkedCounts) else take_rows(counts, fitted.parts[0])
    fitted.model.merge_topics([first, *rest], name=name, X=some)
    kept = [k for k in range(max(place) + 1) if k not in rest]
    return [kept.index(first if k in rest else k) for k in place]
