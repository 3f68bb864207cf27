"""Settings of the commands, one frozen dataclass per command.

Each setting is defined once, as a field. It is a keyword argument in Python
(``fit_file("reviews.csv", min_df=5)``), an option of the command line (``--min-df 5``) and a key
of config.toml (``min_df = 5``). Nothing heavy is imported: ``topicfocus --help`` needs this module.
"""

from __future__ import annotations

import importlib
import inspect
import math
import os
from collections.abc import Callable, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields
from functools import partial
from typing import Any, TypeVar

FORMATS = ("csv", "tsv", "jsonl", "parquet", "xlsx", "folder", "counts")
KINDS = ("real", "count", "ordinal", "classes")
MODELS = ("focused", "pf-slda", "pc-slda", "slda")
#: Models that keep some words and drop the others.
SELECTING = ("focused", "pf-slda")
#: Largest weight of a class that is accepted; more is most likely a typing error.
_HEAVIEST = 1e6

T = TypeVar("T")


class SettingError(ValueError):
    """Settings that are wrong or contradict each other; exit code 2 of the command line."""


def setting(name: str, value: object = None) -> str:
    """A setting in a message: ```min_df``` or ```kind='count'```.

    The command line prints ``--min-df`` and ``--kind count`` instead (`topicfocus.cli.console`).
    """
    return f"`{name}`" if value is None else f"`{name}={value!r}`"


def is_classes(kind: str) -> bool:
    """Whether a kind of target is labels, two or more."""
    return kind in ("binary", "classes")


# ---- values from the command line --------------------------------------------------------------

#: Types of settings in messages; a text is "auto" beside numbers.
_CALLED = {"int": "a whole number", "float": "a number", "str": '"auto"'}


def converted(text: str, annotation: str) -> Any:
    """A value from the command line, of the type that the annotation of its field allows.

    Of `int | float`, "1" is the number 1 and "1.0" a proportion.
    """
    if annotation.startswith("tuple["):
        inside = annotation[len("tuple[") :].split(",")[0]
        items = [converted(part.strip(), inside) for part in text.split(",")]
        return tuple(items if inside == "str" else dict.fromkeys(items))  # no number twice
    types = [name for name in annotation.split(" | ") if name in _CALLED]
    for name, kind in (("int", int), ("float", float)):
        if name in types:
            try:
                return kind(text)
            except ValueError:
                continue
    if types and types != ["str"] and not ("str" in types and text == "auto"):
        called = " or ".join(_CALLED[name] for name in types)
        raise SettingError(f"must be {called}, got {text!r}")
    return text


def ngrams(text: str) -> tuple[int, int]:
    """ "2" means words and pairs; "2-3" means pairs and triples."""
    low, dash, high = text.partition("-")
    return (converted(low, "int"), converted(high, "int")) if dash else (1, converted(low, "int"))


def values(text: str) -> dict[str, float]:
    """ "year=1999,length=NA": one number per name, NaN where it is unknown."""
    from topicfocus.text.numbers import is_missing

    return _pairs(text, "COL=X,COL=X", lambda x: math.nan if is_missing(x) else float(x))


def class_weights(text: str) -> str | dict[str, float]:
    """ "balanced", or "spam=5,ham=1"."""
    return text if text == "balanced" else _pairs(text, "balanced or CLASS=X,CLASS=X", float)


def _pairs(text: str, form: str, value: Callable[[str], float]) -> dict[str, float]:
    out = {}
    for part in text.split(","):
        name, sign, given = part.rpartition("=")
        try:
            out[name.strip()] = value(given)
        except ValueError:
            sign = ""
        if not sign or not name.strip():
            raise SettingError(f"must be {form}, got {text!r}")
    return out


# ---- fields ------------------------------------------------------------------------------------


