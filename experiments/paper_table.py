"""Main table of the paper: coherence and prediction of every model on every data set."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from compared import LAST_EPOCH, MODELS
from measures import higher_is_better, random_words
from paper_fits import MAIN, RERUN, TITLES, Claim, Fits, Plan, Run, metrics_of, task
from runner import Task, markdown, mean_sd

TITLE = "Main table: coherence and prediction"
BOUND_DATA = ("pang_lee", "yelp")
COLUMNS = (
    *(("pmi50", "{:.3f}"), ("npmi10", "{:.3f}"), ("log_ratio10", "{:.3f}")),
    *(("agreement", "{:.3f}"), ("lexicon_right", "{:.1f}"), ("lexicon_wrong", "{:.1f}")),
    *(("kept", "{:.1%}"), ("seconds", "{:.1f}")),
)


def _bound_models(plan: Plan) -> list[str]:
    return [model for model in plan.shown if model.startswith("pf-sLDA")]


def _priors(plan: Plan) -> tuple[float, ...]:
    return (0.10,) if plan.quick else (0.10, 0.15)


def tasks(plan: Plan) -> list[Task]:
    """The grid of every model, and the paper's algorithm from other starts."""
    grid = [
        task(data, split, model, **setting)
        for data in plan.data
        for model in plan.models
        for split in plan.splits
        for setting in plan.grid(model)
    ]
    p = _priors(plan)[0]
    return grid + [task("pang_lee", 0, LAST_EPOCH, s, inclusion_prior=p) for s in plan.starts]


def tables(plan: Plan, fits: Fits, run: Run) -> dict[str, pd.DataFrame]:
    main: list[dict[str, Any]] = []
    for data in plan.data:
        for model in plan.shown:
            for split in plan.splits:
                setting, record = fits.chosen(plan, data, split, model)
                said = " ".join(f"{v:g}" if isinstance(v, float) else v for v in setting.values())
                row = {"data": data, "model": model, "split": split, "setting": said}
                main.append(row | metrics_of(record))
    bounds, rerun = [], []
    for data in (d for d in BOUND_DATA if d in plan.data):
        for p in _priors(plan):
            for model in _bound_models(plan):
                found = [fits.find(data, s, model, inclusion_prior=p) for s in plan.splits]
                row = {"data": data, "p": p, "model": model}
                for name in ("bound", "test", "pmi50", "npmi10", "agreement"):
                    row[name] = float(np.mean([record[name] for record in found]))
                bounds.append(row)
    kept = ("valid", "test", "pmi50", "npmi10", "agreement", "kept")
    starts = [(_priors(plan)[0], 0, start) for start in plan.starts if start > 0]
    for p, split, start in [(p, s, s) for p in _priors(plan) for s in plan.splits] + starts:
        record = fits.find("pang_lee", split, LAST_EPOCH, start, inclusion_prior=p)
        rerun.append({"p": p, "split": split, "start": start} | {k: record[k] for k in kept})
    drawn = random_words(plan.load("pang_lee", 0).train.counts)
    made = {"main": main, "bounds": bounds, "rerun": rerun, "random_words": drawn}
    return {name: pd.DataFrame(rows) for name, rows in made.items()}


# ---- claims --------------------------------------------------------------------------------------


