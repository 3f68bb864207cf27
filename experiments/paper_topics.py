"""Tables of the paper: words of the topics with extreme coefficients, all topics on Pang & Lee.

Words are marked by an opinion lexicon instead of by hand. Codes of health records, and words if no
lexicon is installed (see requirements.txt), are marked by whether the test documents that contain
them have higher or lower targets.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from compared import LAST_EPOCH
from data import Dataset
from measures import REVIEWS, opinion_lexicon
from paper_fits import TITLES, Claim, Fits, Plan, Run, task
from runner import Task, markdown
from scipy import sparse

TITLE = "Topics"
MODELS: dict[str, dict[str, Any]] = {
    "sLDA": {},
    "pc-sLDA": {"supervision_weight": 10.0},
    LAST_EPOCH: {"inclusion_prior": 0.10},
    "focused": {"inclusion_prior": "auto"},
}
TOP = 10
#: Codes are marked if their shrunken mean target is this far from the overall mean, in its sd.
CLEAR = 0.1
TEST_TARGETS = "test targets"
MARKS = {1: "⁺", -1: "⁻", 0: ""}


def tasks(plan: Plan) -> list[Task]:
    return [task(data, 0, model, **MODELS[model]) for data in plan.data for model in MODELS]


def word_signs(data: Dataset) -> tuple[str, np.ndarray]:
    """What marks the words, and 1, -1 or 0 for each."""
    lexicon = opinion_lexicon() if data.name in REVIEWS else None
    if lexicon is not None:
        name, signs = lexicon
        return name, np.array([np.sign(signs.get(word, 0.0)) for word in data.vocabulary])
    present = sparse.csc_array(data.test.counts > 0, dtype=float)
    y = np.asarray(data.test.target, dtype=float)
    mean = (present.T @ (y - y.mean())) / (np.diff(present.indptr) + 5.0)
    return TEST_TARGETS, np.where(np.abs(mean) > CLEAR * y.std(), np.sign(mean), 0.0)


def tables(plan: Plan, fits: Fits, run: Run) -> dict[str, pd.DataFrame]:
    rows = []
    for name in plan.data:
        data = plan.load(name, 0)
        marks, signs = word_signs(data)
        for model, setting in MODELS.items():
            found = fits.find(name, 0, model, **setting)
            for place, k in enumerate(np.argsort(-np.array(found["coef"]), kind="stable"), 1):
                for rank, v in enumerate(found["tops"][k][:TOP], 1):
                    row = {"data": name, "model": model, "topic": place}
                    row |= {"coefficient": found["coef"][k], "rank": rank}
                    row |= {"word": data.vocabulary[v], "sign": int(signs[v]), "marks": marks}
                    rows.append(row)
    return {"topics": pd.DataFrame(rows)}


def claims(tables: dict[str, pd.DataFrame]) -> list[Claim]:
    """Words of the highest topic praise, those of the lowest blame, most clearly in pf-sLDA."""
    out = []
    for data in (d for d in tables["topics"]["data"].unique() if d in REVIEWS):
        right = {}
        for model in ("sLDA", "pc-sLDA", LAST_EPOCH):
            rows = tables["topics"].query("data == @data and model == @model")
            ends = {rows["topic"].min(): 1, rows["topic"].max(): -1}
            right[model] = int(sum((rows["topic"].map(ends) * rows["sign"]).dropna()))
        marks = set(tables["topics"].query("data == @data").get("marks", ["an opinion lexicon"]))
        text = f"{data}: the sentiment of pf-sLDA's extreme topics is the clearest"
        text += f" (by {', '.join(marks)})"
        said = ", ".join(f"{model} {n}" for model, n in right.items())
        held = right[LAST_EPOCH] > max(right["sLDA"], right["pc-sLDA"])
        out.append(Claim(text, held, f"words of right minus wrong sign, of 20: {said}"))
    return out


def _words(rows: pd.DataFrame) -> str:
    words = [
        row.word.replace("|", "/") + MARKS[row.sign]
        for row in rows.sort_values("rank").itertuples()
    ]
    return ", ".join(words)


def page(tables: dict[str, pd.DataFrame]) -> list[str]:
    parts = [
        "Split 0; sLDA, pc-sLDA with λ = 10, pf-sLDA with p = 0.10 (as in the paper), focused with "
        "its defaults. ⁺ and ⁻: the sign of a word in an opinion lexicon (Hu & Liu 2004 where it "
        "is installed, else VADER); for a code, and for a word if no lexicon is installed, whether "
        "test documents with it have higher or lower targets."
    ]
    table = tables["topics"]
    for data, rows in table.groupby("data", sort=False):
        lines = []
        for model, mine in rows.groupby("model", sort=False):
            for label, topic in (("highest", mine["topic"].min()), ("lowest", mine["topic"].max())):
                one = mine[mine["topic"] == topic]
                coefficient = one["coefficient"].iloc[0]
                lines.append([model, f"{label}, {coefficient:.2f}", _words(one)])
        parts += [f"### {TITLES[data]}: topics with extreme coefficients"]
        parts += [markdown(["model", "coefficient", "words"], lines)]
    full = table[table["data"] == "pang_lee"]
    lines = []
    for topic, rows in full.groupby("topic"):
        cells = [
            f"**{mine['coefficient'].iloc[0]:.2f}** {_words(mine)}"
            for _, mine in rows.groupby("model", sort=False)
        ]
        lines.append([topic, *cells])
    parts += ["### All five topics on Pang & Lee", markdown(["", *full["model"].unique()], lines)]
    return parts
