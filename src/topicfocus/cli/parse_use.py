"""Arguments of the commands that use a fitted model: predict, explain and report."""

from __future__ import annotations

import argparse

from topicfocus.cli import options


def add_predict(commands: argparse._SubParsersAction) -> None:
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


def add_explain(commands: argparse._SubParsersAction) -> None:
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


def add_report(commands: argparse._SubParsersAction) -> None:
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
        help="documents to make the page from at most, a random choice (default 2000)",
    )
    options.add_reading(report)
    options.add_common(report)


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
