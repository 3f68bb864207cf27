"""The focused fit with one mechanism removed at a time, on the validation parts of seven data sets.

    python experiments/ablation.py [yelp ...] [--splits 3]     # writes ABLATION.md

A mechanism is switched off by replacing a function or a setting of the package for one fit; the
package has no options for this. Models are fitted to at most `MOST` training documents, which they
split themselves for their choices, and scored on at most
`MOST_SCORED` documents of the validation part.
The test parts are not used.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
from data import Dataset, Part, load
from runner import HERE, Task, arguments, finished, frame, markdown, run, write_page
from themes import TOPICS

import topicfocus
from topicfocus import metrics
from topicfocus.estimators import focused_training
from topicfocus.focused import fit as stages
from topicfocus.focused import inclusion, initialize, refit, screening, selection, themes
from topicfocus.focused.settings import FocusSettings

#: Documents to fit and documents to score, at most, and documents that a word must occur in.
MOST, MOST_SCORED, LEAST_DOCUMENTS = 2_000, 4_000, 5
DATA = ("yelp", "pang_lee", "imdb", "eicu", "diabetes", "poliblog", "newsgroups")
#: Changes of the held-out error, of a metric of topics and of the time that keep a mechanism.
ERROR, READABILITY, TIME = 0.005, 0.02, 0.25


def plan(**changes: Any) -> Any:
    """Other settings of the optimisation of topics."""
    before = FocusSettings.plan
    return patch.object(
        FocusSettings, "plan", property(lambda self: replace(before.fget(self), **changes))
    )


def swap(module: Any, name: str, value: Any) -> Any:
    """Another function or constant of a module."""
    return patch.object(module, name, value)


def without_steps(start: Any, settings: Any, steps: Any, most: int, *rest: Any) -> Any:
    """Topics as they are initialised."""
    return stages.Shaped(state=start.first_state, steps=1)


def only_discoveries(data: Any, evidence: Any, settings: Any) -> Any:
    """Words at a 10% false discovery rate, and no other number of words."""
    if not settings.select:
        return (selection.cut_vocabulary(data, evidence, settings, 1.0),)
    return (selection.cut_discoveries(data, evidence, settings),)


def choose_without_folds(*given: Any) -> Any:
    """The number of words, compared on the documents set aside alone."""
    return inclusion.choose_share(*given[:4], None)


@contextlib.contextmanager
def without_folds_and_discoveries() -> Iterator[None]:
    """20 or 40 tokens per document, compared on the documents set aside."""
    with (
        swap(stages, "choose_share", choose_without_folds),
        swap(selection, "is_chosen", lambda settings: False),
    ):
        yield


def random_subjects(problem: Any, n: int) -> np.ndarray:
    """A start of the subjects without clusters."""
    count = np.maximum(problem.word_counts, 1e-300)[:, None]
    noise = np.random.default_rng(0).gamma(1.0, size=(len(count), n))
    topics = count * noise
    return 0.5 * topics / topics.sum(axis=0) + 0.5 * count / count.sum()


def one_pass(train: Any, held: Any, family: Any, settings: Any, *rest: Any, **more: Any) -> Any:
    """A model of the training documents alone, without those that its choices were made on."""
    return stages.fit_focused(train, held, family, replace(settings, refit=False), *rest, **more)


@dataclass(frozen=True)
class Variant:
    """A fit with one change: what is removed, the change, and what it is compared with."""

    title: str
    change: Callable[[], Any] = contextlib.nullcontext
    settings: tuple[tuple[str, Any], ...] = ()
    model: str = "FocusedTopic"
    against: str = "default"


ALL_WORDS = {"model": "PCSLDA", "against": "pcslda"}
GIVEN = (("inclusion_prior", 0.8),)
VARIANTS: dict[str, Variant] = {
    "default": Variant("the default"),
    "early stopping": Variant("early stopping", settings=(("early_stopping", False),)),
    "pcslda": Variant("pc-sLDA", **ALL_WORDS),
    "pcslda early stopping": Variant(
        "early stopping of pc-sLDA", settings=(("early_stopping", False),), **ALL_WORDS
    ),
    "given": Variant("inclusion 0.8, given", settings=GIVEN, against="given"),
    "correlated words": Variant(
        "filling with correlated words (inclusion 0.8, given)",
        lambda: swap(selection, "complete_by_factors", lambda kept, *rest, **more: kept),
        settings=GIVEN,
        against="given",
    ),
    "shrunk coefficients": Variant(
        "coefficients shrunk toward signs", lambda: swap(refit, "DRAWN", (0.0,))
    ),
    "folds": Variant(
        "the path is compared by cross-validation",
        lambda: swap(stages, "choose_share", choose_without_folds),
    ),
    "discoveries": Variant(
        "the path contains the words at a 10% false discovery rate",
        lambda: swap(selection, "is_chosen", lambda settings: False),
    ),
    "path fdr": Variant(
        "a path, not a 10% false discovery rate alone",
        lambda: swap(inclusion, "automatic_cuts", only_discoveries),
    ),
    "path": Variant(
        "a path, not 40 tokens per document",
        lambda: plan(share_steps=(4.0,)),
    ),
    "path 20": Variant("a path, not 20 tokens per document", lambda: plan(share_steps=(2.0,))),
    "path 20 or 40": Variant(
        "a path with the 10% false discovery rate, compared by cross-validation",
        without_folds_and_discoveries,
    ),
    "second pass": Variant(
        "a second pass on all documents", lambda: swap(focused_training, "fit_focused", one_pass)
    ),
    "carry over": Variant(
        "the second pass continues from the first",
        lambda: swap(initialize, "carry_over", lambda earlier, kept, logits: logits),
    ),
    "diversity": Variant(
        "a second fit where topics overlap", lambda: swap(stages, "LEAST_DIVERSITY", 0.0)
    ),
    "clusters": Variant(
        "subjects start from clusters", lambda: swap(themes, "clustered_topics", random_subjects)
    ),
    "clusterings": Variant("the best of four clusterings", lambda: swap(themes, "CLUSTERINGS", 1)),
    "start mix": Variant("2% of a start without subjects", lambda: plan(start_mix=0.0)),
    "slope only": Variant(
        "signed association also from ridge weights", lambda: plan(ridge_share=0.0)
    ),
    "ridge only": Variant("signed association also from slopes", lambda: plan(ridge_share=1.0)),
    "optimisation": Variant(
        "topics are optimised at all", lambda: swap(stages, "_shape", without_steps)
    ),
    "scaling": Variant("L-BFGS in scaled logits", lambda: plan(scaled=False)),
    "pcslda scaling": Variant("pc-sLDA without scaling", lambda: plan(scaled=True), **ALL_WORDS),
    "area under the curve": Variant(
        "ridge regressions of classes chosen by the area under the curve",
        lambda: swap(screening, "is_ranking", lambda family: False),
    ),
    "shrinkage factor": Variant(
        "the factor of a predictor",
        lambda: swap(stages, "shrinkage_factors", lambda data, fits, design: (1.0,) * len(fits)),
    ),
    "word weights": Variant("words have weights", lambda: plan(weighted=False)),
    "subjects": Variant("topics are subjects with a sign", settings=(("themes", False),)),
    "description length": Variant(
        "words must exceed a threshold before they are ranked by token",
        lambda: plan(smallest_vocabulary=1.0),
    ),
    "marginal only": Variant(
        "screening also by the ridge regression", lambda: plan(marginal_share=1.0)
    ),
    "joint only": Variant("screening also by marginal scores", lambda: plan(marginal_share=0.0)),
    "supervision": Variant("λ: targets in the objective", settings=(("supervision_weight", 1e-9),)),
    "prior of topics": Variant("τ: topics are held", lambda: plan(prior_precision=0.01)),
    "shaping prior": Variant("0.3 of the prior of proportions", lambda: plan(shaping_prior=1.0)),
    "weight cap": Variant(
        "weights are at most three times the mean", lambda: swap(initialize, "FULL_STRENGTH", 1e9)
    ),
    "sharpness": Variant("subjects are sharpened, g = 3 not 1", lambda: plan(theme_sharpness=1.0)),
    "polarity 3": Variant("polarity 6 and not 3", lambda: plan(polarity=3.0)),
}


# ---- fits ----------------------------------------------------------------------------------------


@cache
def some_documents(name: str, split: int) -> Dataset:
    """A split with `MOST` documents of each part, and the words of these."""
    data = load(name, split)
    parts = [
        Part(part.counts[:most], part.target[:most])
        for part, most in ((data.train, MOST), (data.valid, MOST_SCORED))
    ]
    often = np.bincount(parts[0].counts.indices, minlength=len(data.vocabulary))
    words = np.flatnonzero(often >= LEAST_DOCUMENTS)
    parts = [Part(part.counts[:, words], part.target) for part in parts]
    vocabulary = tuple(data.vocabulary[v] for v in words)
    return Dataset(name, parts[0], parts[1], parts[1], vocabulary, data.task, data.target_names)


@contextlib.contextmanager
def changed(variant: Variant) -> Iterator[None]:
    with variant.change():
        yield


def fit(data: Dataset, variant: Variant, n_topics: int, split: int) -> tuple[Any, float]:
    kind = "Regressor" if data.task == "regression" else "Classifier"
    settings = dict(variant.settings)
    with changed(variant):
        model = getattr(topicfocus, variant.model + kind)(
            n_topics, random_state=split, n_jobs=1, **settings
        )
        began = time.process_time()
        model.fit(data.train.counts, data.train.target)
        return model, time.process_time() - began


def work(task: Task) -> dict[str, Any]:
    name = task["data"]
    data = some_documents(name, task["split"])
    model, seconds = fit(data, VARIANTS[task["variant"]], TOPICS[name], task["split"])
    valid = data.valid
    row: dict[str, Any] = {"seconds": seconds, "steps": int(model.n_iter_)}
    if data.task == "regression":
        row["error"] = row["score"] = metrics.rmse(valid.target, model.predict(valid.counts))
    else:
        p = model.predict_proba(valid.counts)
        row["error"] = metrics.log_loss(valid.target, p, model.classes_)
        if data.task == "binary":
            row["score"] = metrics.auc(valid.target, p[:, 1])
        else:
            row["score"] = float(np.mean(model.classes_[p.argmax(axis=1)] == valid.target))
    shown = model.word_ranks() if hasattr(model, "word_ranks") else model.components_
    row["npmi"] = metrics.coherence(shown, data.train.counts, "npmi", 10)
    row["diversity"] = metrics.topic_diversity(shown, 10)
    row["kept"] = float(np.mean(getattr(model, "selected_words_", 1.0)))
    if data.task != "multiclass":
        row["agreement"] = metrics.target_agreement(shown, model.coef_, valid.counts, valid.target)
    return row


# ---- the page ------------------------------------------------------------------------------------


def compare(table: pd.DataFrame, name: str) -> dict[str, pd.Series]:
    """What removing a mechanism changes, per data set: means over splits of paired differences."""
    keys = ["data", "split"]
    mine = table[table["variant"] == name].set_index(keys)
    base = table[table["variant"] == VARIANTS[name].against].set_index(keys)
    base = base.loc[mine.index]
    found = {
        "error": mine["error"] / base["error"] - 1,
        "seconds": mine["seconds"] / base["seconds"] - 1,
        **{field: mine[field] - base[field] for field in ("agreement", "diversity", "npmi")},
    }
    return {field: values.groupby("data", sort=False).mean() for field, values in found.items()}


def verdict(change: dict[str, pd.Series]) -> str:
    """What the mechanism gains by the rule of the page."""
    gains = []
    if (n := int((change["error"] >= ERROR).sum())) >= 2:
        gains.append(f"error on {n}")
    for field in ("agreement", "diversity", "npmi"):
        if (n := int((change[field] <= -READABILITY).sum())) >= 2:
            gains.append(f"{field} on {n}")
    if change["seconds"].mean() >= TIME:
        gains.append("time")
    return ", ".join(gains) or "nothing"


def page() -> list[str]:
    table = frame(finished("ablation"))
    names = [name for name in VARIANTS if name in set(table["variant"])]
    base = table[table["variant"] == "default"].groupby("data", sort=False)
    columns = ("error", "score", "agreement", "diversity", "npmi", "kept", "seconds")
    first = [
        [name, TOPICS[name], *(f"{base.get_group((name,))[c].mean():.3f}" for c in columns)]
        for name in DATA
    ]
    rows, details = [], []
    for name in names:
        if VARIANTS[name].against == name:
            continue
        change = compare(table, name)
        means = {field: values.mean() for field, values in change.items()}
        rows.append(
            [
                VARIANTS[name].title,
                f"{means['error']:+.1%}",
                *(f"{means[field]:+.3f}" for field in ("agreement", "diversity", "npmi")),
                f"{means['seconds']:+.0%}",
                verdict(change),
            ]
        )
        cells = [f"{change['error'][d]:+.1%}" if d in change["error"] else "-" for d in DATA]
        details.append([VARIANTS[name].title, *cells])
    return [
        "# What each mechanism of the focused fit gains",
        "Generated by `python experiments/ablation.py`. Each row is a fit without one mechanism, "
        "compared with the same fit with it (the default unless the row names another model): "
        f"at most {MOST:,} training and {MOST_SCORED:,} validation documents per split, three "
        "splits, one fit each. error: relative change of the RMSE or of the log loss (positive: "
        "the mechanism helps). agreement, diversity and npmi: change of the target agreement, of "
        "the diversity and of the npmi of the ten first words (negative: the mechanism helps). "
        "time: change of the CPU time, measured on a shared machine. Differences of 0.5% of the "
        "error and 0.02 of agreement, diversity or npmi on at least two data sets, or a quarter of "
        "the time, are a gain; differences below 1% of the error or 0.03 on one data set are "
        "within the noise of three splits.",
        "## The default",
        markdown(["data", "topics", "error", "RMSE, AUC or accuracy", *columns[2:]], first),
        "## Means over data sets",
        markdown(
            ["removed", "error", "agreement", "diversity", "npmi", "time", "what it gains"], rows
        ),
        "## Error per data set",
        markdown(["removed", *DATA], details),
    ]


def main() -> None:
    args = arguments(__doc__, DATA, 3)
    tasks = [
        {"data": name, "variant": variant, "split": split}
        for split in range(args.splits)
        for variant in VARIANTS
        for name in args.data
    ]
    if not args.page:
        run("ablation", tasks, work, jobs=1)
    write_page(HERE / "ABLATION.md", *page())


if __name__ == "__main__":
    main()