def option(
    default: Any,
    help: str,
    *,
    group: str = "",
    metavar: str | None = None,
    parse: Callable[[str], Any] | None = None,
    choices: Sequence[str] = (),
    limits: tuple[int, int] | None = None,
    proportion: bool = False,
    common: bool = False,
    flag: str | None = None,
    positional: str | None = None,
    python_only: bool = False,
    saved: bool = True,
) -> Any:
    """A field that is also an option of the command line.

    `limits` are the smallest and the largest value, `proportion` means strictly between 0 and 1.
    `parse` converts the text of the command line, by default as the type says (`converted`).
    `common` options are in the short help. `flag` replaces the name of the option, `positional` is
    argparse's `nargs` of an argument without a name. `saved` fields are keys of config.toml.
    """
    metadata = dict(locals(), saved=saved and not python_only)
    return field(default=metadata.pop("default"), metadata=metadata)


#: Options of a group of the help.
reading_option = partial(option, group="reading")
word_option = partial(option, group="words")
model_option = partial(option, group="model")


def column_option(help: str, **more: Any) -> Any:
    """A field that names a column."""
    return option(None, help, metavar="COL", **more)


def columns_option(help: str) -> Any:
    """A field that names several columns."""
    return option((), help, metavar="COL,COL", common=True)


def count_option(
    default: int | None, help: str, least: int, most: int = 10_000, **more: Any
) -> Any:
    """A field that is a whole number from `least` to `most`."""
    return option(default, help, metavar="N", limits=(least, most), **more)


def _check(config: Any) -> None:
    """Check every value against the choices and limits of its field."""
    for one in fields(config):
        value, meta = getattr(config, one.name), one.metadata
        if value is None or value == "auto" or isinstance(value, (tuple, list)):
            continue
        name = setting(one.name)
        if meta["choices"] and value not in meta["choices"]:
            known = ", ".join(meta["choices"])
            raise SettingError(f"{name} must be one of {known}, not {value!r}.")
        if meta["limits"]:
            _check_limits(name, value, *meta["limits"])
        if meta["proportion"] and not (_is_number(value) and 0 < value < 1):
            raise SettingError(f"{name} must lie between 0 and 1, got {value!r}.")


def _check_limits(name: str, value: Any, least: int, most: int) -> None:
    if not _is_number(value):
        raise SettingError(f"{name} must be a number, got {value!r}.")
    if value < least:
        raise SettingError(f"{name} must be at least {least}, got {value}.")
    if value > most:
        shown = f"{value:,}" if value < 10**15 else "more"
        raise SettingError(f"{name} must be at most {most:,}, got {shown}.")


def _is_number(value: Any) -> bool:
    return hasattr(value, "__float__") and not isinstance(value, bool)


def documented(cls: type[T]) -> type[T]:
    """Append a numpydoc section with the help of every field to the docstring of a class."""
    lines = [str(cls.__doc__).rstrip(), "", "    Parameters", "    ----------"]
    for one in fields(cls):  # type: ignore[arg-type]
        text = one.metadata["help"]
        kind = str(one.type).replace(" | None", "")
        default = "" if one.default in (MISSING, None) else f", default={one.default!r}"
        given = default if default else ", optional"
        lines += [f"    {one.name} : {kind}{given}", f"        {text[0].upper()}{text[1:]}."]
    parts = "\n".join(lines).split("    Examples\n", 1)
    if len(parts) == 2:  # the example stays the last section
        example, _, parameters = parts[1].partition("\n    Parameters\n")
        parts = [parts[0], f"    Parameters\n{parameters}\n\n    Examples\n{example.rstrip()}"]
    cls.__doc__ = "".join(parts) + "\n    "
    return cls


# ---- groups of settings that several commands have ---------------------------------------------

_GROUPS = ("", "model", "words", "reading", "output")


