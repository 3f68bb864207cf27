"""The result of a fit at widths of terminals, with many topics and classes."""

import io

import pytest
from rich.console import Console

from topicfocus.cli import show

NAMES = [f"group.{'very.' * (i % 4)}long.name.{i}" for i in range(20)]


def result(n_topics=20, n_classes=20):
    """As `fit` makes it: each topic has a class, some classes have two topics, some none."""
    topics = [
        {
            "topic": k + 1,
            "component": k,
            "share": 1 / n_topics,
            "low": 0.002,
            "high": 0.9,
            "change": 0.898,
            "changes": {},
            "class": NAMES[min(k // 2 * 2, n_classes - 1)],
            "words": [f"word{k}of{j}" for j in range(10)],
        }
        for k in range(n_topics)
    ]
    return {
        "model": "FocusedTopicClassifier",
        "settings": {},
        "target": {"kind": "classes", "classes": NAMES[:n_classes]},
        "documents": {"train": 1000, "test": 200},
        "seconds": 1.0,
        "steps": 10,
        "topics": topics,
        "words": {"selects": False, "words": 500},
        "warnings": [],
        "held_out": {"model": {"auc": 0.9, "accuracy": 0.8, "log_loss": 0.3}},
    }


def shown(monkeypatch, what, width):
    out = io.StringIO()
    console = Console(file=out, width=width, highlight=False)
    monkeypatch.setattr(show, "result_console", lambda: console)
    show.show(what)
    lines = out.getvalue().splitlines()
    assert max(map(len, lines)) <= width
    return lines


@pytest.mark.parametrize("width", [40, 80, 120])
def test_many_topics_are_shown_whole(monkeypatch, width):
    lines = shown(monkeypatch, result(), width)
    text = " ".join(" ".join(lines).split())
    for k in range(20):  # no topic without words, and none of its words left out
        assert all(f"word{k}of{j}" in text for j in range(10))
    assert "<1% → 90%" in text and any("0.900" in line for line in lines)
    assert "These classes have no topic with which they are most probable:" in text
    assert width == 40 or (NAMES[1] in text and NAMES[18] in text)


def test_the_head_of_the_table_is_one_line_at_80_columns(monkeypatch):
    """Also with long classes and intervals: no number is on another line than its head."""
    what = result()
    for row in what["topics"]:
        row |= {"estimate": 0.5, "lower": 0.41, "upper": 0.59}
    (head,) = (line for line in shown(monkeypatch, what, 80) if line.startswith("topic  "))
    assert head.split()[-1] == "proportion"
    text = " ".join(" ".join(shown(monkeypatch, what, 80)).split())
    assert "by 50 points (95% interval +41 to +59; the model predicts <1% → 90% for a" in text


def test_sentences_come_first(monkeypatch):
    what = result(3, 20)
    what["topics"][0]["class"] = "cats"
    lines = shown(monkeypatch, what, 120)
    words = "word0of0, word0of1, word0of2"
    wanted = f"Documents with much of {words} are more often of class cats (<1% → 90%)."
    assert wanted in lines[:6]
    assert any("predicts the right class for 80%" in line for line in lines[:9])