def claims(tables: dict[str, pd.DataFrame]) -> list[Claim]:
    """Coherence and prediction, data set by data set."""
    out = []
    mean = tables["main"].groupby(["data", "model"])[["test", "pmi50"]].mean()
    for data in tables["main"]["data"].unique():
        slda, pc, pf = (mean.loc[(data, m)] for m in ("sLDA", "pc-sLDA", LAST_EPOCH))
        sign = 1 if higher_is_better(data) else -1
        coherence = (
            f"coherence@50: sLDA {slda.pmi50:.2f}, pc-sLDA {pc.pmi50:.2f}, pf-sLDA {pf.pmi50:.2f}"
        )
        name = "AUC" if sign > 0 else "RMSE"
        score = f"{name}: sLDA {slda.test:.3f}, pc-sLDA {pc.test:.3f}, pf-sLDA {pf.test:.3f}"
        gap, gain = sign * (pc.test - pf.test), sign * (pc.test - slda.test)
        out += [
            Claim(
                f"{data}: pf-sLDA has the most coherent topics",
                pf.pmi50 > max(slda.pmi50, pc.pmi50),
                coherence,
            ),
            Claim(
                f"{data}: pc-sLDA has more coherent topics than sLDA",
                pc.pmi50 > slda.pmi50,
                coherence,
            ),
            Claim(
                f"{data}: pc-sLDA and pf-sLDA predict better than sLDA",
                min(sign * pc.test, sign * pf.test) > sign * slda.test,
                score,
            ),
            Claim(
                f"{data}: pf-sLDA predicts about as well as pc-sLDA (nearer to it than to sLDA)",
                gap < gain / 2,
                score,
            ),
        ]
    if "overlap" in tables["main"]:
        overlap = tables["main"].query("model == @LAST_EPOCH")["overlap"].max()
        text = "topics and background of pf-sLDA share hardly any words (βᵀπ near 0)"
        out.append(Claim(text, bool(overlap < 0.05), f"largest overlap {overlap:.3f}"))
    return out


# ---- page ----------------------------------------------------------------------------------------


def page(tables: dict[str, pd.DataFrame]) -> list[str]:
    main = tables["main"]
    parts = [
        "Mean (standard deviation) over the splits, test part. Lexicon: words of the two extreme "
        "topics, of 20, with the right and with the wrong sign. Kept: fraction of words with an "
        "inclusion above 0.99. Seconds: one fit of the chosen setting, one thread, while other "
        "processes run. Chosen: how often each setting was best on the validation part. **Read the "
        "paper's coherence with the warning below; npmi@10 and target agreement are better guides "
        "to topics.**",
        markdown(
            ["model", "what it is"],
            [
                (m, MODELS[m].note if m in MODELS else "the same fits at their last epoch")
                for m in main["model"].unique()
            ],
        ),
    ]
    for data, rows in main.groupby("data", sort=False):
        parts += [f"### {TITLES[data]}", _describe(data), _table(data, rows)]
    parts += ["![prediction against agreement and npmi](figures/main.png)"]
    parts += ["### Differences from the paper", _differences(main), _REASONS]
    parts += _rerun(tables["rerun"])
    parts += _warning(main, tables["random_words"]) + _bounds(tables["bounds"])
    return parts


def _describe(data: str) -> str:
    if not higher_is_better(data):
        return "RMSE, lower is better."
    theirs = "; ".join(
        f"{model} {score.mean:.3f} and {coherence.mean:.3f}"
        for (name, model), (coherence, score) in MAIN.items()
        if name == "asd"
    )
    return f"AUC, higher is better. AUC and coherence of the paper's private records: {theirs}."


def _table(data: str, table: pd.DataFrame) -> str:
    score = "AUC" if higher_is_better(data) else "RMSE"
    header = ["model", score, f"paper's {score}", "coherence@50", "paper's", "npmi@10"]
    header += ["smoothed PMI@10", "agreement", "lexicon", "kept", "seconds", "chosen"]
    lines = []
    for model, rows in table.groupby("model", sort=False):
        cells = {name: mean_sd(rows.get(name, ()), form) for name, form in COLUMNS}
        theirs = MAIN.get((data, model), ("-", "-"))
        right, wrong = (cells[f"lexicon_{w}"].split(" ")[0] for w in ("right", "wrong"))
        lexicon = "-" if right == "-" else f"{right} / {wrong}"
        times = rows["setting"].dropna().astype(str).value_counts()
        chosen = ", ".join(f"{name}: {n}" for name, n in times.items() if name)
        lines.append(
            [
                *(model, mean_sd(rows["test"]), theirs[1], cells["pmi50"], theirs[0]),
                *(cells[name] for name in ("npmi10", "log_ratio10", "agreement")),
                *(
                    lexicon,
                    cells["kept"],
                    cells["seconds"].split(" ")[0],
                    chosen or "-",
                ),
            ]
        )
    return markdown(header, lines)


