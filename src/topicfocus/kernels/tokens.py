"""Texts in UTF-8 as sequences of word ids: split, look up, number. No strings, only bytes.

A table over all code points (`text.tokenizer.fold_table`) has the lower case of letters and the
role of other characters between words, so the kernel agrees with Python. The slow twin is
`text.tokenizer.segments`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topicfocus.kernels.compile import borrowed, helper, inlined, kernel
from topicfocus.kernels.words import (
    HASH_FACTOR,
    HASH_MASK,
    HASH_SEED,
    U,
    Words,
    add_word,
    add_words,
    find_word,
    mix,
    read_point,
    reserve,
)

#: In place of an id: the end of a segment, or a word that is not known.
BREAK = -1
#: Roles of other characters than letters and digits, in the table over code points.
ENDS, JOINS, SPACE, LINE_END, HYPHEN, APOSTROPHE = 0, -1, -2, -3, -4, -5
_AND, _HASH, _SEMICOLON, _LESS, _GREATER, _QUOTE = 38, 35, 59, 60, 62, 34
_EXCLAMATION, _SLASH, _NEWLINE = 33, 47, 10
_WWW, _HTTP, _HTTPS = (int.from_bytes(name, "big") for name in (b"www.", b"http://", b"https://"))


class Sequences(NamedTuple):
    """The word ids of one document after the other, with `BREAK` between segments."""

    ids: NDArray[np.int32]
    lengths: NDArray[np.int64]  # ids of each document, breaks included


class Rule(NamedTuple):
    """A `text.tokenizer.TokenRule` as tables, and short names as numbers."""

    fold: NDArray[np.int32]  # lower case of a letter, else one of ENDS, ..., APOSTROPHE
    apostrophes: NDArray[np.int64]  # entities
    joiners: NDArray[np.int64]  # entities
    elisions: NDArray[np.int64]


@helper
def _write_point(letters, i, point):
    """Write a code point that is not ASCII from byte i on; where the next goes."""
    if point < 0x800:
        letters[U(i)] = 0xC0 | (point >> 6)
        letters[U(i + 1)] = 0x80 | (point & 0x3F)
        return i + 2
    if point < 0x10000:
        letters[U(i)] = 0xE0 | (point >> 12)
        letters[U(i + 1)] = 0x80 | ((point >> 6) & 0x3F)
        letters[U(i + 2)] = 0x80 | (point & 0x3F)
        return i + 3
    letters[U(i)] = 0xF0 | (point >> 18)
    letters[U(i + 1)] = 0x80 | ((point >> 12) & 0x3F)
    letters[U(i + 2)] = 0x80 | ((point >> 6) & 0x3F)
    letters[U(i + 3)] = 0x80 | (point & 0x3F)
    return i + 4


@helper
def _read(data, i):
    """The code point at byte i, and where the next begins."""
    point = np.int64(data[U(i)])
    return (point, i + 1) if point < 128 else read_point(data, i)


@helper
def _fold_at(data, i, end, fold):
    """What the table has of the character at byte i; ENDS behind the end."""
    return fold[U(_read(data, i)[0])] if i < end else ENDS


@helper
def _among(code, codes):
    found = False
    for other in codes:
        found |= other == code
    return found


@helper
def _lower_at(data, i, end, fold):
    """The character at byte i in lower case, and where the next begins; 0 behind the end."""
    if i >= end:
        return np.int64(0), i
    point, after = _read(data, i)
    kind = np.int64(fold[U(point)])
    return (kind if kind > 0 else point), after


@helper
def _entity(data, i, end, fold):
    """(its name as a number, where it ends) of the entity at the ampersand i, or (0, i)."""
    code = np.int64(0)
    j = i + 1
    for size in range(9):
        point, j = _lower_at(data, j, end, fold)
        if point == _SEMICOLON and size > 0:
            return code, j
        if size == 8 or not (97 <= point <= 122 or 48 <= point <= 57 or point == _HASH):
            break
        code = (code << 8) | point
    return np.int64(0), i


@helper
def _tag_end(data, i, end, fold):
    """Where the HTML tag or comment at byte i ends, on the same line; i if there is none."""
    point, j = _lower_at(data, i + 1, end, fold)
    if point != _EXCLAMATION:
        if point == _SLASH:
            point, j = _lower_at(data, j, end, fold)
        if not 97 <= point <= 122:
            return i
        while 97 <= point <= 122 or 48 <= point <= 57:
            point, j = _lower_at(data, j, end, fold)
        if point == _SLASH:
            point, j = _lower_at(data, j, end, fold)
            return j if point == _GREATER else i
        if point == _GREATER:
            return j
        if point == 0 or point > 0xFFFF or fold[U(point)] != SPACE:
            return i
    while j < end and data[U(j)] != _LESS and data[U(j)] != _GREATER and data[U(j)] != _NEWLINE:
        j += 1
    return j + 1 if j < end and data[U(j)] == _GREATER else i


@helper
def _url_end(data, i, end, fold):
    """Where the URL at byte i ends; i if there is none."""
    code = np.int64(0)  # the last eight characters, as far as they are ASCII
    j = i
    size = 0
    while size < 8 and code != _WWW and code != _HTTP:
        point, after = _lower_at(data, j, end, fold)
        if not 33 < point < 128:
            return i
        code = (code << 8) | point
        j = after
        size += 1
    if code != _WWW and code != _HTTP and code != _HTTPS:
        return i
    while j < end:
        point, after = _read(data, j)
        kind = fold[U(point)]
        if kind in (SPACE, LINE_END) or point in (_LESS, _GREATER, _QUOTE):
            break
        j = after
    return j


# long: every kind of character between words.
@inlined
def _gap(data, i, end, fold, apostrophes, joiners, ended):  # noqa: C901
    """Skip to the next word: (its first byte or the end, whether a segment ended before it)."""
    before, last, lines = ENDS, ENDS, 0
    while i < end:
        point, after = _read(data, i)
        kind = fold[U(point)]
        if kind > 0:
            if kind != 104 and kind != 119:  # h of http, w of www
                break
            after = _url_end(data, i, end, fold)
            if after == i:
                break
            kind = ENDS
        elif point == _LESS:
            after = max(after, _tag_end(data, i, end, fold))
        elif point == _AND:
            code, stop = _entity(data, i, end, fold)
            if stop > i:
                after = stop
                known = _among(code, apostrophes) or _among(code, joiners)
                kind = SPACE if known else ENDS
        if kind == ENDS or (kind == HYPHEN and last == HYPHEN):
            ended = True
        elif kind in (SPACE, LINE_END):
            if last == HYPHEN and before == SPACE:
                ended = True
            if kind == LINE_END:
                lines += 1
                if lines == 2:
                    ended = True
            kind = SPACE
        before, last = last, kind
        i = after
    return i, ended


@helper
def _short_code(letters, size):
    """The first bytes of a word as a number, 0 if there are more than seven."""
    code = np.int64(0)
    if size <= 7:
        for i in range(size):
            code = (code << 8) | np.int64(letters[i])
    return code


@inlined
def _word(data, i, end, fold, apostrophes, elisions, letters):
    """Read the word at byte i into `letters`: (its end, its bytes, its hash)."""
    size = 0
    state = HASH_SEED
    last = np.int64(0)
    while i < end:
        point, after = _read(data, i)
        lower = np.int64(fold[U(point)])
        if lower <= 0:
            joins = False
            if lower == APOSTROPHE:
                joins = _fold_at(data, after, end, fold) > 0
                lower = np.int64(39)
            elif point == _AND:
                code, after = _entity(data, i, end, fold)
                joins = after > i and _among(code, apostrophes)
                joins = joins and _fold_at(data, after, end, fold) > 0
                lower = np.int64(39)
            elif 48 <= last <= 57 and after < end and 48 <= data[U(after)] <= 57:
                joins = point == 46 or point == 44 or point == 58 or point == 47
                lower = point
            if not joins:
                break
            if lower == 39 and len(elisions) > 0 and _among(_short_code(letters, size), elisions):
                size, state, last = 0, HASH_SEED, np.int64(0)
                i = after
                continue
        if lower < 128:
            letters[U(size)] = lower
            size += 1
        else:
            size = _write_point(letters, size, lower)
        state = ((state ^ lower) * HASH_FACTOR) & HASH_MASK
        last = lower
        i = after
    return i, size, mix(state)


@kernel
def _tokenize(
    data, offsets, fold, apostrophes, joiners, elisions, learn,
    slots, left, right, known, sizes, letters, ids, lengths, progress,
):  # fmt: skip
    """Go on where ``progress`` says; whether all is done, or there is no room for a new word."""
    d, i, first, n, ended = progress
    data, fold, letters = borrowed(data), borrowed(fold), borrowed(letters)
    apostrophes, joiners, elisions = borrowed(apostrophes), borrowed(joiners), borrowed(elisions)
    done = True
    while d < len(lengths):
        if i < 0:
            i, first, ended = offsets[d], n, 0
        end = offsets[d + 1]
        broken = ended == 1
        while i < end:
            i, broken = _gap(data, i, end, fold, apostrophes, joiners, broken)
            if i >= end:
                break
            stop, size, code = _word(data, i, end, fold, apostrophes, elisions, letters)
            word = find_word(slots, left, right, known, letters, 0, size, code)
            if word < 0 and learn:
                full = sizes[0] == len(left) or 2 * (sizes[0] + 1) > len(slots)
                if full or sizes[1] + size + 1 > len(known):
                    done = False
                    break
                at = -1 - word
                word = add_word(slots, left, right, known, sizes, letters, 0, size, code, at)
            if word < 0:
                broken = True
            else:
                if broken and n > first:
                    ids[U(n)] = BREAK
                    n += 1
                ids[U(n)] = word
                n += 1
                broken = False
            i = stop
        if not done:
            ended = np.int64(broken)
            break
        lengths[d] = n - first
        d += 1
        i = -1
    progress[0] = d
    progress[1] = i
    progress[2] = first
    progress[3] = n
    progress[4] = ended
    return done


@kernel
def _add_frequencies(ids, lengths, seen, in_docs, often):
    ids, seen, in_docs, often = borrowed(ids), borrowed(seen), borrowed(in_docs), borrowed(often)
    start = 0
    for d in range(len(lengths)):
        stop = start + lengths[d]
        for i in range(start, stop):
            word = ids[i]
            if word >= 0:
                often[U(word)] += 1
                if seen[U(word)] != d:
                    seen[U(word)] = d
                    in_docs[U(word)] += 1
        start = stop


def frequencies(part: Sequences, n_words: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Documents with each word, and its occurrences."""
    seen, in_docs, often = np.full(n_words, -1), *np.zeros((2, n_words), dtype=np.int64)
    _add_frequencies(*part, seen, in_docs, often)
    return in_docs, often


