"""Blind reading of topics: items for raters, and what their answers say.

    python experiments/readability.py items                 # items and key from comparison.jsonl
    python experiments/readability.py score                 # READABILITY.md from the answers

Items are made of the topics of split 0 of experiments/comparison.py, in random order and without
the name of the model. For each topic a rater answers

- intruder: which of six words does not belong to the other five; they are the first five words of
  the topic, and one of the first words of another topic of the same model that is not among the
  first ten of this one;
- coherence: 1 (a mixture), 2 (partly one subject), 3 (one subject), from the first ten words;
- usefulness: 1 (says nothing about the outcome), 2 (somewhat), 3 (an analyst could act on it);
- lean: whether documents with much of the topic have a high (1) or a low (-1) outcome, or 0 if the
  words do not say.

A rater is a person or a language model, and sees readability/items.json alone. Answers are a file
readability/answers-NAME.json: {"rater": who or what rated, "answers": {item: {"intruder": word,
"coherence": 1, "usefulness": 1, "lean": 0}}}.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import runner
from comparison import NAMES

HERE = Path(__file__).parent
FOLDER = HERE / "readability"
DATA = {
    "yelp": "stars of restaurant and shop reviews, 1 to 5",
    "pang_lee": "ratings of film reviews, 1 to 10",
}
MODELS = ("focused", "bertopic", "lda", "slda", "pfslda")
WORDS, LONG = 5, 10
SEED = 7


def make_items() -> None:
    """Write the items, and the key that raters do not see."""
    rng = np.random.default_rng(SEED)
    items, key = [], {}
    for record in runner.finished("comparison"):
        data, model = record["data"], record["model"]
        if record["split"] != 0 or data not in DATA or model not in MODELS:
            continue
        topics = record["topics"]
        for k, words in enumerate(topics):
            others = [w for j, other in enumerate(topics) if j != k for w in other[:WORDS]]
            strange = sorted(set(others) - set(words[:LONG]))
            intruder = str(rng.choice(strange))
            six = [*words[:WORDS], intruder]
            item = {"outcome": DATA[data], "words": words[:LONG]}
            item["one does not belong"] = [six[i] for i in rng.permutation(len(six))]
            lean = None if record.get("lean") is None else int(record["lean"][k])
            items.append(
                (
                    item,
                    {"data": data, "model": model, "topic": k, "intruder": intruder, "lean": lean},
                )
            )
    order = rng.permutation(len(items))
    numbered = {f"{n:03d}": items[i] for n, i in enumerate(order, 1)}
    FOLDER.mkdir(exist_ok=True)
    key = {number: answer for number, (_, answer) in numbered.items()}
    shown = {number: item for number, (item, _) in numbered.items()}
    for name, content in (("items", shown), ("key", key)):
        text = json.dumps(content, indent=1, ensure_ascii=False)
        (FOLDER / f"{name}.json").write_text(text + "\n", encoding="utf-8")


def read_answers() -> list[tuple[str, dict[str, Any]]]:
    """The answers of every rater, each checked to be complete."""
    items = json.loads((FOLDER / "items.json").read_text(encoding="utf-8"))
    found = []
    for path in sorted(FOLDER.glob("answers-*.json")):
        content = json.loads(path.read_text(encoding="utf-8"))
        answers = content["answers"]
        if missing := sorted(set(items) - set(answers)):
            raise ValueError(f"{path.name} has no answer for the items {', '.join(missing)}")
        for number, item in items.items():
            if answers[number]["intruder"] not in item["one does not belong"]:
                raise ValueError(f"{path.name}, item {number}: the intruder is not one of the six")
        found.append((content["rater"], answers))
    if not found:
        raise SystemExit(f"there are no answers in {FOLDER.name}/: see the head of this file")
    return found


def score() -> None:
    """Write the page: means over topics and raters, and how far raters agree."""
    key = json.loads((FOLDER / "key.json").read_text(encoding="utf-8"))
    raters, rows = read_answers(), []
    for data in DATA:
        for model in MODELS:
            numbers = [n for n, k in key.items() if (k["data"], k["model"]) == (data, model)]
            if not numbers:
                continue
            some = [(key[n], answers[n]) for _, answers in raters for n in numbers]
            signs = [(k, a) for k, a in some if k["lean"]]
            rows.append(
                [
                    data,
                    NAMES[model].split(",")[0],
                    len(numbers),
                    f"{np.mean([k['intruder'] == a['intruder'] for k, a in some]):.2f}",
                    f"{np.mean([a['coherence'] for _, a in some]):.2f}",
                    f"{np.mean([a['usefulness'] for _, a in some]):.2f}",
                    f"{sum(k['lean'] == a['lean'] for k, a in signs)} of {len(signs)}",
                ]
            )
    header = ["data", "model", "topics", "intruder found", "coherence", "usefulness", "sign right"]
    runner.write_page(
        HERE / "READABILITY.md",
        "# Blind reading of topics",
        "Generated by `python experiments/readability.py score` from `readability/`: items, key "
        "and answers. Topics of split 0 of [the comparison](COMPARISON.md), shuffled and without "
        "the name of the model. Coherence and usefulness are from 1 to 3, means over topics and "
        "raters. "
        "The sign is that of the coefficient of the topic; a rater may also say that the words do "
        "not tell.",
        "Raters: " + "; ".join(name for name, _ in raters) + ".",
        runner.markdown(header, rows),
        agreement(raters),
    )


def agreement(raters: list[tuple[str, dict[str, Any]]]) -> str:
    """How often two raters give the same answer."""
    if len(raters) < 2:
        return "One rater: nothing can be said about agreement."
    (_, first), (_, second) = raters[:2]
    shares = [
        f"{question} {np.mean([first[n][question] == second[n][question] for n in first]):.0%}"
        for question in ("intruder", "coherence", "usefulness", "lean")
    ]
    return f"The first two raters give the same answer: {', '.join(shares)}."


if __name__ == "__main__":
    actions = {"items": make_items, "score": score}
    if len(sys.argv) != 2 or sys.argv[1] not in actions:
        raise SystemExit("usage: python experiments/readability.py items|score")
    actions[sys.argv[1]]()