def _differences(main: pd.DataFrame) -> str:
    mean = main.groupby(["data", "model"])[["test", "pmi50"]].mean()
    lines = []
    for (data, model), (coherence, score) in MAIN.items():
        if (data, model) in mean.index:
            ours = mean.loc[(data, model)]
            row = [data, model]
            for value, published in ((ours.test, score), (ours.pmi50, coherence)):
                away = value - published.mean
                row += [f"{away:+.3f}", f"{away / published.sd:+.1f}"]
            lines.append(row)
    header = ["data", "model", "score - paper's", "in its sd", "coherence - paper's", "in its sd"]
    return markdown(header, lines)


_REASONS = """Likely reasons. The splits of the paper are not public: ours are random ones, and its
standard deviations are presumably over starts on one split, so they do not contain the spread
between splits, which alone is 0.02 to 0.05 RMSE here. Its Yelp sample is another one. Its
vocabulary on Pang & Lee has 4,596 words by a rule that gives 7,819; ours are the 4,596 most
frequent. Our sLDA is fitted by coordinate ascent, the paper's by Adam; our pc-sLDA differentiates
through the optimum of θ and uses roots of counts, the paper's unrolls an inexact inner loop.
Epochs are chosen on the validation part here; the paper does not say how it chose them, and took
settings by a mix of coherence and prediction, while we choose by prediction alone."""


def _rerun(table: pd.DataFrame) -> list[str]:
    own = table[table["split"] == table["start"]]
    lines = []
    for p, rows in own.groupby("p"):
        error, coherence = RERUN[p]
        both = pd.concat([rows["valid"], rows["test"]])
        lines.append(
            [f"{p:.2f}", f"{error:.3f}", f"{both.min():.3f} to {both.max():.3f}"]
            + [mean_sd(rows["valid"]), mean_sd(rows["test"]), f"{coherence:.3f}"]
            + [mean_sd(rows[k]) for k in ("pmi50", "npmi10", "agreement")]
        )
    p = table["p"].min()
    starts = table[(table["p"] == p) & (table["split"] == 0)]
    header = ["p", "RMSE, original code", "ours, all parts", "ours, validation", "ours, test"]
    header += ["coherence, original code", "ours", "npmi@10, ours", "agreement, ours"]
    return [
        "### The original algorithm",
        "The original code was run once on our 4,596 words, 500 epochs, one split (which is not "
        'recorded). Ours, `PFSLDARegressor(solver="gradient")`, on all splits, at the last epoch:',
        markdown(header, lines),
        f"From {len(starts)} starts on split 0, p = {p:.2f}: validation RMSE "
        f"{mean_sd(starts['valid'])}, test {mean_sd(starts['test'])}, coherence "
        f"{mean_sd(starts['pmi50'])}. Starts matter little and splits much: the RMSE of one fit on "
        "626 documents has a standard error of about 0.04.",
    ]


def _warning(main: pd.DataFrame, drawn: pd.DataFrame) -> list[str]:
    lines = [
        [
            f"50 random words in {row.low:.1%} to {row.high:.0%} of documents",
            *(f"{row.pmi50:.2f}", "", f"{row.npmi10:.3f}", f"{row.log_ratio10:.3f}", "-"),
        ]
        for row in drawn.itertuples()
    ]
    rows = main[(main["data"] == "pang_lee") & main["pmi50"].notna()]
    mean = rows.groupby("model", sort=False).mean(numeric_only=True)
    for model, row in mean.iterrows():
        lines.append(
            [model, f"{row.pmi50:.2f}", f"{row.pmi50_rarity:.2f}"]
            + [f"{row[k]:.3f}" for k in ("npmi10", "log_ratio10", "agreement")]
        )
    header = ["words", "paper's coherence@50", "by rarity alone"]
    return [
        "### Warning: the paper's coherence is mostly the rarity of the top words",
        "It adds 0.01 to every probability, so that independent words of document frequency f "
        "score log((f² + 0.01)/(f + 0.01)²): the rarer, the higher. Below, words drawn at random "
        "(20 draws each), and models; the third column is what the top words of a model would "
        "score if they occurred independently of each other. On Pang & Lee:",
        markdown([*header, "npmi@10", "smoothed PMI@10", "agreement"], lines),
        "No choice on this page is made by it.",
    ]