@dataclass(frozen=True, kw_only=True)
class ReadOptions:
    """How a file is read."""

    format: str | None = reading_option(
        None, "format of FILE; by default its name decides", choices=FORMATS
    )
    delimiter: str | None = reading_option(
        None, "character between columns; by default detected", metavar="C"
    )
    encoding: str = reading_option(
        "utf-8",
        "encoding of text files",
    )
    skip_bad: bool = reading_option(
        False,
        "leave out, and count, rows that are unreadable or whose target should be a number and is "
        "not",
    )
    vocabulary: str | None = reading_option(
        None,
        "file with the words of a count matrix, one per line, in the order of its columns",
        metavar="FILE",
    )
    sheet: str | None = reading_option(
        None, "sheet of an Excel file that has several", metavar="NAME"
    )

    def __post_init__(self) -> None:
        _check(self)

    @property
    def reading(self) -> ReadOptions:
        """These settings alone."""
        return ReadOptions(**{one.name: getattr(self, one.name) for one in fields(ReadOptions)})


@dataclass(frozen=True, kw_only=True)
class CountOptions:
    """Which words are counted."""

    stop_words: str | Sequence[str] | None = word_option(
        "auto",
        "function words, which are no topic words by themselves: english (the default, but none "
        "with a separator), dutch, french, german, italian, portuguese, spanish, none, a file with "
        "one word per line, or english+FILE",
        metavar="WHICH",
        common=True,
    )
    separator: str | None = word_option(
        None,
        "texts are codes with this between them, such as ';', or lists of codes in JSON and "
        "Parquet: each code is counted as it is",
        metavar="S",
    )
    min_df: int | float | None = word_option(
        None,
        "leave out words in fewer training documents, a number or a proportion; by default 10, and "
        "less with fewer than 2,000 documents",
        metavar="N",
    )
    max_df: int | float | None = word_option(
        None,
        "leave out words in more training documents, a number or a proportion; by default 0.5",
        metavar="N",
    )
    max_features: int | None = count_option(
        None,
        "keep this many words, the most frequent ones; by default all",
        2,
        2**31,
        group="words",
    )
    phrases: bool = word_option(True, "choose phrases of two and three words", flag="no-phrases")
    ngrams: tuple[int, int] = word_option(
        (1, 1),
        "count every run of so many words instead of phrases: 2 means words and pairs, 2-3 pairs "
        "and triples",
        metavar="N",
        parse=ngrams,
    )
    min_length: int = count_option(2, "characters of the shortest word", 1, group="words")
    lowercase: bool = word_option(True, "convert texts to lower case", flag="keep-case")
    tokenizer: Any = option(
        None,
        'function from a text to a list of tokens, or "package.module:function"; a model file '
        "stores only its name",
        python_only=True,
    )

    def _check_words(self) -> None:
        low, high = self.ngrams
        if not 1 <= low <= high:
            raise SettingError(f"{setting('ngrams')} must be a number such as 2, or 2-3.")
        for name in ("min_df", "max_df"):
            value = getattr(self, name)
            if isinstance(value, float) and not 0 <= value <= 1:
                raise SettingError(
                    f"{setting(name)} must be a whole number of documents or a proportion between "
                    f"0.0 and 1.0, got {value}."
                )
            if value is not None and not isinstance(value, float) and value < 1:
                raise SettingError(f"{setting(name)} must be at least 1 document, got {value}.")
        if self.separator is None:
            return
        if not self.separator:
            raise SettingError(f"{setting('separator')} must be one character or more.")
        defaults = {"ngrams": (1, 1), "min_length": 2, "tokenizer": None}
        for name, default in defaults.items():
            if getattr(self, name) != default:
                raise SettingError(
                    f"{setting(name)} is for words of texts; with {setting('separator')} codes are "
                    "counted as they are."
                )

    def counter(self, **settings: Any) -> Any:
        """A counter of words with these settings.

        Parameters
        ----------
        **settings
            Other parameters of the counter.

        Returns
        -------
        TokenCounter

        Examples
        --------
        >>> from topicfocus.workflow import FitConfig
        >>> FitConfig(file="reviews.csv", min_length=3).counter(min_df=2).min_length
        3
        """
        from topicfocus.text import TokenCounter

        return TokenCounter(
            lowercase=self.lowercase,
            min_length=self.min_length,
            stop_words=self.stop_words,
            phrases=self.phrases,
            ngram_range=self.ngrams,
            separator=self.separator,
            tokenizer=_imported(self.tokenizer),
            **settings,
        )


