"""The topics of real data sets, to be read: docs/themes.md.

    TOPICFOCUS_DATA=... python experiments/show_themes.py [yelp imdb ...]

All of them take some minutes; each is on the page as soon as it is done.

The focused model with its defaults, on training and validation part of split 0. For each topic:
what it changes on the target's own scale where test documents are (`topic_effects`), its words, the
dropped words it goes with, and three test documents that are most of it (by `composition`, of those
with at least five relevant words), as their target and their relevant words: the texts themselves
are not ours to show.
"""

from __future__ import annotations

import re
import sys
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import themes as bar

import topicfocus

#: What people would say of the topics: written by hand, and kept.
NOTES = "Would they nod?"
TITLES = {
    "yelp": "Restaurants, stars (Yelp)",
    "pang_lee": "Films, ratings 1 to 10 (Pang & Lee)",
    "imdb": "Films, liked or not (IMDB, 10,000)",
    "eicu": "Intensive care, death in hospital (eICU demo)",
    "diabetes": "Diabetics, readmission (diabetes130, 20,000)",
    "poliblog": "Political blogs, conservative or liberal (poliblog5k)",
    "newsgroups": "Newsgroups, 20 classes",
    "yelp_imdb": "Half Yelp, half IMDB, liked or not",
}


def short(word: str) -> str:
    """The end of a code, which says what it is."""
    return word.replace("/", "|").rsplit("|", 1)[-1].strip()


def fitted(data: bar.Data, n_topics: int) -> Any:
    regression = data.task == "regression"
    cls = topicfocus.FocusedTopicRegressor if regression else topicfocus.FocusedTopicClassifier
    model = cls(n_topics, random_state=0)
    return model.fit(*data.train, X_val=data.valid[0], y_val=data.valid[1])


def effects(model: Any, data: bar.Data) -> list[tuple[float, str]]:
    """For each topic, what to sort by and what to say."""
    found = model.topic_effects(data.test[0], as_frame=False)
    out: list[tuple[float, str]] = [(-np.inf, "")] * len(model.components_)
    for i, k in enumerate(found["topic"]):
        low, high, change = (float(found[name][i]) for name in ("low", "high", "change"))
        if data.task == "regression":
            text = f"{low:.2f} → {high:.2f}"
        else:
            text = f"{low:.0%} → {high:.0%}"
            if len(model.classes_) > 2:
                text = f"{found['class'][i]} {text}"
            elif found["class"][i] != model.classes_[1]:
                continue
        if data.task != "multiclass" or change > out[k][0]:
            out[k] = (change, text)
    return out


def documents(model: Any, data: bar.Data, k: int, made_of: np.ndarray) -> str:
    counts, target = data.test
    kept = model.selected_words_
    rows = []
    enough = np.diff(counts[:, kept].indptr) >= 5
    for d in np.argsort(-np.where(enough, made_of[:, k], -1.0), kind="stable")[:3]:
        words = counts[[d]].indices
        words = words[kept[words]]
        words = words[np.argsort(-model.components_[k, words], kind="stable")][:6]
        said = ", ".join(short(str(data.vocabulary[v])) for v in words)
        rows.append(
            f"{target[d]:g}: {said}" if data.task != "multiclass" else f"{target[d]}: {said}"
        )
    return "<br>".join(rows)


def section(name: str) -> list[str]:
    data = bar.load(name, 0)
    model = fitted(data, bar.TOPICS[name])
    made_of, said = model.composition(data.test[0]), effects(model, data)
    words = model.top_words(10, data.vocabulary)
    context = model.context_words(6, data.vocabulary)
    kept = int(model.selected_words_.sum())
    share = model.inclusion_prior_
    lines = ["", f"## {TITLES[name]}", ""]
    kept_of = f"{kept:,} of {len(data.vocabulary):,} words kept, a share of {share:.2f}"
    lines += [f"{kept_of} (version {topicfocus.__version__}, {date.today():%Y-%m-%d}).", ""]
    lines += ["| changes | words | goes with | three documents |", "|---|---|---|---|"]
    for k in np.argsort([-change for change, _ in said], kind="stable"):
        row = [said[k][1], ", ".join(map(short, words[k])), ", ".join(map(short, context[k]))]
        row.append(documents(model, data, k, made_of))
        lines.append("| " + " | ".join(cell.replace("|", "/") for cell in row) + " |")
    print(name, flush=True)
    return lines


def main() -> None:
    about = " ".join((__doc__ or "").split("\n\n")[3].split())
    place = Path(__file__).parent.parent / "docs" / "themes.md"
    before = place.read_text(encoding="utf-8") if place.exists() else ""
    parts = dict(re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", before, re.M | re.S))
    for name in sys.argv[1:] or TITLES:
        parts[TITLES[name]] = "\n".join(section(name)[2:]) + "\n"
        lines = [
            "# Topics to read",
            "",
            f"Made by `python experiments/show_themes.py`. {about}",
            "",
        ]
        for title in [*TITLES.values(), NOTES]:
            if title in parts:
                lines += [f"## {title}", parts[title].rstrip("\n"), ""]
        place.write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