def _bounds(table: pd.DataFrame) -> list[str]:
    shown = ("test", "pmi50", "npmi10", "agreement")
    lines = [
        [r["data"], r["p"], r["model"], f"{r['bound']:.4f}", *(f"{r[k]:.3f}" for k in shown)]
        for _, r in table.iterrows()
    ]
    parts = [
        "### A higher bound is not a better model",
        "The same model and p, optimised in several ways. The bound is a lower bound of log p(w, y)"
        " per training token, each model's own; the tight one is never below the paper's at the "
        "same parameters, but its row is at the epoch chosen on the validation part. Mean over the "
        "splits.",
        markdown(
            ["data", "p", "model", "bound", "RMSE", "coherence@50", "npmi@10", "agreement"], lines
        ),
    ]
    pairs = table.pivot(index=["data", "p"], columns="model", values=["bound", "test", "agreement"])
    ours = "pf-sLDA, coordinate ascent"
    if ours in table["model"].values:
        higher = int((pairs["bound"][ours] > pairs["bound"][LAST_EPOCH]).sum())
        worse = int((pairs["test"][ours] > pairs["test"][LAST_EPOCH]).sum())
        less = int((pairs["agreement"][ours] < pairs["agreement"][LAST_EPOCH]).sum())
        parts.append(
            f"Of {len(pairs)} pairs, coordinate ascent ends with a higher bound than the paper's "
            f"algorithm in {higher}, with a larger error in {worse}, with topics that agree less "
            f"with the target in {less}."
        )
    return parts


def figure(tables: dict[str, pd.DataFrame]) -> Any:
    """Prediction against target agreement and npmi, one panel per data set."""
    from matplotlib import pyplot

    main = tables["main"]
    names = list(main["data"].unique())
    drawn, axes = pyplot.subplots(
        2, len(names), figsize=(3.4 * len(names), 6.4), squeeze=False, layout="constrained"
    )
    colours: Any = pyplot.get_cmap("tab20")
    for j, data in enumerate(names):
        rows = main[main["data"] == data]
        for i, measure in enumerate(("agreement", "npmi10")):
            axis = axes[i, j]
            shown = rows[rows[measure].notna()].groupby("model", sort=False)
            for m, (model, mine) in enumerate(shown):
                ours = model == "focused"
                axis.errorbar(
                    mine["test"].mean(),
                    mine[measure].mean(),
                    xerr=mine["test"].std(ddof=0),
                    yerr=mine[measure].std(ddof=0),
                    fmt="*" if ours else "os^vDPX"[m % 7],
                    color=colours(m),
                    ms=11 if ours else 6,
                    lw=1,
                    label=model,
                )
            words = rows.loc[rows["model"] == "roots of words", "test"]
            axis.axvline(words.mean(), color="grey", lw=1, ls="--", label="regression on words")
            axis.set_ylabel("target agreement" if i == 0 else "npmi@10")
            axis.set_xlabel("AUC" if higher_is_better(data) else "RMSE")
            if not higher_is_better(data):
                axis.invert_xaxis()  # better is to the right everywhere
            axis.set_title(TITLES[data].split(" (")[0], fontsize=9)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    drawn.legend(handles, labels, loc="outside lower center", ncols=4, fontsize=8)
    return drawn
