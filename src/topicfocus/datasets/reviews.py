"""Simulated reviews: words that depend on the rating among words that do not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from topicfocus.datasets import themes
from topicfocus.datasets.synthetic import (
    count_tokens,
    draw_tokens,
    read_doc_lengths,
)
from topicfocus.estimators.arguments import check_count

# In each group the most frequent word comes first.
_SENTIMENT = {
    "rave": "masterpiece brilliant superb wonderful powerful stunning perfect unforgettable "
    "magnificent exquisite breathtaking triumph flawless luminous",
    "warm": "enjoyable charming fun likeable clever entertaining engaging solid warm witty "
    "satisfying pleasant delightful refreshing",
    "mixed": "uneven decent average okay passable adequate watchable modest mediocre patchy "
    "ordinary slight middling fair",
    "weak": "predictable tedious disappointing dull unfortunately flat contrived bland forgettable "
    "formulaic clumsy overlong lifeless tired",
    "awful": "awful terrible worst dreadful stupid ridiculous waste horrible atrocious unwatchable "
    "painful insulting laughable garbage",
}
# Rating of a review with words of one group alone, in the order of the groups above.
_RATINGS = (10.0, 7.75, 5.5, 3.25, 1.0)

_GENRES = {
    "comedy": "comedy joke laughs funny gag humor slapstick parody comedian punchline sketch "
    "satire",
    "thriller": "action chase explosion gun assassin spy stunt hostage helicopter bullet villain "
    "getaway",
    "horror": "horror monster blood vampire scream haunted ghost slasher zombie creepy demon grave",
    "romance": "love romance kiss couple wedding heart marriage passion affair bride jealous "
    "courtship",
    "science_fiction": "alien planet spaceship robot future galaxy technology laser android "
    "starship clone astronaut",
}
_PLOTS = {
    "family_plot": "family father mother son daughter brother home childhood grandmother divorce",
    "crime_plot": "police detective murder killer case lawyer prison witness suspect evidence",
    "war_plot": "war soldier army battle enemy general troops bomb captain hero",
    "school_plot": "school teacher student college team coach football class prom campus",
    "journey_plot": "road island boat desert train map village river storm treasure",
}
_BOILERPLATE = (
    "film movie director scene actor story character screen plot audience cast role script "
    "performance camera actress ending sequence dialogue screenplay minutes music studio version"
)
_SIGNATURE = (
    "copyright review newsgroup reply subscribe archive email reviewer posted internet opinions "
    "website reprinted permission"
)

# Expected shares of tokens: opinions, genre, plot, boilerplate.
_SHARES = (0.28, 0.24, 0.18, 0.30)
_SIGNED = 0.4  # share of documents with a signature ...
_SIGNATURE_SHARE = 0.4  # ... which then takes this share of their boilerplate


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
    1 for blame: the directions of the themes added up by their shares. So themes are independent of
    the rating, opinions are not, and neutral words identify the theme of opinions.

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
    if n_themes is not None:
        return _themed_reviews(rng, n_docs, lengths, target, n_themes)

    groups = _word_groups()
    doc_sentiment = _draw_sentiment(rng, n_docs)
    coef = np.array(_RATINGS)
    score = doc_sentiment @ coef + rng.normal(0.0, 0.5, size=n_docs)
    genre_mix = _draw_genres(rng, n_docs)
    plot = rng.integers(len(_PLOTS), size=n_docs)
    signature = _SIGNATURE_SHARE * (rng.random((n_docs, 1)) < _SIGNED)
    opinion, genre, theme, boilerplate = _SHARES
    group_mix = np.hstack(
        [
            opinion * doc_sentiment,
            genre * genre_mix,
            theme * np.eye(len(_PLOTS))[plot],
            boilerplate * (1 - signature),
            boilerplate * signature,
        ]
    )
    return ReviewCorpus(
        **_written(rng, lengths, groups, group_mix, len(coef)),
        **_rated(score, target),
        genre=tuple(_largest_first(mix, tuple(_GENRES)) for mix in genre_mix),
        plot=tuple(tuple(_PLOTS)[i] for i in plot),
        doc_topic=doc_sentiment,
        coef=coef,
    )


def _themed_reviews(
    rng: np.random.Generator,
    n_docs: int,
    lengths: NDArray[np.int64],
    target: str,
    n_themes: int,
) -> ReviewCorpus:
    """Reviews of places with planted themes."""
    n_themes = check_count("n_themes", n_themes)
    if n_themes > len(themes.THEMES):
        raise ValueError(f"n_themes must be at most {len(themes.THEMES)}, got {n_themes}")
    names = tuple(themes.THEMES)[:n_themes]
    planted = themes.plant(rng, n_docs, n_themes)
    coef = np.tile(themes.RATINGS, n_themes)
    score = planted.doc_topic @ coef + rng.normal(0.0, 0.5, size=n_docs)
    opinion, about, everywhere = themes.SHARES
    group_mix = np.hstack(
        [
            opinion * planted.doc_topic,
            about * planted.doc_theme,
            np.full((n_docs, 1), everywhere),
        ]
    )
    return ReviewCorpus(
        **_written(rng, lengths, themes.theme_groups(n_themes), group_mix, len(coef)),
        **_rated(score, target),
        genre=tuple(_largest_first(mix, names) for mix in planted.doc_theme),
        plot=(),
        doc_topic=planted.doc_topic,
        coef=coef,
        themes=names,
        doc_theme=planted.doc_theme,
        direction=planted.direction,
    )


def _rated(score: NDArray[np.float64], target: str) -> dict[str, Any]:
    """Whole-number ratings from scores, and the target."""
    rating = np.clip(np.rint(score), 1.0, 10.0)
    sentiment = (score > 5.5).astype(np.float64)
    return {"rating": rating, "target": rating if target == "rating" else sentiment}


def _written(
    rng: np.random.Generator,
    lengths: NDArray[np.int64],
    groups: dict[str, tuple[str, ...]],
    group_mix: NDArray[np.float64],
    n_topics: int,
) -> dict[str, Any]:
    """Words drawn from the groups, of which the first `n_topics` are the relevant topics."""
    vocabulary = tuple(sorted(word for words in groups.values() for word in words))
    word_probs = _group_distributions(groups, vocabulary)
    docs, words = draw_tokens(rng, rng.multinomial(lengths, group_mix), word_probs)
    # Join the tokens of each document in random order.
    shuffled = rng.permutation(len(docs))
    order = shuffled[np.argsort(docs[shuffled], kind="stable")]
    per_doc = np.split(words[order], np.cumsum(lengths)[:-1])
    components = word_probs[:n_topics]
    return {
        "counts": count_tokens(docs, words, (len(lengths), len(vocabulary))),
        "vocabulary": vocabulary,
        "texts": [" ".join(vocabulary[v] for v in tokens) for tokens in per_doc],
        "relevant": components.max(axis=0) > 0,
        "groups": groups,
        "components": components,
    }


def _word_groups() -> dict[str, tuple[str, ...]]:
    texts = _SENTIMENT | _GENRES | _PLOTS | {"boilerplate": _BOILERPLATE, "signature": _SIGNATURE}
    return {name: tuple(text.split()) for name, text in texts.items()}


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


def _draw_genres(rng: np.random.Generator, n_docs: int) -> NDArray[np.float64]:
    """One genre (60% of documents), or two in the proportion 0.65 to 0.35."""
    n_genres = len(_GENRES)
    first = rng.integers(n_genres, size=n_docs)
    second = (first + rng.integers(1, n_genres, size=n_docs)) % n_genres  # never the first again
    share = np.where(rng.random(n_docs) < 0.4, 0.35, 0.0)[:, np.newaxis]
    one_hot = np.eye(n_genres)
    return (1 - share) * one_hot[first] + share * one_hot[second]


def _largest_first(mix: NDArray[np.float64], names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(names[i] for i in np.argsort(-mix, kind="stable") if mix[i] > 0)