def _imported(tokenizer: Any) -> Any:
    """The function that a Python program names; no file can set this field."""
    if not isinstance(tokenizer, str):
        return tokenizer
    module, colon, name = tokenizer.partition(":")
    if not colon or not module or not name:
        raise SettingError(
            f"{setting('tokenizer')} must be a function or where to import it from, such as "
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
class ColumnNames:
    """Columns of a file besides text and target."""

    covariates: tuple[str, ...] = ()
    weight: str | None = None
    exposure: str | None = None
    group: str | None = None

    @property
    def every(self) -> tuple[str, ...]:
        """Columns of numbers, each once, in the order that `Columns.read` expects."""
        named = [*self.covariates, self.weight, self.exposure]
        return tuple(dict.fromkeys(name for name in named if name is not None))

    @property
    def gaps(self) -> tuple[str, ...]:
        """Columns in which values may be missing: covariates, but neither weights nor exposure."""
        return tuple(n for n in self.covariates if n not in (self.weight, self.exposure))


NO_NAMES = ColumnNames()


def jobs_option() -> Any:
    return count_option(None, "number of threads; by default all cores", 1, group="output")


def overwrite_option(what: str) -> Any:
    return option(False, what, common=True, saved=False)


def _tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, (list, tuple)) else value


def _paths(value: Any) -> str | tuple[str, ...]:
    """One path, or several."""
    given = [value] if isinstance(value, (str, os.PathLike)) else value
    paths = tuple(os.fspath(one) for one in given)
    return paths[0] if len(paths) == 1 else paths


