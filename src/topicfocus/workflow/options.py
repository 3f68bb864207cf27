"""Settings of the workflow, checked where they are made. Imports nothing heavy."""

from __future__ import annotations

import importlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from topicfocus.workflow.errors import SettingError
from topicfocus.workflow.wording import setting, spoken

KINDS = ("real", "count", "ordinal", "classes")
MODELS = ("focused", "pf-slda", "pc-slda", "slda")
FORMATS = ("csv", "tsv", "jsonl", "parquet", "xlsx", "folder", "counts")
#: Models that keep some words and drop the others.
SELECTING = ("focused", "pf-slda")
#: How the focused model chooses words.
SELECTIONS = ("predictive", "stable")
#: Least and most: a topic costs a document the square of their number; NumPy's seeds have 32 bits.
_LIMITS = (
    ("topics", 1, 10_000),
    ("seed", 0, 2**32 - 1),
    ("jobs", 1, 10_000),
    ("stability", 0, 10_000),
)

#: A class that counts for more is a slip of the pen.
_HEAVIEST = 1e6


def _one_of(name: str, value: str | None, names: tuple[str, ...]) -> None:
    if value is not None and value not in names:
        raise SettingError(f"{setting(name)} is one of {', '.join(names)}, not {value!r}.")


def _check_limits(name: str, value: int, least: int, most: int) -> None:
    if value < least:
        raise SettingError(f"{setting(name)} must be at least {least}, got {value}.")
    if value > most:
        shown = f"{value:,}" if value < 10**15 else "more"
        raise SettingError(f"{setting(name)} must be at most {most:,}, got {shown}.")


@dataclass(frozen=True, kw_only=True)
class ReadOptions:
    """How a file is read.

    Parameters
    ----------
    format : {"csv", "tsv", "jsonl", "parquet", "xlsx", "folder", "counts"}, optional
        What the file is; by default its name says so.
    delimiter : str, optional
        Between columns; by default noticed.
    encoding : str, default="utf-8"
        Of text files.
    skip_bad : bool, default=False
        Leave unreadable rows out, and count them.
    vocabulary : path-like, optional
        A file with the words of a count matrix, one a line, in the order of its columns.
    sheet : str, optional
        Of an Excel file that has several.
    """

    format: str | None = None
    delimiter: str | None = None
    encoding: str = "utf-8"
    skip_bad: bool = False
    vocabulary: Any = None
    sheet: str | None = None

    def __post_init__(self) -> None:
        _one_of("format", self.format, FORMATS)


@dataclass(frozen=True, kw_only=True)
class CountOptions:
    """Which words are counted; None is the default, which depends on the data.

    Parameters
    ----------
    stop_words : name of a language, sequence of str, "auto" or None, default="auto"
        Words that are not counted. "auto" is English ones, and none with a separator.
    min_df, max_df : int or float, optional
        Leave out words in fewer, or more, documents of the training part: a number of them or a
        share. By default 10 and 0.5; rarer words are kept with fewer than 2,000 documents, and a
        count matrix is taken as it is.
    max_features : int, optional
        Keep so many words, the most frequent.
    ngrams : (int, int), default=(1, 1)
        Lengths of runs of words: (1, 2) is words and pairs of words.
    min_length : int, default=2
        Characters of the shortest word.
    lowercase : bool, default=True
    separator : str, optional
        Documents are codes with this between them, such as ";", or lists of them in JSON or
        Parquet: each code is counted as it is.
    tokenizer : callable or str, optional
        A function from a text to a list of tokens, or where to import it from:
        "package.module:function". Model files have its name only, and whoever loads one passes the
        function again (docs/text.md).

    Examples
    --------
    >>> from topicfocus.workflow import CountOptions
    >>> CountOptions(min_df=5, ngrams=(1, 2)).counter().ngram_range
    (1, 2)
    """

    stop_words: str | Sequence[str] | None = "auto"
    min_df: int | float | None = None
    max_df: int | float | None = None
    max_features: int | None = None
    ngrams: tuple[int, int] = (1, 1)
    min_length: int = 2
    lowercase: bool = True
    separator: str | None = None
    tokenizer: Any = None

    def __post_init__(self) -> None:
        if self.separator is None:
            return
        if not self.separator:
            raise SettingError(f"{setting('separator')} must be one character or more.")
        for name, value, default in (
            ("ngrams", tuple(self.ngrams), (1, 1)),
            ("min_length", self.min_length, 2),
            ("tokenizer", self.tokenizer, None),
        ):
            if value != default:
                raise SettingError(
                    f"{setting(name)} is for words of texts; with {setting('separator')} codes are "
                    "counted as they are."
                )

    @property
    def stops(self) -> str | Sequence[str] | None:
        """The stop words to use: none of codes unless they are given."""
        if self.stop_words == "auto":
            return "english" if self.separator is None else None
        return self.stop_words

    def counter(self, **settings: Any) -> Any:
        """A counter by these rules.

        Parameters
        ----------
        **settings
            Other parameters of the counter.

        Returns
        -------
        TokenCounter

        Examples
        --------
        >>> from topicfocus.workflow import CountOptions
        >>> CountOptions(min_length=3).counter(min_df=2).min_length
        3
        """
        from topicfocus.text import TokenCounter

        return TokenCounter(
            lowercase=self.lowercase,
            min_length=self.min_length,
            ngram_range=self.ngrams,
            separator=self.separator,
            tokenizer=_imported(self.tokenizer),
            **settings,
        )


