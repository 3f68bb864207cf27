"""Texts for tests: what languages, keyboards and emoji put into them."""

from __future__ import annotations

from hypothesis import strategies as st

#: Characters that have gone wrong somewhere: case that is not one to one or depends on neighbours,
#: lower case longer than upper case, combining marks, digits and letters outside the first plane,
#: characters that are almost spaces, a surrogate.
AWKWARD = [
    *"İıΣσςẞßǅȺⱥKÅŉﬁŸÿ",
    *"éÉñжЖ你好ｱ١٢²½_·'’-",
    *" \t\n.,\x00\x1c\x85",
    "\u0301",
    "\u0307",
    "\u0345",
    "\u200b",
    "\u200d",
    "\u00ad",
    "\u3000",
    "\ufeff",
    "\ud800",
    "\U0001f600",
    "\U00010400",
    "\U0001d7ce",
    "\U000e0100",
]

characters = st.one_of(
    st.sampled_from("abcABC 012  "),
    st.sampled_from(AWKWARD),
    st.characters(),
)
texts = st.text(characters, max_size=30)
#: Few letters, so that words, n-grams and documents repeat.
repetitive = st.text(st.sampled_from("abAé Σ İ  "), max_size=40)
documents = st.lists(st.one_of(texts, repetitive), min_size=1, max_size=8)