# ---- commands that fit -------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class _Fitting(ReadOptions, CountOptions):
    """Settings that fit and tune have in common."""

    file: str | Sequence[str] = option(
        "",
        "CSV, TSV, JSON (lines or an array), Parquet, Excel (.xlsx), a folder of text files (its "
        "subfolders are the classes), a count matrix (.npz, .mtx), or - for standard input; text "
        "formats may be compressed (.gz, .bz2, .xz, .zip). Several with the same columns: their "
        "names, a pattern ('parts/*.csv'), or their folder",
        metavar="FILE",
        positional="*",
    )
    text: str | None = column_option("column of the texts", common=True)
    target: str | None = column_option(
        "column of the target (for a count matrix: a file with one value per line)", common=True
    )
    kind: str | None = option(
        None, "kind of target; by default detected", choices=KINDS, common=True
    )
    covariates: tuple[str, ...] = columns_option(
        "columns of numbers that predict in addition to the topics; missing values are replaced by "
        "the median of the training set, and an indicator column is added"
    )
    weight: str | None = column_option(
        "column of weights; weight 2 has the effect of two copies of a document"
    )
    exposure: str | None = column_option(
        "column that counts are proportional to, such as days or views (with --kind count)"
    )
    group: str | None = column_option(
        "column of groups, such as patients or authors; no group is both trained on and held out",
        common=True,
    )
    out: str | None = option(
        None,
        "folder to write; by default the name of FILE followed by -topics (in Python: none)",
        metavar="DIR",
        common=True,
        saved=False,
    )
    overwrite: bool = overwrite_option("replace the folder of an earlier result")
    model: str = model_option("focused", "model to fit", choices=MODELS)
    selection: str = model_option(
        "predictive",
        "how the focused model chooses words: those that predict best, or those that other samples "
        "would keep too, which predict slightly worse",
        choices=("predictive", "stable"),
    )
    remainder: bool = model_option(
        True,
        "add what all words and pairs of words tell beyond the topics (focused model); topics are "
        "the same with and without it",
        flag="no-remainder",
        common=True,
    )
    test_share: float = model_option(
        0.2,
        "proportion of documents held out for the metrics; 0 fits on all documents",
        metavar="P",
        common=True,
    )
    baseline: bool = model_option(
        True, "compare with a regression on all words and pairs of words", flag="no-baseline"
    )
    stability: int = count_option(
        0,
        "also fit to N pairs of random halves of the documents, such as 50, and report which "
        "words, topics and effects replicate; by default none",
        0,
        group="model",
    )
    seed: int = count_option(0, "random seed", 0, 2**32 - 1, group="model")
    class_weight: str | dict[str, float] | None = model_option(
        None,
        "weights of classes: balanced (all classes have the same weight) or CLASS=X,CLASS=X",
        metavar="WHICH",
        parse=class_weights,
    )
    cluster: str | None = model_option(
        None,
        "fit on a Dask cluster (pip install 'topicfocus[dask]'): the address of its scheduler, or "
        "local for processes of this machine",
        metavar="ADDRESS",
        saved=False,
    )
    out_of_core: bool = model_option(
        False,
        "keep counts in a temporary folder on disk and read them in chunks; without it, this is "
        "done if the files are large for the memory that is free",
        saved=False,
    )
    jobs: int | None = jobs_option()
    progress: bool = option(False, "draw a progress bar on a terminal", python_only=True)

    def __post_init__(self) -> None:
        for name in ("covariates", "ngrams", "topics", "shares"):
            if hasattr(self, name):
                object.__setattr__(self, name, _tuple(getattr(self, name)))
        object.__setattr__(self, "file", _paths(self.file))
        _check(self)
        self._check_words()
        self._check_columns()
        if not (_is_number(self.test_share) and 0 <= self.test_share < 1):
            raise SettingError(
                f"{setting('test_share')} must be at least 0 and less than 1, got "
                f"{self.test_share}."
            )
        if self.stability == 1:
            raise SettingError(f"{setting('stability')} must be at least 2 pairs of halves.")
        if self.selection != "predictive" and self.model != "focused":
            chosen = setting("selection", self.selection)
            raise SettingError(f"{chosen} is for focused, not {self.model}.")
        if self.out is None and self.overwrite:
            raise SettingError(f"{setting('overwrite', True)} needs a folder: {setting('out')}.")
        self._check_class_weight()

    def _check_columns(self) -> None:
        if not all(self.covariates) or len(set(self.covariates)) < len(self.covariates):
            raise SettingError(
                f"{setting('covariates')} must name columns, each once, got "
                f"{','.join(self.covariates)!r}."
            )
        others = [("weight", self.weight), ("exposure", self.exposure), ("group", self.group)]
        for role, name in (*(("covariates", name) for name in self.covariates), *others):
            if name is not None and name in (self.target, self.text):
                what = "target" if name == self.target else "text"
                raise SettingError(f"{setting(role, name)}: this column is the {what}.")
        if self.exposure is not None and self.kind != "count":
            raise SettingError(
                f"{setting('exposure')} is for counts: add {setting('kind', 'count')}."
            )

    def _check_class_weight(self) -> None:
        given, what = self.class_weight, setting("class_weight")
        if given is None or given == "balanced":
            return
        if not isinstance(given, dict) or not given:
            raise SettingError(f"{what} must be balanced or a number per class, not {given!r}.")
        for name, factor in given.items():
            if not _is_number(factor) or not 0 < factor <= _HEAVIEST:
                raise SettingError(
                    f"{what} of {name!r} must be a number above 0 and at most {_HEAVIEST:g}, got "
                    f"{factor!r}."
                )

    @property
    def paths(self) -> list[str]:
        """The files to read."""
        return [self.file] if isinstance(self.file, str) else list(self.file)

    @property
    def has_remainder(self) -> bool:
        """Whether the model is one that has a remainder, and gets one."""
        return self.remainder and self.model == "focused"

    @property
    def more(self) -> ColumnNames:
        """Columns besides text and target."""
        return ColumnNames(
            covariates=self.covariates, weight=self.weight, exposure=self.exposure, group=self.group
        )

    @property
    def columns(self) -> dict[str, Any]:
        """All columns, as they are stored with the result."""
        named = ("text", "target", "covariates", "weight", "exposure", "group")
        return {name: getattr(self, name) for name in named}