def tokenize(
    data: NDArray[np.uint8],
    offsets: NDArray[np.int64],
    rule: Rule,
    words: Words,
    learn: bool,
) -> tuple[Words, Sequences]:
    """The words of documents by number.

    Parameters
    ----------
    data, offsets : uint8 array, int64 array
        Document d is ``data[offsets[d] : offsets[d + 1]]``, valid UTF-8 (surrogates may occur).
    rule : Rule
    words : Words
        Known words. With ``learn`` new ones are added, to this very table or one that replaces it;
        else the table is only read, and another word is the end of a segment.
    learn : bool
    """
    longest = int(np.max(np.diff(offsets), initial=0))
    letters = np.empty(3 * longest + 8, dtype=np.uint8)  # lower case may need more bytes
    lengths = np.empty(len(offsets) - 1, dtype=np.int64)
    # Room for any text of this size, of which little is used: memory that is never touched is free.
    ids = np.empty(int(offsets[-1] - offsets[0]) + len(offsets), dtype=np.int32)
    progress = np.array([0, -1, 0, 0, 0])
    while not _tokenize(
        data, offsets, *rule, learn, *words, letters, ids, lengths, progress
    ):  # fmt: skip
        words = reserve(words, int(words.sizes[0]) + 64, len(letters) + 1)
    return words, Sequences(ids[: progress[3]].copy(), lengths)


def merge(total: Words, words: Words) -> tuple[Words, NDArray[np.int64]]:
    """Add the words of one table to another: (table, the new id of each word; `BREAK` behind)."""
    n, n_letters = (int(size) for size in words.sizes)
    letters = words.letters[:n_letters]
    total, renamed = add_words(total, letters, words.left[:n], words.right[:n])
    return total, np.append(renamed, BREAK)


__all__ = ["BREAK", "Rule", "Sequences", "frequencies", "merge", "tokenize"]