def _imported(tokenizer: Any) -> Any:
    """The function that a user's own program names; never called with a name from a file."""
    if not isinstance(tokenizer, str):
        return tokenizer
    if spoken("command", "call") == "command":
        # Whatever names it there, an option or a file of settings: nothing is imported by it.
        raise SettingError("a tokenizer is for Python only: CountOptions(tokenizer=function).")
    module, colon, name = tokenizer.partition(":")
    if not colon or not module or not name:
        raise SettingError(
            f"{setting('tokenizer')} is a function or where to import it from, such as "
            f"'package.module:function', not {tokenizer!r}."
        )
    try:
        found: Any = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        raise SettingError(f"{setting('tokenizer')} {tokenizer!r}: {error}.") from error
    return found


@dataclass(frozen=True, kw_only=True)
class TuneOptions:
    """What is tried on folds of the training part, and how one setting is taken.

    Parameters
    ----------
    topics : tuple of int, default=(3, 5, 10)
    shares : tuple of float, default=(0.05, 0.1, 0.2, 0.4)
        Inclusion priors; none leaves the model's own. For models that select words.
    folds : int, default=5
    rule : {"one-standard-error", "best"}, default="one-standard-error"
        The simplest setting as good as the best, within its standard error, or the best.

    Examples
    --------
    >>> from topicfocus.workflow import TuneOptions
    >>> TuneOptions(topics=(2, 4)).folds
    5
    """

    topics: tuple[int, ...] = (3, 5, 10)
    shares: tuple[float, ...] = (0.05, 0.1, 0.2, 0.4)
    folds: int = 5
    rule: str = "one-standard-error"

    def __post_init__(self) -> None:
        _one_of("rule", self.rule, ("one-standard-error", "best"))
        if not self.topics:
            raise SettingError(f"{setting('topics')} must be numbers of at least 1.")
        for topics in self.topics:
            _check_limits("topics", topics, *_LIMITS[0][1:])
        if any(not 0 < share < 1 for share in self.shares):
            raise SettingError(f"{setting('shares')} must lie between 0 and 1.")
        if self.folds < 2:
            raise SettingError(f"{setting('folds')} must be at least 2, got {self.folds}.")


