"""Arguments of the commands that fit a model: fit and tune."""

from __future__ import annotations

import argparse
from typing import Any

from topicfocus.cli import options
from topicfocus.workflow.options import KINDS, MODELS, SELECTIONS


def add_fit(commands: argparse._SubParsersAction, defaults: dict[str, Any]) -> None:
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


def add_tune(commands: argparse._SubParsersAction, defaults: dict[str, Any]) -> None:
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
    _scale(tune)
    options.add_reading(tune)
    options.add_common(tune)
    # What is chosen here is not taken from a config.
    chosen = ("topics", "inclusion_prior", "fingerprint")
    tune.set_defaults(**{name: value for name, value in defaults.items() if name not in chosen})


def _scale(parser: argparse.ArgumentParser) -> None:
    """More documents than memory holds."""
    group = parser.add_argument_group("many documents (docs/scale.md)")
    group.add_argument(
        "--out-of-core",
        action="store_true",
        default=None,
        help="keep counts in a temporary folder on disk instead of memory, and read them in chunks "
        "(default: when the files are large for the memory that is free)",
    )
    group.add_argument(
        "--cluster",
        metavar="ADDRESS",
        help="fit on a Dask cluster (pip install 'topicfocus[dask]'): the address of its "
        "scheduler, or local for processes of this machine; the same model",
    )


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