@documented
@dataclass(frozen=True, kw_only=True)
class FitConfig(_Fitting):
    """Settings of ``topicfocus fit`` and `fit_file`.

    Examples
    --------
    >>> from topicfocus.workflow import FitConfig
    >>> config = FitConfig(file="reviews.csv", text="text", target="stars", min_df=5)
    >>> config.topics, config.min_df
    (5, 5)
    """

    topics: int | str = model_option(
        5,
        "number of topics; auto chooses 3, 5 or 10 by cross-validation",
        metavar="N",
        limits=(1, 10_000),
        common=True,
    )
    inclusion_prior: float | str | None = model_option(
        None,
        "expected proportion of relevant tokens, between 0 and 1; by default focused chooses it "
        "and pf-slda uses 0.1",
        metavar="P",
        proportion=True,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        prior, what = self.inclusion_prior, setting("inclusion_prior")
        if prior is None:
            return
        if self.model not in SELECTING:
            raise SettingError(f"{what} is for {' and '.join(SELECTING)}, not {self.model}.")
        if prior == "auto" and self.model == "pf-slda":
            auto = setting("inclusion_prior", "auto")
            raise SettingError(f"{auto} is for focused; give pf-slda a number.")

    @property
    def tuning(self) -> TuneConfig | None:
        """The search for a number of topics, if there is one."""
        if self.topics != "auto":
            return None
        return TuneConfig(**common_fields(self), shares=())


@documented
@dataclass(frozen=True, kw_only=True)
class TuneConfig(_Fitting):
    """Settings of ``topicfocus tune`` and `tune_file`.

    Examples
    --------
    >>> from topicfocus.workflow import TuneConfig
    >>> TuneConfig(file="reviews.csv", topics=(2, 4)).folds
    5
    """

    topics: tuple[int, ...] = model_option(
        (3, 5, 10),
        "numbers of topics to try",
        metavar="N,N",
        common=True,
        saved=False,
    )
    shares: tuple[float, ...] = model_option(
        (0.05, 0.1, 0.2, 0.4),
        "proportions of relevant tokens to try, for models that select words",
        metavar="P,P",
        common=True,
        saved=False,
    )
    folds: int = count_option(5, "folds of the training set", 2, group="model", saved=False)
    rule: str = model_option(
        "one-standard-error",
        "choose the simplest setting within one standard error of the best, or the best itself",
        choices=("one-standard-error", "best"),
        saved=False,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.topics:
            raise SettingError(f"{setting('topics')} must be numbers of at least 1.")
        for topics in self.topics:
            _check_limits(setting("topics"), topics, 1, 10_000)
        if any(not 0 < share < 1 for share in self.shares):
            raise SettingError(f"{setting('shares')} must lie between 0 and 1.")

    @property
    def tuning(self) -> TuneConfig:
        """The search itself."""
        return self


def common_fields(config: _Fitting) -> dict[str, Any]:
    """Values of the settings that fit and tune share."""
    return {one.name: getattr(config, one.name) for one in fields(_Fitting)}


# ---- commands that use a model -----------------------------------------------------------------


def _saved_model() -> Any:
    return option(
        "",
        "a model file, or the folder that fit has written",
        metavar="MODEL",
        positional="",
    )


@dataclass(frozen=True, kw_only=True)
class _NewDocuments(ReadOptions):
    """Columns of new documents, which predict and report read."""

    model: Any = _saved_model()
    file: str | Sequence[str] = option(
        "", "documents, as for fit; - is standard input", metavar="FILE", positional="+"
    )
    text: str | None = column_option("column of the texts; by default as in the fit", common=True)
    covariates: tuple[str, ...] = columns_option(
        "columns of the covariates in the order of the fit; by default as in the fit"
    )
    exposure: str | None = column_option(
        "column of the exposure; by default as in the fit", common=True
    )
    jobs: int | None = jobs_option()

    def __post_init__(self) -> None:
        object.__setattr__(self, "covariates", _tuple(self.covariates))
        object.__setattr__(self, "file", _paths(self.file))
        _check(self)

    @property
    def paths(self) -> list[str]:
        """The files to read."""
        return [self.file] if isinstance(self.file, str) else list(self.file)


@documented
@dataclass(frozen=True, kw_only=True)
class PredictConfig(_NewDocuments):
    """Settings of ``topicfocus predict`` and `predict_file`."""

    out: str = option("-", "file to write; - is standard output", metavar="FILE", common=True)
    overwrite: bool = overwrite_option("replace the file if it exists")


@documented
@dataclass(frozen=True, kw_only=True)
class ReportConfig(_NewDocuments):
    """Settings of ``topicfocus report`` and `report_file`."""

    target: str | None = column_option(
        "column of the target; by default as in the fit", common=True
    )
    by: tuple[str, ...] = columns_option(
        "columns of groups, such as the shop; the page shows the topics of each group"
    )
    time: str | None = column_option(
        "column of numbers or dates; the page shows the topics over time", common=True
    )
    out: str = option("explorer.html", "page to write", metavar="FILE", common=True)
    overwrite: bool = overwrite_option("replace the page if it exists")
    docs: int = count_option(
        2000,
        "largest number of documents on the page, a random sample of the first 200,000 rows",
        1,
        10**9,
        common=True,
    )


@documented
@dataclass(frozen=True, kw_only=True)
class ExplainConfig:
    """Settings of ``topicfocus explain`` and `explain_text`."""

    model: Any = _saved_model()
    text: str | None = option(
        None,
        "the text; without it, or with -, standard input is read",
        metavar="TEXT",
        common=True,
    )
    covariates: dict[str, float] | None = option(
        None,
        "values of the covariates, for a model that was fitted with them; NA means unknown",
        metavar="COL=X,COL=X",
        parse=values,
        common=True,
    )
    exposure: float | None = option(
        None,
        "exposure of the text, for a model that was fitted with one; by default 1",
        metavar="X",
        common=True,
    )
    label: Any = option(
        None,
        "class to explain; by default the most probable one of more than two",
        metavar="LABEL",
        flag="class",
        common=True,
    )
    jobs: int | None = jobs_option()

    def __post_init__(self) -> None:
        _check(self)
        if self.exposure is not None and not 0 < self.exposure < math.inf:
            raise SettingError(f"{setting('exposure')} must be above 0, got {self.exposure}.")


@dataclass(frozen=True, kw_only=True)
class DemoConfig:
    """Settings of ``topicfocus demo``."""

    data: str = option(
        "auto",
        "reviews to use; imdb needs the extra and is used by auto if it is installed",
        choices=("auto", "imdb", "synthetic"),
        common=True,
    )
    docs: int | None = count_option(
        None,
        "number of reviews; by default 10000 of imdb, 3000 synthetic ones",
        200,
        10**9,
        common=True,
    )
    topics: int = count_option(5, "number of topics", 2, common=True)
    inclusion_prior: float | None = option(
        None,
        "expected proportion of relevant tokens, between 0 and 1; by default chosen for imdb and "
        "0.25 for synthetic reviews",
        metavar="P",
        proportion=True,
        common=True,
    )
    seed: int = count_option(0, "random seed", 0, 2**32 - 1, common=True)
    out: str | None = option(
        None, "also write the folder that fit writes (imdb)", metavar="DIR", common=True
    )
    overwrite: bool = overwrite_option("replace the folder of an earlier result")
    jobs: int | None = jobs_option()
    progress: bool = option(False, "draw a progress bar on a terminal", python_only=True)

    def __post_init__(self) -> None:
        _check(self)


def options_of(config: type[Any]) -> list[Field[Any]]:
    """Fields of a class that the command line has, by group; those of the class itself first."""
    listed = [one for one in fields(config) if not one.metadata["python_only"]]
    own = inspect.get_annotations(config)
    return sorted(listed, key=lambda f: (_GROUPS.index(f.metadata["group"]), f.name not in own))
