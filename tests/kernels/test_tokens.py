"""The kernels that split texts and count n-grams, beside slow twins with `re` and strings."""

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from texts import characters, documents

from topicfocus.kernels import grams, tokens
from topicfocus.kernels import words as table
from topicfocus.text.sequences import join, learn, split_words
from topicfocus.text.tokenizer import TokenRule, kernel_rule, segments
from topicfocus.text.vocabulary import Matcher

PIECES = [
    *(
        "http://",
        "https://x ",
        "www.",
        "WWW.a",
        "<b>",
        "<",
        "</p",
        "<br/>",
        "<a b",
        "<!-",
        ">",
        "<x@y>",
        "&amp;",
        "&#39;",
        "&#039;",
    ),
    *("&QUOT;", "&Apos;", "don't", "l’été", " - ", "--", "\n", "\n\n", "4.5", "10:3", "5'3"),
    *("it's not", "'", " ", "a", "K", "&", "👍", "\u0301"),
]
messy = st.lists(st.one_of(st.sampled_from(PIECES), st.text(characters, max_size=4)), max_size=12)
some = st.one_of(documents, st.lists(messy.map("".join), min_size=1, max_size=5))


def texts_of(documents):
    return join([text.encode("utf-8", "surrogatepass") for text in documents])


def split_again(texts):
    """The words of each document in segments, from sequences of ids."""
    names = texts.names(np.arange(len(texts.frequency)))
    out = []
    for part in texts.parts:
        for ids in np.split(part.ids, np.cumsum(part.lengths)[:-1]):
            found = [[]]
            for i in ids:
                if i == tokens.BREAK:
                    found.append([])
                else:
                    found[-1].append(names[i])
            out.append(found if found[-1] else found[:-1])
    return out


def twin(documents, rule):
    return [[[w for *_, w in part] for part in segments(text, rule)] for text in documents]


@given(documents=some, lowercase=st.booleans(), elided=st.booleans(), n_chunks=st.integers(1, 3))
def test_words_are_those_of_the_regular_expression(documents, lowercase, elided, n_chunks):
    rule = TokenRule(lowercase, ("l", "qu", "d") if elided else ())
    parts = [documents[i::n_chunks] for i in range(n_chunks)]
    expected = [words for part in parts for words in twin(part, rule)]
    texts = learn([texts_of(part) for part in parts if part], split_words(rule), 1)
    assert split_again(texts) == expected
    flat = [[w for segment in text for w in segment] for text in expected]
    names = texts.names(np.arange(len(texts.frequency)))
    often = Counter(w for text in flat for w in text)
    in_docs = Counter(w for text in flat for w in set(text))
    assert dict(zip(names, texts.frequency.tolist(), strict=True)) == often
    assert dict(zip(names, texts.document_frequency.tolist(), strict=True)) == in_docs


def matched(segment, terms, orders, every):
    """Terms of a segment: all, or the longest at each place."""
    low, high = orders
    i = 0
    while i < len(segment):
        sizes = range(min(high, len(segment) - i), low - 1, -1)
        found = [t for n in sizes if (t := " ".join(segment[i : i + n])) in terms]
        yield from found if every else found[:1]
        i += 1 if every or not found else found[0].count(" ") + 1


@given(
    documents=st.lists(st.text(st.sampled_from("abc.  "), max_size=40), min_size=1, max_size=5),
    terms=st.sets(
        st.lists(st.sampled_from("abc"), min_size=1, max_size=3).map(" ".join), min_size=1
    ),
    orders=st.sampled_from([(1, 1), (1, 2), (1, 3), (2, 3)]),
    every=st.booleans(),
)
def test_terms_are_counted_by_longest_match_or_all(documents, terms, orders, every):
    rule, names = TokenRule(), sorted(terms)
    matcher, words = Matcher.of_terms(names, orders, every)
    texts = learn([texts_of(documents)], split_words(rule), 1)
    (rows,) = texts.each(matcher, texts.places_of(words))
    found = rows.matrix(len(names)).toarray()
    for row, document in zip(found, twin(documents, rule), strict=True):
        expected = Counter(t for part in document for t in matched(part, terms, orders, every))
        assert Counter(dict(zip(names, row.tolist(), strict=True))) == expected


@given(rows=st.lists(st.lists(st.integers(-1, 4), max_size=12), min_size=1, max_size=5))
def test_frequent_ngrams_are_those_of_strings(rows):
    from topicfocus.text.phrases import frequent_grams

    lengths = np.array([len(row) for row in rows])
    part = tokens.Sequences(np.array([i for row in rows for i in row], dtype=np.int32), lengths)
    yes = np.ones(5, dtype=bool)
    found = frequent_grams(lambda f: [f(part, 0)], 3, yes, 2, len(part.ids))
    runs = [
        {tuple(r) for n in (2, 3) for i in range(len(row)) if len(r := row[i : i + n]) == n}
        for row in rows
    ]
    in_docs = Counter(run for row in runs for run in row if min(run) >= 0)
    expected = {run: n for run, n in in_docs.items() if n >= 2}
    names = [tuple(i for i in row if i >= 0) for row in found.words().tolist()]
    assert dict(zip(names, found.document_frequency.tolist(), strict=True)) == expected
    values = np.arange(len(rows), dtype=float)[:, None] + 1
    _, sums = grams.value_sums(part, 3, found.grams, values)
    totals = {run: sum(d + 1.0 for d, row in enumerate(runs) if run in row) for run in names}
    assert dict(zip(names, sums[:, 0].tolist(), strict=True)) == totals


def test_no_result_depends_on_a_collision_of_hashes():
    """With tables that are always as full as they may be, words still differ by their bytes."""
    words = [f"w{i:x}" for i in range(3000)]
    texts = texts_of([" ".join(words + words[::3])])
    known, part = tokens.tokenize(
        *_arrays(texts), kernel_rule(TokenRule()), table.empty_words(2), True
    )
    assert known.texts(part.ids) == words + words[::3]
    assert 2 * known.sizes[0] <= len(known.slots)


def _arrays(texts):
    return texts.data, texts.offsets


def test_words_longer_than_any_table():
    """A capital that grows by half in lower case, in one word larger than all room there is."""
    text = "Ⱥ" * 300_000 + " Ⱥb " + "x" * 600_000
    texts = learn([texts_of([text, text])], split_words(TokenRule()), 1)
    assert split_again(texts) == twin([text] * 2, TokenRule())
