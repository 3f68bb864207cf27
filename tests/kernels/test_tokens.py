"""The kernels that count words, beside `reference.count_terms`, which uses `re` and strings."""

from collections import Counter

import kernel_twins as reference
import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from texts import documents

from topicfocus.kernels import tokens
from topicfocus.kernels import words as table
from topicfocus.text.buffers import join
from topicfocus.text.characters import fold_table
from topicfocus.text.counting import Pairs, Tally, TokenRule, learn, to_csr


def texts_of(documents):
    return join([text.encode("utf-8", "surrogatepass") for text in documents])


def named(tally):
    """The pairs of every document, by name."""
    counters = []
    for part in tally.pairs:
        terms = tally.terms(part.ids)
        stops = np.cumsum(part.lengths)
        for start, stop in zip(stops - part.lengths, stops, strict=True):
            pairs = zip(terms[start:stop], part.counts[start:stop].tolist(), strict=True)
            counters.append(Counter(dict(pairs)))
            assert len(counters[-1]) == stop - start  # no term twice
    return counters


rules = st.builds(
    TokenRule,
    lowercase=st.booleans(),
    min_length=st.integers(1, 3),
    orders=st.sampled_from([(1, 1), (1, 2), (2, 2), (2, 3), (1, 4)]),
    stop_words=st.sampled_from([(), ("ab", "aé"), ("a", "σ", "b c", "")]),
)


@given(documents=documents, rule=rules, n_chunks=st.integers(1, 3))
def test_words_and_ngrams_are_those_of_the_reference(documents, rule, n_chunks):
    parts = [documents[i::n_chunks] for i in range(n_chunks)]
    tally = learn([texts_of(part) for part in parts if part], rule, n_jobs=1, pairs=[])
    expected = [
        reference.count_terms(text, rule.lowercase, rule.min_length, rule.orders, rule.stop_words)
        for part in parts
        for text in part
    ]
    assert named(tally) == expected
    total = sum(expected, Counter())
    found = np.flatnonzero(tally.document_frequency)
    frequency = dict(zip(tally.terms(found), tally.frequency[found].tolist(), strict=True))
    assert frequency == total
    in_docs = Counter(term for counter in expected for term in counter)
    terms = tally.terms(found)
    assert dict(zip(terms, tally.document_frequency[found].tolist(), strict=True)) == in_docs


def test_no_result_depends_on_a_collision_of_hashes(monkeypatch):
    """With tables that are always as full as they may be, words still differ by their bytes."""
    words = [f"w{i:x}" for i in range(3000)]
    text = " ".join(words + words[::3])
    texts = texts_of([text])
    counted = tokens.count(
        texts.data, texts.offsets, fold_table(True), 1, (1, 2), 0, table.empty_words(2), True
    )
    tally = Tally(*counted[:3], [Pairs(*counted[3:])], 1, 0)
    assert named(tally) == [reference.count_terms(text, min_length=1, orders=(1, 2))]
    assert 2 * counted.words.sizes[2] <= len(counted.words.slots)
    assert 2 * counted.words.sizes[3] <= len(counted.words.gram_slots)


def test_words_longer_than_any_table():
    """A capital that grows by half in lower case, in one word larger than all room there is."""
    text = "Ⱥ" * 300_000 + " Ⱥb " + "x" * 600_000
    tally = learn([texts_of([text, text])], TokenRule(), n_jobs=1, pairs=[])
    assert named(tally) == [reference.count_terms(text)] * 2


def test_terms_with_nul_are_not_taken_for_their_beginning():
    rule = TokenRule(stop_words=("ab\0", "ab\0cd"))
    tally = learn([texts_of(["ab abcd ab\0cd"])], rule, n_jobs=1, pairs=[])
    assert named(tally) == [{"ab": 2, "abcd": 1, "cd": 1}]


@given(
    rows=st.lists(
        st.dictionaries(st.integers(0, 40), st.integers(1, 2**31 - 1), max_size=30), max_size=6
    ),
    kept=st.sets(st.integers(0, 40)),
    unused=st.sampled_from([0, 10_000]),
)
def test_rows_are_sorted_by_either_way(rows, kept, unused):
    """Few columns go through transposition, many through sorting."""
    column = np.full(41, -1, dtype=np.int64)
    column[sorted(kept)] = np.random.default_rng(0).permutation(len(kept)) + unused
    ids = np.array([i for row in rows for i in row], dtype=np.int32)
    counts = np.array([c for row in rows for c in row.values()], dtype=np.int32)
    lengths = np.array([len(row) for row in rows], dtype=np.int64)
    matrix = to_csr([Pairs(ids, counts, lengths)], column, len(kept) + unused, np.int64, 1)
    expected = np.zeros((len(rows), len(kept) + unused), dtype=np.int64)
    for d, row in enumerate(rows):
        for i, c in row.items():
            if column[i] >= 0:
                expected[d, column[i]] = c
    np.testing.assert_array_equal(matrix.toarray(), expected)
    assert matrix.indices.dtype == np.int32
    for start, stop in zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True):
        assert (np.diff(matrix.indices[start:stop]) > 0).all()
