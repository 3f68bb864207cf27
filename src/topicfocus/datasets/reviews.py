"""Simulated reviews: words that depend on the rating among words that do not."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from topicfocus.datasets.pfslda import count_tokens, draw_tokens, read_doc_lengths
from topicfocus.estimators.arguments import check_count

_WORDS = tomllib.loads(Path(__file__).with_name("words.toml").read_text(encoding="utf-8"))
_SENTIMENT, _GENRES, _PLOTS, _COMMON, _THEMES = (
    _WORDS[name] for name in ("sentiment", "genres", "plots", "common", "themes")
)
#: Rating of a review with words of one sentiment group alone; of praise or blame of a theme alone.
_RATINGS, _THEME_RATINGS = (10.0, 7.75, 5.5, 3.25, 1.0), (10.0, 1.0)
#: Expected fractions of tokens: opinions, genre, plot, boilerplate.
_SHARES = (0.28, 0.24, 0.18, 0.30)
_SIGNED = 0.4  # fraction of documents with a signature ...
_SIGNATURE_SHARE = 0.4  # ... which then takes this fraction of their boilerplate
#: Expected fractions of tokens in reviews of places: opinions, neutral words, common words.
_THEME_SHARES = (0.25, 0.40, 0.35)
_OPPOSITE = 0.08  # fraction of a theme's opinions that are of the other direction


@dataclass(frozen=True, eq=False)
class ReviewCorpus:
    """Simulated reviews and their parameters.

    Attributes
    ----------
    counts : scipy.sparse.csr_array of shape (n_docs, n_words)
    target : ndarray of shape (n_docs,)
        The rating, or 0 and 1.
    vocabulary : tuple of str
        In alphabetical order, as CountVectorizer has it.
    texts : list of str
        The words of each document in random order; CountVectorizer gets ``counts`` from them.
    relevant : ndarray of bool, shape (n_words,)
        The words of the sentiment groups.
    groups : dict of str to tuple of str
        The words of each group, most frequent first.
    genre : tuple of tuples of str
        The one or two genres of each document, the main one first.
    plot : tuple of str
        The plot group of each document.
    rating : ndarray of shape (n_docs,)
        Whole numbers 1 to 10, whatever the target is.
    components : ndarray of shape (5, n_words)
        Word distributions of the sentiment groups: the relevant topics.
    doc_topic : ndarray of shape (n_docs, 5)
        Proportions of sentiment groups in each document.
    coef : ndarray of shape (5,)
        The rating of each sentiment group.
    themes : tuple of str
        Planted themes (`n_themes`), else empty. With themes the relevant topics are "food_praise",
        "food_blame", "service_praise", ..., 2 x themes of them in ``components``, ``doc_topic`` and
        ``coef``, ``genre`` has the one or two themes of each document, and ``plot`` is empty.
    doc_theme : ndarray of shape (n_docs, n_themes) or None
        Proportions of the themes in each document.
    direction : ndarray of int, shape (n_docs, n_themes), or None
        1 where a theme is praised, -1 where it is blamed, 0 where the document does not have it.
    """

    counts: sparse.csr_array
    target: NDArray[np.float64]
    vocabulary: tuple[str, ...]
    texts: list[str]
    relevant: NDArray[np.bool_]
    groups: dict[str, tuple[str, ...]]
    genre: tuple[tuple[str, ...], ...]
    plot: tuple[str, ...]
    rating: NDArray[np.float64]
    components: NDArray[np.float64]
    doc_topic: NDArray[np.float64]
    coef: NDArray[np.float64]
    themes: tuple[str, ...] = ()
    doc_theme: NDArray[np.float64] | None = None
    direction: NDArray[np.int64] | None = None


def make_reviews(
    n_docs: int = 2000,
    doc_length: int | ArrayLike = 60,
    target: Literal["rating", "sentiment"] = "rating",
    random_state: int | np.random.Generator | None = None,
    n_themes: int | None = None,
) -> ReviewCorpus:
    """Simulate readable film reviews in which only some words depend on the rating.

    About 28% of the tokens are opinions. A document has a position on the scale from "rave" to
    "awful" and proportions θ of the five sentiment groups around it; its rating is η·θ + Normal(0,
    0.5²), rounded and kept within 1 to 10. All other tokens are independent of the rating, but not
    of each other: one or two genres and one plot theme per document bring their own words, some
    reviews carry a signature ("copyright ... newsgroup ... reply"), and words such as "film" are
    everywhere. A topic model that does not see the target mixes genres, plots and opinions. Within
    a group, the r-th word (r = 1, 2, ...) has probability proportional to 1 / (r + 1).

    With ``n_themes``, the function simulates reviews of places in which themes (food, service,
    price, waiting, room, cleanliness, drinks, location) are planted. A document is about one theme,
    or two in the proportion 0.6 to 0.4. A quarter of its tokens are opinions, of each theme 92% in
    the direction in which the document praises or blames it; 40% are neutral words of the theme;
    the rest are common words. The rating is again η·θ + Normal(0, 0.5²), with η = 10 for praise and
    1 for blame. So themes are independent of the rating, opinions are not, and neutral words
    identify the theme of opinions.

    Parameters
    ----------
    n_docs : int, default=2000
    doc_length : int or array of int of shape (n_docs,), default=60
        Tokens in each document; 0 is allowed.
    target : {"rating", "sentiment"}, default="rating"
        A rating from 1 to 10, or 1 where the rating before rounding is above 5.5 and 0 elsewhere.
    random_state : int, numpy.random.Generator or None
    n_themes : int, optional
        Number of themes, 1 to 8; by default film reviews without themes.

    Returns
    -------
    ReviewCorpus

    Raises
    ------
    ValueError
        If ``target`` is neither "rating" nor "sentiment", or a number is out of its range.

    Examples
    --------
    >>> from topicfocus.datasets import make_reviews
    >>> reviews = make_reviews(n_docs=100, random_state=0)
    >>> reviews.groups["rave"][:3]
    ('masterpiece', 'brilliant', 'superb')
    >>> places = make_reviews(n_docs=100, n_themes=4, random_state=0)
    >>> places.themes, places.components.shape[0]
    (('food', 'service', 'price', 'waiting'), 8)
    """
    n_docs = check_count("n_docs", n_docs)
    lengths = read_doc_lengths(doc_length, n_docs)
    if target not in ("rating", "sentiment"):
        raise ValueError(f'target must be "rating" or "sentiment", got {target!r}')
    rng = np.random.default_rng(random_state)
    fields = _films(rng, n_docs) if n_themes is None else _places(rng, n_docs, n_themes)
    groups, score = fields["groups"], fields.pop("score")
    vocabulary = tuple(sorted(word for words in groups.values() for word in words))
    word_probs = _group_distributions(groups, vocabulary)
    docs, words = draw_tokens(rng, rng.multinomial(lengths, fields.pop("group_mix")), word_probs)
    # Join the tokens of each document in random order.
    shuffled = rng.permutation(len(docs))
    order = shuffled[np.argsort(docs[shuffled], kind="stable")]
    per_doc = np.split(words[order], np.cumsum(lengths)[:-1])
    components = word_probs[: len(fields["coef"])]
    rating = np.clip(np.rint(score), 1.0, 10.0)
    return ReviewCorpus(
        counts=count_tokens(docs, words, (n_docs, len(vocabulary))),
        target=rating if target == "rating" else (score > 5.5).astype(np.float64),
        vocabulary=vocabulary,
        texts=[" ".join(vocabulary[v] for v in tokens) for tokens in per_doc],
        relevant=components.max(axis=0) > 0,
        rating=rating,
        components=components,
        **fields,
    )


def _films(rng: np.random.Generator, n_docs: int) -> dict[str, Any]:
    """Fields of film reviews, with the "score" and the "group_mix" that words are drawn from."""
    doc_sentiment = _draw_sentiment(rng, n_docs)
    score = _score(rng, doc_sentiment, _RATINGS)
    first = rng.integers(len(_GENRES), size=n_docs)
    second = (first + rng.integers(1, len(_GENRES), size=n_docs)) % len(_GENRES)
    genre_mix = _mixed(first, second, rng.random(n_docs) < 0.4, 0.35, len(_GENRES))
    plot = rng.integers(len(_PLOTS), size=n_docs)
    signature = _SIGNATURE_SHARE * (rng.random((n_docs, 1)) < _SIGNED)
    opinion, genre, theme, boilerplate = _SHARES
    parts = [
        opinion * doc_sentiment,
        genre * genre_mix,
        theme * np.eye(len(_PLOTS))[plot],
        boilerplate * (1 - signature),
        boilerplate * signature,
    ]
    common = {name: _COMMON[name] for name in ("boilerplate", "signature")}
    return {
        "score": score,
        "group_mix": np.hstack(parts),
        "groups": _split(_SENTIMENT | _GENRES | _PLOTS | common),
        "genre": _largest_first(genre_mix, tuple(_GENRES)),
        "plot": tuple(tuple(_PLOTS)[i] for i in plot),
        "doc_topic": doc_sentiment,
        "coef": np.array(_RATINGS),
    }


def _places(rng: np.random.Generator, n_docs: int, n_themes: int) -> dict[str, Any]:
    """Fields of reviews of places with planted themes, as `_films` has them."""
    n_themes = check_count("n_themes", n_themes)
    if n_themes > len(_THEMES):
        raise ValueError(f"n_themes must be at most {len(_THEMES)}, got {n_themes}")
    names = tuple(_THEMES)[:n_themes]
    first = rng.integers(n_themes, size=n_docs)
    two = (rng.random(n_docs) < 0.5) & (n_themes > 1)
    second = (first + rng.integers(1, max(n_themes, 2), size=n_docs)) % n_themes
    doc_theme = _mixed(first, second, two, 0.4, n_themes)
    liked = rng.integers(2, size=(n_docs, n_themes))
    praise = np.where(liked == 1, 1 - _OPPOSITE, _OPPOSITE)
    doc_topic = np.stack([doc_theme * praise, doc_theme * (1 - praise)], axis=2)
    doc_topic = doc_topic.reshape(n_docs, -1)
    coef = np.tile(_THEME_RATINGS, n_themes)
    opinion, about, everywhere = _THEME_SHARES
    parts = [opinion * doc_topic, about * doc_theme, np.full((n_docs, 1), everywhere)]
    opinions = {
        f"{name}_{way}": _THEMES[name][way] for name in names for way in ("praise", "blame")
    }
    neutral = {name: _THEMES[name]["neutral"] for name in names}
    return {
        "score": _score(rng, doc_topic, coef),
        "group_mix": np.hstack(parts),
        "groups": _split(opinions | neutral | {"everywhere": _COMMON["everywhere"]}),
        "genre": _largest_first(doc_theme, names),
        "plot": (),
        "doc_topic": doc_topic,
        "coef": coef,
        "themes": names,
        "doc_theme": doc_theme,
        "direction": np.where(doc_theme > 0, 2 * liked - 1, 0),
    }


def _score(rng: np.random.Generator, doc_topic: NDArray, coef: ArrayLike) -> NDArray[np.float64]:
    return doc_topic @ np.asarray(coef) + rng.normal(0.0, 0.5, size=len(doc_topic))


def _split(texts: dict[str, str]) -> dict[str, tuple[str, ...]]:
    return {name: tuple(text.split()) for name, text in texts.items()}


def _mixed(first: NDArray, second: NDArray, two: NDArray, share: float, n: int) -> NDArray:
    """Proportions of `n` subjects: the first, or the first and `share` of the second."""
    share_of_second = np.where(two, share, 0.0)[:, None]
    return (1 - share_of_second) * np.eye(n)[first] + share_of_second * np.eye(n)[second]


def _group_distributions(
    groups: dict[str, tuple[str, ...]], vocabulary: tuple[str, ...]
) -> NDArray[np.float64]:
    """Groups x words: probability of the r-th word of a group, proportional to 1 / (r + 1)."""
    column = {word: v for v, word in enumerate(vocabulary)}
    probs = np.zeros((len(groups), len(vocabulary)))
    for row, words in zip(probs, groups.values(), strict=True):
        weights = 1.0 / np.arange(2, len(words) + 2)
        row[[column[word] for word in words]] = weights / weights.sum()
    return probs


def _draw_sentiment(rng: np.random.Generator, n_docs: int) -> NDArray[np.float64]:
    """Proportions of sentiment groups: Dirichlet around a position on the scale of groups.

    Neighbours on the scale co-occur (a rave has some warm words, and hardly any awful ones).
    """
    n_groups = len(_SENTIMENT)
    position = rng.uniform(-0.5, n_groups - 0.5, size=(n_docs, 1))
    closeness = np.exp(-0.5 * ((np.arange(n_groups) - position) / 0.6) ** 2) + 0.01
    # One Dirichlet per row: normalised gammas. The 0.01 above keeps their sums positive and allows
    # a few words of the opposite opinion.
    gammas = rng.standard_gamma(6.0 * closeness / closeness.sum(axis=1, keepdims=True))
    return gammas / gammas.sum(axis=1, keepdims=True)


def _largest_first(mix: NDArray[np.float64], names: tuple[str, ...]) -> tuple[Any, ...]:
    """Names of the positive proportions of each document."""
    orders = np.argsort(-mix, axis=1, kind="stable")
    return tuple(
        tuple(names[i] for i in order if row[i] > 0) for row, order in zip(mix, orders, strict=True)
    )
