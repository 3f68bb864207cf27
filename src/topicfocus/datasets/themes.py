"""Words and proportions of simulated reviews with planted themes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

#: Theme: words that praise, words that blame, neutral words. In each
#: group the most frequent word comes first.
THEMES = {
    "food": (
        "delicious tasty flavorful fresh juicy tender crispy savory mouthwatering scrumptious "
        "succulent seasoned",
        "bland soggy overcooked stale greasy undercooked flavorless rubbery burnt inedible mushy "
        "rancid",
        "dish meal chicken rice sauce beef noodles soup plate salad fish pasta bread cheese dinner",
    ),
    "service": (
        "friendly attentive helpful courteous welcoming polite kind professional smiling gracious "
        "considerate cheerful",
        "rude inattentive unfriendly dismissive arrogant careless ignored hostile surly "
        "condescending impatient scowling",
        "waiter waitress staff server manager host hostess bartender employee owner team uniform "
        "greeting apron crew",
    ),
    "price": (
        "affordable bargain reasonable inexpensive generous economical discounted worthwhile "
        "thrifty complimentary fair steal",
        "overpriced expensive pricey overcharged ripoff outrageous exorbitant steep costly "
        "inflated gouging extortionate",
        "price check dollars menu coupon card cash tax tip receipt payment fee total portion "
        "cashier",
    ),
    "waiting": (
        "prompt quick fast speedy efficient swift immediate punctual brisk timely instantly "
        "effortless",
        "slow delayed forever late endless unacceptable sluggish crawling stalled disorganized "
        "forgotten overbooked",
        "wait minutes line table seat reservation order kitchen hour queue buzzer weekend lunch "
        "crowd clock",
    ),
    "room": (
        "comfortable spacious cozy plush luxurious airy roomy restful modern elegant inviting "
        "bright",
        "cramped lumpy noisy drafty dingy shabby musty creaky outdated claustrophobic rickety "
        "threadbare",
        "room bed pillow mattress hotel bathroom shower balcony window floor elevator lobby towel "
        "suite blanket",
    ),
    "cleanliness": (
        "clean spotless immaculate sparkling tidy hygienic polished pristine scrubbed sanitary "
        "gleaming neat",
        "dirty filthy sticky grimy disgusting moldy smelly dusty stained infested gross unwashed",
        "restroom sink counter carpet napkin glass fork toilet soap trash wall ceiling mop vacuum "
        "corner",
    ),
    "drinks": (
        "refreshing smooth crisp aromatic bold rich balanced creamy fragrant chilled robust "
        "velvety",
        "watery flat bitter sour lukewarm diluted weak syrupy acidic sludgy vinegary tasteless",
        "drink beer wine coffee cocktail tea bar bottle mug espresso soda juice ice cup latte",
    ),
    "location": (
        "convenient central scenic walkable picturesque safe accessible peaceful charming quaint "
        "lively handy",
        "remote sketchy dangerous isolated inconvenient congested rundown unsafe desolate hidden "
        "seedy deserted",
        "parking street neighborhood downtown district bus station car highway airport mall beach "
        "block map park",
    ),
}
_EVERYWHERE = (
    "place visit time restaurant night friend evening family trip city review return town "
    "experience vacation birthday afternoon morning husband wife brother colleague summer "
    "anniversary"
)

#: Expected fractions of tokens: opinions, neutral words of themes, common words.
SHARES = (0.25, 0.40, 0.35)
_TWO = 0.5  # share of documents with a second theme ...
_SECOND = 0.4  # ... which then has this share of them
_OPPOSITE = 0.08  # share of a theme's opinions that are of the other direction
#: Rating of a document with praise or blame alone.
RATINGS = (10.0, 1.0)


class Planted(NamedTuple):
    """Proportions of planted themes and of praise and blame.

    Attributes
    ----------
    doc_theme : array (documents, themes)
        Proportions of the themes, rows sum to one.
    direction : array of int (documents, themes)
        1 for praise, -1 for blame, 0 where a document does not have the theme.
    doc_topic : array (documents, 2 x themes)
        Proportions of (theme, praise), (theme, blame) in the opinions, theme by theme.
    """

    doc_theme: NDArray[np.float64]
    direction: NDArray[np.int64]
    doc_topic: NDArray[np.float64]


def theme_groups(n_themes: int) -> dict[str, tuple[str, ...]]:
    """Words of food_praise, food_blame, ..., then of food, ..., then of "everywhere"."""
    chosen = list(THEMES.items())[:n_themes]
    groups: dict[str, str] = {}
    for name, (praise, blame, _) in chosen:
        groups |= {f"{name}_praise": praise, f"{name}_blame": blame}
    groups |= {name: about for name, (_, _, about) in chosen}
    groups["everywhere"] = _EVERYWHERE
    return {name: tuple(text.split()) for name, text in groups.items()}


def plant(rng: np.random.Generator, n_docs: int, n_themes: int) -> Planted:
    """One theme per document, or two in the proportion 0.6 to 0.4, each praised or blamed."""
    first = rng.integers(n_themes, size=n_docs)
    two = (rng.random(n_docs) < _TWO) & (n_themes > 1)
    second = (first + rng.integers(1, max(n_themes, 2), size=n_docs)) % n_themes
    second = np.where(two, second, first)
    share = np.where(two, _SECOND, 0.0)
    one_hot = np.eye(n_themes)
    doc_theme = (1 - share)[:, None] * one_hot[first] + share[:, None] * one_hot[second]
    liked = rng.integers(2, size=(n_docs, n_themes))
    direction = np.where(doc_theme > 0, 2 * liked - 1, 0)
    praise = np.where(liked == 1, 1 - _OPPOSITE, _OPPOSITE)
    doc_topic = np.stack([doc_theme * praise, doc_theme * (1 - praise)], axis=2)
    return Planted(doc_theme, direction, doc_topic.reshape(n_docs, -1))