@dataclass(frozen=True, kw_only=True)
class ModelOptions:
    """What is fitted, and how it is tested.

    Parameters
    ----------
    model : {"focused", "pf-slda", "pc-slda", "slda"}, default="focused"
    topics : int or "auto", default=5
        "auto": chosen on folds.
    inclusion_prior : float or "auto", optional
        Expected share of relevant tokens, for focused and pf-slda.
    selection : {"predictive", "stable"}, default="predictive"
        Words that predict best, or those that other samples would keep, too; for focused.
    tuning : TuneOptions, optional
        What is tried where `topics` is "auto"; by default numbers of topics alone.
    class_weight : "balanced" or dict of str to float, optional
        What documents of a class count for, by its name; 1 for those that are not named.
    stability : int, default=0
        Pairs of halves that the model is fitted to once more, to see what comes back.
    test_share : float, default=0.2
        Share of the documents that is held out.
    seed : int, default=0
    jobs : int, optional
        Threads; all cores by default.
    """

    model: str = "focused"
    topics: int | str = 5
    inclusion_prior: float | str | None = None
    selection: str = "predictive"
    tuning: TuneOptions | None = None
    class_weight: str | dict[str, float] | None = None
    stability: int = 0
    test_share: float = 0.2
    seed: int = 0
    jobs: int | None = None

    def __post_init__(self) -> None:
        _one_of("model", self.model, MODELS)
        for name, least, most in _LIMITS:
            value = getattr(self, name)
            if value is not None and (value != "auto" or name != "topics"):
                _check_limits(name, value, least, most)
        if not 0 < self.test_share < 1:
            raise SettingError(
                f"{setting('test_share')} must lie between 0 and 1, got {self.test_share}."
            )
        if self.stability < 0 or self.stability == 1:
            raise SettingError(
                f"{setting('stability')} must be at least 2 pairs of halves, got {self.stability}."
            )
        self._check_prior()
        self._check_selection()
        self._check_class_weight()

    def _check_class_weight(self) -> None:
        given, what = self.class_weight, setting("class_weight")
        if given is None or given == "balanced":
            return
        if not isinstance(given, dict) or not given:
            raise SettingError(f"{what} is balanced, or a number for each class, not {given!r}.")
        for name, factor in given.items():
            number = isinstance(factor, (int, float)) and not isinstance(factor, bool)
            if not number or not 0 < factor <= _HEAVIEST:
                raise SettingError(
                    f"{what} of {name!r} must be a number above 0 and at most {_HEAVIEST:g}, got "
                    f"{factor!r}."
                )

    def _check_selection(self) -> None:
        _one_of("selection", self.selection, SELECTIONS)
        if self.selection != "predictive" and self.model != "focused":
            chosen = setting("selection", self.selection)
            raise SettingError(f"{chosen} is for focused, not {self.model}.")

    def _check_prior(self) -> None:
        prior, what = self.inclusion_prior, setting("inclusion_prior")
        if prior is None:
            return
        if self.model not in SELECTING:
            raise SettingError(f"{what} is for {' and '.join(SELECTING)}, not {self.model}.")
        if prior == "auto":
            if self.model == "pf-slda":
                auto = setting("inclusion_prior", "auto")
                raise SettingError(f"{auto} is for focused; give pf-slda a number.")
        elif isinstance(prior, str) or not 0 < prior < 1:
            raise SettingError(f"{what} must lie between 0 and 1, got {prior!r}.")


@dataclass(frozen=True, kw_only=True)
class ColumnNames:
    """What columns besides text and target are called in a file."""

    covariates: tuple[str, ...] = ()
    weight: str | None = None
    exposure: str | None = None
    group: str | None = None

    @property
    def every(self) -> tuple[str, ...]:
        """Those of numbers, each once, in the order that `Columns.read` expects."""
        named = [*self.covariates, self.weight, self.exposure]
        return tuple(dict.fromkeys(name for name in named if name is not None))

    @property
    def gaps(self) -> tuple[str, ...]:
        """Those that a document may lack: a median stands for a covariate, nothing for a weight."""
        return tuple(n for n in self.covariates if n not in (self.weight, self.exposure))


NO_NAMES = ColumnNames()


@dataclass(frozen=True, kw_only=True)
class Roles:
    """Which columns of a file are what, and the kind of the target.

    Parameters
    ----------
    text, target : str, optional
    kind : {"real", "count", "ordinal", "classes"}, optional
    more : ColumnNames
        Covariates, weight, exposure and group.
    """

    text: str | None = None
    target: str | None = None
    kind: str | None = None
    more: ColumnNames = NO_NAMES

    def __post_init__(self) -> None:
        _one_of("kind", self.kind, KINDS)
        more = self.more
        for option, name in (
            *(("covariates", name) for name in more.covariates),
            ("weight", more.weight),
            ("exposure", more.exposure),
            ("group", more.group),
        ):
            if name is not None and name in (self.target, self.text):
                what = "target" if name == self.target else "text"
                raise SettingError(f"{setting(option, name)}: this column is the {what}.")
        if more.exposure is not None and self.kind != "count":
            raise SettingError(
                f"{setting('exposure')} is for counts: add {setting('kind', 'count')}."
            )

    @property
    def said(self) -> dict[str, Any]:
        """As they are remembered with the result."""
        more = self.more
        return {
            "text": self.text,
            "target": self.target,
            "covariates": list(more.covariates),
            "weight": more.weight,
            "exposure": more.exposure,
            "group": more.group,
        }


def check_exposure(value: float | None) -> None:
    """Of one text."""
    if value is not None and not 0 < value < math.inf:
        raise SettingError(f"{setting('exposure')} must be above 0, got {value}.")
